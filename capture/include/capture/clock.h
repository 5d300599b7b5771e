#pragma once

#include <stdint.h>
#include <time.h>

/* What time it is, ns. Only live sources and the shell ask: whoever works on frames has the time from them. */

static inline uint64_t ft_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Never steps. */
static inline uint64_t ft_clock_monotonic_ns(void)
{
	return ft_clock_ns(CLOCK_MONOTONIC);
}

/* Since 1970. */
static inline uint64_t ft_clock_wall_ns(void)
{
	return ft_clock_ns(CLOCK_REALTIME);
}
