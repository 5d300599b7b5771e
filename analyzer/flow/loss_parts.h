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
