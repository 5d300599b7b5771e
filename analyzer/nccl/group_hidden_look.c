#include "group_hidden_parts.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct ft_nccl_hider_end *left = a, *right = b;
	const int order = memcmp(&left->place, &right->place, sizeof left->place);

	if (order != 0)
		return order;
	return (left->communicator > right->communicator) -
	       (left->communicator < right->communicator);
}

static void set_end(struct ft_nccl_hider_end *end, const struct ft_nccl_place *place,
		    uint32_t communicator)
{
	memset(end, 0, sizeof *end); /* compared as a whole */
	ft_nccl_copy_place(&end->place, place);
	end->communicator = communicator;
}

static bool same_end(const struct ft_nccl_hider_end *a, const struct ft_nccl_hider_end *b)
{
	return memcmp(&a->place, &b->place, sizeof a->place) == 0;
}

static void look_at_set_ups(struct ft_nccl_hider *hider)
{
	for (size_t i = 0; i < hider->input->connection_count; i++) {
		const struct ft_nccl_connection *connection = hider->input->connections[i];
		const uint32_t of = hider->input->members->of[i];

		if (of == FT_NCCL_NONE)
			continue;
		if (!connection->has_tcp) {
			hider->lacks_set_ups = true;
			continue;
		}
		set_end(&hider->ends[hider->end_count++], &connection->connecting, of);
		set_end(&hider->ends[hider->end_count++], &connection->listening, of);
	}
	if (hider->end_count > 0)
		qsort(hider->ends, hider->end_count, sizeof *hider->ends, compare);
	for (size_t i = 1; i < hider->end_count; i++) {
		const struct ft_nccl_hider_end *one = &hider->ends[i - 1], *other = &hider->ends[i];

		if (one->communicator != other->communicator && same_end(one, other))
			hider->shares[one->communicator] = hider->shares[other->communicator] =
				true;
	}
}

/* The first one of a place; end_count: there is none. */
static size_t find_ends(const struct ft_nccl_hider *hider, const struct ft_nccl_place *place)
{
	size_t low = 0, high = hider->end_count;
	struct ft_nccl_hider_end wanted;

	set_end(&wanted, place, 0);
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(&hider->ends[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < hider->end_count && same_end(&hider->ends[low], &wanted) ? low
									      : hider->end_count;
}

static bool has_end(const struct ft_nccl_hider *hider, const struct ft_nccl_place *place,
		    uint32_t of)
{
	struct ft_nccl_hider_end wanted;

	set_end(&wanted, place, of);
	return hider->end_count > 0 &&
	       bsearch(&wanted, hider->ends, hider->end_count, sizeof wanted, compare) != NULL;
}

/* Those that have a host of a set-up, and not the other one. */
static void widen(const struct ft_nccl_hider *hider, const struct ft_nccl_place *host,
		  const struct ft_nccl_place *other)
{
	const size_t first = find_ends(hider, host);

	for (size_t i = first;
	     i < hider->end_count && same_end(&hider->ends[i], &hider->ends[first]); i++)
		if (!has_end(hider, other, hider->ends[i].communicator))
			hider->wider[hider->ends[i].communicator] = true;
}

static void look_at_other_hosts(const struct ft_nccl_hider *hider)
{
	for (size_t i = 0; i < hider->input->connection_count; i++) {
		const struct ft_nccl_connection *connection = hider->input->connections[i];

		if (hider->input->members->of[i] == FT_NCCL_NONE || !connection->has_tcp)
			continue;
		widen(hider, &connection->connecting, &connection->listening);
		widen(hider, &connection->listening, &connection->connecting);
	}
}

static void look_at_hosts(struct ft_nccl_hider *hider)
{
	const struct ft_nccl_hidden_input *input = hider->input;
	const struct ft_nccl_rails *rails = &input->members->rails;

	for (size_t i = 0; i < input->connection_count; i++) {
		const uint32_t of = input->members->of[i], rail = rails->of[i];

		if (of != FT_NCCL_NONE && rails->by_host[rail] &&
		    rails->ends[rail] < input->communicators[of].member_count)
			hider->crowded[of] = true;
		if (of != FT_NCCL_NONE && rails->by_host[rail] &&
		    rails->ends[rail] == input->communicators[of].member_count)
			hider->spread[of] = true;
	}
	for (size_t i = 0; i < input->communicator_count; i++) {
		const struct ft_nccl_communicator *row = &input->communicators[i];

		hider->crowded[i] |= row->tree_count > 0 && row->trees[0].of_hosts;
		for (size_t j = 1; j < row->member_count; j++)
			hider->crowded[i] |= row->members[j].tied[0] != row->members[0].tied[0];
	}
}

static int compare_loops(const void *a, const void *b)
{
	const struct ft_nccl_hider_loop *left = a, *right = b;

	if (left->communicator != right->communicator)
		return left->communicator < right->communicator ? -1 : 1;
	if (left->ranks != right->ranks)
		return left->ranks < right->ranks ? -1 : 1;
	return (left->sender > right->sender) - (left->sender < right->sender);
}

static void look_at_rings(struct ft_nccl_hider *hider)
{
	const struct ft_nccl_hidden_input *input = hider->input;

	for (size_t i = 0; i < input->connection_count; i++) {
		const uint32_t of = input->members->of[i], ranks = input->loops[i].ranks;

		if (of != FT_NCCL_NONE && input->loops[i].refuted)
			hider->refuted[of] = true;
		if (of != FT_NCCL_NONE && (input->apart->renumbered[i] || input->apart->tangled[i]))
			hider->crowded[of] = true;
		if (of != FT_NCCL_NONE && input->apart->alone[i])
			hider->alone[of] = true;
		if (of == FT_NCCL_NONE || ranks == 0 || ranks == FT_NCCL_NONE ||
		    input->loops[i].silent)
			continue;
		if (ranks > hider->ranks[of])
			hider->ranks[of] = ranks;
		if (input->connections[i]->sender.has_rank)
			hider->loops[hider->loop_count++] =
				(struct ft_nccl_hider_loop){ of, ranks,
							     input->connections[i]->sender.rank };
	}
	if (hider->loop_count > 0)
		qsort(hider->loops, hider->loop_count, sizeof *hider->loops, compare_loops);
}

uint32_t ft_nccl_hider_senders(const struct ft_nccl_hider *hider, uint32_t communicator,
			       uint32_t ranks)
{
	const struct ft_nccl_hider_loop *last = NULL;
	size_t low = 0, high = hider->loop_count;
	uint32_t count = 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct ft_nccl_hider_loop *at = &hider->loops[middle];

		if (at->communicator < communicator ||
		    (at->communicator == communicator && at->ranks < ranks))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < hider->loop_count; low++) {
		const struct ft_nccl_hider_loop *at = &hider->loops[low];

		if (at->communicator != communicator || at->ranks != ranks)
			break;
		count += last == NULL || last->sender != at->sender ? 1 : 0;
		last = at;
	}
	return count;
}

void ft_nccl_hider_look(struct ft_nccl_hider *hider)
{
	look_at_set_ups(hider);
	look_at_hosts(hider);
	look_at_other_hosts(hider);
	look_at_rings(hider);
}
