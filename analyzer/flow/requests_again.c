#include "lives.h"
#include "messages.h"

/* Requests behind the expected one: sent again, or late. */

/* The newest hole is the likeliest. */
static uint32_t find_hole(const struct ft_tracker *tracker, const struct ft_half *half,
			  uint32_t psn)
{
	return ft_spans_find_newest(&tracker->spans, half, psn, FT_SPANS_HOLES);
}

/* Whether a request that comes late was sent again: asked for, or part of going back, or after a time-out. */
static bool is_sent_again(const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;

	if (ft_is_acked(half, psn))
		return false; /* the answer was faster */
	if (half->flags & FT_HALF_GOING_BACK)
		return true;
	if (half->flags & FT_HALF_NAKED && ft_psn_distance(psn, half->nak_psn) >= 0)
		return true;
	return ft_elapsed(moment->observed->ts_ns, ft_asked_before(moment)) >= FT_SILENT_NS;
}

/*
 * A late READ or ATOMIC: what it asks for is awaited from now on, as far as no other packet has shown
 * it; `room`: PSNs from its own to the end of the hole. Returns the most PSNs it may use.
 */
static uint32_t ask_late(struct ft_tracker *tracker, const struct ft_moment *moment, uint32_t room)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	uint32_t psns = ft_psns_of(tracker, moment);
	int32_t more;

	if (psns == 0)
		return ft_packets_of(moment->observed->length, ft_least_mtu(half));
	ft_await(tracker, moment, moment->flow, psn, psns < room ? psns : room, psn);
	more = ft_psn_distance(ft_psn_add(psn, psns), half->next_psn);
	if (more <= 0)
		return psns;
	ft_await(tracker, moment, moment->flow, half->next_psn, (uint32_t)more, psn);
	half->next_psn = ft_psn_add(psn, psns);
	half->flags &= (uint8_t)~FT_HALF_SPAN_UNKNOWN;
	return psns;
}

/* A READ that asks for the rest of another one: none with its PSN has passed before. */
static bool asks_for_rest(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn, number;

	if (moment->operation->role != FT_ROLE_QUESTION)
		return false;
	number = ft_spans_find(&tracker->spans, half, psn, FT_SPANS_AWAITED);
	if (number == 0)
		return (half->flags & FT_HALF_GOING_BACK) == 0;
	return ft_span_at(&tracker->spans, number)->begin != psn;
}

/* What a request behind the others says of loss; of an unreliable connection, nothing. */
static void tell_evidence(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint32_t what = moment->step->what;

	tracker->evidence->fabric += (what & FT_STEP_FABRIC_LOST) != 0;
	tracker->evidence->late += (what & FT_STEP_REORDERED) != 0;
	tracker->evidence->asking += moment->operation->role == FT_ROLE_REQUEST &&
				     (moment->observed->has & FT_OBSERVED_ACK_REQUEST) != 0;
	if (moment->flow->half.service == FT_UC ||
	    (what & FT_STEP_RETRANSMITTED && asks_for_rest(tracker, moment)))
		ft_loss_silent(tracker->evidence, moment->observed->frame);
	else if (what & FT_STEP_FABRIC_LOST)
		ft_pass_instead(tracker, moment);
	else if (what & FT_STEP_RETRANSMITTED)
		ft_pass_again(tracker, moment);
	else
		ft_pass_late(tracker, moment);
}

/* It begins the message that was seen from its middle on: what is in its order will complete it. */
static void begin_message(const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;

	if (moment->operation->part != FT_PART_FIRST || (half->flags & FT_HALF_SPAN_UNKNOWN) != 0)
		return;
	if (half->message_psn == FT_PSN_NONE || ft_psn_distance(psn, half->message_psn) >= 0)
		ft_begin_message(half, moment->observed);
}

/* It ends what was being sent, and what was seen behind it is of the next. */
static void end_message(struct ft_half *half, uint32_t psn)
{
	if (half->message_psn == FT_PSN_NONE || (half->flags & FT_HALF_SPAN_UNKNOWN) != 0 ||
	    ft_psn_distance(psn, half->message_psn) < 0)
		return;
	half->message_psn = ft_psn_add(psn, 1);
	half->flags &= (uint8_t)~FT_HALF_IN_MESSAGE;
}

