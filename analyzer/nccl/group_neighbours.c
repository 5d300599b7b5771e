#include "group_neighbours.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t low_of(const struct ft_nccl_lane *lane)
{
	return lane->from < lane->to ? lane->from : lane->to;
}

static uint32_t high_of(const struct ft_nccl_lane *lane)
{
	return lane->from < lane->to ? lane->to : lane->from;
}

/* By pair; of one those from the lower member first; these by when they were made. */
static int compare(const void *a, const void *b)
{
	const struct ft_nccl_lane *left = a, *right = b;

	if (low_of(left) != low_of(right))
		return low_of(left) < low_of(right) ? -1 : 1;
	if (high_of(left) != high_of(right))
		return high_of(left) < high_of(right) ? -1 : 1;
	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return (left->made > right->made) - (left->made < right->made);
}

/* False: some connection has an end of which nobody knows whose it is. */
static bool list_lanes(struct ft_nccl_neighbours *neighbours, const struct ft_nccl_edges *edges)
{
	neighbours->by_setup = ft_nccl_lanes_have_setups(edges);
	for (size_t i = 0; i < edges->count; i++) {
		uint32_t from = edges->from[edges->at[i]], to = edges->to[edges->at[i]];

		if (from == FT_NCCL_NONE || to == FT_NCCL_NONE || from == to)
			return false;
		neighbours->lanes[i] = ft_nccl_lane_of(edges, i, neighbours->by_setup);
		neighbours->lanes[i].from = from - edges->first;
		neighbours->lanes[i].to = to - edges->first;
	}
	return true;
}

static bool is_between(const struct ft_nccl_lane *lane, const struct ft_nccl_couple *couple)
{
	return low_of(lane) == couple->low && high_of(lane) == couple->high;
}

void ft_nccl_neighbours_list(struct ft_nccl_neighbours *neighbours, size_t lanes)
{
	if (lanes > 0)
		qsort(neighbours->lanes, lanes, sizeof *neighbours->lanes, compare);
	neighbours->both_ways = true;
	for (size_t i = 0; i < lanes;) {
		const struct ft_nccl_lane *first = &neighbours->lanes[i];
		struct ft_nccl_couple *couple = &neighbours->couples[neighbours->count++];

		*couple = (struct ft_nccl_couple){ low_of(first), high_of(first), first, 0, 0 };
		for (; i < lanes && is_between(&neighbours->lanes[i], couple); i++)
			++*(neighbours->lanes[i].from == couple->low ? &couple->each
								     : &couple->back);
		neighbours->both_ways &= couple->each == couple->back;
	}
}

int ft_nccl_neighbours_reserve(struct ft_nccl_neighbours *neighbours, size_t lanes,
			       uint32_t members)
{
	*neighbours = (struct ft_nccl_neighbours){
		.lanes = calloc(lanes + 1, sizeof *neighbours->lanes),
		.couples = calloc(lanes + 1, sizeof *neighbours->couples),
		.members = members,
	};
	return neighbours->lanes != NULL && neighbours->couples != NULL ? 0 : -ENOMEM;
}

int ft_nccl_neighbours_find(struct ft_nccl_neighbours *neighbours,
			    const struct ft_nccl_edges *edges)
{
	const int error = ft_nccl_neighbours_reserve(neighbours, edges->count, edges->member_count);

	if (error != 0)
		return error;
	if (!list_lanes(neighbours, edges))
		return -ENOENT;
	ft_nccl_neighbours_list(neighbours, edges->count);
	return 0;
}

void ft_nccl_neighbours_free(struct ft_nccl_neighbours *neighbours)
{
	free(neighbours->lanes);
	free(neighbours->couples);
	*neighbours = (struct ft_nccl_neighbours){ 0 };
}

const struct ft_nccl_couple *ft_nccl_couple_of(const struct ft_nccl_neighbours *neighbours,
					       uint32_t a, uint32_t b)
{
	const uint32_t low = a < b ? a : b, high = a < b ? b : a;
	size_t from = 0, to = neighbours->count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		const struct ft_nccl_couple *pair = &neighbours->couples[middle];

		if (pair->low == low && pair->high == high)
			return pair;
		if (pair->low < low || (pair->low == low && pair->high < high))
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

struct ft_nccl_way ft_nccl_way_of(const struct ft_nccl_neighbours *neighbours, uint32_t from,
				  uint32_t to)
{
	const struct ft_nccl_couple *couple = ft_nccl_couple_of(neighbours, from, to);

	if (couple == NULL)
		return (struct ft_nccl_way){ NULL, 0 };
	return from == couple->low
		       ? (struct ft_nccl_way){ couple->lanes, couple->each }
		       : (struct ft_nccl_way){ couple->lanes + couple->each, couple->back };
}

bool ft_nccl_way_is_ordered(const struct ft_nccl_neighbours *neighbours,
			    const struct ft_nccl_way *way)
{
	for (size_t i = 1; i < way->count; i++)
		if (!ft_nccl_lanes_are_in_order(&way->lanes[i - 1], &way->lanes[i],
						neighbours->by_setup))
			return false;
	return true;
}
