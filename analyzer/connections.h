#pragma once

#include <control/connection_setup.h>
#include <flow/table.h>
#include <flow/tracker.h>

/*
 * Connections as communication management sets them up: a REQ names the queue pair of one end, the REP
 * that answers it that of the other. One for each engine, because both pass between the same two
 * addresses. Holds the newest 4096 REQs that came within the last two minutes; memory is taken once.
 */
struct ft_connections;

/* 0 or -ENOMEM. `seed` changes no result. */
int ft_connections_create(struct ft_connections **connections, uint64_t seed);
void ft_connections_destroy(struct ft_connections *connections); /* NULL is fine */

/*
 * A message between `key->src` and `key->dst`, in capture order, no copy. A REP that answers a REQ
 * tells the tracker which halves belong together. A connection between other addresses than those
 * that carried its messages is passed over: anybody could name them.
 */
void ft_connections_see(struct ft_connections *connections, const struct ft_connection_setup *setup,
			const struct ft_flow_key *key, uint64_t ts_ns, struct ft_tracker *tracker);
