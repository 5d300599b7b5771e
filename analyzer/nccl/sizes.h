#pragma once

#include "followed.h"

/* Writes to the receiver's array of sizes: a message of several requests ends with one. */
enum { FT_NCCL_SIZE_BYTES = 4 /* of each request */ };

/* The slot of the array that is written to; -1: it is no write to it, as far as it is known. */
int64_t ft_nccl_sizes_slot(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_seen *seen);

/* The end of a message of several requests that is under way, to an array that no set-up told of. */
bool ft_nccl_is_sizes(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open);

/*
 * It looks like the end of a message of several requests of which nothing else was seen: sizes, to memory that no
 * clear-to-send gave a key of. A message of as many bytes would have them as its immediate.
 */
bool ft_nccl_is_lone_sizes(const struct ft_nccl_moment *moment);

/* How many requests a write to the array has sizes of, at least 1. */
uint32_t ft_nccl_sizes_count(const struct ft_nccl_seen *seen);

/* The message's sizes were written: what they are, and where the array is and how it is laid out, if no set-up told. */
void ft_nccl_sizes_take(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);
