#pragma once

#include <stdint.h>

/* How to reckon with packet sequence numbers, which are 24-bit and wrap; IBA vol. 1, 9.7.1. */

enum { FT_PSN_MOST = 0xffffff };

/* So many behind it. */
static inline uint32_t ft_psn_add(uint32_t psn, uint32_t count)
{
	return (psn + count) & FT_PSN_MOST;
}

/* So many before it. */
static inline uint32_t ft_psn_back(uint32_t psn, uint32_t count)
{
	return (psn - count) & FT_PSN_MOST;
}

/* How many follow on `from` up to it, which is not older: 0 .. 2^24 - 1. */
static inline uint32_t ft_psn_since(uint32_t psn, uint32_t from)
{
	return (psn - from) & FT_PSN_MOST;
}

/* From b to a: -2^23 .. 2^23 - 1; positive if a is newer. */
static inline int32_t ft_psn_distance(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}
