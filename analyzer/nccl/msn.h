#pragma once

#include "followed.h"

/*
 * Which message data is of, by the MSN of the receiver's ACKs, which counts the requests that are complete (IBA vol. 1,
 * 9.7.5.1). A plain message is one request, whatever was missed, and in whichever order taps show the two directions.
 */

/* An ACK of data. */
void ft_nccl_msn_acknowledge(const struct ft_nccl_moment *moment);

/* A packet of data, after it was taken: an ACK that passed before may be of the message that ends with it. */
void ft_nccl_msn_see(const struct ft_nccl_moment *moment);
