/* What may be missing in silences of the input: no number of a sequence shows it, where connections are shorter. */
#include "summary_parts.h"

#include <math.h>
#include <stdlib.h>

#include "steady.h"

/* Of more, some are drawn by lot: what is left of a steady rate is steady. */
enum { MOST_ENDS = 1 << 17 };

/* The times of the newest packets of halves that asked, of one in so many. */
struct ends {
	uint64_t *times;
	size_t count, room;
	uint32_t one_in;
};

static bool add_end(void *context, const struct ft_flow *flow)
{
	struct ends *ends = context;

	if (flow->key.base == FT_FLOW_ANY_BASE && flow->half.next_psn != FT_PSN_NONE &&
	    flow->last_ns != UINT64_MAX && ft_flow_key_hash(&flow->key, 1) % ends->one_in == 0)
		ends->times[ends->count++] = flow->last_ns;
	return ends->count < ends->room;
}

static int by_time(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Half-connections in all tables; 0: some are there no more. */
static size_t half_count(const struct ft_engine *engine)
{
	size_t used = 0;

	for (unsigned i = 0; i < engine->config.workers; i++) {
		struct ft_flow_table_stats stats = ft_flow_table_stats(engine->workers[i]->flows);

		if (stats.created != stats.used)
			return 0;
		used += stats.used;
	}
	return used;
}

static struct ends take_ends(struct ft_summary *summary, const struct ft_engine *engine,
			     size_t halves)
{
	size_t room = halves < MOST_ENDS ? halves : MOST_ENDS;
	struct ends ends = {
		.times = ft_summary_take(summary, room, sizeof *ends.times),
		.room = room,
		.one_in = 1 + (uint32_t)(2 * halves / MOST_ENDS),
	};

	for (unsigned i = 0; i < engine->config.workers; i++)
		ft_flow_each(engine->workers[i]->flows, add_end, &ends);
	qsort(ends.times, ends.count, sizeof *ends.times, by_time);
	return ends;
}

/* As many frames as at other times, and three standard deviations of as many connections. */
static uint64_t most_of(double mean, double ends)
{
	return (uint64_t)ceil(mean * (1 + 3 * sqrt(2 / fmax(ends, 1))));
}

void ft_summary_look_for_silence(struct ft_summary *summary, const struct ft_engine *engine)
{
	struct ft_report_coverage *coverage = &summary->report.coverage;
	const struct ft_silences *silences = &engine->account.silences;
	size_t halves = half_count(engine);
	double seen = (double)coverage->judged + (double)coverage->undecided, silent, busy, mean;
	struct ends ends;

	if (silences->input_count != 1 || silences->inputs[0].kept_count == 0 ||
	    halves < FT_STEADY_LEAST)
		return;
	ends = take_ends(summary, engine, halves);
	silent = (double)ft_steady_silent_ns(
		ends.times, ft_summary_take(summary, ends.room, sizeof *ends.times), ends.count,
		silences->inputs[0].kept, silences->inputs[0].kept_count);
	if (silent <= 0)
		return;
	busy = (double)(ends.times[ends.count - 1] - ends.times[0]) - silent;
	if (silent > busy) /* of most of the time there is no rate that might be steady */
		return;
	mean = seen * silent / busy;
	summary->silent_time = silent / (busy + silent);
	summary->silent_share = mean / (seen + mean);
	if (coverage->lost_high != FT_UNKNOWN)
		coverage->lost_high += most_of(mean, (double)ends.count * silent / busy);
}
