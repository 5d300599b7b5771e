#include "group_tree_shape.h"

#include <nccl/model.h>

/* --- NCCL's rule --- */

static uint32_t parent_in_first(uint32_t at, uint32_t nodes)
{
	const uint32_t bit = at & (0 - at), up = (at ^ bit) | 2 * bit;

	if (at == 0)
		return FT_NCCL_NONE;
	return up < nodes ? up : at ^ bit;
}

/* The second tree is the mirror image of the first, or, of an odd number of nodes, the first one node further on. */
uint32_t ft_nccl_tree_parent(uint32_t tree, uint32_t at, uint32_t nodes)
{
	uint32_t parent;

	if (tree == 0)
		return parent_in_first(at, nodes);
	if (nodes % 2 == 0) {
		parent = parent_in_first(nodes - 1 - at, nodes);
		return parent == FT_NCCL_NONE ? parent : nodes - 1 - parent;
	}
	parent = parent_in_first((at + nodes - 1) % nodes, nodes);
	return parent == FT_NCCL_NONE ? parent : (parent + 1) % nodes;
}

bool ft_nccl_tree_has(uint32_t tree, uint32_t a, uint32_t b, uint32_t nodes)
{
	return ft_nccl_tree_parent(tree, a, nodes) == b || ft_nccl_tree_parent(tree, b, nodes) == a;
}

/* --- which trees the neighbours are in --- */

/* `trees`: bits. */
static bool are_all(const struct ft_nccl_neighbours *neighbours, unsigned trees)
{
	const uint32_t members = neighbours->members;
	size_t edges = 0, of_each = 0;

	for (size_t i = 0; i < neighbours->count; i++) {
		const struct ft_nccl_couple *pair = &neighbours->couples[i];
		size_t shared = 0;

		for (uint32_t tree = 0; tree < 2; tree++)
			if ((trees >> tree & 1) != 0 &&
			    ft_nccl_tree_has(tree, pair->low, pair->high, members))
				shared++;
		if (shared == 0 || pair->each % shared != 0 ||
		    (of_each != 0 && pair->each / shared != of_each))
			return false;
		of_each = pair->each / shared;
		edges += shared;
	}
	return edges == (size_t)(trees == 3 ? 2 : 1) * (members - 1);
}

static void take_shape(struct ft_nccl_shape *shape, uint32_t tree, uint32_t members)
{
	shape->number = tree;
	for (uint32_t i = 0; i < members; i++)
		shape->parents[i] = ft_nccl_tree_parent(tree, i, members);
}

size_t ft_nccl_shapes_by_rank(const struct ft_nccl_neighbours *neighbours,
			      struct ft_nccl_shape shapes[2])
{
	const uint32_t members = neighbours->members;

	if (are_all(neighbours, 3)) {
		take_shape(&shapes[0], 0, members);
		take_shape(&shapes[1], 1, members);
		return 2;
	}
	for (uint32_t tree = 0; tree < 2; tree++) {
		if (!are_all(neighbours, 1u << tree))
			continue;
		take_shape(&shapes[0], tree, members);
		return 1;
	}
	return 0;
}

/* --- what a tree is --- */

static uint32_t children_of(const struct ft_nccl_shape *shape, uint32_t member, uint32_t members)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < members; i++)
		count += shape->parents[i] == member ? 1 : 0;
	return count;
}

/* So many steps up lead to the root. */
static bool is_below_root(const struct ft_nccl_shape *shape, uint32_t member, uint32_t members)
{
	for (uint32_t steps = 0; steps < members; steps++) {
		if (shape->parents[member] == FT_NCCL_NONE)
			return true;
		member = shape->parents[member];
	}
	return false;
}

bool ft_nccl_shape_is_tree(const struct ft_nccl_shape *shape, uint32_t members)
{
	uint32_t roots = 0, forks = 0;

	for (uint32_t i = 0; i < members; i++) {
		const bool is_root = shape->parents[i] == FT_NCCL_NONE;
		const uint32_t children = children_of(shape, i, members);

		roots += is_root ? 1 : 0;
		forks += children > 1 ? 1 : 0;
		if (children > (is_root ? 1u : 2u) || !is_below_root(shape, i, members))
			return false;
	}
	return roots == 1 && forks > 0;
}
