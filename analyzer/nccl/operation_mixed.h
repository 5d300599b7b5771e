#pragma once

#include "operation_ring.h"

/*
 * Operations of one channel that go over its ring or over its tree, one after the other, from the first message of each
 * connection on. Connections that both have are in both.
 */
struct ft_nccl_mixed_circles {
	struct ft_nccl_circle ring, tree;
	/* filled by ft_nccl_mixed_begin(): of each track of the tree its place in the ring, or FT_NCCL_NONE; .. */
	uint32_t *shared;
	bool *is_shared; /* .. of each track of the ring whether it is the tree's, too */
};

/* To the first messages of all, before the rest of these functions. */
void ft_nccl_mixed_begin(struct ft_nccl_mixed_circles *circles);

void ft_nccl_mixed_operations(struct ft_nccl_operations *operations,
			      struct ft_nccl_mixed_circles *circles);

/* Data passed on connections that only the ring, or only the tree, has. */
bool ft_nccl_mixed_uses_ring(const struct ft_nccl_mixed_circles *circles);
bool ft_nccl_mixed_uses_tree(const struct ft_nccl_mixed_circles *circles);
