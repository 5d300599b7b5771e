#include "loss_sides.h"

#include <math.h>

/*
 * So many times as often: where requests are lost together with what answers them it is not known of which of the two a hole
 * is; and by so many standard deviations.
 */
static const double far_oftener = 10, surely = 3;

/* Losses that are enough to say so. */
static const double enough = 10;

/* Frames in a row of losses that are short; of ACKs inferred to be lost, those that may be missing by either account then. */
static const double short_loss = 5, fewer = 0.25, not_all = 0.625, likely = 2;

/* Standard deviation of how often ACKs are lost to requests, where nothing tells. */
static const double at_most = 0.5;

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

/* ACKs that were asked for, by the requests seen and those lost. */
static double acks_asked(const struct ft_loss_evidence *evidence, const struct side *requests)
{
	return (double)evidence->asking * (1 + rate(requests));
}

/*
 * Of these silent frames, those that answer are lost like responses, but no more ACKs than were asked for and are not here:
 * a mirror may lose what is long, and pass what is short. Adapters that answer unasked say nothing.
 */
static struct ft_inferred by_answers(const struct ft_loss_evidence *evidence,
				     const struct ft_loss_alike *alike, const struct side *answers,
				     const struct side *requests, struct ft_inferred silent)
{
	double replies = fmin((double)evidence->replies, alike->silent);
	double alike_lost = silent.mean * replies / fmax(alike->silent, 1);
	double missing = acks_asked(evidence, requests) - (double)evidence->acks;
	double most = missing < 0 ? alike_lost : missing + surely * sqrt(missing);
	double lost = fmin(alike_lost * rate(answers) * alike->spaces / alike->holes, most);
	double error = lost * sqrt(alike->sequence / answers->lost);
	double mean = silent.mean - alike_lost + lost;

	return (struct ft_inferred){
		.mean = mean,
		.variance = silent.variance * mean / fmax(silent.mean, 1) + error * error,
	};
}

/*
 * Whether the requests timed have their own ACKs, where as many of these were to be lost as of requests. ACKs that nobody
 * asked for are no substitute.
 */
static bool have_their_acks(const struct ft_loss_evidence *evidence, const struct side *requests)
{
	double timed = (double)evidence->timed, passed_over = (double)evidence->passed_over;
	double alike = timed * requests->lost / fmax(requests->lost + requests->seen, 1);

	return passed_over <= nearly_none * alike && alike - passed_over > surely * sqrt(alike);
}

/* More ACKs than were asked for, and not by chance. */
static bool answer_unasked(const struct ft_loss_evidence *evidence,
			   const struct ft_loss_alike *alike, const struct side *requests)
{
	double asked = acks_asked(evidence, requests);

	return (double)evidence->acks >
	       asked + surely * sqrt((asked - (double)evidence->asking) * alike->frames);
}

/*
 * Of those lost to `requests`, answers that are missing, as a share of what would be if all were lost alike. No more ACKs
 * can be missing than were asked for, and one for each that was asked for is all there are. 1 where chance allows for
 * that, as it may where adapters answer for several at once, or unasked.
 */
static double share_missing(const struct ft_loss_evidence *evidence,
			    const struct ft_loss_alike *alike, const struct side *answers,
			    const struct side *requests)
{
	double acks = (double)evidence->acks, asked = acks_asked(evidence, requests);
	double missing = fmax(0, asked - acks) + answers->lost;
	double inferred = (acks + answers->seen) * rate(requests);
	double deviation = sqrt(inferred * alike->frames * (1 + inferred / alike->holes));

	if (answer_unasked(evidence, alike, requests) || missing > nearly_none * inferred ||
	    inferred - missing <= surely * deviation || !have_their_acks(evidence, requests))
		return 1;
	return missing / inferred;
}

/* Nothing was sent again: to what is, ACKs come for a second time. */
static bool passed_once(const struct ft_loss_evidence *evidence)
{
	return evidence->fabric + evidence->refused + evidence->twice == 0;
}

/*
 * Of requests that an ACK was timed for, the share that lacks its own, to that of requests that are lost; 1 where chance
 * allows for that.
 */
static double share_passed_over(const struct ft_loss_evidence *evidence,
				const struct side *requests)
{
	double passed_over = (double)evidence->passed_over;
	double timed =
		(double)evidence->timed * requests->lost / fmax(requests->lost + requests->seen, 1);

	if (passed_over > fewer * timed || timed - passed_over <= surely * sqrt(timed))
		return 1;
	return passed_over / timed;
}

/*
 * Likewise of losses so short that they seldom take a request with its ACK: then the requests timed that lack their own
 * show how often ACKs are lost, and those missing by their number, where packets that ask for none are lost oftener, are
 * less than all. Where packets are sent again their number says nothing.
 */
