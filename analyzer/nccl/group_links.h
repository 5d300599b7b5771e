#pragma once

#include "group_ring.h"

/* Connections from one process to another, in the order in which both sides made them: that of their channels. */
struct ft_nccl_link {
	const struct ft_nccl_connection *connection;
	uint32_t at;   /* its place in the list */
	uint32_t from; /* who sends, and .. */
	uint32_t to;   /* .. who receives, as the caller numbers them */
	uint64_t made; /* when, by set-up or queue pair */
};

/* All set-ups are in the capture; else queue pairs tell the order. */
bool ft_nccl_links_have_setups(const struct ft_nccl_edges *edges);

/* All members have one, each its own: they are in its order. */
bool ft_nccl_edges_have_ranks(const struct ft_nccl_edges *edges);

/* When a connection was made, by its set-up, or by its sender's queue pair. */
uint64_t ft_nccl_link_made(const struct ft_nccl_connection *connection, bool by_setup);

/* Without `from` and `to`. */
struct ft_nccl_link ft_nccl_link_of(const struct ft_nccl_edges *edges, size_t i, bool by_setup);

/* Of two between the same processes: both sides made the first one first. */
bool ft_nccl_links_are_in_order(const struct ft_nccl_link *a, const struct ft_nccl_link *b,
				bool by_setup);
