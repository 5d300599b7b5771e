#pragma once

#include <nccl/model.h>

#include "operation_tracks.h"

/* What the operations of a ring's channel say of a connection's. */
struct ft_nccl_loops {
	uint32_t ranks; /* as loops show them; 0: none do; FT_NCCL_NONE: they disagree */
	bool silent;    /* those of other channels show that, its own none */
	bool refuted;   /* its messages do not wait for those of the others: it is no ring */
};

/*
 * Operations that messages make up, as far as order and volumes tell: docs/nccl.md. Of a ring with channels, and of
 * trees, collectives; else what a connection was asked for without a pause in between. The array is for the caller to
 * free. 0 or -ENOMEM.
 */
struct ft_nccl_operations_input {
	struct ft_nccl_connection *const *connections;
	size_t connection_count;
	const struct ft_nccl_tracks *tracks;
	/* channels of rings in the order of the ring */
	const struct ft_nccl_communicator *communicators;
	size_t communicator_count;
	struct ft_nccl_loops *loops; /* out, by place of the connection */
};
int ft_nccl_operations_make(struct ft_nccl_collective **rows, size_t *count,
			    const struct ft_nccl_operations_input *input);
