#pragma once

#include "suspects_ordinary.h"

/* What passed of late, each packet in the place of its frame's number, and found by half-connection and PSN. */

/*
 * A request in a frame of late, in the place of its number: more of it than fits beside its half-connection. Or a response,
 * which has a PSN of the other half's requests.
 */
struct ft_passage {
	uint32_t half;  /* number of its record, and these two: */
	uint32_t psn;   /* 24-bit, and FT_PASSAGE_ASKS, FT_PASSAGE_WHOLE */
	uint32_t frame; /* low bits of its number */
	uint32_t word;  /* enum ft_recent_bits, and what was odd about it; of responses the AETH */
	uint32_t content; /* struct ft_observed */
	uint32_t shape;   /* ft_recent_shape(); of responses operation and length */
	uint32_t icrc;    /* struct ft_observed */
	uint16_t ip_id, sport;
};
static_assert(sizeof(struct ft_passage) == 32, "two in a cache line");

/* Above every PSN: it asks for an acknowledgement; nothing of it was cut off. */
#define FT_PASSAGE_ASKS  (UINT32_C(1) << 24)
#define FT_PASSAGE_WHOLE (UINT32_C(1) << 25)

enum { FT_PASSAGE_ASKS_SHIFT = 6, FT_PASSAGE_WHOLE_SHIFT = 2 }; /* from struct ft_observed */
static_assert((uint32_t)FT_OBSERVED_ACK_REQUEST << FT_PASSAGE_ASKS_SHIFT == FT_PASSAGE_ASKS &&
		      (uint32_t)FT_OBSERVED_WHOLE << FT_PASSAGE_WHOLE_SHIFT == FT_PASSAGE_WHOLE,
	      "moved, not asked for");

/* Above every record number. FT_PASSAGE_BEGINS: what passed before may be of another life. */
#define FT_PASSAGE_RESPONSE UINT32_C(0x80000000)
#define FT_PASSAGE_BEGINS   UINT32_C(0x40000000)

/*
 * They are found by chains of those that a hash of half and PSN puts together, the newest first. Most are never looked for: what
 * was kept is put into its chain when something is looked for the next time.
 */
enum { FT_PASSAGES_BITS = 11, FT_PASSAGES_CHAINS = 1 << FT_PASSAGES_BITS };

struct ft_passages {
	uint64_t chained; /* number of a frame: those before it are in their chains */
	/* the newest one's place in `all`, and from there on: a chain ends where the next is not older */
	uint16_t newest[FT_PASSAGES_CHAINS];
	uint16_t older[FT_SUSPECTS_PASSAGES];
	struct ft_passage all[FT_SUSPECTS_PASSAGES];
};

static inline bool ft_passage_is_under(const struct ft_passage *passage, uint32_t half,
				       uint32_t psn)
{
	return (passage->half & ~FT_PASSAGE_BEGINS) == half &&
	       ((passage->psn ^ psn) & FT_PSN_MOST) == 0;
}

/* One of the two was cut, and the other not. */
static inline bool ft_passages_are_cut_apart(const struct ft_passage *one,
					     const struct ft_passage *other)
{
	return ((one->psn ^ other->psn) & FT_PASSAGE_WHOLE) != 0;
}

/* Frames come in ascending order; of several packets in one the last is kept. */
static inline void ft_passages_keep(struct ft_passages *passages, uint64_t frame,
				    const struct ft_passage *passage)
{
	passages->all[frame % FT_SUSPECTS_PASSAGES] = *passage;
}

/* The request of this frame, if it was kept, is the first of its half-connection, or may be of another life than before. */
static inline void ft_passages_begin(struct ft_passages *passages, uint64_t frame)
{
	struct ft_passage *passage = &passages->all[frame % FT_SUSPECTS_PASSAGES];

	if (passage->frame == (uint32_t)frame)
		passage->half |= FT_PASSAGE_BEGINS;
}

/*
 * The request, response or datagram that passed with the PSN of this one in `frame`, and how many frames ago; NULL: it is not
 * among the last of the capture, which is so for any number of workers.
 */
struct ft_passed {
	const struct ft_passage *passage;
	unsigned back;
};

struct ft_passed ft_passages_find(struct ft_passages *passages, uint64_t frame,
				  const struct ft_passage *now);

/* Of two that are cut alike: they differ in content. */
bool ft_passage_is_unlike(const struct ft_passage *before, const struct ft_passage *now,
			  const struct ft_observed *observed);

/* Whether the half-connection of this number began anew, or may have, in the last so many frames. */
bool ft_passages_began_since(const struct ft_passages *passages, uint32_t half, uint64_t frame,
			     unsigned frames);
