#include "half.h"

#include <string.h>

void ft_nccl_half_start(struct ft_nccl_half *half, uint32_t sequence)
{
	if (half->has_base && half->start == sequence)
		return;
	ft_nccl_half_restart(half, sequence);
	half->start = sequence;
}

uint32_t ft_nccl_half_ready(const struct ft_nccl_half *half)
{
	return half->span_count > 0 && half->spans[0].from == 0 ? half->spans[0].to : 0;
}

uint32_t ft_nccl_half_ready_at(const struct ft_nccl_half *half, uint32_t at)
{
	for (unsigned i = 0; i < half->span_count; i++) {
		if (half->spans[i].from <= at && at < half->spans[i].to)
			return half->spans[i].to - at;
	}
	return 0;
}

static void remove_spans(struct ft_nccl_half *half, unsigned first, unsigned behind)
{
	memmove(&half->spans[first], &half->spans[behind],
		(half->span_count - behind) * sizeof half->spans[0]);
	half->span_count = (uint8_t)(half->span_count - (behind - first));
}

/* The first span that touches from..to, an empty one made for it if none does; -1: no room. */
static int span_for(struct ft_nccl_half *half, uint32_t from, uint32_t to)
{
	unsigned first = 0;

	while (first < half->span_count && half->spans[first].to < from)
		first++;
	if (first < half->span_count && half->spans[first].from <= to)
		return (int)first;
	if (half->span_count == FT_NCCL_SPANS_MAX)
		return -1;
	memmove(&half->spans[first + 1], &half->spans[first],
		(half->span_count - first) * sizeof half->spans[0]);
	half->span_count++;
	half->spans[first].from = half->spans[first].to = (uint16_t)from;
	return (int)first;
}

/* Copies what lies between the spans; those that it touches become one with it. */
static void insert(struct ft_nccl_half *half, uint32_t from, uint32_t to, const uint8_t *bytes)
{
	int first = span_for(half, from, to);
	unsigned behind = (unsigned)first;
	uint32_t at = from, start = from;

	if (first < 0)
		return;
	for (; behind < half->span_count && half->spans[behind].from <= to; behind++) {
		uint32_t here = half->spans[behind].from, there = half->spans[behind].to;

		if (at < here)
			memcpy(half->window + at, bytes + (at - from), here - at);
		if (here < start)
			start = here;
		if (there > at)
			at = there;
	}
	if (at < to)
		memcpy(half->window + at, bytes + (at - from), to - at);
	half->spans[first].from = (uint16_t)start;
	half->spans[first].to = (uint16_t)(at > to ? at : to);
	remove_spans(half, (unsigned)first + 1, behind);
}

void ft_nccl_half_put(struct ft_nccl_half *half, uint32_t sequence, const uint8_t *bytes,
		      uint32_t size)
{
	int64_t at = (int32_t)(sequence - half->base);

	if (at < 0) {
		if (-at >= size)
			return;
		bytes -= at;
		size = (uint32_t)(size + at);
		at = 0;
	}
	if (at >= FT_NCCL_WINDOW || size == 0)
		return;
	if (size > FT_NCCL_WINDOW - (uint32_t)at)
		size = FT_NCCL_WINDOW - (uint32_t)at;
	insert(half, (uint32_t)at, (uint32_t)at + size, bytes);
}

void ft_nccl_half_reach(struct ft_nccl_half *half, uint32_t sequence)
{
	int32_t reached = (int32_t)(sequence - half->base);

	if (half->has_base && reached > half->reached)
		half->reached = reached;
}

/* A span as it is seen from `bytes` on; empty in front of that. */
static uint16_t moved(uint16_t place, uint32_t bytes)
{
	return (uint16_t)(place > bytes ? place - bytes : 0);
}

void ft_nccl_half_drop(struct ft_nccl_half *half, uint32_t bytes)
{
	uint32_t end = half->span_count > 0 ? half->spans[half->span_count - 1].to : 0;
	unsigned gone = 0;

	if (bytes < end)
		memmove(half->window, half->window + bytes, end - bytes);
	while (gone < half->span_count && half->spans[gone].to <= bytes)
		gone++;
	remove_spans(half, 0, gone);
	for (unsigned i = 0; i < half->span_count; i++) {
		half->spans[i].from = moved(half->spans[i].from, bytes);
		half->spans[i].to = moved(half->spans[i].to, bytes);
	}
	half->base += bytes;
	half->reached = (uint32_t)half->reached > bytes ? half->reached - (int32_t)bytes : 0;
}

void ft_nccl_half_restart(struct ft_nccl_half *half, uint32_t sequence)
{
	half->has_base = true;
	half->base = sequence;
	half->reached = 0;
	half->span_count = 0;
	half->waited = 0;
	half->is_lost = false;
}
