#pragma once

#include <flow/loss.h>

#include "inferred.h"
#include "loss_spared.h"

/*
 * Losses that last over the beginning or the end of a sequence: a hole shows only with frames of its sequence on either side.
 */

/* What is known of losses that show. */
struct ft_loss_shown {
	double spaces, holes; /* frames in sequences seen, and proved lost */
	double odds;          /* lost to seen */
	double frames;        /* in a row that a typical lost frame was lost with .. */
	double sequence;      /* .. and those of its own sequence */
	double events;        /* losses there were, at least 1 */
};

/*
 * How many frames in sequences were lost beyond the holes and what is lost alike of those in no sequence. Not at beginnings of
 * which `spared` tells, nor of requests at the end whose ACKs are spared, and show them.
 */
struct ft_inferred ft_loss_over_ends(const struct ft_loss_evidence *evidence,
				     const struct ft_loss_shown *shown,
				     const struct ft_loss_spared *spared);

/*
 * Of the last requests of halves, which were answered for, those that nothing would show had they been lost: as many as requests
 * are lost together with their ACKs. Not where losses last, which ft_loss_over_ends() reckons with. `spaces` and `holes`: frames
 * in sequences seen, and proved lost.
 */
double ft_loss_unshown_ends(const struct ft_loss_evidence *evidence, double spaces, double holes);

/*
 * Whether losses outlast sequences, so that they may have taken whole ones, which leave no trace: many are cut at their
 * beginning; or some are, and nothing is missing within any, so that nothing tells how long losses last. `frames` and `events`
 * are not looked at.
 */
bool ft_loss_outlasts(const struct ft_loss_evidence *evidence, const struct ft_loss_shown *shown);
