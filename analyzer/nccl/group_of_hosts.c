#include <errno.h>
#include <stdlib.h>

#include "group_channels.h"
#include "group_host_trees.h"
#include "group_hosts.h"
#include "operation_steps.h"

/* The rings and trees of hosts that have several ranks each, rail by rail. */
struct hosts {
	struct ft_nccl_groups_maker *maker;
	struct ft_nccl_communicator *communicator;
	struct ft_nccl_trees *trees;
	struct ft_nccl_edges edges; /* of those selected; room for all */
	bool *in_ring, *in_tree;    /* by place */
};

static const struct ft_nccl_rails *rails_of(const struct hosts *hosts)
{
	return &hosts->maker->memory->members.rails;
}

static const struct ft_nccl_track *track_of(const struct hosts *hosts, uint32_t place)
{
	return &hosts->maker->memory->tracks.at[place];
}

/* Those of the first one's number to the front; how many these are. */
static size_t gather(const uint32_t *numbers, uint32_t *at, size_t count)
{
	size_t found = 1;

	for (size_t i = 1; i < count; i++) {
		const uint32_t place = at[i];

		if (numbers[place] != numbers[at[0]])
			continue;
		at[i] = at[found];
		at[found++] = place;
	}
	return found;
}

static void mark(bool *marks, const struct ft_nccl_edges *edges)
{
	for (size_t i = 0; i < edges->count; i++)
		marks[edges->at[i]] = true;
}

/* A ring and a tree may have one connection: there are steps and slices on it. */
static bool may_be_of_ring(const struct hosts *hosts, uint32_t place)
{
	return !hosts->in_tree[place] || ft_nccl_has_slice(track_of(hosts, place));
}

static bool may_be_of_tree(const struct hosts *hosts, uint32_t place)
{
	return !hosts->in_ring[place] || ft_nccl_has_simple_step(track_of(hosts, place));
}

static bool may_be_of_other_tree(const struct hosts *hosts, uint32_t place)
{
	return !hosts->in_tree[place] && may_be_of_tree(hosts, place);
}

static void select_edges(struct hosts *hosts, const uint32_t *rail, size_t count,
			 bool (*may_be)(const struct hosts *hosts, uint32_t place))
{
	hosts->edges.count = 0;
	for (size_t i = 0; i < count; i++)
		if (may_be(hosts, rail[i]))
			hosts->edges.at[hosts->edges.count++] = rail[i];
}

static int add_ring(struct hosts *hosts, const uint32_t *rail, size_t count)
{
	struct ft_nccl_edges edges;
	uint32_t *ring;
	int error;

	select_edges(hosts, rail, count, may_be_of_ring);
	if (hosts->edges.count == 0)
		return 0;
	edges = hosts->edges;
	error = ft_nccl_hosts_ring(&edges, &hosts->maker->memory->tracks, &ring);
	if (error == 0) {
		error = ft_nccl_groups_add_channels(hosts->maker, hosts->communicator, &edges,
						    ring);
		mark(hosts->in_ring, &edges);
		free(ring);
	}
	return error == -ENOENT ? 0 : error;
}

/* Of so many connections from edges.at on. */
static int add_trees_of(struct hosts *hosts, size_t begin, size_t count)
{
	struct ft_nccl_edges edges = hosts->edges;
	int error;

	edges.at += begin;
	edges.count = count;
	error = ft_nccl_hosts_trees(hosts->trees, &edges, &hosts->maker->memory->tracks);
	mark(hosts->in_tree, &edges);
	return error;
}

/* Channels use a port of each host, mostly; what is left may be of some that use several. */
static int add_trees(struct hosts *hosts, const uint32_t *rail, size_t rail_count)
{
	size_t count, parts = 0;
	int error = 0;

	select_edges(hosts, rail, rail_count, may_be_of_tree);
	for (size_t begin = 0; error == 0 && begin < hosts->edges.count; begin += count) {
		count = gather(rails_of(hosts)->part, hosts->edges.at + begin,
			       hosts->edges.count - begin);
		error = add_trees_of(hosts, begin, count);
		parts++;
	}
	if (error != 0 || parts < 2)
		return error;
	select_edges(hosts, rail, rail_count, may_be_of_other_tree);
	return hosts->edges.count > 0 ? add_trees_of(hosts, 0, hosts->edges.count) : 0;
}

