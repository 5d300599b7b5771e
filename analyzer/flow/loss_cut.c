/* Whether halves whose beginning is missing have lost it, or are older than the capture. */
#include <flow/loss_estimate.h>

#include <math.h>

#include "loss_parts.h"

enum {
	LEAST_MET = 30,    /* halves, to say that most begin in view .. */
	MET_TO_UNSEEN = 4, /* .. to one that does not; and that .. */
	MET_TO_LOST = 2,   /* .. losses may have taken so many */
	SOON = 4,          /* the first one in so many of the capture */
	LEAST_LATER = 2,   /* halves behind that, to tell the others from older ones */
};

/* More by so many standard deviations come by chance. */
static const double by_chance = 2.33;

/* Logarithm of one in 200. */
static const double seldom = -5.3;

/* So many of the first quarter are no more than chance makes of as many in any, by two standard deviations and a third. */
static bool are_spread(double all, double soon)
{
	return all - soon >= LEAST_LATER &&
	       soon <= all / SOON + by_chance * sqrt(all * (SOON - 1)) / SOON;
}

/* Those of the kind in the first quarter: between which bins they may be, the first, and behind the last. */
struct early_ones {
	uint32_t from, first, end;
};

static struct early_ones early_ones(const struct ft_loss_evidence *evidence,
				    enum ft_loss_missing kind)
{
	bool told_late = kind != FT_LOSS_OLDER || evidence->older_late;
	struct early_ones ones = {
		.from = told_late ? (uint32_t)FT_LOSS_FIRST_FRAMES >> evidence->shift : 0,
		.end = evidence->used / SOON,
	};

	while (ones.first < ones.end && evidence->bins[ones.first].missing[kind] == 0)
		ones.first++;
	while (kind == FT_LOSS_OLDER && ones.end > ones.first &&
	       evidence->bins[ones.end - 1].missing[kind] == 0)
		ones.end--;
	return ones;
}

/*
 * What is older than the capture is met the more often the nearer to its beginning: so many as in the first quarter begin
 * so far behind it but once in 200. Where they end before the quarter does says more of those whose messages were
 * counted: others, which take turns, may be in the midst of messages all at once.
 */
static bool begin_late(const struct ft_loss_evidence *evidence, enum ft_loss_missing kind,
		       uint64_t soon)
{
	const struct early_ones ones = early_ones(evidence, kind);
	double free = (double)soon - (kind == FT_LOSS_OLDER); /* the last one says where they end */

	return ones.first > ones.from && ones.first < ones.end &&
	       free * log((double)(ones.end - ones.first) / (double)(ones.end - ones.from)) <
		       seldom;
}

/*
 * How many of the halves met had begun unseen; 0 unless most begin in view, and half of the others at least behind the
 * first quarter, or as many as chance has there, or none soon after the beginning. What is older than the capture is met
 * then, or nearly all is: queue pairs that take turns are in the midst of a message then.
 */
static uint64_t begun_unseen(const struct ft_loss_evidence *evidence, enum ft_loss_missing kind,
			     uint64_t met, uint64_t met_to_unseen)
{
	uint64_t all = ft_loss_all_missing(evidence, kind), soon = 0;

	for (uint32_t i = 0; i < evidence->used / SOON; i++)
		soon += evidence->bins[i].missing[kind];
	if (met < LEAST_MET || met_to_unseen * all > met)
		return 0;
	return 2 * soon <= all || are_spread((double)all, (double)soon) ||
			       begin_late(evidence, kind, soon)
		       ? all
		       : 0;
}

uint64_t ft_loss_believe_cut(struct ft_loss_evidence *evidence)
{
	if (evidence->forgotten != 0 || !ft_loss_is_untroubled(evidence))
		return 0;
	evidence->cut = begun_unseen(evidence, FT_LOSS_CUT, evidence->opened, MET_TO_UNSEEN);
	evidence->older = begun_unseen(evidence, FT_LOSS_OLDER, evidence->counted, MET_TO_UNSEEN);
	evidence->maybe_cut = begun_unseen(evidence, FT_LOSS_CUT, evidence->opened, MET_TO_LOST);
	evidence->maybe_older =
		begun_unseen(evidence, FT_LOSS_OLDER, evidence->counted, MET_TO_LOST);
	return evidence->cut + evidence->older;
}
