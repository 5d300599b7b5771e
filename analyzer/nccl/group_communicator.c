#include "groups_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "group_hosts.h"
#include "group_mixed.h"
#include "group_ring.h"

/* What the connections of a communicator are: a ring, trees, both, PAT's, rings of hosts, or none of these. */

static uint32_t *list_ids(struct ft_nccl_groups_maker *maker, const uint32_t *places, size_t count)
{
	uint32_t *ids = maker->id;

	for (size_t i = 0; i < count; i++)
		*maker->id++ = maker->connections[places[i]]->connection;
	return ids;
}

/* The next channel, of connections at these places; those of the ring come first. `number` may be FT_NCCL_NONE. */
static void add_channel(struct ft_nccl_groups_maker *maker,
			struct ft_nccl_communicator *communicator, uint32_t number,
			const uint32_t *places, size_t count, size_t ring_count)
{
	if (communicator->channel_count++ == 0)
		communicator->channels = maker->channel;
	for (size_t i = 0; i < count; i++)
		maker->connections[places[i]]->channel = number;
	*maker->channel++ = (struct ft_nccl_channel){ number, list_ids(maker, places, count), count,
						      ring_count };
}

/* Of a ring, if they can be told apart; numbered, if these are all there are. 0 or -ENOMEM. */
static int add_channels(struct ft_nccl_groups_maker *maker,
			struct ft_nccl_communicator *communicator, struct ft_nccl_edges *edges,
			const uint32_t *ring)
{
	const uint32_t members = edges->member_count;
	const bool all = edges->count == communicator->connection_count;
	bool numbered = false;
	const int channels = ft_nccl_members_channels(edges, ring, &numbered);

	for (int i = 0; i < channels; i++)
		add_channel(maker, communicator, numbered && all ? (uint32_t)i : FT_NCCL_NONE,
			    edges->at + (size_t)i * members, members, members);
	if (channels == 0)
		add_channel(maker, communicator, FT_NCCL_NONE, edges->at, edges->count, 0);
	return channels < 0 ? channels : 0;
}

/* Of a ring and trees; those of a tree of which nobody knows the channel are in one behind the others. */
static void add_mixed_channels(struct ft_nccl_groups_maker *maker,
			       struct ft_nccl_communicator *communicator,
			       const struct ft_nccl_mixed *mixed)
{
	size_t begin = 0;

	for (uint32_t i = 0; i < mixed->channels; i++) {
		add_channel(maker, communicator, i, mixed->at + begin, mixed->ends[i] - begin,
			    communicator->member_count);
		begin = mixed->ends[i];
	}
	if (mixed->unassigned > 0)
		add_channel(maker, communicator, FT_NCCL_NONE, mixed->at + begin, mixed->unassigned,
			    0);
}

/* Members in the order of their ranks. */
static int add_ring_by_rank(struct ft_nccl_groups_maker *maker,
			    struct ft_nccl_communicator *communicator)
{
	uint32_t *ring = calloc(communicator->member_count, sizeof *ring);

	if (ring == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < communicator->member_count; i++)
		ring[i] = i;
	maker->memory->rings[communicator->communicator] = ring;
	communicator->ring = ring;
	return 0;
}

/* The first connection of each to the next rank is the ring's. */
static int add_pat(struct ft_nccl_groups_maker *maker, struct ft_nccl_communicator *communicator,
		   const struct ft_nccl_edges *edges)
{
	struct ft_nccl_trees *trees = &maker->memory->trees[communicator->communicator];
	struct ft_nccl_pat pat;
	int error = ft_nccl_members_pat(&pat, edges, &maker->memory->tracks);
	const bool found = error == 0 && pat.channels > 0;
	const uint32_t ring_channels =
		found && pat.distances[0].ranks == 1 ? pat.distances[0].channels : 0;

	if (found)
		error = ft_nccl_pat_find_trees(&pat, trees, edges);
	if (error == 0 && ring_channels > 0)
		error = add_ring_by_rank(maker, communicator);
	for (uint32_t i = 0; found && i < pat.channels; i++) {
		const size_t begin = i > 0 ? pat.ends[i - 1] : 0;

		add_channel(maker, communicator, i, pat.at + begin, pat.ends[i] - begin,
			    i < ring_channels ? communicator->member_count : 0);
	}
	if (found) {
		maker->memory->distances[communicator->communicator] = pat.distances;
		communicator->distances = pat.distances;
		communicator->distance_count = pat.count;
		pat.distances = NULL;
	}
	ft_nccl_pat_free(&pat);
	return error;
}

static int add_mixed(struct ft_nccl_groups_maker *maker, struct ft_nccl_communicator *communicator,
		     const struct ft_nccl_edges *edges)
{
	struct ft_nccl_trees *trees = &maker->memory->trees[communicator->communicator];
	struct ft_nccl_mixed mixed;
	int error = ft_nccl_members_mixed(&mixed, trees, edges, &maker->memory->tracks);

	if (error == 0 && mixed.channels > 0)
		error = add_ring_by_rank(maker, communicator);
	if (error == 0 && mixed.channels > 0)
		add_mixed_channels(maker, communicator, &mixed);
	ft_nccl_mixed_free(&mixed);
	return error;
}

