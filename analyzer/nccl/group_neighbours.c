#include "group_neighbours.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t low_of(const struct ft_nccl_link *link)
{
	return link->from < link->to ? link->from : link->to;
}

static uint32_t high_of(const struct ft_nccl_link *link)
{
	return link->from < link->to ? link->to : link->from;
}

/* By pair; of one those from the lower member first; these by when they were made. */
static int compare(const void *a, const void *b)
{
	const struct ft_nccl_link *left = a, *right = b;

	if (low_of(left) != low_of(right))
		return low_of(left) < low_of(right) ? -1 : 1;
	if (high_of(left) != high_of(right))
		return high_of(left) < high_of(right) ? -1 : 1;
	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return (left->made > right->made) - (left->made < right->made);
}

/* False: some connection has an end of which nobody knows whose it is. */
static bool list_links(struct ft_nccl_neighbours *neighbours, const struct ft_nccl_edges *edges)
{
	neighbours->by_setup = ft_nccl_links_have_setups(edges);
	for (size_t i = 0; i < edges->count; i++) {
		uint32_t from = edges->from[edges->at[i]], to = edges->to[edges->at[i]];

		if (from == FT_NCCL_NONE || to == FT_NCCL_NONE || from == to)
			return false;
		neighbours->links[i] = ft_nccl_link_of(edges, i, neighbours->by_setup);
		neighbours->links[i].from = from - edges->first;
		neighbours->links[i].to = to - edges->first;
	}
	return true;
}

static bool is_between(const struct ft_nccl_link *link, const struct ft_nccl_couple *couple)
{
	return low_of(link) == couple->low && high_of(link) == couple->high;
}

void ft_nccl_neighbours_list(struct ft_nccl_neighbours *neighbours, size_t links)
{
	if (links > 0)
		qsort(neighbours->links, links, sizeof *neighbours->links, compare);
	neighbours->both_ways = true;
	for (size_t i = 0; i < links;) {
		const struct ft_nccl_link *first = &neighbours->links[i];
		struct ft_nccl_couple *couple = &neighbours->couples[neighbours->count++];

		*couple = (struct ft_nccl_couple){ low_of(first), high_of(first), first, 0, 0 };
		for (; i < links && is_between(&neighbours->links[i], couple); i++)
			++*(neighbours->links[i].from == couple->low ? &couple->each
								     : &couple->back);
		neighbours->both_ways &= couple->each == couple->back;
	}
}

int ft_nccl_neighbours_reserve(struct ft_nccl_neighbours *neighbours, size_t links,
			       uint32_t members)
{
	*neighbours = (struct ft_nccl_neighbours){
		.links = calloc(links + 1, sizeof *neighbours->links),
		.couples = calloc(links + 1, sizeof *neighbours->couples),
		.members = members,
	};
	return neighbours->links != NULL && neighbours->couples != NULL ? 0 : -ENOMEM;
}

int ft_nccl_neighbours_find(struct ft_nccl_neighbours *neighbours,
			    const struct ft_nccl_edges *edges)
{
	const int error = ft_nccl_neighbours_reserve(neighbours, edges->count, edges->member_count);

	if (error != 0)
		return error;
	if (!list_links(neighbours, edges))
		return -ENOENT;
	ft_nccl_neighbours_list(neighbours, edges->count);
	return 0;
}

void ft_nccl_neighbours_free(struct ft_nccl_neighbours *neighbours)
{
	free(neighbours->links);
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

struct ft_nccl_direction ft_nccl_direction_of(const struct ft_nccl_neighbours *neighbours,
					      uint32_t from, uint32_t to)
{
	const struct ft_nccl_couple *couple = ft_nccl_couple_of(neighbours, from, to);

	if (couple == NULL)
		return (struct ft_nccl_direction){ NULL, 0 };
	return from == couple->low
		       ? (struct ft_nccl_direction){ couple->links, couple->each }
		       : (struct ft_nccl_direction){ couple->links + couple->each, couple->back };
}

bool ft_nccl_direction_is_ordered(const struct ft_nccl_neighbours *neighbours,
				  const struct ft_nccl_direction *way)
{
	for (size_t i = 1; i < way->count; i++)
		if (!ft_nccl_links_are_in_order(&way->links[i - 1], &way->links[i],
						neighbours->by_setup))
			return false;
	return true;
}
