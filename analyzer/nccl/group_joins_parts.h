#pragma once

#include "group_joins.h"

/* A rank that sends on a ring. */
struct ft_nccl_rail_sender {
	int32_t rank;
	const struct ft_nccl_connection *connection; /* one of those that it sends on */
};

/* A communicator that may be a part of one. */
struct ft_nccl_rail {
	const struct ft_nccl_communicator *communicator;
	const struct ft_nccl_collective **rows; /* its operations, in their order */
	size_t row_count;
	uint32_t ranks, hosts;
	struct ft_nccl_rail_sender *senders; /* by rank: host by host, as many of each */
	size_t each;
};

/* As ranks, set-ups and what both did at a time tell. */
bool ft_nccl_rails_can_be_one(const struct ft_nccl_rail *a, const struct ft_nccl_rail *b);

bool ft_nccl_rail_has_names(const struct ft_nccl_rail *rail); /* of all hosts, by set-ups */

/* The ranks are those of the job, which number its hosts one after the other. */
bool ft_nccl_rail_has_ranks_of_job(const struct ft_nccl_rail *rail);
