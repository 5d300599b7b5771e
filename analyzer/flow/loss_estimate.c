#include <flow/loss.h>

#include <math.h>

#include "inferred.h"
#include "loss_ends.h"
#include "loss_sides.h"
#include "loss_vague.h"
#include "tail.h"

/*
 * Four things were lost: what the holes prove; of what nobody has answered for yet, the share that
 * the mirror has of all losses proved; ends of sequences that a loss swallowed, which one that
 * lasts does more often than its share; and frames that leave no hole, of which there were as many
 * to a frame that does as there are among those seen near by. docs/coverage.md has the arithmetic
 * and what it was tried on.
 */

/*
 * Frames round a hole whose mix stands for what was lost there, and how many of the whole temper it: the more, the more
 * packets are sent again, for when they passed first is not known.
 */
static const double near = 1024, tempered = 128, by_again = 512, aligned = 32;

/*
 * A hole shows with the next frame of its sequence. Where many take turns that is far behind, and of the first turns none shows:
 * what is near a frame are so many turns at least.
 */
static const double turns = 32;

/* A fabric loss is asked for again so many times sooner than what is overdue is given up. */
static const double patience = 8;

/* And what was overtaken comes so many times sooner than requests that are missing are answered for, or responses given up. */
static const double delay = 64, longer_delay = 512;

/* Of packets sent again, the share that may be taken for something else: a READ for the rest of another, one late. */
static const double untold = 0.1;

/* Of what a filter took, one in so many may not show: responses to READs that are lost, or from before halves had met. */
enum { MOST_HIDDEN = 64 };

/* Fewest groups of bins that still show how losses are spread. */
enum { GROUPS = 12 };

struct sums {
	double spaces, holes, silent;
	double closed; /* spaces that any packets closed, whether or not their loss would have shown */
	double odds;   /* lost to seen, of frames in sequences */
	double mixed;  /* silent frames to one that is not */
	double temper; /* frames of the whole that temper what is near */
	double widest; /* frames in a stretch that may show how losses come */
	double once;   /* of the spaces, the share that packets closed which passed once */
	double fabric; /* packets that the fabric lost before they passed */
	double late;   /* packets that others overtook */
	double stood; /* spaces there are to one that packets closed which were sent once: those lost by the fabric close one, too */
};

/* How losses come: all 1 when each is single and hits any frame alike. */
struct spread {
	double frames;   /* in a row that a typical lost frame was lost with */
	double sequence; /* of them of its own sequence */
	double events;   /* losses there were, at least 1 */
	double variance; /* of how many of them are silent, to what drawing lots would give */
};

/* Of some bins. */
struct mix {
	double spaces, holes, silent;
};

/* What was sent again closed no space either when it passed first: its loss would not have shown. */
static struct mix group(const struct ft_loss_evidence *evidence, double stood, uint32_t first,
			uint32_t count)
{
	struct ft_loss_bin sum = { 0 };
	double spaces, more;

	for (uint32_t i = first; i < first + count && i < evidence->used; i++) {
		sum.spaces += evidence->bins[i].spaces;
		sum.holes += evidence->bins[i].holes;
		sum.silent += evidence->bins[i].silent;
		sum.again += evidence->bins[i].again;
	}
	sum.again = sum.again < sum.spaces ? sum.again : sum.spaces;
	spaces = (double)(sum.spaces - sum.again);
	more = fmin(spaces * (stood - 1), (double)(sum.silent + sum.again));
	return (struct mix){
		.spaces = spaces + more,
		.holes = (double)sum.holes,
		.silent = (double)(sum.silent + sum.again) - more,
	};
}

/*
 * Packets that passed first when sent again: those that the fabric had lost closed a space then. The mirror lost the first
 * of the others, as many to those of which both passed as it lost to those it did not.
 */
static double lost_by_fabric(const struct ft_loss_evidence *evidence, const struct mix *all)
{
	double holes = all->holes == 0 ? 0 : all->holes + (double)evidence->overdue;
	double odds = holes / fmax(all->spaces, 1), found = 0;

	for (unsigned i = 0; i < 4; i++) {
		found = (double)evidence->filled - odds * (double)evidence->twice;
		found = fmax(found, -(double)evidence->late_once);
		odds = holes / fmax(all->spaces + found, 1);
	}
	return found;
}

