#pragma once

#include <stdint.h>

/*
 * The most that each tenant sent within a second, which may begin at any tenth of a second of capture time. Frames may be
 * late by up to a second; later ones count in the oldest tenth that is open.
 */
enum {
	FT_PEAK_NS = 1000000000,
	FT_PEAK_STEP_NS = FT_PEAK_NS / 10,
	FT_PEAK_STEPS = FT_PEAK_NS / FT_PEAK_STEP_NS,
	FT_PEAK_KEPT =
		2 * FT_PEAK_STEPS, /* those that a second with a late frame in it may begin with */
};

struct ft_peak_second {
	uint64_t from_ns; /* since 1970: the tenth of a second with its first frame */
	uint64_t bytes, frames;
};

struct ft_peak_step {
	uint64_t bytes, frames;
};

struct ft_peak {
	uint64_t now_ns;         /* when the newest tenth began .. */
	struct ft_peak_step now; /* .. what is in it .. */
	struct ft_peak_step
		steps[FT_PEAK_KEPT]; /* .. and in those before it, each where its number says */
	struct ft_peak_second most;  /* of those that are over, the first of equals */
};

struct ft_peaks {
	struct ft_peak *tenants;
	uint32_t count;
};

/* 0 or -ENOMEM. */
int ft_peaks_init(struct ft_peaks *peaks, uint32_t tenants);
void ft_peaks_free(struct ft_peaks *peaks);

/* From now on there are so many tenants, no fewer than before. 0 or -ENOMEM. */
int ft_peaks_grow(struct ft_peaks *peaks, uint32_t tenants);

/* Another tenth begins for this tenant, or an older one is counted in. */
void ft_peaks_turn(struct ft_peak *peak, uint64_t ts_ns, uint32_t bytes);

/* `tenant` may be none of them; ts_ns UINT64_MAX: no time, not counted. */
static inline void ft_peaks_add(struct ft_peaks *peaks, uint32_t tenant, uint64_t ts_ns,
				uint32_t bytes)
{
	struct ft_peak *peak;

	if (tenant >= peaks->count)
		return;
	peak = &peaks->tenants[tenant];
	if (__builtin_expect(ts_ns - peak->now_ns < FT_PEAK_STEP_NS, 1)) {
		peak->now.bytes += bytes;
		peak->now.frames++;
	} else {
		ft_peaks_turn(peak, ts_ns, bytes);
	}
}

/* The second in which the tenant sent most, the first of several; no bytes: it sent nothing. */
struct ft_peak_second ft_peaks_most(const struct ft_peaks *peaks, uint32_t tenant);

/* What so many bytes within a second are in Gbit/s. */
static inline double ft_gbps(uint64_t bytes)
{
	return (double)bytes * 8 / 1e9;
}
