#pragma once

#include "operation_list.h"

/*
 * All-gather and reduce-scatter by PAT, one channel at a time (docs/nccl.md, PAT). Block s of a rank is
 * that of the member s ranks away; it goes there in steps of the bits of s: of an all-gather from the highest one on,
 * towards lower ranks, of a reduce-scatter from the lowest one on, towards higher ones. So the connection for bit i
 * carries the blocks whose lowest bit that is, and that for the highest bit one: the size that was given to NCCL. Members
 * are alike. Of long blocks chunks go one after the other, of short ones several share a message; then a reduce-scatter
 * may have room in it for those that there would be of a power of two of ranks.
 */
enum { FT_NCCL_PAT_PLACES = 64 }; /* distances at most */

struct ft_nccl_pat_tracks {
	const struct ft_nccl_track **tracks; /* by distance, of each by sender */
	size_t *at;                          /* the next message of each */
	const struct ft_nccl_distance *distances;
	size_t distance_count;
	uint32_t ranks;   /* FT_NCCL_PAT_LEAST at least */
	uint32_t channel; /* it has the distances that are on more channels than that */
	/* the tree of this channel, or NULL, and room for its edges, up and down */
	const struct ft_nccl_tree *tree;
	const struct ft_nccl_track **tree_tracks;
	size_t *tree_at;
};

/* Where the tracks of a distance are, by distances that the channel has; SIZE_MAX: it has no such one. */
size_t ft_nccl_pat_place(const struct ft_nccl_pat_tracks *pat, uint32_t distance);

/* Messages of an operation, by distance; 0: it does not use them. */
struct ft_nccl_pat_lengths {
	size_t of[FT_NCCL_PAT_PLACES];
};

/*
 * The next operation, of which everything was seen, if it is an all-gather, or a reduce-scatter: all members have the messages
 * that it takes, none of another operation in between, and nobody sent on what he did not have. Fills both; false: it is not.
 */
bool ft_nccl_pat_recognize(const struct ft_nccl_pat_tracks *pat, bool gathers,
			   struct ft_nccl_collective *row, struct ft_nccl_pat_lengths *lengths);

/* All operations of the channel, those of its ring and its tree included; from pat->at on, which is at the end then. */
void ft_nccl_pat_operations(struct ft_nccl_operations *operations, struct ft_nccl_pat_tracks *pat);
