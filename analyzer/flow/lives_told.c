#include "lives.h"

#include <decode/aeth.h>

#include "lives_parts.h"

/* Which life it was: another one, or the former one that sent again. */

/* NULL: its life is not doubted; or others were, and it is as new for good. */
static struct ft_former *doubted(struct ft_tracker *tracker, struct ft_flow *flow)
{
	const struct ft_span *span = ft_former_span(&tracker->spans, &flow->half);
	struct ft_former *former = span == NULL ? NULL : ft_former_of(tracker, flow, span);

	if (span != NULL && former == NULL)
		ft_spans_remove(&tracker->spans, &flow->half, flow->half.spans);
	return former;
}

struct ft_told ft_tracker_told(const struct ft_tracker *tracker)
{
	return tracker->told;
}

void ft_leave_untold(struct ft_tracker *tracker, const struct ft_flow *flow,
		     const struct ft_span *span, struct ft_step *step)
{
	struct ft_former *former = ft_former_of(tracker, flow, span);

	if (former == NULL)
		return;
	ft_former_tell(tracker, step, former, FT_STEP_TOLD_AGAIN);
	ft_former_forget(tracker, former);
}

/* Of what it awaits, that before `end`, since then. */
static void note_asked_again(struct ft_tracker *tracker, struct ft_former *former, uint32_t end,
			     uint64_t then_ns)
{
	uint32_t number = former->asked.spans;

	for (unsigned left = former->asked.span_count; left != 0; left--) {
		struct ft_span *span = ft_span_at(&tracker->spans, number);

		if (ft_psn_distance(span->from, end) < 0) {
			ft_span_become(&former->asked, span, FT_SPAN_ASKED_AGAIN);
			span->ts_ns = then_ns;
		}
		number = span->next;
	}
}

/* Where its requests stood, and what of them was awaited; not what it has answered, and how it is paired. */
static void take_requests(struct ft_half *half, const struct ft_half *from)
{
	const unsigned others =
		FT_HALF_ANSWERING | FT_HALF_START_SEEN | FT_HALF_MET | FT_HALF_MTU_GUESSED;

	half->next_psn = from->next_psn;
	half->acked = from->acked;
	half->nak_psn = from->nak_psn;
	half->spans = from->spans;
	half->span_traits = from->span_traits;
	half->span_count = from->span_count;
	half->filling = from->filling;
	half->message_psn = from->message_psn;
	half->message_bytes = from->message_bytes;
	half->asked_psn = FT_PSN_NONE; /* which of the two is answered would not be known */
	half->flags =
		(uint8_t)((half->flags & others) | (from->flags & ~others) | FT_HALF_GOING_BACK);
}

/* All that the former life knew holds again. */
static void restore(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_former *former)
{
	struct ft_half *half = &flow->half;
	struct ft_flow *peer = ft_tracker_peer(tracker, flow);
	uint64_t began_ns = ft_former_span(&tracker->spans, half)->ts_ns;

	ft_spans_drop(&tracker->spans, half, UINT32_MAX);
	note_asked_again(tracker, former, half->next_psn, began_ns);
	take_requests(half, &former->asked);
	former->flow = 0;
	if (peer == NULL || flow->peer != former->peer)
		return;
	peer->half.answered = former->answered;
	peer->half.answer_next = former->answer_next;
	peer->half.msn = former->msn;
}

static void believe_former(struct ft_tracker *tracker, const struct ft_moment *moment,
			   struct ft_flow *flow, struct ft_former *former)
{
	ft_former_tell(tracker, moment->step, former, FT_STEP_TOLD_AGAIN);
	restore(tracker, flow, former);
}

static bool has_asked_since(const struct ft_flow *flow, uint64_t then_ns)
{
	uint32_t then = (uint32_t)(then_ns >> FT_FLOW_MOMENT_SHIFT);

	return flow->asked != 0 && (int32_t)(then - flow->asked) <= 0;
}

/* What the peer asked before is of its former life, too. */
static void begin_peer(struct ft_tracker *tracker, const struct ft_moment *moment,
		       struct ft_flow *flow, uint64_t began_ns)
{
	struct ft_flow *peer = moment->flow;

	if (has_asked_since(peer, began_ns) || ft_former_span(&tracker->spans, &peer->half) != NULL)
		return;
	ft_settle_all(tracker, peer, moment->step);
	ft_forget_requests(&peer->half);
	flow->half.answered = flow->half.answer_next = FT_PSN_NONE;
}

