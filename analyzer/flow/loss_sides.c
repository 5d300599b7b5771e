#include "loss_sides.h"

#include <math.h>

/*
 * So many times as often: where requests are lost together with what answers them it is not known of which of the two a hole
 * is; and by so many standard deviations.
 */
static const double far_oftener = 10, surely = 3;

/* Losses that are enough to say so. */
static const double enough = 10;

/* Of answers inferred to be lost, those that may be missing where all were seen. */
static const double nearly_none = 0.125;

struct side {
	double seen, lost; /* in sequences */
};

static double rate(const struct side *side)
{
	return side->lost / fmax(side->seen, 1);
}

/* Whether answers are lost far oftener, and not by drawing of lots: losses take several of a sequence in a row. */
static bool more_is_lost(const struct side *answers, const struct side *requests, double in_a_row)
{
	double lost = answers->lost + requests->lost, all = lost + answers->seen + requests->seen;
	double share = (answers->seen + answers->lost) / all;
	double deviation = sqrt(lost * share * (1 - share) * (1 - lost / all) * in_a_row);

	return answers->lost >= enough * in_a_row && rate(answers) > far_oftener * rate(requests) &&
	       answers->lost - lost * share > surely * deviation;
}

/* Of these silent frames, those that answer, if all are lost alike and if not. */
static struct ft_inferred by_answers(const struct ft_loss_alike *alike, const struct side *answers,
				     double replies, struct ft_inferred silent)
{
	double share = replies / fmax(alike->silent, 1);
	double by = rate(answers) * alike->spaces / alike->holes;
	double error = replies * sqrt(fmax(answers->lost, 1) * alike->sequence) / answers->seen;

	return (struct ft_inferred){
		.mean = silent.mean * (1 + (by - 1) * share),
		.variance = silent.variance * (1 + (by - 1) * share) + error * error,
	};
}

/*
 * Of those lost to `requests`, answers that are missing, as a share of what would be if all were lost alike. No more ACKs can
 * be missing than were asked for, and one for each that was asked for is all there are. 1 where chance allows for that, as it
 * may where adapters answer for several at once, or unasked.
 */
static double share_missing(const struct ft_loss_evidence *evidence,
			    const struct ft_loss_alike *alike, const struct side *answers,
			    const struct side *requests)
{
	double acks = (double)evidence->acks, asking = (double)evidence->asking;
	double asked = asking * (1 + rate(requests));
	double missing = fmax(0, asked - acks) + answers->lost;
	double inferred = (acks + answers->seen) * rate(requests);
	double deviation = sqrt(inferred * alike->frames * (1 + inferred / alike->holes));

	if (acks > asked + surely * sqrt((asked - asking) * alike->frames) ||
	    missing > nearly_none * inferred || inferred - missing <= surely * deviation)
		return 1;
	return missing / inferred;
}

/* Nothing was sent again: to what is, ACKs come for a second time. */
static bool passed_once(const struct ft_loss_evidence *evidence)
{
	return evidence->fabric + evidence->refused + evidence->twice == 0;
}

struct ft_inferred ft_loss_by_side(const struct ft_loss_evidence *evidence,
				   const struct ft_loss_alike *alike, struct ft_inferred silent)
{
	const struct side answers = { (double)evidence->answers_seen,
				      (double)evidence->answers_lost };
	const struct side requests = { fmax(0, alike->spaces - answers.seen),
				       fmax(0, alike->holes - answers.lost) };
	double replies = fmin((double)evidence->replies, alike->silent), share;

	if (!passed_once(evidence))
		return silent;
	if (more_is_lost(&answers, &requests, alike->sequence))
		return by_answers(alike, &answers, replies, silent);
	share = replies / fmax(alike->silent, 1) *
		(1 - share_missing(evidence, alike, &answers, &requests));
	return (struct ft_inferred){ silent.mean * (1 - share), silent.variance * (1 - share) };
}
