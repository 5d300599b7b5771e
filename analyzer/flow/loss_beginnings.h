#pragma once

#include "inferred.h"
#include "loss_spread.h"

/*
 * Losses of several frames in a row, by the beginnings of sequences that they took. Where sequences are brief such a loss
 * takes most of one, or all but one end of it, and leaves few holes; but the first packet of a half is lost as often as any
 * frame.
 */

/*
 * How many frames were lost in all, where `seen` were not: of all, the share of halves that are met in the midst of a
 * message, or behind whole ones. The mean is 0 unless that is more than the estimate by holes, and not by chance; and where
 * losses are single, or too few halves tell.
 */
struct ft_inferred ft_loss_by_beginnings(const struct ft_loss_evidence *evidence,
					 const struct ft_loss_spread *by, double seen,
					 double estimate);
