#pragma once

#include "group_ring.h"
#include "groups_parts.h"

/* Channels of a communicator, one after the other: those of rings first. */

/* The ids of connections at these places, in the list that channels point to. */
uint32_t *ft_nccl_groups_list_ids(struct ft_nccl_groups_maker *maker, const uint32_t *places,
				  size_t count);

void ft_nccl_groups_list_channel(struct ft_nccl_groups_maker *maker,
				 struct ft_nccl_communicator *communicator,
				 struct ft_nccl_channel channel);

/* The next channel, of connections at these places; those of the ring come first. `number` may be FT_NCCL_NONE. */
void ft_nccl_groups_add_channel(struct ft_nccl_groups_maker *maker,
				struct ft_nccl_communicator *communicator, uint32_t number,
				const uint32_t *places, size_t count, size_t ring_count);

/* Those of a ring, if they can be told apart; numbered, if these are all there are. 0 or -ENOMEM. */
int ft_nccl_groups_add_channels(struct ft_nccl_groups_maker *maker,
				struct ft_nccl_communicator *communicator,
				struct ft_nccl_edges *edges, const uint32_t *ring);
