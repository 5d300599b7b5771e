/* The last requests of a half-connection: two under one PSN cannot both be the connection's. */
#include <string.h>

#include <decode/opcode.h>

#include "suspects_ordinary.h"

/*
 * A connection set up anew on the same queue pair may repeat the PSNs of the one before it, from its
 * first on. What comes so early is not judged.
 */
enum { BEGINNING = 8 };

enum { OPERATION = 0x1f, READ = 0x0c };

/* Where it is kept, counted from the newest; FT_SUSPECTS_KEPT: nowhere. */
static unsigned age_of(const struct ft_recent *recent, uint32_t psn)
{
	unsigned age = 0;

	while (age < FT_SUSPECTS_KEPT) {
		uint32_t word = recent->requests[age];

		if ((word & FT_RECENT_KEPT) != 0 && ((word ^ psn) & FT_RECENT_PSN) == 0)
			break;
		age++;
	}
	return age;
}

bool ft_recent_has(const struct ft_recent *recent, uint32_t psn)
{
	return age_of(recent, psn) != FT_SUSPECTS_KEPT;
}

uint32_t ft_recent_word_of(const struct ft_observed *observed, const struct ft_request_looks *looks)
{
	return ft_request_print_of(observed).word | ft_recent_look(observed) |
	       (looks->strange ? FT_RECENT_STRANGE : 0) |
	       (looks->reported ? FT_RECENT_REPORTED : 0);
}

/*
 * One of the two is not the sender's. If only the payload differs, the other explanation is memory that
 * changed before the request was sent again by another path: then the first of the two looks as usual.
 */
static bool is_grave(uint32_t before, uint32_t now, uint32_t different, bool prompt)
{
	uint32_t either = before | now;

	if ((either & FT_RECENT_STRANGE) == 0)
		return false;
	if ((either & FT_RECENT_REPORTED) != 0 || (different & FT_RECENT_SHAPE) != 0)
		return true;
	return prompt && (before & FT_RECENT_STRANGE) != 0 && (different & FT_RECENT_LOOK) != 0;
}

static bool is_read(const struct ft_observed *observed)
{
	return (observed->opcode & OPERATION) == READ;
}

/* Its payload is known to be empty: what it says stands in its headers, which no memory changes. */
static bool is_bare(const struct ft_observed *observed)
{
	return (observed->has & FT_OBSERVED_PAYLOAD) != 0 && observed->payload == 0;
}

/* UC: nothing comes under a PSN again (IBA vol. 1, 9.8). */
static bool is_sent_once(const struct ft_observed *observed)
{
	return observed->opcode >> 5 == FT_UC;
}

/* What is different about two requests under one PSN; of a `part` of a READ, only what is no other length. */
static enum ft_conflict difference(uint32_t before, uint32_t now,
				   const struct ft_request_looks *looks, bool part)
{
	uint32_t different = (before ^ now) | looks->unlike;

	if (part)
		different &= ~(uint32_t)FT_RECENT_CONTENT;
	if ((different & FT_RECENT_WHOLE) != 0) /* cut differently: cannot be compared */
		return FT_CONFLICT_NONE;
	if ((different & (FT_RECENT_SHAPE | FT_RECENT_CONTENT)) == 0)
		return FT_CONFLICT_NONE;
	if ((now & FT_RECENT_STRANGE) == 0 && (before & FT_RECENT_REPORTED) != 0)
		return FT_CONFLICT_KNOWN;
	if (is_grave(before, now, different, looks->prompt))
		return FT_CONFLICT_GRAVE;
	return (different & FT_RECENT_SHAPE) != 0 ? FT_CONFLICT_REQUEST : FT_CONFLICT_PAYLOAD;
}

/*
 * Goes back: to where the sender stands, to repeat what was lost; or, after a pause, to where another connection on the same
 * queue pairs begins, which need not be judged. What is not kept any more is judged by what passed of late.
 */
static bool is_judged(const struct ft_recent *recent, unsigned age,
		      const struct ft_request_looks *looks)
{
	unsigned seen = recent->newest & FT_RECENT_SEEN;

	if ((recent->newest & FT_RECENT_BEYOND) != 0)
		return false;
	if (age == FT_SUSPECTS_KEPT)
		return looks->before != 0 && !looks->paused && seen == FT_RECENT_SEEN;
	return seen >= age + 1 + BEGINNING && !(looks->paused && age != 0);
}

