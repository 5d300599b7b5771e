#include "group_unseen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Two ports, the one with the lower address first. */
struct link {
	struct ft_nccl_place ports[2];
};

static struct link link_of(const struct ft_nccl_connection *connection)
{
	const struct ft_nccl_place *one = &connection->sender.places[0];
	const struct ft_nccl_place *other = &connection->receiver.places[0];
	const bool in_order = memcmp(one->address, other->address, sizeof one->address) < 0;
	struct link link;

	memset(&link, 0, sizeof link); /* compared as a whole */
	ft_nccl_copy_place(&link.ports[0], in_order ? one : other);
	ft_nccl_copy_place(&link.ports[1], in_order ? other : one);
	return link;
}

static int compare_links(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct link));
}

static int compare_ways(const void *a, const void *b)
{
	const struct ft_nccl_unseen_way *left = a, *right = b;

	if (left->communicator != right->communicator)
		return left->communicator < right->communicator ? -1 : 1;
	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return (left->to > right->to) - (left->to < right->to);
}

static bool is_used(const struct ft_nccl_track *track)
{
	return track->count > 0 || track->connection->cts + track->connection->messages > 0;
}

static bool has_ports(const struct ft_nccl_connection *connection)
{
	return connection->sender.place_count > 0 && connection->receiver.place_count > 0;
}

static size_t list_used(struct link *links, const struct ft_nccl_tracks *tracks,
			struct ft_nccl_connection *const *connections, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if (is_used(&tracks->at[i]) && has_ports(connections[i]))
			links[used++] = link_of(connections[i]);
	if (used > 0)
		qsort(links, used, sizeof *links, compare_links);
	return used;
}

static void list_ways(struct ft_nccl_unseen *unseen, const struct link *used, size_t used_count,
		      const struct ft_nccl_tracks *tracks,
		      struct ft_nccl_connection *const *connections)
{
	const struct ft_nccl_members *members = unseen->members;

	for (size_t i = 0; i < unseen->connection_count; i++) {
		struct link link;

		if (is_used(&tracks->at[i]) || !has_ports(connections[i]) ||
		    members->of[i] == FT_NCCL_NONE)
			continue;
		link = link_of(connections[i]);
		if (used_count == 0 ||
		    bsearch(&link, used, used_count, sizeof link, compare_links) == NULL)
			unseen->ways[unseen->way_count++] = (struct ft_nccl_unseen_way){
				members->of[i], members->rails.sender[i], members->rails.receiver[i]
			};
	}
	if (unseen->way_count > 0)
		qsort(unseen->ways, unseen->way_count, sizeof *unseen->ways, compare_ways);
}

int ft_nccl_unseen_find(struct ft_nccl_unseen *unseen, const struct ft_nccl_members *members,
			const struct ft_nccl_tracks *tracks,
			struct ft_nccl_connection *const *connections, size_t connection_count)
{
	struct link *used = calloc(connection_count + 1, sizeof *used);

	*unseen = (struct ft_nccl_unseen){
		.ways = calloc(connection_count + 1, sizeof *unseen->ways),
		.members = members,
		.ids = ft_nccl_ids_sort(connections, connection_count),
		.connection_count = connection_count,
	};
	if (used == NULL || unseen->ways == NULL || unseen->ids == NULL) {
		free(used);
		return -ENOMEM;
	}
	list_ways(unseen, used, list_used(used, tracks, connections, connection_count), tracks,
		  connections);
	free(used);
	return 0;
}

void ft_nccl_unseen_free(struct ft_nccl_unseen *unseen)
{
	free(unseen->ways);
	free(unseen->ids);
	*unseen = (struct ft_nccl_unseen){ 0 };
}

bool ft_nccl_unseen_has_like(const struct ft_nccl_unseen *unseen, const uint32_t *ids, size_t count)
{
	const struct ft_nccl_members *members = unseen->members;

	for (size_t i = 0; i < count; i++) {
		const uint32_t at = ft_nccl_ids_find(unseen->ids, unseen->connection_count, ids[i]);
		const struct ft_nccl_unseen_way way = { members->of[at], members->rails.sender[at],
							members->rails.receiver[at] };

		if (unseen->way_count == 0 || bsearch(&way, unseen->ways, unseen->way_count,
						      sizeof way, compare_ways) == NULL)
			return false;
	}
	return count > 0;
}
