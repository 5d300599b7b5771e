#include "group_host_trees.h"

#include <errno.h>
#include <stdlib.h>

#include "group_host_channels.h"
#include "group_tree_shape.h"
#include "operation_steps.h"

/* A host, and the ranks that send there. */
struct node {
	uint32_t end;
	int32_t low, high;
	bool has_rank;
};

struct finder {
	struct ft_nccl_edges *edges;
	const struct ft_nccl_tracks *tracks;
	size_t link_count;
	struct node *nodes; /* by end; later by rank, and behind them hosts that have none */
	uint32_t node_count;
	uint32_t *node_of; /* by end */
	int32_t *lowest;   /* rank of each node */
	struct ft_nccl_neighbours neighbours;
	uint32_t *parents[2]; /* of each node in each tree */
	struct ft_nccl_host_channels channels;
};

/* --- which connections, between which hosts --- */

/* What a collective takes in steps passed there, and not only a ring's. */
static bool is_stepped(const struct finder *finder, uint32_t place)
{
	const struct ft_nccl_rails *rails = &finder->edges->members->rails;
	const struct ft_nccl_track *track = &finder->tracks->at[place];

	return rails->sender[place] != FT_NCCL_NONE && rails->receiver[place] != FT_NCCL_NONE &&
	       rails->sender[place] != rails->receiver[place] && track->count > 0 &&
	       (ft_nccl_are_steps(track) ||
		(ft_nccl_has_simple_step(track) && ft_nccl_are_steps_or_slices(track)));
}

/* To the front. */
static void keep_stepped(struct finder *finder)
{
	struct ft_nccl_edges *edges = finder->edges;

	for (size_t i = 0; i < edges->count; i++) {
		const uint32_t place = edges->at[i];

		if (!is_stepped(finder, place))
			continue;
		edges->at[i] = edges->at[finder->link_count];
		edges->at[finder->link_count++] = place;
	}
}

static void widen(struct node *node, const struct ft_nccl_party *sender)
{
	if (!sender->has_rank)
		return;
	if (!node->has_rank || sender->rank < node->low)
		node->low = sender->rank;
	if (!node->has_rank || sender->rank > node->high)
		node->high = sender->rank;
	node->has_rank = true;
}

static int compare(const void *a, const void *b)
{
	const struct node *left = a, *right = b;

	if (left->has_rank != right->has_rank)
		return left->has_rank ? -1 : 1;
	return (left->low > right->low) - (left->low < right->low);
}

/* In the order of their ranks, which do not overlap. False: there is none. */
static bool number_nodes(struct finder *finder, uint32_t ends)
{
	const struct ft_nccl_edges *edges = finder->edges;
	const struct ft_nccl_rails *rails = &edges->members->rails;

	for (uint32_t i = 0; i < ends; i++)
		finder->nodes[i].end = i;
	for (size_t i = 0; i < finder->link_count; i++) {
		const uint32_t place = edges->at[i];

		widen(&finder->nodes[rails->sender[place]], &edges->connections[place]->sender);
	}
	qsort(finder->nodes, ends, sizeof *finder->nodes, compare);
	for (uint32_t i = 0; i < ends; i++) {
		const struct node *node = &finder->nodes[i];

		finder->node_of[node->end] = node->has_rank ? i : FT_NCCL_NONE;
		finder->node_count += node->has_rank ? 1 : 0;
		if (i > 0 && node->has_rank && node->low <= node[-1].high)
			return false;
	}
	return finder->node_count > 1;
}

static bool list_links(struct finder *finder)
{
	const struct ft_nccl_edges *edges = finder->edges;
	const struct ft_nccl_rails *rails = &edges->members->rails;
	struct ft_nccl_neighbours *neighbours = &finder->neighbours;
	struct ft_nccl_edges stepped = *edges;

	stepped.count = finder->link_count;
	neighbours->by_setup = ft_nccl_links_have_setups(&stepped);
	for (size_t i = 0; i < finder->link_count; i++) {
		struct ft_nccl_link *link = &neighbours->links[i];
		const uint32_t place = edges->at[i];

		*link = ft_nccl_link_of(edges, i, neighbours->by_setup);
		link->from = finder->node_of[rails->sender[place]];
		link->to = finder->node_of[rails->receiver[place]];
		if (link->from == FT_NCCL_NONE || link->to == FT_NCCL_NONE)
			return false;
	}
	ft_nccl_neighbours_list(neighbours, finder->link_count);
	return neighbours->both_ways || finder->node_count == 2;
}

/* --- how many channels each tree has --- */

static bool is_in(const struct finder *finder, uint32_t tree, uint32_t a, uint32_t b)
{
	return ft_nccl_tree_has(tree, a, b, finder->node_count);
}

