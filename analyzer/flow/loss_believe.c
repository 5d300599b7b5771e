/* Which of what is missing is believed to be lost by the mirror, and which of what seems lost is not. */
#include "loss_parts.h"

#include <math.h>
#include <string.h>

#include "tail.h"

enum {
	LEAST_ELSEWHERE = 4,
	MOST_EXPECTED = 4,
	LEAST_OVERDUE = 2,
	FEW_LOST = 50,       /* one in so many */
	LEAST_SPACES = 1024, /* to spare some */
	FEW_SPACES = 4096,   /* a capture of fewer may well be of nothing but beginnings */
	ON_THEIR_WAY = 64,   /* responses to a requester that is still to find out what it lacks */
	LONG_MISSING = 2,    /* frames that some are missing since .. */
	EVENTS_MISSING = 3,  /* .. and losses of such, that are more than an accident */
	LEAST_HOLES = 10,    /* of reliable connections, to judge others by */
	MOST_ALIKE = 2,      /* times as often .. */
	SURELY = 3,          /* .. and so many standard deviations */
	LEAST_HOLLOW = 10,   /* messages without a Middle, to say that all are .. */
	WHOLE_AMONG = 64,    /* .. but for one in so many */
	JOINED_TO_APART = 4, /* READs that follow at once to one that does not, of those alone */
	LEAST_MET = 30,      /* halves, to say that most begin in view .. */
	MET_TO_UNSEEN = 4,   /* .. to one that does not */
	SOON = 4,            /* the first one in so many of the capture */
	LEAST_LATER = 2,     /* halves behind that, to tell the others from older ones */
};

enum {
	FIRST = 1u << FT_LOSS_FIRST,
	EARLY = 1u << FT_LOSS_EARLY,
	ONSET = 1u << FT_LOSS_ONSET,
	OVERDUE = 1u << FT_LOSS_OVERDUE,
	BEGINNINGS = EARLY | ONSET,
};

/* More by so many standard deviations come by chance. */
static const double by_chance = 2.33;

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

/* Losses there must have been for so many frames, if each took as many as they typically do. */
static double events(double frames, uint64_t squares)
{
	return frames <= 0 ? 0 : fmax(1, frames * frames / fmax(1, (double)squares));
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
	found.events = events(found.count, squares);
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
	found.events = events(found.count, squares);
	return found;
}

/* Whether so many are far more than `mean` lets expect: four times, and not by chance but once in 200. */
static bool is_far_more(double count, double mean, double spread)
{
	return mean <= 0 ? count > 0
			 : count > MOST_EXPECTED * mean &&
				   count > ft_tail_high(mean, mean * (1 + spread));
}

/* How often packets were wanted again, out of order, or lost by the fabric. What was sent again says nothing of how often. */
static double trouble(const struct ft_loss_evidence *evidence)
{
	return (double)evidence->fabric + (double)evidence->late + (double)evidence->refused;
}

/* Bins of the first half of the capture since which some are missing. */
static unsigned long_missing(const struct ft_loss_evidence *evidence, enum ft_loss_missing what)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < evidence->used / 2; i++)
		count += evidence->bins[i].missing[what] != 0;
	return count;
}

static uint64_t all_missing(const struct ft_loss_evidence *evidence, enum ft_loss_missing what)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < evidence->used; i++)
		count += evidence->bins[i].missing[what];
	return count;
}

double ft_loss_losses_of(const struct ft_loss_evidence *evidence, enum ft_loss_missing what)
{
	double lost = events((double)all_missing(evidence, what), evidence->missing_squares[what]);

	return long_missing(evidence, what) < LONG_MISSING || lost < EVENTS_MISSING ? 0 : lost;
}

void ft_loss_make_holes(struct ft_loss_evidence *evidence, enum ft_loss_missing what)
{
	for (uint32_t i = 0; i < evidence->used; i++) {
		evidence->bins[i].holes += evidence->bins[i].missing[what];
		evidence->bins[i].missing[what] = 0;
	}
	evidence->squares = ft_loss_add_up(evidence->squares, evidence->missing_squares[what]);
	evidence->missing_squares[what] = 0;
}

/* Likewise, and were. Returns how many. */
static uint64_t believe(struct ft_loss_evidence *evidence, enum ft_loss_missing what)
{
	uint64_t missing = all_missing(evidence, what);

	ft_loss_make_holes(evidence, what);
	evidence->uncertain -= missing;
	return missing;
}

