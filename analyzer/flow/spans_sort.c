#include "spans.h"

#include "psn.h"

/*
 * A long ring is searched by its order. A long hole that was put first has broken that: where many packets are on their way,
 * the ring never is empty again, and would stay out of order.
 */

enum {
	MOST_STEPS = 8,   /* of each span, on average: no ring is nearly in order that takes more */
	TRIED_EVERY = 64, /* of as many spans and no others */
};

static bool is_behind(const struct ft_span *span, const struct ft_span *before)
{
	return ft_psn_is_soon_after(span->from, before->from) &&
	       !ft_psn_within(span->from, before->from, before->count);
}

static void unlink_span(const struct ft_spans *spans, const struct ft_span *span)
{
	ft_span_at(spans, span->prev)->next = span->next;
	ft_span_at(spans, span->next)->prev = span->prev;
}

static void link_before(const struct ft_spans *spans, uint32_t number, uint32_t behind)
{
	struct ft_span *span = ft_span_at(spans, number), *right = ft_span_at(spans, behind);

	span->next = behind;
	span->prev = right->prev;
	ft_span_at(spans, right->prev)->next = number;
	right->prev = number;
}

/* The first of those up to `last` that begins behind the PSN; 0: none does. Takes as many steps as lie between, if `steps` are left. */
static uint32_t first_behind(const struct ft_spans *spans, const struct ft_half *half,
			     uint32_t last, uint32_t psn, unsigned *steps)
{
	uint32_t found = 0;

	for (uint32_t number = last; *steps != 0; number = ft_span_at(spans, number)->prev) {
		if (ft_psn_distance(ft_span_at(spans, number)->from, psn) <= 0)
			return found;
		found = number;
		--*steps;
		if (number == half->spans)
			return found;
	}
	return found;
}

static bool is_sorted(const struct ft_spans *spans, const struct ft_half *half)
{
	uint32_t number = half->spans;

	for (unsigned left = half->span_count; left > 1; left--) {
		const struct ft_span *span = ft_span_at(spans, number);

		number = span->next;
		if (!is_behind(ft_span_at(spans, number), span))
			return false;
	}
	return true;
}

/* By insertion: each goes before those before it that begin behind it. */
static void sort(const struct ft_spans *spans, struct ft_half *half)
{
	unsigned steps = MOST_STEPS * half->span_count;
	uint32_t last = half->spans;

	for (unsigned left = half->span_count; left > 1 && steps != 0; left--) {
		uint32_t number = ft_span_at(spans, last)->next;
		struct ft_span *span = ft_span_at(spans, number);
		uint32_t behind = first_behind(spans, half, last, span->from, &steps);

		if (behind == 0) {
			last = number;
			continue;
		}
		unlink_span(spans, span);
		link_before(spans, number, behind);
		if (behind == half->spans)
			half->spans = number & FT_SPANS_MOST;
	}
	ft_spans_look_again(spans, half);
}

/* Two kinds stand where they stand, whatever their PSNs. */
static bool may_be_sorted(const struct ft_spans *spans, const struct ft_half *half)
{
	const struct ft_span *first = ft_span_at(spans, half->spans);

	return first->kind != FT_SPAN_FORMER &&
	       ft_span_at(spans, first->prev)->kind != FT_SPAN_AHEAD;
}

bool ft_spans_still_full(const struct ft_spans *spans, struct ft_half *half)
{
	if (half->span_count < FT_SPANS_FEW)
		return false;
	if (!ft_spans_are_sorted(half) &&
	    half->span_count % TRIED_EVERY == FT_SPANS_FEW % TRIED_EVERY &&
	    may_be_sorted(spans, half)) {
		sort(spans, half);
		if (is_sorted(spans, half))
			half->span_traits &= ~(uint32_t)FT_SPANS_UNSORTED & FT_SPANS_TRAITS;
	}
	return half->span_count == FT_SPANS_PER_HALF || !ft_spans_are_sorted(half) ||
	       spans->held > spans->capacity / 2;
}
