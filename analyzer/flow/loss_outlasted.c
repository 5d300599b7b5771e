#include "loss_outlasted.h"

#include <math.h>

/* Where answers are no farther behind their requests, losses are found side by side: ft_loss_believe_exchanges(). */
static const double least_between = 16;

/* More than half of what losses take is hidden; and where that is less, it may be off by this share of itself. */
static const double mostly = 0.5, may_be_off = 0.6;

/* How often the range is halved in which the mean lies, and times as long as answers take, from where on all is alike. */
enum { HALVINGS = 32, LONGEST = 8 };

/* Of losses that last for `mean` frames on average, as long whenever they are met: how many of one show at most `between`, typically. */
static double typical(double mean, double between)
{
	double outlasts = exp(-between / mean);

	return 2 * mean * (1 - outlasts * (1 + between / mean)) / (1 - outlasts);
}

/* Those that show as many in a row as these do. */
static double mean_of(double frames, double between)
{
	double low = 0.5, high = LONGEST * between;

	for (unsigned i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (typical(middle, between) < frames)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static double share_hidden(double frames, double between)
{
	return exp(-between / mean_of(frames, between));
}

struct ft_loss_outlasted ft_loss_outlasted_of(const struct ft_loss_evidence *evidence,
					      const struct ft_loss_spread *by)
{
	double between = (double)evidence->exchange_frames / fmax((double)evidence->answered, 1);
	double longer = by->frames * (1 + 1 / sqrt(by->events));

	if (evidence->unasked == 0 || between <= least_between)
		return (struct ft_loss_outlasted){ 0 };
	if (share_hidden(longer, between) > mostly)
		return (struct ft_loss_outlasted){ .mostly = true };
	return (struct ft_loss_outlasted){ .share = share_hidden(by->frames, between) };
}

struct ft_inferred ft_loss_over_exchanges(const struct ft_loss_evidence *evidence,
					  const struct ft_loss_spread *by, double shown)
{
	const struct ft_loss_outlasted outlasted = ft_loss_outlasted_of(evidence, by);
	double mean = shown * outlasted.share / (1 - outlasted.share);

	return (struct ft_inferred){
		.mean = mean,
		.variance = mean * by->frames + may_be_off * may_be_off * mean * mean,
	};
}
