#include "loss_beginnings.h"

#include <math.h>

/* Halves met, to speak of a share of them; and of those, halves cut. */
enum { LEAST_MET = 30, LEAST_LACKING = 5 };

/* Frames in a row: single losses seem to last for up to 2.4 where sequences are brief. */
static const double in_a_row = 3.5;

/* Standard deviations by which it is more than holes say, by the number of halves cut. */
static const double surely = 2;

/* Of halves cut in the midst of a message. */
static const double few = 0.25;

/* Of what is so inferred, the share that it may be off by: what is lost with all of its sequence is not in it. */
static const double may_be_off = 0.3;

/*
 * Of halves, that of which the beginning is missing: half of all at most. Where few are met behind whole messages, these are
 * as many as single losses leave, and are cut in the midst of one as well.
 */
static double share_lacking(const struct ft_loss_evidence *evidence)
{
	double cut = (double)evidence->maybe_cut / (double)evidence->opened;
	double older = (double)evidence->maybe_older / (double)evidence->counted;

	return fmin(older < few * cut ? cut : cut + older - cut * older, 0.5);
}

static bool are_enough(const struct ft_loss_evidence *evidence)
{
	return evidence->opened >= LEAST_MET && evidence->counted >= LEAST_MET &&
	       evidence->maybe_cut + evidence->maybe_older >= LEAST_LACKING;
}

struct ft_inferred ft_loss_by_beginnings(const struct ft_loss_evidence *evidence,
					 const struct ft_loss_spread *by, double seen,
					 double estimate)
{
	double lacking = (double)(evidence->maybe_cut + evidence->maybe_older);
	double share, lost, off;

	if (by->frames < in_a_row || !are_enough(evidence))
		return (struct ft_inferred){ 0 };
	share = share_lacking(evidence);
	lost = seen * share / (1 - share);
	off = may_be_off * lost;
	if (lost * (1 - surely / sqrt(lacking)) <= estimate)
		return (struct ft_inferred){ 0 };
	return (struct ft_inferred){ .mean = lost, .variance = lost + off * off };
}
