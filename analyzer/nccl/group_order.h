#pragma once

#include "group_lanes.h"
#include "operation_tracks.h"

/* Of two connections: which of messages of one number came first, and whether they differ. */
struct ft_nccl_lane_order {
	uint64_t first, second; /* so many times that of the one, that of the other */
	bool differ;            /* in bytes, of those of which no packet is missing */
};

/* Adds what their messages say. */
void ft_nccl_lanes_compare(struct ft_nccl_lane_order *order, const struct ft_nccl_tracks *tracks,
			   const struct ft_nccl_lane *one, const struct ft_nccl_lane *other);
