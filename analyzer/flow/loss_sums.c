#include "loss_sums.h"

#include <math.h>

#include "loss_ends.h"

/*
 * How many frames of the whole temper what is near a hole: the more, the more packets are sent again, for when they passed first is
 * not known.
 */
static const double tempered = 128, by_again = 512, aligned = 32;

/* What was sent again closed no space either when it passed first: its loss would not have shown. */
struct ft_loss_mix ft_loss_group(const struct ft_loss_evidence *evidence, double stood,
				 uint32_t first, uint32_t count)
{
	struct ft_loss_bin sum = { 0 };
	double spaces, more;

	for (uint32_t i = first; i < first + count && i < evidence->used; i++) {
		sum.spaces += evidence->bins[i].spaces;
		sum.holes += evidence->bins[i].holes;
		sum.silent += evidence->bins[i].silent;
		sum.again += evidence->bins[i].again;
	}
	sum.again = sum.again < sum.spaces ? sum.again : sum.spaces;
	spaces = (double)(sum.spaces - sum.again);
	more = fmin(spaces * (stood - 1), (double)(sum.silent + sum.again));
	return (struct ft_loss_mix){
		.spaces = spaces + more,
		.holes = (double)sum.holes,
		.silent = (double)(sum.silent + sum.again) - more,
	};
}

/*
 * Packets that passed first when sent again: those that the fabric had lost closed a space then. The mirror lost the first
 * of the others, as many to those of which both passed as it lost to those it did not.
 */
static double lost_by_fabric(const struct ft_loss_evidence *evidence, const struct ft_loss_mix *all)
{
	double holes = all->holes == 0 ? 0 : all->holes + (double)evidence->overdue;
	double odds = holes / fmax(all->spaces, 1), found = 0;

	for (unsigned i = 0; i < 4; i++) {
		found = (double)evidence->filled - odds * (double)evidence->twice;
		found = fmax(found, -(double)evidence->late_once);
		odds = holes / fmax(all->spaces + found, 1);
	}
	return found;
}

struct ft_loss_sums ft_loss_add_sums(const struct ft_loss_evidence *evidence)
{
	struct ft_loss_mix all = ft_loss_group(evidence, 1, 0, evidence->used), raw = all;
	double spaces = fmax(all.spaces, 1);
	double models = (double)evidence->models * spaces / (spaces + all.silent);
	double aside = fmin((double)evidence->aside + models, spaces / 2);
	double unshown = ft_loss_unshown_ends(evidence, spaces, all.holes);
	double most = fmax(spaces / 2, spaces - (double)evidence->answered);
	double ends = fmin((double)evidence->ends + unshown, most);
	double more = lost_by_fabric(evidence, &all) + (double)evidence->renewed - aside - ends;
	struct ft_loss_sums sums = { .stood = 1 + more / spaces };
	double again = 0;

	for (uint32_t i = 0; i < evidence->used; i++)
		again += (double)evidence->bins[i].again;
	sums.closed = spaces + again;
	all = ft_loss_group(evidence, sums.stood, 0, evidence->used);
	if (raw.spaces == 0 && again != 0) { /* all of it was sent again: better than nothing */
		all.spaces = fmin(again, all.silent);
		all.silent -= all.spaces;
	}
	sums.spaces = all.spaces;
	sums.holes = all.holes;
	sums.silent = all.silent;
	sums.odds = sums.holes / fmax(sums.spaces, 1);
	sums.mixed = sums.silent / fmax(sums.spaces, 1);
	sums.widest = again == 0 ? INFINITY : aligned * (spaces + again) / again;
	sums.once = spaces / (spaces + again);
	sums.temper = tempered * (1 + by_again * again / (spaces + again));
	sums.fabric = fmax(0, (double)evidence->fabric - sums.odds * again);
	sums.late = (double)evidence->late;
	return sums;
}

double ft_loss_frames_in_bin(const struct ft_loss_evidence *evidence,
			     const struct ft_loss_sums *sums)
{
	return fmax(1, round((sums->spaces + sums->silent) / fmax(1, evidence->used)));
}
