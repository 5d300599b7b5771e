#pragma once

#include <nccl/model.h>

#include "group_ring.h"
#include "group_tree_list.h"
#include "operation_tracks.h"

/*
 * The trees of an all-reduce that the connections of one component form: docs/nccl.md, Trees. Connections go both ways
 * between every two neighbours, as many one way as the other. NCCL has two trees, each on half of the channels; by the ranks
 * of the members they are those of its rule, and messages must not tell otherwise. If the connections are no more than one
 * tree, and ranks do not tell, then messages must: sums go up before results come down.
 */
enum { FT_NCCL_TREE_LEAST = 3 }; /* members: of two nobody can say which is the root */

/* `tracks`: of all connections. 0 or -ENOMEM. */
int ft_nccl_members_trees(struct ft_nccl_trees *trees, const struct ft_nccl_edges *edges,
			  const struct ft_nccl_tracks *tracks);
