#include "loss_faint.h"

#include <math.h>

/* Of what is in sequences, the share that passes once where most passes again. */
static const double mostly_again = 1. / 6;

/* Fewer frames never show that so few are lost. */
static const double least_seen = 4096;

/* Losses of so many frames in a row, and so large a share of all in sum, are to show, but for once in a hundred. */
static const double in_a_row = 16, lost = 0.01, seldom = 0.01;

/* Of stretches of so many bins, the share in which nothing closes a space. */
static double share_silent(const struct ft_loss_evidence *evidence, uint32_t width)
{
	double groups = 0, silent = 0;

	for (uint32_t i = 0; i + width <= evidence->used; i += width) {
		uint64_t spaces = 0;

		for (uint32_t j = i; j < i + width; j++)
			spaces += evidence->bins[j].spaces;
		groups++;
		silent += spaces == 0;
	}
	return silent / fmax(groups, 1);
}

bool ft_loss_is_faint(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums)
{
	double seen = sums->spaces + sums->silent;
	double bin = ft_loss_frames_in_bin(evidence, sums);
	uint32_t width = (uint32_t)fmax(1, in_a_row / bin);
	double losses = lost * seen / (bin * width);

	return sums->once < mostly_again && seen >= least_seen &&
	       pow(share_silent(evidence, width), losses) > seldom;
}
