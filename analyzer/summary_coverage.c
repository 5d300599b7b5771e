#include "summary_parts.h"

#include <decode/extremes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>
#include <flow/loss_estimate.h>
#include <report/source_row.h>

#include "coverage.h"

enum { METHODS = 6 }; /* of counting losses, each at most once per input */

static uint64_t mirror_lost(const struct ft_engine *engine, size_t input)
{
	return engine->account.mirror == NULL
		       ? 0
		       : ft_mirror_sequence_lost(engine->account.mirror, (uint32_t)input);
}

static uint64_t mirror_unfollowed(const struct ft_engine *engine)
{
	return engine->account.mirror == NULL
		       ? 0
		       : ft_mirror_sequence_unfollowed(engine->account.mirror);
}

static void add_loss(struct ft_report_coverage *coverage, struct ft_report_loss *rows,
		     struct ft_report_loss row)
{
	if (row.frames != 0)
		rows[coverage->lost_by_count++] = row;
}

/*
 * What each method counted by itself; returns how many frames of any kind counters of mirrors and
 * sources say are missing: of two that see the same losses, the larger.
 */
static uint64_t fill_losses(struct ft_summary *summary, const struct ft_engine *engine,
			    const struct ft_source *source, const struct ft_tracker_totals *totals)
{
	size_t inputs = ft_source_input_count(source);
	struct ft_report_loss *rows = ft_summary_take(summary, METHODS * inputs, sizeof *rows);
	struct ft_report_coverage *coverage = &summary->report.coverage;
	const char *only = inputs == 1 ? ft_source_input(source, 0)->name : NULL;
	uint64_t counted = 0;

	summary->uncounted = NULL;
	add_loss(coverage, rows, (struct ft_report_loss){ "psn-gap", only, totals->lost_by_gap });
	add_loss(coverage, rows,
		 (struct ft_report_loss){ "ack-of-unseen", only, totals->lost_by_ack });
	add_loss(coverage, rows,
		 (struct ft_report_loss){ "sampling", only, summary->tally->unsampled });
	for (size_t i = 0; i < inputs; i++) {
		const struct ft_source_input *input = ft_source_input(source, i);
		uint64_t missed = mirror_lost(engine, i);

		coverage->clock_steps += input->clock_steps;
		add_loss(coverage, rows,
			 (struct ft_report_loss){ "mirror-sequence", input->name, missed });
		add_loss(coverage, rows,
			 (struct ft_report_loss){ "erf-lctr", input->name, input->erf_lost });
		if (ft_report_source_loss(input, &rows[coverage->lost_by_count]))
			coverage->lost_by_count++;
		if (input->losses_unknown)
			summary->uncounted = input->name;
		counted += ft_larger64(ft_larger64(missed, input->erf_lost), input->dropped);
	}
	coverage->lost_by = rows;
	return counted;
}

static void add_totals(struct ft_tracker_totals *sum, const struct ft_tracker_totals *one)
{
	sum->lost_by_gap += one->lost_by_gap;
	sum->lost_by_ack += one->lost_by_ack;
	for (unsigned doubt = 0; doubt < FT_LOSS_DOUBTS; doubt++) {
		sum->doubted[doubt] += one->doubted[doubt];
		sum->doubted_gaps[doubt] += one->doubted_gaps[doubt];
	}
	sum->paired += one->paired;
	sum->one_sided += one->one_sided;
	sum->unpaired += one->unpaired;
}

/* `believed`: the evidence if every doubt were a loss. */
static struct ft_tracker_totals sum_trackers(const struct ft_engine *engine,
					     struct ft_loss_evidence *evidence,
					     struct ft_loss_evidence *believed)
{
	struct ft_tracker_totals sum = { 0 };
	struct ft_moved *moved = ft_moved_create();
	struct ft_loss_filtered filtered;
	uint32_t untrue;

	if (moved == NULL)
		ft_no_memory();
	ft_loss_init(evidence);
	for (unsigned i = 0; i < engine->config.workers; i++) {
		const struct ft_worker *worker = engine->workers[i];
		struct ft_tracker_totals one;

		ft_loss_merge(evidence, &worker->loss);
		one = ft_tracker_totals_but(worker->tracker, evidence, moved);
		add_totals(&sum, &one);
	}
	ft_moved_count(moved, &sum, evidence);
	ft_moved_destroy(moved);
	filtered = ft_loss_believe_filter(evidence);
	sum.lost_by_gap += filtered.requests;
	sum.lost_by_ack += filtered.answers;
	sum.lost_by_ack += ft_loss_believe_overdue(evidence);
	sum.lost_by_ack += ft_loss_believe_between(evidence);
	sum.lost_by_gap += ft_loss_believe_unanswered(evidence);
	sum.lost_by_gap += ft_loss_believe_unreliable(evidence);
	sum.lost_by_ack += ft_loss_believe_exchanges(evidence);
	ft_loss_believe_cut(evidence);
	*believed = *evidence;
	untrue = ft_loss_resolve(evidence);
	for (unsigned doubt = 0; doubt < FT_LOSS_DOUBTS; doubt++) {
		if ((untrue >> doubt & 1) == 0)
			continue;
		sum.lost_by_gap -= sum.doubted_gaps[doubt];
		sum.lost_by_ack -= sum.doubted[doubt] - sum.doubted_gaps[doubt];
	}
	return sum;
}

