#include "outcome.h"

#include <decode/extremes.h>

#include "outcome_reads.h"

/* Requests that the peer answered for were delivered: if they never passed here, the mirror lost them. */

/* PSNs that this half used after the range. */
static uint32_t beyond(uint32_t next_psn, const struct ft_span *span)
{
	int32_t distance;

	if (next_psn == FT_PSN_NONE)
		return 0;
	distance = ft_psn_distance(next_psn, ft_psn_add(span->from, span->count));
	return distance > 0 ? (uint32_t)distance : 0;
}

/*
 * Without the peer in view: the receiver would have asked for what is missing and the sender gone back,
 * unless it was delivered. Enough to go by when nothing more will be seen.
 */
static bool went_on(uint32_t next_psn, uint64_t now_ns, const struct ft_span *span)
{
	uint32_t since = beyond(next_psn, span);

	return since >= FT_WENT_ON_PSNS ||
	       (since >= FT_SETTLE_PSNS && ft_elapsed(now_ns, span->ts_ns) >= FT_SETTLE_NS);
}

/* The receiver's answers pass here, as do those of this half or others that told which halves belong together. */
static bool is_answered(const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;

	return flow->peer != 0 && (half->acked != FT_PSN_NONE || half->answered != FT_PSN_NONE ||
				   half->paired_by != FT_PAIRED_SOURCE_PORT);
}

/* Among the first packets of a half whose set-up was not seen. */
static bool is_doubtful(const struct ft_flow *flow, const struct ft_span *span)
{
	return span->early != FT_LATER && (flow->half.flags & FT_HALF_START_SEEN) == 0;
}

/* Neither many READs, whose responses take PSNs too, nor what a queue pair that was set up anew left out. */
static bool is_missing(const struct ft_reads *reads, const struct ft_flow *flow,
		       const struct ft_span *span)
{
	if (span->kind != FT_SPAN_HOLE || span->count >= FT_WENT_ON_PSNS)
		return false;
	return reads->longest <= 1 || !ft_is_vague(span) ||
	       (!is_answered(flow) && span->count <= FT_LOSS_VAGUE);
}

static struct ft_span_outcome judge_requests(const struct ft_tracker *tracker,
					     const struct ft_flow *flow, const struct ft_span *span)
{
	const struct ft_half *half = &flow->half;
	const struct ft_reads reads = ft_reads_of(tracker, half);
	struct ft_span_outcome outcome = { .missing = is_missing(&reads, flow, span) };
	bool to_come;

	if (half->service != FT_UC)
		outcome.lost = ft_psn_reached(half->acked, span->from, span->count);
	to_come = outcome.lost == 0 && ft_is_to_come(half, span, ft_filled_from(tracker, half));
	if (to_come && is_answered(flow))
		return (struct ft_span_outcome){ 0 };
	outcome.open = span->count - outcome.lost;
	if (half->service == FT_UC)
		return outcome;
	outcome.pending = ft_packets_among(&reads, span, outcome.open);
	if (to_come || is_answered(flow))
		return outcome;
	outcome.vague = ft_is_vague(span) && !ft_reads_are_all(&reads) ? span->count : 0;
	if (!went_on(half->next_psn, flow->last_ns, span))
		return outcome;
	outcome.lost = ft_packets_among(&reads, span, span->count);
	outcome.open = outcome.pending = 0;
	return outcome;
}

/* When anything of the connection passed last. */
static uint64_t newest_ns(const struct ft_tracker *tracker, const struct ft_flow *flow)
{
	const struct ft_flow *peer = ft_tracker_peer(tracker, flow);

	return peer == NULL || peer->last_ns < flow->last_ns ? flow->last_ns : peer->last_ns;
}

/* How long responses have been due, up to the packet before this one. */
static uint64_t waited(const struct ft_tracker *tracker, const struct ft_flow *flow,
		       const struct ft_span *span)
{
	return ft_elapsed(newest_ns(tracker, flow), span->ts_ns);
}

