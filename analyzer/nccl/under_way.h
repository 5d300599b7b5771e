#pragma once

#include "answer.h"

/* The message that a lane is at. */

bool ft_nccl_is_under_way(const struct ft_nccl_moment *moment,
			  const struct ft_nccl_transfer *transfer);

/* That which the packet is of, made if it is new; one whose number was a guess may make room. NULL: too old, or no memory. */
struct ft_nccl_transfer *ft_nccl_transfer_for(struct ft_nccl_moment *moment,
					      const struct ft_nccl_answer *answer);

/* The lane goes on to it. */
void ft_nccl_enter(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		   const struct ft_nccl_answer *answer);
