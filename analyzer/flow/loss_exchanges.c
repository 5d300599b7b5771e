/* Connections of one request each: what shows of them, and which of it is believed. */
#include <flow/loss_estimate.h>

#include <math.h>
#include <stdlib.h>

#include "loss_parts.h"
#include "tail.h"

enum {
	BLOCK = 64,           /* frames of which all places are kept, or none */
	LEAST_EXCHANGES = 30, /* that say how often a request is lost whose answer is not */
	HIDDEN_AMONG = 2,     /* answers without a request to one that is here, but hidden */
	ALIKE = 4,            /* .. and to one without an answer, where they are most */
	SOON = 4,             /* the first one in so many of the capture */
	MOST_BETWEEN = 16,    /* frames that a loss of few takes whole */
	MOST_APART = 16,      /* .. and between answers that one loss took the requests of */
	LEAST_PARTED = 2,     /* losses, to say that they take more */
	LEAST_SIDED = 2,      /* halves of which the other direction is not in view */
	SURELY = 3,           /* standard deviations */
};

static bool is_kept(const struct ft_loss_evidence *evidence, uint64_t place)
{
	return ((place >> 1) / BLOCK & ((UINT64_C(1) << evidence->place_zeros) - 1)) == 0;
}

/* Every other block of those kept so far. */
static void keep_fewer(struct ft_loss_evidence *evidence)
{
	uint32_t kept = 0;

	evidence->place_zeros++;
	for (uint32_t i = 0; i < evidence->place_count; i++)
		if (is_kept(evidence, evidence->places[i]))
			evidence->places[kept++] = evidence->places[i];
	evidence->place_count = kept;
}

static void add_place(struct ft_loss_evidence *evidence, uint64_t place)
{
	while (is_kept(evidence, place) && evidence->place_count == FT_LOSS_PLACES)
		keep_fewer(evidence);
	if (is_kept(evidence, place))
		evidence->places[evidence->place_count++] = place;
}

void ft_loss_add_places(struct ft_loss_evidence *into, const struct ft_loss_evidence *from)
{
	while (into->place_zeros < from->place_zeros)
		keep_fewer(into);
	for (uint32_t i = 0; i < from->place_count; i++)
		add_place(into, from->places[i]);
}

void ft_loss_exchange(struct ft_loss_evidence *evidence, uint64_t frame, uint64_t behind,
		      bool beside)
{
	ft_loss_bin(evidence, frame)->exchanges++;
	evidence->exchanges_beside += beside;
	evidence->exchange_frames += behind < FT_LOSS_NEAR ? behind : FT_LOSS_NEAR;
}

void ft_loss_lone(struct ft_loss_evidence *evidence, uint64_t frame, bool answers, bool beside)
{
	add_place(evidence, frame << 1 | answers);
	if (answers)
		ft_loss_miss(evidence, frame, 1, beside ? FT_LOSS_UNASKED : FT_LOSS_UNASKED_APART);
	else
		evidence->unmet_requests++;
}

/* --- believing --- */

/* Not since the beginning, which may have hidden their requests: half of them at least are behind the first quarter. */
static bool are_lost(const struct ft_loss_evidence *evidence, uint64_t unasked)
{
	uint64_t soon = 0;

	for (uint32_t i = 0; i < evidence->used / SOON; i++)
		soon += evidence->bins[i].missing[FT_LOSS_UNASKED];
	return 2 * soon <= unasked && ft_loss_losses_of(evidence, FT_LOSS_UNASKED) != 0;
}

/*
 * Longer connections lack the direction of their requests half as often at least: the mirror has some of the ways, of which packets
 * take one or the other by their ports.
 */
static bool is_of_some_ways(const struct ft_loss_evidence *evidence, uint64_t unasked)
{
	double sided = (double)evidence->sided, all = sided + (double)evidence->faced;
	double exchanges = (double)(evidence->exchanges_beside + evidence->exchanges_alike);

	return sided >= LEAST_SIDED &&
	       2 * sided * (exchanges + (double)unasked) >= (double)unasked * all;
}

