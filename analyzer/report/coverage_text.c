#include "coverage_text.h"

#include <inttypes.h>

#include <decode/unopened.h>
#include <report/render.h>

#include "human.h"

enum { GAPS = 3 };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void say_estimate(struct ft_page *page, const struct ft_report_coverage *seen)
{
	char bounds[80];
	struct ft_percent percent;

	if (seen->lost_estimate == FT_UNKNOWN) {
		ft_page_row(
			page, "",
			"loss not estimated: frames that the mirror dropped would not show here");
		return;
	}
	if (seen->lost_high == FT_UNKNOWN)
		snprintf(bounds, sizeof(bounds), "at least %" PRIu64, seen->lost_low);
	else
		snprintf(bounds, sizeof(bounds), "%" PRIu64 " to %" PRIu64, seen->lost_low,
			 seen->lost_high);
	if (seen->lost_estimate == 0 && seen->lost_high == FT_UNKNOWN)
		ft_page_row(page, "",
			    "nothing shows a loss on the way here, but not all of it would show");
	else if (seen->lost_estimate == 0)
		ft_page_row(page, "", "nothing shows a loss on the way here (%s frame%s)", bounds,
			    ft_plural(seen->lost_high));
	else if (seen->share_seen >= 0)
		ft_page_row(page, "",
			    "about %" PRIu64 " frame%s lost on the way here (%s), %s %% of RDMA",
			    seen->lost_estimate, ft_plural(seen->lost_estimate), bounds,
			    ft_percent(&percent, 1 - seen->share_seen));
	else
		ft_page_row(page, "", "about %" PRIu64 " frame%s lost on the way here (%s)",
			    seen->lost_estimate, ft_plural(seen->lost_estimate), bounds);
}

static void say_gaps(struct ft_page *page, const struct ft_report_coverage *seen)
{
	struct ft_human human;

	for (size_t i = 0; i < seen->time_gap_count && i < GAPS; i++) {
		const struct ft_report_gap *gap = &seen->time_gaps[i];

		ft_page_label(page, "");
		ft_line_add(&page->line, "silent from ");
		ft_line_time(&page->line, gap->from_ns);
		ft_line_add(&page->line, " for ");
		ft_line_add(&page->line, ft_human_duration(&human, gap->to_ns - gap->from_ns));
		ft_line_add(&page->line, " while traffic went on: ");
		ft_line_name(&page->line, gap->source);
		ft_line_char(&page->line, '\n');
	}
	if (seen->time_gap_count > GAPS)
		ft_page_row(page, "", "and %zu silence%s more", seen->time_gap_count - GAPS,
			    ft_plural(seen->time_gap_count - GAPS));
}

static void say_count(struct ft_page *page, const struct ft_report_loss *loss)
{
	if (loss->frames == FT_UNKNOWN)
		ft_page_row(page, "", "%s does not know how many frames it lost", loss->source);
	else
		ft_page_row(page, "", "lost according to %s%s%s: %" PRIu64 " frame%s", loss->method,
			    loss->source != NULL ? " of " : "",
			    loss->source != NULL ? loss->source : "", loss->frames,
			    ft_plural(loss->frames));
}

static void say_loss(struct ft_page *page, const struct ft_report_coverage *seen)
{
	say_estimate(page, seen);
	for (size_t i = 0; i < seen->lost_by_count; i++)
		say_count(page, &seen->lost_by[i]);
	if (seen->one_sided > 0 && seen->one_sided != FT_UNKNOWN)
		ft_page_row(page, "",
			    "%" PRIu64 " half-connection%s without the reverse, beside %" PRIu64
			    " connection%s",
			    seen->one_sided, ft_plural(seen->one_sided), seen->connections,
			    ft_plural(seen->connections));
	if (seen->unpaired > 0 && seen->unpaired != FT_UNKNOWN)
		ft_page_row(page, "",
			    "%" PRIu64
			    " half-connections, as many each way, of which it is not known "
			    "which two are one connection",
			    seen->unpaired);
	if (seen->evicted > 0)
		ft_page_row(page, "",
			    "%" PRIu64
			    " half-connection%s pushed out of a full flow table: what came "
			    "later of them was followed anew; see --flows",
			    seen->evicted, ft_plural(seen->evicted));
	if (seen->mirror_unfollowed > 0)
		ft_page_row(page, "",
			    "%" PRIu64
			    " frame%s of more mirror sessions than are followed: what the "
			    "numbers of those leave out is not known",
			    seen->mirror_unfollowed, ft_plural(seen->mirror_unfollowed));
	say_gaps(page, seen);
	if (seen->clock_steps > 0)
		ft_page_row(page, "", "times went backwards: %" PRIu64, seen->clock_steps);
}

