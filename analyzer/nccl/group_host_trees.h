#pragma once

#include "group_ring.h"
#include "group_tree_list.h"
#include "operation_tracks.h"

/*
 * NCCL's trees between hosts that have several ranks each (docs/nccl.md, Trees): hosts in the order of their
 * ranks are the nodes. Of a host one process has the connections to its parent, and it or another one those to its
 * children. Which connections are of one channel nothing tells but messages: sums go on when they have come in, and all are
 * as long. Nothing passes over connections that a job has, but does not use: these are left out.
 *
 * `edges`: connections of one part of the rails (group_rails.h), without those of a ring that no step passed over; ends are
 * the rail's. Those of trees come to the front, channel by channel, of each the edges with their connections up and down;
 * edges->count is how many these are, 0 if there are none. Those in none come behind them. The trees are added to *trees,
 * which has room for one for every two of the connections, and for all their edges; trees->doubtful is set if messages do
 * not tell for sure which connections are of one channel. 0 or -ENOMEM.
 */
int ft_nccl_hosts_trees(struct ft_nccl_trees *trees, struct ft_nccl_edges *edges,
			const struct ft_nccl_tracks *tracks);