/* No ring alone: trees, or both. */
static int add_trees(struct ft_nccl_groups_maker *maker, struct ft_nccl_communicator *communicator,
		     const struct ft_nccl_edges *edges)
{
	struct ft_nccl_trees *trees = &maker->memory->trees[communicator->communicator];
	int error = ft_nccl_members_trees(trees, edges, &maker->memory->tracks);

	if (error == 0 && trees->count == 0)
		error = add_mixed(maker, communicator, edges);
	if (error == 0 && trees->count == 0)
		error = add_pat(maker, communicator, edges);
	communicator->trees = trees->at;
	communicator->tree_count = trees->count;
	return error;
}

static int add_ring_of_hosts(struct ft_nccl_groups_maker *maker,
			     struct ft_nccl_communicator *communicator, struct ft_nccl_edges *edges)
{
	const size_t count = edges->count;
	uint32_t *ring;
	int error = ft_nccl_hosts_ring(edges, &maker->memory->tracks, &ring);

	if (error == 0) {
		error = add_channels(maker, communicator, edges, ring);
		free(ring);
	}
	if (edges->count < count)
		add_channel(maker, communicator, FT_NCCL_NONE, edges->at + edges->count,
			    count - edges->count, 0);
	return error == -ENOENT ? 0 : error;
}

/* Those of the first one's rail to the front; how many these are. */
static size_t gather_rail(const struct ft_nccl_rails *rails, uint32_t *at, size_t count)
{
	size_t found = 1;

	for (size_t i = 1; i < count; i++) {
		const uint32_t place = at[i];

		if (rails->of[place] != rails->of[at[0]])
			continue;
		at[i] = at[found];
		at[found++] = place;
	}
	return found;
}

static int add_rails(struct ft_nccl_groups_maker *maker, struct ft_nccl_communicator *communicator,
		     const struct ft_nccl_edges *all)
{
	size_t count;
	int error = 0;

	for (size_t begin = 0; error == 0 && begin < all->count; begin += count) {
		struct ft_nccl_edges edges = *all;

		edges.at = all->at + begin;
		edges.count = count =
			gather_rail(&maker->memory->members.rails, edges.at, all->count - begin);
		error = add_ring_of_hosts(maker, communicator, &edges);
	}
	return error;
}

/* Set-ups name fewer hosts than there are members. */
static bool are_several_of_a_host(const struct ft_nccl_groups_maker *maker,
				  const struct ft_nccl_edges *edges)
{
	const struct ft_nccl_rails *rails = &maker->memory->members.rails;
	const uint32_t rail = rails->of[edges->at[0]];

	return rails->by_host[rail] && rails->ends[rail] < edges->member_count;
}

/* Or rails were joined, or nothing rules it out. */
static bool may_be_several_of_a_host(const struct ft_nccl_groups_maker *maker,
				     const struct ft_nccl_edges *edges)
{
	const uint32_t *rails = maker->memory->members.rails.of;

	for (size_t i = 0; i < edges->count; i++) {
		const uint32_t place = edges->at[i];

		if (edges->from[place] == FT_NCCL_NONE || edges->to[place] == FT_NCCL_NONE ||
		    rails[place] != rails[edges->at[0]])
			return true;
	}
	return ft_nccl_members_are_apart(edges->members->at + edges->first, edges->member_count);
}

/* The communicator has what its connections are in a ring, or trees, or neither. */
static int add_shape(struct ft_nccl_groups_maker *maker, struct ft_nccl_communicator *communicator,
		     struct ft_nccl_edges *edges)
{
	uint32_t **ring = &maker->memory->rings[communicator->communicator];
	int error;

	if (are_several_of_a_host(maker, edges))
		return add_rails(maker, communicator, edges);
	error = ft_nccl_members_ring(edges, ring);
	if (error == 0) {
		communicator->ring = *ring;
		return add_channels(maker, communicator, edges, *ring);
	}
	if (error == -ENOENT)
		error = add_trees(maker, communicator, edges);
	if (error != 0 || communicator->channel_count > 0)
		return error;
	if (communicator->tree_count == 0 && may_be_several_of_a_host(maker, edges))
		return add_rails(maker, communicator, edges);
	add_channel(maker, communicator, FT_NCCL_NONE, edges->at, edges->count, 0);
	return 0;
}

int ft_nccl_groups_add(struct ft_nccl_groups_maker *maker, struct ft_nccl_edges *edges, uint32_t id)
{
	struct ft_nccl_communicator *communicator = &maker->memory->communicators[id];

	communicator->communicator = id;
	communicator->members = maker->memory->members.at + edges->first;
	communicator->member_count = edges->member_count;
	communicator->connections = list_ids(maker, edges->at, edges->count);
	communicator->connection_count = edges->count;
	return add_shape(maker, communicator, edges);
}
