#include "dpdk_clock.h"

#include <errno.h>
#include <time.h>

enum { FIRST_NS = 20000000, BASELINE_S = 10 };

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The rate over the time since the anchor: the longer, the less the error of both ends matters. */
static bool measure_rate(struct ft_dpdk_clock *clock, const struct ft_dpdk_moment *now)
{
	int64_t ticks = (int64_t)(now->ticks - clock->anchor.ticks);
	int64_t ns = (int64_t)(now->ns - clock->anchor.ns);

	if (ticks <= 0 || ns <= 0)
		return false;
	clock->ns_per_tick = (double)ns / (double)ticks;
	clock->renew_ticks = (int64_t)(FT_DPDK_CLOCK_RENEW_NS / clock->ns_per_tick);
	return true;
}

int ft_dpdk_clock_set(struct ft_dpdk_clock *clock, ft_dpdk_clock_compare *compare, void *adapter)
{
	struct ft_dpdk_clock set = { .compare = compare, .adapter = adapter };
	int error = compare(adapter, &set.anchor);

	if (error != 0)
		return error;
	nanosleep(&(struct timespec){ .tv_nsec = FIRST_NS }, NULL);
	error = compare(adapter, &set.last);
	if (error != 0)
		return error;
	if (!measure_rate(&set, &set.last))
		return -ERANGE;
	set.error_ns = set.last.error_ns;
	*clock = set;
	return 0;
}

void ft_dpdk_clock_renew(struct ft_dpdk_clock *clock)
{
	struct ft_dpdk_moment now;
	uint64_t missed;

	if (clock->compare(clock->adapter, &now) != 0)
		return;
	missed = distance(ft_dpdk_clock_ns(clock, now.ticks), now.ns);
	clock->error_ns = now.error_ns + missed;
	/* a step of the system's clock is no drift: measure the rate anew from here */
	if (missed > (uint64_t)FT_DPDK_CLOCK_RENEW_NS / 100 || !measure_rate(clock, &now))
		clock->anchor = now;
	else if (now.ns - clock->anchor.ns > BASELINE_S * UINT64_C(1000000000))
		clock->anchor = clock->last;
	clock->last = now;
}
