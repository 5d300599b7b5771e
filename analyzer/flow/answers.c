#include "tracker_parts.h"

#include <decode/aeth.h>

#include <stddef.h>

/*
 * Answers: ACKNOWLEDGE, READ response, ATOMIC ACKNOWLEDGE. Each says that every request before it
 * was delivered, because a responder takes requests in order. IBA vol. 1, 9.7.5 and 9.7.8.
 */

enum { NAK_SEQUENCE_ERROR = 0x60 };

static uint32_t before(uint32_t psn)
{
	return ft_psn_add(psn, 0xffffff);
}

/* The half that asked: known, or found out by this answer. */
static struct ft_flow *find_requester(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow;
	uint32_t peer = flow->peer;
	struct ft_flow *requester = NULL;

	if (ft_pairs_unsure(flow) && moment->operation->part & FT_PART_FIRST)
		ft_pairs_answer(tracker->pairs, flow, moment->observed);
	requester = ft_tracker_peer(tracker, flow);
	if (requester != NULL && flow->peer != peer)
		ft_meet(tracker, flow, requester);
	return requester;
}

/* Whether the PSN is of the sequence that the requester is in; its packets of another one may have come. */
static bool is_in_window(struct ft_tracker *tracker, const struct ft_moment *moment,
			 struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;
	uint32_t psn = moment->observed->psn;
	int32_t distance = ft_psn_distance(psn, half->next_psn);

	if (distance < FT_PSN_WINDOW && distance > -FT_PSN_HALF / 2)
		return true;
	if (half->outside != 0 && psn == before(half->outside & 0xffffff)) {
		uint32_t next_psn = half->outside & 0xffffff;

		ft_settle_all(tracker, requester, moment->step);
		ft_forget_requests(half);
		half->next_psn = next_psn;
		return true;
	}
	moment->step->what |= FT_STEP_OUTSIDE | FT_STEP_UNASKED;
	ft_pairs_contradict(tracker->pairs, moment->flow);
	return false;
}

static void measure_rtt(const struct ft_moment *moment, struct ft_half *half)
{
	uint32_t asked = half->asked_psn;

	if (asked == FT_PSN_NONE || ft_psn_distance(moment->observed->psn, asked) < 0)
		return;
	moment->step->rtt_ns = ft_elapsed(moment->observed->ts_ns, half->asked_ns);
	half->asked_psn = FT_PSN_NONE;
}

/* Answered for before it was seen: lost, or about to come from another mirror port. */
static void note_ahead(struct ft_tracker *tracker, const struct ft_moment *moment,
		       struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;
	struct ft_span ahead = {
		.kind = FT_SPAN_AHEAD,
		.from = half->next_psn,
		.count = 1,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};
	uint32_t last = half->spans == 0 ? 0 : ft_span_at(&tracker->spans, half->spans)->prev;

	if (last == 0 || ft_span_at(&tracker->spans, last)->kind != FT_SPAN_AHEAD)
		ft_remember(tracker, requester, &ahead, moment->step);
}

static void refuse(struct ft_half *half, uint32_t psn)
{
	half->flags |= FT_HALF_NAKED;
	half->nak_psn = psn;
}

static void deliver(struct ft_half *half, uint32_t delivered)
{
	half->acked = ft_psn_newest(half->acked, delivered);
	if (half->flags & FT_HALF_NAKED && ft_is_acked(half, half->nak_psn))
		half->flags &= (uint8_t)~FT_HALF_NAKED;
}

struct meaning {
	uint32_t what;
	bool refused; /* the PSN itself is wanted again */
};

static struct meaning meaning_of(const struct ft_observed *observed)
{
	switch (ft_aeth_kind(observed->syndrome)) {
	case FT_AETH_RNR:
		return (struct meaning){ FT_STEP_RNR, true };
	case FT_AETH_NAK:
		return (struct meaning){ FT_STEP_NAK, observed->syndrome == NAK_SEQUENCE_ERROR };
	case FT_AETH_ACK:
		return (struct meaning){ FT_STEP_ACK, false };
	default:
		return (struct meaning){ 0, true };
	}
}

