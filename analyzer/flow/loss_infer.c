#include "loss_infer.h"

#include <math.h>

#include "loss_ends.h"
#include "loss_outlasted.h"
#include "loss_sides.h"
#include "loss_spared.h"
#include "loss_vague.h"

/* Frames round a hole whose mix stands for what was lost there. */
static const double near = 1024;

/*
 * A hole shows with the next frame of its sequence. Where many take turns that is far behind, and of the first turns none shows:
 * what is near a frame are so many turns at least.
 */
static const double turns = 32;

/* A fabric loss is asked for again so many times sooner than what is overdue is given up. */
static const double patience = 8;

/* And what was overtaken comes so many times sooner than requests that are missing are answered for, or responses given up. */
static const double delay = 64, longer_delay = 512;

/*
 * Losses of several frames take more of a sequence before its first and behind its last than single ones, hardly longer as they may
 * seem within short ones: what is lost there may be off by this share of itself, where losses take so many frames and more.
 */
static const double ends_off = 0.2, several = 3;

/* Of packets sent again, the share that may be taken for something else: a READ for the rest of another, one late. */
static const double untold = 0.1;

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

static double lost_here(const struct ft_loss_sums *sums, const struct ft_loss_mix *here)
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
static double lost_unseen(const struct ft_loss_evidence *evidence, const struct ft_loss_sums *sums)
{
	double frames = fmax(near, turns * frames_in_turn(evidence));
	uint32_t width = (uint32_t)fmax(1, frames / ft_loss_frames_in_bin(evidence, sums));
	double temper = sums->temper, lost = 0;

	for (uint32_t i = 0; i < evidence->used; i += width) {
		const struct ft_loss_mix here = ft_loss_group(evidence, sums->stood, i, width);

		lost += here.spaces < temper ? here.silent * sums->odds : lost_here(sums, &here);
	}
	return fmax(0, lost);
}

/* Over the ends of sequences: with frames in sequences, others are lost. */
static struct ft_inferred lost_ends(const struct ft_loss_evidence *evidence,
				    const struct ft_loss_sums *sums,
				    const struct ft_loss_spread *by,
				    const struct ft_loss_spared *spared)
{
	const struct ft_loss_shown shown = {
		.spaces = sums->closed,
		.holes = sums->holes,
		.odds = sums->odds,
		.frames = by->frames,
		.sequence = by->sequence,
		.events = by->events,
	};
	const struct ft_inferred ends = ft_loss_over_ends(evidence, &shown, spared);
	double whole = 1 + sums->mixed * (1 - spared->share);

	return (struct ft_inferred){ .mean = ends.mean * whole,
				     .variance = ends.variance * whole * whole };
}

/* The share of responses overdue that the mirror lost. */
static double share_waiting(const struct ft_loss_sums *sums)
{
	return sums->holes / (sums->holes + sums->fabric / patience + sums->late / longer_delay);
}

struct ft_inferred ft_loss_pending(const struct ft_loss_evidence *evidence,
				   const struct ft_loss_sums *sums)
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
 * go on from one to the other, or take both by chance. One more may be shown but for chance. READs are as short as ACKs.
 */
static double most_with_answers(const struct ft_loss_evidence *evidence,
				const struct ft_loss_sums *sums, const struct ft_loss_spread *by,
				const struct ft_loss_spared *spared)
{
	double goes_on = (by->frames - 1) * (1 - spared->share);

	return ((double)evidence->implied + 1) * (goes_on + sums->odds);
}

/*
 * A READ or ATOMIC that was lost with all its responses leaves as many PSNs as it asked for, one less than was lost.
 * Requests are lost alike, so a known share of them are questions; those of which a response was seen are known, and of
 * such responses, which are silent, as many more are lost as of all that is silent. What is left went in one loss with
 * them. It is the difference of two counts: where it is small against their errors it says little.
 */
static struct ft_inferred lost_with_answers(const struct ft_loss_evidence *evidence,
					    const struct ft_loss_sums *sums,
					    const struct ft_loss_spread *by,
					    const struct ft_loss_spared *spared)
{
	double questions = (double)evidence->questions * sums->once;
	double implied = (double)evidence->implied, orphans = (double)evidence->orphans;
	double answers = (double)evidence->answers * sums->once;
	double others =
		sums->spaces - questions - answers + (double)evidence->answers_lost - orphans;
	double psns = fmax(others, 0) + answers;
	double odds = ((double)evidence->requests_lost + orphans) / fmax(psns, 1);
	double more = fmin(questions * odds - implied * (1 + odds),
			   most_with_answers(evidence, sums, by, spared));
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
					const struct ft_loss_sums *sums)
{
	double requests = sums->spaces - (double)evidence->answers_seen;
	const struct ft_inferred holes = ft_loss_in_vague(evidence, requests, sums->odds);
	const struct ft_inferred skips =
		ft_loss_in_skips(evidence, requests, sums->odds, share_waiting(sums));

	return (struct ft_inferred){ .mean = holes.mean + skips.mean,
				     .variance = holes.variance + skips.variance };
}

