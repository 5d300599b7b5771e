#pragma once

#include <stddef.h>
#include <string.h>

#include <decode/psn.h>

#include "suspects_parts.h"

/* What every packet passes through, inline: nearly all look as usual and follow their predecessor. */

enum ft_look_limit {
	FT_LOOK_ID_NEAR = 256, /* IP identifications that a counting sender may skip */
	FT_LOOK_ID_SETTLED = 7 * FT_LOOK_ID_FITS, /* a full score */
	FT_LOOK_ID_ANSWERS = 6 * FT_LOOK_ID_FITS, /* what answers bring it to among requests */
	FT_LOOK_ID_SHAKEN = 3 * FT_LOOK_ID_FITS,  /* the score after one that did not fit */
	FT_LOOK_LEARNT_MAX = 255,
};

/* The traits of a packet stand as in a look. */
static_assert(offsetof(struct ft_observed, dscp) - offsetof(struct ft_observed, smac) ==
			      offsetof(struct ft_sender_look, dscp) &&
		      offsetof(struct ft_observed, sport) - offsetof(struct ft_observed, smac) ==
			      offsetof(struct ft_sender_look, sport) &&
		      offsetof(struct ft_observed, ip_id) - offsetof(struct ft_observed, smac) ==
			      offsetof(struct ft_sender_look, ip_id),
	      "copied and compared as bytes");

static inline const uint8_t *ft_look_traits(const struct ft_observed *observed)
{
	return (const uint8_t *)observed + offsetof(struct ft_observed, smac);
}

/* The look of one packet. */
static inline struct ft_sender_look ft_look_of(const struct ft_observed *observed)
{
	struct ft_sender_look look = { 0 };

	memcpy(&look, ft_look_traits(observed), offsetof(struct ft_sender_look, learnt));
	return look;
}

/* It looks like this packet from now on. */
static inline void ft_look_learn(struct ft_sender_look *look, const struct ft_observed *observed,
				 bool answer)
{
	/* at once into its place: a copy would be read back wider than it was written, and waited for */
	memcpy(look, ft_look_traits(observed), offsetof(struct ft_sender_look, learnt));
	look->learnt = 1;
	look->style = FT_LOOK_MET | FT_LOOK_PATIENCE | (answer ? 0 : FT_LOOK_REQUESTS);
}

/* MAC address and source port are those of the look. */
static inline bool ft_look_is_from(const struct ft_sender_look *look,
				   const struct ft_observed *observed)
{
	return memcmp((const uint8_t *)look, ft_look_traits(observed),
		      offsetof(struct ft_sender_look, ip_id)) == 0;
}

static inline bool ft_look_is_usual(const struct ft_sender_look *look,
				    const struct ft_observed *observed)
{
	return ft_look_is_from(look, observed) && look->ttl == observed->ttl &&
	       look->dscp == observed->dscp;
}

static inline bool ft_look_id_fits(const struct ft_sender_look *look, uint16_t ip_id)
{
	uint16_t step = (uint16_t)(ip_id - look->ip_id);

	if ((look->style & FT_LOOK_ID_SCORE) == 0)
		return step <= FT_LOOK_ID_NEAR;
	return (look->style & FT_LOOK_ID_CONSTANT) != 0 ? step == 0 : step <= FT_LOOK_ID_NEAR;
}

/*
 * A sender whose packets all had one identification has another one, or one that counted has 0, which is what those have that
 * do not count.
 */
static inline bool ft_look_id_is_other_style(const struct ft_sender_look *look, uint16_t ip_id)
{
	return (look->style & FT_LOOK_ID_SCORE) == FT_LOOK_ID_SETTLED &&
	       !ft_look_id_fits(look, ip_id) &&
	       ((look->style & FT_LOOK_ID_CONSTANT) != 0 || ip_id == 0);
}

static inline void ft_look_learn_id(struct ft_sender_look *look, uint16_t ip_id)
{
	unsigned score = look->style & FT_LOOK_ID_SCORE, style = look->style;

	if (!ft_look_id_fits(look, ip_id)) {
		score = score == FT_LOOK_ID_SETTLED ? FT_LOOK_ID_SHAKEN : 0;
	} else if (score == 0) {
		score = FT_LOOK_ID_FITS;
		style = (style & ~(unsigned)FT_LOOK_ID_CONSTANT) |
			(ip_id == look->ip_id ? FT_LOOK_ID_CONSTANT : 0);
	} else if (score != FT_LOOK_ID_SETTLED) {
		score += FT_LOOK_ID_FITS;
	}
	look->style = (uint8_t)((style & ~(unsigned)FT_LOOK_ID_SCORE) | score);
	look->ip_id = ip_id;
}