static void believe_new(struct ft_tracker *tracker, const struct ft_moment *moment,
			struct ft_flow *flow, struct ft_former *former)
{
	uint64_t began_ns = ft_former_span(&tracker->spans, &flow->half)->ts_ns;

	ft_former_tell(tracker, moment->step, former, FT_STEP_TOLD_NEW);
	ft_spans_remove(&tracker->spans, &flow->half, flow->half.spans);
	ft_former_forget(tracker, former);
	begin_peer(tracker, moment, flow, began_ns);
}

bool ft_may_follow_peer(const struct ft_tracker *tracker, const struct ft_flow *flow)
{
	const struct ft_flow *peer = ft_tracker_peer(tracker, flow);
	const struct ft_span *span =
		peer == NULL ? NULL : ft_former_span(&tracker->spans, &peer->half);

	return span != NULL && !has_asked_since(flow, span->ts_ns);
}

/* Far from its own former life: then the peer's is another one, too. */
bool ft_follow_peer(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow, *peer = ft_tracker_peer(tracker, flow);
	struct ft_former *former;

	if (!ft_may_follow_peer(tracker, flow))
		return false;
	former = ft_former_of(tracker, peer, ft_former_span(&tracker->spans, &peer->half));
	if (former == NULL)
		return false;
	believe_new(tracker, moment, peer, former);
	return true;
}

/*
 * Nothing has answered for the other life until where the former one stood; or a hole goes there, as where what was sent
 * again was acknowledged, and new requests follow.
 */
bool ft_hear_request(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	struct ft_former *former = doubted(tracker, moment->flow);
	int32_t beyond;

	if (former == NULL)
		return false;
	beyond =
		ft_psn_distance(moment->observed->psn, ft_former_span(&tracker->spans, half)->from);
	if (beyond < 0 || beyond >= FT_PSN_WINDOW)
		return false;
	believe_former(tracker, moment, moment->flow, former);
	return true;
}

enum life { FORMER, NEW, UNTOLD };

/* PSNs from the other life's first to this one. */
static int32_t packets_to(const struct ft_former *former, uint32_t psn)
{
	return ft_psn_distance(psn, former->first) + 1;
}

bool ft_was_answered(const struct ft_tracker *tracker, const struct ft_flow *flow, uint32_t psn)
{
	const struct ft_span *span = ft_former_span(&tracker->spans, &flow->half);
	const struct ft_former *former = span == NULL ? NULL : ft_former_kept(tracker, flow, span);

	return former != NULL && packets_to(former, psn) < 1 && ft_is_acked(&former->asked, psn);
}

/* A responder counts the messages it completes from 0 on: no more than there were packets. */
static bool may_count_anew(const struct ft_former *former, const struct ft_observed *observed)
{
	return (observed->has & FT_OBSERVED_AETH) != 0 && former->msn != 0 &&
	       (int32_t)observed->msn <= packets_to(former, observed->psn);
}

static bool refuses(const struct ft_observed *observed)
{
	return (observed->has & FT_OBSERVED_AETH) != 0 &&
	       ft_aeth_kind(observed->syndrome) != FT_AETH_ACK;
}

/*
 * What a responder has acknowledged it acknowledges up to the newest when it comes again, and never refuses. Responses it
 * sends once more with their PSNs.
 */
static enum life life_of(const struct ft_former *former, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	int32_t beyond = ft_psn_distance(observed->psn, former->asked.acked);
	int32_t counted = ft_psn_distance(observed->msn, former->msn);
	bool may_be_new = may_count_anew(former, observed);

	if (packets_to(former, observed->psn) < 1)
		return UNTOLD;
	if (may_be_new && (counted < 0 || (counted > 0 && beyond < 0)))
		return NEW;
	if (moment->operation->role == FT_ROLE_RESPONSE)
		return may_be_new && counted == 0 && beyond < 0 ? UNTOLD : FORMER;
	return beyond < 0 || (beyond == 0 && refuses(observed)) ? NEW : FORMER;
}

void ft_hear_answer(struct ft_tracker *tracker, const struct ft_moment *moment,
		    struct ft_flow *requester)
{
	struct ft_former *former = doubted(tracker, requester);

	if (former == NULL)
		return;
	switch (life_of(former, moment)) {
	case FORMER:
		believe_former(tracker, moment, requester, former);
		break;
	case NEW:
		believe_new(tracker, moment, requester, former);
		break;
	case UNTOLD:
		break;
	}
}
