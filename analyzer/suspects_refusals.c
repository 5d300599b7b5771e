#include "suspects_refusals.h"

#include <decode/psn.h>

enum { SYNDROME_INVALID_REQUEST = 0x61, SYNDROME_REMOTE_OPERATIONAL = 0x63 };

void ft_refusals_see(struct ft_refusals *refusals, uint32_t flow,
		     const struct ft_observed *observed)
{
	if (observed->syndrome < SYNDROME_INVALID_REQUEST ||
	    observed->syndrome > SYNDROME_REMOTE_OPERATIONAL || observed->ts_ns == UINT64_MAX)
		return;
	refusals->newest[refusals->next++ % FT_REFUSALS] = (struct ft_refusal){
		.frame = observed->frame,
		.ts_ns = observed->ts_ns,
		.flow = flow,
		.psn = observed->psn,
	};
	if (observed->ts_ns + FT_SUSPECTS_PAUSE_NS > refusals->until_ns)
		refusals->until_ns = observed->ts_ns + FT_SUSPECTS_PAUSE_NS;
}

void ft_refusals_forget(struct ft_refusals *refusals, uint32_t flow)
{
	for (unsigned i = 0; i < FT_REFUSALS; i++)
		if (refusals->newest[i].flow == flow)
			refusals->newest[i].frame = 0;
}

static bool is_outlived(const struct ft_refusal *refusal, uint32_t flow,
			const struct ft_observed *observed)
{
	return refusal->frame != 0 && refusal->flow == flow && observed->ts_ns >= refusal->ts_ns &&
	       observed->ts_ns - refusal->ts_ns <= FT_SUSPECTS_PAUSE_NS &&
	       ft_psn_since(observed->psn, refusal->psn) < FT_REFUSALS_PSNS;
}

struct ft_refusal ft_refusals_outlived(struct ft_refusals *refusals, uint32_t flow,
				       const struct ft_observed *observed)
{
	struct ft_refusal outlived = { 0 };

	for (unsigned i = 0; i < FT_REFUSALS && outlived.frame == 0; i++)
		if (is_outlived(&refusals->newest[i], flow, observed)) {
			outlived = refusals->newest[i];
			refusals->newest[i].frame = 0;
		}
	return outlived;
}
