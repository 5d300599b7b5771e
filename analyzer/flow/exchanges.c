#include "exchanges.h"

#include <stdlib.h>

#include <flow/hash.h>
#include <flow/opening.h>
#include <flow/reserve.h>

#include "exchanges_asked.h"

enum {
	MOST_PAIRS = 1 << 16, /* of addresses; of others nothing is told */
	PORTS_TELL = 2, /* one half in so many of a way is joined with another by its port alone */
	MOST_BEHIND = 64, /* requests lost at the end of a half, that an answer shows */
	LONG_PACKETS = 4, /* answers to several requests, which are not all lost */
};

/* A half that has no other: it asks, or else it answers and has asked for nothing. */
struct lone {
	uint64_t way; /* digest of the addresses that its requests go between */
	/* PSNs that it asked for; or answered: of its newest READ, or the newest */
	uint32_t from, to;
	uint32_t flow; /* number of its record */
	uint16_t port; /* UDP source port; 0: none, or they tell nothing */
	bool answers;
};

struct count {
	const struct ft_tracker *tracker;
	struct ft_loss_evidence *evidence;
	struct ft_lonely halves; /* all there are, by addresses */
	struct lone *lone;
	size_t lone_count;
	struct ft_tracker_totals *totals;
};

static bool is_reliable(const struct ft_half *half)
{
	return half->service == FT_RC || half->service == FT_XRC;
}

static bool has_asked(const struct ft_half *half)
{
	return half->next_psn != FT_PSN_NONE && (half->flags & FT_HALF_NAKED) == 0 &&
	       half->first_psn <= FT_PSN_MOST;
}

/* As its requests go, or those that it answers. */
static struct ft_flow_key asking_key(const struct ft_flow *flow, bool answers)
{
	return answers ? ft_flow_key_turned(&flow->key) : flow->key;
}

static uint64_t way_of(const struct count *count, const struct ft_flow *flow, bool answers)
{
	struct ft_flow_key key = asking_key(flow, answers);

	key.dest_qp = 0;
	key.base = key.vlan = 0;
	return ft_hash(&key, sizeof key, count->halves.seed);
}

static void add_lone(struct count *count, const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;
	bool answers = half->next_psn == FT_PSN_NONE;

	if (answers ? half->answered == FT_PSN_NONE : !has_asked(half))
		return;
	count->lone[count->lone_count++] = (struct lone){
		.way = way_of(count, flow, answers),
		.from = answers ? ft_answered_from(half) : half->first_psn,
		.to = answers ? half->answered : ft_asked_to(half),
		.flow = ft_tracker_number(count->tracker, flow),
		.port = ft_pairs_port(count->tracker->pairs, flow),
		.answers = answers,
	};
}

/* Behind the beginning of the capture, where what went before passed unseen. */
static uint64_t frame_of(const struct ft_flow *flow)
{
	uint64_t frame = ft_opening_frame(flow->opened);

	return frame > FT_LOSS_FIRST_FRAMES ? frame : 0;
}

/* How many halves are in view that went the way of the requests. */
static uint32_t halves_asking(const struct count *count, const struct ft_flow *flow, bool answers)
{
	const struct ft_flow_key key = asking_key(flow, answers);

	return ft_lonely_halves(&count->halves, &key);
}

/* The newest of several requests of a half that was not known to be answered: its loss would have shown. */
static void tell_end(struct count *count, const struct ft_flow *flow, const struct ft_flow *answers)
{
	if (flow->peer != 0 || flow->packets <= 1 || count->evidence->ends == 0 ||
	    ft_psn_distance(answers->half.answered, ft_asked_to(&flow->half)) < 0)
		return;
	count->evidence->ends--;
	count->evidence->ends_answered++;
}

/* A request that an answer would have shown. `flow`: that it is all of; `sure`: the answer is its own. */
static void tell_exchange(struct count *count, const struct ft_flow *flow,
			  const struct ft_flow *answers, bool sure)
{
	uint64_t frame = frame_of(flow);
	uint64_t answered = ft_opening_frame(answers->opened);

	if (sure)
		tell_end(count, flow, answers);
	if (frame == 0 || !ft_is_whole_request(flow))
		return;
	if (sure)
		ft_loss_exchange(count->evidence, frame, answered > frame ? answered - frame : 0,
				 halves_asking(count, flow, false) > 1);
	else
		count->evidence->exchanges_alike++;
}

/* All its answers are to one request. */
static bool is_one_answer(const struct ft_flow *flow, const struct lone *lone)
{
	return flow->packets <= (uint64_t)ft_psn_since(lone->to, lone->from) + 1;
}

