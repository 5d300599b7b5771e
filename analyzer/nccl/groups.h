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

/*
 * The protocol of a message, from the size offered, its length, its address within the receiver's buffers, and flags if
 * they were seen: what the follower asks when it closes one. `write` is the first data packet, or has captured 0.
 */
struct ft_nccl_sign {
	uint64_t offered, written, va;
	bool has_offered, has_written;
	struct ft_nccl_write write;
};

/* *flag: of LL and LL128 lines, 0 if they were not seen. Unknown where the signs do not tell, or contradict each other. */
enum ft_nccl_protocol ft_nccl_protocol_of(const struct ft_nccl_sign *sign, uint64_t *flag);
