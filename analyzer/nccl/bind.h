#pragma once

#include "anchor.h"
#include "lock.h"
#include "replay.h"

/* Queue pairs that become lanes of a connection: bind.c, one by one as they write; bind_all.c, those that wait for it. */

/*
 * No UDP port tells which queue pair the clear-to-sends go to, and where the capture begins later it may be another one. How
 * they take turns will, once a second message has come: of which nothing may be left of the first, if packets came twice or
 * out of order.
 */
bool ft_nccl_awaits_turn(struct ft_nccl_connections *connections,
			 const struct ft_nccl_followed *followed,
			 const struct ft_nccl_stranger *stranger,
			 const struct ft_nccl_anchor *anchor);

/*
 * Clear-to-sends take turns with devices that were not met: what those asked for is not known, nor where further queue
 * pairs belong. A few rounds show them all, unless the tap is at one of the ports.
 */
bool ft_nccl_awaits_device(const struct ft_nccl_followed *followed);

/*
 * bind_all.c: the lane has its data: what another address wrote to its queue pair since that began, before it was known, is told
 * once the connection goes on.
 */
void ft_nccl_bind_blame(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			uint8_t lane);

/* The stranger is the receiver's end of a lane, which is answered, from `anchor` on; below 0: there is no room for it. */
int ft_nccl_bind(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		 const struct ft_nccl_stranger *stranger, struct ft_nccl_anchor *anchor);

/*
 * Begin to go through what was kept of the lane's stranger, from this frame on. False: nothing was, and the lane goes on with
 * the write that has shown it.
 */
bool ft_nccl_bind_replay(struct ft_nccl_followed *followed, int lane,
			 struct ft_nccl_stranger *stranger, uint64_t frame,
			 struct ft_nccl_replay *replay);
