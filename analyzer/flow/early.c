#include "tracker_parts.h"

/* What may have begun before the capture did. */

static uint32_t missing_early(const struct ft_tracker *tracker, const struct ft_half *half)
{
	uint32_t number = half->spans, missing = 0;

	for (unsigned left = half->span_count; left != 0; left--) {
		const struct ft_span *span = ft_span_at(&tracker->spans, number);

		if (span->early != FT_LATER && (FT_SPANS_HOLES >> span->kind & 1) != 0)
			missing += span->count;
		number = span->next;
	}
	return missing;
}

/* A hole moves the half on by what is missing, so that it does not become young again: what is open is looked at until then. */
static bool is_grown(const struct ft_tracker *tracker, struct ft_half *half, uint32_t passed)
{
	if (half->spans == 0 || (half->span_traits & FT_SPANS_GROWN) != 0)
		return true;
	if (passed < FT_EARLY_PSNS + missing_early(tracker, half))
		return false;
	ft_spans_note(half, FT_SPANS_GROWN);
	return true;
}

bool ft_is_young(const struct ft_tracker *tracker, struct ft_half *half)
{
	uint32_t passed;

	if (half->next_psn == FT_PSN_NONE || half->first_psn >= FT_REFUSED_OFTEN)
		return half->first_psn == FT_PSN_NONE;
	if (half->flags & FT_HALF_NAKED)
		return true;
	passed = ft_psn_since(half->next_psn, half->first_psn & FT_PSN_MOST);
	return passed < FT_EARLY_PSNS || !is_grown(tracker, half, passed);
}

uint8_t ft_how_early(const struct ft_tracker *tracker, struct ft_flow *flow)
{
	if ((flow->half.flags & FT_HALF_START_SEEN) != 0)
		return FT_LATER;
	if (flow->packets <= FT_ONSET_PACKETS)
		return FT_AT_ONSET;
	return flow->packets < FT_EARLY_PACKETS || ft_is_young(tracker, &flow->half) ? FT_EARLY
										     : FT_LATER;
}
