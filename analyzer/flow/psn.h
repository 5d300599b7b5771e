#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/psn.h>
#include <flow/half.h>

/* Packet sequence numbers of a half-connection. */

enum {
	FT_PSN_WINDOW = 1 << 16, /* farther than this from the expected one is another sequence */
	FT_PSN_HALF = 1 << 23,   /* most that may be outstanding */
};

/* The newer of two, either of which may be FT_PSN_NONE. */
static inline uint32_t ft_psn_newest(uint32_t a, uint32_t b)
{
	if (a == FT_PSN_NONE || b == FT_PSN_NONE)
		return a == FT_PSN_NONE ? b : a;
	return ft_psn_distance(a, b) > 0 ? a : b;
}

/* Likewise of what one side has said and says now: far from before, it is of another sequence. */
static inline uint32_t ft_psn_follow(uint32_t before, uint32_t now)
{
	int32_t distance = before == FT_PSN_NONE ? FT_PSN_WINDOW : ft_psn_distance(now, before);

	return distance > 0 || distance <= -FT_PSN_WINDOW ? now : before;
}

/* After b, and by less than the window. */
static inline bool ft_psn_is_soon_after(uint32_t a, uint32_t b)
{
	return (a - b - 1) << 8 < (FT_PSN_WINDOW - 1) << 8;
}

static inline bool ft_psn_within(uint32_t psn, uint32_t from, uint32_t count)
{
	return ft_psn_since(psn, from) < count;
}

/* Whether `last` is at or beyond the end of a range. */
static inline bool ft_psn_covers(uint32_t last, uint32_t from, uint32_t count)
{
	return last != FT_PSN_NONE && ft_psn_distance(last, from) + 1 >= (int32_t)count;
}

/* PSNs from `from` up to and including `last` that lie in a range of `count`. */
static inline uint32_t ft_psn_reached(uint32_t last, uint32_t from, uint32_t count)
{
	int32_t reached = last == FT_PSN_NONE ? 0 : ft_psn_distance(last, from) + 1;

	if (reached <= 0)
		return 0;
	return (uint32_t)reached < count ? (uint32_t)reached : count;
}