static void tell_lone(struct count *count, const struct lone *lone)
{
	const struct ft_flow *flow = ft_flow_at(count->tracker->table, lone->flow);
	uint64_t frame = frame_of(flow);
	bool beside;

	count->evidence->sided +=
		lone->answers && flow->packets >= LONG_PACKETS && !is_one_answer(flow, lone);
	if (frame == 0 || !(lone->answers ? is_one_answer(flow, lone) : ft_is_whole_request(flow)))
		return;
	beside = halves_asking(count, flow, lone->answers) > (lone->answers ? 0 : 1);
	ft_loss_lone(count->evidence, frame, lone->answers, beside);
}

/* It has answered for nothing but what was sent before all that the other half is known to have asked for. */
static bool answers_before(const struct ft_half *half, const struct ft_half *asked)
{
	return half->answered != FT_PSN_NONE && has_asked(asked) &&
	       ft_psn_distance(half->answered, asked->first_psn) < 0;
}

/* Of a half that has another: its request was answered, or the two were taken for a pair by mistake. */
static void add_met(struct count *count, const struct ft_flow *flow)
{
	const struct ft_flow *peer = ft_tracker_peer(count->tracker, flow);
	const struct ft_half *half = &flow->half;

	count->evidence->faced += half->answered != FT_PSN_NONE && flow->packets >= LONG_PACKETS;
	if (answers_before(half, &peer->half) || answers_before(&peer->half, half))
		add_lone(count, flow);
	else if (has_asked(half) && half->acked != FT_PSN_NONE &&
		 ft_psn_distance(half->acked, half->next_psn) < 0)
		tell_exchange(count, flow, peer, true);
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
	struct count *count = context;

	count->evidence->hidden += is_hiding(flow);
	if (is_reliable(&flow->half) && flow->peer == 0)
		add_lone(count, flow);
	else if (is_reliable(&flow->half))
		add_met(count, flow);
	return true;
}

static bool add_half(void *context, const struct ft_flow *flow)
{
	struct count *count = context;

	if (is_reliable(&flow->half))
		ft_lonely_add(&count->halves, flow, false);
	return true;
}

