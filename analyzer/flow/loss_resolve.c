/* Which of what seems lost by the mirror is not: it may have been overtaken, or be on its way. */
#include <flow/loss_estimate.h>

#include <math.h>

#include "loss_parts.h"

enum {
	LEAST_ELSEWHERE = 4,
	LEAST_OVERDUE = 2,
	FEW_LOST = 50,       /* one in so many */
	LEAST_SPACES = 1024, /* to spare some */
	FEW_SPACES = 4096,   /* a capture of fewer may well be of nothing but beginnings */
	ON_THEIR_WAY = 64,   /* responses to a requester that is still to find out what it lacks */
};

enum {
	FIRST = 1u << FT_LOSS_FIRST,
	EARLY = 1u << FT_LOSS_EARLY,
	ONSET = 1u << FT_LOSS_ONSET,
	OVERDUE = 1u << FT_LOSS_OVERDUE,
	BEGINNINGS = EARLY | ONSET,
};

static double first_spaces(const struct ft_loss_evidence *evidence)
{
	double spaces = 0;

	for (uint64_t i = 0; i < evidence->used && i << evidence->shift < FT_LOSS_FIRST_FRAMES; i++)
		spaces += (double)evidence->bins[i].spaces;
	return spaces;
}

/* Packets there are of the mix of all. */
static double onset_spaces(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	double spaces = (double)sum->spaces, all = spaces + (double)sum->silent;

	return (double)evidence->onset * spaces / fmax(1, all);
}

/* Of the spaces, those among which holes of such doubts are. */
static double doubtful_spaces(const struct ft_loss_evidence *evidence,
			      const struct ft_loss_bin *sum, uint32_t doubts)
{
	if (doubts == FIRST)
		return first_spaces(evidence);
	return doubts == ONSET ? onset_spaces(evidence, sum) : (double)evidence->early;
}

/* Holes, and what they say of losses. */
struct holes {
	double count, events;
};

static struct holes holes_of(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum,
			     uint32_t doubts)
{
	struct holes found = { 0 };
	uint64_t squares = 0;

	for (unsigned i = 0; i < FT_LOSS_DOUBTS; i++) {
		if ((doubts >> i & 1) == 0)
			continue;
		found.count += (double)sum->doubted[i];
		squares = ft_loss_add_up(squares, evidence->doubted_squares[i]);
	}
	found.events = ft_loss_events(found.count, squares);
	return found;
}

/* All but those of the doubts. */
static struct holes holes_elsewhere(const struct ft_loss_evidence *evidence,
				    const struct ft_loss_bin *sum, uint32_t doubts)
{
	struct holes found = { .count = (double)sum->holes };
	uint64_t squares = evidence->squares;

	for (unsigned i = 0; i < FT_LOSS_DOUBTS; i++) {
		if ((doubts >> i & 1) == 0)
			continue;
		found.count -= (double)sum->doubted[i];
		squares -= evidence->doubted_squares[i] < squares ? evidence->doubted_squares[i]
								  : squares;
	}
	found.events = ft_loss_events(found.count, squares);
	return found;
}

/*
 * Whether losses at the beginning are far more than those elsewhere, but for other doubts, let expect. Where nearly all is
 * beginning, a small capture with much trouble may have begun amid it; of many half-connections that are all short it
 * cannot be said.
 */
static bool is_too_much(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum,
			uint32_t doubts, uint32_t others)
{
	const struct holes elsewhere = holes_elsewhere(evidence, sum, doubts | others);
	const struct holes doubted = holes_of(evidence, sum, doubts);
	double spaces = (double)sum->spaces;
	double early = fmin(doubtful_spaces(evidence, sum, doubts), spaces);
	double longer = doubts == BEGINNINGS ? (double)evidence->longer : 0;
	double share = (early + longer) / fmax(1, spaces - early - longer);

	if (doubted.events == 0)
		return false;
	if (LEAST_ELSEWHERE * (spaces - early) < early &&
	    (spaces >= FEW_SPACES || ft_loss_trouble(evidence) < FT_LOSS_FAR_MORE * doubted.events))
		return false;
	return elsewhere.count <= 0 ||
	       ft_loss_is_far_more(doubted.events, (elsewhere.events + 1) * share, share);
}

/*
 * Whether the very first packets of half-connections tell little that the others do not: few of those are lost, so that some
 * that were overtaken would weigh much, and enough were elsewhere.
 */
