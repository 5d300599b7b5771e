#include "group_host_channels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_order.h"
#include "group_tree_shape.h"
#include "operation_steps.h"

/* Of a channel: a connection between a host and its parent, up or down. */
struct slot {
	uint32_t tree, channel, child;
	bool up;
};

struct taker {
	struct ft_nccl_host_channels *channels;
	struct slot *owners; /* by lane, if it is taken */
	bool *tried;         /* by lane */
	size_t lane_count;
	struct slot *slots;     /* room for those of a way .. */
	struct choice *choices; /* .. and all they could have */
	bool alike;             /* from one host to the next ranks go up by the same number */
};

static uint32_t hosts_of(const struct ft_nccl_host_channels *channels)
{
	return channels->neighbours->members;
}

static bool *taken(const struct ft_nccl_host_channels *channels, const struct ft_nccl_lane *lane)
{
	return &channels->taken[lane - channels->neighbours->lanes];
}

/* Of a channel, by host. */
static struct ft_nccl_host_edge *edges_of(const struct ft_nccl_host_channels *channels,
					  uint32_t tree, uint32_t channel)
{
	return &channels->at[tree][channel * (size_t)hosts_of(channels)];
}

static const struct ft_nccl_lane **lane_of(const struct ft_nccl_host_channels *channels,
					   const struct slot *slot)
{
	struct ft_nccl_host_edge *edge =
		&edges_of(channels, slot->tree, slot->channel)[slot->child];

	return slot->up ? &edge->up : &edge->down;
}

/* --- who sends --- */

static bool are_alike(const struct ft_nccl_host_channels *channels)
{
	const int32_t *lowest = channels->lowest;

	for (uint32_t i = 2; i < hosts_of(channels); i++)
		if (lowest[i] - lowest[i - 1] != lowest[1] - lowest[0])
			return false;
	return true;
}

/* Of who sends, among the ranks of the host. */
static int64_t place_of(const struct ft_nccl_host_channels *channels,
			const struct ft_nccl_lane *lane)
{
	return (int64_t)lane->connection->sender.rank - channels->lowest[lane->from];
}

/* In all hosts one process sends up, at the same place; which one sends down, or two, differs by how hosts are wired. */
static bool can_send(const struct ft_nccl_host_channels *channels, const struct slot *slot,
		     const struct ft_nccl_lane *lane)
{
	const struct ft_nccl_host_edge *edges = edges_of(channels, slot->tree, slot->channel);

	for (uint32_t i = 0; slot->up && i < hosts_of(channels); i++)
		if (edges[i].up != NULL && i != slot->child)
			return place_of(channels, edges[i].up) == place_of(channels, lane);
	return true;
}

/* --- who waits for whom --- */

/* Nothing contradicts that messages of the second one carry on what those of the first one brought. */
static bool carries_on(const struct ft_nccl_host_channels *channels,
		       const struct ft_nccl_lane *first, const struct ft_nccl_lane *second,
		       uint64_t *gap_ns)
{
	return first == NULL || second == NULL ||
	       ft_nccl_lanes_carry_on(channels->tracks, first, second, gap_ns);
}

/* The edges of a host below that above it, of the one channel and the other. */
static bool edges_fit(const struct ft_nccl_host_channels *channels,
		      const struct ft_nccl_host_edge *below, const struct ft_nccl_host_edge *above,
		      bool up, uint64_t *gap_ns)
{
	return up ? carries_on(channels, below->up, above->up, gap_ns)
		  : carries_on(channels, above->down, below->down, gap_ns);
}

/* With the channel's connections next to it that are known. Sets *gap_ns to the time between their messages and its own. */
static bool fits(const struct taker *taker, const struct slot *slot,
		 const struct ft_nccl_lane *lane, uint64_t *gap_ns)
{
	const struct ft_nccl_host_channels *channels = taker->channels;
	const uint32_t *parents = channels->parents[slot->tree];
	const struct ft_nccl_host_edge *edges = edges_of(channels, slot->tree, slot->channel);
	struct ft_nccl_host_edge own = edges[slot->child];

	*gap_ns = 0;
	*(slot->up ? &own.up : &own.down) = lane;
	if ((taker->alike && !can_send(channels, slot, lane)) ||
	    !carries_on(channels, own.up, own.down, gap_ns))
		return false;
	if (parents[parents[slot->child]] != FT_NCCL_NONE &&
	    !edges_fit(channels, &own, &edges[parents[slot->child]], slot->up, gap_ns))
		return false;
	for (uint32_t i = 0; i < hosts_of(channels); i++)
		if (parents[i] == slot->child &&
		    !edges_fit(channels, &edges[i], &own, slot->up, gap_ns))
			return false;
	return true;
}