static struct sums add_up(const struct ft_loss_evidence *evidence)
{
	struct mix all = group(evidence, 1, 0, evidence->used), raw = all;
	double spaces = fmax(all.spaces, 1);
	double models = (double)evidence->models * spaces / (spaces + all.silent);
	double aside = fmin((double)evidence->aside + models, spaces / 2);
	double unshown = ft_loss_unshown_ends(evidence, spaces, all.holes);
	double ends = fmin((double)evidence->ends + unshown, spaces / 2);
	double more = lost_by_fabric(evidence, &all) - aside - ends;
	struct sums sums = { .stood = 1 + more / spaces };
	double again = 0;

	for (uint32_t i = 0; i < evidence->used; i++)
		again += (double)evidence->bins[i].again;
	sums.closed = spaces + again;
	all = group(evidence, sums.stood, 0, evidence->used);
	if (raw.spaces == 0 && again != 0) { /* all of it was sent again: better than nothing */
		all.spaces = fmin(again, all.silent);
		all.silent -= all.spaces;
	}
	sums.spaces = all.spaces;
	sums.holes = all.holes;
	sums.silent = all.silent;
	sums.odds = sums.holes / fmax(sums.spaces, 1);
	sums.mixed = sums.silent / fmax(sums.spaces, 1);
	sums.widest = again == 0 ? INFINITY : aligned * (spaces + again) / again;
	sums.once = spaces / (spaces + again);
	sums.temper = tempered * (1 + by_again * again / (spaces + again));
	sums.fabric = fmax(0, (double)evidence->fabric - sums.odds * again);
	sums.late = (double)evidence->late;
	return sums;
}

/* Those that count: copies are in no bin. */
static double frames_in_bin(const struct ft_loss_evidence *evidence, const struct sums *sums)
{
	return fmax(1, round((sums->spaces + sums->silent) / fmax(1, evidence->used)));
}

/*
 * Frames in which each sequence has one: as many as there are sequences, unless those near the first of their sequence show that
 * they follow each other sooner.
 */
static double frames_in_turn(const struct ft_loss_evidence *evidence)
{
	double begun = (double)evidence->begun, soon = 0;

	for (unsigned i = 0; i < FT_LOSS_NEAR; i++)
		soon += (double)evidence->near[i];
	return begun * fmin(1, FT_LOSS_NEAR / fmax(1, soon));
}

static double lost_here(const struct sums *sums, const struct mix *here)
{
	double temper = sums->temper;

	return (here->holes + sums->odds * temper) * (here->silent + sums->mixed * temper) /
		       (here->spaces + temper) -
	       sums->odds * sums->mixed * temper;
}

/*
 * Silent frames lost, by the rate and the mix of frames round them. Where few frames are in sequences, the whole stands for
 * what is near: holes there are of requests that passed before, and showed by their answers.
 */
static double lost_unseen(const struct ft_loss_evidence *evidence, const struct sums *sums)
{
	double frames = fmax(near, turns * frames_in_turn(evidence));
	uint32_t width = (uint32_t)fmax(1, frames / frames_in_bin(evidence, sums));
	double temper = sums->temper, lost = 0;

	for (uint32_t i = 0; i < evidence->used; i += width) {
		const struct mix here = group(evidence, sums->stood, i, width);

		lost += here.spaces < temper ? here.silent * sums->odds : lost_here(sums, &here);
	}
	return fmax(0, lost);
}

/* In groups of `width` bins: how unevenly holes, and silent frames, are spread. Both 1 by lots. */
static void measure(const struct ft_loss_evidence *evidence, const struct sums *sums,
		    uint32_t width, double *holes, double *silent)
{
	double frames = sums->spaces + sums->silent;
	double holes_off = 0, silent_off = 0;

	for (uint32_t i = 0; i < evidence->used; i += width) {
		const struct mix here = group(evidence, sums->stood, i, width);
		holes_off += pow(here.holes - sums->odds * here.spaces, 2);
		silent_off += pow(here.silent - sums->mixed * here.spaces, 2);
	}
	*holes = holes_off / sums->holes - sums->odds;
	*silent = sums->silent > 0 ? silent_off / (frames * sums->mixed) : 1;
}

