#pragma once

#include <stdint.h>

/*
 * The most that each tenant sent within a second, by whole seconds of capture time. Frames may be late by up to a second;
 * later ones count in the older of the two seconds that are open.
 */
enum { FT_PEAK_NS = 1000000000 };

struct ft_peak {
	uint64_t from_ns;       /* the newer of the two seconds that are open */
	uint64_t bytes, before; /* in it, and in the one before */
	uint64_t most;
};

struct ft_peaks {
	struct ft_peak *tenants;
	uint32_t count;
};

/* 0 or -ENOMEM. */
int ft_peaks_init(struct ft_peaks *peaks, uint32_t tenants);
void ft_peaks_free(struct ft_peaks *peaks);

/* Another second begins for this tenant, or an older one is counted in. */
void ft_peaks_turn(struct ft_peak *peak, uint64_t ts_ns, uint32_t bytes);

/* `tenant` may be none of them; ts_ns UINT64_MAX: no time, not counted. */
static inline void ft_peaks_add(struct ft_peaks *peaks, uint32_t tenant, uint64_t ts_ns,
				uint32_t bytes)
{
	struct ft_peak *peak;

	if (tenant >= peaks->count)
		return;
	peak = &peaks->tenants[tenant];
	if (__builtin_expect(ts_ns - peak->from_ns < FT_PEAK_NS, 1))
		peak->bytes += bytes;
	else
		ft_peaks_turn(peak, ts_ns, bytes);
}

/* Gbit/s; 0 if the tenant sent nothing. */
double ft_peaks_gbps(const struct ft_peaks *peaks, uint32_t tenant);
