#pragma once

#include <nccl/model.h>

#include "group_members.h"

/* Connections of one component, by their places in the list, and who is at their ends: processes, or sites. */
struct ft_nccl_edges {
	const struct ft_nccl_members *members;
	struct ft_nccl_connection *const *connections;
	const uint32_t *from, *to; /* by place; FT_NCCL_NONE: one of several */
	uint32_t *at;
	size_t count;
	uint32_t first, member_count; /* who may be there: `first` and so many from it on */
};

/*
 * Members in the order of the ring that the connections form, as positions from 0; the array is for the caller to free.
 * 0, -ENOMEM, or -ENOENT: they form none.
 */
int ft_nccl_members_ring(const struct ft_nccl_edges *edges, uint32_t **ring);

/*
 * Channels of a ring: between every two neighbours there are as many connections, and both sides made them in one order.
 * Where several ranks of a site send, those of each rank are; the lowest of one site sends to the lowest of the next.
 * Sorts edges->at: channel by channel in the order of the ring. Returns how many there are; 0: they cannot be told apart,
 * and -ENOMEM. *numbered: they stand in the order of their numbers.
 */
int ft_nccl_members_channels(struct ft_nccl_edges *edges, const uint32_t *ring, bool *numbered);
