#include "group_mixed.h"

#include <errno.h>
#include <stdlib.h>

#include "group_tree_shape.h"
#include "operation_steps.h"

struct plan {
	const struct ft_nccl_tracks *tracks;
	struct ft_nccl_neighbours neighbours;
	uint32_t members, channels;
	uint32_t first[2], count[2]; /* channels of each tree */
};

static bool is_in_ring(const struct plan *plan, uint32_t from, uint32_t to)
{
	return to == (from + 1) % plan->members;
}

static bool is_in_tree(const struct plan *plan, uint32_t tree, uint32_t a, uint32_t b)
{
	return ft_nccl_tree_has(tree, a, b, plan->members);
}

static struct ft_nccl_direction way_of(const struct plan *plan, uint32_t from, uint32_t to)
{
	return ft_nccl_direction_of(&plan->neighbours, from, to);
}

/* Connections that there are to be from one member to another. */
static size_t expected(const struct plan *plan, uint32_t from, uint32_t to)
{
	size_t count = 0;

	if (is_in_ring(plan, from, to))
		return plan->channels;
	for (uint32_t tree = 0; tree < 2; tree++)
		count += is_in_tree(plan, tree, from, to) ? plan->count[tree] : 0;
	return count;
}

/* Of a tree as many channels as there are connections that only it has. False: it has none of its own. */
static bool count_channels(struct plan *plan, uint32_t tree)
{
	for (uint32_t child = 0; child < plan->members; child++) {
		const uint32_t parent = ft_nccl_tree_parent(tree, child, plan->members);

		if (parent == FT_NCCL_NONE || is_in_tree(plan, 1 - tree, child, parent))
			continue;
		if (!is_in_ring(plan, child, parent))
			plan->count[tree] = (uint32_t)way_of(plan, child, parent).count;
		else
			plan->count[tree] = (uint32_t)way_of(plan, parent, child).count;
		return true;
	}
	return false;
}

static uint32_t most_channels(const struct plan *plan, uint32_t tree)
{
	return tree == 0 ? plan->channels / 2 : plan->channels - plan->channels / 2;
}

static bool is_full(const struct plan *plan, uint32_t tree)
{
	return plan->count[tree] == most_channels(plan, tree);
}

/* The number of connections is right, and they are in the order of their channels. */
static bool is_explained(const struct plan *plan, uint32_t from, uint32_t to)
{
	const struct ft_nccl_direction way = way_of(plan, from, to);

	return way.count == expected(plan, from, to) &&
	       ft_nccl_direction_is_ordered(&plan->neighbours, &way);
}

static bool are_all_there(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->members; i++) {
		if (!is_explained(plan, i, (i + 1) % plan->members))
			return false;
		for (uint32_t tree = 0; tree < 2; tree++) {
			const uint32_t parent = ft_nccl_tree_parent(tree, i, plan->members);

			if (parent != FT_NCCL_NONE &&
			    !(is_explained(plan, i, parent) && is_explained(plan, parent, i)))
				return false;
		}
	}
	return true;
}

/* What receivers offer where only a tree goes is what they offer for a step of one. */
static bool are_steps(const struct plan *plan, const struct ft_nccl_couple *couple)
{
	const bool there = is_in_ring(plan, couple->low, couple->high);
	const bool back = is_in_ring(plan, couple->high, couple->low);

	for (size_t i = 0; i < couple->each + couple->back; i++)
		if (!(i < couple->each ? there : back) &&
		    !ft_nccl_are_steps(&plan->tracks->at[couple->links[i].at]))
			return false;
	return true;
}

static bool make_plan(struct plan *plan)
{
	const struct ft_nccl_neighbours *neighbours = &plan->neighbours;

	plan->channels = (uint32_t)way_of(plan, 0, 1).count;
	plan->first[1] = plan->channels / 2;
	if (plan->channels == 0 || !count_channels(plan, 0) || !count_channels(plan, 1) ||
	    plan->count[0] + plan->count[1] == 0 || plan->count[0] > most_channels(plan, 0) ||
	    plan->count[1] > most_channels(plan, 1) || !are_all_there(plan))
		return false;
	for (size_t i = 0; i < neighbours->count; i++) {
		const struct ft_nccl_couple *couple = &neighbours->couples[i];

		if (!is_explained(plan, couple->low, couple->high) ||
		    !is_explained(plan, couple->high, couple->low) || !are_steps(plan, couple))
			return false;
	}
	return true;
}

/* --- what is told of it --- */