static double share_of_short(const struct ft_loss_evidence *evidence,
			     const struct ft_loss_alike *alike, const struct side *requests)
{
	double acks = (double)evidence->acks;
	double missing = fmax(0, acks_asked(evidence, requests) - acks);
	double inferred = acks * rate(requests);
	double deviation = sqrt(inferred * alike->frames * (1 + inferred / alike->holes));
	double share = share_passed_over(evidence, requests);

	if (alike->frames > short_loss || share >= 1)
		return 1;
	if (!passed_once(evidence))
		return share;
	if (answer_unasked(evidence, alike, requests) || missing > not_all * inferred ||
	    inferred - missing <= likely * deviation)
		return 1;
	return fmin(missing / inferred, share);
}

/* Of the silent frames, the share that so many are. */
static double share_silent(const struct ft_loss_alike *alike, double count)
{
	return fmin(count, alike->silent) / fmax(alike->silent, 1);
}

/* ACKs lost, of those inferred as if all were lost alike. */
static double share_of_acks(const struct ft_loss_evidence *evidence,
			    const struct ft_loss_alike *alike, const struct side *requests,
			    const struct ft_loss_spared *spared)
{
	return fmin(share_of_short(evidence, alike, requests), 1 - spared->share);
}

/* Likewise of all silent frames: what is small as an ACK is lost like that. */
static double share_lost(const struct ft_loss_evidence *evidence, const struct ft_loss_alike *alike,
			 const struct side *answers, const struct side *requests, double acks)
{
	double small = (double)evidence->acks + (double)evidence->small;
	double replies = (double)evidence->replies;
	double missing =
		passed_once(evidence) ? share_missing(evidence, alike, answers, requests) : 1;

	return fmin(1 - share_silent(alike, small) * (1 - acks),
		    1 - share_silent(alike, replies) * (1 - missing));
}

/*
 * Of how often ACKs are lost to requests, the standard deviation: it is known of so many as requests that were timed
 * would lack, and no better than these agree with it. Not of losses that last: those take a request together with its
 * ACK.
 */
static double error_of_alike(const struct ft_loss_evidence *evidence,
			     const struct ft_loss_alike *alike, const struct side *requests)
{
	double timed =
		(double)evidence->timed * requests->lost / fmax(requests->lost + requests->seen, 1);
	double off =
		alike->frames > short_loss ? 0 : (timed - (double)evidence->passed_over) / timed;

	return timed < 1 ? at_most : fmin(at_most, fmax(off, 1 / sqrt(timed)));
}

/*
 * Where it is known that ACKs are spared it is of those whose requests are here, and of others it may be another share.
 * That it is that of all that is small is a guess.
 */
static double error_of_acks(const struct ft_loss_evidence *evidence,
			    const struct ft_loss_alike *alike, const struct side *requests,
			    const struct ft_loss_spared *spared, double acks)
{
	double unknown = acks < 1 ? 0 : error_of_alike(evidence, alike, requests);
	double small = unknown + (1 - acks) / surely;

	return share_silent(alike, (double)evidence->acks) * (spared->error + unknown) +
	       share_silent(alike, (double)evidence->small) * small;
}

/*
 * Of these silent frames, ACKs of which nothing tells how often they are lost: no request that one is for is here, as in
 * a view of one direction. A mirror that loses what is long has them all.
 */
static double acks_untold(const struct ft_loss_evidence *evidence,
			  const struct ft_loss_alike *alike, double silent)
{
	return evidence->timed != 0 ? 0 : silent * share_silent(alike, (double)evidence->acks);
}

struct ft_inferred ft_loss_by_side(const struct ft_loss_evidence *evidence,
				   const struct ft_loss_alike *alike,
				   const struct ft_loss_spared *spared, struct ft_inferred silent)
{
	const struct side answers = { (double)evidence->answers_seen,
				      (double)evidence->answers_lost };
	const struct side requests = { fmax(0, alike->spaces - answers.seen),
				       fmax(0, alike->holes - answers.lost) };
	double acks, lost, error;

	if (passed_once(evidence) && more_is_lost(&answers, &requests, alike->sequence))
		return by_answers(evidence, alike, &answers, &requests, silent);
	acks = share_of_acks(evidence, alike, &requests, spared);
	lost = share_lost(evidence, alike, &answers, &requests, acks);
	error = silent.mean * error_of_acks(evidence, alike, &requests, spared, acks);
	return (struct ft_inferred){
		.mean = silent.mean * lost,
		.variance = silent.variance * lost + error * error,
		.untold = acks_untold(evidence, alike, silent.mean * lost),
	};
}
