#include "loss_ends.h"

#include <math.h>

#include "tail.h"

/* Losses take more of a sequence in a row than chance makes of single ones by this share: they surely last. */
static const double surely_longer = 0.5;

/* Of frames, the share so near to the beginning of their sequence beyond which the others tell nothing of them. */
static const double most_near = 0.7;

/* How long hidden losses last is known of others only: their number may be off by this share of itself. */
static const double may_be_off = 0.6;

/* Sequences are cut far oftener than frames are lost within them; and so many at least were met, and are cut, to say so. */
static const double oftener = 2, enough_opened = 30, least_cut = 2;

/* Frames lost within sequences that say little. */
static const double few_holes = 2;

/* How often what shows says how long losses last, and that what shows. */
enum { rounds = 16 };

/* 0: as single losses come by chance, to 1. */
static double are_lasting(const struct ft_loss_shown *shown)
{
	double by_chance = 1 + 2 * shown->odds;

	return fmin(1, fmax(0, (shown->sequence / by_chance - 1) / surely_longer));
}

/*
 * Of requests seen, the share that would be lost together with their ACK, beyond chance. Either alone is lost as often as the other:
 * the one shows by an ACK that comes before anything else behind it, or is all there is of its connection, the other by the ACK
 * of a later one. 0 where each is lost for itself, as often as any frame: then the last requests of halves that are lost alone
 * make up for those that are lost with their ACK. Nor where fewer than half are: of a READ that follows the answer covers what
 * an ACK would have.
 */
static double share_together(const struct ft_loss_evidence *evidence,
			     const struct ft_loss_shown *shown)
{
	double timed = (double)evidence->timed, asking = (double)evidence->asking;
	double alone = fmax((double)evidence->passed_over / fmax(timed, 1),
			    (double)(evidence->ahead + evidence->unasked) / fmax(asking, 1));
	double together = 1 - alone * (1 + shown->odds) / shown->odds;

	return timed == 0 ? 0 : fmax(0, fmin(together, 4 * together - 2));
}

double ft_loss_unshown_ends(const struct ft_loss_evidence *evidence, double spaces, double holes)
{
	const struct ft_loss_shown shown = {
		.odds = holes / fmax(spaces, 1),
		.sequence = (double)evidence->squares / fmax(holes, 1),
	};

	if (holes <= 0)
		return 0;
	return (double)evidence->ends_answered * share_together(evidence, &shown) *
	       (1 - are_lasting(&shown));
}

/* If losses last for `mean` frames on average, as long whenever they are met. */
struct reach {
	double near;    /* share of frames with which the first of their sequence is lost */
	double typical; /* frames that a typical one is lost with, of losses that show */
};

static struct reach reach_of(const struct ft_loss_evidence *evidence,
			     const struct ft_loss_shown *shown, double mean)
{
	struct reach reach = { 0 };
	double lasts = 1, nearer = 0, weight = 0;

	for (unsigned i = 0; i < FT_LOSS_NEAR; i++) {
		unsigned middle = i / 2;
		double length = i + 1, shows;

		reach.near += (double)evidence->near[i] / shown->spaces * lasts;
		if (i % 2 == 0)
			nearer += (double)evidence->near[middle] / shown->spaces;
		shows = pow(1 - fmin(nearer, most_near), 2) * lasts * length;
		reach.typical += shows * length;
		weight += shows;
		lasts *= 1 - 1 / mean;
	}
	reach.typical /= weight;
	reach.near = fmin(reach.near, most_near);
	return reach;
}

/*
 * Of those that last long few show, so that those that do are shorter than all: by how much follows if all are of one kind. Half
 * that much, as a factor, is reckoned with.
 */
static double share_near(const struct ft_loss_evidence *evidence, const struct ft_loss_shown *shown)
{
	double mean = (shown->frames + 1) / 2;
	struct reach reach = reach_of(evidence, shown, mean);

	for (unsigned i = 0; i < rounds; i++) {
		mean *= (shown->frames + 1) / (reach.typical + 1);
		mean = fmin(fmax(1, mean), FT_LOSS_NEAR);
		reach = reach_of(evidence, shown, mean);
	}
	reach = reach_of(evidence, shown, sqrt(mean * (shown->frames + 1) / 2));
	return reach.near * are_lasting(shown);
}

/*
 * A frame is as near to the end of its sequence as to the beginning, and what hides the end of one often hides the beginning of
 * another. How long losses last is known of those that show only: the mean may be off by six tenths of itself.
 */
struct ft_inferred ft_loss_over_ends(const struct ft_loss_evidence *evidence,
				     const struct ft_loss_shown *shown,
				     const struct ft_loss_spared *spared)
{
	double hidden = share_near(evidence, shown);
	double soon = (double)evidence->begun_soon / fmax(1, (double)evidence->begun);
	double answers = fmin(1, (double)evidence->answers_seen / fmax(shown->spaces, 1));
	double begun = hidden * (spared->begins ? soon : 1);
	double ended = hidden * (1 - spared->share * (1 - answers));
	double shows = (1 - begun) * (1 - ended);
	double more = shown->holes * (1 / shows - 1);
	double mean = more * (1 - 1 / shown->events);

	return (struct ft_inferred){
		.mean = mean,
		.variance = 2 * mean * shown->frames + may_be_off * may_be_off * mean * mean +
			    more * more / shown->events,
	};
}

/* Far more are cut than frames are lost within sequences, and those are too few to say how long losses last. */
static bool are_cut_alone(const struct ft_loss_shown *shown, double cut, double opened)
{
	return opened >= enough_opened && shown->holes <= few_holes &&
	       cut >= oftener * (shown->holes + 1);
}

/*
 * Twice as many are cut as would be if as much was lost at their beginning as within them. Losses that surely last need no more;
 * else not by chance but once in 200, also if there was one loss more than is seen.
 */
static bool are_cut_oftener(const struct ft_loss_shown *shown, double cut, double opened)
{
	double alike = opened * (shown->holes + shown->sequence) / fmax(1, shown->spaces);
	double losses = 1 + shown->holes / shown->sequence;

	if (opened < enough_opened || cut < least_cut || cut <= oftener * opened * shown->odds)
		return false;
	return are_lasting(shown) >= 1 || cut > ft_tail_high(alike, alike * (1 + alike / losses));
}

static bool is_cut(const struct ft_loss_shown *shown, double cut, double opened)
{
	return are_cut_alone(shown, cut, opened) || are_cut_oftener(shown, cut, opened);
}

bool ft_loss_outlasts(const struct ft_loss_evidence *evidence, const struct ft_loss_shown *shown)
{
	if (shown->holes <= 0)
		return evidence->cut + evidence->older != 0;
	return is_cut(shown, (double)evidence->cut, (double)evidence->opened) ||
	       is_cut(shown, (double)evidence->older, (double)evidence->counted);
}
