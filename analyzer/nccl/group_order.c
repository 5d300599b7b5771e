#include "group_order.h"

#include <capture/frame.h>

#include "operation_steps.h"

static const struct ft_nccl_message *message_k(const struct ft_nccl_track *track, uint64_t k)
{
	const struct ft_nccl_message *message;

	if (!track->numbered || k < track->first_k || k - track->first_k >= track->count)
		return NULL;
	message = track->messages[k - track->first_k];
	return message != NULL && message->first_frame != 0 ? message : NULL;
}

static uint64_t gap_of(const struct ft_nccl_message *before, const struct ft_nccl_message *behind)
{
	if (before->last_ts_ns == FT_TS_UNKNOWN || behind->first_ts_ns == FT_TS_UNKNOWN ||
	    behind->first_ts_ns < before->last_ts_ns)
		return 0;
	return behind->first_ts_ns - before->last_ts_ns;
}

static bool differ(const struct ft_nccl_message *a, const struct ft_nccl_message *b)
{
	return a->completed && b->completed && ft_nccl_message_bytes(a) != ft_nccl_message_bytes(b);
}

/* Messages of the one and of the other that belong together, one pair after the other. */
struct walk {
	const struct ft_nccl_track *tracks[2];
	bool by_steps; /* the steps of SIMPLE in their order, since one of the two has a ring's messages, too; else by number */
	size_t at[2];
	uint64_t k;
};

static bool is_whole(const struct ft_nccl_track *track)
{
	for (size_t i = 0; i < track->count; i++)
		if (track->messages[i] == NULL || track->messages[i]->first_frame == 0)
			return false;
	return true;
}

static struct walk walk_of(const struct ft_nccl_tracks *tracks, const struct ft_nccl_link *one,
			   const struct ft_nccl_link *other)
{
	struct walk walk = { .tracks = { &tracks->at[one->at], &tracks->at[other->at] } };

	walk.k = walk.tracks[0]->first_k;
	walk.by_steps = ft_nccl_has_slice(walk.tracks[0]) || ft_nccl_has_slice(walk.tracks[1]);
	for (unsigned i = 0; walk.by_steps && i < 2; i++)
		if (!is_whole(walk.tracks[i]))
			walk.at[0] = walk.tracks[0]->count; /* nobody knows which belong together */
	return walk;
}

static const struct ft_nccl_message *next_step(struct walk *walk, unsigned i)
{
	while (walk->at[i] < walk->tracks[i]->count) {
		const struct ft_nccl_message *message = walk->tracks[i]->messages[walk->at[i]++];

		if (ft_nccl_is_simple_step(message))
			return message;
	}
	return NULL;
}

/* False: there are no more. */
static bool next(struct walk *walk, const struct ft_nccl_message **a,
		 const struct ft_nccl_message **b)
{
	const struct ft_nccl_track *first = walk->tracks[0];

	if (walk->by_steps) {
		*a = next_step(walk, 0);
		*b = next_step(walk, 1);
		return *a != NULL && *b != NULL;
	}
	while (walk->k < first->first_k + first->count) {
		*a = message_k(first, walk->k);
		*b = message_k(walk->tracks[1], walk->k++);
		if (*a != NULL && *b != NULL)
			return true;
	}
	return false;
}

bool ft_nccl_links_carry_on(const struct ft_nccl_tracks *tracks, const struct ft_nccl_link *one,
			    const struct ft_nccl_link *other, uint64_t *gap_ns)
{
	struct walk walk = walk_of(tracks, one, other);
	const struct ft_nccl_message *a, *b;

	while (next(&walk, &a, &b)) {
		if (b->first_frame <= a->last_frame || differ(a, b))
			return false;
		*gap_ns += gap_of(a, b);
	}
	return true;
}

void ft_nccl_links_compare(struct ft_nccl_link_order *order, const struct ft_nccl_tracks *tracks,
			   const struct ft_nccl_link *one, const struct ft_nccl_link *other)
{
	struct walk walk = walk_of(tracks, one, other);
	const struct ft_nccl_message *a, *b;

	while (next(&walk, &a, &b)) {
		if (a->first_frame < b->first_frame) {
			order->first++;
			order->gap_ns += gap_of(a, b);
		} else {
			order->second++;
			order->gap_ns += gap_of(b, a);
		}
		order->overlap |=
			a->first_frame <= b->last_frame && b->first_frame <= a->last_frame;
		order->differ |= differ(a, b);
	}
}
