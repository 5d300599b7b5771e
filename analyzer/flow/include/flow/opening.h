#pragma once

#include <stdint.h>

/*
 * The frame that a half-connection began with, or its newest life, in a word of its record; CNPs do not count. The first 2^31
 * frames of a capture are told exactly, the next 2^39 to 256 frames, what is behind them as the last of these.
 */
#define FT_OPENINGS_EXACT (UINT64_C(1) << 31)
enum { FT_OPENINGS_SHIFT = 8 };

static inline uint32_t ft_opening_of(uint64_t frame)
{
	const uint64_t coarse =
		FT_OPENINGS_EXACT + ((frame - FT_OPENINGS_EXACT) >> FT_OPENINGS_SHIFT);

	if (frame < FT_OPENINGS_EXACT)
		return (uint32_t)frame;
	return coarse < UINT32_MAX ? (uint32_t)coarse : UINT32_MAX;
}

static inline uint64_t ft_opening_frame(uint32_t opening)
{
	if (opening < FT_OPENINGS_EXACT)
		return opening;
	return FT_OPENINGS_EXACT + ((opening - FT_OPENINGS_EXACT) << FT_OPENINGS_SHIFT);
}