static void set_estimate(struct ft_report_coverage *coverage,
			 const struct ft_loss_estimate *estimate)
{
	coverage->lost_estimate = estimate->known ? estimate->frames : FT_UNKNOWN;
	coverage->lost_low = estimate->known ? estimate->low : FT_UNKNOWN;
	coverage->lost_high = estimate->known && estimate->bounded ? estimate->high : FT_UNKNOWN;
	coverage->share_seen = estimate->known ? estimate->share_seen : -1;
}

struct flow_counts {
	uint64_t used, evicted;
};

static struct flow_counts count_flows(const struct ft_engine *engine)
{
	struct flow_counts counts = { 0 };

	for (unsigned i = 0; i < engine->config.workers; i++) {
		struct ft_flow_table_stats stats = ft_flow_table_stats(engine->workers[i]->flows);

		counts.used += stats.used;
		counts.evicted += stats.evicted;
	}
	return counts;
}

static void fill_gaps(struct ft_summary *summary, const struct ft_engine *engine,
		      const struct ft_source *source)
{
	const struct ft_silences *silences = &engine->account.silences;
	size_t room = FT_SILENCES_KEPT * ft_source_input_count(source);
	struct ft_time_gap *gaps = ft_summary_take(summary, room, sizeof *gaps);
	struct ft_report_gap *rows = ft_summary_take(summary, room, sizeof *rows);
	size_t count = silences->inputs == NULL
			       ? 0
			       : ft_silences_gaps(silences, count_flows(engine).used, gaps);

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct ft_report_gap){
			.from_ns = gaps[i].from_ns,
			.to_ns = gaps[i].to_ns,
			.source = ft_source_input(source, gaps[i].input)->name,
		};
	summary->report.coverage.time_gaps = rows;
	summary->report.coverage.time_gap_count = count;
}

static void fill_unopened(struct ft_summary *summary)
{
	struct ft_report_coverage *coverage = &summary->report.coverage;
	struct ft_report_unopened *rows = ft_summary_take(summary, FT_UNOPENED_KINDS, sizeof *rows);

	for (unsigned kind = FT_UNOPENED_NONE + 1; kind < FT_UNOPENED_KINDS; kind++)
		if (summary->tally->unopened[kind] != 0)
			rows[coverage->unopened_count++] = (struct ft_report_unopened){
				.protocol = ft_unopened_name((enum ft_unopened)kind),
				.frames = summary->tally->unopened[kind],
			};
	coverage->unopened = rows;
}

/* Which worker met a pair first must not show. */
static int by_names(const void *left, const void *right)
{
	const struct ft_covered_pair *a = left, *b = right;
	int order = strcmp(a->from, b->from);

	return order != 0 ? order : strcmp(a->to, b->to);
}

/* Where no P_Key is judged, none need be known. */
static uint64_t count_forgotten(const struct ft_engine *engine)
{
	uint64_t forgotten = 0;

	for (unsigned i = 0; i < engine->config.workers; i++)
		forgotten += engine->workers[i]->bases.dropped;
	return ft_map_declared(engine->map)->partition_count != 0 ? forgotten : 0;
}

