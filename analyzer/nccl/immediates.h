#pragma once

#include "followed.h"

/* Longer messages are sent in two writes where adaptive routing is on. */
enum { FT_NCCL_ADAPTIVE_LENGTH = 8192 };

/* The immediate of a message was seen, with what was written so far: what its number means, and which releases do so. */
void ft_nccl_immediate_learn(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);

/* It is known elsewhere which byte orders its number has. */
void ft_nccl_immediate_narrow(struct ft_nccl_followed *followed, uint8_t orders);
