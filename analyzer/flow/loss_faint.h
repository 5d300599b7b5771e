#pragma once

#include <stdbool.h>

#include "loss_sums.h"

/*
 * Where most packets pass again, and again: a loss of what passed before, or will pass, leaves no hole, and those that would are far
 * between. True if losses of a few frames in a row, one in a hundred in all, would not show with 99 %. Not of captures so small that
 * they never would.
 */
bool ft_loss_is_faint(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums);
