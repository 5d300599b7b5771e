#include "group_tree_list.h"

#include <errno.h>
#include <stdlib.h>

int ft_nccl_trees_reserve(struct ft_nccl_trees *trees, size_t most, size_t edges,
			  size_t connections)
{
	*trees = (struct ft_nccl_trees){
		.at = calloc(most + 1, sizeof *trees->at),
		.edges = calloc(edges + 1, sizeof *trees->edges),
		.ids = calloc(2 * connections + 1, sizeof *trees->ids),
	};
	return trees->at != NULL && trees->edges != NULL && trees->ids != NULL ? 0 : -ENOMEM;
}

static uint32_t member_of(const struct ft_nccl_tree_form *form, uint32_t from, uint32_t to)
{
	return form->member != NULL ? form->member(form->context, from, to) : from;
}

/* Edges are by child, without the root. */
static uint32_t place_of(const struct ft_nccl_tree_form *form, uint32_t child)
{
	uint32_t place = 0;

	if (form->parents[child] == FT_NCCL_NONE)
		return FT_NCCL_NONE;
	for (uint32_t i = 0; i < child; i++)
		place += form->parents[i] != FT_NCCL_NONE ? 1 : 0;
	return place;
}

static void add_edge(struct ft_nccl_tree *tree, struct ft_nccl_tree_edge *edge,
		     const struct ft_nccl_tree_form *form, uint32_t child, uint32_t *ids)
{
	const uint32_t parent = form->parents[child], channels = form->channels;

	*edge = (struct ft_nccl_tree_edge){ .parent = member_of(form, parent, child),
					    .child = member_of(form, child, parent),
					    .up = ids,
					    .down = ids + channels,
					    .above = place_of(form, parent) };
	if (form->parents[parent] == FT_NCCL_NONE)
		tree->root = edge->parent;
	for (uint32_t i = 0; i < channels; i++) {
		ids[i] = form->id(form->context, i, child, parent);
		ids[channels + i] = form->id(form->context, i, parent, child);
	}
}

void ft_nccl_trees_add(struct ft_nccl_trees *trees, const struct ft_nccl_tree_form *form)
{
	struct ft_nccl_tree *tree = &trees->at[trees->count];
	struct ft_nccl_tree_edge *edge = trees->edges;
	uint32_t *ids = trees->ids;

	for (size_t i = 0; i < trees->count; i++) {
		edge += trees->at[i].edge_count;
		ids += 2 * trees->at[i].edge_count * trees->at[i].channels;
	}
	*tree = (struct ft_nccl_tree){ .number = form->number,
				       .edges = edge,
				       .edge_count = form->members - 1,
				       .channels = form->channels,
				       .of_hosts = form->member != NULL };
	for (uint32_t child = 0; child < form->members; child++) {
		if (form->parents[child] == FT_NCCL_NONE)
			continue;
		add_edge(tree, edge++, form, child, ids);
		ids += 2 * (size_t)form->channels;
	}
	trees->count++;
}

void ft_nccl_trees_free(struct ft_nccl_trees *trees)
{
	free(trees->at);
	free(trees->edges);
	free(trees->ids);
	*trees = (struct ft_nccl_trees){ 0 };
}