/* Whether the other side still answers, long after it was asked again. */
static bool is_answering(const struct ft_tracker *tracker, const struct ft_flow *flow,
			 const struct ft_span *span)
{
	const struct ft_flow *peer = ft_tracker_peer(tracker, flow);

	return span->kind == FT_SPAN_ASKED_AGAIN && peer != NULL &&
	       ft_elapsed(peer->last_ns, span->ts_ns) >= FT_SETTLE_NS;
}

/*
 * Responses that were due, and were overtaken: the sender asks for what the fabric lost again, at once. If the fabric
 * loses that too, it asks after a time-out, as who has asked in vain does.
 */
static struct ft_span_outcome judge_answers(const struct ft_tracker *tracker,
					    const struct ft_flow *flow, const struct ft_span *span)
{
	const struct ft_half *half = &flow->half;
	uint64_t waited_ns = waited(tracker, flow, span);
	uint32_t lost;

	if (flow->peer == 0)
		return (struct ft_span_outcome){ 0 };
	lost = ft_psn_reached(half->acked, span->from, span->count);
	if (waited_ns >= FT_ASKS_BY_NS || beyond(half->acked, span) >= FT_WENT_ON_PSNS)
		return (struct ft_span_outcome){ .lost = lost };
	if ((span->kind == FT_SPAN_OVERTAKEN || is_answering(tracker, flow, span)) &&
	    waited_ns >= FT_SETTLE_NS)
		return (struct ft_span_outcome){ .lost = lost, .doubtful = true };
	return (struct ft_span_outcome){ .open = lost, .pending = lost };
}

/* Those that came, but damaged. */
static struct ft_span_outcome leave_out_damaged(const struct ft_tracker *tracker,
						const struct ft_flow *flow,
						const struct ft_span *span,
						struct ft_span_outcome outcome)
{
	bool answers = ft_span_is_answer(span);
	const struct ft_flow *sender =
		answers && span->kind != FT_SPAN_SKIPPED ? ft_tracker_peer(tracker, flow) : flow;
	uint32_t from = span->kind == FT_SPAN_AHEAD ? flow->half.next_psn : span->from;
	uint32_t count = span->kind == FT_SPAN_AHEAD ? outcome.lost : span->count;
	uint32_t lost = outcome.lost, here;

	if (sender == NULL || sender->bad_icrc == 0 || outcome.lost + outcome.open == 0)
		return outcome;
	from |= answers ? FT_DAMAGED_ANSWER : 0;
	here = ft_damaged_within(&tracker->damaged, ft_tracker_number(tracker, sender), from,
				 ft_smaller(lost, count));
	outcome.lost -= ft_smaller(here, lost);
	here = ft_damaged_within(&tracker->damaged, ft_tracker_number(tracker, sender), from,
				 count) -
	       here;
	outcome.open -= ft_smaller(here, outcome.open);
	outcome.pending -= ft_smaller(here, outcome.pending);
	return outcome;
}

/* What is answered ahead of all requests is lost, or was another half's that began at the same PSN. */
static bool is_unsure_pair(const struct ft_half *half)
{
	return half->paired_by == FT_PAIRED_TRANSPORT && half->pair_bits < FT_PAIR_SURE;
}

static struct ft_span_outcome judge_kind(const struct ft_tracker *tracker,
					 const struct ft_flow *flow, const struct ft_span *span)
{
	const struct ft_half *half = &flow->half;
	const struct ft_span_outcome nothing = { 0 };
	uint32_t after;

	switch (span->kind) {
	case FT_SPAN_FORMER:
		return nothing;
	case FT_SPAN_AHEAD:
		after = half->acked == FT_PSN_NONE
				? 0
				: ft_psn_reached(half->acked, half->next_psn, FT_PSN_WINDOW);
		if ((half->flags & FT_HALF_GOING_BACK) != 0) /* it will come again */
			return nothing;
		if (is_unsure_pair(half))
			return (struct ft_span_outcome){ .open = after, .pending = after };
		return (struct ft_span_outcome){ .lost = after };
	case FT_SPAN_AWAITED:
	case FT_SPAN_OVERTAKEN:
	case FT_SPAN_ASKED_AGAIN:
		return judge_answers(tracker, flow, span);
	case FT_SPAN_SKIPPED:
		if (went_on(half->answered, flow->last_ns, span))
			return (struct ft_span_outcome){ .lost = span->count };
		return (struct ft_span_outcome){ .open = span->count, .pending = span->count };
	default:
		return judge_requests(tracker, flow, span);
	}
}

