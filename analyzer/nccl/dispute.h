#pragma once

#include "followed.h"

/*
 * Two clear-to-sends for one message ask for different places, lengths or keys: one of the two is forged. The sender writes to
 * where one of them asks for it. That is the first where it took that, whoever sent it, so the second is told, as the receiver
 * drops it; but if it is the second, the first never got there, and is told. Where the data fits both, or none comes, both are.
 */

/* `second` is asked for now, another request than what the message has. Nothing is judged by either. */
void ft_nccl_dispute_begin(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			   const struct ft_nccl_request *second);

/* Data of the message begins. */
void ft_nccl_dispute_answer(const struct ft_nccl_moment *moment,
			    const struct ft_nccl_transfer *transfer);

/* The second one, as it was found, is none of another connection's: anew.h. */
void ft_nccl_dispute_confirm(struct ft_nccl_connections *connections,
			     const struct ft_nccl_found *second);

/* The capture ends: what has had no answer is told. */
void ft_nccl_dispute_settle(struct ft_nccl_connections *connections,
			    struct ft_nccl_followed *followed);
