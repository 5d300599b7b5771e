/*
 * The verdict on nearly every first frame of a flow: one customer's partition in force lists both of its ends. No
 * rule holds then and nobody else owns either end, so neither the ladders nor the owners need to be asked.
 */
#include "case.h"

/* A frame between declared ends, so not to a group, that only its P_Key isolates; with all that this is judged by. */
static bool is_judged_by_pkey(const struct ft_case *frame)
{
	return frame->by_pkey && !frame->by_segment && !frame->spoofed && frame->src != FT_NONE &&
	       frame->dst != FT_NONE && frame->key->qp_kind != 0 && frame->base != 0 &&
	       frame->base != FT_PKEY_DEFAULT &&
	       ft_case_knows(frame, FT_NEED_ADDRESSES | FT_NEED_PKEY | FT_NEED_DEST_QP);
}

/* The last two rungs of the P_Key ladder; a listed end is a member. */
static bool may_send(const struct ft_case *frame, unsigned src, unsigned dst)
{
	return src != FT_LIMITED || (dst != FT_LIMITED && (frame->key->pkey & 0x8000) == 0);
}

static void describe(const struct ft_case *frame, const struct ft_span *span,
		     struct ft_verdict *verdict)
{
	const struct ft_origin nowhere = { .file = FT_NONE };

	*verdict = (struct ft_verdict){
		.src = { .endpoint = frame->src, .tenant = span->tenant },
		.dst = { .endpoint = frame->dst, .tenant = span->tenant },
		.exception = FT_NONE,
		.partition = span->of,
		.origin = nowhere,
		.crossing_origin = nowhere,
		.spoof_origin = nowhere,
	};
}

bool ft_check_ordinary(const struct ft_case *frame, int64_t ts_ns, struct ft_verdict *verdict)
{
	const struct ft_map *map = frame->map;
	const struct ft_listing *src, *dst;
	uint32_t partition, span;

	if (!is_judged_by_pkey(frame))
		return false;
	partition = map->partition_of_base[frame->base];
	span = partition == FT_NONE ? FT_NONE : ft_map_span(map, partition, ts_ns);
	if (span == FT_NONE)
		return false;
	src = ft_map_listing(map, frame->src, span);
	dst = ft_map_listing(map, frame->dst, span);
	if (src == NULL || dst == NULL || !src->owned || !dst->owned ||
	    !may_send(frame, src->membership, dst->membership))
		return false;
	describe(frame, &map->spans[span], verdict);
	return true;
}
