#pragma once

#include "group_tree.h"

/*
 * The ring and the trees of a communicator that has connections of both, as NCCL makes them when it begins: of processes
 * whose ranks are known, one of each node. The ring leads from each to the next one by rank, on all channels; the trees are
 * those of NCCL's rule, the first on the first half of the channels, the second on the other. Where a tree and the ring of
 * its channel go the same way they have one connection. Trees may have fewer channels than that, but none in between. All
 * connections there are must be explained by that.
 */
struct ft_nccl_mixed {
	uint32_t channels; /* of the ring; 0: it is nothing of this kind */
	/* of each its connections: places in edges->at, the ring's first, in its order; then the tree's, each once */
	uint32_t *at;
	size_t *ends;      /* where those of each channel end in `at` */
	size_t unassigned; /* connections behind them, of which nobody knows the channel */
};

/* 0 or -ENOMEM. Free both in any case. */
int ft_nccl_members_mixed(struct ft_nccl_mixed *mixed, struct ft_nccl_trees *trees,
			  const struct ft_nccl_edges *edges, const struct ft_nccl_tracks *tracks);
void ft_nccl_mixed_free(struct ft_nccl_mixed *mixed); /* all zero is fine */
