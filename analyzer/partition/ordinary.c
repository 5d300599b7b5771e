/*
 * The verdict on nearly every first frame of a flow: one customer's partition in force lists both of
 * its ends, or both are at home in one tenant's segments. No rule holds then and nobody else has a part
 * in it, so neither the ladders nor the sets of tenants need to be asked.
 */
#include "case.h"

#define NEEDED (FT_NEED_ADDRESSES | FT_NEED_PKEY | FT_NEED_DEST_QP | FT_NEED_TAGS)

/* Isolated by its P_Key alone, between declared ends and so not to a group. */
static bool is_judged_by_pkey(const struct ft_case *frame)
{
	return !frame->by_segment && frame->src != FT_NONE && frame->dst != FT_NONE &&
	       frame->base != 0 && frame->base != FT_PKEY_DEFAULT;
}

/* Isolated by segments alone. */
static bool is_judged_by_segment(const struct ft_case *frame)
{
	return frame->by_segment && !frame->group && frame->base == FT_PKEY_DEFAULT;
}

/* The last two rungs of the P_Key ladder; a listed end is a member. */
static bool may_send(const struct ft_case *frame, unsigned src, unsigned dst)
{
	return src != FT_LIMITED || (dst != FT_LIMITED && (frame->key->pkey & 0x8000) == 0);
}

/* The tenant of the partition that lists both ends; FT_NONE: none, or not so simple. */
static uint32_t tenant_by_partition(const struct ft_case *frame, int64_t ts_ns)
{
	const struct ft_map *map = frame->map;
	uint32_t partition = ft_map_of_base(map, frame->base);
	uint32_t span = partition == FT_NONE ? FT_NONE : ft_map_span(map, partition, ts_ns);
	const struct ft_listing *src, *dst;

	if (span == FT_NONE)
		return FT_NONE;
	src = ft_map_listing(map, frame->src, span);
	dst = ft_map_listing(map, frame->dst, span);
	if (src == NULL || dst == NULL || !src->owned || !dst->owned ||
	    !may_send(frame, src->membership, dst->membership))
		return FT_NONE;
	return map->spans[span].tenant;
}

static uint32_t tenant_by_segment(const struct ft_case *frame, int64_t ts_ns)
{
	uint32_t tenant = ft_tenant_at_home(frame->map, &frame->from, &frame->tags, ts_ns);

	if (tenant == FT_NONE ||
	    tenant != ft_tenant_at_home(frame->map, &frame->to, &frame->tags, ts_ns))
		return FT_NONE;
	return tenant;
}

static uint32_t tenant_of_both(const struct ft_case *frame, int64_t ts_ns)
{
	if (frame->spoofed || frame->key->qp_kind == 0 || !ft_case_knows(frame, NEEDED))
		return FT_NONE;
	if (is_judged_by_pkey(frame))
		return tenant_by_partition(frame, ts_ns);
	return is_judged_by_segment(frame) ? tenant_by_segment(frame, ts_ns) : FT_NONE;
}

bool ft_check_ordinary(const struct ft_case *frame, int64_t ts_ns, struct ft_verdict *verdict)
{
	const struct ft_origin nowhere = { .file = FT_NONE };
	uint32_t tenant = tenant_of_both(frame, ts_ns);

	if (tenant == FT_NONE)
		return false;
	*verdict = (struct ft_verdict){
		.at_home = true,
		.src = { .endpoint = frame->src, .tenant = tenant },
		.dst = { .endpoint = frame->dst, .tenant = tenant },
		.exception = FT_NONE,
		.partition = ft_map_of_base(frame->map, frame->base),
		.origin = nowhere,
		.crossing_origin = nowhere,
		.spoof_origin = nowhere,
	};
	return true;
}