static void say_hidden(struct ft_page *page, const struct ft_report_coverage *seen)
{
	double hidden = seen->could_hide_per_million;
	char share[64] = "of any size";

	if (hidden <= 0)
		return;
	if (hidden < 1e6)
		snprintf(share, sizeof(share),
			 hidden < 999.5 ? "by fewer than %.3g frames in a million"
					: "by fewer than %.0f frames in a million",
			 hidden);
	ft_page_row(page, "", "a violation %s could have gone unseen%s%s", share,
		    seen->could_hide_because != NULL ? ": " : "",
		    seen->could_hide_because != NULL ? seen->could_hide_because : "");
}

static void say_undecided(struct ft_page *page, const struct ft_report_coverage *seen)
{
	const struct ft_human_part parts[] = {
		{ seen->undecided_bad_icrc, "with a wrong ICRC", NULL },
		{ seen->undecided_cut, "cut too short", NULL },
		{ seen->undecided_malformed, "malformed", NULL },
		{ seen->undecided_untimed, "without a time under a map that changes", NULL },
		{ seen->undecided_unread, "of a link type that is not read", NULL },
	};
	char text[256];

	if (seen->undecided == 0)
		return;
	ft_human_parts(text, sizeof(text), parts, COUNT(parts));
	ft_page_row(page, "", "%" PRIu64 " undecided: %s", seen->undecided, text);
}

static void say_unopened(struct ft_page *page, const struct ft_report_coverage *seen)
{
	struct ft_human_part parts[FT_UNOPENED_KINDS];
	char text[1024];

	if (seen->unopened_count == 0)
		return;
	for (size_t i = 0; i < seen->unopened_count; i++)
		parts[i] = (struct ft_human_part){ seen->unopened[i].frames,
						   seen->unopened[i].protocol, NULL };
	ft_human_parts(text, sizeof(text), parts, seen->unopened_count);
	ft_page_row(page, "", "not opened: %s; RDMA in there would not show", text);
}

void ft_seen_text(struct ft_page *page, const struct ft_report_coverage *seen)
{
	const struct ft_human_part rest[] = {
		{ seen->never_judged, "of subnet management", NULL },
		{ seen->not_rdma, "not RDMA", NULL },
	};
	char text[256];

	ft_page_row(page, "SEEN", "%" PRIu64 " frame%s%s", seen->frames_seen,
		    ft_plural(seen->frames_seen), seen->duplicates > 0 ? " without copies" : "");
	if (seen->duplicates > 0)
		ft_page_row(page, "", "%" PRIu64 " %s that the mirror made, left out of all else",
			    seen->duplicates, seen->duplicates == 1 ? "copy" : "copies");
	ft_human_parts(text, sizeof(text), rest, COUNT(rest));
	if (text[0] != 0)
		ft_page_row(page, "", "%s", text);
	say_undecided(page, seen);
	say_unopened(page, seen);
	say_loss(page, seen);
}

void ft_coverage_text(struct ft_page *page, const struct ft_report_coverage *seen)
{
	const struct ft_human_part rest[] = {
		{ seen->never_judged, "never judged (subnet management, by rule)", NULL },
		{ seen->not_rdma, "not RDMA", NULL },
		{ seen->duplicates, "copies", "copy" },
	};
	char text[256];

	ft_page_row(page, "SEEN", "%" PRIu64 " of %" PRIu64 " RDMA frames judged", seen->judged,
		    seen->judged + seen->undecided);
	say_undecided(page, seen);
	ft_human_parts(text, sizeof(text), rest, COUNT(rest));
	if (text[0] != 0)
		ft_page_row(page, "", "beside them: %s", text);
	say_unopened(page, seen);
	say_loss(page, seen);
	say_hidden(page, seen);
	ft_line_char(&page->line, '\n');
}
