#include "exchanges.h"

#include <flow/hash.h>
#include <flow/opening.h>
#include <flow/reserve.h>

#include "exchanges_asked.h"
#include "exchanges_parts.h"

enum { MOST_PAIRS = 1 << 16 }; /* of addresses; of others nothing is told */

static bool is_reliable(const struct ft_half *half)
{
	return half->service == FT_RC || half->service == FT_XRC;
}

static bool has_asked(const struct ft_half *half)
{
	return half->next_psn != FT_PSN_NONE && (half->flags & FT_HALF_NAKED) == 0 &&
	       half->first_psn <= FT_PSN_MOST;
}

static uint64_t way_of(const struct ft_exchanges *all, const struct ft_flow *flow, bool answers)
{
	struct ft_flow_key key = ft_asking_key(flow, answers);

	key.dest_qp = 0;
	key.base = key.vlan = 0;
	return ft_hash(&key, sizeof key, all->halves.seed);
}

static void add_lone(struct ft_exchanges *all, const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;
	bool answers = half->next_psn == FT_PSN_NONE;

	if (answers ? half->answered == FT_PSN_NONE : !has_asked(half))
		return;
	all->lone[all->lone_count++] = (struct ft_lone){
		.way = way_of(all, flow, answers),
		.from = answers ? ft_answered_from(half) : half->first_psn,
		.to = answers ? half->answered : ft_asked_to(half),
		.flow = ft_tracker_number(all->tracker, flow),
		.port = ft_pairs_port(all->tracker->pairs, flow),
		.answers = answers,
	};
}

/* It has answered for nothing but what was sent before all that the other half is known to have asked for. */
static bool answers_before(const struct ft_half *half, const struct ft_half *asked)
{
	return half->answered != FT_PSN_NONE && has_asked(asked) &&
	       ft_psn_distance(half->answered, asked->first_psn) < 0;
}

/* Of a half that has another: its request was answered, or the two were taken for a pair by mistake. */
static void add_met(struct ft_exchanges *all, const struct ft_flow *flow)
{
	const struct ft_flow *peer = ft_tracker_peer(all->tracker, flow);
	const struct ft_half *half = &flow->half;

	all->evidence->faced += half->answered != FT_PSN_NONE && flow->packets >= FT_LONG_ANSWERS;
	if (answers_before(half, &peer->half) || answers_before(&peer->half, half))
		add_lone(all, flow);
	else if (has_asked(half) && half->acked != FT_PSN_NONE &&
		 ft_psn_distance(half->acked, half->next_psn) < 0)
		ft_exchange_tell(all, flow, peer, true);
}

/*
 * A queue pair that is used again by another one, or a half of which all packets were damaged: requests of it are here, and not
 * known.
 */
static bool is_hiding(const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;
	bool had_another = (half->flags & FT_HALF_NAKED) == 0 && half->first_psn == FT_PSN_ANEW;

	if (half->service == UINT8_MAX)
		return flow->bad_icrc != 0;
	return is_reliable(half) && (had_another || half->outside >> FT_OUTSIDE_RUN_SHIFT != 0);
}

static bool add_other(void *context, const struct ft_flow *flow)
{
	struct ft_exchanges *all = context;

	all->evidence->hidden += is_hiding(flow);
	if (is_reliable(&flow->half) && flow->peer == 0)
		add_lone(all, flow);
	else if (is_reliable(&flow->half))
		add_met(all, flow);
	return true;
}

static bool add_half(void *context, const struct ft_flow *flow)
{
	struct ft_exchanges *all = context;

	if (is_reliable(&flow->half))
		ft_lonely_add(&all->halves, flow, false);
	return true;
}

/* One that is alone, or whose answer may count. False: the first of them is met, which is enough. */
static bool is_neither(void *context, const struct ft_flow *flow)
{
	bool *met = context;

	*met = is_reliable(&flow->half) && (flow->peer == 0 || ft_is_single(flow));
	return !*met;
}

/* How many halves went each way matters to those alone: where there are none, none are counted. 0 or -ENOMEM. */
static int count_halves(struct ft_exchanges *all, uint32_t used)
{
	const struct ft_tracker *tracker = all->tracker;
	bool met = false;
	int failure;

	ft_flow_each(tracker->table, is_neither, &met);
	if (!met)
		used = 1;
	failure = ft_lonely_init(&all->halves, used < MOST_PAIRS ? used : MOST_PAIRS,
				 tracker->lonely.seed);
	if (failure == 0 && met)
		ft_flow_each(tracker->table, add_half, all);
	return failure;
}

void ft_count_exchanges(const struct ft_tracker *tracker, struct ft_tracker_totals *totals,
			struct ft_loss_evidence *evidence)
{
	uint32_t used = ft_flow_table_stats(tracker->table).used;
	size_t bytes = used * sizeof(struct ft_lone);
	struct ft_exchanges all = { .tracker = tracker, .totals = totals, .evidence = evidence };

	if (evidence->forgotten != 0 || used == 0)
		return;
	all.lone = ft_reserve(bytes);
	if (all.lone == NULL)
		return;
	if (count_halves(&all, used) == 0) {
		ft_flow_each(tracker->table, add_other, &all);
		ft_exchanges_match(&all);
		ft_lonely_free(&all.halves);
	}
	ft_release(all.lone, bytes);
}
