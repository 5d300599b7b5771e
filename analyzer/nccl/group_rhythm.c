#include "group_rhythm.h"

#include <errno.h>
#include <stdlib.h>

#include <decode/extremes.h>

enum {
	TURNS = 4,     /* operations at least, .. */
	ALL_TURNS = 2, /* .. and where there are no others */
	LONG = 4,      /* messages: what takes as many is under way on all channels at a time */
	CLASHES = 3,   /* operations at least */
	AHEAD = 4,     /* of an operation under way, by which one connection may be ahead */
};

static void widen(struct ft_nccl_beat *beat, const struct ft_nccl_message *message)
{
	const uint64_t from = message->cts_frame != 0 ? message->cts_frame : message->first_frame;
	const uint64_t to = message->last_frame != 0 ? message->last_frame : from;

	if (beat->from == 0 || from < beat->from)
		beat->from = from;
	if (to > beat->to)
		beat->to = to;
	if (message->request_count != 1 || !message->requests[0].has_offered)
		return;
	beat->mixed |= beat->offered != 0 && beat->offered != message->requests[0].offered;
	if (beat->offered == 0)
		beat->offered = message->requests[0].offered;
}

static void add_bytes(struct ft_nccl_beat *beat, const struct ft_nccl_message *message)
{
	const bool known = message != NULL && message->completed && message->cts_frame != 0 &&
			   message->request_count == 1 && message->requests[0].has_written;
	const uint64_t bytes = known ? message->requests[0].written : 0;

	beat->known = beat->known && known;
	beat->bytes += bytes;
	beat->longest = ft_larger64(bytes, beat->longest);
}

static size_t read_track(const struct ft_nccl_track *track, struct ft_nccl_beat *beats)
{
	size_t count = 0;

	for (size_t i = 0; i < track->count; i++) {
		if (i == 0 || ft_nccl_track_border(track, i) == FT_NCCL_BORDER)
			beats[count++] = (struct ft_nccl_beat){
				.cut = i == 0 && (!track->numbered || track->first_k > 0),
				.known = true,
			};
		beats[count - 1].messages++;
		if (track->messages[i] != NULL)
			widen(&beats[count - 1], track->messages[i]);
		add_bytes(&beats[count - 1], track->messages[i]);
	}
	if (count > 0)
		beats[count - 1].open = track->unanswered > 0;
	return count;
}

int ft_nccl_rhythms_find(struct ft_nccl_rhythms *rhythms, const struct ft_nccl_track *tracks,
			 size_t count)
{
	struct ft_nccl_beat *next;
	size_t messages = 0;

	for (size_t i = 0; i < count; i++)
		messages += tracks[i].count;
	rhythms->at = calloc(count + 1, sizeof *rhythms->at);
	rhythms->memory = calloc(messages + 1, sizeof *rhythms->memory);
	if (rhythms->at == NULL || rhythms->memory == NULL)
		return -ENOMEM;
	next = rhythms->memory;
	for (size_t i = 0; i < count; i++) {
		rhythms->at[i] = (struct ft_nccl_rhythm){ next, read_track(&tracks[i], next) };
		next += rhythms->at[i].count;
	}
	return 0;
}

void ft_nccl_rhythms_free(struct ft_nccl_rhythms *rhythms)
{
	free(rhythms->at);
	free(rhythms->memory);
	*rhythms = (struct ft_nccl_rhythms){ 0 };
}

/* As many; or nearly so, if the capture ends meanwhile. */
static bool has_as_many(const struct ft_nccl_beat *a, const struct ft_nccl_beat *b)
{
	const size_t more = a->messages > b->messages ? a->messages : b->messages;
	const size_t less = a->messages > b->messages ? b->messages : a->messages;

	return more - less <= (a->open || b->open ? AHEAD : 0);
}

/* At about the same time. */
static bool is_same(const struct ft_nccl_beat *a, const struct ft_nccl_beat *b)
{
	return has_as_many(a, b) &&
	       (a->offered == b->offered || a->offered == 0 || b->offered == 0);
}

struct tally {
	size_t whole, same; /* operations that were captured whole; that the other had, too */
	size_t alone;       /* operations while the other had none */
	size_t alone_long;  /* of these, long ones */
};

static struct tally compare(const struct ft_nccl_rhythm *a, const struct ft_nccl_rhythm *b)
{
	struct tally tally = { 0 };
	size_t from = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct ft_nccl_beat *beat = &a->beats[i];
		bool alone = true, same = false;

		while (from < b->count && b->beats[from].to < beat->from)
			from++;
		for (size_t j = from; j < b->count && b->beats[j].from <= beat->to; j++) {
			alone = false;
			same |= !beat->cut && is_same(beat, &b->beats[j]);
		}
		tally.whole += beat->cut ? 0 : 1;
		tally.same += same ? 1 : 0;
		tally.alone += alone ? 1 : 0;
		tally.alone_long += alone && beat->messages >= LONG ? 1 : 0;
	}
	return tally;
}

bool ft_nccl_rhythms_agree(const struct ft_nccl_rhythm *a, const struct ft_nccl_rhythm *b)
{
	const struct ft_nccl_rhythm *fewer = a->count <= b->count ? a : b;
	const struct tally tally = compare(fewer, fewer == a ? b : a);

	return 2 * tally.same > tally.whole;
}