/* Overtaken by those behind it: the sender did not go back. */
static bool is_late(unsigned age, const struct ft_request_looks *looks)
{
	return age == FT_SUSPECTS_KEPT && !looks->again && !looks->paused;
}

/* Of a READ; 0: not known. */
static uint32_t psns_of(const struct ft_observed *observed, uint32_t mtu)
{
	return mtu == 0 ? 0 : observed->length / mtu + (observed->length % mtu != 0);
}

/*
 * Who lost some of the responses to a READ may ask for those alone: under their PSN, from there on in memory, and no farther
 * than the READ went, which is to where the request after it stands.
 */
static bool may_be_part(const struct ft_recent *recent, unsigned age,
			const struct ft_observed *observed, const struct ft_request_looks *looks)
{
	uint32_t room = ft_psn_since(looks->next_psn, observed->psn);

	if (age != 0 && age != FT_SUSPECTS_KEPT)
		room = (recent->requests[age - 1] - observed->psn) & FT_RECENT_PSN;
	return is_read(observed) && psns_of(observed, looks->mtu) <= room;
}

static enum ft_conflict conflict_with(uint32_t before, const struct ft_recent *recent, unsigned age,
				      const struct ft_observed *observed, uint32_t word,
				      const struct ft_request_looks *looks)
{
	bool part = may_be_part(recent, age, observed, looks);
	enum ft_conflict conflict = difference(before, word, looks, part);

	if (conflict == FT_CONFLICT_PAYLOAD && (is_bare(observed) || is_sent_once(observed)))
		return FT_CONFLICT_REQUEST;
	return conflict;
}

static enum ft_conflict look_back(struct ft_recent *recent, const struct ft_observed *observed,
				  uint32_t word, const struct ft_request_looks *looks)
{
	unsigned age = age_of(recent, observed->psn);
	enum ft_conflict conflict;
	uint32_t *before;

	if (!is_judged(recent, age, looks)) {
		if (!is_late(age, looks))
			recent->newest |= FT_RECENT_BEYOND;
		return FT_CONFLICT_NONE;
	}
	if (age == FT_SUSPECTS_KEPT)
		return conflict_with(looks->before, recent, age, observed, word, looks);
	before = &recent->requests[age];
	conflict = conflict_with(*before, recent, age, observed, word, looks);
	if (conflict != FT_CONFLICT_NONE && (word & FT_RECENT_STRANGE) == 0)
		*before = word;
	else if (conflict == FT_CONFLICT_GRAVE && (*before & FT_RECENT_STRANGE) != 0)
		*before |= FT_RECENT_REPORTED;
	return conflict;
}

void ft_recent_forget(struct ft_recent *recent)
{
	memset(recent->requests, 0, sizeof recent->requests);
	recent->newest |= FT_RECENT_NOTHING;
}

enum ft_conflict ft_recent_step(struct ft_recent *recent, const struct ft_observed *observed,
				const struct ft_request_looks *looks)
{
	uint32_t word = ft_recent_word_of(observed, looks);
	int32_t ahead = ft_recent_ahead(recent, observed->psn);

	if (ahead > 0 && looks->again && is_read(observed) &&
	    (recent->newest & FT_RECENT_NOTHING) == 0)
		return FT_CONFLICT_NONE; /* the rest of a READ, which is kept under its first PSN */
	if ((recent->newest & FT_RECENT_NOTHING) != 0 || ahead > 0) {
		/* what is kept: far on, its low bits mean other PSNs; after going back, another connection's */
		if (ahead > FT_RECENT_PSN || (recent->newest & FT_RECENT_BEYOND) != 0)
			memset(recent->requests, 0, sizeof recent->requests);
		ft_recent_count(recent, observed->psn, word);
		return FT_CONFLICT_NONE;
	}
	if (-ahead > FT_RECENT_PSN) {
		recent->newest |= FT_RECENT_BEYOND;
		return FT_CONFLICT_NONE;
	}
	return look_back(recent, observed, word, looks);
}
