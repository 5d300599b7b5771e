#pragma once

#include <nccl/model.h>

#include "group_lanes.h"

/* The trees of a communicator, up to NCCL's two, and what they point to. */
struct ft_nccl_trees {
	struct ft_nccl_tree at[2];
	size_t count; /* 0: none */
	struct ft_nccl_tree_edge *edges;
	uint32_t *ids; /* of connections */
};

/* How a tree is put together. */
struct ft_nccl_tree_form {
	uint32_t number; /* of NCCL's two; FT_NCCL_NONE: not known */
	uint32_t members, channels;
	const uint32_t *parents; /* of each member; FT_NCCL_NONE: of the root */
	/* the connection between neighbours on one of its channels */
	const struct ft_nccl_lane *(*lane)(const void *context, uint32_t channel, uint32_t from,
					   uint32_t to);
	const void *context;
};

/* Room for two trees of so many members, over so many connections each. 0 or -ENOMEM; free in any case. */
int ft_nccl_trees_reserve(struct ft_nccl_trees *trees, size_t members, size_t connections);
void ft_nccl_trees_add(struct ft_nccl_trees *trees, const struct ft_nccl_tree_form *form);
void ft_nccl_trees_free(struct ft_nccl_trees *trees); /* all zero is fine */