bool ft_nccl_rhythm_is_other(const struct ft_nccl_rhythm *rhythm, const struct ft_nccl_rhythm *than)
{
	const struct tally tally = compare(rhythm, than);

	return tally.same == 0 && tally.alone_long >= ALL_TURNS;
}

/* No other one of its own connection lies between them. */
static bool is_next(const struct ft_nccl_rhythm *rhythm, size_t i, const struct ft_nccl_beat *other)
{
	const uint64_t from = rhythm->beats[i].from;

	return other->from < from
		       ? i == 0 || rhythm->beats[i - 1].from < other->from
		       : i + 1 == rhythm->count || rhythm->beats[i + 1].from > other->from;
}

/*
 * It may have been over here before it began on the other, or the other way round, if that had the same just before or behind.
 * What began before the capture had, if it is not long.
 */
static bool may_be_of_both(const struct ft_nccl_rhythm *rhythm, size_t i,
			   const struct ft_nccl_rhythm *other)
{
	const struct ft_nccl_beat *beat = &rhythm->beats[i];
	const struct ft_nccl_beat *beats = other->beats;
	size_t behind = 0;

	if (beat->cut)
		return beat->messages < LONG;
	while (behind < other->count && beats[behind].from < beat->from)
		behind++;
	return (behind > 0 && is_same(beat, &beats[behind - 1]) &&
		is_next(rhythm, i, &beats[behind - 1])) ||
	       (behind < other->count && is_same(beat, &beats[behind]) &&
		is_next(rhythm, i, &beats[behind]));
}

/* Some operation was on this one alone, and none on both. */
static bool has_own_alone(const struct ft_nccl_rhythm *rhythm, const struct ft_nccl_rhythm *other)
{
	const struct tally tally = compare(rhythm, other);

	if (tally.same > 0 || tally.alone < rhythm->count)
		return false;
	for (size_t i = 0; i < rhythm->count; i++)
		if (!may_be_of_both(rhythm, i, other))
			return true;
	return false;
}

bool ft_nccl_rhythms_take_turns(const struct ft_nccl_rhythm *a, const struct ft_nccl_rhythm *b)
{
	const struct ft_nccl_rhythm *fewer = a->count <= b->count ? a : b;
	const size_t alone = compare(fewer, fewer == a ? b : a).alone;

	if (alone == fewer->count && alone >= ALL_TURNS)
		return true;
	return (alone >= TURNS && 2 * alone > fewer->count) ||
	       (has_own_alone(a, b) && has_own_alone(b, a));
}

static bool is_comparable(const struct ft_nccl_beat *beat)
{
	return !beat->cut && !beat->open && !beat->mixed && beat->messages >= LONG;
}

/* By more than what shares of channels differ by. */
static bool are_unlike(uint64_t bytes, uint64_t others)
{
	return 4 * ft_smaller64(bytes, others) < 3 * ft_larger64(bytes, others);
}

/* What the other one did during an operation. */
struct others {
	const struct ft_nccl_beat *beats;
	size_t count;
};

/* Nothing of it has the same protocol. */
static bool have_other_offers(const struct ft_nccl_beat *beat, const struct others *others)
{
	for (size_t i = 0; i < others->count; i++)
		if (beat->offered == 0 || others->beats[i].offered == 0 ||
		    beat->offered == others->beats[i].offered)
			return false;
	return true;
}

/* Its longest messages are others. That holds where some are missing, and where a pause was missed. */
static bool have_other_lengths(const struct ft_nccl_beat *beat, const struct others *others)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < others->count; i++)
		longest = ft_larger64(others->beats[i].longest, longest);
	return beat->longest != 0 && longest != 0 && are_unlike(beat->longest, longest);
}

/* Nothing of it, nor all of it, has about as many bytes. */
static bool have_other_volumes(const struct ft_nccl_beat *beat, const struct others *others)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < others->count; i++) {
		if (!others->beats[i].known || !are_unlike(beat->bytes, others->beats[i].bytes))
			return false;
		bytes += others->beats[i].bytes;
	}
	return beat->known && are_unlike(beat->bytes, bytes);
}

static void weigh(struct ft_nccl_clash *clash, const struct ft_nccl_beat *beat,
		  const struct others *others)
{
	for (size_t i = 0; i < others->count; i++)
		if (!is_comparable(&others->beats[i]))
			return;
	if (have_other_offers(beat, others) || have_other_lengths(beat, others) ||
	    have_other_volumes(beat, others))
		clash->apart++;
	else
		clash->same++;
}

void ft_nccl_rhythms_weigh(struct ft_nccl_clash *clash, const struct ft_nccl_rhythm *a,
			   const struct ft_nccl_rhythm *b)
{
	const struct ft_nccl_rhythm *fewer = a->count <= b->count ? a : b;
	const struct ft_nccl_rhythm *other = fewer == a ? b : a;
	size_t from = 0;

	for (size_t i = 0; i < fewer->count; i++) {
		const struct ft_nccl_beat *beat = &fewer->beats[i];
		size_t to;

		while (from < other->count && other->beats[from].to < beat->from)
			from++;
		for (to = from; to < other->count && other->beats[to].from <= beat->to;)
			to++;
		if (to > from && is_comparable(beat))
			weigh(clash, beat, &(struct others){ other->beats + from, to - from });
	}
}

bool ft_nccl_clash_tells_apart(const struct ft_nccl_clash *clash)
{
	return clash->apart >= CLASHES && clash->apart > clash->same;
}
