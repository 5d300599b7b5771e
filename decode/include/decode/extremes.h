#pragma once

#include <stdint.h>

/* The larger and the smaller one of two. */

static inline uint32_t ft_larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint32_t ft_smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint64_t ft_larger64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t ft_smaller64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}
