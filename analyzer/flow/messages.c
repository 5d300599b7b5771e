#include "messages.h"

/* What holes leave unknown of messages. */

static bool is_write(const struct ft_half *half)
{
	uint32_t length = ft_length_so_far(half);

	return length != 0 && length != FT_LENGTH_UNKNOWN && half->mtu != 0;
}

/* The PSN behind a WRITE whose First was seen. */
static uint32_t end_of_write(const struct ft_half *half)
{
	return ft_psn_add(half->message_psn, ft_packets_of(half->message_bytes, half->mtu));
}

static bool ends_before_message(const struct ft_half *half, const struct ft_span *span)
{
	return ft_psn_distance(ft_psn_add(span->from, span->count), half->message_psn) <= 0;
}

/* It may hold the end of one message and the beginning of another that is being sent. */
static bool may_part(const struct ft_half *half, const struct ft_span *hole)
{
	return (FT_SPANS_HOLES >> hole->kind & 1) != 0 && hole->count >= 2 &&
	       !ends_before_message(half, hole);
}

uint32_t ft_length_amid_holes(const struct ft_tracker *tracker, const struct ft_half *half,
			      uint32_t last)
{
	bool is_sorted = ft_spans_are_sorted(half);
	uint32_t number = half->spans;

	if (is_write(half))
		return end_of_write(half) == ft_psn_add(last, 1) ? half->message_bytes
								 : FT_LENGTH_UNKNOWN;
	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span;

		number = ft_span_at(&tracker->spans, number)->prev;
		span = ft_span_at(&tracker->spans, number);
		if (may_part(half, span))
			return FT_LENGTH_UNKNOWN;
		if (is_sorted && ends_before_message(half, span))
			break;
	}
	return ft_length_so_far(half);
}

void ft_forget_hole(struct ft_half *half, const struct ft_span *hole)
{
	uint32_t end = ft_psn_add(hole->from, hole->count);

	if (half->message_psn == FT_PSN_NONE || (half->flags & FT_HALF_SPAN_UNKNOWN) != 0 ||
	    !may_part(half, hole))
		return;
	if (is_write(half) && ft_psn_distance(end_of_write(half), end) > 0)
		return;
	half->flags |= FT_HALF_IN_MESSAGE;
	half->message_bytes = FT_LENGTH_UNKNOWN;
}
