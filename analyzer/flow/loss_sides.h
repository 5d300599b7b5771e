#pragma once

#include <flow/loss.h>

#include "inferred.h"
#include "loss_spared.h"

/*
 * Losses that hit one side more than the other: requests, or what answers them. A tap loses by direction, an output queue of
 * a switch loses what leaves by it.
 */

/* What was found of a capture as if all were lost alike. */
struct ft_loss_alike {
	double spaces, holes; /* frames in sequences seen, and proved lost */
	double silent;        /* frames in none, seen */
	double frames;        /* in a row that a typical lost frame was lost with .. */
	double sequence;      /* .. and those of its own sequence */
};

/*
 * How many silent frames were lost, of so many inferred as if all were lost alike. The same, unless responses are lost far
 * oftener or more seldom than requests, or the ACKs seen are far more than would be left of those that were asked for.
 */
struct ft_inferred ft_loss_by_side(const struct ft_loss_evidence *evidence,
				   const struct ft_loss_alike *alike,
				   const struct ft_loss_spared *spared, struct ft_inferred silent);