static bool can_be_spared(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	const struct holes elsewhere = holes_elsewhere(evidence, sum, ONSET | OVERDUE);
	double spaces = (double)sum->spaces;

	return sum->holes != 0 && evidence->onset != 0 && spaces >= LEAST_SPACES &&
	       2 * onset_spaces(evidence, sum) <= spaces && FEW_LOST * elsewhere.count <= spaces &&
	       ft_loss_trouble(evidence) >=
		       FT_LOSS_FAR_MORE * holes_of(evidence, sum, ONSET).events;
}

/* Of what passed first when sent again, the mirror has lost the first of as many as of those of which both passed. */
static double lost_by_fabric(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	double once = fmax((double)sum->spaces - (double)sum->again, 1);

	return fmax(0, (double)evidence->fabric - (double)sum->holes * (double)sum->again / once);
}

/*
 * Whether responses are overdue as a fabric makes them that loses the request for them too: of all it loses, so few. Who
 * waits for them asks for nothing else that it lacks, and may come to lack more of what is on its way. Not where the mirror
 * loses as many: what it loses elsewhere tells.
 */
static bool is_so_few(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	const struct holes others = holes_elsewhere(evidence, sum, (1u << FT_LOSS_DOUBTS) - 1);
	double spaces = fmax((double)sum->spaces, 1);
	double share = (double)evidence->answers / spaces;
	double doubted = (double)sum->doubted[FT_LOSS_OVERDUE];
	double waiting = fmin(ft_loss_events(doubted, evidence->doubted_squares[FT_LOSS_OVERDUE]),
			      (double)evidence->waiting);
	double fabric = lost_by_fabric(evidence, sum), twice = 2 * fabric * fabric / spaces;
	double most = LEAST_OVERDUE + FT_LOSS_FAR_MORE * twice;

	if (doubted == 0 || (FT_LOSS_FAR_MORE * others.count * share > twice &&
			     !ft_loss_is_far_more(waiting, others.events * share, share)))
		return false;
	return waiting <= most &&
	       doubted <= most * (1 + FT_LOSS_FAR_MORE * ON_THEIR_WAY * fabric / spaces);
}

/* Where holes are not believed nothing shows a loss. */
static void silence_first(struct ft_loss_evidence *evidence)
{
	for (uint64_t i = 0; i < evidence->used && i << evidence->shift < FT_LOSS_FIRST_FRAMES;
	     i++) {
		struct ft_loss_bin *bin = &evidence->bins[i];

		bin->silent += bin->spaces;
		bin->spaces = bin->again = 0;
	}
}

static void take_out(struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum,
		     enum ft_loss_doubt doubt)
{
	for (uint32_t i = 0; i < evidence->used; i++)
		evidence->bins[i].holes -= evidence->bins[i].doubted[doubt];
	if (doubt == FT_LOSS_FIRST)
		silence_first(evidence);
	else if (doubt == FT_LOSS_EARLY)
		evidence->aside = evidence->early + evidence->longer;
	else if (doubt == FT_LOSS_ONSET && evidence->aside == 0)
		evidence->aside = (uint64_t)onset_spaces(evidence, sum);
	evidence->squares -= evidence->doubted_squares[doubt];
	if (doubt != FT_LOSS_ONSET) /* what is inferred for them stands for those, too */
		evidence->uncertain += sum->doubted[doubt];
	evidence->answers_lost -= evidence->doubted_answers[doubt];
	evidence->requests_lost -= sum->doubted[doubt] - evidence->doubted_answers[doubt];
}

uint32_t ft_loss_resolve(struct ft_loss_evidence *evidence)
{
	const struct ft_loss_bin sum = ft_loss_sum(evidence);
	uint32_t taken = 0;

	if (ft_loss_trouble(evidence) + (double)sum.again == 0 || evidence->filtered != 0)
		return 0;
	if (is_too_much(evidence, &sum, BEGINNINGS, FIRST | OVERDUE))
		taken |= BEGINNINGS;
	else if (can_be_spared(evidence, &sum) || is_too_much(evidence, &sum, ONSET, OVERDUE))
		taken |= ONSET;
	if (is_too_much(evidence, &sum, FIRST, OVERDUE | taken))
		taken |= FIRST;
	if (is_so_few(evidence, &sum))
		taken |= OVERDUE;
	for (unsigned doubt = 0; doubt < FT_LOSS_DOUBTS; doubt++)
		if (taken >> doubt & 1)
			take_out(evidence, &sum, (enum ft_loss_doubt)doubt);
	return taken;
}
