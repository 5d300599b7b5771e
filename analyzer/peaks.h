#pragma once

#include <stdint.h>

/*
 * The most that each tenant sent within a second, by whole seconds of capture time. Frames may be late by up to a second;
 * later ones count in the older of the two seconds that are open.
 */
struct ft_peak {
	uint64_t second;        /* the newer of the two open ones */
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

void ft_peaks_add(struct ft_peaks *peaks, uint32_t tenant, uint64_t ts_ns, uint32_t bytes);

/* Gbit/s; 0 if the tenant sent nothing. */
double ft_peaks_gbps(const struct ft_peaks *peaks, uint32_t tenant);
