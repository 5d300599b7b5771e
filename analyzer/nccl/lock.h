#pragma once

#include "followed.h"

/* A packet to a queue pair that is nobody's: what it is may become clear by it. */
void ft_nccl_stranger_see(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen);

struct ft_nccl_replies;

/*
 * bind_all.c: a new connection: the queue pairs whose data it asked for are its own, and what they carried so far. Where what it
 * asked for cannot be read, those of `replies`, which is NULL otherwise.
 */
void ft_nccl_bind_all(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		      const struct ft_nccl_replies *replies);

/* The stranger's packets go from the sender to the receiver, on one of their devices. */
bool ft_nccl_is_between(const struct ft_nccl_followed *followed,
			const struct ft_nccl_stranger *stranger);

/* A write that went to memory some connection announced: its queue pair may be one of the connection. False: it is not. */
bool ft_nccl_bind_one(struct ft_nccl_connections *connections, struct ft_nccl_stranger *stranger,
		      const struct ft_nccl_seen *seen);

/* connections.c: packets of a log as if they came now, with their own frames and times. */
void ft_nccl_replay(struct ft_nccl_connections *connections, const struct ft_nccl_logged *logged);

/* pairing.c: a lane waits for its sender's end. */
void ft_nccl_await_pair(struct ft_nccl_connections *connections,
			const struct ft_nccl_followed *followed, uint8_t lane);

/* An answer to a queue pair that is nobody's may show that it is the sender's end of a lane. */
void ft_nccl_pair(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen);

/*
 * A write to a queue pair that answers alone have made the sender's end of a lane, which has no clear-to-sends: it is another
 * connection's. True: the lane waits for its end anew, and `end` is gone.
 */
bool ft_nccl_unpair(struct ft_nccl_connections *connections, struct ft_nccl_end *end,
		    const struct ft_nccl_seen *seen);
