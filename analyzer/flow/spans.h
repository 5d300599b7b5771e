#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <flow/half.h>

/*
 * PSN ranges that are not accounted for, kept in a pool that all half-connections share. Those of
 * one half form a ring in order of appearance, but for a long hole, which comes first; struct ft_half holds the number of
 * the first.
 */

enum ft_span_kind {
	FT_SPAN_HOLE, /* requests that never passed, shown by a later request */
	FT_SPAN_GUESSED, /* likewise, behind a READ of which only a guess at the path MTU tells how far it goes */
	FT_SPAN_IMPLIED, /* likewise, shown by an answer; half.next_psn has moved on */
	FT_SPAN_AHEAD,   /* answered for beyond half.next_psn; always the last of its ring */
	FT_SPAN_FORMER, /* none: the half may be in another life, lives.h; always the first of its ring */
	FT_SPAN_AWAITED, /* READ responses and ATOMIC ACKNOWLEDGEs that the peer owes this half */
	FT_SPAN_OVERTAKEN, /* likewise, and a later answer came before them; frame and ts_ns: which, and when */
	FT_SPAN_ASKED_AGAIN, /* likewise, and the request was sent again; ts_ns: when */
	FT_SPAN_SKIPPED, /* READ responses of this half that never passed; the peer is not known */
};

/* Among the first packets of a half: it may have passed before the capture began. */
enum ft_early { FT_LATER, FT_EARLY, FT_AT_ONSET };

/* One cache line: where much is lost, most of what a packet costs is to look at those that are open. */
struct ft_span {
	_Alignas(64) uint32_t next; /* in the ring; numbers from 1 */
	uint32_t prev;
	uint32_t from;  /* 24-bit PSN */
	uint32_t count; /* PSNs, up to 2^23 */
	uint32_t begin; /* responses: PSN of the request; holes: where the message began */
	uint8_t kind;   /* enum ft_span_kind */
	uint8_t asked; /* responses: enum ft_message_kind of the request; FT_MESSAGE_KINDS: of none */
	uint8_t early; /* enum ft_early */
	bool fresh : 1; /* a hole beyond all that was answered for when it was shown: no part of what was sent again */
	bool guessed : 1; /* responses: all up to the next request, for the READ's length was cut away */
	bool begins : 1; /* holes: a message begins right behind; false where it was filled from its beginning */
	bool ends : 1;     /* holes: likewise, one ends with the packet behind it */
	bool answered : 1; /* holes: the peer is known to have answered for it */
	/*
	 * packets that came where it begins, or where the rest of it began since, up to FT_SPAN_FILLING; as many as there are
	 * for a range behind that
	 */
	uint8_t filled : 2;
	uint64_t frame; /* that showed it; of what was overtaken, that overtook it */
	/* likewise, or when it was answered for: long after, before_ns is not known then */
	uint64_t ts_ns;
	/* time of the half's packet before the range, of its kind if that is known; 0: not known */
	uint64_t before_ns;
	/* a hole: of the FT_SPAN_ENDED PSNs behind it, those at which messages ended; 0 where its end moved */
	uint64_t ended;
	/* the first of a ring: 1 + half.acked when it was last looked for what that covers; 0: look again */
	uint32_t looked_for;
	uint32_t ring; /* which ring it is in, by a number that is its own; 0: in none */
};
static_assert(sizeof(struct ft_span) == 64, "a million of them");

static inline bool ft_span_is_answer(const struct ft_span *span)
{
	return span->kind >= FT_SPAN_AWAITED;
}

/* Sets of kinds. */
enum {
	FT_SPANS_HOLES = 1u << FT_SPAN_HOLE | 1u << FT_SPAN_GUESSED | 1u << FT_SPAN_IMPLIED,
	FT_SPANS_AWAITED =
		1u << FT_SPAN_AWAITED | 1u << FT_SPAN_OVERTAKEN | 1u << FT_SPAN_ASKED_AGAIN,
	FT_SPANS_SKIPPED = 1u << FT_SPAN_SKIPPED,
};

/* So many packets behind each other, and what sends them goes on with it: they are no stragglers. */
enum { FT_SPAN_FILLING = 3 };

/*
 * Of one half: what packets leave that take ways of many lengths, 200 us apart at 400 Gbit/s. A ring that is not sorted is
 * searched from end to end, and has fewer; so has any when half of the pool is in use.
 */
enum {
	FT_SPANS_PER_HALF = (1 << 12) - 1,
	FT_SPANS_FEW = 255,
	FT_SPAN_ENDED = 64,
	FT_SPANS_MOST = (1 << 21) - 1,
	FT_SPANS_HINTS = 1 << 16,
};

/*
 * Of half.span_traits, which spares looks at rings: sets of kinds, and these. What is not set is not so; what is set may
 * have been so since the ring was last empty.
 */