static void count_answer(struct ft_tracker_totals *totals, uint32_t what)
{
	totals->acks += (what & FT_STEP_ACK) != 0;
	totals->naks += (what & FT_STEP_NAK) != 0;
	totals->rnr_naks += (what & FT_STEP_RNR) != 0;
}

/* The span of one of two kinds that holds the PSN; 0: none. The oldest is the likeliest. */
static uint32_t find_span(const struct ft_tracker *tracker, const struct ft_half *half,
			  uint32_t psn, uint32_t kind, uint32_t other)
{
	uint32_t number = half->spans;

	for (unsigned i = 0; i < half->span_count; i++) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);

		if ((span->kind == kind || span->kind == other) &&
		    ft_psn_within(psn, span->from, span->count))
			return number;
		number = span->next;
	}
	return 0;
}

/* A request that failed: what it asked for will not come. */
static void write_off(struct ft_tracker *tracker, const struct ft_moment *moment,
		      struct ft_flow *requester)
{
	uint32_t psn = moment->observed->psn;
	uint32_t number =
		find_span(tracker, &requester->half, psn, FT_SPAN_AWAITED, FT_SPAN_ASKED_AGAIN);

	if (number != 0)
		ft_spans_take(&tracker->spans, &requester->half, number, psn, FT_PSN_HALF);
}

void ft_acknowledge(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct meaning meaning = { 0, true };
	struct ft_flow *requester = find_requester(tracker, moment);
	struct ft_half *half;
	uint32_t delivered;

	if (observed->has & FT_OBSERVED_AETH)
		meaning = meaning_of(observed);
	delivered = meaning.refused ? before(observed->psn) : observed->psn;
	moment->step->what |= FT_STEP_ANSWER | meaning.what;
	count_answer(&tracker->totals, meaning.what);
	ft_loss_silent(tracker->evidence, observed->frame);
	moment->flow->half.answered = ft_psn_newest(moment->flow->half.answered, delivered);
	if (requester == NULL || requester->half.next_psn == FT_PSN_NONE ||
	    !is_in_window(tracker, moment, requester))
		return;
	half = &requester->half;
	if (meaning.what == FT_STEP_NAK && !meaning.refused)
		write_off(tracker, moment, requester);
	deliver(half, delivered);
	if (meaning.refused)
		refuse(half, observed->psn);
	else
		measure_rtt(moment, half);
	if (ft_psn_distance(delivered, half->next_psn) >= 0)
		note_ahead(tracker, moment, requester);
	else if (half->spans != 0)
		ft_settle_ripe(tracker, requester, observed->ts_ns, moment->step);
}

/* A response that was awaited. Late if a later answer has overtaken it. */
static void take_awaited(struct ft_tracker *tracker, const struct ft_moment *moment,
			 struct ft_flow *requester, uint32_t number)
{
	const struct ft_span *span = ft_span_at(&tracker->spans, number);
	uint32_t psn = moment->observed->psn;

	if (!ft_is_acked(&requester->half, psn)) {
		moment->step->what |= FT_STEP_NEW | (psn != span->from ? FT_STEP_GAP : 0);
	} else if (span->kind == FT_SPAN_ASKED_AGAIN) {
		moment->step->what |= FT_STEP_FABRIC_LOST;
		tracker->totals.fabric_lost++;
	} else {
		moment->step->what |= FT_STEP_REORDERED;
		tracker->totals.reordered++;
	}
	ft_loss_space(tracker->evidence, moment->observed->frame);
	ft_settle_seen(tracker, requester, number, psn, 1, moment->step);
}

