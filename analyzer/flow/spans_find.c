#include "spans.h"

#include "psn.h"

#include <flow/hash.h>

/*
 * Where in a ring a PSN is. A sorted one is walked from whichever end is nearer or, if it is long, from a span met near by
 * before: where packets take ways of many lengths a ring has thousands, and each late packet is looked for.
 */

enum {
	LONG_RING = 32,
	HINT_PSNS = 64,                  /* that share a hint */
	NEAR_HINT = 2 * HINT_PSNS,       /* PSNs on either side of what was met there */
	FARTHEST_HINT = 512 * HINT_PSNS, /* farther away as many spans lie between as from an end */
};

static uint32_t *hint_at(const struct ft_spans *spans, uint32_t ring, uint32_t psn)
{
	uint64_t place = (uint64_t)ring << 32 | (psn & FT_PSN_MOST) / HINT_PSNS;

	return &spans->hints[ft_mix(place, 0x9e3779b97f4a7c15u) % FT_SPANS_HINTS];
}

void ft_spans_hint(const struct ft_spans *spans, const struct ft_half *half, uint32_t psn,
		   uint32_t number)
{
	if (half->span_count >= LONG_RING)
		*hint_at(spans, ft_span_at(spans, number)->ring, psn) = number;
}

/* Of a range in PSN space. */
static bool begins_ahead(const struct ft_span *span, uint32_t psn)
{
	return ft_psn_distance(span->from, psn) > 0;
}

/* Farther from the first than from the last. */
static bool is_behind(const struct ft_spans *spans, const struct ft_half *half, uint32_t psn)
{
	const struct ft_span *first = ft_span_at(spans, half->spans);
	const struct ft_span *last = ft_span_at(spans, first->prev);

	return ft_psn_distance(psn, first->from) > ft_psn_distance(last->from, psn);
}

/* What was met there may have gone since, and be another range of the ring, anywhere. */
static bool is_near(const struct ft_span *span, uint32_t psn)
{
	return ft_psn_within(psn, ft_psn_back(span->from, NEAR_HINT), span->count + 2 * NEAR_HINT);
}

/* One of the ring that was met there; 0: none is known. */
static uint32_t hinted(const struct ft_spans *spans, uint32_t ring, uint32_t psn)
{
	uint32_t number = *hint_at(spans, ring, psn);
	const struct ft_span *span;

	if (number == 0)
		return 0;
	span = ft_span_at(spans, number);
	return span->ring == ring && is_near(span, psn) ? number : 0;
}

/* Of the ring, one near the PSN if any is known, else its first or last. */
static uint32_t begin_near(const struct ft_spans *spans, const struct ft_half *half, uint32_t psn)
{
	const struct ft_span *first = ft_span_at(spans, half->spans);
	uint32_t found = half->span_count < LONG_RING ? 0 : hinted(spans, first->ring, psn);

	for (uint32_t away = HINT_PSNS;
	     found == 0 && half->span_count >= LONG_RING && away <= FARTHEST_HINT; away *= 2) {
		found = hinted(spans, first->ring, psn - away);
		if (found == 0)
			found = hinted(spans, first->ring, psn + away);
	}
	if (found != 0)
		return found;
	return is_behind(spans, half, psn) ? first->prev : half->spans;
}

uint32_t ft_spans_upto(const struct ft_spans *spans, const struct ft_half *half, uint32_t psn)
{
	uint32_t number;

	if (half->spans == 0 || begins_ahead(ft_span_at(spans, half->spans), psn))
		return 0;
	number = begin_near(spans, half, psn);
	while (number != half->spans && begins_ahead(ft_span_at(spans, number), psn))
		number = ft_span_at(spans, number)->prev;
	for (unsigned left = half->span_count; left != 0; left--) {
		uint32_t next = ft_span_at(spans, number)->next;

		if (next == half->spans || begins_ahead(ft_span_at(spans, next), psn))
			break;
		number = next;
	}
	ft_spans_hint(spans, half, psn, number);
	return number;
}

static bool holds(const struct ft_span *span, uint32_t psn, uint32_t kinds)
{
	return (kinds >> span->kind & 1) != 0 && ft_psn_within(psn, span->from, span->count);
}

/* In a sorted ring no two hold the same. */
static uint32_t find_sorted(const struct ft_spans *spans, const struct ft_half *half, uint32_t psn,
			    uint32_t kinds)
{
	uint32_t number = ft_spans_upto(spans, half, psn);

	return number != 0 && holds(ft_span_at(spans, number), psn, kinds) ? number : 0;
}

uint32_t ft_spans_find_newest(const struct ft_spans *spans, const struct ft_half *half,
			      uint32_t psn, uint32_t kinds)
{
	uint32_t number = half->spans;

	if ((half->span_traits & kinds) == 0)
		return 0;
	if (ft_spans_are_sorted(half))
		return find_sorted(spans, half, psn, kinds);
	for (unsigned i = 0; i < half->span_count; i++) {
		number = ft_span_at(spans, number)->prev;
		if (holds(ft_span_at(spans, number), psn, kinds))
			return number;
	}
	return 0;
}

uint32_t ft_spans_find(const struct ft_spans *spans, const struct ft_half *half, uint32_t psn,
		       uint32_t kinds)
{
	uint32_t number = half->spans;

	if ((half->span_traits & kinds) == 0)
		return 0;
	if (ft_spans_are_sorted(half))
		return find_sorted(spans, half, psn, kinds);
	for (unsigned i = 0; i < half->span_count; i++) {
		if (holds(ft_span_at(spans, number), psn, kinds))
			return number;
		number = ft_span_at(spans, number)->next;
	}
	return 0;
}
