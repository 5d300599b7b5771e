#pragma once

#include <string.h>

#include "suspects_parts.h"

/* What every packet passes through, inline: nearly all look as usual and follow their predecessor. */

enum ft_look_limit {
	FT_LOOK_ID_NEAR = 256,  /* IP identifications that a counting sender may skip */
	FT_LOOK_ID_SETTLED = 7, /* a full score */
	FT_LOOK_ID_SHAKEN = 3,  /* the score after one that did not fit */
	FT_LOOK_LEARNT_MAX = 255,
};

static inline bool ft_look_is_usual(const struct ft_sender_look *look,
				    const struct ft_observed *observed)
{
	return memcmp(look->smac, observed->smac, sizeof look->smac) == 0 &&
	       look->sport == observed->sport && look->ttl == observed->ttl &&
	       look->dscp == observed->dscp;
}

static inline bool ft_look_id_fits(const struct ft_sender_look *look, uint16_t ip_id)
{
	uint16_t step = (uint16_t)(ip_id - look->ip_id);

	if ((look->style & FT_LOOK_ID_SCORE) == 0)
		return step <= FT_LOOK_ID_NEAR;
	return (look->style & FT_LOOK_ID_CONSTANT) != 0 ? step == 0 : step <= FT_LOOK_ID_NEAR;
}

static inline void ft_look_learn_id(struct ft_sender_look *look, uint16_t ip_id)
{
	uint8_t score = look->style & FT_LOOK_ID_SCORE;

	if (score == FT_LOOK_ID_SETTLED && ft_look_id_fits(look, ip_id)) {
		look->ip_id = ip_id;
		return;
	}
	if (!ft_look_id_fits(look, ip_id)) {
		score = score == FT_LOOK_ID_SETTLED ? FT_LOOK_ID_SHAKEN : 0;
	} else if (score == 0) {
		score = 1;
		look->style = (uint8_t)(look->style & ~FT_LOOK_ID_CONSTANT) |
			      (ip_id == look->ip_id ? FT_LOOK_ID_CONSTANT : 0);
	} else if (score < FT_LOOK_ID_SETTLED) {
		score++;
	}
	look->style = (uint8_t)(look->style & ~FT_LOOK_ID_SCORE) | score;
	look->ip_id = ip_id;
}

/* A packet that looks as usual. */
static inline void ft_look_agree(struct ft_sender_look *look, const struct ft_observed *observed)
{
	ft_look_learn_id(look, observed->ip_id);
	look->strange = 0;
	if (look->learnt < FT_LOOK_LEARNT_MAX)
		look->learnt++;
}

/* A request or answer that looks as usual, or cannot be compared; false: neither, nothing is learnt. */
static inline bool ft_look_is_ordinary(struct ft_sender_look *look,
				       const struct ft_observed *observed, bool answer)
{
	bool of_answers = (look->style & FT_LOOK_ANSWERS) != 0;

	if (look->learnt == 0)
		return false;
	if (answer && !of_answers) {
		ft_look_learn_id(look, observed->ip_id);
		return true;
	}
	if (answer != of_answers || !ft_look_is_usual(look, observed))
		return false;
	ft_look_agree(look, observed);
	return true;
}

/* A kept request, as bits of a word. */
enum ft_recent_bits {
	FT_RECENT_PSN = 0xfff,        /* low bits of its PSN */
	FT_RECENT_SHAPE = 0x7f << 12, /* digest of operation, length of the message, address, key */
	FT_RECENT_CONTENT = 0x3f << 19, /* digest of all its content */
	FT_RECENT_LOOK = 0x7 << 25,     /* digest of source port and TTL */
	FT_RECENT_KEPT = 1 << 28,       /* always set */
	FT_RECENT_WHOLE = 1 << 29,      /* nothing of it was cut off */
	FT_RECENT_STRANGE = 1 << 30,    /* struct ft_request_looks */
};
#define FT_RECENT_REPORTED (1u << 31)

static inline uint32_t ft_recent_word(const struct ft_observed *observed)
{
	uint64_t aim = (observed->va ^ (uint64_t)observed->rkey << 24 ^
			(uint64_t)observed->length << 40 ^ observed->opcode) *
		       0x9e3779b97f4a7c15u;
	uint32_t look = (observed->sport ^ observed->ttl * 5u) * 0x9e3779b1u;

	return (observed->psn & FT_RECENT_PSN) | ((uint32_t)(aim >> 45) & FT_RECENT_SHAPE) |
	       (observed->content >> 7 & FT_RECENT_CONTENT) | (look >> 4 & FT_RECENT_LOOK) |
	       FT_RECENT_KEPT | ((observed->has & FT_OBSERVED_WHOLE) != 0 ? FT_RECENT_WHOLE : 0);
}

/* PSNs from the newest request to this one. */
static inline int32_t ft_recent_ahead(const struct ft_recent *recent, uint32_t psn)
{
	return (int32_t)((psn - recent->newest_psn) << 8) >> 8;
}

/* Where the request is that came `age` requests before the newest. */
static inline unsigned ft_recent_place(const struct ft_recent *recent, unsigned age)
{
	unsigned place = recent->newest_place + FT_SUSPECTS_KEPT - age;

	return place < FT_SUSPECTS_KEPT ? place : place - FT_SUSPECTS_KEPT;
}

static inline void ft_recent_keep(struct ft_recent *recent, uint32_t psn, uint32_t word)
{
	unsigned place = recent->newest_place + 1u;
	unsigned seen = recent->seen + 1u;

	if (place == FT_SUSPECTS_KEPT)
		place = 0;
	if (seen > FT_SUSPECTS_SEEN)
		seen = FT_SUSPECTS_SEEN;
	recent->requests[place] = word;
	recent->newest_place = (uint8_t)place;
	recent->seen = (uint8_t)seen;
	recent->newest_psn = psn;
	recent->beyond = false;
}

/* The next request of a connection that is under way. */
static inline bool ft_recent_is_ordinary(const struct ft_recent *recent,
					 const struct ft_observed *observed, uint32_t moment)
{
	int32_t ahead = ft_recent_ahead(recent, observed->psn);

	return ahead > 0 && ahead <= FT_RECENT_PSN && recent->seen > 1 && !recent->beyond &&
	       moment - recent->moment < FT_SUSPECTS_LONG_AGO;
}
