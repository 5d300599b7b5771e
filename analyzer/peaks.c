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

int ft_peaks_grow(struct ft_peaks *peaks, uint32_t tenants)
{
	struct ft_peak *larger = reallocarray(peaks->tenants, tenants + 1, sizeof *larger);

	if (larger == NULL)
		return -ENOMEM;
	peaks->tenants = larger;
	for (; peaks->count < tenants; peaks->count++)
		larger[peaks->count] = (struct ft_peak){ 0 };
	return 0;
}

static struct ft_peak_second greater(struct ft_peak_second a, struct ft_peak_second b)
{
	if (a.bytes != b.bytes)
		return a.bytes > b.bytes ? a : b;
	return a.from_ns < b.from_ns ? a : b;
}

static struct ft_peak_second most_of(const struct ft_peak *peak)
{
	struct ft_peak_second open = greater(peak->now, peak->before);

	return peak->most.bytes == 0 ? open : greater(peak->most, open);
}

void ft_peaks_turn(struct ft_peak *peak, uint64_t ts_ns, uint32_t bytes)
{
	uint64_t from_ns = ts_ns - ts_ns % FT_PEAK_NS;

	if (ts_ns == FT_TS_UNKNOWN)
		return;
	if (from_ns < peak->now.from_ns) {
		ft_peak_count(&peak->before, bytes);
		return;
	}
	peak->most = most_of(peak);
	peak->before = (struct ft_peak_second){ .from_ns = from_ns - FT_PEAK_NS };
	if (peak->before.from_ns == peak->now.from_ns)
		peak->before = peak->now;
	peak->now = (struct ft_peak_second){ from_ns, bytes, 1 };
}

struct ft_peak_second ft_peaks_most(const struct ft_peaks *peaks, uint32_t tenant)
{
	return most_of(&peaks->tenants[tenant]);
}