/* The longest losses that any width of the groups shows. */
static double longest(const struct ft_loss_evidence *evidence, const struct sums *sums)
{
	double bin = frames_in_bin(evidence, sums), frames = 1, holes, silent;

	for (uint32_t width = 1;
	     width == 1 || (evidence->used / width >= GROUPS && bin * width <= sums->widest);
	     width *= 2) {
		measure(evidence, sums, width, &holes, &silent);
		frames = fmax(frames, holes * (1 + sums->mixed));
	}
	return frames;
}

/* How unevenly silent frames are spread over stretches of `frames`. */
static double unevenness(const struct ft_loss_evidence *evidence, const struct sums *sums,
			 double frames)
{
	double bin = frames_in_bin(evidence, sums), holes, silent;
	uint32_t width = 1;

	while (bin * width < frames && evidence->used / (2 * width) >= GROUPS)
		width *= 2;
	measure(evidence, sums, width, &holes, &silent);
	if (frames < bin && bin > 1)
		silent = 1 + (silent - 1) * (frames - 1) / (bin - 1);
	return fmax(1, silent);
}

static struct spread spread(const struct ft_loss_evidence *evidence, const struct sums *sums)
{
	struct spread spread = { .frames = longest(evidence, sums),
				 .sequence = (double)evidence->squares / sums->holes };

	spread.events = fmax(1, fmin(sums->holes, sums->holes * (1 + sums->mixed) / spread.frames));
	spread.variance = unevenness(evidence, sums, spread.frames);
	return spread;
}

/* Over the ends of sequences: with frames in sequences, others are lost. */
static struct ft_inferred lost_ends(const struct ft_loss_evidence *evidence,
				    const struct sums *sums, const struct spread *by)
{
	const struct ft_loss_shown shown = {
		.spaces = sums->closed,
		.holes = sums->holes,
		.odds = sums->odds,
		.frames = by->frames,
		.sequence = by->sequence,
		.events = by->events,
	};
	const struct ft_inferred ends = ft_loss_over_ends(evidence, &shown);
	double whole = 1 + sums->mixed;

	return (struct ft_inferred){ ends.mean * whole, ends.variance * whole * whole };
}

/* The share of responses overdue that the mirror lost. */
static double share_waiting(const struct sums *sums)
{
	return sums->holes / (sums->holes + sums->fabric / patience + sums->late / longer_delay);
}

/*
 * Of what is missing and not answered for yet, the mirror's share. Responses that the fabric loses are asked for again at
 * once, and so wait for less long than those that the mirror lost, and so does whatever was overtaken. A lost READ leaves as
 * many PSNs as it asked for.
 */
static struct ft_inferred lost_pending(const struct ft_loss_evidence *evidence,
				       const struct sums *sums)
{
	double requests = (double)evidence->unanswered, overdue = (double)evidence->overdue;
	double pending = requests + overdue;
	double mirror = sums->holes / (sums->holes + sums->fabric + sums->late / delay);
	double waits = share_waiting(sums);

	return (struct ft_inferred){
		.mean = requests * mirror + overdue * waits,
		.variance = mirror * (pending + requests * requests * (1 - mirror) +
				      requests * requests * mirror / 16) +
			    overdue * overdue * (waits - mirror) * (waits - mirror) / 4,
	};
}

/*
 * Questions lost, the most that may have been with all they asked for: to one that its first response shows, as many as losses
 * go on from one to the other, or take both by chance. One more may be shown but for chance.
 */
static double most_with_answers(const struct ft_loss_evidence *evidence, const struct sums *sums,
				const struct spread *by)
{
	return ((double)evidence->implied + 1) * (by->frames - 1 + sums->odds);
}

