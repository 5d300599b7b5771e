#pragma once

#include <flow/loss.h>

/* What recording the evidence of losses and believing it have in common. */

/* UINT64_MAX if it does not fit. */
static inline uint64_t ft_loss_add_up(uint64_t left, uint64_t right)
{
	uint64_t sum;

	return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}

/* Of all bins. */
struct ft_loss_bin ft_loss_sum(const struct ft_loss_evidence *evidence);

/* loss_exchanges.c: of ft_loss_merge(). */
void ft_loss_add_places(struct ft_loss_evidence *into, const struct ft_loss_evidence *from);

/* loss_believe.c: losses that took those missing; 0 if they are too few, or missing since the end alone. */
double ft_loss_losses_of(const struct ft_loss_evidence *evidence, enum ft_loss_missing what);

/* loss_believe.c: they are holes, and were not among what is uncertain. */
void ft_loss_make_holes(struct ft_loss_evidence *evidence, enum ft_loss_missing what);
