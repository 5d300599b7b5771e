#include "loss_spared.h"

#include <math.h>

#include "loss_parts.h"

/* Standard deviations; and halves of which it is known whether their beginning is here. */
static const double surely = 3, enough_begun = 30;

/* Of ACKs, the share that must be spared where those that lack their request are not looked at. */
static const double most = 2. / 3;

static double odds_of(double share)
{
	return share / fmax(1 - share, 1e-6);
}

/*
 * Of the requests here that asked for an ACK, the share that lacks it: by those timed, of which the ACK of a later one came first,
 * or by the number of all, as where no later one comes. One that answers for several shows as others missing.
 */
static double share_lacking(const struct ft_loss_evidence *evidence, double unseen)
{
	double asking = (double)evidence->asking;
	double by_time = (double)evidence->passed_over / fmax((double)evidence->timed, 1);
	double by_number = (asking + unseen - (double)evidence->acks) / fmax(asking, 1);

	return fmin(1, fmax(by_time, by_number));
}

/*
 * Of losses that take all alike, as large a share of the ACKs here lacks its request as of the requests here lacks its ACK: which of
 * the two a loss begins or ends with is chance. ACKs that nobody asked for have requests like the others.
 */
static void compare_acks(const struct ft_loss_evidence *evidence, double sequence,
			 struct ft_loss_spared *spared)
{
	double unseen = (double)(evidence->ahead + evidence->acked_unseen);
	double acks = fmax((double)evidence->acks, 1);
	double lacking = share_lacking(evidence, unseen);
	double alike = odds_of(fmin(1, unseen / acks));

	if (unseen - lacking * acks <= surely * sqrt((unseen + lacking * acks) * sequence) ||
	    odds_of(lacking) >= alike)
		return;
	spared->share = 1 - odds_of(lacking) / alike;
	spared->error = sqrt((lacking * acks + 1) * sequence) / unseen + 1 - spared->share;
}

/*
 * Likewise by messages that packets are missing of: as large a share of their ACKs would be lost as of all packets, or a larger one, by
 * losses that go on until then. So where the last packet of each message is short, too, and hardly an ACK lacks its request.
 */
static void compare_torn(const struct ft_loss_evidence *evidence, double odds,
			 struct ft_loss_spared *spared)
{
	double unseen = (double)(evidence->ahead + evidence->acked_unseen);
	double torn = fmin((double)evidence->torn_counted, (double)evidence->timed);
	double uncounted =
		(double)evidence->torn_uncounted / fmax(1, (double)evidence->torn_counted);
	double lacking = fmax(share_lacking(evidence, unseen), uncounted);
	double alike = torn * odds / (1 + odds);
	double share = 1 - odds_of(lacking) / odds;

	if (share < most || share < spared->share ||
	    alike - torn * lacking <= surely * sqrt(alike + torn * lacking))
		return;
	spared->share = share;
	spared->error = sqrt(lacking * torn + 1) / alike + 1 - share;
}

/*
 * Packets lost at the beginning of each sequence: where one is cut in the midst of its first message, or by the count of messages,
 * some are. One more may be.
 */
static void look_at_cuts(const struct ft_loss_evidence *evidence, double odds, double sequence,
			 struct ft_loss_spared *spared)
{
	const struct ft_loss_bin sum = ft_loss_sum(evidence);
	double begun = (double)(evidence->begun - evidence->begun_soon);
	double counted = (double)evidence->counted;
	double cut = (double)sum.missing[FT_LOSS_CUT] / fmax(1, begun) +
		     (double)sum.missing[FT_LOSS_OLDER] / fmax(1, counted);

	if (fmin(begun, counted) < enough_begun || odds_of(cut) >= odds)
		return;
	spared->begins = true;
	spared->begun = cut * sequence * begun;
	spared->begun_error = spared->begun / 2 + sqrt(cut * begun + 1) * sequence;
}

struct ft_loss_spared ft_loss_spared_of(const struct ft_loss_evidence *evidence, double odds,
					double sequence)
{
	struct ft_loss_spared spared = { 0 };

	compare_acks(evidence, sequence, &spared);
	compare_torn(evidence, odds, &spared);
	if (spared.share > 0)
		look_at_cuts(evidence, odds, sequence, &spared);
	return spared;
}
