#include "responses.h"

#include "answers.h"
#include "lives.h"
#include "messages.h"
#include "outcome.h"
#include "pairs_evidence.h"

/* READ responses and ATOMIC ACKNOWLEDGEs: which of the requests seen they answer. IBA vol. 1, 9.7.3.2. */

/* What is missing before it, for ft_tell_middles(). */
static void note_amid(struct ft_loss_evidence *evidence, const struct ft_moment *moment,
		      const struct ft_span *span)
{
	int32_t missing = ft_psn_distance(moment->observed->psn, span->from);

	if (missing != 0 && moment->operation->part == 0)
		evidence->torn++;
	else if (moment->operation->part == FT_PART_LAST &&
		 span->from == ft_psn_add(span->begin, 1))
		evidence->hollow += ft_hollow((uint32_t)missing);
}

static void close_space(struct ft_tracker *tracker, const struct ft_flow *requester, uint64_t frame)
{
	ft_loss_answer(tracker->evidence, frame);
	ft_tell_answer_near(tracker, requester, frame);
}

/*
 * A response that was awaited. Late if a later answer has overtaken it. `unmet`: it told whose it is, and would have been awaited
 * by nobody if it were missing. Returns what was asked for.
 */
static uint8_t take_awaited(struct ft_tracker *tracker, const struct ft_moment *moment,
			    struct ft_flow *requester, uint32_t number, bool unmet)
{
	const struct ft_span *span = ft_span_at(&tracker->spans, number);
	uint32_t psn = moment->observed->psn;
	uint8_t asked = span->asked;

	if (!ft_is_acked(&requester->half, psn)) {
		moment->step->what |= FT_STEP_NEW | (psn != span->from ? FT_STEP_GAP : 0);
		note_amid(tracker->evidence, moment, span);
		if (span->kind == FT_SPAN_ASKED_AGAIN)
			ft_pass_instead(tracker, moment);
		else if (unmet)
			ft_loss_reply(tracker->evidence, moment->observed->frame);
		else
			close_space(tracker, requester, moment->observed->frame);
	} else if (span->kind == FT_SPAN_ASKED_AGAIN) {
		moment->step->what |= FT_STEP_FABRIC_LOST;
		tracker->totals.fabric_lost++;
		tracker->evidence->fabric++;
		ft_pass_instead(tracker, moment);
	} else {
		moment->step->what |= FT_STEP_REORDERED;
		tracker->totals.reordered++;
		tracker->evidence->late++;
		ft_pass_late(tracker, moment);
	}
	moment->flow->half.answer_first = span->begin;
	moment->flow->half.flags |= FT_HALF_ANSWERING;
	if (moment->operation->part & FT_PART_LAST)
		ft_end_read(tracker, requester, ft_psn_add(psn, 1));
	ft_settle_seen(tracker, requester, number, psn, 1, moment->step);
	return asked;
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
		.early = ft_how_early(tracker, requester),
		.from = half->next_psn,
		.count = missing,
		.begin = half->next_psn,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};

	if (part & FT_PART_FIRST)
		tracker->evidence->implied++;
	else
		tracker->evidence->orphans++;
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

	tracker->evidence->orphans += half->message_bytes == 0;
	if (half->message_bytes != 0) {
		moment->flow->half.answer_first = half->message_psn;
		moment->flow->half.flags |= FT_HALF_ANSWERING;
	}
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
		ft_loss_reply(tracker->evidence, moment->observed->frame);
	else
		close_space(tracker, requester, moment->observed->frame);
	if (!first && requester->half.flags & FT_HALF_SPAN_UNKNOWN)
		widen_request(tracker, moment, requester);
	else
		imply_request(tracker, moment, requester);
}

/*
 * A request with this PSN passed and asked for no response: none of those seen is missing, or still to be answered, and none
 * of another sequence has just come.
 */
static bool asks_otherwise(const struct ft_tracker *tracker, const struct ft_half *half,
			   uint32_t psn)
{
	const uint32_t kinds = FT_SPANS_AWAITED | FT_SPANS_HOLES;

	if (ft_psn_distance(psn, half->next_psn) >= 0 || half->span_count >= FT_UNMET_SPANS ||
	    (half->flags & (FT_HALF_SPAN_UNKNOWN | FT_HALF_NAKED)) != 0 ||
	    half->first_psn >= FT_REFUSED_OFTEN || half->outside != 0 ||
	    ft_psn_distance(psn, half->first_psn & FT_PSN_MOST) < 0)
		return false;
	return ft_spans_find(&tracker->spans, half, psn, kinds) == 0;
}

/* Of a request that is not among those awaited: lost, or from before the halves had met, or answered again. */
static void take_unawaited(struct ft_tracker *tracker, const struct ft_moment *moment,
			   struct ft_flow *requester)
{
	uint32_t psn = moment->observed->psn;
	bool in_order =
		ft_answers_from_first(&moment->flow->half) && moment->flow->half.answer_next == psn;
	uint32_t hole = ft_spans_find(&tracker->spans, &requester->half, psn, FT_SPANS_HOLES);
	bool first = (moment->operation->part & FT_PART_FIRST) != 0;

	if (hole == 0 &&
	    (ft_is_acked(&requester->half, psn) || ft_was_answered(tracker, requester, psn))) {
		ft_respond_again(tracker, moment);
		return;
	}
	moment->step->what |= FT_STEP_NEW;
	if (first && hole == 0 && moment->flow->half.answer_next != FT_PSN_NONE &&
	    asks_otherwise(tracker, &requester->half, psn))
		ft_contradict(tracker, moment->flow, FT_EVIDENCE_UNLIKE);
	if (hole != 0 && !first)
		ft_settle_seen(tracker, requester, hole, psn, 1, moment->step);
	tracker->evidence->implied += hole != 0 && first;
	tracker->evidence->orphans += hole != 0 && !first;
	if (in_order || (hole != 0 && !first))
		close_space(tracker, requester, moment->observed->frame);
	else
		ft_loss_reply(tracker->evidence, moment->observed->frame);
}

