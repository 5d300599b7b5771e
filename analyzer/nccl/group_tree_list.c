#include "group_tree_list.h"

#include <errno.h>
#include <stdlib.h>

int ft_nccl_trees_reserve(struct ft_nccl_trees *trees, size_t members, size_t connections)
{
	*trees = (struct ft_nccl_trees){
		.edges = calloc(2 * members + 1, sizeof *trees->edges),
		.ids = calloc(2 * connections + 1, sizeof *trees->ids),
	};
	return trees->edges != NULL && trees->ids != NULL ? 0 : -ENOMEM;
}

static void add_edge(struct ft_nccl_tree_edge *edge, const struct ft_nccl_tree_form *form,
		     uint32_t child, uint32_t *ids)
{
	const uint32_t parent = form->parents[child], channels = form->channels;

	*edge = (struct ft_nccl_tree_edge){
		.parent = parent, .child = child, .up = ids, .down = ids + channels
	};
	for (uint32_t i = 0; i < channels; i++) {
		ids[i] = form->lane(form->context, i, child, parent)->connection->connection;
		ids[channels + i] =
			form->lane(form->context, i, parent, child)->connection->connection;
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
				       .channels = form->channels };
	for (uint32_t child = 0; child < form->members; child++) {
		if (form->parents[child] == FT_NCCL_NONE) {
			tree->root = child;
			continue;
		}
		add_edge(edge++, form, child, ids);
		ids += 2 * (size_t)form->channels;
	}
	trees->count++;
}

void ft_nccl_trees_free(struct ft_nccl_trees *trees)
{
	free(trees->edges);
	free(trees->ids);
	*trees = (struct ft_nccl_trees){ 0 };
}
