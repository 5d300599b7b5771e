#include "group_spells.h"

#include <errno.h>
#include <stdlib.h>

#include <decode/extremes.h>

enum {
	LEAST = 3,      /* messages of a spell .. */
	MOST = 8,       /* .. and about as many at most: what goes on is another one */
	SHORTER = 4,    /* in a row: behind the data of a chunk, of chunks that are not full */
	SUFFICIENT = 3, /* of two connections */
	CLASHES = 6,    /* of two rings */
};

static bool are_unlike(uint64_t bytes, uint64_t others)
{
	return 4 * ft_smaller64(bytes, others) < 3 * ft_larger64(bytes, others);
}

/* A spell that grows. */
struct growing {
	struct ft_nccl_spell spell;
	size_t messages;      /* up to the last one as long as the longest */
	size_t shorter;       /* behind it */
	size_t first_shorter; /* place of the first one of these */
};

static uint64_t offered_to(const struct ft_nccl_message *message)
{
	return message->requests[0].has_offered ? message->requests[0].offered : 0;
}

/* Empty ones say nothing. */
static bool tells(const struct ft_nccl_message *message)
{
	return message != NULL && message->first_frame != 0 && message->request_count == 1 &&
	       message->requests[0].has_written && message->requests[0].written != 0;
}

static void begin(struct growing *growing, const struct ft_nccl_message *message)
{
	*growing = (struct growing){
		.spell = { .from = message->first_frame,
			   .to = message->last_frame,
			   .offered = offered_to(message),
			   .longest = message->requests[0].written },
		.messages = 1,
	};
}

/* False: it is of another spell. */
static bool grow(struct growing *growing, const struct ft_nccl_message *message, size_t at)
{
	struct ft_nccl_spell *spell = &growing->spell;
	const uint64_t bytes = message->requests[0].written, offered = offered_to(message);

	if (growing->messages >= MOST)
		return false;
	if (offered != 0 && spell->offered != 0 && offered != spell->offered)
		return false;
	if (are_unlike(bytes, spell->longest)) {
		if (bytes > spell->longest || growing->shorter == SHORTER)
			return false;
		if (growing->shorter++ == 0)
			growing->first_shorter = at;
		return true;
	}
	growing->messages += growing->shorter + 1;
	growing->shorter = 0;
	spell->longest = ft_larger64(spell->longest, bytes);
	spell->to = message->last_frame;
	if (spell->offered == 0)
		spell->offered = offered;
	return true;
}

static size_t add(const struct growing *growing, struct ft_nccl_spell *spells, size_t count)
{
	if (growing->messages < LEAST)
		return count;
	spells[count] = growing->spell;
	return count + 1;
}

static size_t read_track(const struct ft_nccl_track *track, struct ft_nccl_spell *spells)
{
	struct growing growing = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < track->count; i++) {
		const struct ft_nccl_message *message = track->messages[i];

		if (ft_nccl_track_border(track, i) == FT_NCCL_BORDER) {
			count = add(&growing, spells, count);
			growing = (struct growing){ 0 };
		}
		if (!tells(message))
			continue;
		if (growing.messages > 0 && grow(&growing, message, i))
			continue;
		count = add(&growing, spells, count);
		if (growing.shorter > 0) {
			i = growing.first_shorter;
			message = track->messages[i];
		}
		begin(&growing, message);
	}
	return add(&growing, spells, count);
}

static bool has_holes(const struct ft_nccl_track *track)
{
	for (size_t i = 0; i < track->count; i++)
		if (ft_nccl_track_border(track, i) == FT_NCCL_BORDER_UNKNOWN)
			return true;
	return false;
}

int ft_nccl_spells_find(struct ft_nccl_spells *spells, const struct ft_nccl_track *tracks,
			size_t count)
{
	struct ft_nccl_spell *next;
	size_t messages = 0;

	for (size_t i = 0; i < count; i++)
		messages += tracks[i].count / LEAST;
	*spells = (struct ft_nccl_spells){
		.at = calloc(count + 1, sizeof *spells->at),
		.memory = calloc(messages + 1, sizeof *spells->memory),
	};
	if (spells->at == NULL || spells->memory == NULL)
		return -ENOMEM;
	next = spells->memory;
	for (size_t i = 0; i < count; i++) {
		spells->at[i] = (struct ft_nccl_spell_list){ next, read_track(&tracks[i], next),
							     has_holes(&tracks[i]) };
		next += spells->at[i].count;
	}
	return 0;
}

void ft_nccl_spells_free(struct ft_nccl_spells *spells)
{
	free(spells->at);
	free(spells->memory);
	*spells = (struct ft_nccl_spells){ 0 };
}

/* Half of the shorter one at least was while the other was. */
static bool are_at_once(const struct ft_nccl_spell *a, const struct ft_nccl_spell *b)
{
	const uint64_t from = ft_larger64(a->from, b->from), to = ft_smaller64(a->to, b->to);

	return from < to && 2 * (to - from) >= ft_smaller64(a->to - a->from, b->to - b->from);
}

static bool are_alike(const struct ft_nccl_spell *a, const struct ft_nccl_spell *b)
{
	return (a->offered == b->offered || a->offered == 0 || b->offered == 0) &&
	       !are_unlike(a->longest, b->longest);
}

void ft_nccl_spells_weigh(struct ft_nccl_clash *clash, const struct ft_nccl_spell_list *a,
			  const struct ft_nccl_spell_list *b)
{
	size_t from = 0;

	if (!a->holey && !b->holey)
		return;
	for (size_t i = 0; i < a->count; i++) {
		const struct ft_nccl_spell *spell = &a->at[i];

		while (from < b->count && b->at[from].to < spell->from)
			from++;
		for (size_t j = from; j < b->count && b->at[j].from <= spell->to; j++) {
			if (!are_at_once(spell, &b->at[j]))
				continue;
			if (are_alike(spell, &b->at[j]))
				clash->same++;
			else
				clash->apart++;
		}
	}
}

enum ft_nccl_likeness ft_nccl_spells_compare(const struct ft_nccl_spell_list *a,
					     const struct ft_nccl_spell_list *b)
{
	const size_t fewer = a->count < b->count ? a->count : b->count;
	struct ft_nccl_clash clash = { 0 };

	ft_nccl_spells_weigh(&clash, a, b);
	if (clash.same + clash.apart < SUFFICIENT)
		return FT_NCCL_UNDECIDED;
	return 4 * clash.same >= 3 * fewer && clash.same > 2 * clash.apart ? FT_NCCL_ALIKE
									   : FT_NCCL_UNLIKE;
}

bool ft_nccl_spells_tell_apart(const struct ft_nccl_clash *clash)
{
	return clash->apart >= CLASHES && clash->apart > clash->same;
}
