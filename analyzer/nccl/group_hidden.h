#pragma once

#include "group_apart.h"
#include "group_members.h"
#include "operations.h"

struct ft_nccl_hidden_input {
	const struct ft_nccl_members *members;
	const struct ft_nccl_tracks *tracks;
	struct ft_nccl_connection *const *connections;
	size_t connection_count;
	struct ft_nccl_communicator *communicators; /* by component */
	size_t communicator_count;
	struct ft_nccl_channel *channels; /* what communicators point to */
	struct ft_nccl_collective *collectives;
	size_t collective_count;
	const struct ft_nccl_loops *loops; /* by place of the connection */
	const struct ft_nccl_apart *apart;
};

/*
 * What ranks take away that were not seen to send. Where loops show more ranks than there are hosts, or show nothing while
 * ranks are of hosts that may have several, who receives is perhaps not who sends: then the communicator has no ring, and
 * its receivers, and senders that no clear-to-send of their own names, have no rank. Sizes are known only if all ranks send
 * here, or all set-ups were seen, these hosts have no other communicator, and no channel of theirs may be out of view: else
 * parts of an operation may have gone elsewhere, and the first channels, too, so that none has a number. What messages say
 * is no ring has no channels. What may be a channel of a communicator whose others are told as one of their own has no sizes,
 * either, and how many channels shared an operation is not known. 0 or -ENOMEM.
 */
int ft_nccl_hidden_ranks(const struct ft_nccl_hidden_input *input);
