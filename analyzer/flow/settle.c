#include "lives.h"
#include "messages.h"
#include "moved.h"
#include "outcome.h"

/* What becomes of spans: nothing is decided before late packets had time to come. */

enum {
	STEP_OPEN = 0xffffff,
	GIVEN_UP_AT_ONCE = 16, /* by a long ring that cannot be sorted any more */
};

static void count(struct ft_tracker *tracker, const struct ft_flow *flow,
		  const struct ft_span *span, struct ft_span_outcome outcome, struct ft_step *step)
{
	uint32_t number = ft_flow_number(tracker->table, flow);

	if (!ft_moved_holes_add(tracker->moved, flow, span, &outcome))
		ft_outcome_add(&tracker->totals, tracker->evidence, span, outcome);
	if (step != NULL && outcome.open != 0) {
		step->open = (step->open + outcome.open) & STEP_OPEN;
		step->lost_flow = number;
	}
	if (step == NULL || outcome.lost == 0)
		return;
	if (span->before_ns != 0 && outcome.lost > step->gap.lost)
		step->gap = (struct ft_step_gap){ span->before_ns, span->ts_ns, outcome.lost };
	if (ft_span_is_answer(span)) {
		step->answers_lost += outcome.lost;
		step->answers_flow = span->kind == FT_SPAN_SKIPPED ? number : flow->peer;
	} else {
		step->mirror_lost += outcome.lost;
		step->lost_flow = number;
	}
}

static void settle(struct ft_tracker *tracker, const struct ft_flow *flow,
		   const struct ft_span *span, struct ft_step *step)
{
	if (span->kind == FT_SPAN_FORMER)
		ft_leave_untold(tracker, flow, span, step);
	count(tracker, flow, span, ft_outcome_of(tracker, flow, span), step);
}

static void remove_first(struct ft_tracker *tracker, struct ft_half *half)
{
	ft_forget_hole(half, ft_span_at(&tracker->spans, half->spans));
	ft_spans_remove(&tracker->spans, half, half->spans);
}

static void settle_first(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_step *step)
{
	settle(tracker, flow, ft_span_at(&tracker->spans, flow->half.spans), step);
	remove_first(tracker, &flow->half);
}

/* The oldest range but those that are still to come; of such alone, the oldest. */
static uint32_t oldest_due(const struct ft_tracker *tracker, const struct ft_half *half)
{
	uint32_t filled_from = ft_filled_from(tracker, half), number = half->spans;

	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);

		if (!ft_is_to_come(half, span, filled_from))
			return number;
		number = span->next;
	}
	return number;
}

/*
 * Taken for lost, though it may yet come: before so many, the sender of what the fabric lost would have gone back, but on
 * ways of many lengths packets are late.
 */
static void give_up(struct ft_tracker *tracker, const struct ft_flow *flow,
		    const struct ft_span *span, struct ft_step *step)
{
	if (!ft_psn_covers(flow->half.acked, span->from, span->count))
		tracker->evidence->crowded += span->count;
	count(tracker, flow, span, ft_outcome_delivered(tracker, flow, span), step);
}

/* More holes than a half may have. Not of the one `kept`; 0: of any. */
static void give_up_oldest(struct ft_tracker *tracker, struct ft_flow *flow, uint32_t kept,
			   struct ft_step *step)
{
	uint32_t number = oldest_due(tracker, &flow->half);
	const struct ft_span *span = ft_span_at(&tracker->spans, number);

	if (number == kept)
		return;
	if (ft_is_delivered(flow, span))
		give_up(tracker, flow, span, step);
	else
		settle(tracker, flow, span, step);
	ft_forget_hole(&flow->half, span);
	ft_spans_remove(&tracker->spans, &flow->half, number);
}

void ft_remember(struct ft_tracker *tracker, struct ft_flow *flow, const struct ft_span *span,
		 struct ft_step *step)
{
	for (unsigned i = 0;
	     i < GIVEN_UP_AT_ONCE && ft_spans_still_full(&tracker->spans, &flow->half); i++)
		give_up_oldest(tracker, flow, 0, step);
	if (ft_spans_append(&tracker->spans, &flow->half, span) != 0)
		return;
	if (flow->half.spans != 0)
		settle_first(tracker, flow, step);
	if (ft_spans_append(&tracker->spans, &flow->half, span) == 0)
		settle(tracker, flow, span, step);
}

/*
 * A hole is answered for. If only now that it has been there for long, what fills it was sent again and may be on its way
 * from another mirror port. One that a silence may have made keeps its time.
 */
