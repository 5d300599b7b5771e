#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The most that each tenant sent within a second, which may begin at any tenth of a second of capture time. Frames may be
 * late by up to a second; later ones count in the oldest tenth that is open.
 */
enum {
	FT_PEAK_NS = 1000000000,
	FT_PEAK_STEP_NS = FT_PEAK_NS / 10,
	FT_PEAK_STEPS = FT_PEAK_NS / FT_PEAK_STEP_NS,
	/* those that a second with a late frame in it may begin with */
	FT_PEAK_KEPT = 2 * FT_PEAK_STEPS,
	FT_PEAKS_NEAR = 256, /* tenants */
	FT_PEAKS_AHEAD = 8,  /* frames: so many after a hint it is asked for */
};

struct ft_peak_second {
	uint64_t from_ns; /* since 1970: the tenth of a second with its first frame */
	uint64_t bytes, frames;
};

struct ft_peak_step {
	uint64_t bytes, frames;
};

/* The newest tenth of a tenant. */
struct ft_peak_now {
	uint64_t from_ns;
	struct ft_peak_step in;
};

/* What a tenant sent before it. */
struct ft_peak {
	struct ft_peak_step steps[FT_PEAK_KEPT]; /* each where its number says */
	struct ft_peak_second most;              /* of those that are over, the first of equals */
};

/* By tenant; what frames add to stands close together, for there may be many. */
struct ft_peaks {
	struct ft_peak_now *now;
	struct ft_peak *before;
	uint32_t count;
};

/* 0 or -ENOMEM. */
int ft_peaks_init(struct ft_peaks *peaks, uint32_t tenants);
void ft_peaks_free(struct ft_peaks *peaks);

/* From now on there are so many tenants, no fewer than before. 0 or -ENOMEM. */
int ft_peaks_grow(struct ft_peaks *peaks, uint32_t tenants);

/* Another tenth begins for this tenant, which is one of them, or an older one is counted in. */
void ft_peaks_turn(struct ft_peaks *peaks, uint32_t tenant, uint64_t ts_ns, uint32_t bytes);

/* `tenant` may be none of them; ts_ns UINT64_MAX: no time, not counted. */
static inline void ft_peaks_add(struct ft_peaks *peaks, uint32_t tenant, uint64_t ts_ns,
				uint32_t bytes)
{
	struct ft_peak_now *now;

	if (tenant >= peaks->count)
		return;
	now = &peaks->now[tenant];
	if (__builtin_expect(ts_ns - now->from_ns < FT_PEAK_STEP_NS, 1)) {
		now->in.bytes += bytes;
		now->in.frames++;
	} else {
		ft_peaks_turn(peaks, tenant, ts_ns, bytes);
	}
}

/* Whether what ft_peaks_add() adds to is often not in the first-level cache. */
static inline bool ft_peaks_are_far(const struct ft_peaks *peaks)
{
	return peaks->count > FT_PEAKS_NEAR;
}

/* A hint that ft_peaks_add() will be asked; `tenant` may be anything. */
static inline void ft_peaks_prefetch(const struct ft_peaks *peaks, uint32_t tenant)
{
	__builtin_prefetch(&peaks->now[tenant < peaks->count ? tenant : 0], 1);
}

/* The second in which the tenant sent most, the first of several; no bytes: it sent nothing. */
struct ft_peak_second ft_peaks_most(const struct ft_peaks *peaks, uint32_t tenant);

/* What so many bytes within a second are in Gbit/s. */
static inline double ft_gbps(uint64_t bytes)
{
	return (double)bytes * 8 / 1e9;
}