/* It began other sequences before, and no set-up told. */
static bool lives_anew(const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;

	return (half->flags & (FT_HALF_NAKED | FT_HALF_START_SEEN)) == 0 &&
	       half->first_psn == FT_PSN_ANEW;
}

/* So many are missing at once that one sequence may have ended there, and another begun near by. */
static bool may_lie_between_lives(const struct ft_flow *flow, const struct ft_span *span,
				  const struct ft_span_outcome *outcome)
{
	return outcome->lost + outcome->open >= FT_WENT_ON_PSNS && !ft_is_in_message(span) &&
	       lives_anew(flow);
}

struct ft_span_outcome ft_outcome_of(const struct ft_tracker *tracker, const struct ft_flow *flow,
				     const struct ft_span *span)
{
	struct ft_span_outcome outcome = judge_kind(tracker, flow, span);

	if (may_lie_between_lives(flow, span, &outcome))
		return (struct ft_span_outcome){ .open = outcome.lost + outcome.open };
	outcome.doubtful |= is_doubtful(flow, span);
	return leave_out_damaged(tracker, flow, span, outcome);
}

/* Of packets that the peer has acknowledged, or responses that it gave. */
enum { GIVEN_UP = FT_SPANS_HOLES | 1u << FT_SPAN_OVERTAKEN };

bool ft_is_delivered(const struct ft_flow *flow, const struct ft_span *span)
{
	return (GIVEN_UP >> span->kind & 1) != 0 && flow->peer != 0 &&
	       flow->half.service != FT_UC && beyond(flow->half.next_psn, span) >= FT_SETTLE_PSNS;
}

struct ft_span_outcome ft_outcome_delivered(const struct ft_tracker *tracker,
					    const struct ft_flow *flow, const struct ft_span *span)
{
	const struct ft_span_outcome outcome = { .lost = span->count,
						 .doubtful = is_doubtful(flow, span) };

	return leave_out_damaged(tracker, flow, span, outcome);
}

bool ft_is_ripe(const struct ft_tracker *tracker, const struct ft_flow *flow,
		const struct ft_span *span, uint64_t now_ns)
{
	const struct ft_half *half = &flow->half;
	uint64_t age = span->ts_ns == UINT64_MAX ? UINT64_MAX : ft_elapsed(now_ns, span->ts_ns);
	bool answered = ft_psn_covers(half->acked, span->from, span->count);
	uint32_t least;

	switch (span->kind) {
	case FT_SPAN_AHEAD:
	case FT_SPAN_FORMER:
	case FT_SPAN_AWAITED:
		return false;
	case FT_SPAN_OVERTAKEN:
	case FT_SPAN_ASKED_AGAIN:
		least = waited(tracker, flow, span) < FT_ASKS_BY_NS ? FT_WENT_ON_PSNS
								    : FT_SETTLE_PSNS;
		return answered && age >= tracker->config.reorder_ns &&
		       beyond(half->next_psn, span) >= least;
	case FT_SPAN_SKIPPED:
		return beyond(half->answered, span) >= FT_SETTLE_PSNS &&
		       age >= tracker->config.reorder_ns;
	default:
		if (beyond(half->next_psn, span) < FT_SETTLE_PSNS)
			return false;
		if (answered || half->service == FT_UC)
			return age >= FT_SETTLE_NS;
		return !is_answered(flow) && age >= tracker->config.reorder_ns;
	}
}
