#include "groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_hidden.h"
#include "group_joins.h"
#include "groups_parts.h"

/* Places of the connections, by component; ends[i] is where those of component i end. */
static void order(struct ft_nccl_groups_maker *maker, size_t *ends)
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

static int add_all(struct ft_nccl_groups_maker *maker, const size_t *ends)
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
		error = ft_nccl_groups_add(maker, &edges, i);
	}
	return error;
}

static int reserve(struct ft_nccl_groups_maker *maker)
{
	struct ft_nccl_groups_memory *memory = maker->memory;
	const size_t connections = maker->connection_count;

	memory->communicators =
		calloc(memory->members.components + 1, sizeof *memory->communicators);
	memory->rings = calloc(memory->members.components + 1, sizeof *memory->rings);
	memory->trees = calloc(memory->members.components + 1, sizeof *memory->trees);
	memory->distances = calloc(memory->members.components + 1, sizeof *memory->distances);
	memory->channels = calloc(connections + 1, sizeof *memory->channels);
	memory->ids = calloc(3 * connections + 1, sizeof *memory->ids);
	memory->loops = calloc(connections + 1, sizeof *memory->loops);
	maker->order = calloc(connections + 1, sizeof *maker->order);
	maker->channel = memory->channels;
	maker->id = memory->ids;
	return memory->communicators != NULL && memory->rings != NULL && memory->trees != NULL &&
			       memory->distances != NULL && memory->channels != NULL &&
			       memory->ids != NULL && memory->loops != NULL && maker->order != NULL
		       ? 0
		       : -ENOMEM;
}

static int make_communicators(struct ft_nccl_groups_maker *maker)
{
	size_t *ends = calloc(maker->memory->members.components + 1, sizeof *ends);
	int error = ends != NULL ? reserve(maker) : -ENOMEM;

	if (error == 0) {
		order(maker, ends);
		error = add_all(maker, ends);
	}
	free(maker->order);
	maker->order = NULL;
	free(ends);
	return error;
}

