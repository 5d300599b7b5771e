#pragma once

#include "group_members.h"

/*
 * Rails that are one communicator. Nothing on the wire ties them together, but of a job with g ranks in each of n hosts the
 * loops of a rail's ring show N = n g ranks, while n of them send there; ranks number hosts one after the other, each is on
 * one rail, and all rails are in the same operation at a time. Data-parallel communicators of one rank a host have loops of
 * n ranks.
 */
struct ft_nccl_joins {
	/* by place of the connection: the same number for what is one; FT_NCCL_NONE: as it is */
	uint32_t *of;
	uint32_t *
		ports; /* by place of the connection: ports of all that are one with its rail; 0: it is of none */
	uint32_t count; /* rails that are one with an earlier one */
};

struct ft_nccl_joins_input {
	const struct ft_nccl_members *members;
	struct ft_nccl_connection *const *connections;
	size_t connection_count;
	const struct ft_nccl_communicator *communicators; /* of a rail each, by component */
	size_t communicator_count;
	const struct ft_nccl_collective *collectives;
	size_t collective_count;
};

/* 0 or -ENOMEM; free in any case. */
int ft_nccl_joins_find(struct ft_nccl_joins *joins, const struct ft_nccl_joins_input *input);
void ft_nccl_joins_free(struct ft_nccl_joins *joins);
