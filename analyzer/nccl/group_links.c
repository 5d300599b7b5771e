#include "group_links.h"

#include <string.h>

bool ft_nccl_links_have_setups(const struct ft_nccl_edges *edges)
{
	for (size_t i = 0; i < edges->count; i++)
		if (!edges->connections[edges->at[i]]->has_tcp)
			return false;
	return true;
}

bool ft_nccl_edges_have_ranks(const struct ft_nccl_edges *edges)
{
	const struct ft_nccl_member *members = edges->members->at + edges->first;

	for (uint32_t i = 0; i < edges->member_count; i++)
		if (!members[i].has_rank || (i > 0 && members[i].rank == members[i - 1].rank))
			return false;
	return true;
}

uint64_t ft_nccl_link_made(const struct ft_nccl_connection *connection, bool by_setup)
{
	return by_setup ? connection->tcp_frames[0] : connection->sender.qpns[0];
}

struct ft_nccl_link ft_nccl_link_of(const struct ft_nccl_edges *edges, size_t i, bool by_setup)
{
	const struct ft_nccl_connection *connection = edges->connections[edges->at[i]];

	return (struct ft_nccl_link){
		.connection = connection,
		.at = edges->at[i],
		.made = ft_nccl_link_made(connection, by_setup),
	};
}

static bool same_devices(const struct ft_nccl_link *a, const struct ft_nccl_link *b)
{
	return memcmp(&a->connection->sender.places[0], &b->connection->sender.places[0],
		      sizeof(struct ft_nccl_place)) == 0 &&
	       memcmp(&a->connection->receiver.places[0], &b->connection->receiver.places[0],
		      sizeof(struct ft_nccl_place)) == 0;
}

bool ft_nccl_links_are_in_order(const struct ft_nccl_link *a, const struct ft_nccl_link *b,
				bool by_setup)
{
	if (by_setup)
		return a->made < b->made;
	return a->connection->qp_count > 0 && b->connection->qp_count > 0 && same_devices(a, b) &&
	       a->made < b->made &&
	       a->connection->receiver.qpns[0] < b->connection->receiver.qpns[0];
}
