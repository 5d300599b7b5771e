#include "groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_hidden.h"
#include "group_hosts.h"
#include "group_joins.h"
#include "group_members.h"
#include "group_mixed.h"
#include "group_pat_trees.h"
#include "group_ring.h"
#include "operations.h"

/* What a report of groups points to. */
struct memory {
	struct ft_nccl_members members;
	struct ft_nccl_communicator *communicators;
	struct ft_nccl_channel *channels; /* at most one for each connection */
	uint32_t *ids;               /* of each connection twice: of communicators, of channels */
	uint32_t **rings;            /* by communicator; NULL: none */
	struct ft_nccl_trees *trees; /* likewise */
	struct ft_nccl_distance **distances;
	struct ft_nccl_tracks tracks;
	struct ft_nccl_collective *collectives;
	struct ft_nccl_loops *loops; /* by place of the connection */
};

struct maker {
	struct memory *memory;
	const uint32_t *joined; /* rails that are one; NULL: not known yet */
	struct ft_nccl_connection **connections;
	size_t connection_count;
	uint32_t *order; /* places of connections, by component, in order of first frame */
	struct ft_nccl_channel *channel; /* the next one */
	uint32_t *id;                    /* the next one */
};

static uint32_t *list_ids(struct maker *maker, const uint32_t *places, size_t count)
{
	uint32_t *ids = maker->id;

	for (size_t i = 0; i < count; i++)
		*maker->id++ = maker->connections[places[i]]->connection;
	return ids;
}

/* The next channel, of connections at these places; those of the ring come first. `number` may be FT_NCCL_NONE. */
static void add_channel(struct maker *maker, struct ft_nccl_communicator *communicator,
			uint32_t number, const uint32_t *places, size_t count, size_t ring_count)
{
	if (communicator->channel_count++ == 0)
		communicator->channels = maker->channel;
	for (size_t i = 0; i < count; i++)
		maker->connections[places[i]]->channel = number;
	*maker->channel++ = (struct ft_nccl_channel){ number, list_ids(maker, places, count), count,
						      ring_count };
}

