#include "accept.h"
#include "answers.h"

/*
 * A packet on its way through the tracker. Nearly every one goes on where its connection was, and
 * nothing that is open is touched by it: for those the step is taken here, in line. Each of these
 * short cuts comes to what the way of all others, through ft_request(), ft_acknowledge() and
 * ft_response(), would come to; what they demand first is what makes the rest of that way idle.
 */

enum {
	SYNDROME_KIND = 0x60, /* AETH; 0: ACK */
	SMALL_PAYLOAD = 64,   /* bytes: not much more than an ACK */
	FLAGS_ASTRAY = FT_HALF_SPAN_UNKNOWN | FT_HALF_GOING_BACK,
};

/* UD, and what says nothing about a sequence. */
static void pass(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_step *step = moment->step;

	if (observed->payload <= SMALL_PAYLOAD)
		ft_loss_small(tracker->evidence, observed->frame);
	else
		ft_loss_silent(tracker->evidence, observed->frame);
	if (ft_opcode_service(observed->opcode) != FT_UD)
		return;
	step->what |= FT_STEP_NEW | FT_STEP_MESSAGE;
	step->message_kind = FT_MESSAGE_SEND;
	step->message_bytes = observed->payload;
	step->message_flow = ft_tracker_number(tracker, moment->flow);
}

static void pass_cnp(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	moment->step->what = FT_STEP_CNP;
	tracker->totals.cnps++;
	ft_loss_small(tracker->evidence, moment->observed->frame);
}

/*
 * After a silence of both sides, a request that is not the one expected, or an answer: the queue pairs may have been set up
 * anew, and what began this sequence, or the other side's, been lost. Who goes on where it was is not looked for anew.
 */
static void note_silence(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow, *peer = ft_tracker_peer(tracker, flow);
	bool answers = moment->operation->role == FT_ROLE_ACKNOWLEDGE ||
		       moment->operation->role == FT_ROLE_RESPONSE;

	if (!ft_are_idle(moment, peer, FT_ANEW_NS))
		return;
	if (answers)
		ft_expect_anew(&flow->half);
	if (peer != NULL && (answers || flow->half.next_psn != moment->observed->psn))
		ft_expect_anew(&peer->half);
}

/* Everything that no short cut is for. */
__attribute__((noinline)) static void step_through(struct ft_tracker *tracker, struct ft_flow *flow,
						   const struct ft_observed *observed,
						   struct ft_step *step)
{
	const struct ft_moment moment = { flow, observed, ft_operation(observed->opcode), step };
	uint64_t silent_ns = ft_elapsed(observed->ts_ns, flow->last_ns);

	if (moment.operation->role == FT_ROLE_CNP) {
		pass_cnp(tracker, &moment);
		return;
	}
	if (flow->half.service == UINT8_MAX || silent_ns > tracker->config.flow_timeout_ns)
		ft_restart(tracker, &moment);
	note_silence(tracker, &moment);
	switch (moment.operation->role) {
	case FT_ROLE_REQUEST:
	case FT_ROLE_QUESTION:
		ft_request(tracker, &moment);
		return;
	case FT_ROLE_ACKNOWLEDGE:
		ft_acknowledge(tracker, &moment);
		return;
	case FT_ROLE_RESPONSE:
		ft_response(tracker, &moment);
		return;
	default:
		pass(tracker, &moment);
	}
}

/* --- what all short cuts demand --- */

/* It comes soon after the packet before it, not before that. */
static inline bool is_timely(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint64_t silent_ns = moment->observed->ts_ns - moment->flow->last_ns;

	return silent_ns <= tracker->config.flow_timeout_ns;
}

/* The payload of a First or Middle is the path MTU, and it is known already. */
static inline bool is_of_known_mtu(const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;

	return (moment->operation->part & FT_PART_LAST) != 0 ||
	       (half->mtu == moment->observed->payload && (half->flags & FT_HALF_MTU_GUESSED) == 0);
}

/* Something is open of the half, and is not decided once all requests up to `acked` were answered for. */
static inline bool stays_open(const struct ft_tracker *tracker, const struct ft_half *half,
			      uint32_t acked)
{
	const struct ft_span *oldest = ft_span_at(&tracker->spans, half->spans);

	return oldest->kind == FT_SPAN_AWAITED &&
	       !ft_psn_covers(acked, oldest->from, oldest->count);
}

/* --- requests --- */

/* Sending again, or a READ of unknown length, or requests of another sequence. */
static inline bool is_astray(const struct ft_half *half)
{
	return (half->outside | (half->flags & FLAGS_ASTRAY)) != 0;
}

/*
 * Nothing that is open of the half is decided by another request in its order. An answer ahead of all
 * requests covers what was awaited before it, so that where the oldest is still awaited there is none.
 */
static inline bool lets_pass(const struct ft_tracker *tracker, const struct ft_half *half)
{
	return half->spans == 0 || stays_open(tracker, half, half->acked);
}