/* A response to a request that never passed. Middle and Last show that no request has their PSN. */
static void imply_request(struct ft_tracker *tracker, const struct ft_moment *moment,
			  struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;
	uint32_t psn = moment->observed->psn;
	uint8_t part = moment->operation->part;
	uint32_t missing = (uint32_t)ft_psn_distance(psn, half->next_psn) + (part & FT_PART_FIRST);
	struct ft_span hole = {
		.kind = FT_SPAN_IMPLIED,
		.from = half->next_psn,
		.count = missing,
		.begin = half->next_psn,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};

	if (missing != 0)
		ft_remember(tracker, requester, &hole, moment->step);
	half->message_psn = half->next_psn = ft_psn_add(psn, 1);
	half->flags &= (uint8_t) ~(FT_HALF_SPAN_UNKNOWN | FT_HALF_IN_MESSAGE);
	if ((part & FT_PART_LAST) == 0) {
		half->flags |= FT_HALF_SPAN_UNKNOWN;
		half->message_psn = psn;
		half->message_bytes = 0;
	}
}

/* A response to the last request seen, of which it was not known how many it has. */
static void widen_request(struct ft_tracker *tracker, const struct ft_moment *moment,
			  struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;
	uint32_t psn = moment->observed->psn;

	ft_await(tracker, moment, requester, half->next_psn,
		 (uint32_t)ft_psn_distance(psn, half->next_psn), half->message_psn);
	half->next_psn = ft_psn_add(psn, 1);
	if (moment->operation->part & FT_PART_LAST) {
		half->flags &= (uint8_t)~FT_HALF_SPAN_UNKNOWN;
		half->message_psn = half->next_psn;
	}
}

/* Beyond every request seen. */
static void take_beyond(struct ft_tracker *tracker, const struct ft_moment *moment,
			struct ft_flow *requester)
{
	bool first = (moment->operation->part & FT_PART_FIRST) != 0;

	moment->step->what |= FT_STEP_NEW;
	if (first)
		ft_loss_silent(tracker->evidence, moment->observed->frame);
	else
		ft_loss_space(tracker->evidence, moment->observed->frame);
	if (!first && requester->half.flags & FT_HALF_SPAN_UNKNOWN)
		widen_request(tracker, moment, requester);
	else
		imply_request(tracker, moment, requester);
}

/* Of a request that is not among those awaited: lost, or from before the halves had met, or answered again. */
static void take_unawaited(struct ft_tracker *tracker, const struct ft_moment *moment,
			   struct ft_flow *requester)
{
	uint32_t psn = moment->observed->psn;
	bool in_order = moment->flow->half.flags & FT_HALF_ANSWERING &&
			moment->flow->half.answer_next == psn;
	uint32_t hole = find_span(tracker, &requester->half, psn, FT_SPAN_HOLE, FT_SPAN_IMPLIED);
	bool first = (moment->operation->part & FT_PART_FIRST) != 0;

	if (hole == 0 && ft_is_acked(&requester->half, psn)) {
		moment->step->what |= FT_STEP_RETRANSMITTED;
		tracker->totals.retransmitted++;
		ft_loss_silent(tracker->evidence, moment->observed->frame);
		return;
	}
	moment->step->what |= FT_STEP_NEW;
	if (hole != 0 && !first)
		ft_settle_seen(tracker, requester, hole, psn, 1, moment->step);
	if (in_order || (hole != 0 && !first))
		ft_loss_space(tracker->evidence, moment->observed->frame);
	else
		ft_loss_silent(tracker->evidence, moment->observed->frame);
}

/* The READ at the requester's end whose responses can be counted now that the path MTU is known. */
static void count_span(struct ft_tracker *tracker, const struct ft_moment *moment,
		       struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;
	uint32_t packets;

	if ((half->flags & FT_HALF_SPAN_UNKNOWN) == 0 || half->message_bytes == 0 || half->mtu == 0)
		return;
	packets = half->message_bytes / half->mtu + (half->message_bytes % half->mtu != 0);
	if (packets >= FT_PSN_HALF)
		return;
	half->flags &= (uint8_t)~FT_HALF_SPAN_UNKNOWN;
	ft_await(tracker, moment, requester, half->next_psn, packets - 1, half->message_psn);
	half->next_psn = ft_psn_add(half->message_psn, packets);
	half->message_psn = half->next_psn;
}

