#pragma once

#include "tracker_parts.h"

/* What every answer that is for the newest requests does to the half that asked. */

/* From the request that is timed to this answer; false: it does not cover it. */
static inline bool ft_measure_rtt(const struct ft_moment *moment, struct ft_half *half)
{
	uint32_t asked = half->asked_psn;

	if (asked == FT_PSN_NONE || ft_psn_distance(moment->observed->psn, asked) < 0)
		return false;
	moment->step->rtt_ns = ft_elapsed(moment->observed->ts_ns, half->asked_ns);
	half->asked_psn = FT_PSN_NONE;
	return true;
}

/*
 * Likewise of an ACK. One that passes over the request that is timed shows that its own ACK was lost, or that the responder
 * answers for several at once; of a READ or ATOMIC, that its responses were.
 */
static inline void ft_time_ack(const struct ft_tracker *tracker, const struct ft_moment *moment,
			       struct ft_half *half)
{
	uint32_t asked = half->asked_psn;

	if (!ft_measure_rtt(moment, half))
		return;
	if (__builtin_expect(moment->observed->psn == asked, 1))
		tracker->evidence->timed++;
	else
		ft_pass_over(tracker, half, asked);
}

/* An answer beyond all before it: how many messages the responder has completed. */
static inline void ft_note_msn(const struct ft_moment *moment)
{
	if ((moment->observed->has & FT_OBSERVED_AETH) != 0)
		moment->flow->half.msn = moment->observed->msn;
}

/* Every request up to this one was delivered. */
static inline void ft_deliver(struct ft_half *half, uint32_t delivered)
{
	half->acked = ft_psn_newest(half->acked, delivered);
	/* from now on nak_psn stands for the first PSN */
	if (half->flags & FT_HALF_NAKED && ft_is_acked(half, half->nak_psn))
		half->flags &= (uint8_t)~FT_HALF_NAKED;
}
