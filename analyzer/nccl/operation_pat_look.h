#pragma once

#include "operation_pat.h"

/* What was tried as an operation: which messages of which tracks it would have, and of which size. */
enum { FT_NCCL_PAT_DIMENSIONS = 32 };

struct ft_nccl_pat_look {
	const struct ft_nccl_pat_tracks *pat;
	bool gathers;
	bool padded; /* a message has room for blocks that do not exist */
	uint32_t dimensions, ranks;
	size_t loops;                          /* chunks of a block */
	size_t place[FT_NCCL_PAT_DIMENSIONS];  /* of its distance */
	size_t length[FT_NCCL_PAT_DIMENSIONS]; /* messages */
};

static inline size_t ft_nccl_pat_track(const struct ft_nccl_pat_look *look, uint32_t dimension,
				       uint32_t rank)
{
	return look->place[dimension] * look->ranks + rank;
}

/* NULL: it is missing. */
static inline const struct ft_nccl_message *ft_nccl_pat_message(const struct ft_nccl_pat_look *look,
								uint32_t dimension, uint32_t rank,
								size_t i)
{
	const size_t at = ft_nccl_pat_track(look, dimension, rank);
	const struct ft_nccl_track *track = look->pat->tracks[at];

	i += look->pat->at[at];
	return i < track->count && track->messages[i] != NULL &&
			       track->messages[i]->first_frame != 0
		       ? track->messages[i]
		       : NULL;
}

static inline uint64_t ft_nccl_pat_bytes(const struct ft_nccl_pat_look *look, uint32_t dimension,
					 uint32_t rank, size_t i)
{
	const struct ft_nccl_message *message = ft_nccl_pat_message(look, dimension, rank, i);

	return message != NULL ? ft_nccl_message_bytes(message) : 0;
}

/* Of a block, in this loop: all that goes over the connection for the highest bit. */
static inline uint64_t ft_nccl_pat_unit(const struct ft_nccl_pat_look *look, size_t loop)
{
	return ft_nccl_pat_bytes(look, look->dimensions - 1, 0, loop);
}

/* Odd multiples of a power of two, up to `most`. */
static inline size_t ft_nccl_pat_odd(uint32_t bit, uint32_t most)
{
	return ((uint64_t)most + (UINT64_C(1) << bit)) >> (bit + 1);
}

/* operation_pat_order.c: members asked for the messages as they do for this, and none sent on what had not come to it. */
bool ft_nccl_pat_follows(const struct ft_nccl_pat_look *look);

/* operation_pat_order.c: a member begins nothing else before it has sent all of this; `places`: distances of the channel. */
bool ft_nccl_pat_is_undisturbed(const struct ft_nccl_pat_look *look, size_t places);