/* --- which of several hosts are of one channel --- */

static struct ft_nccl_way way_of(const struct ft_nccl_host_channels *channels,
				 const struct slot *slot)
{
	const uint32_t parent = channels->parents[slot->tree][slot->child];

	return ft_nccl_way_of(channels->neighbours, slot->up ? slot->child : parent,
			      slot->up ? parent : slot->child);
}

static void give(struct taker *taker, const struct slot *slot, const struct ft_nccl_lane *lane)
{
	*lane_of(taker->channels, slot) = lane;
	*taken(taker->channels, lane) = true;
	taker->owners[lane - taker->channels->neighbours->lanes] = *slot;
}

/* What a slot could have. */
struct choice {
	struct slot slot;
	const struct ft_nccl_lane *lane;
	uint64_t gap_ns;
};

static int compare_choices(const void *a, const void *b)
{
	const struct choice *left = a, *right = b;

	if (left->gap_ns != right->gap_ns)
		return left->gap_ns < right->gap_ns ? -1 : 1;
	if (left->lane != right->lane)
		return left->lane < right->lane ? -1 : 1;
	if (left->slot.tree != right->slot.tree)
		return left->slot.tree < right->slot.tree ? -1 : 1;
	return left->slot.channel < right->slot.channel ? -1 : 1;
}

/* Those that follow soonest are each other's first choice. */
static void take_first_choices(struct taker *taker, struct choice *choices, size_t count)
{
	if (count > 0)
		qsort(choices, count, sizeof *choices, compare_choices);
	for (size_t i = 0; i < count; i++)
		if (*lane_of(taker->channels, &choices[i].slot) == NULL &&
		    !*taken(taker->channels, choices[i].lane))
			give(taker, &choices[i].slot, choices[i].lane);
}

static size_t list_choices(const struct taker *taker, const struct slot *slot,
			   struct choice *choices)
{
	const struct ft_nccl_way way = way_of(taker->channels, slot);
	size_t count = 0;

	for (size_t i = 0; i < way.count; i++) {
		struct choice choice = { *slot, &way.lanes[i], 0 };

		if (!*taken(taker->channels, choice.lane) &&
		    fits(taker, slot, choice.lane, &choice.gap_ns))
			choices[count++] = choice;
	}
	return count;
}

/* A connection that nobody has, or one whose owner can do with another one, that has not been tried yet. */
static bool take(struct taker *taker, const struct slot *slot)
{
	const struct ft_nccl_way way = way_of(taker->channels, slot);
	uint64_t gap_ns;

	for (size_t i = 0; i < way.count; i++) {
		const struct ft_nccl_lane *lane = &way.lanes[i];
		const size_t at = (size_t)(lane - taker->channels->neighbours->lanes);
		const struct slot owner = taker->owners[at];

		if (taker->tried[at] || !fits(taker, slot, lane, &gap_ns))
			continue;
		taker->tried[at] = true;
		if (*taken(taker->channels, lane)) {
			*lane_of(taker->channels, &owner) = NULL;
			if (!take(taker, &owner)) {
				*lane_of(taker->channels, &owner) = lane;
				continue;
			}
		}
		give(taker, slot, lane);
		return true;
	}
	return false;
}

/* All connections one way between a host and its parent: on all channels of the trees that have this edge and are ready for it. */
static bool take_way(struct taker *taker, const struct slot *slots, size_t count)
{
	size_t choices = 0;

	for (size_t i = 0; i < count; i++)
		choices += list_choices(taker, &slots[i], taker->choices + choices);
	take_first_choices(taker, taker->choices, choices);
	for (size_t i = 0; i < count; i++) {
		if (*lane_of(taker->channels, &slots[i]) != NULL)
			continue;
		memset(taker->tried, 0, taker->lane_count * sizeof *taker->tried);
		if (!take(taker, &slots[i]))
			return false;
	}
	return true;
}
/* --- one way of an edge after the other --- */

/* Up or down between a host and its parent, on all channels of a tree. */
struct step {
	uint32_t tree, child;
	bool up;
};

static uint32_t parent_of(const struct taker *taker, struct step step)
{
	return taker->channels->parents[step.tree][step.child];
}

static bool is_step(const struct taker *taker, struct step step)
{
	return taker->channels->count[step.tree] > 0 && parent_of(taker, step) != FT_NCCL_NONE;
}

static bool is_taken(const struct taker *taker, struct step step)
{
	const struct slot slot = { step.tree, 0, step.child, step.up };

	return *lane_of(taker->channels, &slot) != NULL;
}

