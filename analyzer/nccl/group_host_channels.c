#include "group_host_channels.h"

#include <errno.h>
#include <stdlib.h>

#include "group_host_pairs.h"
#include "group_host_slots.h"
#include "group_tree_shape.h"

/* --- one way of an edge after the other --- */

/* Up or down between a host and its parent, on all channels of a tree. */
struct step {
	uint32_t tree, child;
	bool up;
};

static uint32_t parent_of(const struct ft_nccl_host_taker *taker, struct step step)
{
	return taker->channels->parents[step.tree][step.child];
}

static bool is_step(const struct ft_nccl_host_taker *taker, struct step step)
{
	return taker->channels->count[step.tree] > 0 && parent_of(taker, step) != FT_NCCL_NONE;
}

static bool is_taken(const struct ft_nccl_host_taker *taker, struct step step)
{
	const struct ft_nccl_host_slot slot = { step.tree, 0, step.child, step.up };

	return *ft_nccl_host_link(taker->channels, &slot) != NULL;
}

/* The other tree goes the same way: its step. */
static bool is_common(const struct ft_nccl_host_taker *taker, struct step step, struct step *other)
{
	const uint32_t parent = parent_of(taker, step);

	*other = (struct step){ 1 - step.tree, step.child, step.up };
	if (is_step(taker, *other) && parent_of(taker, *other) == parent)
		return true;
	*other = (struct step){ 1 - step.tree, parent, !step.up };
	return is_step(taker, *other) && parent_of(taker, *other) == step.child;
}

static bool is_any_below_taken(const struct ft_nccl_host_taker *taker, struct step step)
{
	const uint32_t *parents = taker->channels->parents[step.tree];

	for (uint32_t i = 0; i < ft_nccl_host_count(taker->channels); i++)
		if (parents[i] == step.child &&
		    is_taken(taker, (struct step){ step.tree, i, step.up }))
			return true;
	return false;
}

/* The step before or behind it is taken: sums go up to the root, from there results come down. */
static bool is_ready(const struct ft_nccl_host_taker *taker, struct step step)
{
	const uint32_t *parents = taker->channels->parents[step.tree];
	const struct step above = { step.tree, parents[step.child], step.up };
	const struct step back = { step.tree, step.child, true };

	if (is_step(taker, above))
		return is_taken(taker, above) || (step.up && is_any_below_taken(taker, step));
	return step.up ? is_any_below_taken(taker, step) : is_taken(taker, back);
}

static size_t add_slots(const struct ft_nccl_host_taker *taker, struct step step,
			struct ft_nccl_host_slot *slots)
{
	for (uint32_t i = 0; i < taker->channels->count[step.tree]; i++)
		slots[i] = (struct ft_nccl_host_slot){ step.tree, i, step.child, step.up };
	return taker->channels->count[step.tree];
}

/* With the other tree, if it goes the same way and is ready, too. */
static bool take_step(struct ft_nccl_host_taker *taker, struct step step)
{
	size_t count = add_slots(taker, step, taker->slots);
	struct step other;

	if (is_common(taker, step, &other) && !is_taken(taker, other) && is_ready(taker, other))
		count += add_slots(taker, other, taker->slots + count);
	return ft_nccl_host_take_way(taker, taker->slots, count);
}

enum wait { ONE_TREE_ONLY, BOTH_READY, ANY };

/* A step that can be taken, and that only one tree has; or which both are ready for; or any. */
static bool next_step(const struct ft_nccl_host_taker *taker, enum wait wait, struct step *step)
{
	struct step other;

	for (uint32_t i = 0; i < 4 * ft_nccl_host_count(taker->channels); i++) {
		*step = (struct step){ i % 2, i / 4, i / 2 % 2 == 0 };
		if (!is_step(taker, *step) || is_taken(taker, *step) || !is_ready(taker, *step))
			continue;
		if (wait == ANY || !is_common(taker, *step, &other) ||
		    (wait == BOTH_READY && (is_taken(taker, other) || is_ready(taker, other))))
			return true;
	}
	return false;
}

/* Up an edge that only this tree has, if it has channels. */
static bool take_first(struct ft_nccl_host_taker *taker, uint32_t tree)
{
	struct step step = { tree, 0, true };

	if (taker->channels->count[tree] == 0)
		return true;
	while (!is_step(taker, step) ||
	       ft_nccl_tree_has(1 - tree, step.child, parent_of(taker, step),
				ft_nccl_host_count(taker->channels)))
		step.child++;
	return take_step(taker, step);
}

static bool take_all(struct ft_nccl_host_taker *taker)
{
	struct step step;

	if (!take_first(taker, 0) || !take_first(taker, 1))
		return false;
	while (next_step(taker, ONE_TREE_ONLY, &step) || next_step(taker, BOTH_READY, &step) ||
	       next_step(taker, ANY, &step))
		if (!take_step(taker, step))
			return false;
	return true;
}

/* --- whether they could be others --- */

/* Of two channels of a tree what is above some host, or below it, could as well be of the other one. */
static bool can_change_above(const struct ft_nccl_host_channels *channels, const uint32_t *parents,
			     const struct ft_nccl_host_edge *one,
			     const struct ft_nccl_host_edge *other)
{
	uint64_t gap_ns = 0;

	for (uint32_t i = 0; i < ft_nccl_host_count(channels); i++) {
		const uint32_t parent = parents[i];

		if (parent == FT_NCCL_NONE || parents[parent] == FT_NCCL_NONE)
			continue;
		if (ft_nccl_host_edges_fit(channels, &one[i], &other[parent], true, &gap_ns) &&
		    ft_nccl_host_edges_fit(channels, &one[i], &other[parent], false, &gap_ns) &&
		    ft_nccl_host_edges_fit(channels, &other[i], &one[parent], true, &gap_ns) &&
		    ft_nccl_host_edges_fit(channels, &other[i], &one[parent], false, &gap_ns))
			return true;
	}
	return false;
}