/*
 * Of an answer among requests. A card may count its answers apart: however many follow one another, only requests make it
 * sure what the next request has.
 */
static inline void ft_look_learn_answer_id(struct ft_sender_look *look, uint16_t ip_id)
{
	if ((look->style & FT_LOOK_ID_SCORE) >= FT_LOOK_ID_ANSWERS && ft_look_id_fits(look, ip_id))
		look->ip_id = ip_id;
	else
		ft_look_learn_id(look, ip_id);
}

static inline void ft_look_count(struct ft_sender_look *look)
{
	if (look->learnt != FT_LOOK_LEARNT_MAX)
		look->learnt++;
}

/* A packet that looks as usual. */
static inline void ft_look_agree(struct ft_sender_look *look, const struct ft_observed *observed)
{
	ft_look_learn_id(look, observed->ip_id);
	look->style |= FT_LOOK_PATIENCE;
	ft_look_count(look);
}

static inline uint32_t ft_look_tail(uint16_t ip_id, uint8_t ttl, uint8_t dscp)
{
	return ip_id | (uint32_t)ttl << 16 | (uint32_t)dscp << 24;
}

/* The style once nothing is left to learn but the identification; without a score yet: another one. */
static inline unsigned ft_look_settling(const struct ft_sender_look *look)
{
	return (look->style & FT_LOOK_ID_SCORE) != 0 ? look->style | FT_LOOK_ID_SCORE : 0;
}

/*
 * A packet of a sender that agreed so far, of which it is known how it identifies packets. `settled`: the style to be.
 * Unless the identification wraps, when the packet is looked at more closely, one comparison tells that it is near and
 * that time to live and service are the same.
 */
static inline bool ft_look_is_settled(const struct ft_sender_look *look,
				      const struct ft_observed *observed, unsigned settled)
{
	uint32_t counts = ft_look_settling(look) ^ settled; /* 0: always the same; 1: counting up */
	uint32_t ahead = ft_look_tail(observed->ip_id, observed->ttl, observed->dscp) -
			 ft_look_tail(look->ip_id, look->ttl, look->dscp);

	return observed->ip_id >= look->ip_id && ahead <= counts * FT_LOOK_ID_NEAR &&
	       counts <= FT_LOOK_ID_CONSTANT && ft_look_is_from(look, observed);
}

/*
 * An answer, where the look is that of requests: the identifications count on, and the time to live is the same, without
 * which nothing is held against it.
 */
static inline bool ft_look_is_between(const struct ft_sender_look *look,
				      const struct ft_observed *observed)
{
	uint32_t counts = ft_look_settling(look) ^ FT_LOOK_SETTLED;
	uint16_t ahead = (uint16_t)(observed->ip_id - look->ip_id);

	return ahead <= counts * FT_LOOK_ID_NEAR && counts <= FT_LOOK_ID_CONSTANT &&
	       look->ttl == observed->ttl;
}

/* The identification of either of these is the one after the last: as ft_look_learn_id(). */
static inline void ft_look_count_id(struct ft_sender_look *look, uint16_t ip_id)
{
	bool full = (look->style & FT_LOOK_ID_SCORE) == FT_LOOK_ID_SETTLED;

	look->style = (uint8_t)(look->style + !full * FT_LOOK_ID_FITS);
	look->ip_id = ip_id;
}

/* Likewise as ft_look_learn_answer_id(). */
static inline void ft_look_count_answer_id(struct ft_sender_look *look, uint16_t ip_id)
{
	bool full = (look->style & FT_LOOK_ID_SCORE) >= FT_LOOK_ID_ANSWERS;

	look->style = (uint8_t)(look->style + !full * FT_LOOK_ID_FITS);
	look->ip_id = ip_id;
}

static inline bool ft_look_is_of(const struct ft_sender_look *look, unsigned kind)
{
	const unsigned kinds = FT_LOOK_MET | FT_LOOK_REQUESTS;

	return (look->style & kinds) == kind;
}