/*
 * A READ or ATOMIC that was lost with all its responses leaves as many PSNs as it asked for, one less than was lost.
 * Requests are lost alike, so a known share of them are questions; those of which a response was seen are known, and of
 * such responses, which are silent, as many more are lost as of all that is silent. What is left went in one loss with
 * them. It is the difference of two counts: where it is small against their errors it says little.
 */
static struct ft_inferred lost_with_answers(const struct ft_loss_evidence *evidence,
					    const struct sums *sums, const struct spread *by)
{
	double questions = (double)evidence->questions * sums->once;
	double implied = (double)evidence->implied, orphans = (double)evidence->orphans;
	double answers = (double)evidence->answers * sums->once;
	double others =
		sums->spaces - questions - answers + (double)evidence->answers_lost - orphans;
	double psns = fmax(others, 0) + answers;
	double odds = ((double)evidence->requests_lost + orphans) / fmax(psns, 1);
	double more = fmin(questions * odds - implied * (1 + odds),
			   most_with_answers(evidence, sums, by));
	double error = questions * odds + implied;

	if (more <= 0)
		return (struct ft_inferred){ 0 };
	return (struct ft_inferred){
		.mean = more * more * more / (more * more + error),
		.variance = by->frames * error * more * more / (more * more + error),
	};
}

/* In holes that do not tell how many packets they are, beyond those that they count for. */
static struct ft_inferred lost_in_vague(const struct ft_loss_evidence *evidence,
					const struct sums *sums)
{
	double requests = sums->spaces - (double)evidence->answers_seen;
	const struct ft_inferred holes = ft_loss_in_vague(evidence, requests, sums->odds);
	const struct ft_inferred skips =
		ft_loss_in_skips(evidence, requests, sums->odds, share_waiting(sums));

	return (struct ft_inferred){ holes.mean + skips.mean, holes.variance + skips.variance };
}

/* Among packets sent again that are taken for copies: most of those that may be, anything from half to all of them. */
static struct ft_inferred lost_alike(const struct ft_loss_evidence *evidence, double odds)
{
	double lost = odds * (double)evidence->alike;

	return (struct ft_inferred){ .mean = lost * 3 / 4, .variance = lost * lost / 9 };
}

/* Of silent frames, near those that are proved lost. */
static struct ft_inferred lost_near(const struct ft_loss_evidence *evidence,
				    const struct sums *sums, const struct spread *by, double more)
{
	const struct ft_loss_alike alike = { sums->spaces, sums->holes, sums->silent, by->frames,
					     by->sequence };
	double unseen = lost_unseen(evidence, sums) * more;
	const struct ft_inferred silent = {
		.mean = unseen,
		.variance = by->variance * unseen * (1 + unseen / sums->holes) * (1 + sums->odds),
	};

	return ft_loss_by_side(evidence, &alike, silent);
}

static struct ft_inferred infer(const struct ft_loss_evidence *evidence, const struct sums *sums,
				const struct spread *by)
{
	const struct ft_inferred ends = lost_ends(evidence, sums, by);
	const struct ft_inferred pending = lost_pending(evidence, sums);
	const struct ft_inferred hidden = lost_with_answers(evidence, sums, by);
	const struct ft_inferred vague = lost_in_vague(evidence, sums);
	const struct ft_inferred silent = lost_near(
		evidence, sums, by, 1 + (pending.mean + hidden.mean + vague.mean) / sums->holes);
	double taken = untold * (1 - sums->once) * (sums->holes + silent.mean);
	const struct ft_inferred alike =
		lost_alike(evidence, sums->odds * (1 + pending.mean / sums->holes));

	return (struct ft_inferred){
		.mean = fmax(0, silent.mean + ends.mean + pending.mean + hidden.mean + vague.mean +
					alike.mean),
		.variance = silent.variance + ends.variance + pending.variance + hidden.variance +
			    vague.variance + taken * taken + alike.variance,
	};
}

/* Heavier tails than this say less, not more. */
static double tame(const struct ft_inferred *inferred)
{
	return fmin(inferred->variance, inferred->mean + 4 * inferred->mean * inferred->mean);
}

