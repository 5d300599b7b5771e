#include "tracker_parts.h"

/* Messages made of First, Middle and Last. IBA vol. 1, 9.7.2. */

static void tell_message(const struct ft_tracker *tracker, const struct ft_moment *moment,
			 uint32_t begin, uint32_t length)
{
	const struct ft_observed *observed = moment->observed;
	uint32_t before = ft_psn_add(observed->psn, 0x1000000 - begin);
	struct ft_step *step = moment->step;

	step->what |= FT_STEP_MESSAGE;
	step->message_kind = moment->operation->kind;
	step->message_flow = ft_flow_number(tracker->table, moment->flow);
	step->message_bytes =
		length != 0 ? length : before * moment->flow->half.mtu + observed->payload;
}

/* First, Middle and Last of a SEND or WRITE in their order. */
void ft_follow_message(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_half *half = &moment->flow->half;

	if (moment->operation->part & FT_PART_FIRST) {
		half->message_psn = observed->psn;
		half->message_bytes = observed->has & FT_OBSERVED_RETH ? observed->length : 0;
		half->flags |= FT_HALF_IN_MESSAGE;
	}
	ft_learn_mtu(half, moment);
	if ((moment->operation->part & FT_PART_LAST) == 0)
		return;
	if (half->message_psn != FT_PSN_NONE)
		tell_message(tracker, moment, half->message_psn,
			     half->flags & FT_HALF_IN_MESSAGE ? half->message_bytes : 0);
	half->message_psn = ft_psn_add(observed->psn, 1);
	half->flags &= (uint8_t)~FT_HALF_IN_MESSAGE;
}

/* A message that a late packet completes; `begin`: where it began, as far as is known. */
uint32_t ft_follow_late(const struct ft_tracker *tracker, const struct ft_moment *moment,
			uint32_t begin)
{
	const struct ft_observed *observed = moment->observed;
	uint8_t part = moment->operation->part;

	if (part & FT_PART_FIRST)
		begin = observed->psn;
	if ((part & FT_PART_LAST) == 0)
		return begin;
	tell_message(tracker, moment, begin,
		     part & FT_PART_FIRST && observed->has & FT_OBSERVED_RETH ? observed->length
									      : 0);
	return ft_psn_add(observed->psn, 1);
}

/* First, Middle and Last of one answer. */
void ft_follow_answer(const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_half *half = &moment->flow->half;
	struct ft_step *step = moment->step;

	if (moment->operation->part & FT_PART_FIRST) {
		half->answer_first = observed->psn;
		half->flags |= FT_HALF_ANSWERING;
	}
	half->answer_next = ft_psn_follow(half->answer_next, ft_psn_add(observed->psn, 1));
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
