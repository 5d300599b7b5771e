#pragma once

#include <nccl/model.h>

#include "group_members.h"

/* The connections of one component, by their places in the list. */
struct ft_nccl_edges {
	const struct ft_nccl_members *members;
	struct ft_nccl_connection *const *connections;
	uint32_t *at;
	size_t count;
	uint32_t first, member_count; /* its members: from `first` on */
};

/*
 * Members in the order of the ring that the connections form, as positions from 0; the array is for the caller to free.
 * 0, -ENOMEM, or -ENOENT: they form none.
 */
int ft_nccl_members_ring(const struct ft_nccl_edges *edges, uint32_t **ring);

/*
 * Channels of a ring: between every two neighbours there are as many connections, and both sides made them in one order.
 * Sorts edges->at: channel 0 in the order of the ring, then channel 1 and so on. Returns how many there are; 0: they
 * cannot be told apart, and -ENOMEM.
 */
int ft_nccl_members_channels(struct ft_nccl_edges *edges, const uint32_t *ring);
