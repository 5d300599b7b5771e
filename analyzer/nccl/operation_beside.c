#include "operation_beside.h"

const struct ft_nccl_tree *ft_nccl_tree_beside(const struct ft_nccl_communicator *communicator,
					       uint32_t channel, uint32_t *lane)
{
	const struct ft_nccl_channel *last =
		&communicator->channels[communicator->channel_count - 1];
	const uint32_t channels =
		(uint32_t)communicator->channel_count - (last->channel == FT_NCCL_NONE ? 1 : 0);
	const uint32_t number = channel < channels / 2 ? 0 : 1;

	*lane = channel - (number == 0 ? 0 : channels / 2);
	for (size_t i = 0; i < communicator->tree_count; i++)
		if (communicator->trees[i].number == number && !communicator->trees[i].of_hosts &&
		    *lane < communicator->trees[i].channels)
			return &communicator->trees[i];
	return NULL;
}

static bool is_in(const struct ft_nccl_channel *channel, uint32_t connection)
{
	for (size_t i = 0; i < channel->ring_count; i++)
		if (channel->connections[i] == connection)
			return true;
	return false;
}

static bool has_common(const struct ft_nccl_channel *channel, const struct ft_nccl_tree *tree,
		       uint32_t lane)
{
	for (size_t i = 0; i < tree->edge_count; i++)
		if (is_in(channel, tree->edges[i].up[lane]) ||
		    is_in(channel, tree->edges[i].down[lane]))
			return true;
	return false;
}

const struct ft_nccl_tree *ft_nccl_tree_of_ring(const struct ft_nccl_communicator *communicator,
						const struct ft_nccl_channel *channel,
						uint32_t *lane)
{
	for (size_t i = 0; i < communicator->tree_count; i++)
		for (*lane = 0;
		     communicator->trees[i].of_hosts && *lane < communicator->trees[i].channels;
		     ++*lane)
			if (has_common(channel, &communicator->trees[i], *lane))
				return &communicator->trees[i];
	return NULL;
}
