/* Connections of one request each that are not told apart: how many may be lost of such a crowd. */
#include <flow/loss_estimate.h>

#include <math.h>

#include "loss_parts.h"

enum {
	LEAST_CROWD = 30, /* exchanges, to speak of a crowd */
	/* times as many of one kind: somebody does not answer, or one direction is not in view */
	MOST_OFF = 2,
};

static const double seldom = 0.01;
static const double standard_deviations = 2.326; /* of a normal distribution: of the same share */

void ft_loss_crowd(struct ft_loss_evidence *evidence, uint64_t asking, uint64_t answering)
{
	uint64_t all = asking + answering;
	uint64_t off = asking > answering ? asking - answering : answering - asking;

	if (asking > MOST_OFF * answering || answering > MOST_OFF * asking)
		return;
	evidence->crowd += all;
	evidence->crowd_squares = ft_loss_add_up(evidence->crowd_squares, all * all);
	evidence->crowd_off = ft_loss_add_up(evidence->crowd_off, off * off);
}

/*
 * What the sum of the squares of so many deviations seldom falls below (chi-square). Of few its lower tail is a power; of many its
 * cube root is nearly normal (Wilson and Hilferty). Both are low rather than high.
 */
static double least_squares(double deviations)
{
	double part = 2 / (9 * deviations);
	double few = 2 * pow(seldom * tgamma(fmin(deviations, 100) / 2 + 1), 2 / deviations);
	double many = deviations * pow(fmax(0, 1 - part - standard_deviations * sqrt(part)), 3);

	return fmax(deviations <= 100 ? few : 0, many);
}

double ft_loss_crowd_share(const struct ft_loss_evidence *evidence)
{
	const struct ft_loss_bin sum = ft_loss_sum(evidence);
	double all = (double)evidence->crowd, ways, off, most;

	if (evidence->exchanges_alike < LEAST_CROWD || evidence->exchanges_alike <= sum.exchanges ||
	    evidence->crowd == 0)
		return 0;
	ways = fmax(1, all * all / (double)evidence->crowd_squares);
	off = fmax((double)evidence->crowd_off, 0.5); /* whole numbers */
	most = off * ways / least_squares(ways); /* of the lost, those whose other half is here */
	return fmin(1, most / all);
}
