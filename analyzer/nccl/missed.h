#pragma once

#include "followed.h"

/* What was missed of a message that is not complete: what its immediate and its sizes tell of it, and what is not known then. */

/*
 * Before 2.20 the immediate of several requests says which are not empty. Where nobody was seen to ask for them, all of the message
 * was seen on the only queue pair, and what was written is what the immediate says, each range is a request. True if so: it is
 * in `message`, the transfer's.
 */
bool ft_nccl_ranges_settle(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer,
			   struct ft_nccl_message *message);

/* Its requests, as far as they are known. */
void ft_nccl_missed_settle(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer);

/*
 * What was missed, and its immediate or its sizes tell, counts as the connection's: where messages are told, whose sum it has
 * to be. `told`: bytes, as its rows tell.
 */
void ft_nccl_missed_count(struct ft_nccl_followed *followed, struct ft_nccl_transfer *transfer,
			  uint64_t told);