/*
 * Others that went the way of the requests are in view, and these answers are no more than requests, or requests lack their answers
 * as well, as where all are lost alike; what is hidden is here.
 */
static bool are_missing(const struct ft_loss_evidence *evidence, uint64_t unasked)
{
	uint64_t beside = evidence->exchanges_beside + evidence->exchanges_alike;

	return unasked != 0 && beside >= LEAST_EXCHANGES && !is_of_some_ways(evidence, unasked) &&
	       unasked >= HIDDEN_AMONG * evidence->hidden &&
	       (unasked <= beside || unasked <= ALIKE * evidence->unmet_requests);
}

/* Where nothing else went their way requests are missing as often as elsewhere, but for chance: not by the view. */
static bool are_alike(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	double unasked = (double)sum->missing[FT_LOSS_UNASKED];
	double apart = (double)(sum->exchanges - evidence->exchanges_beside);
	double alike = apart * unasked / fmax((double)evidence->exchanges_beside, 1);

	return (double)sum->missing[FT_LOSS_UNASKED_APART] <=
	       alike + SURELY * sqrt(alike * (1 + alike / fmax(unasked, 1)));
}

/* Every request with its answer closes a space. */
static void close_spaces(struct ft_loss_evidence *evidence)
{
	for (uint32_t i = 0; i < evidence->used; i++) {
		struct ft_loss_bin *bin = &evidence->bins[i];

		bin->spaces += bin->exchanges;
		bin->silent -= bin->exchanges;
		evidence->answered += bin->exchanges;
		bin->exchanges = 0;
	}
}

