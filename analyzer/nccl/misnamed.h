#pragma once

#include "followed.h"

/*
 * Whoever forges numbers of queue pairs into a set-up makes the connection's own ones look like somebody else's. What passes between
 * its two hosts outweighs what the set-up says: a queue pair that was named, and of which nothing was seen, may have another number.
 */

/* Nothing came on one of the queue pairs that data goes to. */
bool ft_nccl_lacks_data(const struct ft_nccl_followed *followed);

/* A write to what the connection announced, to none of its queue pairs: it may be the connection's own. */
bool ft_nccl_may_be_misnamed(const struct ft_nccl_followed *followed,
			     const struct ft_nccl_seen *seen);

/*
 * More was asked for than waits at a time, so that there was data, and none of it went where the set-up says, while the write of a
 * stranger between the two hosts fits one of these messages: from now on the connection is as if clear-to-sends had shown
 * it, and data that fits is bound to it.
 */
void ft_nccl_misnamed_see(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed,
			  const struct ft_nccl_stranger *stranger, const struct ft_nccl_seen *seen);