/* The READ sent last: how many PSNs it takes is known once its last response is seen, or the path MTU. */
static void count_span(struct ft_tracker *tracker, const struct ft_moment *moment,
		       struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;
	uint32_t known = ft_psn_since(half->next_psn, half->message_psn);
	uint32_t packets = known;

	if ((half->flags & FT_HALF_SPAN_UNKNOWN) == 0)
		return;
	if ((moment->operation->part & FT_PART_LAST) == 0 ||
	    ft_psn_add(moment->observed->psn, 1) != half->next_psn) {
		packets = ft_packets_asked(half);
		if (packets == 0)
			return;
	}
	if (packets > known) {
		ft_await(tracker, moment, requester, half->next_psn, packets - known,
			 half->message_psn);
		half->next_psn = ft_psn_add(half->message_psn, packets);
	}
	half->flags &= (uint8_t)~FT_HALF_SPAN_UNKNOWN;
	half->message_psn = half->next_psn;
}

/*
 * `unmet`: until this response. Returns the kind of the message it answers, enum ft_message_kind; where nothing tells, what it
 * usually is for.
 */
static uint8_t match(struct ft_tracker *tracker, const struct ft_moment *moment,
		     struct ft_flow *requester, bool unmet)
{
	struct ft_half *half = &requester->half;
	uint32_t psn = moment->observed->psn;
	uint32_t number;

	ft_share_mtu(tracker, half, &moment->flow->half);
	count_span(tracker, moment, requester);
	if (ft_psn_distance(psn, half->next_psn) >= 0) {
		take_beyond(tracker, moment, requester);
		return moment->operation->kind;
	}
	number = ft_spans_find(&tracker->spans, half, psn, FT_SPANS_AWAITED);
	if (number != 0)
		return take_awaited(tracker, moment, requester, number, unmet);
	take_unawaited(tracker, moment, requester);
	return moment->operation->kind;
}

/* Where the message begins that a First is of: who misses the end of a READ asks for that alone. */
static uint32_t begin_of(const struct ft_tracker *tracker, const struct ft_moment *moment,
			 const struct ft_flow *requester)
{
	uint32_t psn = moment->observed->psn;
	uint32_t number =
		ft_spans_find(&tracker->spans, &requester->half, psn, 1u << FT_SPAN_ASKED_AGAIN);

	return number == 0 ? psn : ft_span_at(&tracker->spans, number)->begin;
}

/* The first response of its half, to none. Later ones may be sent again for a question that was lost when it came again. */
static bool is_unasked(const struct ft_tracker *tracker, const struct ft_moment *moment,
		       const struct ft_flow *requester)
{
	return moment->flow->half.answer_next == FT_PSN_NONE &&
	       asks_otherwise(tracker, &requester->half, moment->observed->psn);
}

/* All up to this response was delivered. A Middle does not count messages: what is decided by their count waits for the Last. */
static void conclude(struct ft_tracker *tracker, const struct ft_moment *moment,
		     struct ft_flow *requester)
{
	ft_measure_rtt(moment, &requester->half);
	if (moment->operation->part == 0 &&
	    ft_may_hide_life(tracker, &requester->half, moment->observed->psn))
		return;
	ft_deliver(&requester->half, moment->observed->psn);
	ft_settle_ripe(tracker, requester, moment->observed, moment->step);
}

/*
 * It is not known yet whose response it is. Had it been lost, the halves would meet later, and let go of it then: others of its READ
 * or before it would have come unseen. Not so one before which the end of another READ is missing.
 */
static bool is_unmet(const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;

	return moment->flow->peer == 0 && (half->flags & FT_HALF_ANSWERING) == 0 &&
	       (half->answered != FT_PSN_NONE || (moment->operation->part & FT_PART_LAST) == 0);
}

void ft_response(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	bool unmet = is_unmet(moment);
	struct ft_flow *requester = ft_find_requester(tracker, moment);
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn, begin = psn;
	uint8_t kind = moment->operation->kind;
	struct ft_step *step = moment->step;

	step->what |= FT_STEP_ANSWER;
	ft_learn_mtu(tracker, moment);
	ft_note_opening(tracker, moment, requester != NULL);
	if (requester == NULL || requester->half.next_psn == FT_PSN_NONE) {
		ft_follow_alone(tracker, moment);
		/* its first request comes behind the answer: from another mirror port */
		if (requester != NULL)
			ft_deliver(&requester->half, psn);
	} else if (is_unasked(tracker, moment, requester)) {
		ft_find_unasked(tracker, moment);
		ft_loss_reply(tracker->evidence, moment->observed->frame);
		return;
	} else if (ft_is_in_window(tracker, moment, requester)) {
		ft_watch_msn(tracker, moment, requester, psn);
		begin = begin_of(tracker, moment, requester);
		kind = match(tracker, moment, requester, unmet);
		if (step->what & FT_STEP_NEW)
			ft_fill_skipped(tracker, moment);
		if (ft_tracker_peer(tracker, moment->flow) == requester)
			conclude(tracker, moment, requester);
	} else {
		half->answered = ft_psn_follow(half->answered, psn);
		ft_loss_reply(tracker->evidence, moment->observed->frame);
		return;
	}
	half->answered = ft_psn_follow(half->answered, psn);
	if ((step->what & FT_STEP_RETRANSMITTED) == 0)
		ft_follow_answer(moment, kind, begin);
}