enum ft_span_traits {
	FT_SPANS_GROWN = 1u << 9, /* the half is not young any more, whatever of it is missing */
	/* not every range begins behind the end of the one before it in the ring, and within the window */
	FT_SPANS_UNSORTED = 1u << 10,
	FT_SPANS_TRAITS = (1u << 11) - 1,
};

/* What its ring may have from now on. */
static inline void ft_spans_note(struct ft_half *half, uint32_t traits)
{
	half->span_traits = (half->span_traits | traits) & FT_SPANS_TRAITS;
}

static inline bool ft_spans_are_sorted(const struct ft_half *half)
{
	return (half->span_traits & FT_SPANS_UNSORTED) == 0;
}

struct ft_spans {
	struct ft_span *nodes;
	uint32_t capacity, used;
	uint32_t free;  /* first of those given back, chained by next; 0: none */
	uint32_t held;  /* by rings */
	uint32_t rings; /* that there have been */
	/* of long rings, where to begin to look, by ring and PSN; what is found does not depend on it */
	uint32_t *hints;
};

/* Up to FT_SPANS_MOST. 0 or -ENOMEM. Address space is reserved, memory is touched as spans come into use. */
int ft_spans_create(struct ft_spans *spans, uint32_t capacity);
void ft_spans_destroy(struct ft_spans *spans);

static inline struct ft_span *ft_span_at(const struct ft_spans *spans, uint32_t number)
{
	return &spans->nodes[number - 1];
}

/*
 * spans_sort.c: the half has as many as it should: give one up before the next. One that has FT_SPANS_FEW is sorted if it can be: then
 * it may have more.
 */
bool ft_spans_still_full(const struct ft_spans *spans, struct ft_half *half);

/* A copy of *span at the end of the half's ring; 0 if the half has FT_SPANS_PER_HALF, or the pool is empty. */
uint32_t ft_spans_append(struct ft_spans *spans, struct ft_half *half, const struct ft_span *span);

/* Likewise, behind `number` of the same ring. */
uint32_t ft_spans_insert(struct ft_spans *spans, struct ft_half *half, uint32_t number,
			 const struct ft_span *span);

void ft_spans_remove(struct ft_spans *spans, struct ft_half *half, uint32_t number);

/* Of a span in the half's ring. */
static inline void ft_span_become(struct ft_half *half, struct ft_span *span,
				  enum ft_span_kind kind)
{
	span->kind = (uint8_t)kind;
	ft_spans_note(half, 1u << kind);
}

/* The newest of the ring is the oldest from now on. */
static inline void ft_spans_put_first(const struct ft_spans *spans, struct ft_half *half,
				      uint32_t newest)
{
	ft_span_at(spans, newest)->looked_for = 0;
	half->spans = newest & FT_SPANS_MOST;
	ft_spans_note(half, FT_SPANS_UNSORTED);
}

/* What half.acked covers may be more than when it was last looked for. */
static inline void ft_spans_look_again(const struct ft_spans *spans, const struct ft_half *half)
{
	ft_span_at(spans, half->spans)->looked_for = 0;
}

/*
 * Take `count` PSNs from `psn`, which lies in the range, out of it: it shrinks, goes, or is cut in two. What is left behind
 * them is filled by one packet more.
 * Returns the PSNs of the second piece if there is no room for it: they are no longer remembered.
 */
uint32_t ft_spans_take(struct ft_spans *spans, struct ft_half *half, uint32_t number, uint32_t psn,
		       uint32_t count);

/* spans_find.c: of a sorted ring, the last that begins at this PSN or before it, of any kind; 0: none. */
uint32_t ft_spans_upto(const struct ft_spans *spans, const struct ft_half *half, uint32_t psn);

/* spans_find.c: a span came to a ring, or is about to leave it: those near by are found from here from now on. */
void ft_spans_hint(const struct ft_spans *spans, const struct ft_half *half, uint32_t psn,
		   uint32_t number);

/* spans_find.c: the span of one of these kinds that holds the PSN; of several, the oldest or the newest; 0: none. */
uint32_t ft_spans_find(const struct ft_spans *spans, const struct ft_half *half, uint32_t psn,
		       uint32_t kinds);
uint32_t ft_spans_find_newest(const struct ft_spans *spans, const struct ft_half *half,
			      uint32_t psn, uint32_t kinds);

/* All of these kinds. */
void ft_spans_drop(struct ft_spans *spans, struct ft_half *half, uint32_t kinds);

/* The last of the ring if it is of that kind, else 0. */
static inline uint32_t ft_spans_last(const struct ft_spans *spans, const struct ft_half *half,
				     enum ft_span_kind kind)
{
	uint32_t last = half->spans == 0 ? 0 : ft_span_at(spans, half->spans)->prev;

	return last != 0 && ft_span_at(spans, last)->kind == kind ? last : 0;
}
