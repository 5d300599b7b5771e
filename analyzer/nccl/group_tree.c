#include "group_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "group_order.h"
#include "group_tree_shape.h"
#include "operation_steps.h"

struct maker {
	struct ft_nccl_trees *trees;
	const struct ft_nccl_edges *edges;
	struct ft_nccl_neighbours neighbours;
	struct ft_nccl_shape shapes[2];
	const struct ft_nccl_tracks *tracks;
};

/* --- what messages say --- */

/* Each way connections are in an order. */
static bool is_ordered(const struct maker *maker, const struct ft_nccl_couple *pair)
{
	const struct ft_nccl_neighbours *neighbours = &maker->neighbours;
	const struct ft_nccl_direction up = ft_nccl_direction_of(neighbours, pair->low, pair->high);
	const struct ft_nccl_direction down =
		ft_nccl_direction_of(neighbours, pair->high, pair->low);

	return ft_nccl_direction_is_ordered(neighbours, &up) &&
	       ft_nccl_direction_is_ordered(neighbours, &down);
}

/* From the lower member against from the higher one, from channel `from` on. */
static struct ft_nccl_link_order order_of(const struct maker *maker,
					  const struct ft_nccl_couple *pair, size_t from,
					  size_t count)
{
	struct ft_nccl_link_order order = { 0 };

	for (size_t i = from; i < from + count; i++)
		ft_nccl_links_compare(&order, maker->tracks, &pair->links[i],
				      &pair->links[pair->each + i]);
	return order;
}

/* Without ranks that tell: what goes up comes first, every time. */
static bool shape_by_messages(const struct maker *maker, struct ft_nccl_shape *shape)
{
	const struct ft_nccl_neighbours *neighbours = &maker->neighbours;

	shape->number = FT_NCCL_NONE;
	for (uint32_t i = 0; i < neighbours->members; i++)
		shape->parents[i] = FT_NCCL_NONE;
	for (size_t i = 0; i < neighbours->count; i++) {
		const struct ft_nccl_couple *pair = &neighbours->couples[i];
		const struct ft_nccl_link_order order = order_of(maker, pair, 0, pair->each);
		const uint32_t child = order.first > 0 ? pair->low : pair->high;

		if (pair->each != neighbours->couples[0].each || order.differ ||
		    (order.first == 0) == (order.second == 0) ||
		    shape->parents[child] != FT_NCCL_NONE || !is_ordered(maker, pair))
			return false;
		shape->parents[child] = child == pair->low ? pair->high : pair->low;
	}
	return ft_nccl_shape_is_tree(shape, neighbours->members);
}

/* --- the trees --- */

static size_t channels_of_each(const struct maker *maker, size_t count)
{
	size_t links = 0;

	for (size_t i = 0; i < maker->neighbours.count; i++)
		links += maker->neighbours.couples[i].each;
	return links / count / (maker->neighbours.members - 1);
}

/* Where the connections of tree `number` of so many begin in a pair: those of the first tree were made first. */
static size_t begin_in(const struct ft_nccl_couple *pair, size_t number, size_t channels)
{
	return pair->each > channels ? number * channels : 0;
}

/* Nothing contradicts it: what goes up comes first, and is as long as what comes down. */
static bool is_borne_out(const struct maker *maker, const struct ft_nccl_shape *shape,
			 size_t number, size_t channels)
{
	for (uint32_t i = 0; i < maker->neighbours.members; i++) {
		const struct ft_nccl_couple *pair;
		struct ft_nccl_link_order order;

		if (shape->parents[i] == FT_NCCL_NONE)
			continue;
		pair = ft_nccl_couple_of(&maker->neighbours, i, shape->parents[i]);
		if (!is_ordered(maker, pair))
			return false;
		order = order_of(maker, pair, begin_in(pair, number, channels), channels);
		if (order.differ || (pair->low == i ? order.second : order.first) != 0)
			return false;
	}
	return true;
}

struct place {
	const struct maker *maker;
	size_t number, channels;
};

static uint32_t id_of(const void *context, uint32_t channel, uint32_t from, uint32_t to)
{
	const struct place *place = context;
	const struct ft_nccl_couple *pair = ft_nccl_couple_of(&place->maker->neighbours, from, to);
	const size_t begin = begin_in(pair, place->number, place->channels);

	return pair->links[(pair->low == from ? 0 : pair->each) + begin + channel]
		.connection->connection;
}

static void add_trees(struct maker *maker, size_t count)
{
	const size_t channels = channels_of_each(maker, count);

	for (size_t i = 0; i < count; i++) {
		const struct place place = { maker, i, channels };
		const struct ft_nccl_tree_form form = { .number = maker->shapes[i].number,
							.members = maker->neighbours.members,
							.channels = (uint32_t)channels,
							.parents = maker->shapes[i].parents,
							.id = id_of,
							.context = &place };

		ft_nccl_trees_add(maker->trees, &form);
	}
}

/* What receivers offer on all of them is what they offer where a collective takes a step, not what sends have. */
static bool are_steps(const struct maker *maker)
{
	for (size_t i = 0; i < maker->edges->count; i++)
		if (!ft_nccl_are_steps(&maker->tracks->at[maker->edges->at[i]]))
			return false;
	return true;
}

static size_t find_shapes(struct maker *maker)
{
	size_t count = 0, channels;

	if (!are_steps(maker))
		return 0;
	if (ft_nccl_edges_have_ranks(maker->edges))
		count = ft_nccl_shapes_by_rank(&maker->neighbours, maker->shapes);
	if (count == 0)
		return maker->neighbours.count == maker->neighbours.members - 1 &&
				       shape_by_messages(maker, &maker->shapes[0])
			       ? 1
			       : 0;
	channels = channels_of_each(maker, count);
	for (size_t i = 0; i < count; i++)
		if (!is_borne_out(maker, &maker->shapes[i], i, channels))
			return 0;
	return count;
}

static int find(struct maker *maker)
{
	int error = ft_nccl_neighbours_find(&maker->neighbours, maker->edges);
	size_t count = 0;

	if (error == 0 && maker->neighbours.both_ways)
		count = find_shapes(maker);
	if (count != 0)
		add_trees(maker, count);
	ft_nccl_neighbours_free(&maker->neighbours);
	return error == -ENOENT ? 0 : error;
}

int ft_nccl_members_trees(struct ft_nccl_trees *trees, const struct ft_nccl_edges *edges,
			  const struct ft_nccl_tracks *tracks)
{
	const size_t members = edges->member_count;
	struct maker maker = { .trees = trees, .edges = edges, .tracks = tracks };
	int error = -ENOMEM;

	*trees = (struct ft_nccl_trees){ 0 };
	if (members < FT_NCCL_TREE_LEAST || edges->count < 2 * (members - 1))
		return 0;
	maker.shapes[0].parents = calloc(2 * members, sizeof *maker.shapes[0].parents);
	if (maker.shapes[0].parents != NULL)
		error = ft_nccl_trees_reserve(trees, 2, 2 * members, edges->count);
	if (error == 0) {
		maker.shapes[1].parents = maker.shapes[0].parents + members;
		error = find(&maker);
	}
	free(maker.shapes[0].parents);
	if (trees->count == 0)
		ft_nccl_trees_free(trees);
	return error;
}
