#pragma once

#include "answer.h"

/* A write behind a hole: whether it is of the message that is under way, or ends it. */

/* Packets were missed between what the queue pair had of the message and this one. */
bool ft_nccl_is_apart(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open);

/*
 * Behind a hole, or behind packets whose first one it took: the end of a message of one request comes right behind its data,
 * or it is another one's. Of a shared message its length tells.
 */
bool ft_nccl_is_another_end(const struct ft_nccl_moment *moment,
			    const struct ft_nccl_transfer *open);

/* Of several requests the last ones may be missing, or the end and other messages: then *answer is in doubt. */
void ft_nccl_doubt_end(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open,
		       struct ft_nccl_answer *answer);

/* Likewise of a write to one of its requests, where the hole has room for the rest of it and the beginning of another one. */
void ft_nccl_doubt_write(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open,
			 struct ft_nccl_answer *answer);
