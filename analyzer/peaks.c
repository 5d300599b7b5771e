#include "peaks.h"

#include <errno.h>
#include <stdlib.h>

#include <capture/frame.h>

int ft_peaks_init(struct ft_peaks *peaks, uint32_t tenants)
{
	*peaks = (struct ft_peaks){ 0 };
	return ft_peaks_grow(peaks, tenants);
}

void ft_peaks_free(struct ft_peaks *peaks)
{
	free(peaks->before);
	free(peaks->now);
}

int ft_peaks_grow(struct ft_peaks *peaks, uint32_t tenants)
{
	struct ft_peak_now *now = reallocarray(peaks->now, tenants + 1, sizeof *now);
	struct ft_peak *before;

	if (now == NULL)
		return -ENOMEM;
	peaks->now = now;
	before = reallocarray(peaks->before, tenants + 1, sizeof *before);
	if (before == NULL)
		return -ENOMEM;
	peaks->before = before;
	for (; peaks->count < tenants; peaks->count++) {
		now[peaks->count] = (struct ft_peak_now){ 0 };
		before[peaks->count] = (struct ft_peak){ 0 };
	}
	return 0;
}

/* The place of tenth number `step` since 1970. */
static struct ft_peak_step *step_at(struct ft_peak *peak, uint64_t step)
{
	return &peak->steps[step % FT_PEAK_KEPT];
}

static void add(struct ft_peak_step *to, uint64_t bytes, uint64_t frames)
{
	to->bytes += bytes;
	to->frames += frames;
}

/* The second whose last tenth is `last` is over: is it the one with most? */
static void end_second(struct ft_peak *peak, uint64_t last)
{
	uint64_t first = last < FT_PEAK_STEPS ? 0 : last - (FT_PEAK_STEPS - 1);
	struct ft_peak_step sum = { 0 };

	for (uint64_t step = first; step <= last; step++)
		add(&sum, step_at(peak, step)->bytes, step_at(peak, step)->frames);
	if (sum.bytes <= peak->most.bytes)
		return;
	while (step_at(peak, first)->frames == 0)
		first++;
	peak->most = (struct ft_peak_second){ first * FT_PEAK_STEP_NS, sum.bytes, sum.frames };
}

/* The newest tenth was `open`, and is number `now` from here on: those that no late frame may change any more are over. */
static void move_on(struct ft_peak *peak, const struct ft_peak_now *open, uint64_t now)
{
	uint64_t before = open->from_ns / FT_PEAK_STEP_NS;

	*step_at(peak, before) = open->in;
	for (uint64_t step = before + 1; step <= now && step <= before + FT_PEAK_KEPT; step++) {
		if (step > FT_PEAK_STEPS)
			end_second(peak, step - FT_PEAK_STEPS);
		*step_at(peak, step) = (struct ft_peak_step){ 0 };
	}
}

void ft_peaks_turn(struct ft_peaks *peaks, uint32_t tenant, uint64_t ts_ns, uint32_t bytes)
{
	struct ft_peak_now *open = &peaks->now[tenant];
	uint64_t step = ts_ns / FT_PEAK_STEP_NS, now = open->from_ns / FT_PEAK_STEP_NS;
	uint64_t oldest = now < FT_PEAK_STEPS ? 0 : now - (FT_PEAK_STEPS - 1);

	if (ts_ns == FT_TS_UNKNOWN)
		return;
	if (step > now) {
		move_on(&peaks->before[tenant], open, step);
		*open = (struct ft_peak_now){ step * FT_PEAK_STEP_NS, { bytes, 1 } };
	} else {
		add(step_at(&peaks->before[tenant], step < oldest ? oldest : step), bytes, 1);
	}
}

struct ft_peak_second ft_peaks_most(const struct ft_peaks *peaks, uint32_t tenant)
{
	const struct ft_peak_now *open = &peaks->now[tenant];
	struct ft_peak peak = peaks->before[tenant];

	move_on(&peak, open, open->from_ns / FT_PEAK_STEP_NS + FT_PEAK_KEPT);
	return peak.most;
}
