#include <flow/loss_estimate.h>

#include <decode/extremes.h>

#include <math.h>

#include "loss_beginnings.h"
#include "loss_ends.h"
#include "loss_faint.h"
#include "loss_infer.h"
#include "loss_outlasted.h"
#include "tail.h"

/*
 * Four things were lost: what the holes prove; of what nobody has answered for yet, the share that
 * the mirror has of all losses proved; ends of sequences that a loss swallowed, which one that
 * lasts does more often than its share; and frames that leave no hole, of which there were as many
 * to a frame that does as there are among those seen near by. docs/coverage.md has the arithmetic
 * and what it was tried on.
 */

/* Of what a filter took, one in so many may not show: responses to READs that are lost, or from before halves had met. */
enum { MOST_HIDDEN = 64 };

/*
 * Lives, or requests that came again though answered, to say that they are nearly all: so many to one of the others; and frames
 * of brief lives.
 */
enum { LEAST_MASKED = 30, MOSTLY = 4, BRIEF_LIFE = 8 };

/* Of all that seems lost, what was given up too soon is more than one in so many. */
enum { FEW_CROWDED = 200 };

/* Holes that tell how often frames are lost even where most losses leave none. */
enum { MANY_HOLES = 10 };

/* Heavier tails than this say less, not more. */
static double tame(const struct ft_inferred *inferred)
{
	return fmin(inferred->variance, inferred->mean + 4 * inferred->mean * inferred->mean);
}

/* At least so many, without those of which nothing tells that they are lost. */
static uint64_t least_of(const struct ft_inferred *inferred)
{
	double told = inferred->mean - inferred->untold;
	const struct ft_inferred rest = { .mean = told,
					  .variance = inferred->variance * told / inferred->mean };

	return told < 1 ? 0 : (uint64_t)ft_tail_low(told, tame(&rest));
}

/* Where the beginnings missing let expect that more was lost. */
static void raise_by_beginnings(const struct ft_loss_evidence *evidence,
				const struct ft_loss_spread *by, struct ft_loss_estimate *estimate)
{
	const struct ft_inferred lost = ft_loss_by_beginnings(evidence, by, (double)estimate->seen,
							      (double)estimate->frames);

	if (lost.mean <= 0)
		return;
	estimate->frames = (uint64_t)llround(lost.mean);
	estimate->high =
		ft_larger64(estimate->high, (uint64_t)ceil(ft_tail_high(lost.mean, lost.variance)));
}

/* The bounds: of few losses one more may have been, all of which was unseen. */
static void from_holes(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums,
		       struct ft_loss_estimate *estimate)
{
	const struct ft_loss_spread by = ft_loss_spread_of(evidence, sums);
	const struct ft_inferred least = ft_loss_infer(evidence, sums, &by);
	double more = 1 + 1 / by.events;
	const struct ft_inferred most = { .mean = least.mean * more,
					  .variance = least.variance * more };

	estimate->lasting |= ft_loss_outlasted_of(evidence, &by).mostly;
	estimate->frames = (uint64_t)llround(sums->holes + least.mean);
	estimate->low = estimate->high = (uint64_t)sums->holes;
	if (least.mean <= 0)
		return;
	estimate->low += least_of(&least);
	estimate->high += (uint64_t)ceil(ft_tail_high(most.mean, tame(&most)));
	raise_by_beginnings(evidence, &by, estimate);
}

/* No hole: so many silent frames in a row may still have gone that no other was among them. */
static void from_silence(const struct ft_loss_sums *sums, struct ft_loss_estimate *estimate)
{
	double share = sums->silent / (sums->silent + sums->spaces);

	if (share > 0)
		estimate->high = (uint64_t)ceil(log(0.01) / log(share));
}

/* By sequences of more than an exchange. */
static bool are_lasting(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums)
{
	double unasked = (double)evidence->unasked;
	double spaces = fmax(0, sums->spaces - (double)evidence->answered);
	double holes = sums->holes - unasked;
	const struct ft_loss_shown shown = {
		.spaces = spaces,
		.holes = holes,
		.odds = holes / fmax(1, spaces),
		.sequence = fmax(1, ((double)evidence->squares - unasked) / fmax(1, holes)),
	};

	return evidence->parted || ft_loss_outlasts(evidence, &shown);
}