/* As many as there are connections that only it has. False: it has none of its own. */
static bool count_channels(struct finder *finder, uint32_t tree)
{
	for (uint32_t child = 0; child < finder->node_count; child++) {
		const uint32_t parent = finder->parents[tree][child];

		if (parent == FT_NCCL_NONE || is_in(finder, 1 - tree, child, parent))
			continue;
		finder->channels.count[tree] =
			(uint32_t)ft_nccl_direction_of(&finder->neighbours, child, parent).count;
		return true;
	}
	return false;
}

static size_t expected(const struct finder *finder, uint32_t a, uint32_t b)
{
	return (is_in(finder, 0, a, b) ? finder->channels.count[0] : 0) +
	       (is_in(finder, 1, a, b) ? finder->channels.count[1] : 0);
}

/* All connections of both trees are there, and no others. */
static bool are_explained(const struct finder *finder)
{
	for (size_t i = 0; i < finder->neighbours.count; i++) {
		const struct ft_nccl_couple *couple = &finder->neighbours.couples[i];

		if (couple->each != expected(finder, couple->low, couple->high))
			return false;
	}
	for (uint32_t tree = 0; tree < 2; tree++)
		for (uint32_t child = 0;
		     finder->channels.count[tree] > 0 && child < finder->node_count; child++)
			if (finder->parents[tree][child] != FT_NCCL_NONE &&
			    ft_nccl_couple_of(&finder->neighbours, child,
					      finder->parents[tree][child]) == NULL)
				return false;
	return true;
}

/* --- what is told of it --- */

/* Channels of a tree, from one on, that go by the same processes. */
struct place {
	const struct finder *finder;
	uint32_t tree, first;
};

static const struct ft_nccl_link *link_at(const struct place *place, uint32_t channel,
					  uint32_t from, uint32_t to)
{
	const struct finder *finder = place->finder;
	const struct ft_nccl_host_edge *nodes =
		&finder->channels
			 .at[place->tree][(place->first + channel) * (size_t)finder->node_count];

	return finder->parents[place->tree][from] == to ? nodes[from].up : nodes[to].down;
}

static uint32_t id_of(const void *context, uint32_t channel, uint32_t from, uint32_t to)
{
	return link_at(context, channel, from, to)->connection->connection;
}

static uint32_t member_of(const void *context, uint32_t from, uint32_t to)
{
	const struct place *place = context;
	const struct ft_nccl_edges *edges = place->finder->edges;
	const uint32_t sender = edges->members->sender[link_at(place, 0, from, to)->at];

	return sender != FT_NCCL_NONE ? sender - edges->first : FT_NCCL_NONE;
}

static bool goes_the_same_way(const struct place *place, uint32_t channel)
{
	for (uint32_t child = 0; child < place->finder->node_count; child++) {
		const uint32_t parent = place->finder->parents[place->tree][child];

		if (parent == FT_NCCL_NONE)
			continue;
		if (link_at(place, 0, child, parent)->connection->sender.rank !=
			    link_at(place, channel, child, parent)->connection->sender.rank ||
		    link_at(place, 0, parent, child)->connection->sender.rank !=
			    link_at(place, channel, parent, child)->connection->sender.rank)
			return false;
	}
	return true;
}

static void add_trees(const struct finder *finder, uint32_t tree, struct ft_nccl_trees *trees)
{
	struct place place = { finder, tree, 0 };
	struct ft_nccl_tree_form form = { .number = tree,
					  .members = finder->node_count,
					  .parents = finder->parents[tree],
					  .id = id_of,
					  .member = member_of,
					  .context = &place };

	for (; place.first < finder->channels.count[tree]; place.first += form.channels) {
		form.channels = 1;
		while (place.first + form.channels < finder->channels.count[tree] &&
		       goes_the_same_way(&place, form.channels))
			form.channels++;
		ft_nccl_trees_add(trees, &form);
	}
}

enum { UNNAMED_LEAST = 4 };

/* Ranks go up evenly, and those of a host leave room for others. */
static bool are_even(const struct finder *finder)
{
	const int32_t *lowest = finder->lowest, step = lowest[1] - lowest[0];

	for (uint32_t i = 2; i < finder->node_count; i++)
		if (lowest[i] - lowest[i - 1] != step)
			return false;
	return step > 1;
}

static bool are_in_both(const struct finder *finder, const struct ft_nccl_link *link)
{
	return is_in(finder, 0, link->from, link->to) && is_in(finder, 1, link->from, link->to);
}

static bool are_all_numbered(const struct ft_nccl_track *track)
{
	return track->numbered && !track->lacks_numbers;
}

/*
 * Where no set-up names hosts, those with several addresses may be several nodes, unless they are some whose ranks go up
 * evenly. Where not all hosts have connections in view, these may be a part of a tree. What rings and trees have in common has steps
 * that nobody can count if there were others before the capture. Those whose own tags do not name who
 * sends may be of any channel, and those between hosts that are neighbours in both trees, of which not all messages have
 * numbers, of either tree.
 */
