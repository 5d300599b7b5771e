#pragma once

#include "group_pat.h"
#include "group_tree.h"

/*
 * NCCL's trees among the connections of PAT, which are their neighbours, too. They are told if their connections were made
 * before PAT's: each member has those of both trees, on the first and the second half of the channels, before the rest. Then
 * what goes along the second tree was made in another order, which is set right in pat->at. The connections of the ring may
 * have been made before both. 0 or -ENOMEM; trees->count is 0 if there are none.
 */
int ft_nccl_pat_find_trees(struct ft_nccl_pat *pat, struct ft_nccl_trees *trees,
			   const struct ft_nccl_edges *edges);
