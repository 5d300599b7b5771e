#include "answers.h"

#include <decode/aeth.h>

#include "lives.h"
#include "pairs_evidence.h"

/* Answers: whose request each is for, and whether it is of the sequence that the requester is in. IBA vol. 1, 9.7.5 and 9.7.8. */

/* PSNs round requests from outside that an answer to some of them may name. */
enum { OUTSIDE_NEAR = 64 };

/* Before it is noted what was answered. */
static void note_anew(const struct ft_moment *moment, const struct ft_half *half)
{
	if (half->acked == FT_PSN_NONE && (half->flags & FT_HALF_NAKED) == 0 &&
	    half->first_psn == FT_PSN_ANEW)
		moment->step->what |= FT_STEP_ANEW;
}

/* A request that was lost, with all it asked for up to `next_psn` seen or looked for among the answers. */
static void skip_question(struct ft_tracker *tracker, const struct ft_moment *moment,
			  struct ft_flow *requester, uint32_t next_psn)
{
	struct ft_half *half = &requester->half;
	const struct ft_span hole = {
		.kind = FT_SPAN_IMPLIED,
		.early = ft_how_early(tracker, requester),
		.from = half->next_psn,
		.count = 1,
		.begin = half->next_psn,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};

	if ((half->flags & FT_HALF_SPAN_UNKNOWN) == 0) {
		tracker->evidence->orphans++;
		ft_remember(tracker, requester, &hole, moment->step);
	}
	half->message_psn = half->next_psn = next_psn;
	half->flags &= (uint8_t) ~(FT_HALF_SPAN_UNKNOWN | FT_HALF_IN_MESSAGE);
}

/*
 * Responses that passed before the halves had met took PSNs that are no requests: at least one READ was lost. Its requester
 * has been silent since, so that it is not on its way from another mirror port.
 */
static void catch_up(struct ft_tracker *tracker, const struct ft_moment *moment,
		     struct ft_flow *requester)
{
	uint32_t next_psn = requester->half.next_psn;
	uint32_t answer_next = moment->flow->half.answer_next;

	if (next_psn != FT_PSN_NONE && answer_next != FT_PSN_NONE &&
	    ft_psn_is_soon_after(answer_next, next_psn) &&
	    ft_elapsed(moment->observed->ts_ns, requester->last_ns) >= FT_OUTAGE_NS)
		skip_question(tracker, moment, requester, answer_next);
}

/* An ACK where a response was asked for, before anything behind it was answered for. */
static bool acknowledges_question(const struct ft_tracker *tracker, const struct ft_moment *moment,
				  const struct ft_half *asked)
{
	const struct ft_observed *observed = moment->observed;

	return moment->operation->role == FT_ROLE_ACKNOWLEDGE &&
	       (observed->has & FT_OBSERVED_AETH) != 0 &&
	       ft_aeth_kind(observed->syndrome) == FT_AETH_ACK && asked->next_psn != FT_PSN_NONE &&
	       !ft_is_acked(asked, observed->psn) &&
	       ft_spans_find(&tracker->spans, asked, observed->psn, 1u << FT_SPAN_AWAITED) != 0;
}

/*
 * A response that tells whose it is: what was asked for before it was answered, perhaps unseen, as others were that came before
 * it was known whose they are.
 */
static void leave_behind(const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;

	if (moment->operation->role == FT_ROLE_RESPONSE && half->answered != FT_PSN_NONE)
		half->answered =
			ft_psn_follow(half->answered, ft_psn_back(moment->observed->psn, 1));
}

/* The half that asked: known, or found out by this answer. */
struct ft_flow *ft_find_requester(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow;
	struct ft_flow *before = ft_tracker_peer(tracker, flow);
	struct ft_flow *requester = NULL;

	if (ft_pairs_unsure(flow) && moment->operation->part & FT_PART_FIRST)
		ft_pairs_answer(tracker->pairs, flow, moment->observed);
	requester = ft_tracker_peer(tracker, flow);
	if (before != NULL && requester != before)
		ft_unmeet(tracker, &flow->half, &before->half);
	if (requester != NULL && requester != before) {
		note_anew(moment, &requester->half);
		leave_behind(moment);
		ft_meet(tracker, flow, requester, moment->observed->ts_ns);
		catch_up(tracker, moment, requester);
	}
	if (requester == NULL)
		return NULL;
	ft_hear_answer(tracker, moment, requester);
	if (ft_pairs_unsure(flow) && acknowledges_question(tracker, moment, &requester->half))
		ft_contradict(tracker, flow, FT_EVIDENCE_UNLIKE);
	return ft_tracker_peer(tracker, flow);
}