/* The other tree goes the same way: its step. */
static bool is_common(const struct taker *taker, struct step step, struct step *other)
{
	const uint32_t parent = parent_of(taker, step);

	*other = (struct step){ 1 - step.tree, step.child, step.up };
	if (is_step(taker, *other) && parent_of(taker, *other) == parent)
		return true;
	*other = (struct step){ 1 - step.tree, parent, !step.up };
	return is_step(taker, *other) && parent_of(taker, *other) == step.child;
}

static bool is_any_below_taken(const struct taker *taker, struct step step)
{
	const uint32_t *parents = taker->channels->parents[step.tree];

	for (uint32_t i = 0; i < hosts_of(taker->channels); i++)
		if (parents[i] == step.child &&
		    is_taken(taker, (struct step){ step.tree, i, step.up }))
			return true;
	return false;
}

/* The step before or behind it is taken: sums go up to the root, from there results come down. */
static bool is_ready(const struct taker *taker, struct step step)
{
	const uint32_t *parents = taker->channels->parents[step.tree];
	const struct step above = { step.tree, parents[step.child], step.up };
	const struct step back = { step.tree, step.child, true };

	if (is_step(taker, above))
		return is_taken(taker, above) || (step.up && is_any_below_taken(taker, step));
	return step.up ? is_any_below_taken(taker, step) : is_taken(taker, back);
}

static size_t add_slots(const struct taker *taker, struct step step, struct slot *slots)
{
	for (uint32_t i = 0; i < taker->channels->count[step.tree]; i++)
		slots[i] = (struct slot){ step.tree, i, step.child, step.up };
	return taker->channels->count[step.tree];
}

/* With the other tree, if it goes the same way and is ready, too. */
static bool take_step(struct taker *taker, struct step step)
{
	size_t count = add_slots(taker, step, taker->slots);
	struct step other;

	if (is_common(taker, step, &other) && !is_taken(taker, other) && is_ready(taker, other))
		count += add_slots(taker, other, taker->slots + count);
	return take_way(taker, taker->slots, count);
}

enum wait { ONE_TREE_ONLY, BOTH_READY, ANY };

