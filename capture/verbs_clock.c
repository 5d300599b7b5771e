#include "verbs_clock.h"

#include <time.h>

enum { TRIES = 16, PPM_MAX = 1000 };

#define PERIOD_FIRST_NS UINT64_C(10000000)
#define PERIOD_NS       UINT64_C(1000000000)
#define STEP_NS         1000000 /* wall time was set: no bending */

/* One look at both clocks. */
struct measurement {
	uint64_t ticks, wall_ns, error_ns;
};

uint64_t ft_verbs_wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The device's clock between two looks at the program's: the closest of a few tries. */
static bool measure(const struct ft_verbs_clock *clock, struct measurement *best)
{
	best->error_ns = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
		uint64_t before = ft_verbs_wall_ns(), after;

		if (ibv_query_rt_values_ex(clock->context, &values) != 0 ||
		    !(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
			return false;
		after = ft_verbs_wall_ns();
		if (after < before || after - before >= best->error_ns)
			continue;
		best->ticks = (uint64_t)values.raw_clock.tv_nsec &
			      clock->mask; /* ticks, whatever its name */
		best->wall_ns = before + (after - before) / 2;
		best->error_ns = after - before;
	}
	best->error_ns = best->error_ns / 2 + 1;
	return best->error_ns < UINT64_MAX / 2;
}

static void set(struct ft_verbs_clock *clock, const struct measurement *now)
{
	clock->ticks = clock->measured_ticks = now->ticks;
	clock->wall_ns = clock->measured_wall_ns = now->wall_ns;
	clock->rate = clock->nominal;
	clock->error_ns = now->error_ns;
	clock->period_ns = PERIOD_FIRST_NS;
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

/* Nanoseconds per tick between the last measurement and this one; the nominal rate if it cannot be that. */
static uint64_t rate_since(const struct ft_verbs_clock *clock, const struct measurement *now)
{
	uint64_t ticks = (now->ticks - clock->measured_ticks) & clock->mask;
	uint64_t wall = now->wall_ns - clock->measured_wall_ns, slack, rate;

	if (ticks == 0 || wall > 100 * PERIOD_NS)
		return clock->nominal;
	rate = (uint64_t)(((unsigned __int128)wall << 32) / ticks);
	slack = clock->nominal / 1000000 * PPM_MAX + 1;
	return rate + slack >= clock->nominal && rate <= clock->nominal + slack ? rate
										: clock->nominal;
}

/* Go on from where the line is now, so that it meets wall time one period from now. */
static void bend(struct ft_verbs_clock *clock, const struct measurement *now, uint64_t line_ns)
{
	int64_t off = (int64_t)(now->wall_ns - line_ns);
	uint64_t rate = rate_since(clock, now);
	uint64_t apart = off < 0 ? (uint64_t)-off : (uint64_t)off;
	uint64_t change;

	clock->period_ns = clock->period_ns * 2 < PERIOD_NS ? clock->period_ns * 2 : PERIOD_NS;
	change = (uint64_t)((unsigned __int128)rate * apart / clock->period_ns);
	clock->rate = off < 0 ? rate - change : rate + change;
	clock->ticks = clock->measured_ticks = now->ticks;
	clock->wall_ns = line_ns;
	clock->measured_wall_ns = now->wall_ns;
	clock->error_ns = now->error_ns + apart;
	clock->next_ns = now->wall_ns + clock->period_ns;
}

void ft_verbs_clock_follow(struct ft_verbs_clock *clock, uint64_t wall_ns)
{
	struct measurement now;
	uint64_t line_ns;
	int64_t off;

	if (wall_ns < clock->next_ns && wall_ns + 2 * PERIOD_NS > clock->next_ns)
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