/* A kept request, as bits of a word; those of struct ft_observed in the same place. */
enum ft_recent_bits {
	FT_RECENT_PSN = 0xfff,       /* low bits of its PSN */
	FT_RECENT_LOOK = 0x7 << 12,  /* digest of source port and TTL, if it is a strange one */
	FT_RECENT_STRANGE = 1 << 15, /* struct ft_request_looks */
	FT_RECENT_REPORTED = 1 << 16,
	FT_RECENT_CONTENT = 0x3f << 17,      /* digest of all its content */
	FT_RECENT_WHOLE = FT_OBSERVED_WHOLE, /* nothing of it was cut off */
	FT_RECENT_KEPT = 1 << 24,            /* always set */
};
#define FT_RECENT_SHAPE 0xfe000000u /* the upper bits of ft_recent_shape() */
static_assert(FT_OBSERVED_WHOLE == 1 << 23, "no bit has two meanings");

/*
 * Digest of operation, address, key and length of the message; of a READ, which has no payload, the length is left out: it
 * may be asked again in part.
 */
static inline uint32_t ft_recent_shape(const struct ft_observed *observed)
{
	uint64_t aim = observed->va + observed->opcode + ((uint64_t)observed->rkey << 32) +
		       (uint64_t)observed->length * observed->payload;

	return (uint32_t)(aim * 0x9e3779b97f4a7c15u >> 32);
}

/* What a request is told from others by: its shape, and its word, which has a part of that. */
struct ft_request_print {
	uint32_t shape, word;
};

static inline struct ft_request_print ft_request_print_of(const struct ft_observed *observed)
{
	uint32_t shape = ft_recent_shape(observed);

	return (struct ft_request_print){
		.shape = shape,
		.word = (observed->psn & FT_RECENT_PSN) | (observed->content & FT_RECENT_CONTENT) |
			(observed->has & FT_RECENT_WHOLE) | (shape & FT_RECENT_SHAPE) |
			FT_RECENT_KEPT,
	};
}

static inline uint32_t ft_recent_look(const struct ft_observed *observed)
{
	return (observed->sport ^ observed->ttl * 5u) * 0x9e3779b1u >> 17 & FT_RECENT_LOOK;
}

static inline void ft_recent_keep(struct ft_recent *recent, uint32_t newest, uint32_t word)
{
	memmove(recent->requests + 1, recent->requests,
		sizeof recent->requests - sizeof recent->requests[0]);
	recent->requests[0] = word;
	recent->newest = newest;
}

/*
 * A request that will be the newest, in order, on a queue pair that is used and not searched for: nothing but how many were
 * seen stands below the PSN. Its PSN above FT_RECENT_SEEN is `newest`.
 */
static inline bool ft_recent_goes_on(const struct ft_recent *recent, uint32_t newest)
{
	uint32_t ahead = (newest - recent->newest) & ~(uint32_t)FT_RECENT_SEEN;

	return (ahead >> FT_RECENT_PSN_SHIFT | ahead << (32 - FT_RECENT_PSN_SHIFT)) - 1 <
	       FT_RECENT_PSN;
}

/* It is kept, and one more seen. */
static inline void ft_recent_go_on(struct ft_recent *recent, uint32_t newest, uint32_t word)
{
	uint32_t unseen = (newest - recent->newest) & FT_RECENT_SEEN;

	ft_recent_keep(recent, newest - unseen + (unseen != 0), word);
}

/* No packet yet. */
static inline void ft_recent_begin(struct ft_recent *recent)
{
	*recent = (struct ft_recent){ .newest = FT_RECENT_NOTHING };
}

/* PSNs from the newest request to this one. */
static inline int32_t ft_recent_ahead(const struct ft_recent *recent, uint32_t psn)
{
	return ft_psn_distance(psn, recent->newest >> FT_RECENT_PSN_SHIFT);
}

/* One ahead of those kept, of a connection that is under way. */
static inline bool ft_recent_follows(const struct ft_recent *recent, uint32_t psn)
{
	int32_t ahead = ft_recent_ahead(recent, psn);

	return ahead > 0 && ahead <= FT_RECENT_PSN &&
	       (recent->newest & (FT_RECENT_NOTHING | FT_RECENT_BEYOND)) == 0;
}

static inline void ft_recent_count(struct ft_recent *recent, uint32_t psn, uint32_t word)
{
	uint32_t seen = recent->newest & FT_RECENT_SEEN;
	uint32_t kept = recent->newest & (FT_RECENT_PROBE | FT_RECENT_OWN_ANSWERS);

	seen = seen < FT_RECENT_SEEN ? seen + 1 : seen;
	ft_recent_keep(recent, psn << FT_RECENT_PSN_SHIFT | kept | seen, word);
}