static void match(struct ft_tracker *tracker, const struct ft_moment *moment,
		  struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;
	uint32_t psn = moment->observed->psn;
	uint32_t number;

	if (half->mtu == 0 || half->flags & FT_HALF_MTU_GUESSED) {
		half->mtu = moment->flow->half.mtu;
		half->flags &= (uint8_t)~FT_HALF_MTU_GUESSED;
	}
	if (half->next_psn != FT_PSN_NONE && psn == half->message_psn)
		count_span(tracker, moment, requester);
	if (ft_psn_distance(psn, half->next_psn) >= 0) {
		take_beyond(tracker, moment, requester);
		return;
	}
	number = find_span(tracker, half, psn, FT_SPAN_AWAITED, FT_SPAN_ASKED_AGAIN);
	if (number != 0)
		take_awaited(tracker, moment, requester, number);
	else
		take_unawaited(tracker, moment, requester);
}

/* Without the requester in view, responses are a sequence of their own. */
static void follow_alone(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow;
	struct ft_half *half = &flow->half;
	uint32_t psn = moment->observed->psn, number;
	int32_t distance = half->answer_next == FT_PSN_NONE
				   ? INT32_MAX
				   : ft_psn_distance(psn, half->answer_next);
	struct ft_span skipped = {
		.kind = FT_SPAN_SKIPPED,
		.from = half->answer_next,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};

	if (distance < 0 && distance > -FT_PSN_WINDOW) {
		number = find_span(tracker, half, psn, FT_SPAN_SKIPPED, FT_SPAN_SKIPPED);
		if (number != 0)
			ft_settle_seen(tracker, flow, number, psn, 1, moment->step);
		moment->step->what |= number != 0 ? FT_STEP_REORDERED : FT_STEP_RETRANSMITTED;
		tracker->totals.reordered += number != 0;
		tracker->totals.retransmitted += number == 0;
		ft_loss_silent(tracker->evidence, moment->observed->frame);
		return;
	}
	moment->step->what |= FT_STEP_NEW;
	if (moment->operation->part & FT_PART_FIRST || distance >= FT_PSN_WINDOW ||
	    distance <= -FT_PSN_WINDOW || (half->flags & FT_HALF_ANSWERING) == 0) {
		ft_loss_silent(tracker->evidence, moment->observed->frame);
		return;
	}
	ft_loss_space(tracker->evidence, moment->observed->frame);
	if (distance == 0)
		return;
	moment->step->what |= FT_STEP_GAP;
	skipped.count = (uint32_t)distance;
	ft_remember(tracker, flow, &skipped, moment->step);
}

/* First, Middle and Last of one answer. */
static void follow_answer(const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_half *half = &moment->flow->half;
	struct ft_step *step = moment->step;

	if (moment->operation->part & FT_PART_FIRST) {
		half->answer_first = observed->psn;
		half->flags |= FT_HALF_ANSWERING;
	}
	half->answer_next = ft_psn_add(observed->psn, 1);
	if ((moment->operation->part & FT_PART_LAST) == 0)
		return;
	if (half->flags & FT_HALF_ANSWERING) {
		step->what |= FT_STEP_MESSAGE;
		step->message_kind = moment->operation->kind;
		step->message_flow = moment->flow->peer;
		step->message_bytes =
			ft_psn_add(observed->psn, 0x1000000 - half->answer_first) * half->mtu +
			observed->payload;
	}
	half->flags &= (uint8_t)~FT_HALF_ANSWERING;
}

void ft_response(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *requester = find_requester(tracker, moment);
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;
	struct ft_step *step = moment->step;

	step->what |= FT_STEP_ANSWER;
	ft_learn_mtu(half, moment);
	if (requester == NULL || requester->half.next_psn == FT_PSN_NONE) {
		follow_alone(tracker, moment);
	} else if (is_in_window(tracker, moment, requester)) {
		match(tracker, moment, requester);
		measure_rtt(moment, &requester->half);
		deliver(&requester->half, psn);
		ft_settle_ripe(tracker, requester, moment->observed->ts_ns, step);
	} else {
		ft_loss_silent(tracker->evidence, moment->observed->frame);
		return;
	}
	half->answered = ft_psn_newest(half->answered, psn);
	if ((step->what & FT_STEP_RETRANSMITTED) == 0)
		follow_answer(moment);
}