/* A step that can be taken, and that only one tree has; or which both are ready for; or any. */
static bool next_step(const struct taker *taker, enum wait wait, struct step *step)
{
	struct step other;

	for (uint32_t i = 0; i < 4 * hosts_of(taker->channels); i++) {
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
static bool take_first(struct taker *taker, uint32_t tree)
{
	struct step step = { tree, 0, true };

	if (taker->channels->count[tree] == 0)
		return true;
	while (!is_step(taker, step) ||
	       ft_nccl_tree_has(1 - tree, step.child, parent_of(taker, step),
				hosts_of(taker->channels)))
		step.child++;
	return take_step(taker, step);
}

static bool take_all(struct taker *taker)
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

	for (uint32_t i = 0; i < hosts_of(channels); i++) {
		const uint32_t parent = parents[i];

		if (parent == FT_NCCL_NONE || parents[parent] == FT_NCCL_NONE)
			continue;
		if (edges_fit(channels, &one[i], &other[parent], true, &gap_ns) &&
		    edges_fit(channels, &one[i], &other[parent], false, &gap_ns) &&
		    edges_fit(channels, &other[i], &one[parent], true, &gap_ns) &&
		    edges_fit(channels, &other[i], &one[parent], false, &gap_ns))
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

	for (uint32_t i = 0; i < hosts_of(channels); i++)
		if (!carries_on(channels, one[i].up, other[i].down, &gap_ns) ||
		    !carries_on(channels, other[i].up, one[i].down, &gap_ns))
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
	return place_of(channels, edges[i].up);
}

static bool can_change(const struct taker *taker, uint32_t tree, uint32_t a, uint32_t b)
{
	const struct ft_nccl_host_channels *channels = taker->channels;
	const struct ft_nccl_host_edge *one = edges_of(channels, tree, a);
	const struct ft_nccl_host_edge *other = edges_of(channels, tree, b);
	const int64_t left = place_of_sums(channels, one), right = place_of_sums(channels, other);

	return ((!taker->alike || left == right) &&
		can_change_above(channels, channels->parents[tree], one, other)) ||
	       can_change_downs(channels, one, other);
}

/* Two channels, of whichever trees, could have each other's connection between two hosts. */
static bool can_change_lanes(const struct taker *taker, const struct ft_nccl_lane *a,
			     const struct ft_nccl_lane *b)
{
	const struct ft_nccl_lane *lanes = taker->channels->neighbours->lanes;
	uint64_t gap_ns;

	return fits(taker, &taker->owners[a - lanes], b, &gap_ns) &&
	       fits(taker, &taker->owners[b - lanes], a, &gap_ns);
}

static bool is_doubtful(const struct taker *taker)
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
				if (can_change_lanes(taker, &couple->lanes[j], &couple->lanes[k]))
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
static int take_all_channels(struct ft_nccl_host_channels *channels, size_t lane_count)
{
	const size_t widest = widest_way(channels->neighbours);
	struct taker taker = { .channels = channels,
			       .lane_count = lane_count,
			       .owners = calloc(lane_count + 1, sizeof *taker.owners),
			       .tried = calloc(lane_count + 1, sizeof *taker.tried),
			       .slots = calloc(widest, sizeof *taker.slots),
			       .choices = calloc(widest * widest, sizeof *taker.choices),
			       .alike = are_alike(channels) };
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

/* --- which of two hosts are --- */

enum { ANSWERED_SURELY = 4 }; /* so many messages follow others by accident once in sixteen times */

/* A connection of one way, and one of the other, which may be those of a tree's channel. */
struct pair {
	const struct ft_nccl_lane *up, *down;
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
static bool is_pair(const struct ft_nccl_host_channels *channels, const struct ft_nccl_lane *there,
		    const struct ft_nccl_lane *back, struct pair *pair)
{
	struct ft_nccl_lane_order order = { 0 };

	if (!ft_nccl_has_simple_step(&channels->tracks->at[there->at]) ||
	    !ft_nccl_has_simple_step(&channels->tracks->at[back->at]))
		return false;
	ft_nccl_lanes_compare(&order, channels->tracks, there, back);
	if (order.overlap || order.differ || (order.first == 0) == (order.second == 0))
		return false;
	*pair = order.first > 0 ? (struct pair){ .up = there, .down = back, .tree = 1 }
				: (struct pair){ .up = back, .down = there, .tree = 0 };
	pair->messages = order.first + order.second;
	pair->gap_ns = order.gap_ns / pair->messages;
	return true;
}

/* The root of tree 0 is the first host, that of tree 1 the other one. Those that answer soonest are of one channel. */
static bool is_open(const struct ft_nccl_host_channels *channels, const struct pair *pair)
{
	return !*taken(channels, pair->up) && !*taken(channels, pair->down);
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

static void take_pairs(struct ft_nccl_host_channels *channels, struct pair *pairs, size_t count)
{
	const struct pair *pair;

	if (count > 0)
		qsort(pairs, count, sizeof *pairs, compare_pairs);
	while ((pair = next_pair(channels, pairs, count)) != NULL) {
		const uint32_t child = pair->tree == 0 ? 1 : 0;

		channels->doubtful |= pair->messages < ANSWERED_SURELY;
		*taken(channels, pair->up) = *taken(channels, pair->down) = true;
		channels->at[pair->tree][2 * channels->count[pair->tree]++ + child] =
			(struct ft_nccl_host_edge){ pair->up, pair->down };
	}
}

/* 0 or -ENOMEM. */
static int take_all_pairs(struct ft_nccl_host_channels *channels)
{
	const struct ft_nccl_way there = ft_nccl_way_of(channels->neighbours, 0, 1);
	const struct ft_nccl_way back = ft_nccl_way_of(channels->neighbours, 1, 0);
	struct pair *pairs = calloc(there.count * back.count + 1, sizeof *pairs);
	size_t count = 0;

	if (pairs == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < there.count; i++)
		for (size_t j = 0; j < back.count; j++)
			if (is_pair(channels, &there.lanes[i], &back.lanes[j], &pairs[count]))
				count++;
	take_pairs(channels, pairs, count);
	free(pairs);
	return 0;
}

/* --- both --- */

int ft_nccl_host_channels_find(struct ft_nccl_host_channels *channels, size_t lane_count)
{
	const size_t hosts = channels->neighbours->members;

	channels->taken = calloc(lane_count + 1, sizeof *channels->taken);
	for (uint32_t tree = 0; tree < 2; tree++) /* of two hosts any two may be a channel's */
		channels->at[tree] =
			calloc((hosts == 2 ? lane_count : channels->count[tree]) * hosts + 1,
			       sizeof *channels->at[tree]);
	if (channels->taken == NULL || channels->at[0] == NULL || channels->at[1] == NULL)
		return -ENOMEM;
	if (hosts == 2)
		return take_all_pairs(channels);
	return take_all_channels(channels, lane_count);
}

void ft_nccl_host_channels_free(struct ft_nccl_host_channels *channels)
{
	free(channels->taken);
	free(channels->at[0]);
	free(channels->at[1]);
}
