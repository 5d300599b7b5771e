#include "loss_spread.h"

#include <math.h>

/* Fewest groups of bins that still show how losses are spread. */
enum { GROUPS = 12 };

/* In groups of `width` bins: how unevenly holes, and silent frames, are spread. Both 1 by lots. */
static void measure(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums,
		    uint32_t width, double *holes, double *silent)
{
	double frames = sums->spaces + sums->silent;
	double holes_off = 0, silent_off = 0;

	for (uint32_t i = 0; i < evidence->used; i += width) {
		const struct ft_loss_mix here = ft_loss_group(evidence, sums->stood, i, width);
		holes_off += pow(here.holes - sums->odds * here.spaces, 2);
		silent_off += pow(here.silent - sums->mixed * here.spaces, 2);
	}
	*holes = holes_off / sums->holes - sums->odds;
	*silent = sums->silent > 0 ? silent_off / (frames * sums->mixed) : 1;
}

/* The longest losses that any width of the groups shows. */
static double longest(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums)
{
	double bin = ft_loss_frames_in_bin(evidence, sums), frames = 1, holes, silent;

	for (uint32_t width = 1;
	     width == 1 || (evidence->used / width >= GROUPS && bin * width <= sums->widest);
	     width *= 2) {
		measure(evidence, sums, width, &holes, &silent);
		frames = fmax(frames, holes * (1 + sums->mixed));
	}
	return frames;
}

/* How unevenly silent frames are spread over stretches of `frames`. */
static double unevenness(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums,
			 double frames)
{
	double bin = ft_loss_frames_in_bin(evidence, sums), holes, silent;
	uint32_t width = 1;

	while (bin * width < frames && evidence->used / (2 * width) >= GROUPS)
		width *= 2;
	measure(evidence, sums, width, &holes, &silent);
	if (frames < bin && bin > 1)
		silent = 1 + (silent - 1) * (frames - 1) / (bin - 1);
	return fmax(1, silent);
}

struct ft_loss_spread ft_loss_spread_of(const struct ft_loss_evidence *evidence,
					const struct ft_loss_sums *sums)
{
	struct ft_loss_spread spread = { .frames = longest(evidence, sums),
					 .sequence = (double)evidence->squares / sums->holes };

	spread.events = fmax(1, fmin(sums->holes, sums->holes * (1 + sums->mixed) / spread.frames));
	spread.variance = unevenness(evidence, sums, spread.frames);
	return spread;
}