/* Among packets sent again that are taken for copies: most of those that may be, anything from half to all of them. */
static struct ft_inferred lost_alike(const struct ft_loss_evidence *evidence, double odds)
{
	double lost = odds * (double)evidence->alike;

	return (struct ft_inferred){ .mean = lost * 3 / 4, .variance = lost * lost / 9 };
}

/* At the beginning of sequences, where that is told, and not inferred as of other silent frames. */
static struct ft_inferred lost_begun(const struct ft_loss_evidence *evidence,
				     const struct ft_loss_sums *sums,
				     const struct ft_loss_spared *spared, double inferred)
{
	double begun = (double)(evidence->begun - evidence->begun_soon);

	if (!spared->begins)
		return (struct ft_inferred){ 0 };
	return (struct ft_inferred){
		.mean = spared->begun - inferred * fmin(begun / fmax(sums->silent, 1), 1),
		.variance = spared->begun_error * spared->begun_error,
	};
}

/* Standard deviation of what is lost before the first and behind the last of all sequences. */
static double error_of_ends(const struct ft_loss_evidence *evidence,
			    const struct ft_loss_sums *sums, const struct ft_loss_spread *by)
{
	double ends = (double)evidence->begun + (double)evidence->ends;

	return ends_off * sums->odds * fmin(ends, sums->silent) *
	       fmin(1, (by->frames - 1) / (several - 1));
}

/* Of silent frames, near those that are proved lost. */
static struct ft_inferred lost_near(const struct ft_loss_evidence *evidence,
				    const struct ft_loss_sums *sums,
				    const struct ft_loss_spread *by,
				    const struct ft_loss_spared *spared, double more)
{
	const struct ft_loss_alike alike = { sums->spaces, sums->holes, sums->silent, by->frames,
					     by->sequence };
	double unseen = lost_unseen(evidence, sums) * more;
	double ends = error_of_ends(evidence, sums, by);
	const struct ft_inferred silent = {
		.mean = unseen,
		.variance = by->variance * unseen * (1 + unseen / sums->holes) * (1 + sums->odds) +
			    ends * ends,
	};

	const struct ft_inferred begun = lost_begun(evidence, sums, spared, unseen);
	struct ft_inferred lost = ft_loss_by_side(evidence, &alike, spared, silent);

	lost.mean = fmax(0, lost.mean + begun.mean);
	lost.variance += begun.variance;
	return lost;
}

struct ft_inferred ft_loss_infer(const struct ft_loss_evidence *evidence,
				 const struct ft_loss_sums *sums, const struct ft_loss_spread *by)
{
	const struct ft_loss_spared spared = ft_loss_spared_of(evidence, sums->odds, by->sequence);
	const struct ft_inferred ends = lost_ends(evidence, sums, by, &spared);
	const struct ft_inferred pending = ft_loss_pending(evidence, sums);
	const struct ft_inferred hidden = lost_with_answers(evidence, sums, by, &spared);
	const struct ft_inferred vague = lost_in_vague(evidence, sums);
	const struct ft_inferred silent =
		lost_near(evidence, sums, by, &spared,
			  1 + (pending.mean + hidden.mean + vague.mean) / sums->holes);
	double taken = untold * (1 - sums->once) * (sums->holes + silent.mean);
	const struct ft_inferred alike =
		lost_alike(evidence, sums->odds * (1 + pending.mean / sums->holes));
	const struct ft_inferred outlasted = ft_loss_over_exchanges(
		evidence, by, (double)evidence->unasked * (1 + silent.mean / sums->holes));

	return (struct ft_inferred){
		.mean = fmax(0, silent.mean + ends.mean + pending.mean + hidden.mean + vague.mean +
					alike.mean + outlasted.mean),
		.variance = silent.variance + ends.variance + pending.variance + hidden.variance +
			    vague.variance + taken * taken + alike.variance + outlasted.variance,
		.untold = silent.untold,
	};
}
