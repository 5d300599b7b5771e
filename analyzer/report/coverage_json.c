#include "coverage_json.h"

static void frames_lost(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "frames_lost", '{');
	ft_member_number(json, "estimate", seen->lost_estimate);
	ft_member_number(json, "low", seen->lost_low);
	ft_member_number(json, "high", seen->lost_high);
	ft_member_end(json, '}');
}

void ft_lost_by_json(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "lost_by", '[');
	for (size_t i = 0; i < seen->lost_by_count; i++) {
		ft_member_begin(json, NULL, '{');
		ft_member_text(json, "method", seen->lost_by[i].method);
		ft_member_text(json, "source", seen->lost_by[i].source);
		ft_member_number(json, "frames", seen->lost_by[i].frames);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

static void time_gaps(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "time_gaps", '[');
	for (size_t i = 0; i < seen->time_gap_count; i++) {
		ft_member_begin(json, NULL, '{');
		ft_member_time(json, "from", seen->time_gaps[i].from_ns);
		ft_member_time(json, "to", seen->time_gaps[i].to_ns);
		ft_member_text(json, "source", seen->time_gaps[i].source);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

static void could_hide(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "could_hide", '{');
	ft_member_real(json, "packets_per_million", seen->could_hide_per_million);
	ft_member_text(json, "because", seen->could_hide_because);
	ft_member_end(json, '}');
}

static void undecided_by(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "undecided_by", '{');
	ft_member_number(json, "bad_icrc", seen->undecided_bad_icrc);
	ft_member_number(json, "cut", seen->undecided_cut);
	ft_member_number(json, "malformed", seen->undecided_malformed);
	ft_member_number(json, "untimed", seen->undecided_untimed);
	ft_member_number(json, "link_type", seen->undecided_unread);
	ft_member_end(json, '}');
}

static void unopened(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "unopened", '[');
	for (size_t i = 0; i < seen->unopened_count; i++) {
		ft_member_begin(json, NULL, '{');
		ft_member_text(json, "protocol", seen->unopened[i].protocol);
		ft_member_number(json, "frames", seen->unopened[i].frames);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

void ft_coverage_json(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "coverage", '{');
	ft_member_number(json, "frames_seen", seen->frames_seen);
	frames_lost(json, seen);
	ft_member_real(json, "share_seen", seen->share_seen);
	ft_lost_by_json(json, seen);
	ft_member_number(json, "duplicates", seen->duplicates);
	ft_member_number(json, "truncated", seen->truncated);
	ft_member_number(json, "undecided", seen->undecided);
	ft_member_number(json, "undecodable", seen->undecodable);
	ft_member_number(json, "connections", seen->connections);
	ft_member_number(json, "one_sided", seen->one_sided);
	ft_member_number(json, "unpaired", seen->unpaired);
	ft_member_number(json, "evicted", seen->evicted);
	ft_member_number(json, "mirror_unfollowed", seen->mirror_unfollowed);
	time_gaps(json, seen);
	ft_member_number(json, "clock_steps", seen->clock_steps);
	could_hide(json, seen);
	ft_member_bool(json, "enough", seen->enough);
	ft_member_number(json, "judged", seen->judged);
	ft_member_number(json, "never_judged", seen->never_judged);
	ft_member_number(json, "not_rdma", seen->not_rdma);
	unopened(json, seen);
	undecided_by(json, seen);
	ft_member_end(json, '}');
}
