#include "group_host_pairs.h"

#include <errno.h>
#include <stdlib.h>

#include "group_host_slots.h"
#include "group_order.h"
#include "operation_steps.h"

enum { ANSWERED_SURELY = 4 }; /* so many messages follow others by accident once in sixteen times */

/* A connection of one way, and one of the other, which may be those of a tree's channel. */
struct pair {
	const struct ft_nccl_link *up, *down;
	uint32_t tree;
	uint64_t messages, gap_ns; /* answered; between a message and its answer, on average */
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	if (left->gap_ns != right->gap_ns)
		return left->gap_ns < right->gap_ns ? -1 : 1;
	if (left->up != right->up)
		return left->up < right->up ? -1 : 1;
	return (left->down > right->down) - (left->down < right->down);
}

/* Each message of the one is answered on the other, always the same way round, and some are a step of a tree's own. */
static bool is_pair(const struct ft_nccl_host_channels *channels, const struct ft_nccl_link *there,
		    const struct ft_nccl_link *back, struct pair *pair)
{
	struct ft_nccl_link_order order = { 0 };

	if (!ft_nccl_has_simple_step(&channels->tracks->at[there->at]) ||
	    !ft_nccl_has_simple_step(&channels->tracks->at[back->at]))
		return false;
	ft_nccl_links_compare(&order, channels->tracks, there, back);
	if (order.overlap || order.differ || (order.first == 0) == (order.second == 0))
		return false;
	*pair = order.first > 0 ? (struct pair){ .up = there, .down = back, .tree = 1 }
				: (struct pair){ .up = back, .down = there, .tree = 0 };
	pair->messages = order.first + order.second;
	pair->gap_ns = order.gap_ns / pair->messages;
	return true;
}

/* Neither of the two is of another one yet. */
static bool is_open(const struct ft_nccl_host_channels *channels, const struct pair *pair)
{
	return !*ft_nccl_host_taken(channels, pair->up) &&
	       !*ft_nccl_host_taken(channels, pair->down);
}

/* No other pair could still have one of its two. */
static bool is_only_one(const struct ft_nccl_host_channels *channels, const struct pair *pairs,
			size_t count, size_t at)
{
	bool up = true, down = true;

	for (size_t i = 0; i < count; i++) {
		const struct pair *other = &pairs[i];

		if (i == at || !is_open(channels, other))
			continue;
		up &= other->up != pairs[at].up && other->down != pairs[at].up;
		down &= other->up != pairs[at].down && other->down != pairs[at].down;
	}
	return up || down;
}

/* One that has no alternative, or else the first one; NULL: there are no more. */
static const struct pair *next_pair(struct ft_nccl_host_channels *channels,
				    const struct pair *pairs, size_t count)
{
	const struct pair *first = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!is_open(channels, &pairs[i]))
			continue;
		if (is_only_one(channels, pairs, count, i))
			return &pairs[i];
		first = first == NULL ? &pairs[i] : first;
	}
	channels->doubtful |= first != NULL;
	return first;
}

/* The root of tree 0 is the first host, that of tree 1 the other one. Those that answer soonest are of one channel. */
static void take_pairs(struct ft_nccl_host_channels *channels, struct pair *pairs, size_t count)
{
	const struct pair *pair;

	if (count > 0)
		qsort(pairs, count, sizeof *pairs, compare_pairs);
	while ((pair = next_pair(channels, pairs, count)) != NULL) {
		const uint32_t child = pair->tree == 0 ? 1 : 0;

		channels->doubtful |= pair->messages < ANSWERED_SURELY;
		*ft_nccl_host_taken(channels, pair->up) =
			*ft_nccl_host_taken(channels, pair->down) = true;
		channels->at[pair->tree][2 * channels->count[pair->tree]++ + child] =
			(struct ft_nccl_host_edge){ pair->up, pair->down };
	}
}

/* The last thing asked for, which may be the first step of a tree, has no answer in view. */
static bool is_any_open(const struct ft_nccl_host_channels *channels,
			const struct ft_nccl_direction *way)
{
	for (size_t i = 0; i < way->count; i++) {
		const struct ft_nccl_track *track = &channels->tracks->at[way->links[i].at];

		if (track->unanswered > 0 && !ft_nccl_has_simple_step(track))
			return true;
	}
	return false;
}

int ft_nccl_host_pairs_take(struct ft_nccl_host_channels *channels)
{
	const struct ft_nccl_direction there = ft_nccl_direction_of(channels->neighbours, 0, 1);
	const struct ft_nccl_direction back = ft_nccl_direction_of(channels->neighbours, 1, 0);
	struct pair *pairs = calloc(there.count * back.count + 1, sizeof *pairs);
	size_t count = 0;

	if (pairs == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < there.count; i++)
		for (size_t j = 0; j < back.count; j++)
			if (is_pair(channels, &there.links[i], &back.links[j], &pairs[count]))
				count++;
	take_pairs(channels, pairs, count);
	channels->doubtful |= is_any_open(channels, &there) || is_any_open(channels, &back);
	free(pairs);
	return 0;
}