static void take_middles(struct ft_loss_bin *bin)
{
	bin->holes -= bin->missing[FT_LOSS_MIDDLES];
	bin->missing[FT_LOSS_REQUESTS] -= bin->missing[FT_LOSS_MIDDLES_OPEN];
	bin->missing[FT_LOSS_RESPONSES] -= bin->missing[FT_LOSS_MIDDLES_OVERDUE];
	for (unsigned i = FT_LOSS_MIDDLES; i <= FT_LOSS_MIDDLES_OVERDUE; i++)
		bin->missing[i] = 0;
	memset(bin->doubted, 0, sizeof bin->doubted);
}

struct ft_loss_filtered ft_loss_believe_filter(struct ft_loss_evidence *evidence)
{
	const struct ft_loss_filtered due = { evidence->middles_unanswered,
					      all_missing(evidence, FT_LOSS_MIDDLES_OVERDUE) };
	uint64_t lost = all_missing(evidence, FT_LOSS_MIDDLES);

	if (evidence->hollow < LEAST_HOLLOW || evidence->torn > evidence->hollow / WHOLE_AMONG)
		return (struct ft_loss_filtered){ 0 };
	for (uint32_t i = 0; i < evidence->used; i++)
		take_middles(&evidence->bins[i]);
	memset(evidence->doubted_squares, 0, sizeof evidence->doubted_squares);
	memset(evidence->doubted_answers, 0, sizeof evidence->doubted_answers);
	evidence->squares = evidence->shown_squares;
	evidence->missing_squares[FT_LOSS_REQUESTS] = evidence->shown_open_squares;
	evidence->missing_squares[FT_LOSS_RESPONSES] = evidence->shown_overdue_squares;
	evidence->answers_lost -= evidence->middles_answers;
	evidence->requests_lost -= lost - evidence->middles_answers;
	evidence->unanswered -= due.requests;
	evidence->overdue -= due.answers;
	evidence->uncertain -= due.requests + due.answers;
	evidence->runs = evidence->run_psns = 0; /* how long a filter makes holes says nothing */
	evidence->filtered = lost + due.requests + due.answers;
	return due;
}

uint64_t ft_loss_believe_overdue(struct ft_loss_evidence *evidence)
{
	uint64_t overdue;

	if (!is_far_more(ft_loss_losses_of(evidence, FT_LOSS_RESPONSES), trouble(evidence), 1))
		return 0;
	overdue = believe(evidence, FT_LOSS_RESPONSES);
	for (unsigned i = 0; i <= FT_LOSS_VAGUE; i++) {
		evidence->skips[i] += evidence->missing_skips[i];
		evidence->missing_skips[i] = 0;
	}
	evidence->answers_lost += overdue;
	evidence->overdue -= overdue;
	return overdue;
}

/* Nothing was sent again, wanted again or out of order. */
static bool is_untroubled(const struct ft_loss_evidence *evidence)
{
	uint64_t again = 0;

	for (uint32_t i = 0; i < evidence->used; i++)
		again += evidence->bins[i].again;
	return again == 0 && trouble(evidence) == 0;
}

/* Of each connection responses are all there is, as far as is seen: who writes, too, gets acknowledgements, and leaves PSNs. */
static bool are_responses_alone(const struct ft_loss_evidence *evidence,
				const struct ft_loss_bin *sum)
{
	return sum->spaces == evidence->answers_seen && sum->silent == evidence->replies &&
	       evidence->acks == 0 && evidence->apart * JOINED_TO_APART <= evidence->joined;
}

uint64_t ft_loss_believe_between(struct ft_loss_evidence *evidence)
{
	const struct ft_loss_bin sum = ft_loss_sum(evidence);
	uint64_t between = sum.missing[FT_LOSS_BETWEEN];

	if (sum.holes == 0 || !are_responses_alone(evidence, &sum) || !is_untroubled(evidence))
		return 0;
	ft_loss_make_holes(evidence, FT_LOSS_BETWEEN);
	for (uint32_t i = 0; i < evidence->used; i++) {
		struct ft_loss_bin *bin = &evidence->bins[i];

		bin->spaces += bin->silent;
		bin->silent = 0;
	}
	evidence->answers_seen += evidence->replies;
	evidence->replies = 0;
	evidence->answers_lost += between;
	evidence->ends += 2 * evidence->answering;
	return between;
}

/* Of those believed, holes in which READs may lie: all their PSNs were uncertain, not the packets alone. */
static void believe_vague(struct ft_loss_evidence *evidence)
{
	for (unsigned i = 0; i <= FT_LOSS_VAGUE; i++) {
		evidence->vague[i] += evidence->missing_vague[i];
		evidence->uncertain -= i * evidence->missing_vague[i];
		evidence->missing_vague[i] = 0;
	}
	evidence->uncertain += evidence->missing_counted;
	evidence->vague_counted += evidence->missing_counted;
	evidence->missing_counted = 0;
}

