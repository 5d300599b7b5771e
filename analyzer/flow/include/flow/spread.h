#pragma once

#include <assert.h>
#include <stdint.h>

/*
 * How values are spread, in 128 bytes: the first eight different ones with their counts, exactly, and all others in buckets
 * that grow with the values. There are as many buckets to an octave as the range needs: 64, or half as many until all but a
 * few outliers have room, which count in the outermost. The least and the greatest are exact. When a bucket is full all
 * counts are halved: only shares matter.
 */
enum { FT_SPREAD_EXACT = 8, FT_SPREAD_BUCKETS = 26 };

struct ft_spread {
	uint32_t values[FT_SPREAD_EXACT],
		counts[FT_SPREAD_EXACT]; /* in order of their first time */
	uint32_t least, most;
	uint16_t buckets[FT_SPREAD_BUCKETS];
	uint16_t origin; /* of the first bucket, in units of its width */
	uint8_t coarse;  /* 64 of the narrowest to an octave; these are 1 << coarse as wide */
	uint8_t kinds;   /* different values, up to eight; nine: and others, in buckets */
};
static_assert(sizeof(struct ft_spread) == 128, "two cache lines");

/* `times` it was seen, 1 or more. All zero is none yet. */
void ft_spread_add(struct ft_spread *spread, uint32_t value, uint32_t times);

/* All that is in the other one, too. */
void ft_spread_merge(struct ft_spread *spread, const struct ft_spread *other);

/* The least value that a share `quantile` (0..1) of all is not above, exact up to eight different ones; 0: there are none. */
uint32_t ft_spread_quantile(const struct ft_spread *spread, double quantile);
