#include "outcome.h"

/*
 * A hole that is filled from its beginning: who goes back has yet to come to what is behind that, as has the slower of two mirror
 * ports; and a request that somebody forged far ahead shows nothing of what is missing before it.
 */

/* Packets in a row came where it begins, and nobody has answered for what is there now. */
static bool is_filling(const struct ft_half *half, const struct ft_span *span)
{
	return (FT_SPANS_HOLES >> span->kind & 1) != 0 && span->filled == FT_SPAN_FILLING &&
	       !ft_is_acked(half, span->from);
}

uint32_t ft_filled_from(const struct ft_tracker *tracker, const struct ft_half *half)
{
	uint32_t number = half->spans, from = FT_PSN_NONE;

	if (!half->filling)
		return FT_PSN_NONE;
	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);

		if (is_filling(half, span) &&
		    (from == FT_PSN_NONE || ft_psn_distance(from, span->from) > 0))
			from = span->from;
		number = span->next;
	}
	return from;
}

bool ft_is_to_come(const struct ft_half *half, const struct ft_span *span, uint32_t filled_from)
{
	if ((FT_SPANS_HOLES >> span->kind & 1) == 0)
		return false;
	return is_filling(half, span) ||
	       (filled_from != FT_PSN_NONE && ft_psn_distance(span->from, filled_from) >= 0);
}
