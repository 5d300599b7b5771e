#pragma once

#include "group_apart_parts.h"

/*
 * Ports that several processes share. They do where loops of a ring show, or the highest rank of those that send tells, that a job
 * has more ranks than ports: those that its rails lead through, or that set-ups show its hosts to have.
 */

/* How many ranks loops of all of a ring show; 0: they do not, or not the same. */
uint32_t ft_nccl_ranks_shown(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *ring);

/* At one site of it two ranks send, both known. */
bool ft_nccl_has_two_at_a_site(const struct ft_nccl_apart_finder *finder,
			       const struct ft_nccl_cluster *ring);

/* Fills `ranks_at`, which is all 0, by site: the most of a job whose ranks share it. 0 or -ENOMEM. */
int ft_nccl_shared_ports_find(struct ft_nccl_apart_finder *finder, uint32_t *ranks_at);

/*
 * A ring of fewer ranks at such ports may be of one of several communicators that are alike; so it may, too, where loops show one
 * rank for each site, and two send at one.
 */
bool ft_nccl_ring_is_shared(const struct ft_nccl_apart_finder *finder, const uint32_t *ranks_at,
			    const struct ft_nccl_cluster *ring);