/* A packet at least is missing where a sequence is cut. What losses that outlast them took, elsewhere, is as much at least. */
static void from_cuts(const struct ft_loss_evidence *evidence, struct ft_loss_estimate *estimate)
{
	double share = fmax((double)evidence->cut / fmax(1, (double)evidence->opened),
			    (double)evidence->older / fmax(1, (double)evidence->counted));
	uint64_t cut = ft_larger64(evidence->cut, evidence->older);

	estimate->low = ft_larger64(estimate->low, cut);
	estimate->frames = ft_larger64(estimate->frames, cut);
	if (!estimate->lasting)
		return;
	estimate->bounded = false;
	estimate->frames =
		ft_larger64(estimate->frames, (uint64_t)llround(share * (double)estimate->seen));
}

/* Of so many frames missing, those beyond what the estimate has of them. */
static uint64_t unclear(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums,
			uint64_t missing)
{
	double counted = sums->holes > 0 ? ft_loss_pending(evidence, sums).mean : 0;

	return (uint64_t)fmax(0, (double)missing - counted);
}

/*
 * What comes for the third time and oftener closes no space, nor does what begins a life, and what ends one shows no hole: where
 * either is nearly all there is, hardly any loss shows. In a fabric that loses packets they pass as often, but only until they are
 * answered for, and a receiver that is not ready says so each time. Where even so four frames of five are such, one that is lost is
 * hardly ever missed.
 */
static bool is_masked(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums)
{
	double frames = sums->spaces + sums->silent;
	double others = sums->spaces + (double)evidence->refused;
	double again = (double)evidence->oftener;

	if (again >= LEAST_MASKED && again > MOSTLY * (frames - again))
		return true;
	if (evidence->past >= LEAST_MASKED && (double)evidence->past > MOSTLY * others)
		return true;
	return evidence->lives >= LEAST_MASKED && (double)evidence->lives * BRIEF_LIFE > frames;
}

/* What was given up for want of room came later, or may have: packets come again, or late, one to four of it and oftener. */
static bool is_crowded(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums)
{
	double crowded = (double)evidence->crowded;
	double came = (double)evidence->twice + (double)evidence->oftener + (double)evidence->late;

	return crowded * FEW_CROWDED > sums->holes && crowded > 0 && MOSTLY * came > crowded;
}

static double share_of(uint64_t seen, uint64_t lost)
{
	return (double)seen / (double)(seen + lost);
}

void ft_loss_estimate(const struct ft_loss_evidence *evidence, uint64_t counted,
		      struct ft_loss_estimate *estimate)
{
	const struct ft_loss_sums sums = ft_loss_add_sums(evidence);
	uint64_t pending = unclear(evidence, &sums, evidence->unanswered + evidence->overdue);
	bool masked = is_masked(evidence, &sums);
	bool crowded = is_crowded(evidence, &sums);
	bool shown = sums.spaces + sums.holes > 0 && !masked && !crowded;
	bool faint = shown && sums.holes < MANY_HOLES && ft_loss_is_faint(evidence, &sums);

	*estimate = (struct ft_loss_estimate){
		.known = shown || counted > 0,
		.bounded = shown && !faint,
		.masked = masked,
		.faint = faint,
		.crowded = crowded,
		.lasting = are_lasting(evidence, &sums),
		.seen = ft_loss_seen(evidence),
	};
	if (shown && sums.holes > 0)
		from_holes(evidence, &sums, estimate);
	else if (shown)
		from_silence(&sums, estimate);
	from_cuts(evidence, estimate);
	estimate->crowd_share = estimate->known ? 0 : ft_loss_crowd_share(evidence);
	estimate->frames += evidence->filtered;
	estimate->low += evidence->filtered;
	estimate->high += evidence->filtered + evidence->filtered / MOST_HIDDEN;
	estimate->frames = ft_larger64(estimate->frames, counted);
	estimate->high = ft_larger64(estimate->high, estimate->frames) +
			 unclear(evidence, &sums, evidence->uncertain);
	if (!estimate->known || estimate->seen + estimate->frames == 0)
		return;
	estimate->share_seen = share_of(estimate->seen, estimate->frames);
	estimate->least_share = share_of(estimate->seen, estimate->frames + pending);
}
