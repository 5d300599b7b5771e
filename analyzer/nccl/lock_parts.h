#pragma once

#include <decode/nccl.h>

#include "lock.h"

/* What the files that find connections without a set-up share. */

/* A write that may be a clear-to-send. */
struct ft_nccl_look {
	struct ft_nccl_seen seen;
	struct ft_nccl_fits fits;
};

/* False: it is none of any family. */
bool ft_nccl_look_at(const struct ft_nccl_seen *seen, struct ft_nccl_look *look);

/*
 * The stranger has clear-to-sends of a new connection, of one of these families (bits), from this frame on: follow it, with
 * all that was kept of it and of those that answer.
 */
void ft_nccl_lock_content(struct ft_nccl_connections *connections,
			  struct ft_nccl_stranger *stranger, uint8_t families, uint64_t frame,
			  uint64_t ts_ns);

/*
 * lock_lone.c: one clear-to-send alone shows a connection once data has come to where it asked for it, with its key, and
 * ended with its length: `seen`, the newest packet of `answer`. Of layouts whose FIFO has a fixed number of slots, so that
 * it is known where it begins. False: it shows none.
 */
bool ft_nccl_lock_lone(struct ft_nccl_connections *connections,
		       const struct ft_nccl_stranger *answer, const struct ft_nccl_seen *seen);
