/* Which frames that are missing within sequences, or as answers, are believed to be lost by the mirror. */
#include <flow/loss_estimate.h>

#include <math.h>
#include <string.h>

#include "loss_parts.h"
#include "tail.h"

enum {
	LEAST_SPACES = 1024, /* to spare some */
	LONG_MISSING = 2,    /* frames that some are missing since .. */
	EVENTS_MISSING = 3,  /* .. and losses of such, that are more than an accident */
	LEAST_HOLES = 10,    /* of reliable connections, to judge others by */
	MOST_ALIKE = 2,      /* times as often .. */
	SURELY = 3,          /* .. and so many standard deviations */
	LEAST_HOLLOW = 10,   /* messages without a Middle, to say that all are .. */
	WHOLE_AMONG = 64,    /* .. but for one in so many */
	JOINED_TO_APART = 4, /* READs that follow at once to one that does not, of those alone */
};

double ft_loss_events(double frames, uint64_t squares)
{
	return frames <= 0 ? 0 : fmax(1, frames * frames / fmax(1, (double)squares));
}

bool ft_loss_is_far_more(double count, double mean, double spread)
{
	return mean <= 0 ? count > 0
			 : count > FT_LOSS_FAR_MORE * mean &&
				   count > ft_tail_high(mean, mean * (1 + spread));
}

double ft_loss_trouble(const struct ft_loss_evidence *evidence)
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

uint64_t ft_loss_all_missing(const struct ft_loss_evidence *evidence, enum ft_loss_missing what)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < evidence->used; i++)
		count += evidence->bins[i].missing[what];
	return count;
}

double ft_loss_losses_of(const struct ft_loss_evidence *evidence, enum ft_loss_missing what)
{
	double lost = ft_loss_events((double)ft_loss_all_missing(evidence, what),
				     evidence->missing_squares[what]);

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
	uint64_t missing = ft_loss_all_missing(evidence, what);

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
	const struct ft_loss_filtered due = {
		evidence->middles_unanswered, ft_loss_all_missing(evidence, FT_LOSS_MIDDLES_OVERDUE)
	};
	uint64_t lost = ft_loss_all_missing(evidence, FT_LOSS_MIDDLES);

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

	if (!ft_loss_is_far_more(ft_loss_losses_of(evidence, FT_LOSS_RESPONSES),
				 ft_loss_trouble(evidence), 1))
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

bool ft_loss_is_untroubled(const struct ft_loss_evidence *evidence)
{
	uint64_t again = 0;

	for (uint32_t i = 0; i < evidence->used; i++)
		again += evidence->bins[i].again;
	return again == 0 && ft_loss_trouble(evidence) == 0;
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

	if (sum.holes == 0 || !are_responses_alone(evidence, &sum) ||
	    !ft_loss_is_untroubled(evidence))
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

	if (ft_loss_losses_of(evidence, FT_LOSS_REQUESTS) == 0 || !ft_loss_is_untroubled(evidence))
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

	if (!ft_loss_is_untroubled(evidence) || !is_lost_alike(evidence))
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