/* The connection from one member to another on channel `i` of a tree. */
static const struct ft_nccl_link *link_of(const struct plan *plan, uint32_t tree, uint32_t i,
					  uint32_t from, uint32_t to)
{
	const struct ft_nccl_link *links = way_of(plan, from, to).links;

	if (is_in_ring(plan, from, to))
		return &links[plan->first[tree] + i];
	return &links[tree == 1 && is_in_tree(plan, 0, from, to) ? plan->count[0] + i : i];
}

struct place {
	const struct plan *plan;
	uint32_t tree;
};

static uint32_t id_of(const void *context, uint32_t channel, uint32_t from, uint32_t to)
{
	const struct place *place = context;

	return link_of(place->plan, place->tree, channel, from, to)->connection->connection;
}

/* 0 or -ENOMEM. */
static int add_trees(const struct plan *plan, struct ft_nccl_trees *trees)
{
	uint32_t *parents = calloc(plan->members, sizeof *parents);

	if (parents == NULL)
		return -ENOMEM;
	for (uint32_t number = 0; number < 2; number++) {
		const struct place place = { plan, number };
		const struct ft_nccl_tree_form form = { .number = number,
							.members = plan->members,
							.channels = plan->count[number],
							.parents = parents,
							.id = id_of,
							.context = &place };

		for (uint32_t i = 0; i < plan->members; i++)
			parents[i] = ft_nccl_tree_parent(number, i, plan->members);
		if (form.channels > 0)
			ft_nccl_trees_add(trees, &form);
	}
	free(parents);
	return 0;
}

/* What a tree has on one of its channels besides the ring; returns where that ends. */
static uint32_t *add_beside_ring(const struct plan *plan, uint32_t tree, uint32_t i, uint32_t *at)
{
	for (uint32_t child = 0; child < plan->members; child++) {
		const uint32_t parent = ft_nccl_tree_parent(tree, child, plan->members);

		if (parent == FT_NCCL_NONE)
			continue;
		if (!is_in_ring(plan, child, parent))
			*at++ = link_of(plan, tree, i, child, parent)->at;
		if (!is_in_ring(plan, parent, child))
			*at++ = link_of(plan, tree, i, parent, child)->at;
	}
	return at;
}

static void add_channels(const struct plan *plan, struct ft_nccl_mixed *mixed)
{
	uint32_t *at = mixed->at, *assigned;

	for (uint32_t i = 0; i < plan->channels; i++) {
		const uint32_t tree = i < plan->first[1] ? 0 : 1;

		for (uint32_t j = 0; j < plan->members; j++)
			*at++ = way_of(plan, j, (j + 1) % plan->members).links[i].at;
		if (is_full(plan, tree))
			at = add_beside_ring(plan, tree, i - plan->first[tree], at);
		mixed->ends[i] = (size_t)(at - mixed->at);
	}
	assigned = at;
	for (uint32_t tree = 0; tree < 2; tree++)
		for (uint32_t i = 0; !is_full(plan, tree) && i < plan->count[tree]; i++)
			at = add_beside_ring(plan, tree, i, at);
	mixed->unassigned = (size_t)(at - assigned);
	mixed->channels = plan->channels;
}

static int reserve(struct ft_nccl_mixed *mixed, size_t connections)
{
	mixed->at = calloc(connections, sizeof *mixed->at);
	mixed->ends = calloc(connections, sizeof *mixed->ends);
	return mixed->at != NULL && mixed->ends != NULL ? 0 : -ENOMEM;
}

int ft_nccl_members_mixed(struct ft_nccl_mixed *mixed, struct ft_nccl_trees *trees,
			  const struct ft_nccl_edges *edges, const struct ft_nccl_tracks *tracks)
{
	struct plan plan = { .members = edges->member_count, .tracks = tracks };
	int error;

	*mixed = (struct ft_nccl_mixed){ 0 };
	*trees = (struct ft_nccl_trees){ 0 };
	if (edges->member_count < FT_NCCL_TREE_LEAST || edges->count < edges->member_count ||
	    !ft_nccl_edges_have_ranks(edges))
		return 0;
	error = ft_nccl_neighbours_find(&plan.neighbours, edges);
	if (error == 0 && make_plan(&plan)) {
		error = ft_nccl_trees_reserve(trees, 2, 2 * (size_t)edges->member_count,
					      edges->count);
		if (error == 0)
			error = reserve(mixed, edges->count);
		if (error == 0)
			error = add_trees(&plan, trees);
		if (error == 0)
			add_channels(&plan, mixed);
	}
	ft_nccl_neighbours_free(&plan.neighbours);
	return error == -ENOENT ? 0 : error;
}

void ft_nccl_mixed_free(struct ft_nccl_mixed *mixed)
{
	free(mixed->at);
	free(mixed->ends);
	*mixed = (struct ft_nccl_mixed){ 0 };
}
