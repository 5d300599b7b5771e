#include "group_waits.h"

#include "group_shared_ports.h"
#include "operation_steps.h"

enum {
	VIOLATED = 2, /* messages at least that did not wait, .. */
	OF_MANY = 16, /* .. and of so many one: frames may be out of order */
	/* of so many operations one that the other has not: ends of some may be missed */
	MISSED = 4,
	LONG = 4, /* messages of an operation in which all have a turn */
};

struct wait {
	uint32_t steps; /* chunks of a loop, of which all but the first ones are sent on */
	uint32_t hops;  /* ranks from the one connection to the other: so many are its own */
	size_t compared, violated; /* messages */
	size_t operations, missed; /* long ones; those that only one has */
};

static void compare_messages(struct wait *wait, const struct ft_nccl_message *const *before,
			     const struct ft_nccl_message *const *behind,
			     const struct ft_nccl_beat *beat)
{
	const size_t slices = beat->offered == FT_NCCL_SLICE_OFFERED ? 2 : 1;
	const size_t lag = wait->hops * slices;

	for (size_t i = lag; i < beat->messages; i++) {
		const struct ft_nccl_message *one = before[i - lag], *other = behind[i];

		if (i / slices % wait->steps < wait->hops || one == NULL || other == NULL ||
		    one->last_frame == 0 || other->first_frame == 0)
			continue;
		wait->compared++;
		wait->violated += other->first_frame <= one->last_frame ? 1 : 0;
	}
}

/* Operations of one connection that are as long as one of the other, at the same time. */
struct alike {
	size_t count;
	size_t at;        /* the first message of the last one */
	uint64_t offered; /* for that */
};

/* The beats from *place on, whose messages begin at *at; those that are over are stepped over. */
static struct alike find_alike(const struct ft_nccl_rhythm *rhythm, const struct ft_nccl_beat *beat,
			       size_t *place, size_t *at)
{
	struct alike alike = { 0 };
	size_t own;

	while (*place < rhythm->count && rhythm->beats[*place].to < beat->from)
		*at += rhythm->beats[(*place)++].messages;
	own = *at;
	for (size_t i = *place; i < rhythm->count && rhythm->beats[i].from <= beat->to; i++) {
		const struct ft_nccl_beat *other = &rhythm->beats[i];

		if (other->messages == beat->messages && !other->cut)
			alike = (struct alike){ alike.count + 1, own, other->offered };
		own += other->messages;
	}
	return alike;
}

/* Operations of both at the same time, if there is only one that is as long. */
static void compare_beats(struct wait *wait, const struct ft_nccl_apart_finder *finder,
			  uint32_t before, uint32_t behind)
{
	const struct ft_nccl_rhythm *rhythm = &finder->rhythms.at[behind];
	size_t place = 0, from = 0, at = 0;

	for (size_t i = 0; i < rhythm->count; at += rhythm->beats[i++].messages) {
		const struct ft_nccl_beat *beat = &rhythm->beats[i];
		const struct alike alike =
			find_alike(&finder->rhythms.at[before], beat, &place, &from);

		if (beat->cut)
			continue;
		wait->operations += beat->messages >= LONG ? 1 : 0;
		wait->missed += beat->messages >= LONG && alike.count == 0 ? 1 : 0;
		if (alike.count == 1 && alike.offered == beat->offered)
			compare_messages(wait, finder->input->tracks[before].messages + alike.at,
					 finder->input->tracks[behind].messages + at, beat);
	}
}

bool ft_nccl_may_wait_for(const struct ft_nccl_apart_finder *finder,
			  const struct ft_nccl_cluster *ring, uint32_t before, uint32_t behind)
{
	const uint32_t shown = ft_nccl_ranks_shown(finder, ring);
	const uint32_t sites = (uint32_t)ring->site_count;
	const uint32_t ranks = shown % sites == 0 && shown > 0 ? shown : sites;
	struct wait wait = { .steps = ranks - 1, .hops = ranks / sites };

	if (ranks == 1)
		return true;
	compare_beats(&wait, finder, before, behind);
	return (wait.violated < VIOLATED || OF_MANY * wait.violated < wait.compared) &&
	       (wait.missed < VIOLATED || MISSED * wait.missed < wait.operations);
}
