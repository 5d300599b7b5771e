#pragma once

#include <stdint.h>

/*
 * The most that each tenant sent within a second, by whole seconds of capture time. Frames may be late by up to a second;
 * later ones count in the older of the two seconds that are open.
 */
enum { FT_PEAK_NS = 1000000000 };

struct ft_peak_second {
	uint64_t from_ns; /* since 1970, a whole second */
	uint64_t bytes, frames;
};

struct ft_peak {
	struct ft_peak_second now, before, most; /* two are open */
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

/* Another second begins for this tenant, or an older one is counted in. */
void ft_peaks_turn(struct ft_peak *peak, uint64_t ts_ns, uint32_t bytes);

static inline void ft_peak_count(struct ft_peak_second *second, uint32_t bytes)
{
	second->bytes += bytes;
	second->frames++;
}

/* `tenant` may be none of them; ts_ns UINT64_MAX: no time, not counted. */
static inline void ft_peaks_add(struct ft_peaks *peaks, uint32_t tenant, uint64_t ts_ns,
				uint32_t bytes)
{
	struct ft_peak *peak;

	if (tenant >= peaks->count)
		return;
	peak = &peaks->tenants[tenant];
	if (__builtin_expect(ts_ns - peak->now.from_ns < FT_PEAK_NS, 1))
		ft_peak_count(&peak->now, bytes);
	else
		ft_peaks_turn(peak, ts_ns, bytes);
}

/* The second in which the tenant sent most, the first of several; no bytes: it sent nothing. */
struct ft_peak_second ft_peaks_most(const struct ft_peaks *peaks, uint32_t tenant);

/* What so many bytes within a second are in Gbit/s. */
static inline double ft_gbps(uint64_t bytes)
{
	return (double)bytes * 8 / 1e9;
}
