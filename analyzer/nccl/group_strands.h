#pragma once

#include "group_apart_parts.h"

/*
 * Rings through ports that several processes share. Where loops of one ring show more ranks than its job has ports, a ring of fewer
 * ranks at the same ports may be of a communicator of which there are several, alike and busy at the same time, as replicas are:
 * each way around is a cluster of its own then. Who waits for whom tells which connections are one way around.
 *
 * Clusters of such rings are `shared`; those of one cluster before have one `set`, and are `named` if ranks tell them apart. Where
 * nothing tells the ways apart, the cluster is `tangled`. Needs clusters and how many ranks loops show. 0 or -ENOMEM.
 */
int ft_nccl_strands_part(struct ft_nccl_apart_finder *finder);
