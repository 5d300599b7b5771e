#pragma once

#include "group_apart_parts.h"

/* Two clusters, and what tells whether they can be one communicator's. */

size_t ft_nccl_clusters_common(const struct ft_nccl_cluster *a,
			       const struct ft_nccl_cluster *b); /* sites */

const struct ft_nccl_rhythm *ft_nccl_cluster_rhythm(const struct ft_nccl_apart_finder *finder,
						    const struct ft_nccl_cluster *cluster);

/* A rank is at one site of the ring, and in the cluster at another one of it: a ring leads through each host once. */
bool ft_nccl_clusters_ranks_differ(const struct ft_nccl_apart_finder *finder,
				   const struct ft_nccl_cluster *cluster,
				   const struct ft_nccl_cluster *ring);

/* The connection that goes the same way as this one; FT_NCCL_NONE: none does. */
uint32_t ft_nccl_cluster_find_beside(const struct ft_nccl_apart_finder *finder,
				     const struct ft_nccl_cluster *cluster, uint32_t at);

/* Some connections that go the same way do; `asked`: there are any. Without it: if there are none, the first ones do. */
bool ft_nccl_clusters_take_turns_beside(const struct ft_nccl_apart_finder *finder,
					const struct ft_nccl_cluster *a,
					const struct ft_nccl_cluster *b, bool *asked);
bool ft_nccl_clusters_take_turns(const struct ft_nccl_apart_finder *finder,
				 const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b);

/* Where they go the same ways, most that both do at the same time are different operations. */
bool ft_nccl_clusters_clash(const struct ft_nccl_apart_finder *finder,
			    const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b);

/* As loops of all its operations show them: the ring has one rank at each site. */
bool ft_nccl_ring_has_one_rank_each(const struct ft_nccl_apart_finder *finder,
				    const struct ft_nccl_cluster *ring);

/*
 * Two rings that cannot be one communicator's. Those that have no site in common may be on two rails; and where some are
 * others, these may be further ports of the same hosts, if there are as many.
 */
bool ft_nccl_rings_exclude_each_other(const struct ft_nccl_apart_finder *finder,
				      const struct ft_nccl_cluster *a,
				      const struct ft_nccl_cluster *b);

/* Rings through shared ports are one communicator's only if ranks tell those of several apart. */
bool ft_nccl_rings_can_be_one(const struct ft_nccl_apart_finder *finder,
			      const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b);
