#include "lives.h"

#include "lives_parts.h"

/* The former life is kept while it is doubted that there is another. */

const struct ft_former *ft_former_kept(const struct ft_tracker *tracker, const struct ft_flow *flow,
				       const struct ft_span *span)
{
	const struct ft_former *former = &tracker->formers.all[span->begin];

	return former->flow == ft_tracker_number(tracker, flow) ? former : NULL;
}

struct ft_former *ft_former_of(struct ft_tracker *tracker, const struct ft_flow *flow,
			       const struct ft_span *span)
{
	return ft_former_kept(tracker, flow, span) == NULL ? NULL
							   : &tracker->formers.all[span->begin];
}

uint32_t ft_withheld(const struct ft_tracker *tracker, const struct ft_flow *flow,
		     const struct ft_span *span)
{
	const struct ft_former *former =
		span->kind == FT_SPAN_FORMER ? ft_former_kept(tracker, flow, span) : NULL;

	return former == NULL ? 0 : former->packets + former->late;
}

enum { FARTHEST_BACK = 1 << 13 }; /* PSNs of requests that may wait for an answer at a time */

/*
 * Another hole that was answered for, or responses that are not due yet. Who lacks other responses asks for them again, as
 * for the rest of a READ that is being answered; but nobody goes back so far for them.
 */
static bool may_be_left(const struct ft_half *half, const struct ft_span *span, uint32_t psn)
{
	if (ft_psn_distance(span->from, psn) > FARTHEST_BACK)
		return true;
	if ((FT_SPANS_AWAITED >> span->kind & 1) != 0)
		return !ft_is_acked(half, span->from) && ft_psn_distance(psn, span->begin) < 0;
	return (FT_SPANS_HOLES >> span->kind & 1) != 0 &&
	       !ft_psn_within(psn, span->from, span->count) &&
	       ft_psn_covers(half->acked, span->from, span->count);
}

/* Nothing explains that the requester goes back to this PSN but that what answered for it did not come to it. */
static bool has_no_reason(const struct ft_tracker *tracker, const struct ft_half *half,
			  uint32_t psn)
{
	uint32_t number = half->spans;

	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);

		if (!may_be_left(half, span, psn))
			return false;
		number = span->next;
	}
	return ft_is_acked(half, psn);
}

bool ft_may_live_anew(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_half *half = &moment->flow->half;

	return moment->flow->peer != 0 && (moment->operation->part & FT_PART_FIRST) != 0 &&
	       has_no_reason(tracker, half, moment->observed->psn);
}

void ft_former_forget(struct ft_tracker *tracker, struct ft_former *former)
{
	ft_spans_drop(&tracker->spans, &former->asked, UINT32_MAX);
	former->flow = 0;
}

void ft_former_tell(struct ft_tracker *tracker, struct ft_step *step,
		    const struct ft_former *former, enum ft_step_what what)
{
	if (what == FT_STEP_TOLD_AGAIN) {
		tracker->totals.retransmitted += former->packets + former->late;
		tracker->evidence->oftener += former->packets;
	} else {
		tracker->evidence->renewed += former->packets - 1; /* all but the first */
		tracker->evidence->lives++;
	}
	if (step == NULL)
		return;
	step->what |= what;
	tracker->told = (struct ft_told){ former->flow, former->packets + former->late };
}

/* Of the one kept longest that leaves its place, the new life is believed. */
static void keep(struct ft_tracker *tracker, const struct ft_moment *moment,
		 const struct ft_half *half, const struct ft_flow *peer)
{
	struct ft_former *former = &tracker->formers.all[tracker->formers.next];

	if (former->flow != 0) {
		ft_former_tell(tracker, moment->step, former, FT_STEP_TOLD_NEW);
		ft_former_forget(tracker, former);
	}
	*former = (struct ft_former){
		.asked = *half,
		.answered = peer->half.answered,
		.answer_next = peer->half.answer_next,
		.msn = peer->half.msn,
		.flow = ft_tracker_number(tracker, moment->flow),
		.peer = moment->flow->peer,
		.first = moment->observed->psn,
	};
	tracker->formers.next = (tracker->formers.next + 1) % FT_FORMERS;
}

bool ft_doubt_life(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow, *peer = ft_tracker_peer(tracker, flow);
	const struct ft_span span = {
		.kind = FT_SPAN_FORMER,
		.from = flow->half.next_psn,
		.count = 1,
		.begin = tracker->formers.next,
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
	};
	struct ft_half before;

	ft_settle_holes(tracker, flow, moment->step);
	before = flow->half;
	flow->half.spans = flow->half.span_count = 0;
	if (ft_spans_append(&tracker->spans, &flow->half, &span) == 0) {
		flow->half = before;
		return false;
	}
	keep(tracker, moment, &before, peer);
	ft_forget_requests(&flow->half);
	peer->half.answered = peer->half.answer_next = FT_PSN_NONE;
	peer->half.msn = 0;
	return true;
}

void ft_withhold(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const uint32_t as_new = FT_STEP_NEW | FT_STEP_GAP | FT_STEP_RESTART | FT_STEP_RESUMED;
	const struct ft_span *span = ft_former_span(&tracker->spans, &moment->flow->half);
	struct ft_former *former = span == NULL ? NULL : ft_former_of(tracker, moment->flow, span);

	if (former == NULL)
		return;
	if (former->packets++ != 0)
		ft_loss_first(tracker->evidence, moment->observed->frame);
	moment->step->what &= ~as_new;
	moment->step->what |= FT_STEP_RETRANSMITTED | FT_STEP_BEHIND | FT_STEP_WITHHELD;
}

void ft_withhold_late(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const uint32_t late = FT_STEP_REORDERED, lost = FT_STEP_FABRIC_LOST;
	const struct ft_span *span = ft_former_span(&tracker->spans, &moment->flow->half);
	struct ft_former *former = span == NULL ? NULL : ft_former_of(tracker, moment->flow, span);

	if (former == NULL)
		return;
	former->late++;
	tracker->totals.reordered -= (moment->step->what & late) != 0;
	tracker->totals.fabric_lost -= (moment->step->what & lost) != 0;
	moment->step->what &= ~(late | lost);
	moment->step->what |= FT_STEP_RETRANSMITTED | FT_STEP_BEHIND | FT_STEP_WITHHELD;
}
