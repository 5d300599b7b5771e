#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Ticks of an adapter's clock as wall time. The clock is compared with the system's when it is set, and again
 * whenever a frame is younger than the last comparison by FT_DPDK_CLOCK_RENEW_NS, so drift is followed.
 */

#define FT_DPDK_CLOCK_RENEW_NS 100000000.0

/* Both clocks at the same moment, as far as that could be had. */
struct ft_dpdk_moment {
	uint64_t ticks;
	uint64_t ns;       /* since 1970 */
	uint64_t error_ns; /* they may be apart by this much */
};

/* Compare the clocks: 0, or -errno and *moment as it was. */
typedef int ft_dpdk_clock_compare(void *adapter, struct ft_dpdk_moment *moment);

struct ft_dpdk_clock {
	struct ft_dpdk_moment last;   /* what times are counted from */
	struct ft_dpdk_moment anchor; /* what the rate is measured from */
	double ns_per_tick;
	int64_t renew_ticks;
	uint64_t error_ns; /* of converted times against wall time */
	ft_dpdk_clock_compare *compare;
	void *adapter;
};

/* Takes 20 ms. 0, or as compare() says; -ERANGE: the adapter's clock stands or runs backwards. */
int ft_dpdk_clock_set(struct ft_dpdk_clock *clock, ft_dpdk_clock_compare *compare, void *adapter);

/* Times before the last comparison are as good as those after it. */
static inline uint64_t ft_dpdk_clock_ns(const struct ft_dpdk_clock *clock, uint64_t ticks)
{
	double since = (double)(int64_t)(ticks - clock->last.ticks) * clock->ns_per_tick;

	return clock->last.ns + (uint64_t)(int64_t)since;
}

/* Has the last comparison become too old for a frame of this time? */
static inline bool ft_dpdk_clock_is_due(const struct ft_dpdk_clock *clock, uint64_t ticks)
{
	return (int64_t)(ticks - clock->last.ticks) > clock->renew_ticks;
}

/* Compare again. */
void ft_dpdk_clock_renew(struct ft_dpdk_clock *clock);
