#include "outcome.h"

#include <decode/extremes.h>

/*
 * A switch that mirrors by opcode leaves out what is in the midst of messages: of each one First and Last pass, and no Middle
 * is ever next to a hole. What the others of a hole are then.
 */

enum {
	HOLLOW = 2, /* packets: fewer may be missing by chance */
	MANY = 16,
	MANY_COUNT = 5, /* for so many messages */
	FEW = 16        /* messages of one packet, in a row; more packets are one message */
};

/* Right behind the First of a message. */
static bool is_behind_first(const struct ft_span *span)
{
	return span->from == ft_psn_add(span->begin, 1);
}

/* A Last is behind it, of the same message or of another one. */
static bool is_before_last(const struct ft_span *span)
{
	return span->ends && !span->begins;
}

static bool is_hole(const struct ft_span *span)
{
	return span->kind == FT_SPAN_HOLE || span->kind == FT_SPAN_GUESSED;
}

unsigned ft_hollow(uint32_t missing)
{
	if (missing < HOLLOW)
		return 0;
	return missing < MANY ? 1 : MANY_COUNT;
}

static bool is_hollow(const struct ft_span *span)
{
	return span->kind == FT_SPAN_HOLE && is_behind_first(span) && is_before_last(span);
}

/* A Middle is next to it. */
static bool is_torn(const struct ft_span *span)
{
	bool amid = span->from != span->begin && !is_behind_first(span);

	if (span->kind == FT_SPAN_HOLE)
		return !span->begins && (!span->ends || amid);
	return ft_span_is_answer(span) && (amid || (span->kind == FT_SPAN_SKIPPED && !span->ends));
}

/* Packets of `count` missing that are no Middles. */
static uint32_t others_of(const struct ft_span *span, uint32_t count)
{
	bool amid = span->from != span->begin;

	if (ft_span_is_answer(span))
		return amid ? 0 : 1;
	if (!is_hole(span))
		return count <= FEW ? count : 1;
	if (amid && is_before_last(span))
		return 0;
	if (amid || is_before_last(span))
		return 1;
	return count <= FEW ? count : 2;
}

void ft_tell_middles(struct ft_loss_evidence *evidence, const struct ft_span *span,
		     const struct ft_span_outcome *outcome)
{
	uint32_t count = outcome->lost + outcome->pending;
	uint32_t middles = count - ft_smaller(count, others_of(span, count));
	uint32_t lost = ft_smaller(middles, outcome->lost);
	bool answers = ft_span_is_answer(span);

	evidence->hollow += is_hollow(span) ? ft_hollow(span->count) : 0;
	evidence->torn += is_torn(span);
	ft_loss_middles(evidence, span->frame,
			&(struct ft_loss_run){
				.lost = outcome->lost,
				.open = outcome->pending,
				.lost_middles = lost,
				.open_middles = middles - lost,
				.answers = answers,
				.missing = !answers && outcome->missing && outcome->pending != 0,
			});
}