/* Of a ring, if they can be told apart; numbered, if these are all there are. 0 or -ENOMEM. */
static int add_channels(struct maker *maker, struct ft_nccl_communicator *communicator,
			struct ft_nccl_edges *edges, const uint32_t *ring)
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
static void add_mixed_channels(struct maker *maker, struct ft_nccl_communicator *communicator,
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
static int add_ring_by_rank(struct maker *maker, struct ft_nccl_communicator *communicator)
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
static int add_pat(struct maker *maker, struct ft_nccl_communicator *communicator,
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

static int add_mixed(struct maker *maker, struct ft_nccl_communicator *communicator,
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
static int add_trees(struct maker *maker, struct ft_nccl_communicator *communicator,
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

static int add_ring_of_hosts(struct maker *maker, struct ft_nccl_communicator *communicator,
			     struct ft_nccl_edges *edges)
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

static int add_rails(struct maker *maker, struct ft_nccl_communicator *communicator,
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
static bool are_several_of_a_host(const struct maker *maker, const struct ft_nccl_edges *edges)
{
	const struct ft_nccl_rails *rails = &maker->memory->members.rails;
	const uint32_t rail = rails->of[edges->at[0]];

	return rails->by_host[rail] && rails->ends[rail] < edges->member_count;
}

/* Or rails were joined, or nothing rules it out. */
static bool may_be_several_of_a_host(const struct maker *maker, const struct ft_nccl_edges *edges)
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
static int add_shape(struct maker *maker, struct ft_nccl_communicator *communicator,
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

static int add_communicator(struct maker *maker, struct ft_nccl_edges *edges, uint32_t id)
{
	struct ft_nccl_communicator *communicator = &maker->memory->communicators[id];

	communicator->communicator = id;
	communicator->members = maker->memory->members.at + edges->first;
	communicator->member_count = edges->member_count;
	communicator->connections = list_ids(maker, edges->at, edges->count);
	communicator->connection_count = edges->count;
	return add_shape(maker, communicator, edges);
}

/* Places of the connections, by component; ends[i] is where those of component i end. */
static void order(struct maker *maker, size_t *ends)
{
	const struct ft_nccl_members *members = &maker->memory->members;
	size_t sum = 0;

	for (size_t i = 0; i < maker->connection_count; i++)
		if (members->of[i] != FT_NCCL_NONE)
			ends[members->of[i]]++;
	for (uint32_t i = 0; i < members->components; i++) {
		const size_t count = ends[i];

		ends[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < maker->connection_count; i++)
		if (members->of[i] != FT_NCCL_NONE)
			maker->order[ends[members->of[i]]++] = (uint32_t)i;
}

static int add_all(struct maker *maker, const size_t *ends)
{
	const struct ft_nccl_members *members = &maker->memory->members;
	struct ft_nccl_edges edges = { .members = members,
				       .connections = maker->connections,
				       .from = members->sender,
				       .to = members->receiver };
	uint32_t person = 0;
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < members->components; i++) {
		const size_t begin = i > 0 ? ends[i - 1] : 0;

		edges.at = maker->order + begin;
		edges.count = ends[i] - begin;
		edges.first = person;
		while (person < members->count && members->component[person] == i)
			person++;
		edges.member_count = person - edges.first;
		error = add_communicator(maker, &edges, i);
	}
	return error;
}

static int reserve(struct maker *maker)
{
	struct memory *memory = maker->memory;
	const size_t connections = maker->connection_count;

	memory->communicators =
		calloc(memory->members.components + 1, sizeof *memory->communicators);
	memory->rings = calloc(memory->members.components + 1, sizeof *memory->rings);
	memory->trees = calloc(memory->members.components + 1, sizeof *memory->trees);
	memory->distances = calloc(memory->members.components + 1, sizeof *memory->distances);
	memory->channels = calloc(connections + 1, sizeof *memory->channels);
	memory->ids = calloc(2 * connections + 1, sizeof *memory->ids);
	memory->loops = calloc(connections + 1, sizeof *memory->loops);
	maker->order = calloc(connections + 1, sizeof *maker->order);
	maker->channel = memory->channels;
	maker->id = memory->ids;
	return memory->communicators != NULL && memory->rings != NULL && memory->trees != NULL &&
			       memory->distances != NULL && memory->channels != NULL &&
			       memory->ids != NULL && memory->loops != NULL &&
			       maker->order != NULL
		       ? 0
		       : -ENOMEM;
}

static int make_communicators(struct maker *maker)
{
	size_t *ends = calloc(maker->memory->members.components + 1, sizeof *ends);
	int error = ends != NULL ? reserve(maker) : -ENOMEM;

	if (error == 0) {
		order(maker, ends);
		error = add_all(maker, ends);
	}
	free(maker->order);
	free(ends);
	return error;
}

static int make_collectives(struct maker *maker, struct ft_nccl_groups *groups)
{
	struct memory *memory = maker->memory;
	const struct ft_nccl_operations_input input = {
		.connections = maker->connections,
		.connection_count = maker->connection_count,
		.tracks = &memory->tracks,
		.communicators = memory->communicators,
		.communicator_count = memory->members.components,
		.loops = memory->loops,
	};
	int error =
		ft_nccl_operations_make(&memory->collectives, &groups->collective_count, &input);

	groups->communicators = memory->communicators;
	groups->communicator_count = memory->members.components;
	groups->collectives = memory->collectives;
	return error;
}

static int make(struct maker *maker, struct ft_nccl_groups *groups,
		const struct ft_nccl_message *messages, size_t message_count)
{
	struct memory *memory = calloc(1, sizeof *memory);
	int error;

	*groups = (struct ft_nccl_groups){ .memory = memory };
	if (memory == NULL)
		return -ENOMEM;
	maker->memory = memory;
	error = ft_nccl_members_find(&memory->members, maker->connections, maker->connection_count,
				     maker->joined, messages, message_count);
	if (error == 0)
		error = ft_nccl_tracks_make(&memory->tracks, maker->connections,
					    maker->connection_count, messages, message_count);
	if (error == 0)
		error = make_communicators(maker);
	if (error == 0)
		error = make_collectives(maker, groups);
	return error;
}

static int find_joins(const struct maker *maker, const struct ft_nccl_groups *groups,
		      struct ft_nccl_joins *joins)
{
	const struct ft_nccl_joins_input input = {
		.members = &maker->memory->members,
		.connections = maker->connections,
		.connection_count = maker->connection_count,
		.communicators = groups->communicators,
		.communicator_count = groups->communicator_count,
		.collectives = groups->collectives,
		.collective_count = groups->collective_count,
	};

	return ft_nccl_joins_find(joins, &input);
}

static int hide_ranks(const struct maker *maker, const struct ft_nccl_groups *groups)
{
	const struct ft_nccl_hidden_input input = {
		.members = &maker->memory->members,
		.connections = maker->connections,
		.connection_count = maker->connection_count,
		.communicators = maker->memory->communicators,
		.channels = maker->memory->channels,
		.communicator_count = groups->communicator_count,
		.collectives = maker->memory->collectives,
		.collective_count = groups->collective_count,
		.loops = maker->memory->loops,
	};

	return ft_nccl_hidden_ranks(&input);
}

int ft_nccl_groups_make(struct ft_nccl_groups *groups, struct ft_nccl_connection **connections,
			size_t connection_count, const struct ft_nccl_message *messages,
			size_t message_count)
{
	struct maker maker = { .connections = connections, .connection_count = connection_count };
	struct ft_nccl_joins joins = { 0 };
	int error = make(&maker, groups, messages, message_count);

	if (error == 0)
		error = find_joins(&maker, groups, &joins);
	if (error == 0 && joins.count > 0) { /* once more, with what operations said */
		ft_nccl_groups_free(groups);
		maker.joined = joins.of;
		error = make(&maker, groups, messages, message_count);
	}
	if (error == 0)
		error = hide_ranks(&maker, groups);
	if (error != 0)
		ft_nccl_groups_free(groups);
	ft_nccl_joins_free(&joins);
	return error;
}

void ft_nccl_groups_free(struct ft_nccl_groups *groups)
{
	struct memory *memory = groups->memory;

	if (memory == NULL)
		return;
	for (uint32_t i = 0; memory->rings != NULL && i < memory->members.components; i++)
		free(memory->rings[i]);
	for (uint32_t i = 0; memory->trees != NULL && i < memory->members.components; i++)
		ft_nccl_trees_free(&memory->trees[i]);
	for (uint32_t i = 0; memory->distances != NULL && i < memory->members.components; i++)
		free(memory->distances[i]);
	ft_nccl_tracks_free(&memory->tracks);
	ft_nccl_members_free(&memory->members);
	free(memory->communicators);
	free(memory->rings);
	free(memory->trees);
	free(memory->distances);
	free(memory->channels);
	free(memory->ids);
	free(memory->loops);
	free(memory->collectives);
	free(memory);
	*groups = (struct ft_nccl_groups){ 0 };
}
