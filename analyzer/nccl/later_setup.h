#pragma once

#include "followed.h"

/*
 * Set-ups that name queue pairs of a connection that is followed. A later job's is one: its connection begins where the earlier one
 * was. Whoever sends the bytes of a set-up again, from wherever, makes one that looks the same, and the connection goes on. So it
 * waits for packets that are the new connection's and not the earlier one's, and is forgotten once that one has gone on.
 */

/*
 * True: it waits, as one of these queue pairs is another connection's. False: it is for the caller to take, also where so many wait
 * that there is no room.
 */
bool ft_nccl_later_setup_waits(struct ft_nccl_connections *connections,
			       const struct ft_nccl_exchange *exchange, uint8_t count);

/*
 * A packet, and the end that it was sent to, NULL: none. True: it is the first one of a connection whose set-up waited, and which
 * has its queue pairs now; ends have moved.
 */
bool ft_nccl_later_setup_see(struct ft_nccl_connections *connections,
			     const struct ft_nccl_seen *seen, const struct ft_nccl_end *end);

void ft_nccl_later_setups_free(struct ft_nccl_connections *connections);
