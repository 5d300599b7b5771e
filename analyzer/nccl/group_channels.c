#include "group_channels.h"

uint32_t *ft_nccl_groups_list_ids(struct ft_nccl_groups_maker *maker, const uint32_t *places,
				  size_t count)
{
	uint32_t *ids = maker->id;

	for (size_t i = 0; i < count; i++)
		*maker->id++ = maker->connections[places[i]]->connection;
	return ids;
}

void ft_nccl_groups_list_channel(struct ft_nccl_groups_maker *maker,
				 struct ft_nccl_communicator *communicator,
				 struct ft_nccl_channel channel)
{
	if (communicator->channel_count++ == 0)
		communicator->channels = maker->channel;
	*maker->channel++ = channel;
}

void ft_nccl_groups_add_channel(struct ft_nccl_groups_maker *maker,
				struct ft_nccl_communicator *communicator, uint32_t number,
				const uint32_t *places, size_t count, size_t ring_count)
{
	for (size_t i = 0; i < count; i++)
		maker->connections[places[i]]->channel = number;
	ft_nccl_groups_list_channel(
		maker, communicator,
		(struct ft_nccl_channel){ number, ft_nccl_groups_list_ids(maker, places, count),
					  count, ring_count });
}

int ft_nccl_groups_add_channels(struct ft_nccl_groups_maker *maker,
				struct ft_nccl_communicator *communicator,
				struct ft_nccl_edges *edges, const uint32_t *ring)
{
	const uint32_t members = edges->member_count;
	const bool all = edges->count == communicator->connection_count;
	bool numbered = false;
	const int channels = ft_nccl_members_channels(edges, ring, &numbered);

	for (int i = 0; i < channels; i++)
		ft_nccl_groups_add_channel(maker, communicator,
					   numbered && all ? (uint32_t)i : FT_NCCL_NONE,
					   edges->at + (size_t)i * members, members, members);
	if (channels == 0)
		ft_nccl_groups_add_channel(maker, communicator, FT_NCCL_NONE, edges->at,
					   edges->count, 0);
	return channels < 0 ? channels : 0;
}
