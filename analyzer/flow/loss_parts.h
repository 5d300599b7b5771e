#pragma once

#include <flow/loss.h>

/* What recording the evidence of losses and believing it have in common. */

/* UINT64_MAX if it does not fit. */
static inline uint64_t ft_loss_add_up(uint64_t left, uint64_t right)
{
	uint64_t sum;

	return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}

enum { FT_LOSS_FAR_MORE = 4 }; /* times as many as are to be expected */

/* Of all bins. */
struct ft_loss_bin ft_loss_sum(const struct ft_loss_evidence *evidence);

/* loss_exchanges.c: of ft_loss_merge(). */
void ft_loss_add_places(struct ft_loss_evidence *into, const struct ft_loss_evidence *from);

/* loss_believe.c: frames of the kind that are missing, of all bins. */
uint64_t ft_loss_all_missing(const struct ft_loss_evidence *evidence, enum ft_loss_missing what);

/* loss_believe.c: losses that took those missing; 0 if they are too few, or missing since the end alone. */
double ft_loss_losses_of(const struct ft_loss_evidence *evidence, enum ft_loss_missing what);

/* loss_believe.c: they are holes, and were not among what is uncertain. */
void ft_loss_make_holes(struct ft_loss_evidence *evidence, enum ft_loss_missing what);

/* loss_believe.c: losses there must have been for so many frames, if each took as many as they typically do. */
double ft_loss_events(double frames, uint64_t squares);

/* loss_believe.c: whether so many are far more than `mean` lets expect: four times, and not by chance but once in 200. */
bool ft_loss_is_far_more(double count, double mean, double spread);

/*
 * loss_believe.c: how often packets were wanted again, out of order, or lost by the fabric. What was sent again says
 * nothing of it.
 */
double ft_loss_trouble(const struct ft_loss_evidence *evidence);

/* loss_believe.c: nothing was sent again, wanted again or out of order, nor lost by the fabric. */
bool ft_loss_is_untroubled(const struct ft_loss_evidence *evidence);
