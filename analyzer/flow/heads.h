#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <flow/loss.h>

struct ft_flow;
struct ft_moment;
struct ft_tracker;

/* The sequences that began last, to tell how far behind its first frame a frame of one is. */

struct ft_head {
	uint64_t frame; /* number of its first frame in the capture */
	uint32_t sequence;
	uint32_t ended; /* messages that have ended of it since */
};

enum { FT_HEADS_WORDS = 4 };

/* A ring of those that began within FT_LOSS_NEAR frames. All zero: none. */
struct ft_heads {
	/* a bit for each that began in as many frames as a span has, and in the span before: others need not be looked for */
	uint64_t recent[FT_HEADS_WORDS], before[FT_HEADS_WORDS], span;
	uint64_t until; /* frames behind this one are near none */
	unsigned oldest, count;
	struct ft_head all[FT_LOSS_NEAR];
};

/* The sequence, whatever its number, begins with this frame; frames come in order. */
void ft_heads_begin(struct ft_heads *heads, uint32_t sequence, uint64_t frame);

/* The newest beginning of the sequence; NULL: it did not begin within FT_LOSS_NEAR frames. Good until the next one begins. */
struct ft_head *ft_heads_find(struct ft_heads *heads, uint32_t sequence, uint64_t frame);

/* Frames from the first of the sequence to this one; 0: likewise. */
uint64_t ft_heads_behind(struct ft_heads *heads, uint32_t sequence, uint64_t frame);

/* Whether it may have begun so lately. */
static inline bool ft_heads_may_have(const struct ft_heads *heads, uint32_t sequence,
				     uint64_t frame)
{
	unsigned word = sequence / 64 % FT_HEADS_WORDS;

	return frame < heads->until &&
	       ((heads->recent[word] | heads->before[word]) >> sequence % 64 & 1) != 0;
}

/* Of requests, or else of answers, a half-connection's first. */
void ft_begin_near(struct ft_tracker *tracker, const struct ft_moment *moment);

/*
 * Maybe the first packet ever of its half, in the midst of the capture: it begins a message unless those before it were lost, for
 * nobody pauses within one for that long. `follows`: on its request, which was seen, and shows what is missing.
 */
void ft_note_opening(struct ft_tracker *tracker, const struct ft_moment *moment, bool follows);

/* Another one: of a half that may have begun lately. */
void ft_tell_near(struct ft_tracker *tracker, const struct ft_moment *moment);

/* A frame that closed a space counts as one of that sequence, which may have begun lately. */
void ft_find_near(struct ft_tracker *tracker, uint32_t sequence, uint64_t frame);

/* Messages that have ended among the half's requests since its first, up to this frame; -1: that was too long ago. */
int32_t ft_ended_near(struct ft_tracker *tracker, const struct ft_flow *flow, uint64_t frame);
