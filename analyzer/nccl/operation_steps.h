#pragma once

#include "operation_list.h"

/* Sizes of NCCL's defaults (src/include/device.h, src/graph/tuning.cc), where they tell operations apart. */
enum {
	FT_NCCL_SLICE_OFFERED = 1048576, /* by a ring's receiver for a slice of SIMPLE: two steps */
	FT_NCCL_CHUNK = 2097152,         /* two slices */
	FT_NCCL_STEP_OFFERED = 524288,   /* by all others, for SIMPLE */
};

/* What a full message of lines has, if the receivers offered a step of NCCL or RCCL; 0: they did not. */
uint64_t ft_nccl_step_of_lines(const struct ft_nccl_stretch *sum);

/* The receivers offered what those of a ring do, so that full chunks are known. */
bool ft_nccl_has_ring_steps(const struct ft_nccl_stretch *sum);

/* The receivers offered what those of a collective do, not of a ring's SIMPLE. */
bool ft_nccl_is_step(const struct ft_nccl_stretch *sum);

/* No message of a track was offered other room than that, as far as it is known. */
bool ft_nccl_are_steps(const struct ft_nccl_track *track);

/* A step of SIMPLE as only a collective takes it, and not over a ring. NULL is none. */
bool ft_nccl_is_simple_step(const struct ft_nccl_message *message);

/* Some message of a track was one. */
bool ft_nccl_has_simple_step(const struct ft_nccl_track *track);

/* Some was a slice of SIMPLE, as only a ring takes it. */
bool ft_nccl_has_slice(const struct ft_nccl_track *track);

/* No other room than a step, or a ring's slice. */
bool ft_nccl_are_steps_or_slices(const struct ft_nccl_track *track);

/*
 * Messages are as sends and receives cut them, or nobody knows what was offered. Between two they may follow each other
 * as in a ring by accident, among more only short ones may.
 */
bool ft_nccl_may_be_sends(const struct ft_nccl_stretch *sum, uint32_t ranks);
bool ft_nccl_are_sends(const struct ft_nccl_stretch *sum); /* as nothing else does */

/* Room was offered as only those of sends and receives do, and none as only collectives take. */
bool ft_nccl_is_of_sends(const struct ft_nccl_track *track);

/*
 * The size given to NCCL, of which `passes` times the data of all chunks were sent, in parts of one of `shares`. Lines do
 * not tell where data ends: then it is told how little and how much it can be.
 */
void ft_nccl_tell_bytes(struct ft_nccl_collective *row, const struct ft_nccl_stretch *sum,
			uint64_t passes, uint64_t shares);
