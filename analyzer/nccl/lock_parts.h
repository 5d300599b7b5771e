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

/* What writes to one queue pair agree on as clear-to-sends of one connection. */
struct ft_nccl_agreement {
	uint8_t families; /* bits 1 << family; 0: they do not agree */
	uint16_t
		slot_bytes; /* from slot to slot, where no release has them so; 0: as the families have it */
	uint64_t frame, ts_ns; /* of the first that agrees */
};

/* lock_agree.c: the newest write of a queue pair, and those of its log before it. */
struct ft_nccl_agreement ft_nccl_agreement_of(const struct ft_nccl_log *log,
					      const struct ft_nccl_look *newest);

/*
 * The stranger has clear-to-sends of a new connection, on which they agree: follow it, with all that was kept of it since and
 * of those that answer.
 */
void ft_nccl_lock_content(struct ft_nccl_connections *connections,
			  struct ft_nccl_stranger *stranger,
			  const struct ft_nccl_agreement *agreement);

/*
 * lock_lone.c: one clear-to-send alone shows a connection once data has come to where it asked for it, with its key, and
 * ended with its length: `seen`, the newest packet of `answer`. Of layouts whose FIFO has a fixed number of slots, so that
 * it is known where it begins. False: it shows none.
 */
bool ft_nccl_lock_lone(struct ft_nccl_connections *connections,
		       const struct ft_nccl_stranger *answer, const struct ft_nccl_seen *seen);
