#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <flow/observed.h>

/*
 * Copies that a mirror makes: a frame that passes two mirrored ports, or one port mirrored in both
 * directions, is here twice. A copy has the same bytes but for what a mirror or a hop changes, and
 * comes within `window_ns` of its original. Not copies, though alike (docs/copies.md):
 *   - a packet sent again: between the two the other side gave a reason, a NAK or a request sent again, or
 *     before them more requests that had passed before than were acknowledged since; the original has already
 *     as many copies as frames of its direction have, and IPv4 identifications of its flow do not count: else
 *     what is sent again has a new one;
 *   - frames of which many are alike (enum ft_alike: FT_ALIKE_PLAIN): only if they come within a
 *     microsecond, or other frames of their direction are being copied, and then as often as those;
 *   - the same bytes with another source MAC and the same time to live, or the reverse: no hop does that;
 *   - the same bytes in another VLAN, unless a router sent them on;
 *   - a frame that breaks a rule which its original did not break.
 * Memory is reserved once; frames beyond `entries` within the window push the oldest out. After `entries`
 * frames in the order of time those are let go that are older than one and a half windows.
 */
struct ft_copies;

struct ft_copies_config {
	uint64_t window_ns; /* 0: nothing is a copy */
	uint32_t entries;   /* frames remembered, a power of two, 2^8 .. 2^24 */
	uint64_t seed;      /* of the hash; changes no result */
};
#define FT_COPIES_DEFAULTS                                                                         \
	{                                                                                          \
		.window_ns = 1000000, .entries = 1u << 16,                                         \
	}

/* 0; -EINVAL: `entries` is out of range or no power of two; -ENOMEM. `config` is copied. */
int ft_copies_create(struct ft_copies **copies, const struct ft_copies_config *config);

/* Frees all of it. NULL is fine. */
void ft_copies_destroy(struct ft_copies *copies);

/* Hint that the copies of a frame with this digest will be asked for soon; returns what ft_copies_check_at() is to be told. */
uint64_t ft_copies_prefetch(const struct ft_copies *copies, uint64_t digest);

/* What became of a frame. */
enum ft_copy_verdict {
	FT_COPY_NO,       /* an original: remembered */
	FT_COPY_YES,      /* of a frame before it: leave it out of every count */
	FT_COPY_REPEATED, /* the same bytes, but sent again by the transport */
};

/*
 * Call once for every frame in capture order. `rules` are the rules it breaks (bits). Frames without
 * a time stamp are never copies.
 */
enum ft_copy_verdict ft_copies_check(struct ft_copies *copies, const struct ft_observed *observed,
				     uint32_t rules);

/* The same of a frame that a hint was given of; `at`: what that returned. */
enum ft_copy_verdict ft_copies_check_at(struct ft_copies *copies,
					const struct ft_observed *observed, uint64_t at,
					uint32_t rules);

/*
 * The frame checked last was a request that had passed before, and so may be the next: each is answered once more, often with
 * the same bytes as the one before it; the first, too, if it was not `answered` yet. Answers are ignored.
 */
void ft_copies_see_again(struct ft_copies *copies, const struct ft_observed *observed,
			 bool answered);

/* After FT_COPY_YES: the VLAN in which its original was. */
uint16_t ft_copies_original_vlan(const struct ft_copies *copies);

/* After FT_COPY_YES: it is marked for congestion, as neither its original nor a copy before it is. */
bool ft_copies_marks(const struct ft_copies *copies);