/* The bounds: of few losses one more may have been, all of which was unseen. */
static void from_holes(const struct ft_loss_evidence *evidence, const struct sums *sums,
		       struct ft_loss_estimate *estimate)
{
	const struct spread by = spread(evidence, sums);
	const struct ft_inferred least = infer(evidence, sums, &by);
	double more = 1 + 1 / by.events;
	const struct ft_inferred most = { least.mean * more, least.variance * more };

	estimate->frames = (uint64_t)llround(sums->holes + least.mean);
	estimate->low = estimate->high = (uint64_t)sums->holes;
	if (least.mean <= 0)
		return;
	estimate->low += (uint64_t)ft_tail_low(least.mean, tame(&least));
	estimate->high += (uint64_t)ceil(ft_tail_high(most.mean, tame(&most)));
}

/* No hole: so many silent frames in a row may still have gone that no other was among them. */
static void from_silence(const struct sums *sums, struct ft_loss_estimate *estimate)
{
	double share = sums->silent / (sums->silent + sums->spaces);

	if (share > 0)
		estimate->high = (uint64_t)ceil(log(0.01) / log(share));
}

static uint64_t larger(uint64_t left, uint64_t right)
{
	return left > right ? left : right;
}

static bool are_lasting(const struct ft_loss_evidence *evidence, const struct sums *sums)
{
	const struct ft_loss_shown shown = {
		.spaces = sums->spaces,
		.holes = sums->holes,
		.odds = sums->odds,
		.sequence = fmax(1, (double)evidence->squares / fmax(1, sums->holes)),
	};

	return ft_loss_outlasts(evidence, &shown);
}

/* A packet at least is missing where a sequence is cut. What losses that outlast them took, elsewhere, is as much at least. */
static void from_cuts(const struct ft_loss_evidence *evidence, struct ft_loss_estimate *estimate)
{
	double share = fmax((double)evidence->cut / fmax(1, (double)evidence->opened),
			    (double)evidence->older / fmax(1, (double)evidence->counted));
	uint64_t cut = larger(evidence->cut, evidence->older);

	estimate->low = larger(estimate->low, cut);
	estimate->frames = larger(estimate->frames, cut);
	if (!estimate->lasting)
		return;
	estimate->bounded = false;
	estimate->frames =
		larger(estimate->frames, (uint64_t)llround(share * (double)estimate->seen));
}

/* Of so many frames missing, those beyond what the estimate has of them. */
static uint64_t unclear(const struct ft_loss_evidence *evidence, const struct sums *sums,
			uint64_t missing)
{
	double counted = sums->holes > 0 ? lost_pending(evidence, sums).mean : 0;

	return (uint64_t)fmax(0, (double)missing - counted);
}

static double share_of(uint64_t seen, uint64_t lost)
{
	return (double)seen / (double)(seen + lost);
}

void ft_loss_estimate(const struct ft_loss_evidence *evidence, uint64_t counted,
		      struct ft_loss_estimate *estimate)
{
	const struct sums sums = add_up(evidence);
	uint64_t pending = unclear(evidence, &sums, evidence->unanswered + evidence->overdue);

	*estimate = (struct ft_loss_estimate){
		.known = sums.spaces + sums.holes > 0 || counted > 0,
		.bounded = sums.spaces + sums.holes > 0,
		.lasting = are_lasting(evidence, &sums),
		.seen = ft_loss_seen(evidence),
	};
	if (sums.holes > 0)
		from_holes(evidence, &sums, estimate);
	else if (sums.spaces > 0)
		from_silence(&sums, estimate);
	from_cuts(evidence, estimate);
	estimate->frames += evidence->filtered;
	estimate->low += evidence->filtered;
	estimate->high += evidence->filtered + evidence->filtered / MOST_HIDDEN;
	estimate->frames = larger(estimate->frames, counted);
	estimate->high = larger(estimate->high, estimate->frames) +
			 unclear(evidence, &sums, evidence->uncertain);
	if (!estimate->known || estimate->seen + estimate->frames == 0)
		return;
	estimate->share_seen = share_of(estimate->seen, estimate->frames);
	estimate->least_share = share_of(estimate->seen, estimate->frames + pending);
}