/* Where it was expected, and it does not tell the path MTU. */
static inline bool is_expected(const struct ft_moment *moment)
{
	return moment->flow->half.next_psn == moment->observed->psn && is_of_known_mtu(moment);
}

/* A request of any kind; the half may await responses, and its peer be unknown. */
__attribute__((noinline)) static void step_request(struct ft_tracker *tracker, struct ft_flow *flow,
						   const struct ft_observed *observed,
						   struct ft_step *step)
{
	const struct ft_moment moment = { flow, observed, ft_operation(observed->opcode), step };

	if (is_astray(&flow->half) || !is_expected(&moment) || !is_timely(tracker, &moment) ||
	    !lets_pass(tracker, &flow->half)) {
		step_through(tracker, flow, observed, step);
		return;
	}
	if (flow->peer == 0)
		ft_pairs_request(tracker->pairs, flow);
	ft_tell_evidence(tracker, ft_loss_current(tracker->evidence), &moment);
	if (moment.operation->role == FT_ROLE_REQUEST) {
		ft_accept(tracker, &moment);
		return;
	}
	ft_ask(tracker, &moment); /* where room is short, this may push the oldest out */
	ft_settle_ripe(tracker, flow, observed, step);
}

/* Of a half whose peer is known, and with nothing open. */
static inline bool is_plain(const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;

	return flow->peer != 0 && (half->spans | half->outside | (half->flags & FLAGS_ASTRAY)) == 0;
}

/* --- answers --- */

/* For the newest requests: beyond all that were answered for, of which there are some, and no farther than they go. */
static inline bool is_for_newest(const struct ft_half *asked, uint32_t psn)
{
	return asked->next_psn != FT_PSN_NONE && asked->acked != FT_PSN_NONE &&
	       ft_psn_is_soon_after(psn, asked->acked) &&
	       ft_psn_is_soon_after(asked->next_psn, psn) && (asked->flags & FT_HALF_NAKED) == 0;
}

/* Of a pair: for what was asked for as all that was answered before was, which agrees with the pair and no more. */
static inline bool is_agreed(const struct ft_moment *moment)
{
	return !ft_pairs_unsure(moment->flow) ||
	       ft_pairs_are_agreed(moment->flow, moment->observed->psn);
}

static inline bool has_peer(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	return moment->flow->peer != 0 && is_timely(tracker, moment);
}

/* An answer that shows whose requests it is for: the pair is surer. */
static inline void agree(const struct ft_moment *moment, struct ft_half *asked)
{
	if (ft_pairs_unsure(moment->flow) && (moment->operation->part & FT_PART_FIRST) != 0)
		ft_pairs_agree(&moment->flow->half, asked);
}

/* An ACK for requests that passed. As long as the pair is not sure, one where responses are awaited may contradict it. */
static inline bool confirms(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	const struct ft_half *asked;

	if ((observed->has & FT_OBSERVED_AETH) == 0 || (observed->syndrome & SYNDROME_KIND) != 0 ||
	    !has_peer(tracker, moment))
		return false;
	asked = &ft_tracker_peer(tracker, moment->flow)->half;
	if (!is_for_newest(asked, observed->psn) || !is_agreed(moment))
		return false;
	return asked->spans == 0 ||
	       (!ft_pairs_unsure(moment->flow) && stays_open(tracker, asked, observed->psn));
}

static inline void confirm(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	struct ft_half *asked = &ft_tracker_peer(tracker, moment->flow)->half;
	uint32_t psn = moment->observed->psn;

	agree(moment, asked);
	ft_loss_current(tracker->evidence)->silent++;
	moment->step->what = FT_STEP_ANSWER | FT_STEP_ACK;
	tracker->totals.acks++;
	tracker->evidence->acks++;
	tracker->evidence->replies++;
	half->answered = ft_psn_follow(half->answered, psn);
	ft_note_msn(moment);
	asked->acked = psn;
	ft_time_ack(tracker, moment, asked);
}

__attribute__((noinline)) static void step_acknowledge(struct ft_tracker *tracker,
						       struct ft_flow *flow,
						       const struct ft_observed *observed,
						       struct ft_step *step)
{
	const struct ft_moment moment = { flow, observed, ft_operation(observed->opcode), step };

	if (confirms(tracker, &moment))
		confirm(tracker, &moment);
	else
		step_through(tracker, flow, observed, step);
}

/* A response that is the next one awaited. */
static inline bool responds(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;
	const struct ft_span *awaited;
	const struct ft_half *asked;

	if (!is_of_known_mtu(moment) || half->spans != 0 || !has_peer(tracker, moment))
		return false;
	asked = &ft_tracker_peer(tracker, moment->flow)->half;
	if (asked->spans == 0 || !is_for_newest(asked, moment->observed->psn) ||
	    !is_agreed(moment) || (asked->flags & FT_HALF_SPAN_UNKNOWN) != 0 ||
	    (asked->mtu == 0 && half->mtu != 0))
		return false;
	awaited = ft_span_at(&tracker->spans, asked->spans);
	if ((asked->flags & FT_HALF_MTU_GUESSED) != 0 &&
	    ((half->flags & FT_HALF_MTU_GUESSED) == 0 || awaited->count != 1))
		return false;
	return awaited->kind == FT_SPAN_AWAITED && awaited->from == moment->observed->psn;
}