static void note_answered(struct ft_span *hole, uint64_t now_ns)
{
	hole->answered = true;
	if (ft_elapsed(now_ns, hole->ts_ns) < FT_SETTLE_NS ||
	    (hole->before_ns != 0 && ft_elapsed(hole->ts_ns, hole->before_ns) >= FT_SETTLE_NS))
		return;
	hole->ts_ns = now_ns;
	hole->before_ns = 0;
}

/* The answer is `now`. False: those before this one were found before. */
static bool find_answer(struct ft_half *half, struct ft_span *span, const struct ft_observed *now)
{
	if (span->kind == FT_SPAN_OVERTAKEN)
		return false;
	if (((FT_SPANS_HOLES | 1u << FT_SPAN_AWAITED) >> span->kind & 1) == 0 ||
	    !ft_psn_covers(half->acked, span->from, span->count))
		return true;
	if (span->kind != FT_SPAN_AWAITED) {
		if (span->answered)
			return !ft_spans_are_sorted(half);
		note_answered(span, now->ts_ns);
		return true;
	}
	ft_span_become(half, span, FT_SPAN_OVERTAKEN);
	span->frame = now->frame;
	span->ts_ns = now->ts_ns;
	return true;
}

/* From now on the requester knows what it misses, and holes are answered for. From the newest that can be on. */
static void find_answered(struct ft_tracker *tracker, struct ft_half *half,
			  const struct ft_observed *now)
{
	bool more = half->acked != FT_PSN_NONE;
	uint32_t number = ft_span_at(&tracker->spans, half->spans)->prev;

	if (more && ft_spans_are_sorted(half))
		number = ft_spans_upto(&tracker->spans, half, half->acked);
	while (more && number != 0) {
		struct ft_span *span = ft_span_at(&tracker->spans, number);

		more = find_answer(half, span, now) && number != half->spans;
		number = span->prev;
	}
}

void ft_settle_ripe(struct ft_tracker *tracker, struct ft_flow *flow, const struct ft_observed *now,
		    struct ft_step *step)
{
	struct ft_span *oldest;

	if (flow->half.spans == 0)
		return;
	oldest = ft_span_at(&tracker->spans, flow->half.spans);
	if (oldest->kind == FT_SPAN_AWAITED &&
	    !ft_psn_covers(flow->half.acked, oldest->from, oldest->count))
		return;
	if (oldest->looked_for != flow->half.acked + 1 || !ft_spans_are_sorted(&flow->half)) {
		find_answered(tracker, &flow->half, now);
		oldest->looked_for = flow->half.acked + 1;
	}
	while (flow->half.spans != 0 &&
	       ft_is_ripe(tracker, flow, ft_span_at(&tracker->spans, flow->half.spans), now->ts_ns))
		settle_first(tracker, flow, step);
}

void ft_settle_seen(struct ft_tracker *tracker, struct ft_flow *flow, uint32_t number, uint32_t psn,
		    uint32_t count, struct ft_step *step)
{
	struct ft_span rest = *ft_span_at(&tracker->spans, number);
	bool parts =
		psn != rest.from && ft_psn_add(psn, count) != ft_psn_add(rest.from, rest.count);

	if (parts && ft_spans_still_full(&tracker->spans, &flow->half))
		give_up_oldest(tracker, flow, number, step);
	rest.count = ft_spans_take(&tracker->spans, &flow->half, number, psn, count);
	if (rest.count == 0)
		return;
	rest.from = ft_psn_add(psn, count);
	settle(tracker, flow, &rest, step);
}

void ft_settle_holes(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_step *step)
{
	uint32_t number = flow->half.spans;

	for (unsigned left = flow->half.span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);
		uint32_t next = span->next;

		if ((FT_SPANS_HOLES >> span->kind & 1) != 0) {
			settle(tracker, flow, span, step);
			ft_spans_remove(&tracker->spans, &flow->half, number);
		}
		number = next;
	}
}

void ft_settle_before(struct ft_tracker *tracker, struct ft_flow *flow, uint32_t psn,
		      struct ft_step *step)
{
	const uint32_t kinds = FT_SPANS_HOLES | FT_SPANS_AWAITED;
	uint32_t number = flow->half.spans;

	for (unsigned left = flow->half.span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);
		uint32_t next = span->next;

		if (psn == FT_PSN_NONE || (kinds >> span->kind & 1) == 0 ||
		    ft_psn_distance(span->from, psn) < 0) {
			settle(tracker, flow, span, step);
			ft_spans_remove(&tracker->spans, &flow->half, number);
		}
		number = next;
	}
}

void ft_settle_all(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_step *step)
{
	while (flow->half.spans != 0)
		settle_first(tracker, flow, step);
}
