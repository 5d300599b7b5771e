#pragma once

#include "followed.h"

/*
 * Data whose operation cannot have its place in the sequence: a packet from behind the first of a write right behind the end of
 * a message, or as the first of all; amid a write, one that begins another, that ends it before its length is there, or that
 * does not end it where it is. A receiver takes none of these (IBA vol. 1, 9.7.4.1.2: the sequence of operations), so whoever
 * sent it is not the connection's, or something was missed that nothing shows: the packet that comes next tells.
 */
bool ft_nccl_is_misplaced(const struct ft_nccl_moment *moment, const struct ft_nccl_seen *seen);

/*
 * A write that begins amid the one under way: the transport goes on with that, as if it began, to where the packet of this PSN
 * goes; or where that is is not known.
 */
bool ft_nccl_may_resume(const struct ft_nccl_moment *moment);

/* `seen` has the PSN of data that is misplaced, and which is named if this is not. */
void ft_nccl_fault_misplaced(struct ft_nccl_moment *moment, const struct ft_nccl_seen *seen);