/* One PSN less is awaited. */
static inline void come(struct ft_tracker *tracker, struct ft_flow *requester,
			const struct ft_moment *moment)
{
	struct ft_span *awaited = ft_span_at(&tracker->spans, requester->half.spans);

	if (awaited->count > 1) {
		awaited->from = ft_psn_add(awaited->from, 1);
		awaited->count--;
		return;
	}
	ft_spans_remove(&tracker->spans, &requester->half, requester->half.spans);
	ft_settle_ripe(tracker, requester, moment->observed, moment->step);
}

static inline void respond(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *requester = ft_tracker_peer(tracker, moment->flow);
	const struct ft_span *awaited = ft_span_at(&tracker->spans, requester->half.spans);
	struct ft_half *half = &moment->flow->half;
	uint32_t psn = moment->observed->psn;

	agree(moment, &requester->half);
	ft_loss_current(tracker->evidence)->spaces++;
	tracker->evidence->answers_seen++;
	ft_tell_answer_near(tracker, requester, moment->observed->frame);
	moment->step->what = FT_STEP_ANSWER | FT_STEP_NEW;
	half->answer_first = awaited->begin;
	half->flags |= FT_HALF_ANSWERING;
	ft_measure_rtt(moment, &requester->half);
	requester->half.acked = psn;
	half->answered = ft_psn_follow(half->answered, psn);
	ft_note_msn(moment);
	ft_follow_answer(moment, awaited->asked, psn);
	come(tracker, requester, moment);
}

__attribute__((noinline)) static void step_response(struct ft_tracker *tracker,
						    struct ft_flow *flow,
						    const struct ft_observed *observed,
						    struct ft_step *step)
{
	const struct ft_moment moment = { flow, observed, ft_operation(observed->opcode), step };

	if (responds(tracker, &moment))
		respond(tracker, &moment);
	else
		step_through(tracker, flow, observed, step);
}

/* --- */

void ft_tracker_prefetch(const struct ft_tracker *tracker, const struct ft_flow *flow)
{
	if (flow->peer != 0)
		__builtin_prefetch(&ft_tracker_peer(tracker, flow)->half, 1);
}

/* All but a SEND or WRITE. */
__attribute__((noinline)) static void step_other(struct ft_tracker *tracker, struct ft_flow *flow,
						 const struct ft_observed *observed,
						 struct ft_step *step)
{
	switch (ft_operation(observed->opcode)->role) {
	case FT_ROLE_ACKNOWLEDGE:
		step_acknowledge(tracker, flow, observed, step);
		return;
	case FT_ROLE_RESPONSE:
		step_response(tracker, flow, observed, step);
		return;
	case FT_ROLE_QUESTION:
		step_request(tracker, flow, observed, step);
		return;
	default:
		step_through(tracker, flow, observed, step);
	}
}

/* The first frame of the next bin of the evidence: what is in line tells it of the current one. */
__attribute__((noinline)) static void turn_and_step(struct ft_tracker *tracker,
						    struct ft_flow *flow,
						    const struct ft_observed *observed,
						    struct ft_step *step)
{
	ft_loss_turn(tracker->evidence, observed->frame);
	ft_tracker_step(tracker, flow, observed, step);
}

/* `timely`: it is known to be. */
__attribute__((always_inline)) static inline void take_step(struct ft_tracker *tracker,
							    struct ft_flow *flow,
							    const struct ft_observed *observed,
							    struct ft_step *step, bool timely)
{
	const struct ft_moment moment = { flow, observed, ft_operation(observed->opcode), step };

	*step = (struct ft_step){ 0 };
	if (!ft_loss_is_current(tracker->evidence, observed->frame)) {
		turn_and_step(tracker, flow, observed, step);
	} else if (moment.operation->role != FT_ROLE_REQUEST) {
		step_other(tracker, flow, observed, step);
	} else if (!is_plain(flow) || !is_expected(&moment) ||
		   (!timely && !is_timely(tracker, &moment))) {
		step_request(tracker, flow, observed, step);
	} else {
		ft_tell_evidence(tracker, ft_loss_current(tracker->evidence), &moment);
		ft_accept(tracker, &moment);
	}
}

void ft_tracker_step(struct ft_tracker *tracker, struct ft_flow *flow,
		     const struct ft_observed *observed, struct ft_step *step)
{
	take_step(tracker, flow, observed, step, false);
}

/* A hint to whoever optimises the whole program: of nearly every frame this is all. */
inline void ft_tracker_step_on(struct ft_tracker *tracker, struct ft_flow *flow,
			       const struct ft_observed *observed, struct ft_step *step)
{
	take_step(tracker, flow, observed, step, true);
}