static void fill_could_hide(struct ft_summary *summary, const struct ft_engine *engine,
			    uint64_t uncertain)
{
	const struct ft_totals *totals = &summary->tally->totals;
	struct ft_report_coverage *coverage = &summary->report.coverage;
	struct ft_covered_pair *pairs = ft_summary_take(summary, totals->cell_count, sizeof *pairs);
	struct ft_covered covered = {
		.judged = coverage->judged,
		.undecided = coverage->undecided,
		.unplaceable = coverage->undecided_untimed + coverage->undecided_unread,
		.unnumbered = summary->tally->unnumbered,
		.share_seen = coverage->share_seen,
		.doubted = summary->doubted,
		.masked = summary->masked,
		.faint = summary->faint,
		.crowded = summary->crowded,
		.crowd_share = summary->crowd_share,
		.silent_share = summary->silent_share,
		.silent_time = summary->silent_time,
		.lasting = summary->lasting,
		.filtered = summary->filtered,
		.most_lost = coverage->lost_high == FT_UNKNOWN ? 0 : coverage->lost_high,
		.uncertain = uncertain,
		.forgotten = count_forgotten(engine),
		.uncounted = summary->uncounted,
		.pairs = pairs,
		.min_coverage = engine->config.min_coverage,
	};
	char *because = ft_summary_take(summary, FT_COVERAGE_TEXT, 1);

	for (uint32_t i = 0; i < totals->cell_count; i++) {
		const struct ft_cell *cell = &totals->cells[i];

		if (cell->judged + cell->undecided != 0 &&
		    (cell->from != FT_NONE || cell->to != FT_NONE))
			pairs[covered.pair_count++] = (struct ft_covered_pair){
				.from = ft_engine_tenant(engine, cell->from),
				.to = ft_engine_tenant(engine, cell->to),
				.judged = cell->judged,
				.undecided = cell->undecided,
			};
	}
	qsort(pairs, covered.pair_count, sizeof *pairs, by_names);
	coverage->min_coverage = covered.min_coverage;
	coverage->enough = ft_coverage_enough(&covered, summary->not_enough);
	coverage->could_hide_per_million = ft_coverage_could_hide(&covered, because);
	coverage->could_hide_because = because;
}

/* `believed`: as sum_trackers() has it; what it adds to the other is still possible. Both are compacted. */
static void fill_estimate(struct ft_summary *summary, struct ft_loss_evidence *evidence,
			  struct ft_loss_evidence *believed, uint64_t counted)
{
	struct ft_loss_estimate estimate, highest;

	ft_loss_compact(evidence);
	ft_loss_compact(believed);
	ft_loss_estimate(evidence, counted, &estimate);
	ft_loss_estimate(believed, counted, &highest);
	estimate.high = ft_larger64(estimate.high, highest.high);
	summary->doubted = highest.known ? 1 - fmin(highest.share_seen, estimate.least_share) : 0;
	summary->masked = estimate.masked;
	summary->faint = estimate.faint;
	summary->crowded = estimate.crowded;
	summary->crowd_share = estimate.crowd_share;
	summary->lasting = estimate.lasting;
	summary->filtered = evidence->filtered != 0;
	set_estimate(&summary->report.coverage, &estimate);
}

/* What was seen, and how it was judged: all that is counted as it stands. */
static struct ft_report_coverage counted_frames(const struct ft_engine *engine,
						const struct ft_tally *tally,
						const struct ft_tracker_totals *totals)
{
	const struct ft_cell all = ft_totals_sum(&tally->totals);

	return (struct ft_report_coverage){
		.frames_seen = all.packets,
		.duplicates = tally->duplicates,
		.truncated = tally->truncated,
		.undecided = tally->undecided_bad_icrc + tally->undecided_cut +
			     tally->undecided_malformed + tally->undecided_untimed +
			     tally->undecided_unread,
		.undecodable = tally->undecodable,
		.connections = totals->paired,
		.one_sided = totals->one_sided,
		.unpaired = totals->unpaired,
		.evicted = count_flows(engine).evicted,
		.mirror_unfollowed = mirror_unfollowed(engine),
		.could_hide_per_million = -1,
		.judged = all.judged,
		.never_judged = tally->never_judged,
		.not_rdma = tally->not_rdma,
		.undecided_bad_icrc = tally->undecided_bad_icrc,
		.undecided_cut = tally->undecided_cut,
		.undecided_malformed = tally->undecided_malformed,
		.undecided_untimed = tally->undecided_untimed,
		.undecided_unread = tally->undecided_unread,
	};
}

void ft_summary_fill_coverage(struct ft_summary *summary, const struct ft_engine *engine,
			      const struct ft_source *source)
{
	const struct ft_tally *tally = summary->tally;
	struct ft_report_coverage *coverage = &summary->report.coverage;
	struct ft_loss_evidence *evidence = ft_summary_take(summary, 1, sizeof *evidence);
	struct ft_loss_evidence *believed = ft_summary_take(summary, 1, sizeof *believed);
	struct ft_tracker_totals totals = sum_trackers(engine, evidence, believed);
	struct ft_counted_frames here = { .copies = tally->duplicates };
	uint64_t counted;

	*coverage = counted_frames(engine, tally, &totals);
	counted = fill_losses(summary, engine, source, &totals);
	here.rdma = ft_loss_seen(evidence);
	here.others = coverage->frames_seen > here.rdma ? coverage->frames_seen - here.rdma : 0;
	fill_estimate(summary, evidence, believed,
		      ft_coverage_counted(counted, &here) + tally->unsampled);
	if (summary->uncounted != NULL)
		coverage->lost_high = FT_UNKNOWN;
	ft_summary_look_for_silence(summary, engine);
	fill_gaps(summary, engine, source);
	fill_unopened(summary);
	if (engine->map != NULL)
		fill_could_hide(summary, engine, evidence->uncertain);
}
