#include "responses.h"

#include "messages.h"

/* Responses whose requester is not in view, and those that passed before it was. */

bool ft_fill_skipped(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow;
	uint32_t psn = moment->observed->psn;
	uint32_t number = ft_spans_find(&tracker->spans, &flow->half, psn, FT_SPANS_SKIPPED);

	if (number != 0)
		ft_settle_seen(tracker, flow, number, psn, 1, moment->step);
	return number != 0;
}

void ft_respond_again(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	if (ft_fill_skipped(tracker, moment)) {
		moment->step->what |= FT_STEP_REORDERED;
		tracker->totals.reordered++;
		ft_loss_answer(tracker->evidence, moment->observed->frame);
	} else {
		moment->step->what |= FT_STEP_RETRANSMITTED;
		tracker->totals.retransmitted++;
		ft_pass_again(tracker, moment);
	}
}

/*
 * What is missing behind a First shows by a later response that is no First: of this READ, or of the next one, whose First was
 * lost with the end of this. Just so those seen count that others like them would have shown: of those behind a First all but
 * one, the end of a READ where the First of the next was lost, and that where the end was.
 */
static bool would_show(const struct ft_half *half, uint8_t part, int32_t distance)
{
	bool amid = (half->flags & FT_HALF_ANSWERING) != 0;

	if ((part & FT_PART_FIRST) != 0)
		return amid && (part & FT_PART_LAST) == 0;
	return amid ? half->answer_next != ft_psn_add(half->answer_first & FT_PSN_MOST, 1)
		    : distance > 0;
}

/* Where the READ being answered begins; if its First was not seen, at least one PSN before the first that was. */
static uint32_t begun(const struct ft_half *half)
{
	return ft_answers_from_first(half) ? half->answer_first
					   : ft_psn_back(half->answer_first & FT_PSN_MOST, 1);
}

/* Between two READs, `distance` PSNs apart as far as was seen, other requests may lie, or responses that were lost. */
static void note_between(struct ft_tracker *tracker, const struct ft_moment *moment,
			 int32_t distance)
{
	bool first = (moment->operation->part & FT_PART_FIRST) != 0;
	bool ended = (moment->flow->half.flags & FT_HALF_ANSWERING) == 0;

	if ((!first && !ended) || distance < 0 || distance >= FT_WENT_ON_PSNS)
		return;
	if (first && ended)
		ft_loss_follow(tracker->evidence, (uint32_t)distance);
	if (distance != 0)
		ft_loss_miss(tracker->evidence, moment->observed->frame, (uint32_t)distance,
			     FT_LOSS_BETWEEN);
}

void ft_follow_alone(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow;
	struct ft_half *half = &flow->half;
	uint32_t psn = moment->observed->psn;
	uint8_t part = moment->operation->part;
	int32_t distance = half->answer_next == FT_PSN_NONE
				   ? INT32_MAX
				   : ft_psn_distance(psn, half->answer_next);
	struct ft_span skipped = {
		.kind = FT_SPAN_SKIPPED,
		.early = ft_how_early(tracker, flow),
		.ends = (part & FT_PART_LAST) != 0,
		.from = half->answer_next,
		.begin = begun(half),
		.frame = moment->observed->frame,
		.ts_ns = moment->observed->ts_ns,
		.before_ns = flow->last_ns,
	};

	if (distance < 0 && distance > -FT_PSN_WINDOW) {
		ft_respond_again(tracker, moment);
		return;
	}
	moment->step->what |= FT_STEP_NEW;
	if (distance >= 0 && distance < FT_PSN_WINDOW && would_show(half, part, distance))
		ft_loss_answer(tracker->evidence, moment->observed->frame);
	else
		ft_loss_reply(tracker->evidence, moment->observed->frame);
	note_between(tracker, moment, distance);
	tracker->evidence->answering += half->answer_next == FT_PSN_NONE;
	if (half->answer_next == FT_PSN_NONE)
		ft_begin_near(tracker, moment);
	else
		ft_tell_near(tracker, moment);
	if ((part & FT_PART_FIRST) != 0 || (half->flags & FT_HALF_ANSWERING) == 0 ||
	    distance <= 0 || distance >= FT_PSN_WINDOW)
		return;
	moment->step->what |= FT_STEP_GAP;
	skipped.count = (uint32_t)distance;
	ft_remember(tracker, flow, &skipped, moment->step);
}
