#include "peaks.h"

#include <errno.h>
#include <stdlib.h>

#include <capture/frame.h>

int ft_peaks_init(struct ft_peaks *peaks, uint32_t tenants)
{
	peaks->count = tenants;
	peaks->tenants = calloc(tenants + 1, sizeof *peaks->tenants);
	return peaks->tenants == NULL ? -ENOMEM : 0;
}

void ft_peaks_free(struct ft_peaks *peaks)
{
	free(peaks->tenants);
}

static uint64_t most_of(const struct ft_peak *peak)
{
	uint64_t most = peak->most > peak->bytes ? peak->most : peak->bytes;

	return most > peak->before ? most : peak->before;
}

void ft_peaks_turn(struct ft_peak *peak, uint64_t ts_ns, uint32_t bytes)
{
	uint64_t from_ns = ts_ns - ts_ns % FT_PEAK_NS;

	if (ts_ns == FT_TS_UNKNOWN)
		return;
	if (from_ns < peak->from_ns) {
		peak->before += bytes;
		return;
	}
	peak->most = most_of(peak);
	peak->before = from_ns == peak->from_ns + FT_PEAK_NS ? peak->bytes : 0;
	peak->from_ns = from_ns;
	peak->bytes = bytes;
}

double ft_peaks_gbps(const struct ft_peaks *peaks, uint32_t tenant)
{
	return (double)most_of(&peaks->tenants[tenant]) * 8 / 1e9;
}
