#include "peaks.h"

#include <errno.h>
#include <stdlib.h>

#include <capture/frame.h>

enum { NS_PER_S = 1000000000 };

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

/* Another second begins for this tenant. */
__attribute__((noinline)) static void open_second(struct ft_peak *peak, uint64_t second)
{
	peak->most = most_of(peak);
	peak->before = second == peak->second + 1 ? peak->bytes : 0;
	peak->second = second;
	peak->bytes = 0;
}

void ft_peaks_add(struct ft_peaks *peaks, uint32_t tenant, uint64_t ts_ns, uint32_t bytes)
{
	uint64_t second = ts_ns / NS_PER_S;
	struct ft_peak *peak;

	if (tenant >= peaks->count || ts_ns == FT_TS_UNKNOWN)
		return;
	peak = &peaks->tenants[tenant];
	if (second > peak->second)
		open_second(peak, second);
	if (second == peak->second)
		peak->bytes += bytes;
	else
		peak->before += bytes;
}

double ft_peaks_gbps(const struct ft_peaks *peaks, uint32_t tenant)
{
	return (double)most_of(&peaks->tenants[tenant]) * 8 / 1e9;
}
