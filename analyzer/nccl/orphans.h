#pragma once

#include "answer.h"

/*
 * Orphans: packets of a write whose first packet was missed. Those in sequence are counted until the message's immediate tells how
 * long it is, and so where it began. Which were there is remembered in rows: orphan_rows.h. That they may be of a message more than
 * are listed: unlisted.h.
 */

/* One more such packet. */
void ft_nccl_orphans_see(struct ft_nccl_moment *moment);

/* Likewise, but others came before it that are of behind it. */
void ft_nccl_orphans_see_late(const struct ft_nccl_moment *moment);

/* The immediate came, in the last packet or, `bare`, behind it: whether the packets are the lane's next message. */
bool ft_nccl_orphans_are_next(const struct ft_nccl_moment *moment, bool bare);

/* They are of this message, which lacks data on the lane so far. `is_whole`: but for what is missing in between. */
void ft_nccl_orphans_adopt(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			   bool is_whole);

/* The immediate came in their last packet: their message ends, or it is not known which that is. */
void ft_nccl_orphans_end(struct ft_nccl_moment *moment);

/* An empty write ends them, but of which message they are is not known. False: it ends none. */
bool ft_nccl_orphans_pass_end(struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer);
