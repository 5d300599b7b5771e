#pragma once

#include "followed.h"

/* What set-ups tell of connections: learn.c of new ones, late_setup.c of those that clear-to-sends have shown before. */

/*
 * Where packets of this device will be seen: by LID on InfiniBand, by GID on RoCE, and where its peer is in another subnet
 * of InfiniBand, so that they have global headers.
 */
struct ft_nccl_place ft_nccl_place_of(const struct ft_nccl_device *device,
				      const struct ft_nccl_device *peer);

/* Both parties with their queue pairs, the FIFO, and how many there are. `used`: queue pairs that carried something. */
void ft_nccl_setup_fill(struct ft_nccl_followed *followed, const struct ft_nccl_exchange *exchange,
			uint8_t used);
void ft_nccl_setup_sizes(struct ft_nccl_connection *model, const struct ft_nccl_metadata *receiver);

/* Of a connection that clear-to-sends have shown: families, releases and slots of the FIFO that metadata of this form leaves. */
void ft_nccl_setup_narrow(struct ft_nccl_followed *followed, const struct ft_nccl_form *form);

/* Metadata of old releases names more queue pairs than one of each device: these may be none. */
bool ft_nccl_setup_is_unsure(const struct ft_nccl_exchange *exchange);

/* A new connection, with so many queue pairs, which nobody else has from now on. */
void ft_nccl_setup_begin(struct ft_nccl_connections *connections,
			 const struct ft_nccl_exchange *exchange, uint8_t count);

/* Messages are counted from the first on. */
void ft_nccl_setup_count(struct ft_nccl_followed *followed,
			 const struct ft_nccl_exchange *exchange);

/* Packets to this end of a lane are the connection's, and none elsewhere. 0 or -ENOMEM. */
int ft_nccl_setup_claim(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			uint16_t vlan, uint8_t lane, enum ft_nccl_role role);

/* late_setup.c: what went to its queue pairs before they were known to be, from this frame on, is its own. */
void ft_nccl_setup_catch_up(struct ft_nccl_connections *connections,
			    const struct ft_nccl_followed *followed, uint64_t from);

/*
 * late_setup.c: the connection was seen before its set-up was read, as it happens when ports are merged: what the set-up says
 * is added, with so many queue pairs. False: it is a new one.
 */
bool ft_nccl_setup_late(struct ft_nccl_connections *connections,
			const struct ft_nccl_exchange *exchange, uint8_t count);
