#pragma once

#include <nccl/follower.h>
#include <nccl/shown.h>

#include "queue_pairs.h"
#include "side_channel.h"

/*
 * Connections and their messages: learnt from set-ups over TCP, from clear-to-sends, or, when payload is cut or
 * encrypted, from lengths and addresses alone. The heart of the follower.
 */
struct ft_nccl_connections;

/* 0 or -ENOMEM. The queue pairs must outlive it. */
int ft_nccl_connections_create(struct ft_nccl_connections **connections,
			       const struct ft_nccl_config *config, struct ft_nccl_qps *qps,
			       const struct ft_nccl_sink *sink);
void ft_nccl_connections_destroy(struct ft_nccl_connections *connections); /* NULL is fine */

/* One was seen in this VLAN, and in another one. */
bool ft_nccl_connections_cross(const struct ft_nccl_connections *connections, uint16_t vlan);

void ft_nccl_connections_learn(struct ft_nccl_connections *connections,
			       const struct ft_nccl_exchange *exchange);

/* A set-up that cannot be read: who it is of may have been found by its clear-to-sends, or is so later. */
void ft_nccl_connections_learn_cut(struct ft_nccl_connections *connections,
				   const struct ft_nccl_cut_exchange *exchange);

/* global_names.c: see ft_nccl_follower_name(). */
void ft_nccl_connections_name(struct ft_nccl_connections *connections,
			      const struct ft_nccl_seen *seen);

/* `qp`: what the packet was sent to; NULL: not kept. */
void ft_nccl_connections_see(struct ft_nccl_connections *connections,
			     const struct ft_nccl_seen *seen, struct ft_nccl_qp *qp);

/* See ft_nccl_follower_way(). */
struct ft_nccl_way ft_nccl_connections_way(struct ft_nccl_connections *connections);

/* What the packet seen last is; false: nothing of NCCL's framing. */
bool ft_nccl_connections_shown(const struct ft_nccl_connections *connections,
			       const struct ft_nccl_seen *seen, struct ft_nccl_shown *shown);

/* Whether packets are known to be missing that need not be of a connection, or would not be shown: for the next report. */
void ft_nccl_connections_set_lossy(struct ft_nccl_connections *connections, bool is_lossy);

/* See ft_nccl_follower_settle(). */
void ft_nccl_connections_settle(struct ft_nccl_connections *connections);

/* One is known, or is to come: a set-up was read, whatever the capture cut off it. */
bool ft_nccl_connections_are_met(const struct ft_nccl_connections *connections);

/* NULL: there are not so many. */
const struct ft_nccl_connection *ft_nccl_connections_get(
	const struct ft_nccl_connections *connections, uint32_t id);

/*
 * For a report: connections in order of first frame, not those that were given up as none; messages kept, those under
 * way among them. Both belong to `connections` and hold until the next call of any of its functions. -ENOMEM or 0.
 */
struct ft_nccl_kept {
	struct ft_nccl_connection **connections;
	size_t connection_count;
	struct ft_nccl_message *messages;
	size_t message_count;
	uint64_t connections_dropped, messages_dropped;
};
int ft_nccl_connections_keep(struct ft_nccl_connections *connections, struct ft_nccl_kept *kept);
