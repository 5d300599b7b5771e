#include "verbs_clock.h"

#include <capture/clock.h>

enum {
	TRIES = 16,
	PPM_MAX = 1000,            /* no clock is that wrong */
	DRIFT_UNMEASURED = 100000, /* ns per s: what crystals are good for */
	DRIFT_AIM = 20000,         /* a measurement worse than that waits for a later look */
};

#define PERIOD_FIRST_NS UINT64_C(10000000)
#define SECOND_NS       UINT64_C(1000000000)
#define STEP_NS         1000000 /* wall time was set: no bending */

/* One look at both clocks. */
struct measurement {
	uint64_t ticks, wall_ns, error_ns;
};

/* The device's clock between two looks at the program's: the closest of a few tries. */
static bool measure(const struct ft_verbs_clock *clock, struct measurement *best)
{
	best->error_ns = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
		uint64_t before = ft_clock_wall_ns(), after;

		if (ibv_query_rt_values_ex(clock->context, &values) != 0 ||
		    !(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
			return false;
		after = ft_clock_wall_ns();
		if (after < before || after - before >= best->error_ns)
			continue;
		/* ticks, whatever its name */
		best->ticks = (uint64_t)values.raw_clock.tv_nsec & clock->mask;
		best->wall_ns = before + (after - before) / 2;
		best->error_ns = after - before;
	}
	best->error_ns = best->error_ns / 2 + 1;
	return best->error_ns < UINT64_MAX / 2;
}

static void set_base(struct ft_verbs_clock *clock, const struct measurement *now)
{
	clock->base_ticks = now->ticks;
	clock->base_wall_ns = now->wall_ns;
	clock->base_error_ns = now->error_ns;
}

static uint64_t drift_in(const struct ft_verbs_clock *clock, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)clock->drift_ns_per_s * ns / SECOND_NS);
}

static void set(struct ft_verbs_clock *clock, const struct measurement *now)
{
	set_base(clock, now);
	clock->ticks = now->ticks;
	clock->wall_ns = now->wall_ns;
	clock->rate = clock->measured = clock->nominal;
	clock->bent = 0;
	clock->drift_ns_per_s = DRIFT_UNMEASURED;
	clock->period_ns = PERIOD_FIRST_NS;
	clock->error_ns = now->error_ns + drift_in(clock, clock->period_ns);
	clock->next_ns = now->wall_ns + clock->period_ns;
}

bool ft_verbs_clock_start(struct ft_verbs_clock *clock, struct ibv_context *context,
			  const struct ibv_device_attr_ex *limits)
{
	struct measurement now;

	*clock = (struct ft_verbs_clock){
		.context = context,
		.mask = limits->completion_timestamp_mask,
	};
	if (clock->mask == 0 || limits->hca_core_clock == 0)
		return false;
	clock->nominal = (UINT64_C(1000000) << 32) / limits->hca_core_clock; /* it is in kHz */
	if (clock->nominal == 0 || !measure(clock, &now))
		return false;
	set(clock, &now);
	return true;
}

/* Nanoseconds per tick since the base, once it lies far enough back for what the two looks are good for. */
static void measure_rate(struct ft_verbs_clock *clock, const struct measurement *now)
{
	uint64_t ticks = (now->ticks - clock->base_ticks) & clock->mask;
	uint64_t wall = now->wall_ns - clock->base_wall_ns;
	uint64_t slack = clock->nominal / 1000000 * PPM_MAX + 1, drift, rate;

	if (wall == 0 || wall > 100 * SECOND_NS || ticks == 0) {
		set_base(clock, now);
		return;
	}
	drift = (uint64_t)((unsigned __int128)(now->error_ns + clock->base_error_ns) * SECOND_NS /
			   wall);
	if (drift > DRIFT_AIM)
		return;
	rate = (uint64_t)(((unsigned __int128)wall << 32) / ticks);
	if (rate + slack >= clock->nominal && rate <= clock->nominal + slack) {
		clock->measured = rate;
		clock->drift_ns_per_s = drift;
	}
	set_base(clock, now);
}

/*
 * Go on from where the line is now, so that it meets wall time one period from now, and goes on beside it should the next
 * look be late.
 */
static void bend(struct ft_verbs_clock *clock, const struct measurement *now, uint64_t line_ns)
{
	int64_t off = (int64_t)(now->wall_ns - line_ns);
	uint64_t apart = off < 0 ? (uint64_t)-off : (uint64_t)off;
	uint64_t change;

	measure_rate(clock, now);
	clock->period_ns = clock->period_ns * 2 < SECOND_NS ? clock->period_ns * 2 : SECOND_NS;
	change = (uint64_t)((unsigned __int128)clock->measured * apart / clock->period_ns);
	clock->rate = off < 0 ? clock->measured - change : clock->measured + change;
	clock->bent = (clock->period_ns << 32) / clock->measured;
	clock->ticks = now->ticks;
	clock->wall_ns = line_ns;
	clock->error_ns = now->error_ns + apart + drift_in(clock, clock->period_ns);
	clock->next_ns = now->wall_ns + clock->period_ns;
}

void ft_verbs_clock_follow(struct ft_verbs_clock *clock, uint64_t wall_ns)
{
	struct measurement now;
	uint64_t line_ns;
	int64_t off;

	if (wall_ns < clock->next_ns && wall_ns + 2 * SECOND_NS > clock->next_ns)
		return;
	if (!measure(clock, &now))
		return;
	line_ns = ft_verbs_clock_convert(clock, now.ticks);
	off = (int64_t)(now.wall_ns - line_ns);
	if (off > STEP_NS || off < -STEP_NS)
		set(clock, &now);
	else
		bend(clock, &now, line_ns);
}
