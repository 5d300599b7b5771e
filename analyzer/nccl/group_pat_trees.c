#include "group_pat_trees.h"

#include <errno.h>
#include <stdlib.h>

#include "group_links.h"
#include "group_tree_shape.h"

enum { LEAST = 4 }; /* of three members none has neighbours enough to show what was first */

struct plan {
	struct ft_nccl_pat *pat;
	const struct ft_nccl_edges *edges;
	uint32_t members, half; /* channels of each tree */
	size_t row;             /* connections of a channel */
	bool by_setup;
	bool ring_first; /* the ring's were made before the trees' */
};

/* pat->count: none. */
static size_t place_of(const struct ft_nccl_pat *pat, uint32_t distance)
{
	size_t place = 0;

	while (place < pat->count && pat->distances[place].ranks != distance)
		place++;
	return place;
}

static const struct ft_nccl_connection *connection_at(const struct plan *plan, uint32_t channel,
						      size_t place, uint32_t from)
{
	const size_t at = channel * plan->row + place * plan->members + from;

	return plan->edges->connections[plan->pat->at[at]];
}

static uint64_t made(const struct plan *plan, uint32_t channel, size_t place, uint32_t from)
{
	return ft_nccl_link_made(connection_at(plan, channel, place, from), plan->by_setup);
}

static bool is_in_tree(const struct plan *plan, uint32_t tree, size_t place, uint32_t from)
{
	const uint32_t to = (from + plan->pat->distances[place].ranks) % plan->members;

	return ft_nccl_tree_has(tree, from, to, plan->members);
}

/* So many of the connections that one member has to another were made for trees: the first ones, if trees were first. */
static uint32_t count_of_trees(const struct plan *plan, size_t place, uint32_t from)
{
	return (is_in_tree(plan, 0, place, from) ? plan->half : 0) +
	       (is_in_tree(plan, 1, place, from) ? plan->half : 0);
}

/* What was made of them: the last for the ring, the first and last for trees, the first for PAT. */
struct times {
	uint64_t ring_last, tree_first, tree_last, pat_first;
};

static void widen(const struct plan *plan, uint32_t from, struct times *times)
{
	for (size_t place = 0; place < plan->pat->count; place++)
		for (uint32_t i = 0; i < 2 * plan->half; i++) {
			const uint64_t at = made(plan, i, place, from);

			if (place == 0 && plan->ring_first) {
				times->ring_last = at > times->ring_last ? at : times->ring_last;
			} else if (i < count_of_trees(plan, place, from)) {
				times->tree_first = at < times->tree_first ? at : times->tree_first;
				times->tree_last = at > times->tree_last ? at : times->tree_last;
			} else {
				times->pat_first = at < times->pat_first ? at : times->pat_first;
			}
		}
}

/* Of each member, or, by set-ups, of all: first come those of the ring, then those of trees. */
static bool are_trees_first(const struct plan *plan)
{
	static const struct times none = { 0, UINT64_MAX, 0, UINT64_MAX };
	struct times times = none;

	for (uint32_t from = 0; from < plan->members; from++) {
		if (!plan->by_setup)
			times = none;
		widen(plan, from, &times);
		if (times.ring_last >= times.tree_first || times.tree_last >= times.pat_first)
			return false;
	}
	return true;
}

/* Of those along the second tree alone the ones of its channels were made first. */
static void turn(const struct plan *plan)
{
	uint32_t *at = plan->pat->at;

	for (size_t i = 0; i < plan->row; i++) {
		const size_t place = i / plan->members;
		const uint32_t from = (uint32_t)(i % plan->members);

		if ((place == 0 && plan->ring_first) || is_in_tree(plan, 0, place, from) ||
		    !is_in_tree(plan, 1, place, from))
			continue;
		for (uint32_t j = 0; j < plan->half; j++) {
			uint32_t *low = &at[j * plan->row + i];
			uint32_t *high = &at[(plan->half + j) * plan->row + i];
			const uint32_t other = *low;

			*low = *high;
			*high = other;
		}
	}
}

static uint32_t id_between(const struct plan *plan, uint32_t channel, uint32_t from, uint32_t to)
{
	const size_t place = place_of(plan->pat, (to + plan->members - from) % plan->members);

	return connection_at(plan, channel, place, from)->connection;
}

struct place {
	const struct plan *plan;
	uint32_t tree;
};

static uint32_t id_of(const void *context, uint32_t channel, uint32_t from, uint32_t to)
{
	const struct place *place = context;

	return id_between(place->plan, place->tree * place->plan->half + channel, from, to);
}

/* 0 or -ENOMEM. */
static int add_trees(const struct plan *plan, struct ft_nccl_trees *trees)
{
	uint32_t *parents = calloc(plan->members, sizeof *parents);
	int error = ft_nccl_trees_reserve(trees, 2, 2 * (size_t)plan->members, plan->edges->count);

	if (parents == NULL)
		error = -ENOMEM;
	for (uint32_t number = 0; error == 0 && number < 2; number++) {
		const struct place place = { plan, number };
		const struct ft_nccl_tree_form form = { .number = number,
							.members = plan->members,
							.channels = plan->half,
							.parents = parents,
							.id = id_of,
							.context = &place };

		for (uint32_t i = 0; i < plan->members; i++)
			parents[i] = ft_nccl_tree_parent(number, i, plan->members);
		ft_nccl_trees_add(trees, &form);
	}
	free(parents);
	return error;
}

/* Both kinds have all channels. */
static bool is_complete(const struct ft_nccl_pat *pat, uint32_t members)
{
	for (uint32_t i = 0; i < 2 * ft_nccl_pat_dimensions(members); i++) {
		const size_t place =
			place_of(pat, ft_nccl_pat_distance(i % 2 != 0, i / 2, members));

		if (place == pat->count || pat->distances[place].channels != pat->channels)
			return false;
	}
	return true;
}

int ft_nccl_pat_find_trees(struct ft_nccl_pat *pat, struct ft_nccl_trees *trees,
			   const struct ft_nccl_edges *edges)
{
	struct plan plan = { .pat = pat,
			     .edges = edges,
			     .members = edges->member_count,
			     .half = pat->channels / 2,
			     .row = pat->count * edges->member_count,
			     .by_setup = ft_nccl_links_have_setups(edges),
			     .ring_first = true };

	if (plan.members < LEAST || pat->channels < 2 || pat->channels % 2 != 0 ||
	    !is_complete(pat, plan.members))
		return 0;
	if (!are_trees_first(&plan)) {
		plan.ring_first = false;
		if (!are_trees_first(&plan))
			return 0;
	}
	turn(&plan);
	return add_trees(&plan, trees);
}