/*
 * A message that a late packet completes; `begin`: where it began, as far as is known; `missing`: packets just before it.
 * Returns where the next begins.
 */
static uint32_t follow_late(const struct ft_tracker *tracker, const struct ft_moment *moment,
			    uint32_t begin, uint32_t missing)
{
	const struct ft_observed *observed = moment->observed;
	uint8_t part = moment->operation->part;
	uint32_t length = missing < 2 ? 0 : FT_LENGTH_UNKNOWN;

	if (part & FT_PART_FIRST) {
		begin = observed->psn;
		length = ft_message_length(observed);
	}
	if ((part & FT_PART_LAST) == 0) {
		begin_message(moment);
		return begin;
	}
	ft_tell_message(tracker, moment, begin, length);
	end_message(&moment->flow->half, observed->psn);
	return ft_psn_add(observed->psn, 1);
}

/* A late READ or ATOMIC is no part of a message. Returns where the next one begins; FT_PSN_NONE: not known. */
static uint32_t part_late(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint32_t psns = ft_psns_of(tracker, moment), end;

	if (psns == 0)
		return FT_PSN_NONE;
	end = ft_psn_add(moment->observed->psn, psns);
	end_message(&moment->flow->half, ft_psn_back(end, 1));
	return end;
}

/* What is still missing behind the PSN is of a message that began there. */
static void begin_behind(struct ft_tracker *tracker, const struct ft_half *half, uint32_t psn,
			 uint32_t begin)
{
	uint32_t number = find_hole(tracker, half, ft_psn_add(psn, 1));
	struct ft_span *hole = ft_span_at(&tracker->spans, number);

	if (number != 0 && hole->from == ft_psn_add(psn, 1))
		hole->begin = begin;
}

/* What is still missing before the PSN has this packet behind it. */
static void end_before(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint32_t psn = ft_psn_add(moment->observed->psn, FT_PSN_MOST);
	uint32_t number = find_hole(tracker, &moment->flow->half, psn);
	struct ft_span *hole = ft_span_at(&tracker->spans, number);

	if (number == 0)
		return;
	hole->begins = (moment->operation->part & FT_PART_FIRST) != 0;
	hole->ends = (moment->operation->part & FT_PART_LAST) != 0;
}

/* A request that never passed before fills a hole. */
static void fill(struct ft_tracker *tracker, const struct ft_moment *moment, uint32_t number)
{
	struct ft_flow *flow = moment->flow;
	uint32_t psn = moment->observed->psn, psns = 1, last = psn, begin;
	const struct ft_span *hole = ft_span_at(&tracker->spans, number);

	if (is_sent_again(moment)) {
		moment->step->what |= FT_STEP_FABRIC_LOST;
		tracker->totals.fabric_lost++;
		flow->half.flags |= FT_HALF_GOING_BACK;
	} else {
		moment->step->what |= FT_STEP_REORDERED;
		tracker->totals.reordered++;
	}
	tell_evidence(tracker, moment);
	if (moment->operation->role == FT_ROLE_REQUEST) {
		begin = follow_late(tracker, moment, hole->begin, ft_psn_since(psn, hole->from));
	} else {
		psns = ask_late(tracker, moment, ft_psn_since(hole->from + hole->count, psn));
		begin = part_late(tracker, moment);
		last = ft_psn_back(begin, 1);
	}
	number = find_hole(tracker, &flow->half, psn); /* awaiting may have settled it */
	if (number != 0)
		ft_settle_seen(tracker, flow, number, psn, psns, moment->step);
	end_before(tracker, moment);
	if (begin != FT_PSN_NONE)
		begin_behind(tracker, &flow->half, last, begin);
}

