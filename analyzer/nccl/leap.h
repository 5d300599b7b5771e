#pragma once

#include "followed.h"

/*
 * A write a few PSNs ahead of its queue pair: it has overtaken others, or those before it were missed; or it is forged, to where data
 * was asked for. Then the sequence fills the hole, packet by packet, and has another one in its place: a write that goes on there, or
 * another that begins. Who has filled the hole is the sender, and the one that was ahead is told.
 */

/* A write is taken that leaves a hole; before the sequence has moved. */
void ft_nccl_leap_begin(struct ft_nccl_moment *moment);

/* A packet of data, before it is taken: in the hole, in the place of the write, or elsewhere. */
void ft_nccl_leap_see(struct ft_nccl_moment *moment);
