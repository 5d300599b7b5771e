#pragma once

#include <stddef.h>

#include <nccl/model.h>

/* The trees of a communicator, and what they point to. */
struct ft_nccl_trees {
	struct ft_nccl_tree *at;
	size_t count;  /* 0: none */
	bool doubtful; /* connections may be of other channels than it says */
	struct ft_nccl_tree_edge *edges;
	uint32_t *ids; /* of connections */
};

/* How a tree is put together. */
struct ft_nccl_tree_form {
	uint32_t number; /* of NCCL's two; FT_NCCL_NONE: not known */
	uint32_t members, channels;
	const uint32_t *parents; /* of each member; FT_NCCL_NONE: of the root */
	/* the connection between neighbours on one of its channels: its id */
	uint32_t (*id)(const void *context, uint32_t channel, uint32_t from, uint32_t to);
	/* where members here are hosts: the one of the communicator that sends from one to the other; NULL: they are its own */
	uint32_t (*member)(const void *context, uint32_t from, uint32_t to);
	const void *context;
};

/* Room for so many trees, which have so many edges together, over so many connections each way. 0 or -ENOMEM; free in any case. */
int ft_nccl_trees_reserve(struct ft_nccl_trees *trees, size_t most, size_t edges,
			  size_t connections);
void ft_nccl_trees_add(struct ft_nccl_trees *trees, const struct ft_nccl_tree_form *form);
void ft_nccl_trees_free(struct ft_nccl_trees *trees); /* all zero is fine */