/* All that goes up on the one could go with what comes down on the other. */
static bool can_change_downs(const struct ft_nccl_host_channels *channels,
			     const struct ft_nccl_host_edge *one,
			     const struct ft_nccl_host_edge *other)
{
	uint64_t gap_ns = 0;

	for (uint32_t i = 0; i < ft_nccl_host_count(channels); i++)
		if (!ft_nccl_host_carries_on(channels, one[i].up, other[i].down, &gap_ns) ||
		    !ft_nccl_host_carries_on(channels, other[i].up, one[i].down, &gap_ns))
			return false;
	return true;
}

/* Of who sends up. */
static int64_t place_of_sums(const struct ft_nccl_host_channels *channels,
			     const struct ft_nccl_host_edge *edges)
{
	uint32_t i = 0;

	while (edges[i].up == NULL)
		i++;
	return ft_nccl_host_place(channels, edges[i].up);
}

static bool can_change(const struct ft_nccl_host_taker *taker, uint32_t tree, uint32_t a,
		       uint32_t b)
{
	const struct ft_nccl_host_channels *channels = taker->channels;
	const struct ft_nccl_host_edge *one = ft_nccl_host_edges(channels, tree, a);
	const struct ft_nccl_host_edge *other = ft_nccl_host_edges(channels, tree, b);
	const int64_t left = place_of_sums(channels, one), right = place_of_sums(channels, other);

	return ((!taker->alike || left == right) &&
		can_change_above(channels, channels->parents[tree], one, other)) ||
	       can_change_downs(channels, one, other);
}

/* Two channels, of whichever trees, could have each other's connection between two hosts. */
static bool can_change_links(const struct ft_nccl_host_taker *taker, const struct ft_nccl_link *a,
			     const struct ft_nccl_link *b)
{
	const struct ft_nccl_link *links = taker->channels->neighbours->links;
	uint64_t gap_ns;

	return ft_nccl_host_fits(taker, &taker->owners[a - links], b, &gap_ns) &&
	       ft_nccl_host_fits(taker, &taker->owners[b - links], a, &gap_ns);
}

static bool is_doubtful(const struct ft_nccl_host_taker *taker)
{
	const struct ft_nccl_host_channels *channels = taker->channels;

	for (uint32_t tree = 0; tree < 2; tree++)
		for (uint32_t i = 1; i < channels->count[tree]; i++)
			for (uint32_t j = 0; j < i; j++)
				if (can_change(taker, tree, i, j))
					return true;
	for (size_t i = 0; i < channels->neighbours->count; i++) {
		const struct ft_nccl_couple *couple = &channels->neighbours->couples[i];

		for (size_t j = 1; j < couple->each + couple->back; j++)
			for (size_t k = j < couple->each ? 0 : couple->each; k < j; k++)
				if (can_change_links(taker, &couple->links[j], &couple->links[k]))
					return true;
	}
	return false;
}

static size_t widest_way(const struct ft_nccl_neighbours *neighbours)
{
	size_t most = 0;

	for (size_t i = 0; i < neighbours->count; i++)
		most = neighbours->couples[i].each > most ? neighbours->couples[i].each : most;
	return most;
}

/* 0, -ENOMEM, or -ENOENT. */
static int take_all_channels(struct ft_nccl_host_channels *channels, size_t link_count)
{
	const size_t widest = widest_way(channels->neighbours);
	struct ft_nccl_host_taker taker = { .channels = channels,
					    .link_count = link_count,
					    .owners = calloc(link_count + 1, sizeof *taker.owners),
					    .tried = calloc(link_count + 1, sizeof *taker.tried),
					    .slots = calloc(widest + 1, sizeof *taker.slots),
					    .choices = calloc(widest * widest + 1,
							      sizeof *taker.choices),
					    .alike = ft_nccl_hosts_are_alike(channels) };
	int error = -ENOMEM;

	if (taker.owners != NULL && taker.tried != NULL && taker.slots != NULL &&
	    taker.choices != NULL)
		error = take_all(&taker) ? 0 : -ENOENT;
	if (error == 0)
		channels->doubtful = is_doubtful(&taker);
	free(taker.owners);
	free(taker.tried);
	free(taker.slots);
	free(taker.choices);
	return error;
}

int ft_nccl_host_channels_find(struct ft_nccl_host_channels *channels, size_t link_count)
{
	const size_t hosts = channels->neighbours->members;

	channels->taken = calloc(link_count + 1, sizeof *channels->taken);
	for (uint32_t tree = 0; tree < 2; tree++) /* of two hosts any two may be a channel's */
		channels->at[tree] =
			calloc((hosts == 2 ? link_count : channels->count[tree]) * hosts + 1,
			       sizeof *channels->at[tree]);
	if (channels->taken == NULL || channels->at[0] == NULL || channels->at[1] == NULL)
		return -ENOMEM;
	if (hosts == 2)
		return ft_nccl_host_pairs_take(channels);
	return take_all_channels(channels, link_count);
}

void ft_nccl_host_channels_free(struct ft_nccl_host_channels *channels)
{
	free(channels->taken);
	free(channels->at[0]);
	free(channels->at[1]);
}
