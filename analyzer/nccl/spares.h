#pragma once

#include "followed.h"

/*
 * Queue pairs that a set-up names beside those of data, one per device, for when a port fails: the sender asks on one
 * what the receiver has heard of a message (2.29.7 and later), and both find out on another whether the port is back
 * (2.30). Sources: src/transport/net_ib/ of these releases; decode/nccl.h has the forms of their packets.
 */

struct ft_nccl_exchange;

/*
 * The connection has those of its set-up from now on; others that had them before lose them. What there is no memory for
 * is not seen.
 */
void ft_nccl_spares_claim(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed,
			  const struct ft_nccl_exchange *exchange);

/* A packet that is to no end of a connection: counted if it is to one of these, from the connection's other end. */
void ft_nccl_spares_see(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen);

/* What such a packet is, for ft_nccl_connections_shown(). False: none. */
bool ft_nccl_spares_shown(const struct ft_nccl_connections *connections,
			  const struct ft_nccl_seen *seen, struct ft_nccl_shown *shown);