static bool are_doubtful(const struct finder *finder)
{
	const struct ft_nccl_rails *rails = &finder->edges->members->rails;
	const uint32_t rail = rails->of[finder->edges->at[0]];

	if (rails->by_host[rail] ? finder->node_count < rails->ends[rail]
				 : finder->node_count < UNNAMED_LEAST || !are_even(finder))
		return true;
	for (size_t i = 0; i < finder->link_count; i++) {
		const struct ft_nccl_link *link = &finder->neighbours.links[i];
		const struct ft_nccl_track *track = &finder->tracks->at[link->at];

		if (!finder->edges->members->named[link->at] ||
		    (are_in_both(finder, link) && !are_all_numbered(track)) ||
		    (track->first_k != 0 && ft_nccl_has_slice(track)))
			return true;
	}
	return false;
}

/* Those that are in none behind them. */
static void list_connections(struct finder *finder)
{
	uint32_t *at = finder->edges->at;

	for (uint32_t tree = 0; tree < 2; tree++)
		for (size_t i = 0; i < finder->channels.count[tree] * (size_t)finder->node_count;
		     i++) {
			const struct ft_nccl_host_edge *edge = &finder->channels.at[tree][i];

			if (edge->up == NULL)
				continue;
			*at++ = edge->up->at;
			*at++ = edge->down->at;
		}
	finder->edges->count = (size_t)(at - finder->edges->at);
	for (size_t i = 0; i < finder->link_count; i++)
		if (!finder->channels.taken[i])
			*at++ = finder->neighbours.links[i].at;
}

/* --- all of it --- */

static int reserve_nodes(struct finder *finder, uint32_t ends)
{
	finder->nodes = calloc(ends + 1, sizeof *finder->nodes);
	finder->node_of = calloc(ends + 1, sizeof *finder->node_of);
	return finder->nodes != NULL && finder->node_of != NULL ? 0 : -ENOMEM;
}

static int reserve_trees(struct finder *finder)
{
	const size_t nodes = finder->node_count;
	int error = ft_nccl_neighbours_reserve(&finder->neighbours, finder->link_count,
					       finder->node_count);

	finder->lowest = calloc(nodes, sizeof *finder->lowest);
	finder->parents[0] = calloc(2 * nodes, sizeof *finder->parents[0]);
	if (finder->lowest == NULL || finder->parents[0] == NULL)
		return -ENOMEM;
	finder->parents[1] = finder->parents[0] + nodes;
	for (size_t i = 0; i < nodes; i++)
		finder->lowest[i] = finder->nodes[i].low;
	for (uint32_t tree = 0; tree < 2; tree++)
		for (uint32_t i = 0; i < nodes; i++)
			finder->parents[tree][i] = ft_nccl_tree_parent(tree, i, finder->node_count);
	return error;
}

/* 0, -ENOMEM, or -ENOENT: there are no trees. */
static int find(struct finder *finder)
{
	const struct ft_nccl_rails *rails = &finder->edges->members->rails;
	const uint32_t ends = rails->ends[rails->of[finder->edges->at[0]]];
	int error = reserve_nodes(finder, ends);

	if (error != 0)
		return error;
	keep_stepped(finder);
	if (finder->link_count == 0 || !number_nodes(finder, ends))
		return -ENOENT;
	error = reserve_trees(finder);
	if (error != 0)
		return error;
	if (!list_links(finder))
		return -ENOENT;
	if (finder->node_count > 2 &&
	    !(count_channels(finder, 0) && count_channels(finder, 1) && are_explained(finder)))
		return -ENOENT;
	finder->channels.neighbours = &finder->neighbours;
	finder->channels.tracks = finder->tracks;
	finder->channels.lowest = finder->lowest;
	finder->channels.parents[0] = finder->parents[0];
	finder->channels.parents[1] = finder->parents[1];
	return ft_nccl_host_channels_find(&finder->channels, finder->link_count);
}

int ft_nccl_hosts_trees(struct ft_nccl_trees *trees, struct ft_nccl_edges *edges,
			const struct ft_nccl_tracks *tracks)
{
	struct finder finder = { .edges = edges, .tracks = tracks };
	const int error = edges->count > 0 ? find(&finder) : -ENOENT;

	edges->count = 0;
	if (error == 0) {
		add_trees(&finder, 0, trees);
		add_trees(&finder, 1, trees);
		trees->doubtful |= finder.channels.doubtful || are_doubtful(&finder);
		list_connections(&finder);
	}
	ft_nccl_host_channels_free(&finder.channels);
	ft_nccl_neighbours_free(&finder.neighbours);
	free(finder.nodes);
	free(finder.node_of);
	free(finder.lowest);
	free(finder.parents[0]);
	return error == -ENOENT ? 0 : error;
}
