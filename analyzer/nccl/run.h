#pragma once

#include "followed.h"

/*
 * The way of nearly every packet: one in the middle of a write, to a queue pair that had packets of late. Which those are
 * is remembered by place and number, a few hundred, until any queue pair changes hands.
 */

/* True: the packet was the next of its write, and was counted. */
bool ft_nccl_run_on(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen);

/* Packets as `seen` go to this lane of a connection. */
void ft_nccl_run_note(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen,
		      uint32_t connection, uint8_t lane);
