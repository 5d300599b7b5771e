#pragma once

#include "followed.h"

/* Longer messages are sent in two writes where adaptive routing is on. */
enum { FT_NCCL_ADAPTIVE_LENGTH = 8192 };

/* The immediate of a message was seen, with what was written so far: what its number means, and which releases do so. */
void ft_nccl_immediate_learn(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);

/*
 * A message of several requests ends with a write of as many sizes to memory that none of them is: where the array of sizes
 * is and how it is laid out, if no set-up has told.
 */
void ft_nccl_sizes_place(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			 uint64_t k);

/* The sizes of a message of several requests were written. */
void ft_nccl_sizes_learn(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);
