#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <flow/loss.h>

struct ft_moment;
struct ft_tracker;

/* The sequences that began last, to tell how far behind its first frame a frame of one is. */

struct ft_head {
	uint64_t frame; /* number of its first frame in the capture */
	uint32_t sequence;
};

/* A ring of those that began within FT_LOSS_NEAR frames. All zero: none. */
struct ft_heads {
	uint64_t until; /* frames behind this one are near none */
	unsigned oldest, count;
	struct ft_head all[FT_LOSS_NEAR];
};

/* The sequence, whatever its number, begins with this frame; frames come in order. */
void ft_heads_begin(struct ft_heads *heads, uint32_t sequence, uint64_t frame);

/* Frames from the first of the sequence to this one; 0: it did not begin within FT_LOSS_NEAR frames. */
uint64_t ft_heads_behind(const struct ft_heads *heads, uint32_t sequence, uint64_t frame);

/* Whether any began so lately. */
static inline bool ft_heads_are_near(const struct ft_heads *heads, uint64_t frame)
{
	return frame < heads->until;
}

/* Of requests, or else of answers, a half-connection's first. */
void ft_begin_near(struct ft_tracker *tracker, const struct ft_moment *moment);

/* Another one, where some sequence began lately: it may be its own. */
void ft_tell_near(const struct ft_tracker *tracker, const struct ft_moment *moment);
