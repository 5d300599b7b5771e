#pragma once

#include "messages.h"

/* A SEND or WRITE where it was expected. */

/* A loss just before it would have shown; on UC nobody would say whose. `bin`: of its frame. */
static inline void ft_tell_evidence(struct ft_tracker *tracker, struct ft_loss_bin *bin,
				    const struct ft_moment *moment)
{
	const struct ft_flow *flow = moment->flow;
	struct ft_moment again;

	if (flow->half.service == FT_UC) {
		bin->silent++;
		bin->unreliable++;
		return;
	}
	bin->spaces++;
	if (ft_heads_may_have(&tracker->heads, ft_tracker_number(tracker, flow),
			      moment->observed->frame)) {
		again = *moment; /* whose own address is given to nobody: it need not stand in memory */
		ft_tell_near(tracker, &again);
	}
}

/* A request that will be answered: one at a time is timed. */
static inline void ft_time_request(const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;

	if (half->asked_psn != FT_PSN_NONE || moment->observed->ts_ns == UINT64_MAX)
		return;
	half->asked_psn = moment->observed->psn;
	half->asked_ns = moment->observed->ts_ns;
}

/* The path MTU must have been learnt. */
FT_IN_LINE void ft_accept(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;

	if (observed->has & FT_OBSERVED_ACK_REQUEST) {
		tracker->evidence->asking++;
		ft_time_request(moment);
	}
	moment->step->what |= FT_STEP_NEW;
	moment->flow->half.next_psn = ft_psn_add(observed->psn, 1);
	ft_follow_message(tracker, moment);
}
