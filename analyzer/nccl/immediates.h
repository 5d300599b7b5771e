#pragma once

#include "followed.h"

/* The immediate of a message was seen, with what was written so far: what its number means, and which releases do so. */
void ft_nccl_immediate_learn(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);

/* The sizes of a message of several requests were written. */
void ft_nccl_sizes_learn(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);