/* Between two hosts all connections could be a ring's: those of trees are found before. */
static int add_rail(struct hosts *hosts, const uint32_t *rail, size_t count)
{
	const struct ft_nccl_rails *rails = rails_of(hosts);
	const bool of_two = rails->ends[rails->of[rail[0]]] == 2;
	int error = of_two ? add_trees(hosts, rail, count) : 0;

	if (error == 0)
		error = add_ring(hosts, rail, count);
	if (error == 0 && !of_two)
		error = add_trees(hosts, rail, count);
	return error;
}

/* --- channels --- */

static size_t list_tree(struct hosts *hosts, const struct ft_nccl_tree *tree, uint32_t channel)
{
	uint32_t **id = &hosts->maker->id;

	for (size_t i = 0; i < tree->edge_count; i++) {
		*(*id)++ = tree->edges[i].up[channel];
		*(*id)++ = tree->edges[i].down[channel];
	}
	return 2 * tree->edge_count;
}

static size_t list_rest(struct hosts *hosts, const uint32_t *places, size_t count)
{
	size_t listed = 0;

	for (size_t i = 0; i < count; i++)
		if (!hosts->in_ring[places[i]] && !hosts->in_tree[places[i]]) {
			ft_nccl_groups_list_ids(hosts->maker, &places[i], 1);
			listed++;
		}
	return listed;
}

/* Of trees, and of what is in none: these are one if nobody knows which connections are of one channel. */
static void add_channels(struct hosts *hosts, const uint32_t *places, size_t count)
{
	const struct ft_nccl_trees *trees = hosts->trees;
	struct ft_nccl_channel channel = { FT_NCCL_NONE, hosts->maker->id, 0, 0 };

	for (size_t i = 0; i < trees->count; i++)
		for (uint32_t j = 0; j < trees->at[i].channels; j++) {
			channel.connection_count += list_tree(hosts, &trees->at[i], j);
			if (trees->doubtful)
				continue;
			ft_nccl_groups_list_channel(hosts->maker, hosts->communicator, channel);
			channel = (struct ft_nccl_channel){ FT_NCCL_NONE, hosts->maker->id, 0, 0 };
		}
	channel.connection_count += list_rest(hosts, places, count);
	if (channel.connection_count > 0)
		ft_nccl_groups_list_channel(hosts->maker, hosts->communicator, channel);
}

/* --- all of it --- */

static int add_all(struct hosts *hosts, const struct ft_nccl_edges *all)
{
	const size_t half = all->count / 2;
	size_t count;
	int error;

	ft_nccl_trees_free(hosts->trees);
	error = ft_nccl_trees_reserve(hosts->trees, half, half, half);
	for (size_t begin = 0; error == 0 && begin < all->count; begin += count) {
		count = gather(rails_of(hosts)->of, all->at + begin, all->count - begin);
		error = add_rail(hosts, all->at + begin, count);
	}
	if (error == 0)
		add_channels(hosts, all->at, all->count);
	hosts->communicator->trees = hosts->trees->at;
	hosts->communicator->tree_count = hosts->trees->count;
	return error;
}

int ft_nccl_groups_add_hosts(struct ft_nccl_groups_maker *maker,
			     struct ft_nccl_communicator *communicator,
			     const struct ft_nccl_edges *edges)
{
	struct hosts hosts = {
		.maker = maker,
		.communicator = communicator,
		.trees = &maker->memory->trees[communicator->communicator],
		.edges = *edges,
		.in_ring = calloc(maker->connection_count + 1, sizeof *hosts.in_ring),
		.in_tree = calloc(maker->connection_count + 1, sizeof *hosts.in_tree),
	};
	int error = -ENOMEM;

	hosts.edges.at = calloc(edges->count + 1, sizeof *hosts.edges.at);
	if (hosts.edges.at != NULL && hosts.in_ring != NULL && hosts.in_tree != NULL)
		error = add_all(&hosts, edges);
	free(hosts.edges.at);
	free(hosts.in_ring);
	free(hosts.in_tree);
	return error;
}
