#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "group_lanes.h"

/* Two members between whom connections go: so many from the lower to the higher one, then as many back. */
struct ft_nccl_couple {
	uint32_t low, high;
	const struct ft_nccl_lane
		*lanes; /* first those from `low`, each way in the order of `made` */
	size_t each;
};

/* Neighbours, by `low` and `high`. */
struct ft_nccl_neighbours {
	const struct ft_nccl_couple *pairs;
	size_t count;
	uint32_t members;
	bool by_setup; /* `made` is */
};

/* Who is above each member; FT_NCCL_NONE: nobody. */
struct ft_nccl_shape {
	uint32_t number; /* of the tree: 0 or 1; FT_NCCL_NONE: not known */
	uint32_t *parents;
};

/* The parent of node `at` of `nodes` in tree 0 or 1, by NCCL's rule; FT_NCCL_NONE: it is the root. */
uint32_t ft_nccl_tree_parent(uint32_t tree, uint32_t at, uint32_t nodes);

/* The pair of two members; NULL: there is none. */
const struct ft_nccl_couple *ft_nccl_couple_of(const struct ft_nccl_neighbours *neighbours,
					       uint32_t a, uint32_t b);

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