static int make_collectives(struct ft_nccl_groups_maker *maker, struct ft_nccl_groups *groups)
{
	struct ft_nccl_groups_memory *memory = maker->memory;
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

static int find_parts(struct ft_nccl_groups_maker *maker, const uint32_t *ranks,
		      const uint32_t *ports)
{
	const struct ft_nccl_apart_input input = {
		.connections = maker->connections,
		.connection_count = maker->connection_count,
		.tracks = maker->memory->tracks.at,
		.tags = maker->tags,
		.ranks = ranks,
		.ports = ports,
	};

	return ft_nccl_apart_find(&maker->apart, &input);
}

static int make(struct ft_nccl_groups_maker *maker, struct ft_nccl_groups *groups,
		const struct ft_nccl_message *messages, size_t message_count)
{
	struct ft_nccl_groups_memory *memory = calloc(1, sizeof *memory);
	int error;

	*groups = (struct ft_nccl_groups){ .memory = memory };
	if (memory == NULL)
		return -ENOMEM;
	maker->memory = memory;
	for (size_t i = 0; i < maker->connection_count; i++)
		maker->connections[i]->channel =
			FT_NCCL_NONE; /* as rails that are joined now were told */
	error = ft_nccl_tracks_make(&memory->tracks, maker->connections, maker->connection_count,
				    messages, message_count);
	if (error == 0 && maker->apart.part == NULL)
		error = find_parts(maker, NULL, NULL);
	if (error == 0)
		error = ft_nccl_members_find(&memory->members, maker->connections,
					     maker->connection_count, &maker->apart, maker->joined,
					     maker->tags);
	if (error == 0)
		error = make_communicators(maker);
	if (error == 0)
		error = make_collectives(maker, groups);
	return error;
}

static int hide_ranks(const struct ft_nccl_groups_maker *maker, const struct ft_nccl_groups *groups)
{
	const struct ft_nccl_hidden_input input = {
		.members = &maker->memory->members,
		.tracks = &maker->memory->tracks,
		.connections = maker->connections,
		.connection_count = maker->connection_count,
		.communicators = maker->memory->communicators,
		.channels = maker->memory->channels,
		.communicator_count = groups->communicator_count,
		.collectives = maker->memory->collectives,
		.collective_count = groups->collective_count,
		.loops = maker->memory->loops,
		.apart = &maker->apart,
	};

	return ft_nccl_hidden_ranks(&input);
}

/* They were good for finding operations, of which all channels are one row. */
static void forget_doubtful_trees(const struct ft_nccl_groups_memory *memory)
{
	for (uint32_t i = 0; i < memory->members.components; i++)
		if (memory->trees[i].doubtful)
			memory->communicators[i].tree_count = 0;
}

static uint32_t *copy_ranks(const struct ft_nccl_groups_maker *maker)
{
	uint32_t *ranks = calloc(maker->connection_count + 1, sizeof *ranks);

	for (size_t i = 0; ranks != NULL && i < maker->connection_count; i++)
		ranks[i] = maker->memory->loops[i].ranks;
	return ranks;
}

static int find_joins(const struct ft_nccl_groups_maker *maker, const struct ft_nccl_groups *groups,
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

static bool is_same_apart(const struct ft_nccl_apart *a, const struct ft_nccl_apart *b,
			  size_t count)
{
	return memcmp(a->part, b->part, count * sizeof *a->part) == 0 &&
	       memcmp(a->tangled, b->tangled, count * sizeof *a->tangled) == 0;
}

/* Once more, if how many ranks operations show tells more communicators apart. */
static int make_apart(struct ft_nccl_groups_maker *maker, struct ft_nccl_groups *groups,
		      const struct ft_nccl_message *messages, size_t message_count)
{
	struct ft_nccl_apart before = maker->apart;
	struct ft_nccl_joins joins = { 0 };
	uint32_t *ranks = copy_ranks(maker);
	int error = ranks != NULL ? find_joins(maker, groups, &joins) : -ENOMEM;

	if (error == 0)
		error = find_parts(maker, ranks, joins.ports);
	if (error == 0 && !is_same_apart(&before, &maker->apart, maker->connection_count)) {
		ft_nccl_groups_free(groups);
		error = make(maker, groups, messages, message_count);
	}
	free(ranks);
	ft_nccl_joins_free(&joins);
	if (maker->apart.part != before.part)
		ft_nccl_apart_free(&before);
	return error;
}

int ft_nccl_groups_make(struct ft_nccl_groups *groups, struct ft_nccl_connection **connections,
			size_t connection_count, const struct ft_nccl_message *messages,
			size_t message_count)
{
	struct ft_nccl_groups_maker maker = {
		.connections = connections,
		.connection_count = connection_count,
		.tags = ft_nccl_tags_read(connections, connection_count, messages, message_count),
	};
	struct ft_nccl_joins joins = { 0 };
	int error = maker.tags != NULL ? 0 : -ENOMEM;

	*groups = (struct ft_nccl_groups){ 0 };
	if (error == 0)
		error = make(&maker, groups, messages, message_count);
	if (error == 0)
		error = make_apart(&maker, groups, messages, message_count);
	if (error == 0)
		error = find_joins(&maker, groups, &joins);
	if (error == 0 && joins.count > 0) { /* once more, with what operations said */
		ft_nccl_groups_free(groups);
		maker.joined = joins.of;
		error = make(&maker, groups, messages, message_count);
	}
	if (error == 0)
		error = hide_ranks(&maker, groups);
	if (error == 0)
		forget_doubtful_trees(maker.memory);
	if (error != 0)
		ft_nccl_groups_free(groups);
	ft_nccl_joins_free(&joins);
	ft_nccl_apart_free(&maker.apart);
	free(maker.tags);
	return error;
}

void ft_nccl_groups_free(struct ft_nccl_groups *groups)
{
	struct ft_nccl_groups_memory *memory = groups->memory;

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
