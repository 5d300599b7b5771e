#include "group_order.h"

static const struct ft_nccl_message *message_k(const struct ft_nccl_track *track, uint64_t k)
{
	const struct ft_nccl_message *message;

	if (!track->numbered || k < track->first_k || k - track->first_k >= track->count)
		return NULL;
	message = track->messages[k - track->first_k];
	return message != NULL && message->first_frame != 0 ? message : NULL;
}

void ft_nccl_lanes_compare(struct ft_nccl_lane_order *order, const struct ft_nccl_tracks *tracks,
			   const struct ft_nccl_lane *one, const struct ft_nccl_lane *other)
{
	const struct ft_nccl_track *first = &tracks->at[one->at], *second = &tracks->at[other->at];

	for (uint64_t k = first->first_k; k < first->first_k + first->count; k++) {
		const struct ft_nccl_message *a = message_k(first, k), *b = message_k(second, k);

		if (a == NULL || b == NULL)
			continue;
		if (a->first_frame < b->first_frame)
			order->first++;
		else
			order->second++;
		order->differ |= a->completed && b->completed &&
				 ft_nccl_message_bytes(a) != ft_nccl_message_bytes(b);
	}
}
