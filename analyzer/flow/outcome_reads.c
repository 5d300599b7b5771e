#include "outcome_reads.h"

#include <decode/extremes.h>

#include "outcome.h"

/* What a hole may hold: the responses to a READ take PSNs of requests, and pass elsewhere. */

enum {
	READS_LOOKED_AT = 16,
	LEAST_READS = 4, /* in a row, to say that a half sends nothing else */
};

/* Of the next older range of the half, that ends at `end`; `newer`: PSN of the READ behind it, FT_PSN_NONE: of none. */
static void add_read(struct ft_reads *reads, uint32_t begin, uint32_t end, uint32_t newer)
{
	uint32_t length = ft_psn_since(end, begin);

	reads->others |= newer == FT_PSN_NONE ? reads->longest != 0 : newer != end;
	reads->vary |= reads->longest != 0 && length != reads->longest;
	reads->longest = ft_larger(reads->longest, length);
}

/* How long it is will be known once the next request passes. */
static bool is_unmeasured(const struct ft_half *half, const struct ft_span *span)
{
	return (half->flags & FT_HALF_SPAN_UNKNOWN) != 0 && span->begin == half->message_psn;
}

struct ft_reads ft_reads_of(const struct ft_tracker *tracker, const struct ft_half *half)
{
	struct ft_reads reads = { 0 };
	uint32_t number = half->spans, begin = FT_PSN_NONE, behind = FT_PSN_NONE;
	unsigned count = 0;

	for (unsigned i = 0; i < half->span_count && i < READS_LOOKED_AT; i++) {
		const struct ft_span *span;
		uint32_t end;

		number = ft_span_at(&tracker->spans, number)->prev;
		span = ft_span_at(&tracker->spans, number);
		end = ft_psn_add(span->from, span->count);
		if (span->kind != FT_SPAN_AWAITED && span->kind != FT_SPAN_OVERTAKEN) {
			/* what is missing between two may be others like them */
			behind = end == behind ? span->from : FT_PSN_NONE;
			continue;
		}
		if (span->begin == begin || is_unmeasured(half, span)) {
			behind = span->begin;
			continue;
		}
		begin = span->begin;
		add_read(&reads, begin, end, behind);
		behind = begin;
		count++;
	}
	reads.others |= count < LEAST_READS;
	return reads;
}

bool ft_reads_are_all(const struct ft_reads *reads)
{
	return reads->longest > 1 && !reads->vary && !reads->others;
}

bool ft_is_in_message(const struct ft_span *hole)
{
	return hole->kind == FT_SPAN_HOLE && hole->begin != hole->from && !hole->begins;
}

bool ft_is_vague(const struct ft_span *hole)
{
	return hole->count > 1 && !ft_is_in_message(hole);
}

uint32_t ft_packets_among(const struct ft_reads *reads, const struct ft_span *hole, uint32_t psns)
{
	uint32_t longest = reads->longest == 0 ? 1 : reads->longest, rest = psns % longest;

	if (ft_is_in_message(hole))
		return psns;
	return psns / longest + (reads->vary && rest != 0 ? 1 : rest);
}

void ft_outcome_narrow(const struct ft_tracker *tracker, const struct ft_half *half)
{
	uint32_t number = half->spans;
	struct ft_reads reads;

	if (half->span_count == 0) /* as of nearly every half when it meets the other */
		return;
	reads = ft_reads_of(tracker, half);
	for (unsigned left = reads.longest > 1 ? half->span_count : 0; left != 0; left--) {
		struct ft_span *span = ft_span_at(&tracker->spans, number);

		if ((FT_SPANS_HOLES >> span->kind & 1) != 0 && ft_is_vague(span) &&
		    ft_psn_covers(half->acked, span->from, span->count)) {
			uint32_t psns = span->count;

			span->count = ft_packets_among(&reads, span, psns);
			span->ended = 0;
			if (!ft_reads_are_all(&reads))
				ft_loss_vague(tracker->evidence, psns, span->count);
		}
		number = span->next;
	}
}
