/* The last requests of a half-connection: two under one PSN cannot both be the connection's. */
#include <string.h>

#include <flow/hash.h>

#include "suspects_parts.h"

enum ft_recent_bits {
	PSN_BITS = 12,
	SHAPE_BITS = 7,
	CONTENT_BITS = 6,
	LOOK_BITS = 3,
	SHAPE_SHIFT = PSN_BITS,
	CONTENT_SHIFT = SHAPE_SHIFT + SHAPE_BITS,
	LOOK_SHIFT = CONTENT_SHIFT + CONTENT_BITS,
	FLAG_SHIFT = LOOK_SHIFT + LOOK_BITS,
};

#define KEPT     (1u << FLAG_SHIFT)
#define WHOLE    (2u << FLAG_SHIFT)
#define STRANGE  (4u << FLAG_SHIFT)
#define REPORTED (8u << FLAG_SHIFT)

#define PSN_MASK     ((1u << PSN_BITS) - 1)
#define SHAPE_MASK   (((1u << SHAPE_BITS) - 1) << SHAPE_SHIFT)
#define CONTENT_MASK (((1u << CONTENT_BITS) - 1) << CONTENT_SHIFT)
#define LOOK_MASK    (((1u << LOOK_BITS) - 1) << LOOK_SHIFT)

/*
 * A connection set up anew on the same queue pair may repeat the PSNs of the one before it, from its
 * first on. What comes so early is not judged.
 */
enum { BEGINNING = 8, SEEN_MAX = 127 };

/* The topmost bits of a product: equal values have equal ones, others seldom. */
static inline uint32_t digest(uint64_t value, unsigned bits, unsigned shift)
{
	return (uint32_t)(value * 0x9e3779b97f4a7c15u >> (64 - bits)) << shift;
}

static uint32_t word_of(const struct ft_observed *observed, const struct ft_request_looks *looks)
{
	uint64_t aim =
		ft_mix(observed->va ^ 0x9e3779b97f4a7c15u,
		       ((uint64_t)observed->rkey << 32 | observed->length) ^ 0xa0761d6478bd642fu);
	uint64_t look = (uint64_t)observed->sport << 8 | observed->ttl;

	return (observed->psn & PSN_MASK) | KEPT |
	       digest(aim ^ observed->opcode, SHAPE_BITS, SHAPE_SHIFT) |
	       digest(observed->content, CONTENT_BITS, CONTENT_SHIFT) |
	       digest(look, LOOK_BITS, LOOK_SHIFT) |
	       ((observed->has & FT_OBSERVED_WHOLE) != 0 ? WHOLE : 0) |
	       (looks->strange ? STRANGE : 0) | (looks->reported ? REPORTED : 0);
}

/* From b to a, 24-bit. */
static int32_t distance(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

static void keep(struct ft_recent *recent, uint32_t psn, uint32_t word, int32_t ahead)
{
	/* far on, the low bits of what is kept mean other PSNs; after going back, it may be another connection's */
	if (ahead > (int32_t)PSN_MASK || recent->beyond)
		memset(recent->requests, 0, sizeof recent->requests);
	memmove(recent->requests + 1, recent->requests,
		sizeof recent->requests - sizeof recent->requests[0]);
	recent->requests[0] = word;
	recent->newest_psn = psn & 0xffffff;
	if (recent->seen < SEEN_MAX)
		recent->seen++;
	recent->beyond = 0;
}

/* Where it is kept, or FT_SUSPECTS_KEPT. */
static unsigned place_of(const struct ft_recent *recent, uint32_t psn)
{
	unsigned i = 0;

	while (i < FT_SUSPECTS_KEPT && ((recent->requests[i] & KEPT) == 0 ||
					(recent->requests[i] & PSN_MASK) != (psn & PSN_MASK)))
		i++;
	return i;
}

/*
 * One of the two is not the sender's. If only the payload differs, the other explanation is memory that
 * changed before the request was sent again by another path: then the first of the two looks as usual.
 */
static bool is_grave(uint32_t before, uint32_t now, bool prompt)
{
	uint32_t different = before ^ now, either = before | now;

	if ((either & STRANGE) == 0)
		return false;
	if ((either & REPORTED) != 0 || (different & SHAPE_MASK) != 0)
		return true;
	return prompt && (before & STRANGE) != 0 && (different & LOOK_MASK) != 0;
}

/* What is different about two requests under one PSN. */
static enum ft_conflict difference(uint32_t before, uint32_t now, bool prompt)
{
	uint32_t different = before ^ now;

	if ((different & WHOLE) != 0) /* cut differently: cannot be compared */
		return FT_CONFLICT_NONE;
	if ((different & (SHAPE_MASK | CONTENT_MASK)) == 0)
		return FT_CONFLICT_NONE;
	if ((now & STRANGE) == 0 && (before & REPORTED) != 0)
		return FT_CONFLICT_KNOWN;
	if (is_grave(before, now, prompt))
		return FT_CONFLICT_GRAVE;
	return (different & SHAPE_MASK) != 0 ? FT_CONFLICT_REQUEST : FT_CONFLICT_PAYLOAD;
}

/*
 * Goes back: to where the sender stands, to repeat what was lost; or, after a pause, to where another
 * connection on the same queue pairs begins, which need not be judged.
 */
static bool is_judged(const struct ft_recent *recent, unsigned place, bool paused)
{
	if (recent->beyond || place == FT_SUSPECTS_KEPT)
		return false;
	return recent->seen >= place + 1 + BEGINNING && !(paused && place != 0);
}

__attribute__((noinline)) static enum ft_conflict look_back(struct ft_recent *recent, uint32_t psn,
							    uint32_t word,
							    const struct ft_request_looks *looks)
{
	unsigned place = place_of(recent, psn);
	enum ft_conflict conflict;
	uint32_t before;

	if (!is_judged(recent, place, looks->paused)) {
		recent->beyond = 1;
		return FT_CONFLICT_NONE;
	}
	before = recent->requests[place];
	conflict = difference(before, word, looks->prompt);
	if (conflict != FT_CONFLICT_NONE && (word & STRANGE) == 0)
		recent->requests[place] = word;
	else if (conflict == FT_CONFLICT_GRAVE && (before & STRANGE) != 0)
		recent->requests[place] |= REPORTED;
	return conflict;
}

enum ft_conflict ft_recent_step(struct ft_recent *recent, const struct ft_observed *observed,
				const struct ft_request_looks *looks)
{
	uint32_t word = word_of(observed, looks);
	int32_t ahead = distance(observed->psn, recent->newest_psn);

	if (recent->seen == 0 || ahead > 0) {
		keep(recent, observed->psn, word, recent->seen == 0 ? 1 : ahead);
		return FT_CONFLICT_NONE;
	}
	if (-ahead > (int32_t)PSN_MASK) {
		recent->beyond = 1;
		return FT_CONFLICT_NONE;
	}
	return look_back(recent, observed->psn, word, looks);
}
