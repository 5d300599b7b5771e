#include "tail.h"

#include <math.h>

/* A share of outcomes, and how many standard deviations from the mean it is in the normal distribution. */
struct rank {
	double share, deviations;
};

static const struct rank lowest = { 0.005, -2.5758 }, highest = { 0.995, 2.5758 };

/* Above this mean the gamma distribution, whose cube root is nearly normal (Wilson and Hilferty), is as good. */
static const double summed = 200;

static double smooth(const struct rank *rank, double mean, double variance)
{
	double spread = variance / (mean * mean) / 9;
	double root = 1 - spread + rank->deviations * sqrt(spread);

	return mean * pow(fmax(0, root), 3);
}

static double quantile(const struct rank *rank, double mean, double variance)
{
	double size = mean * mean / (variance - mean);
	double drawn = 1 - mean / variance;
	double chance = exp(size * log1p(-drawn)), below = chance, count = 0;

	if (mean > summed)
		return smooth(rank, mean, variance);
	while (below < rank->share && chance > 1e-300) {
		chance *= drawn * (size + count) / (count + 1);
		below += chance;
		count++;
	}
	return count;
}

double ft_tail_low(double mean, double variance)
{
	return quantile(&lowest, mean, variance);
}

double ft_tail_high(double mean, double variance)
{
	return quantile(&highest, mean, variance);
}
