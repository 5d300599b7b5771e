#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <flow/observed.h>

#include "recall.h"

/*
 * What ft_copies_check() remembers besides frames. All stay empty, and are not asked, on a mirror that
 * copies nothing and a fabric that loses nothing: nothing in them matters later than `until`.
 */

/* How often frames of each direction of an address pair are being copied. */
struct ft_habits {
	struct ft_recall pairs;
	uint64_t until;
};

int ft_habits_init(struct ft_habits *habits, uint64_t seed); /* 0 or -ENOMEM */
void ft_habits_free(struct ft_habits *habits);

/* Copies per original of its direction, rounded; 0: none, or none any more. */
uint32_t ft_habits_usual(const struct ft_habits *habits, const struct ft_observed *observed);

/* An original; the newest copy of one, which is its `nth`. */
void ft_habits_original(const struct ft_habits *habits, const struct ft_observed *observed);
void ft_habits_copy(struct ft_habits *habits, const struct ft_observed *observed, uint8_t nth);

/*
 * Reasons to send packets again: a NAK or RNR NAK is one for the requests of the other side from its PSN
 * on, a request sent again one for the answers to it. `frame`: number of the frame in whatever the
 * caller counts, to tell what came before it.
 */
struct ft_asks {
	struct ft_recall asks;
	struct ft_recall dues; /* answers to requests that had passed before */
	uint64_t window_ns;    /* how long reasons last */
	uint64_t until;        /* of asks alone: dues are looked for where frames are alike */
};

int ft_asks_init(struct ft_asks *asks, uint64_t window_ns, uint64_t seed); /* 0 or -ENOMEM */
void ft_asks_free(struct ft_asks *asks);

/* The newest reason to send this packet again, or NULL. */
const struct ft_recalled *ft_asks_find(const struct ft_asks *asks,
				       const struct ft_observed *observed);

/*
 * A packet sent again for such a reason. With the first of them, and one behind the last of them, the sender
 * goes back: what passed until then had been on its way when the reason came, and will be sent again too.
 */
void ft_asks_repeated(struct ft_asks *asks, const struct ft_observed *observed, uint32_t frame);

/* A packet that is no copy: is it a reason? */
void ft_asks_follow(struct ft_asks *asks, const struct ft_observed *observed, uint32_t frame);

/*
 * A request that had passed before, number `frame`. Its sender goes back: what has passed from its PSN on will be sent
 * again. One answer more is due, and one to what passed before if that was not `answered`.
 */
void ft_asks_owe(struct ft_asks *asks, const struct ft_observed *observed, bool answered,
		 uint32_t frame);

/*
 * Whether this is one of several acknowledgements that are due, alike to one that passed as number `original`, which
 * took the place of one itself if it came behind the first request that was sent again. It is due no more then.
 */
bool ft_asks_settle(struct ft_asks *asks, const struct ft_observed *observed, uint32_t original);

/*
 * Whose IPv4 identifications count. Such a sender gives what it sends again a new one: the same bytes are a copy,
 * whatever was asked for. Looked at only where copies or refusals are about.
 */
struct ft_idents {
	struct ft_recall flows;
};

int ft_idents_init(struct ft_idents *idents, uint64_t seed); /* 0 or -ENOMEM */
void ft_idents_free(struct ft_idents *idents);

/* A packet with a PSN; `again`: one with the same bytes came before, so that it cannot have another one. */
void ft_idents_see(struct ft_idents *idents, const struct ft_observed *observed, bool again);

/* Whether packets of this flow mostly have another one than the packet before them. */
bool ft_idents_count(const struct ft_idents *idents, const struct ft_observed *observed);

/* --- for all --- */

static inline bool ft_copies_is_recent(uint64_t then, uint64_t now, uint64_t span)
{
	return now <= then + span;
}

static inline bool ft_copies_is_upward(const struct ft_observed *observed)
{
	return (observed->has & FT_OBSERVED_UPWARD) != 0;
}
