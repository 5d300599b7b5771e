#pragma once

#include "group_apart.h"
#include "group_pat_trees.h"
#include "operations.h"

/* What a report of groups points to. */
struct ft_nccl_groups_memory {
	struct ft_nccl_members members;
	struct ft_nccl_communicator *communicators;
	struct ft_nccl_channel *channels; /* at most one for each connection */
	uint32_t *
		ids; /* of communicators each connection once, of channels, rings and trees apart, twice */
	uint32_t **rings;            /* by communicator; NULL: none */
	struct ft_nccl_trees *trees; /* likewise */
	struct ft_nccl_distance **distances;
	struct ft_nccl_tracks tracks;
	struct ft_nccl_collective *collectives;
	struct ft_nccl_loops *loops; /* by place of the connection */
};

struct ft_nccl_groups_maker {
	struct ft_nccl_groups_memory *memory;
	const uint32_t *joined; /* rails that are one; NULL: not known yet */
	struct ft_nccl_apart apart;
	struct ft_nccl_tag *tags; /* by place */
	struct ft_nccl_connection **connections;
	size_t connection_count;
	uint32_t *order; /* places of connections, by component, in order of first frame */
	struct ft_nccl_channel *channel; /* the next one */
	uint32_t *id;                    /* the next one */
};

/* Communicator `id`, of these connections: its members, shape and channels. 0 or -ENOMEM. */
int ft_nccl_groups_add(struct ft_nccl_groups_maker *maker, struct ft_nccl_edges *edges,
		       uint32_t id);

/* The same of hosts that have several ranks each: rings and trees of them, rail by rail. 0 or -ENOMEM. */
int ft_nccl_groups_add_hosts(struct ft_nccl_groups_maker *maker,
			     struct ft_nccl_communicator *communicator,
			     const struct ft_nccl_edges *edges);
