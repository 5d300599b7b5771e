#pragma once

#include <nccl/model.h>

/* Which tree's channel goes with that of a ring. *lane: its place among the tree's; undefined if there is none. */

/* The tree that has this channel of a ring by its number; NULL: none, or it is not known which. */
const struct ft_nccl_tree *ft_nccl_tree_beside(const struct ft_nccl_communicator *communicator,
					       uint32_t channel, uint32_t *lane);

/* Of hosts: the tree that has a connection of this ring; NULL: none has. */
const struct ft_nccl_tree *ft_nccl_tree_of_ring(const struct ft_nccl_communicator *communicator,
						const struct ft_nccl_channel *channel,
						uint32_t *lane);
