#include "spans.h"

#include "psn.h"

#include <errno.h>
#include <stddef.h>

#include <flow/reserve.h>

int ft_spans_create(struct ft_spans *spans, uint32_t capacity)
{
	void *nodes = ft_reserve(capacity * sizeof *spans->nodes);
	void *hints = ft_reserve(FT_SPANS_HINTS * sizeof *spans->hints);

	*spans = (struct ft_spans){ .nodes = nodes, .hints = hints, .capacity = capacity };
	if (nodes != NULL && hints != NULL)
		return 0;
	ft_spans_destroy(spans);
	return -ENOMEM;
}

void ft_spans_destroy(struct ft_spans *spans)
{
	ft_release(spans->hints, FT_SPANS_HINTS * sizeof *spans->hints);
	ft_release(spans->nodes, spans->capacity * sizeof *spans->nodes);
}

/* What its ring may have in it from now on, behind `before`. */
static void add_traits(struct ft_half *half, const struct ft_span *before,
		       const struct ft_span *span)
{
	ft_spans_note(half, 1u << span->kind);
	if (before != NULL && (!ft_psn_is_soon_after(span->from, before->from) ||
			       ft_psn_within(span->from, before->from, before->count)))
		ft_spans_note(half, FT_SPANS_UNSORTED);
}

static uint32_t take_node(struct ft_spans *spans, const struct ft_half *half)
{
	uint32_t number = spans->free;

	if (half->span_count == FT_SPANS_PER_HALF)
		return 0;
	if (number != 0)
		spans->free = ft_span_at(spans, number)->next;
	else if (spans->used < spans->capacity)
		number = ++spans->used;
	spans->held += number != 0;
	return number;
}

static void link_behind(struct ft_spans *spans, uint32_t before, uint32_t number)
{
	struct ft_span *span = ft_span_at(spans, number);
	struct ft_span *left = ft_span_at(spans, before);

	span->prev = before;
	span->next = left->next;
	ft_span_at(spans, left->next)->prev = number;
	left->next = number;
}

static uint32_t insert(struct ft_spans *spans, struct ft_half *half, uint32_t number,
		       const struct ft_span *span)
{
	uint32_t made = take_node(spans, half);

	if (made == 0)
		return 0;
	*ft_span_at(spans, made) = *span;
	ft_span_at(spans, made)->ring = ft_span_at(spans, number)->ring;
	add_traits(half, ft_span_at(spans, number), span);
	link_behind(spans, number, made);
	half->span_count = (half->span_count + 1) & FT_SPANS_PER_HALF;
	ft_spans_hint(spans, half, span->from, made);
	if (ft_psn_covers(half->acked, span->from, span->count))
		ft_spans_look_again(spans, half);
	return made;
}

uint32_t ft_spans_insert(struct ft_spans *spans, struct ft_half *half, uint32_t number,
			 const struct ft_span *span)
{
	ft_spans_note(half, FT_SPANS_UNSORTED);
	return insert(spans, half, number, span);
}

uint32_t ft_spans_append(struct ft_spans *spans, struct ft_half *half, const struct ft_span *span)
{
	uint32_t made;

	if (half->spans != 0)
		return insert(spans, half, ft_span_at(spans, half->spans)->prev, span);
	made = take_node(spans, half);
	if (made == 0)
		return 0;
	*ft_span_at(spans, made) = *span;
	spans->rings += spans->rings == UINT32_MAX ? 2 : 1;
	ft_span_at(spans, made)->ring = spans->rings;
	ft_span_at(spans, made)->looked_for = 0;
	ft_span_at(spans, made)->next = ft_span_at(spans, made)->prev = made;
	half->spans = made & FT_SPANS_MOST;
	half->span_count = 1;
	half->span_traits = half->filling = 0;
	add_traits(half, NULL, span);
	return made;
}

/* The next of the first. */
static void begin_with_next(struct ft_spans *spans, struct ft_half *half)
{
	const struct ft_span *first = ft_span_at(spans, half->spans);

	ft_span_at(spans, first->next)->looked_for = first->looked_for;
	half->spans = first->next & FT_SPANS_MOST;
}

void ft_spans_remove(struct ft_spans *spans, struct ft_half *half, uint32_t number)
{
	struct ft_span *span = ft_span_at(spans, number);
	uint32_t beside = half->spans == number ? span->next : span->prev;

	if (span->next == number)
		half->spans = half->span_traits = 0;
	else if (half->spans == number)
		begin_with_next(spans, half);
	ft_span_at(spans, span->prev)->next = span->next;
	ft_span_at(spans, span->next)->prev = span->prev;
	half->span_count = (half->span_count - 1u) & FT_SPANS_PER_HALF;
	ft_spans_hint(spans, half, span->from, beside);
	span->ring = 0;
	span->next = spans->free;
	spans->free = number;
	spans->held--;
}

/* Another packet came where the hole begins, or what is left of it now. */
static void fill(const struct ft_spans *spans, struct ft_half *half, struct ft_span *hole)
{
	uint32_t number = half->spans;

	if (hole->filled == FT_SPAN_FILLING || (FT_SPANS_HOLES >> hole->kind & 1) == 0)
		return;
	hole->filled++;
	half->filling |= hole->filled == FT_SPAN_FILLING;
	for (unsigned left = hole->filled == FT_SPAN_FILLING ? half->span_count : 0; left != 0;
	     left--) {
		struct ft_span *other = ft_span_at(spans, number);

		if (ft_psn_distance(other->from, hole->from) > 0)
			other->filled = FT_SPAN_FILLING;
		number = other->next;
	}
}

uint32_t ft_spans_take(struct ft_spans *spans, struct ft_half *half, uint32_t number, uint32_t psn,
		       uint32_t count)
{
	struct ft_span *span = ft_span_at(spans, number);
	uint32_t before = ft_psn_since(psn, span->from);
	uint32_t left = span->count - before;
	struct ft_span behind;

	fill(spans, half, span);
	behind = *span;
	ft_spans_look_again(spans, half);
	behind.count = left > count ? left - count : 0;
	behind.from = ft_psn_add(psn, left - behind.count);
	if (before == 0 && behind.count == 0) {
		ft_spans_remove(spans, half, number);
	} else if (before == 0) {
		span->from = behind.from;
		span->count = behind.count;
		span->begins = false;
	} else {
		span->count = before;
		span->ended = span->filled = 0;
		if (behind.count != 0 && insert(spans, half, number, &behind) == 0)
			return behind.count;
	}
	return 0;
}

void ft_spans_drop(struct ft_spans *spans, struct ft_half *half, uint32_t kinds)
{
	uint32_t number = half->spans;

	if ((half->span_traits & kinds) == 0)
		return;
	for (unsigned left = half->span_count; left != 0; left--) {
		uint32_t next = ft_span_at(spans, number)->next;

		if ((kinds >> ft_span_at(spans, number)->kind & 1) != 0)
			ft_spans_remove(spans, half, number);
		number = next;
	}
}
