#include "group_host_slots.h"

#include <stdlib.h>
#include <string.h>

#include "group_order.h"

/* --- who sends --- */

bool ft_nccl_hosts_are_alike(const struct ft_nccl_host_channels *channels)
{
	const int32_t *lowest = channels->lowest;

	for (uint32_t i = 2; i < ft_nccl_host_count(channels); i++)
		if (lowest[i] - lowest[i - 1] != lowest[1] - lowest[0])
			return false;
	return true;
}

int64_t ft_nccl_host_place(const struct ft_nccl_host_channels *channels,
			   const struct ft_nccl_link *link)
{
	return (int64_t)link->connection->sender.rank - channels->lowest[link->from];
}

/*
 * In all hosts one process sends up, at the same place, as far as it is known; which one sends down, or two, differs by how
 * hosts are wired.
 */
static bool can_send(const struct ft_nccl_host_channels *channels,
		     const struct ft_nccl_host_slot *slot, const struct ft_nccl_link *link)
{
	const struct ft_nccl_host_edge *edges =
		ft_nccl_host_edges(channels, slot->tree, slot->channel);

	if (!link->connection->sender.has_rank)
		return true;
	for (uint32_t i = 0; slot->up && i < ft_nccl_host_count(channels); i++)
		if (edges[i].up != NULL && i != slot->child &&
		    edges[i].up->connection->sender.has_rank)
			return ft_nccl_host_place(channels, edges[i].up) ==
			       ft_nccl_host_place(channels, link);
	return true;
}

/* --- who waits for whom --- */

bool ft_nccl_host_carries_on(const struct ft_nccl_host_channels *channels,
			     const struct ft_nccl_link *first, const struct ft_nccl_link *second,
			     uint64_t *gap_ns)
{
	return first == NULL || second == NULL ||
	       ft_nccl_links_carry_on(channels->tracks, first, second, gap_ns);
}

bool ft_nccl_host_edges_fit(const struct ft_nccl_host_channels *channels,
			    const struct ft_nccl_host_edge *below,
			    const struct ft_nccl_host_edge *above, bool up, uint64_t *gap_ns)
{
	return up ? ft_nccl_host_carries_on(channels, below->up, above->up, gap_ns)
		  : ft_nccl_host_carries_on(channels, above->down, below->down, gap_ns);
}

bool ft_nccl_host_fits(const struct ft_nccl_host_taker *taker, const struct ft_nccl_host_slot *slot,
		       const struct ft_nccl_link *link, uint64_t *gap_ns)
{
	const struct ft_nccl_host_channels *channels = taker->channels;
	const uint32_t *parents = channels->parents[slot->tree];
	const struct ft_nccl_host_edge *edges =
		ft_nccl_host_edges(channels, slot->tree, slot->channel);
	struct ft_nccl_host_edge own = edges[slot->child];

	*gap_ns = 0;
	*(slot->up ? &own.up : &own.down) = link;
	if ((taker->alike && !can_send(channels, slot, link)) ||
	    !ft_nccl_host_carries_on(channels, own.up, own.down, gap_ns))
		return false;
	if (parents[parents[slot->child]] != FT_NCCL_NONE &&
	    !ft_nccl_host_edges_fit(channels, &own, &edges[parents[slot->child]], slot->up, gap_ns))
		return false;
	for (uint32_t i = 0; i < ft_nccl_host_count(channels); i++)
		if (parents[i] == slot->child &&
		    !ft_nccl_host_edges_fit(channels, &edges[i], &own, slot->up, gap_ns))
			return false;
	return true;
}

/* --- which of several hosts are of one channel --- */

static struct ft_nccl_direction way_of(const struct ft_nccl_host_channels *channels,
				       const struct ft_nccl_host_slot *slot)
{
	const uint32_t parent = channels->parents[slot->tree][slot->child];

	return ft_nccl_direction_of(channels->neighbours, slot->up ? slot->child : parent,
				    slot->up ? parent : slot->child);
}

static void give(struct ft_nccl_host_taker *taker, const struct ft_nccl_host_slot *slot,
		 const struct ft_nccl_link *link)
{
	*ft_nccl_host_link(taker->channels, slot) = link;
	*ft_nccl_host_taken(taker->channels, link) = true;
	taker->owners[link - taker->channels->neighbours->links] = *slot;
}

static int compare_choices(const void *a, const void *b)
{
	const struct ft_nccl_host_choice *left = a, *right = b;

	if (left->gap_ns != right->gap_ns)
		return left->gap_ns < right->gap_ns ? -1 : 1;
	if (left->link != right->link)
		return left->link < right->link ? -1 : 1;
	if (left->slot.tree != right->slot.tree)
		return left->slot.tree < right->slot.tree ? -1 : 1;
	return left->slot.channel < right->slot.channel ? -1 : 1;
}

/* Those that follow soonest are each other's first choice. */
static void take_first_choices(struct ft_nccl_host_taker *taker,
			       struct ft_nccl_host_choice *choices, size_t count)
{
	if (count > 0)
		qsort(choices, count, sizeof *choices, compare_choices);
	for (size_t i = 0; i < count; i++)
		if (*ft_nccl_host_link(taker->channels, &choices[i].slot) == NULL &&
		    !*ft_nccl_host_taken(taker->channels, choices[i].link))
			give(taker, &choices[i].slot, choices[i].link);
}

static size_t list_choices(const struct ft_nccl_host_taker *taker,
			   const struct ft_nccl_host_slot *slot,
			   struct ft_nccl_host_choice *choices)
{
	const struct ft_nccl_direction way = way_of(taker->channels, slot);
	size_t count = 0;

	for (size_t i = 0; i < way.count; i++) {
		struct ft_nccl_host_choice choice = { *slot, &way.links[i], 0 };

		if (!*ft_nccl_host_taken(taker->channels, choice.link) &&
		    ft_nccl_host_fits(taker, slot, choice.link, &choice.gap_ns))
			choices[count++] = choice;
	}
	return count;
}

/* A connection that nobody has, or one whose owner can do with another one, that has not been tried yet. */
static bool take(struct ft_nccl_host_taker *taker, const struct ft_nccl_host_slot *slot)
{
	const struct ft_nccl_direction way = way_of(taker->channels, slot);
	uint64_t gap_ns;

	for (size_t i = 0; i < way.count; i++) {
		const struct ft_nccl_link *link = &way.links[i];
		const size_t at = (size_t)(link - taker->channels->neighbours->links);
		const struct ft_nccl_host_slot owner = taker->owners[at];

		if (taker->tried[at] || !ft_nccl_host_fits(taker, slot, link, &gap_ns))
			continue;
		taker->tried[at] = true;
		if (*ft_nccl_host_taken(taker->channels, link)) {
			*ft_nccl_host_link(taker->channels, &owner) = NULL;
			if (!take(taker, &owner)) {
				*ft_nccl_host_link(taker->channels, &owner) = link;
				continue;
			}
		}
		give(taker, slot, link);
		return true;
	}
	return false;
}

bool ft_nccl_host_take_way(struct ft_nccl_host_taker *taker, const struct ft_nccl_host_slot *slots,
			   size_t count)
{
	size_t choices = 0;

	for (size_t i = 0; i < count; i++)
		choices += list_choices(taker, &slots[i], taker->choices + choices);
	take_first_choices(taker, taker->choices, choices);
	for (size_t i = 0; i < count; i++) {
		if (*ft_nccl_host_link(taker->channels, &slots[i]) != NULL)
			continue;
		memset(taker->tried, 0, taker->link_count * sizeof *taker->tried);
		if (!take(taker, &slots[i]))
			return false;
	}
	return true;
}