/* It answers for one of those that came from outside, or were lost next to them. */
static bool is_outside_too(const struct ft_half *half, uint32_t psn)
{
	return half->outside >> FT_OUTSIDE_RUN_SHIFT != 0 &&
	       ft_psn_within(psn, ft_psn_back(half->outside, OUTSIDE_NEAR), 2 * OUTSIDE_NEAR);
}

/*
 * A request from outside that lies far behind began another sequence: one that comes again is acknowledged up to the newest.
 * Only a READ is answered where it lies, whosever it is.
 */
static bool confirms_behind(const struct ft_moment *moment, const struct ft_half *half)
{
	return moment->operation->role == FT_ROLE_ACKNOWLEDGE &&
	       is_outside_too(half, moment->observed->psn);
}

/* Behind the newest request, and yet of another sequence: nobody answers so late, so far behind. */
static bool is_beneath(const struct ft_moment *moment, const struct ft_flow *requester,
		       int32_t distance)
{
	return distance <= -FT_PSN_WINDOW && (confirms_behind(moment, &requester->half) ||
					      ft_are_idle(moment, requester, FT_ANEW_NS));
}

/* The queue pair may be in use anew, and the requests between all have been lost. */
static bool may_be_anew(const struct ft_moment *moment, const struct ft_flow *requester)
{
	return (moment->flow->half.outside | requester->half.outside) != 0 ||
	       ft_elapsed(moment->observed->ts_ns, requester->last_ns) >= FT_OUTAGE_NS;
}

/* What came last from outside was a READ, if this is a response to it that is not all there is. How long it is is not known. */
static void begin_read(const struct ft_moment *moment, struct ft_half *half, uint32_t next_psn)
{
	const uint8_t only = FT_PART_FIRST | FT_PART_LAST;
	uint8_t part = moment->operation->part;
	int32_t behind = ft_psn_distance(moment->observed->psn, ft_psn_back(next_psn, 1));

	half->next_psn = next_psn;
	if (moment->operation->role != FT_ROLE_RESPONSE || (part & only) == only || behind < 0 ||
	    ((part & FT_PART_FIRST) != 0 && behind != 0))
		return;
	half->message_psn = ft_psn_back(next_psn, 1);
	half->message_bytes = FT_LENGTH_CUT;
	half->flags |= FT_HALF_SPAN_UNKNOWN;
}

/* Nobody asked, if it is known who would have: as long as few answers say so, another half may have, whose request was lost. */
void ft_find_unasked(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	if (!ft_pairs_unsure(moment->flow))
		moment->step->what |= FT_STEP_UNASKED;
	ft_contradict(tracker, moment->flow, FT_EVIDENCE_OUTSIDE);
}

/* A Middle far beyond all requests, where another life is expected: it counts no messages, and the Last will tell. */
static bool may_be_unseen_life(const struct ft_moment *moment, const struct ft_half *half,
			       int32_t distance)
{
	return moment->operation->role == FT_ROLE_RESPONSE && moment->operation->part == 0 &&
	       distance >= FT_LONG_PSNS && half->outside == FT_OUTSIDE_EXPECTED;
}

/* Whether the PSN is of the sequence that the requester is in; its packets of another one may have come. */
bool ft_is_in_window(struct ft_tracker *tracker, const struct ft_moment *moment,
		     struct ft_flow *requester)
{
	struct ft_half *half = &requester->half;
	uint32_t psn = moment->observed->psn;
	int32_t distance = ft_psn_distance(psn, half->next_psn);

	if (distance < FT_PSN_WINDOW && may_be_unseen_life(moment, half, distance))
		return false;
	if (distance < FT_PSN_WINDOW && distance > -FT_PSN_HALF / 2 &&
	    !is_beneath(moment, requester, distance)) {
		note_anew(moment, half);
		return true;
	}
	if (is_outside_too(half, psn)) {
		uint32_t next_psn = half->outside & FT_PSN_MOST;

		ft_begin_both(tracker, requester, moment->flow, moment->step);
		begin_read(moment, half, next_psn);
		note_anew(moment, half);
		return true;
	}
	moment->step->what |= FT_STEP_OUTSIDE;
	if (may_be_anew(moment, requester)) {
		ft_expect_anew(half);
		ft_expect_anew(&moment->flow->half);
		return false;
	}
	ft_find_unasked(tracker, moment);
	return false;
}
