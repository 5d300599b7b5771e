#include "tail.h"

#include <math.h>

/* A share of outcomes, and how many standard deviations from the mean it is in the normal distribution. */
struct rank {
	double share, deviations;
};

static const struct rank lowest = { 0.005, -2.5758 }, highest = { 0.995, 2.5758 };

/* Above this mean the normal distribution, corrected for its lean, is close enough. */
static const double summed = 200;

static double normal(const struct rank *rank, double mean, double variance)
{
	double lean = (2 * variance / mean - 1) / sqrt(variance);
	double z = rank->deviations;

	return mean + sqrt(variance) * (z + (z * z - 1) * lean / 6);
}

static double quantile(const struct rank *rank, double mean, double variance)
{
	double size = mean * mean / (variance - mean);
	double drawn = 1 - mean / variance;
	double chance = exp(size * log1p(-drawn)), below = chance, count = 0;

	if (mean > summed)
		return normal(rank, mean, variance);
	while (below < rank->share && chance > 1e-300) {
		chance *= drawn * (size + count) / (count + 1);
		below += chance;
		count++;
	}
	return count;
}

double ft_tail_low(double mean, double variance)
{
	return fmax(0, quantile(&lowest, mean, variance));
}

double ft_tail_high(double mean, double variance)
{
	return quantile(&highest, mean, variance);
}