static int in_order(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Of losses that take many frames, each of which begins and ends anywhere, so many standard deviations fewer are left out .. */
static const double seldom = 2.33;

/* .. where an answer is no more frames behind its request. */
static const double next_to_it = 1.5;

/* Answers lack their requests for so large a part of the time that an answer takes. */
static const double nearly = 2. / 3;

/* Lone answers, and of them those with a lone request right before them; and how many that would be by chance. */
struct parted {
	double answers, side_by_side, expected;
};

/*
 * Right before: as far as an answer is behind its request. By chance there is one among that many frames and one, for between the
 * two ends of an exchange next to each other there is none.
 */
static struct parted look_between(struct ft_loss_evidence *evidence, double frames, double between)
{
	double window = fmin(fmax(1, round(between)), MOST_BETWEEN);
	struct parted parted = { 0 };

	qsort(evidence->places, evidence->place_count, sizeof *evidence->places, in_order);
	for (uint32_t i = 0; i < evidence->place_count; i++) {
		uint64_t here = evidence->places[i], before = i == 0 ? 1 : evidence->places[i - 1];

		if ((here & 1) == 0)
			continue;
		parted.answers++;
		parted.side_by_side +=
			(before & 1) == 0 && (double)((here >> 1) - (before >> 1)) <= window;
	}
	parted.expected = parted.answers *
			  (1 - exp(-(window + 1) * (double)evidence->unmet_requests / frames));
	return parted;
}

static double frames_between(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	return (double)evidence->exchange_frames / fmax((double)sum->exchanges, 1);
}

/* Losses leave one of either side of all they took. */
static bool are_parted(struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	double frames = (double)(sum->spaces + sum->silent);
	const struct parted parted = look_between(evidence, frames, frames_between(evidence, sum));

	return parted.side_by_side >= LEAST_PARTED &&
	       parted.side_by_side > ft_tail_high(parted.expected,
						  parted.expected * (1 + parted.expected / frames));
}

/* Where exchanges follow each other, and too few lack one side to say that losses do not. */
static bool may_be_parted(struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	double between = frames_between(evidence, sum);
	const struct parted parted = look_between(evidence, 1, between);

	return between < next_to_it &&
	       parted.side_by_side >= parted.answers / 2 - seldom * sqrt(parted.answers) / 2;
}

/* The first place behind the beginning of the capture, which may have hidden requests. */
static uint32_t first_later(const struct ft_loss_evidence *evidence)
{
	uint64_t soon = (uint64_t)(evidence->used / SOON) << evidence->shift;
	uint32_t first = 0;

	while (first < evidence->place_count && evidence->places[first] >> 1 <= soon)
		first++;
	return first;
}

/* Whether the place goes on with the lone answers that end before it. */
static bool goes_on(uint64_t before, uint64_t here)
{
	return (before & here & 1) != 0 && (here >> 1) - (before >> 1) <= MOST_APART;
}

/* Lone answers in a row, frames from the first to the last: of a typical one. */
static double typical_row(const struct ft_loss_evidence *evidence)
{
	double sum = 0, squares = 0, frames = 0;

	for (uint32_t i = first_later(evidence), begin = i; i < evidence->place_count; i++) {
		bool last = i + 1 == evidence->place_count ||
			    !goes_on(evidence->places[i], evidence->places[i + 1]);

		if (!last)
			continue;
		frames = (double)((evidence->places[i] >> 1) - (evidence->places[begin] >> 1) + 1);
		frames *= (double)(evidence->places[i] & 1);
		sum += frames;
		squares += frames * frames;
		begin = i + 1;
	}
	return squares / fmax(sum, 1);
}

/*
 * Many are under way at a time, and answers lack their requests for as long as an answer takes, nearly: what such a loss took before
 * those it took whole.
 */
static bool go_on_to_answers(const struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	double between = frames_between(evidence, sum);

	return evidence->place_zeros == 0 && between > MOST_BETWEEN &&
	       typical_row(evidence) > nearly * between;
}

/* If these are, so many frames of all kinds were lost at most. */
static uint64_t most_with(const struct ft_loss_bin *sum, uint64_t unasked)
{
	double all = (double)(sum->spaces + sum->silent);
	double mean = (double)unasked * all / (double)(sum->spaces + sum->exchanges);

	return (uint64_t)ceil(ft_tail_high(mean, mean * (1 + mean / (double)unasked)));
}

/* Too few to say how often: they are halves of which the beginning is missing, among all others. */
static void make_older(struct ft_loss_evidence *evidence)
{
	for (uint32_t i = 0; i < evidence->used; i++) {
		uint64_t *missing = evidence->bins[i].missing;

		missing[FT_LOSS_OLDER] += missing[FT_LOSS_UNASKED];
		evidence->counted += missing[FT_LOSS_UNASKED];
		evidence->older_late |= missing[FT_LOSS_UNASKED] != 0;
		missing[FT_LOSS_UNASKED] = 0;
	}
}

static uint64_t make_holes(struct ft_loss_evidence *evidence, const struct ft_loss_bin *sum)
{
	uint64_t unasked = sum->missing[FT_LOSS_UNASKED];

	ft_loss_make_holes(evidence, FT_LOSS_UNASKED);
	if (are_alike(evidence, sum)) {
		unasked += sum->missing[FT_LOSS_UNASKED_APART];
		ft_loss_make_holes(evidence, FT_LOSS_UNASKED_APART);
	}
	evidence->requests_lost += unasked;
	evidence->unasked = unasked;
	return unasked;
}

uint64_t ft_loss_believe_exchanges(struct ft_loss_evidence *evidence)
{
	const struct ft_loss_bin sum = ft_loss_sum(evidence);
	uint64_t unasked = sum.missing[FT_LOSS_UNASKED];
	bool alike = evidence->exchanges_alike > sum.exchanges, parted;

	if (evidence->forgotten != 0)
		return 0;
	if (sum.exchanges + evidence->exchanges_alike < LEAST_EXCHANGES) {
		if (unasked >= HIDDEN_AMONG * evidence->hidden)
			make_older(evidence);
		return 0;
	}
	if (!alike)
		close_spaces(evidence);
	if (!are_missing(evidence, unasked))
		return 0;
	parted = are_parted(evidence, &sum);
	if (alike) {
		evidence->parted = parted;
		return 0;
	}
	if (!parted && !are_lost(evidence, unasked)) {
		evidence->uncertain += most_with(&sum, unasked);
		evidence->parted = go_on_to_answers(evidence, &sum);
		return 0;
	}
	evidence->parted = parted || may_be_parted(evidence, &sum);
	return make_holes(evidence, &sum);
}
