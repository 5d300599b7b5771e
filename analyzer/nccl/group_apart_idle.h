#pragma once

#include "group_apart_parts.h"

/*
 * Connections that were set up, and that nothing passed over: nothing but the order of set-ups tells whose they are. NCCL
 * makes the rings of a communicator before all else, the first channel's first on each way, and that channel takes part in
 * all it does.
 */

bool ft_nccl_cluster_is_idle(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *cluster);

/* It is one such connection, which the communicator that a ring in use is of cannot have: it was there before the ring. */
bool ft_nccl_idle_is_before(const struct ft_nccl_apart_finder *finder,
			    const struct ft_nccl_cluster *cluster,
			    const struct ft_nccl_cluster *ring);