uint64_t ft_loss_believe_unanswered(struct ft_loss_evidence *evidence)
{
	uint64_t unanswered;

	if (ft_loss_losses_of(evidence, FT_LOSS_REQUESTS) == 0 || !is_untroubled(evidence))
		return 0;
	unanswered = believe(evidence, FT_LOSS_REQUESTS);
	believe_vague(evidence);
	evidence->requests_lost += unanswered;
	evidence->unanswered -= unanswered;
	return unanswered;
}

/* Whether no more is missing of unreliable connections than the mirror loses of others, but for chance. */
static bool is_lost_alike(const struct ft_loss_evidence *evidence)
{
	const struct ft_loss_bin sum = ft_loss_sum(evidence);
	double lost = ft_loss_losses_of(evidence, FT_LOSS_UNRELIABLE);
	double alike = (double)sum.holes / fmax((double)sum.spaces, 1) * (double)sum.unreliable;

	return lost != 0 && sum.holes >= LEAST_HOLES && sum.spaces >= LEAST_SPACES &&
	       (double)sum.missing[FT_LOSS_UNRELIABLE] <=
		       MOST_ALIKE * alike + SURELY * sqrt(alike * (alike + lost) / lost);
}

uint64_t ft_loss_believe_unreliable(struct ft_loss_evidence *evidence)
{
	uint64_t missing;

	if (!is_untroubled(evidence) || !is_lost_alike(evidence))
		return 0;
	missing = believe(evidence, FT_LOSS_UNRELIABLE);
	evidence->requests_lost += missing;
	for (uint32_t i = 0; i < evidence->used; i++) {
		struct ft_loss_bin *bin = &evidence->bins[i];

		bin->silent -= bin->unreliable;
		bin->spaces += bin->unreliable;
		bin->unreliable = 0;
	}
	return missing;
}

/* So many of the first quarter are no more than chance makes of as many in any, by two standard deviations and a third. */
static bool are_spread(double all, double soon)
{
	return all - soon >= LEAST_LATER &&
	       soon <= all / SOON + by_chance * sqrt(all * (SOON - 1)) / SOON;
}

/*
 * How many of the halves met had begun unseen; 0 unless most begin in view, and half of the others at least behind the first
 * quarter, or as many as chance has there. What is older than the capture is met soon after its beginning, or nearly all is: queue
 * pairs that take turns are in the midst of a message then.
 */
static uint64_t begun_unseen(const struct ft_loss_evidence *evidence, enum ft_loss_missing kind,
			     uint64_t met)
{
	uint64_t all = all_missing(evidence, kind), soon = 0;

	for (uint32_t i = 0; i < evidence->used / SOON; i++)
		soon += evidence->bins[i].missing[kind];
	if (met < LEAST_MET || MET_TO_UNSEEN * all > met)
		return 0;
	return 2 * soon <= all || are_spread((double)all, (double)soon) ? all : 0;
}

uint64_t ft_loss_believe_cut(struct ft_loss_evidence *evidence)
{
	if (evidence->forgotten != 0 || !is_untroubled(evidence))
		return 0;
	evidence->cut = begun_unseen(evidence, FT_LOSS_CUT, evidence->opened);
	evidence->older = begun_unseen(evidence, FT_LOSS_OLDER, evidence->counted);
	return evidence->cut + evidence->older;
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
	    (spaces >= FEW_SPACES || trouble(evidence) < MOST_EXPECTED * doubted.events))
		return false;
	return elsewhere.count <= 0 ||
	       is_far_more(doubted.events, (elsewhere.events + 1) * share, share);
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
	       trouble(evidence) >= MOST_EXPECTED * holes_of(evidence, sum, ONSET).events;
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
	double waiting = fmin(events(doubted, evidence->doubted_squares[FT_LOSS_OVERDUE]),
			      (double)evidence->waiting);
	double fabric = lost_by_fabric(evidence, sum), twice = 2 * fabric * fabric / spaces;
	double most = LEAST_OVERDUE + MOST_EXPECTED * twice;

	if (doubted == 0 || (MOST_EXPECTED * others.count * share > twice &&
			     !is_far_more(waiting, others.events * share, share)))
		return false;
	return waiting <= most &&
	       doubted <= most * (1 + MOST_EXPECTED * ON_THEIR_WAY * fabric / spaces);
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

	if (trouble(evidence) + (double)sum.again == 0 || evidence->filtered != 0)
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
