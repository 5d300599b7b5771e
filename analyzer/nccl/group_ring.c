#include "group_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_links.h"

/* Who each member sends to, if it is one other for all its connections. */
static bool successors(const struct ft_nccl_edges *edges, uint32_t *next)
{
	for (size_t i = 0; i < edges->member_count; i++)
		next[i] = FT_NCCL_NONE;
	for (size_t i = 0; i < edges->count; i++) {
		uint32_t from = edges->from[edges->at[i]], to = edges->to[edges->at[i]];

		if (from == FT_NCCL_NONE || to == FT_NCCL_NONE || from == to)
			return false;
		from -= edges->first;
		to -= edges->first;
		if (next[from] != FT_NCCL_NONE && next[from] != to)
			return false;
		next[from] = to;
	}
	return true;
}

/* From the first member through all the others and back. */
static bool walk(const struct ft_nccl_edges *edges, const uint32_t *next, uint32_t *ring)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < edges->member_count; i++) {
		if (at == FT_NCCL_NONE || (i > 0 && at == 0))
			return false;
		ring[i] = at;
		at = next[at];
	}
	return at == 0;
}

int ft_nccl_members_ring(const struct ft_nccl_edges *edges, uint32_t **ring)
{
	uint32_t *next = calloc(edges->member_count + 1, sizeof *next);
	uint32_t *found = calloc(edges->member_count + 1, sizeof *found);
	int error = -ENOMEM;

	if (next != NULL && found != NULL)
		error = edges->member_count > 1 && successors(edges, next) &&
					walk(edges, next, found)
				? 0
				: -ENOENT;
	free(next);
	if (error == 0)
		*ring = found;
	else
		free(found);
	return error;
}

static bool same_rank(const struct ft_nccl_link *a, const struct ft_nccl_link *b)
{
	const struct ft_nccl_party *left = &a->connection->sender, *right = &b->connection->sender;

	return left->has_rank == right->has_rank && left->rank == right->rank;
}

/* By who sends, and one's in the order in which they were made. */
static int compare(const void *a, const void *b)
{
	const struct ft_nccl_link *left = a, *right = b;

	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	if (!same_rank(left, right))
		return left->connection->sender.rank < right->connection->sender.rank ? -1 : 1;
	return (left->made > right->made) - (left->made < right->made);
}

static void place_links(const struct ft_nccl_edges *edges, const uint32_t *ring, bool by_setup,
			uint32_t *place, struct ft_nccl_link *links)
{
	for (uint32_t i = 0; i < edges->member_count; i++)
		place[ring[i]] = i;
	for (size_t i = 0; i < edges->count; i++) {
		links[i] = ft_nccl_link_of(edges, i, by_setup);
		links[i].from = place[edges->from[edges->at[i]] - edges->first];
	}
	qsort(links, edges->count, sizeof *links, compare);
}

/* Every sender has its first `channels` links, of as many of its ranks as the first sender. */
static bool are_alike(const struct ft_nccl_link *links, size_t count, size_t channels,
		      bool by_setup)
{
	for (size_t i = 0; i < count; i++) {
		const size_t place = i % channels;
		bool same;

		if (links[i].from != i / channels)
			return false;
		if (place == 0)
			continue;
		same = same_rank(&links[i - 1], &links[i]);
		if (same != same_rank(&links[place - 1], &links[place]) ||
		    (same && !ft_nccl_links_are_in_order(&links[i - 1], &links[i], by_setup)))
			return false;
	}
	return true;
}

static int sort_channels(struct ft_nccl_edges *edges, const struct ft_nccl_link *links,
			 bool by_setup, bool *numbered)
{
	const size_t channels = edges->count / edges->member_count;

	if (edges->count % edges->member_count != 0 ||
	    !are_alike(links, edges->count, channels, by_setup))
		return 0;
	for (size_t i = 0; i < edges->count; i++)
		edges->at[i % channels * edges->member_count + i / channels] = links[i].at;
	*numbered = same_rank(&links[0], &links[channels - 1]);
	return (int)channels;
}

int ft_nccl_members_channels(struct ft_nccl_edges *edges, const uint32_t *ring, bool *numbered)
{
	uint32_t *place = calloc(edges->member_count + 1, sizeof *place);
	struct ft_nccl_link *links = calloc(edges->count + 1, sizeof *links);
	const bool by_setup = ft_nccl_links_have_setups(edges);
	int channels = -ENOMEM;

	if (place != NULL && links != NULL) {
		place_links(edges, ring, by_setup, place, links);
		channels = sort_channels(edges, links, by_setup, numbered);
	}
	free(place);
	free(links);
	return channels;
}
