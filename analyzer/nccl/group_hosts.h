#pragma once

#include "group_ring.h"
#include "operation_tracks.h"

/*
 * A ring of hosts, or of their sites, where several ranks of each send so that nobody knows who receives. Trees have
 * connections between the same hosts: those that nothing goes over are no part of it, and of the others those that have a
 * ring's slices are, where the rest has none: only a ring's receiver offers two steps.
 *
 * `edges`: of one rail. Those of the ring come to the front and edges->count is how many these are, 0 if there is none;
 * ends are the rail's. *ring is for the caller to free. 0, -ENOENT: they form none, and -ENOMEM.
 */
int ft_nccl_hosts_ring(struct ft_nccl_edges *edges, const struct ft_nccl_tracks *tracks,
		       uint32_t **ring);
