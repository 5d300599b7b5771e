#pragma once

#include "followed.h"

/*
 * Whether packets pass here in the order in which they were sent: taps on several ports may show one direction, or one
 * queue pair, later than another one.
 */

/* An ACK of data, or of clear-to-sends where data goes. */
void ft_nccl_order_acknowledge(const struct ft_nccl_moment *moment, bool is_data);

/*
 * A write begins, of which `acked` says how far they were acknowledged. One that was before it passed may have been answered,
 * and its buffer offered anew, by then.
 */
void ft_nccl_order_see(const struct ft_nccl_moment *moment, const struct ft_nccl_acked *acked);

/* It followed the one before without a hole, and that one had passed before it was asked for. */
bool ft_nccl_order_refutes(const struct ft_nccl_moment *moment, uint64_t k);
