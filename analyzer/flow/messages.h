#pragma once

#include "tracker_parts.h"

/* Messages made of First, Middle and Last, in their order. IBA vol. 1, 9.7.2. */

/* So many packets of a message that are not its last; FT_LENGTH_UNKNOWN: the path MTU is not known. */
static inline uint32_t ft_bytes_of(const struct ft_half *half, uint32_t packets)
{
	if (packets == 0)
		return 0;
	return half->mtu == 0 || half->flags & FT_HALF_MTU_GUESSED ? FT_LENGTH_UNKNOWN
								   : packets * half->mtu;
}

/* All of it, with its last packet. */
static inline uint32_t ft_bytes_with(uint32_t before, uint32_t payload)
{
	return before == FT_LENGTH_UNKNOWN ? before : before + payload;
}

/* The packet completes a message; `begin`: its first PSN, `length` 0: as long as its packets; or FT_LENGTH_UNKNOWN. */
FT_IN_LINE void ft_tell_message(const struct ft_tracker *tracker, const struct ft_moment *moment,
				uint32_t begin, uint32_t length)
{
	const struct ft_observed *observed = moment->observed;
	uint32_t before = ft_psn_since(observed->psn, begin);
	struct ft_step *step = moment->step;

	step->what |= FT_STEP_MESSAGE;
	step->message_kind = moment->operation->kind;
	step->message_flow = ft_tracker_number(tracker, moment->flow);
	step->message_bytes = length != 0 ? length
					  : ft_bytes_with(ft_bytes_of(&moment->flow->half, before),
							  observed->payload);
}

/* Of a First or Only: as long as its RETH says; 0: it does not. */
static inline uint32_t ft_message_length(const struct ft_observed *observed)
{
	return observed->has & FT_OBSERVED_RETH ? observed->length : 0;
}

/* Of the message being sent. */
static inline uint32_t ft_length_so_far(const struct ft_half *half)
{
	return half->flags & FT_HALF_IN_MESSAGE ? half->message_bytes : 0;
}

/* A First. */
static inline void ft_begin_message(struct ft_half *half, const struct ft_observed *observed)
{
	half->message_psn = observed->psn;
	half->message_bytes = ft_message_length(observed);
	half->flags |= FT_HALF_IN_MESSAGE;
}

/*
 * Of the message that ends here, among holes: 0: as long as its packets. Two neighbours that are missing may be the end of
 * one message and the beginning of the next; one alone may not.
 */
uint32_t ft_length_amid_holes(const struct ft_tracker *tracker, const struct ft_half *half,
			      uint32_t last);

/* A hole is forgotten: likewise of the message that it may belong to. */
void ft_forget_hole(struct ft_half *half, const struct ft_span *hole);

/* A SEND or WRITE in its order. */
FT_IN_LINE void ft_follow_message(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_half *half = &moment->flow->half;

	switch (moment->operation->part) {
	case FT_PART_FIRST | FT_PART_LAST:
		ft_tell_message(tracker, moment, observed->psn, ft_message_length(observed));
		break;
	case FT_PART_LAST:
		if (half->message_psn != FT_PSN_NONE)
			ft_tell_message(tracker, moment, half->message_psn,
					half->spans != 0
						? ft_length_amid_holes(tracker, half, observed->psn)
						: ft_length_so_far(half));
		break;
	case FT_PART_FIRST:
		ft_begin_message(half, observed);
		return;
	default:
		return;
	}
	half->message_psn = ft_psn_add(observed->psn, 1);
	half->flags &= (uint8_t)~FT_HALF_IN_MESSAGE;
}

/* The READ being answered was seen from its First on. */
static inline bool ft_answers_from_first(const struct ft_half *half)
{
	return (half->flags & FT_HALF_ANSWERING) != 0 && half->answer_first < FT_ANSWER_JOINED;
}

/* The newest response, `psn`, is in the midst of a READ whose First was not seen. */
static inline void ft_join_answer(struct ft_half *half, uint32_t psn)
{
	if ((half->flags & FT_HALF_ANSWERING) != 0 || half->answer_next != ft_psn_add(psn, 1))
		return;
	half->answer_first = psn | FT_ANSWER_JOINED;
	half->flags |= FT_HALF_ANSWERING;
}

/*
 * A READ response or ATOMIC ACKNOWLEDGE in its order; `kind`: of the message that it answers, for a READ response answers
 * FLUSH and ATOMIC WRITE as well. `begin`: where a First begins what was asked for, which is before it if that was the rest.
 */
static inline void ft_follow_answer(const struct ft_moment *moment, uint8_t kind, uint32_t begin)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_half *half = &moment->flow->half;
	struct ft_step *step = moment->step;

	if (moment->operation->part & FT_PART_FIRST) {
		half->answer_first = begin;
		half->flags |= FT_HALF_ANSWERING;
	}
	half->answer_next = ft_psn_follow(half->answer_next, ft_psn_add(observed->psn, 1));
	if ((moment->operation->part & FT_PART_LAST) == 0) {
		ft_join_answer(half, observed->psn);
		return;
	}
	if (ft_answers_from_first(half) && kind < FT_MESSAGE_KINDS) {
		step->what |= FT_STEP_MESSAGE;
		step->message_kind = kind;
		step->message_flow = moment->flow->peer;
		step->message_bytes = ft_bytes_with(
			ft_bytes_of(half, ft_psn_since(observed->psn, half->answer_first)),
			observed->payload);
	}
	half->flags &= (uint8_t)~FT_HALF_ANSWERING;
}
