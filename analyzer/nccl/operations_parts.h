#pragma once

#include "operation_ring.h"
#include "operations.h"

/* What makes the operations of all communicators, one after the other: operations.c. */
struct ft_nccl_operations_maker {
	const struct ft_nccl_operations_input *input;
	struct ft_nccl_id *ids;
	/* room for all connections */
	const struct ft_nccl_track **ring_tracks, **tree_tracks;
	size_t *ring_at, *tree_at;
	uint32_t *shared;
	bool *is_shared;
	bool *told;      /* by place of the connection: it is in a ring or a tree */
	bool has_others; /* something passed between hosts that is in no ring of theirs */
	const struct ft_nccl_channel **channels;
	struct ft_nccl_operations operations;
};

/* --- operations_circles.c: rings and trees, by their connections' ids; and what is in neither --- */

const struct ft_nccl_track *ft_nccl_maker_track(const struct ft_nccl_operations_maker *maker,
						uint32_t connection);

/* A ring in its order, and one channel of a tree, its connections up and down, edge by edge: in the maker's memory for either. */
struct ft_nccl_circle ft_nccl_maker_ring(struct ft_nccl_operations_maker *maker,
					 const struct ft_nccl_communicator *communicator,
					 const struct ft_nccl_channel *channel);
struct ft_nccl_circle ft_nccl_maker_tree(struct ft_nccl_operations_maker *maker,
					 const struct ft_nccl_communicator *communicator,
					 const struct ft_nccl_tree *tree, uint32_t channel);

/* Some clear-to-send was seen on all of its connections. */
bool ft_nccl_circle_is_asked(const struct ft_nccl_circle *circle);
size_t ft_nccl_circle_messages(const struct ft_nccl_circle *circle);

/* Its connections are told with it; whether some were told with another one. */
void ft_nccl_maker_tell(struct ft_nccl_operations_maker *maker,
			const struct ft_nccl_circle *circle);
bool ft_nccl_maker_is_told(const struct ft_nccl_operations_maker *maker,
			   const struct ft_nccl_circle *circle);

/* Its operations. Where nobody knows of some connections where operations end, all is told as one; of all, nothing is. */
void ft_nccl_maker_add_alone(struct ft_nccl_operations_maker *maker, struct ft_nccl_circle circle);

/* Each by itself, as pauses divide it; of all, or of those that were not told. */
void ft_nccl_maker_add_connections(struct ft_nccl_operations_maker *maker,
				   const uint32_t *connections, size_t count);
void ft_nccl_maker_add_untold(struct ft_nccl_operations_maker *maker, const uint32_t *connections,
			      size_t count);

/* --- operations_rings.c --- */

/* How many ranks there are: all rings of a communicator see the same operations. Before any is added. */
void ft_nccl_maker_poll_rings(struct ft_nccl_operations_maker *maker,
			      const struct ft_nccl_communicator *communicator);

/* The operations of a ring's channel, and of the tree beside it. */
void ft_nccl_maker_add_ring(struct ft_nccl_operations_maker *maker,
			    const struct ft_nccl_communicator *communicator,
			    const struct ft_nccl_channel *channel);
