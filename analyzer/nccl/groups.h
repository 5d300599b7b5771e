#pragma once

#include <nccl/model.h>

/*
 * What connections and their messages say together, worked out when a report is made: channels, processes and their
 * ranks, rings and trees, communicators, and the operations that the messages make up. Pure.
 */
struct ft_nccl_groups {
	const struct ft_nccl_communicator *communicators;
	size_t communicator_count;
	const struct ft_nccl_collective *collectives;
	size_t collective_count;
	void *memory;
};

/*
 * Fills in what only the whole tells: `channel` of the connections, `rank` of their parties. `messages` are in order of
 * first frame, of all connections; there may be none (not kept). 0 or -ENOMEM. Free with ft_nccl_groups_free().
 */
int ft_nccl_groups_make(struct ft_nccl_groups *groups, struct ft_nccl_connection **connections,
			size_t connection_count, const struct ft_nccl_message *messages,
			size_t message_count);
void ft_nccl_groups_free(struct ft_nccl_groups *groups);