/* Way by way, and port by port; what asks by the PSN where that ends, and then what answers by the PSN where that begins. */
static int in_order(const void *left, const void *right)
{
	const struct lone *a = left, *b = right;
	uint32_t one = a->answers ? a->from : a->to, other = b->answers ? b->from : b->to;

	if (a->way != b->way)
		return a->way < b->way ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (a->answers != b->answers)
		return a->answers ? 1 : -1;
	if (one != other)
		return one < other ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* `unlike`: no other half fits either, or no other but of their own port. */
static void tell_both(struct count *count, const struct lone *asks, const struct lone *answers,
		      bool unlike)
{
	const struct ft_flow_table *table = count->tracker->table;

	tell_exchange(count, ft_flow_at(table, asks->flow), ft_flow_at(table, answers->flow),
		      unlike);
}

/* The answer is to a request soon behind all of the half that are here. */
static bool leads(const struct lone *asks, const struct lone *answers)
{
	int32_t behind = ft_psn_distance(answers->from, asks->to);

	return behind > 0 && behind <= MOST_BEHIND;
}

/* All up to what is answered were asked for. */
static void tell_behind(struct count *count, const struct lone *asks, const struct lone *answers)
{
	const struct ft_flow *flow = ft_flow_at(count->tracker->table, asks->flow);
	const struct ft_flow *other = ft_flow_at(count->tracker->table, answers->flow);
	uint32_t lost = ft_psn_since(answers->from, asks->to);
	uint64_t frame = ft_opening_frame(other->opened);

	tell_exchange(count, flow, other, true);
	ft_loss_hole(count->evidence, frame, lost);
	count->evidence->requests_lost += lost;
	count->evidence->ahead++;
	count->totals->mirror_lost += lost;
	count->totals->lost_by_ack += lost;
	if ((flow->half.flags & FT_HALF_START_SEEN) != 0)
		return;
	ft_loss_doubt(count->evidence, frame, lost, FT_LOSS_ONSET);
	count->totals->doubted[FT_LOSS_ONSET] += lost;
}

static bool fit(const struct lone *asks, const struct lone *answers)
{
	return asks->from <= answers->to && asks->to >= answers->from;
}

/* Either fits the one, or may go on with the other. */
static bool may_belong(const struct lone *asks, const struct lone *answers)
{
	return fit(asks, answers) || leads(asks, answers);
}

/* Whether no other half of the way may belong to one of these two. */
static bool are_alone(const struct lone *asks, const struct lone *answer, const struct lone *first,
		      const struct lone *middle, const struct lone *end)
{
	return !(asks > first && may_belong(asks - 1, answer)) &&
	       !(asks + 1 < middle && may_belong(asks + 1, answer)) &&
	       !(answer > middle && may_belong(asks, answer - 1)) &&
	       !(answer + 1 < end && may_belong(asks, answer + 1));
}

/* Of one way: what asks up to `middle`, and what answers up to `end`. What fits each other may well belong together. */
static void match(struct count *count, const struct lone *asks, const struct lone *middle,
		  const struct lone *end)
{
	const struct lone *first = asks;

	for (const struct lone *answer = middle; answer < end; answer++) {
		while (asks < middle && asks->to < answer->from &&
		       !(leads(asks, answer) && are_alone(asks, answer, first, middle, end)))
			tell_lone(count, asks++);
		if (asks < middle && leads(asks, answer)) {
			tell_behind(count, asks++, answer);
		} else if (asks < middle && fit(asks, answer)) {
			bool others = (asks > first && fit(asks - 1, answer)) ||
				      (asks + 1 < middle && fit(asks + 1, answer)) ||
				      (answer > middle && fit(asks, answer - 1)) ||
				      (answer + 1 < end && fit(asks, answer + 1));

			tell_both(count, asks++, answer, !others || answer->port != 0);
		} else {
			tell_lone(count, answer);
		}
	}
	while (asks < middle)
		tell_lone(count, asks++);
}

/* The end of those from `at` on that go the same way; and from the same port, if `port`. */
static struct lone *end_of(struct lone *at, struct lone *end, bool port)
{
	struct lone *next = at;

	while (next < end && next->way == at->way && (!port || next->port == at->port))
		next++;
	return next;
}

/* Of one way, in order: those that have one, and only one, against them from their port. */
static size_t joined_by_port(struct lone *at, struct lone *end)
{
	size_t joined = 0;

	while (at < end) {
		struct lone *next = end_of(at, end, true);

		if (next - at == 2 && at[0].answers != at[1].answers)
			joined += 2;
		at = next;
	}
	return joined;
}

/* Of one way: in order without their ports, unless most are joined by them. */
static void take_ports(struct lone *at, struct lone *end)
{
	size_t all = (size_t)(end - at);

	if (PORTS_TELL * joined_by_port(at, end) >= all)
		return;
	for (struct lone *lone = at; lone < end; lone++)
		lone->port = 0;
	qsort(at, all, sizeof *at, in_order);
}

/* Those from one port. */
static void match_group(struct count *count, struct lone *at, struct lone *end)
{
	const struct lone *middle = at;

	while (middle < end && !middle->answers)
		middle++;
	match(count, at, middle, end);
}

/* Of one way. */
static void tell_crowd(struct count *count, const struct lone *at, const struct lone *end)
{
	uint64_t asking = 0;

	for (const struct lone *lone = at; lone < end; lone++)
		asking += !lone->answers;
	ft_loss_crowd(count->evidence, asking, (uint64_t)(end - at) - asking);
}

static void match_all(struct count *count)
{
	struct lone *at = count->lone, *end = count->lone + count->lone_count;

	while (at < end) {
		struct lone *way = end_of(at, end, false);

		tell_crowd(count, at, way);
		take_ports(at, way);
		while (at < way) {
			struct lone *next = end_of(at, way, true);

			match_group(count, at, next);
			at = next;
		}
	}
}

/* One that is alone, or whose answer may count. False: the first of them is met, which is enough. */
static bool is_neither(void *context, const struct ft_flow *flow)
{
	bool *met = context;

	*met = is_reliable(&flow->half) && (flow->peer == 0 || ft_is_single(flow));
	return !*met;
}

/* How many halves went each way matters to those alone: where there are none, none are counted. 0 or -ENOMEM. */
static int count_halves(struct count *count, uint32_t used)
{
	const struct ft_tracker *tracker = count->tracker;
	bool met = false;
	int failure;

	ft_flow_each(tracker->table, is_neither, &met);
	if (!met)
		used = 1;
	failure = ft_lonely_init(&count->halves, used < MOST_PAIRS ? used : MOST_PAIRS,
				 tracker->lonely.seed);
	if (failure == 0 && met)
		ft_flow_each(tracker->table, add_half, count);
	return failure;
}

void ft_count_exchanges(const struct ft_tracker *tracker, struct ft_tracker_totals *totals,
			struct ft_loss_evidence *evidence)
{
	uint32_t used = ft_flow_table_stats(tracker->table).used;
	size_t bytes = used * sizeof(struct lone);
	struct count count = { .tracker = tracker, .totals = totals, .evidence = evidence };

	if (evidence->forgotten != 0 || used == 0)
		return;
	count.lone = ft_reserve(bytes);
	if (count.lone == NULL)
		return;
	if (count_halves(&count, used) == 0) {
		ft_flow_each(tracker->table, add_other, &count);
		qsort(count.lone, count.lone_count, sizeof *count.lone, in_order);
		match_all(&count);
		ft_lonely_free(&count.halves);
	}
	ft_release(count.lone, bytes);
}
