#pragma once

#include "group_neighbours.h"

/* Who is above each member; FT_NCCL_NONE: nobody. */
struct ft_nccl_shape {
	uint32_t number; /* of the tree: 0 or 1; FT_NCCL_NONE: not known */
	uint32_t *parents;
};

/* The parent of node `at` of `nodes` in tree 0 or 1, by NCCL's rule; FT_NCCL_NONE: it is the root. */
uint32_t ft_nccl_tree_parent(uint32_t tree, uint32_t at, uint32_t nodes);

/* They are neighbours in it, whichever of the two is above. */
bool ft_nccl_tree_has(uint32_t tree, uint32_t a, uint32_t b, uint32_t nodes);

/*
 * Members are in the order of their ranks: which of NCCL's trees the pairs are, all of them and no other, with the same
 * number of connections for each tree. Fills the shapes, whose parents have room, and returns how many: 2, 1 or 0.
 */
size_t ft_nccl_shapes_by_rank(const struct ft_nccl_neighbours *neighbours,
			      struct ft_nccl_shape shapes[2]);

/*
 * One root with one child, nobody with more than two, and all of them below the root. A line is none: the stages of a
 * pipeline send there and back again, too.
 */
bool ft_nccl_shape_is_tree(const struct ft_nccl_shape *shape, uint32_t members);
