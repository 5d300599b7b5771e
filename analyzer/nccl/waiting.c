#include "followed.h"

/* Whether a message that was asked for has yet to come, as a whole or on some queue pair. */

/* The queue pair has a part of it: all have, or one of another device that it goes with has. */
static bool has_part(const struct ft_nccl_followed *followed, uint8_t lane,
		     const struct ft_nccl_share *shares)
{
	uint8_t devices = followed->model.devices, first = (uint8_t)(lane - lane % devices);
	bool has = followed->model.split == FT_NCCL_YES;

	for (uint8_t i = first; i < first + devices && i < followed->lane_count; i++)
		has = has || shares[i].used;
	return has &&
	       (followed->lanes[lane].carried || (followed->model.is_set_up && !followed->unsure));
}

/* The queue pair is to bring its part of it, or the rest of that, yet. */
static bool is_due_on(const struct ft_nccl_followed *followed, uint8_t lane,
		      const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	const struct ft_nccl_lane *at = &followed->lanes[lane];
	uint64_t k = transfer->message.k;

	if (shares[lane].used)
		return at->open && at->at == k && !shares[lane].ended;
	return has_part(followed, lane, shares) && at->next <= k;
}

/* For the immediate, and of several queue pairs, which taps may show apart, for that of each. */
bool ft_nccl_is_waiting(const struct ft_nccl_followed *followed,
			const struct ft_nccl_transfer *transfer)
{
	if (!transfer->has_cts || !transfer->message.has_imm)
		return transfer->has_cts;
	for (uint8_t i = 0; followed->lane_count > 1 && i < followed->lane_count; i++) {
		if (is_due_on(followed, i, transfer))
			return true;
	}
	return false;
}
