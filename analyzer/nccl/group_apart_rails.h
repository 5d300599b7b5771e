#pragma once

#include "group_apart_parts.h"

/*
 * Two rings that have no site in common. All rings of a communicator lead through all of its hosts: they are on two rails of
 * the same hosts, or of two communicators, as those of two stages of a pipeline are. What tells is whether they lead through
 * as many sites, which hosts set-ups name, and which ranks there are: hosts number theirs one after the other, so those of
 * two rails alternate. True: nothing speaks against one communicator.
 */
bool ft_nccl_rings_can_be_rails(const struct ft_nccl_apart_finder *finder,
				const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b);

/* Set-ups name the hosts of all their connections; then: one that sends in both. */
bool ft_nccl_clusters_are_named(const struct ft_nccl_apart_finder *finder,
				const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b);
bool ft_nccl_clusters_have_common_host(const struct ft_nccl_apart_finder *finder,
				       const struct ft_nccl_cluster *a,
				       const struct ft_nccl_cluster *b);
