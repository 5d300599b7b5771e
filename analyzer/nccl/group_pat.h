#pragma once

#include <nccl/model.h>

#include "group_ring.h"
#include "operation_tracks.h"

/*
 * The connections of PAT, NCCL's all-gather and reduce-scatter over powers of two (docs/nccl.md, PAT): of processes
 * whose ranks are known, one of each node. Reduce-scatter goes from each rank to those 1, 2, 4 .. further on, all-gather to
 * those as far back; the distances of one of them at least are all there, of the other all or none, on as many channels.
 * The ring has connections to the next rank on its channels, maybe more; those of NCCL's trees are among these. All
 * connections must be explained by that, and receivers offer what they offer where a collective takes a step.
 */
enum { FT_NCCL_PAT_LEAST = 3 }; /* members: of two it is a ring */

struct ft_nccl_pat {
	uint32_t channels; /* 0: it is nothing of this kind */
	struct ft_nccl_distance *distances;
	size_t count;
	/* of each channel places in edges->at: the distances it has, in their order, of each by sender */
	uint32_t *at;
	size_t *ends; /* where those of each channel end in `at` */
};

/* `tracks`: of all connections. 0 or -ENOMEM. Free in any case; `distances` may be taken and set to NULL. */
int ft_nccl_members_pat(struct ft_nccl_pat *pat, const struct ft_nccl_edges *edges,
			const struct ft_nccl_tracks *tracks);
void ft_nccl_pat_free(struct ft_nccl_pat *pat); /* all zero is fine */

/* To reach `ranks` members by steps of powers of two takes so many different ones. */
uint32_t ft_nccl_pat_dimensions(uint32_t ranks);

/* How far on the peer in dimension `dimension` is. */
uint32_t ft_nccl_pat_distance(bool gathers, uint32_t dimension, uint32_t ranks);