/* What is awaited of a READ from here on is not its own: the path MTU guessed is too small. It is a hole. */
void ft_end_read(struct ft_tracker *tracker, struct ft_flow *flow, uint32_t psn)
{
	struct ft_half *half = &flow->half;
	uint32_t number = ft_spans_find(&tracker->spans, half, psn, FT_SPANS_AWAITED);
	struct ft_span *span, rest;

	if (number == 0)
		return;
	span = ft_span_at(&tracker->spans, number);
	if (span->begin == psn || ((half->flags & FT_HALF_MTU_GUESSED) == 0 && !span->guessed))
		return;
	rest = *span;
	rest.kind = FT_SPAN_HOLE;
	rest.early = ft_how_early(tracker, flow);
	rest.fresh = half->acked != FT_PSN_NONE && !ft_is_acked(half, psn);
	rest.from = rest.begin = psn;
	rest.count -= ft_psn_since(psn, span->from);
	if (ft_spans_insert(&tracker->spans, half, number, &rest) != 0)
		ft_spans_take(&tracker->spans, half, number, psn, rest.count);
}

/* It passed before the first that was seen, or is no longer remembered: it is answered from now on. */
static bool was_never_met(const struct ft_tracker *tracker, const struct ft_half *half,
			  uint32_t psn)
{
	return !ft_is_acked(half, psn) &&
	       ft_spans_find(&tracker->spans, half, psn, FT_SPANS_AWAITED) == 0;
}

/* Responses to a request that is sent again: those that never came are asked for again. */
static void ask_again(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psns = ft_psns_of(tracker, moment);
	uint32_t number;

	if (ft_is_acked(half, moment->observed->psn))
		ft_expect_again(ft_tracker_peer(tracker, moment->flow), moment->observed->psn);
	if (was_never_met(tracker, half, moment->observed->psn))
		ask_late(tracker, moment, ft_psn_since(half->next_psn, moment->observed->psn));
	number = half->spans;
	for (unsigned i = 0; i < half->span_count; i++) {
		struct ft_span *span = ft_span_at(&tracker->spans, number);

		if ((FT_SPANS_AWAITED >> span->kind & 1) != 0 &&
		    ft_psn_within(span->from, moment->observed->psn, psns == 0 ? 1 : psns)) {
			ft_span_become(half, span, FT_SPAN_ASKED_AGAIN);
			span->ts_ns = moment->observed->ts_ns;
		}
		number = span->next;
	}
}

/*
 * A SEND or WRITE behind the first of its half that was seen, and nobody asked for it: that was ahead of it on another way.
 */
static bool is_from_before(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;

	return moment->operation->role == FT_ROLE_REQUEST &&
	       ft_how_early(tracker, moment->flow) != FT_LATER &&
	       (half->flags & FT_HALF_NAKED) == 0 && half->first_psn < FT_REFUSED_OFTEN &&
	       ft_psn_distance(psn, half->first_psn) < 0 && !ft_is_acked(half, psn) &&
	       !is_sent_again(moment);
}

static void come_late(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	moment->step->what |= FT_STEP_REORDERED;
	tracker->totals.reordered++;
	tell_evidence(tracker, moment);
	if (moment->operation->part & FT_PART_FIRST)
		follow_late(tracker, moment, moment->observed->psn, 0);
}

/* Behind what was expected. */
void ft_request_again(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	bool acked = ft_is_acked(half, psn);
	uint32_t hole;

	if (moment->operation->role == FT_ROLE_REQUEST)
		ft_end_read(tracker, moment->flow, psn);
	hole = find_hole(tracker, half, psn);
	if (half->asked_psn != FT_PSN_NONE && ft_psn_distance(psn, half->asked_psn) <= 0)
		half->asked_psn = FT_PSN_NONE; /* which of the two is answered would not be known */
	if (acked)
		moment->step->what |= FT_STEP_BEHIND;
	if (hole != 0) {
		fill(tracker, moment, hole);
		ft_withhold_late(tracker, moment);
		return;
	}
	if (is_from_before(tracker, moment)) {
		come_late(tracker, moment);
		ft_withhold_late(tracker, moment);
		return;
	}
	moment->step->what |= FT_STEP_RETRANSMITTED;
	tracker->totals.retransmitted++;
	tell_evidence(tracker, moment);
	half->flags |= FT_HALF_GOING_BACK;
	begin_message(moment);
	if (moment->operation->role == FT_ROLE_QUESTION)
		ask_again(tracker, moment);
}
