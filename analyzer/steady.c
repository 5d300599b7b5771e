#include "steady.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	/* times the median, of all but one step in a hundred; by an exponential distribution 6.6 */
	SELDOM_LONG = 9,
	OUTSIDE = 50,   /* one in so many at either end */
	LEAST_LONG = 3, /* silences of which half a one was to be expected */
};

static const double of_surely = 4.6; /* e to that is 100 */

static int by_length(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Ends in an ns; 0: they do not come as at random. */
static double rate_of(const uint64_t *times, uint64_t *steps, size_t count)
{
	size_t step_count = count - 1;
	uint64_t median;

	for (size_t i = 0; i < step_count; i++)
		steps[i] = times[i + 1] - times[i];
	qsort(steps, step_count, sizeof *steps, by_length);
	median = steps[step_count / 2];
	if (median == 0 || steps[step_count - step_count / 100] > SELDOM_LONG * median)
		return 0;
	return log(2) / (double)median;
}

static size_t ends_before(const uint64_t *times, size_t count, uint64_t ts_ns)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (times[middle] <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_amid(const uint64_t *times, size_t count, const struct ft_silence *silence)
{
	size_t before = ends_before(times, count, silence->from_ns);

	return before >= count / OUTSIDE && count - before >= count / OUTSIDE;
}

uint64_t ft_steady_silent_ns(const uint64_t *times, uint64_t *steps, size_t count,
			     const struct ft_silence *silences, size_t silence_count)
{
	double rate = count < FT_STEADY_LEAST ? 0 : rate_of(times, steps, count);
	uint64_t silent_ns = 0, found = 0;
	double long_ns, surely_ns;
	bool sure = false;

	if (rate <= 0)
		return 0;
	long_ns = log(2 * (double)count) / rate;
	surely_ns = (log((double)count) + of_surely) / rate;
	for (size_t i = 0; i < silence_count; i++) {
		uint64_t length_ns = silences[i].to_ns - silences[i].from_ns;

		if ((double)length_ns <= long_ns || !is_amid(times, count, &silences[i]))
			continue;
		silent_ns += length_ns;
		sure |= (double)length_ns > surely_ns;
		found++;
	}
	return sure || found >= LEAST_LONG ? silent_ns : 0;
}
