#pragma once

#include <infiniband/verbs.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * The device's free-running clock against wall time: a line through a moment known in both, corrected every
 * second by bending it, so that time goes on forwards; wall time that was set anew is followed at once.
 */
struct ft_verbs_clock {
	struct ibv_context *context;
	uint64_t mask;           /* bits that a completion's time stamp has */
	uint64_t ticks, wall_ns; /* a moment known in both */
	uint64_t rate;           /* nanoseconds per tick, 32 bits after the point .. */
	uint64_t bent;           /* .. for so many ticks from that moment; then `measured` */
	uint64_t nominal;        /* the same, as the device states it */
	uint64_t measured;       /* the same, as found since the base */
	uint64_t drift_ns_per_s; /* by which `measured` may be wrong */
	uint64_t base_ticks, base_wall_ns, base_error_ns; /* an earlier look at both clocks */
	uint64_t error_ns;                                /* of a time stamp, as far as known */
	uint64_t period_ns;                               /* until the next correction */
	uint64_t next_ns;                                 /* wall time of that */
};

/* False: the device has no clock, or its time stamps have none; take the program's time. */
bool ft_verbs_clock_start(struct ft_verbs_clock *clock, struct ibv_context *context,
			  const struct ibv_device_attr_ex *limits);

/* Measure again if it is due. */
void ft_verbs_clock_follow(struct ft_verbs_clock *clock, uint64_t wall_ns);

/* Wall time of a completion's time stamp. */
static inline uint64_t ft_verbs_clock_convert(const struct ft_verbs_clock *clock, uint64_t ticks)
{
	uint64_t since = (ticks - clock->ticks) & clock->mask;
	uint64_t before = (clock->ticks - ticks) & clock->mask;

	if (since <= before) {
		uint64_t bent = since < clock->bent ? since : clock->bent;
		unsigned __int128 passed = (unsigned __int128)bent * clock->rate +
					   (unsigned __int128)(since - bent) * clock->measured;

		return clock->wall_ns + (uint64_t)(passed >> 32);
	}
	return clock->wall_ns - (uint64_t)((unsigned __int128)before * clock->rate >> 32);
}
