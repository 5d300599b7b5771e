/* The rules at one instant: sections 3 to 6 of the verdict rules. */
#include "case.h"

#define IPOIB_QKEY 0x0b1bu
#define UD         3 /* BTH opcode bits 7..5 */

/* What the rules of the ladders ask about, worked out once per instant. */
struct moment {
	const struct ft_case *frame;
	struct ft_ruling *ruling;
	int64_t ts_ns;
	unsigned src, dst; /* membership: 0 or enum ft_membership; a group is a full member */
	struct ft_origin src_line;
};

static bool is_customer(void *with, uint32_t tenant)
{
	const struct ft_declared *declared = with;

	return declared->tenants[tenant].class == FT_CUSTOMER;
}

bool ft_tenants_have_customer(const struct ft_tenants *set)
{
	return set->kind != FT_NOBODY &&
	       ft_tenants_visit(set, is_customer, (void *)(uintptr_t)set->map->declared);
}

/* ---- rules of the P_Key ladder; a rule that lacks the DestQP is asked as if it were 2 or more ---- */

static enum ft_answer is_invalid(const struct moment *moment)
{
	return moment->frame->base == 0 ? FT_YES : FT_NO;
}

static enum ft_answer is_unknown(const struct moment *moment)
{
	const struct ft_case *frame = moment->frame;

	if (frame->by_segment)
		return moment->ruling->src.kind == FT_NOBODY ||
				       (!frame->group && moment->ruling->dst.kind == FT_NOBODY)
			       ? FT_YES
			       : FT_NO;
	return frame->src == FT_NONE || (!frame->group && frame->dst == FT_NONE) ? FT_YES : FT_NO;
}

/* IP over InfiniBand in a default partition that is declared for it. */
static enum ft_answer is_ipoib(const struct ft_case *frame)
{
	const struct ft_map *map = frame->map;
	bool declared = false;

	for (uint32_t p = ft_map_of_base(map, FT_PKEY_DEFAULT); p != FT_NONE;
	     p = map->next_of_base[p])
		declared |= map->declared->partitions[p].ipoib;
	if (!declared || frame->base != FT_PKEY_DEFAULT || frame->key->qp_kind != 2 ||
	    frame->key->service != UD)
		return FT_NO;
	if (!ft_case_knows(frame, FT_NEED_QKEY))
		return FT_MAYBE;
	return frame->key->qkey == IPOIB_QKEY ? FT_YES : FT_NO;
}

static enum ft_answer is_default_data(const struct moment *moment)
{
	const struct ft_case *frame = moment->frame;
	static const enum ft_answer unless[] = { FT_YES, FT_NO, FT_MAYBE };

	if (!ft_tenants_have_customer(&moment->ruling->src) &&
	    (frame->group || !ft_tenants_have_customer(&moment->ruling->dst)))
		return FT_NO;
	if (ft_except_default_data(frame->map->declared))
		return FT_NO;
	return unless[is_ipoib(frame)];
}

static enum ft_answer is_default_used(const struct moment *moment)
{
	const struct ft_case *frame = moment->frame;
	enum ft_answer data, management;

	if (frame->base != FT_PKEY_DEFAULT)
		return FT_NO;
	data = frame->key->qp_kind == 1 ? FT_NO : is_default_data(moment);
	if (ft_case_knows(frame, FT_NEED_DEST_QP) && frame->key->qp_kind != 1)
		return data;
	management = ft_except_bars_class(frame);
	return data > management ? data : management;
}

static enum ft_answer is_undeclared(const struct moment *moment)
{
	const struct ft_case *frame = moment->frame;

	return ft_map_of_base(frame->map, frame->base) == FT_NONE && !frame->everyone ? FT_YES
										      : FT_NO;
}

static enum ft_answer is_sender_outside(const struct moment *moment)
{
	return moment->src == 0 ? FT_YES : FT_NO;
}

static enum ft_answer is_receiver_outside(const struct moment *moment)
{
	return moment->dst == 0 ? FT_YES : FT_NO;
}

static enum ft_answer is_limited_to_limited(const struct moment *moment)
{
	return moment->src == FT_LIMITED && moment->dst == FT_LIMITED ? FT_YES : FT_NO;
}

static enum ft_answer is_overclaimed(const struct moment *moment)
{
	return moment->src == FT_LIMITED && (moment->frame->key->pkey & 0x8000) != 0 ? FT_YES
										     : FT_NO;
}

/* ---- rules of the segment ladder ---- */

/* The set of a group is that of its source, or nobody. */
static enum ft_answer is_wrong_segment(const struct moment *moment)
{
	const struct ft_ruling *ruling = moment->ruling;

	return ruling->src.kind != FT_HERE && ruling->dst.kind != FT_HERE ? FT_YES : FT_NO;
}

/* ---- where the map says so ---- */

static struct ft_origin nowhere(const struct moment *moment)
{
	(void)moment;
	return (struct ft_origin){ .file = FT_NONE };
}

/* The interval in force of the base's partition, else the partition. */
static struct ft_origin partition_line(const struct moment *moment)
{
	const struct ft_map *map = moment->frame->map;
	uint32_t partition = ft_map_of_base(map, moment->frame->base), span;

	if (partition == FT_NONE)
		return nowhere(moment);
	span = ft_map_span(map, partition, moment->ts_ns);
	return span != FT_NONE ? map->spans[span].source->origin
			       : map->declared->partitions[partition].origin;
}

static struct ft_origin sender_line(const struct moment *moment)
{
	return moment->src_line;
}

static struct ft_origin home_line(const struct moment *moment)
{
	return ft_tenants_origin(&moment->ruling->src);
}

/* ---- the ladders ---- */

#define A FT_NEED_ADDRESSES
#define P FT_NEED_PKEY
#define Q FT_NEED_DEST_QP
#define T FT_NEED_TAGS

struct rung {
	enum ft_rule rule;
	unsigned needs; /* Q_Key and class: the rule itself says when they are missed */
	enum ft_answer (*holds)(const struct moment *moment);
	struct ft_origin (*origin)(const struct moment *moment);
};
static const struct rung pkey_ladder[] = {
	{ FT_RULE_PKEY_INVALID, P | Q, is_invalid, nowhere },
	{ FT_RULE_TENANT_UNKNOWN_ENDPOINT, A | Q, is_unknown, nowhere },
	{ FT_RULE_PKEY_DEFAULT_USED, A | P | Q, is_default_used, partition_line },
	{ FT_RULE_PKEY_UNDECLARED, P | Q, is_undeclared, nowhere },
	{ FT_RULE_PKEY_SENDER_NOT_MEMBER, A | P | Q, is_sender_outside, partition_line },
	{ FT_RULE_PKEY_RECEIVER_NOT_MEMBER, A | P | Q, is_receiver_outside, partition_line },
	{ FT_RULE_PKEY_LIMITED_TO_LIMITED, A | P | Q, is_limited_to_limited, sender_line },
	{ FT_RULE_PKEY_MEMBERSHIP_OVERCLAIMED, A | P | Q, is_overclaimed, sender_line },
};
static const struct rung segment_ladder[] = {
	{ FT_RULE_PKEY_INVALID, P | Q, is_invalid, nowhere },
	{ FT_RULE_TENANT_UNKNOWN_ENDPOINT, A | T, is_unknown, nowhere },
	{ FT_RULE_TENANT_WRONG_SEGMENT, A | T, is_wrong_segment, home_line },
};

/*
 * A rule that lacks another field than the DestQP is not tried; it might hold. One that lacks the
 * DestQP is tried as if that were data: if even then it does not hold, nothing is missed.
 */
static enum ft_answer try_rung(const struct rung *rung, const struct moment *moment)
{
	enum ft_answer answer;

	if (!ft_case_knows(moment->frame, rung->needs & ~(unsigned)Q))
		return FT_MAYBE;
	answer = rung->holds(moment);
	if (answer == FT_YES && !ft_case_knows(moment->frame, rung->needs))
		return FT_MAYBE;
	return answer;
}

static void climb(const struct rung *ladder, size_t count, const struct moment *moment)
{
	struct ft_ruling *ruling = moment->ruling;

	for (size_t i = 0; i < count; i++) {
		enum ft_answer answer = try_rung(&ladder[i], moment);

		if (answer == FT_MAYBE)
			ruling->undecided = true;
		if (answer != FT_YES)
			continue;
		if (ruling->rules == 0)
			ruling->origin = ladder[i].origin(moment);
		ruling->rules |= 1u << ladder[i].rule;
		return;
	}
}

/* ---- beside the ladder ---- */

enum ft_answer ft_case_is_management(const struct ft_case *frame)
{
	if (ft_case_knows(frame, Q))
		return frame->key->qp_kind == 1 ? FT_YES : FT_NO;
	return frame->key->service == UD || frame->key->service == FT_CHECK_NO_SERVICE ? FT_MAYBE
										       : FT_NO;
}

/* May this frame cross without being asked for an exception? */
static enum ft_answer is_exempt(const struct ft_case *frame)
{
	enum ft_answer management = ft_case_is_management(frame);

	if (!ft_case_knows(frame, P))
		return frame->by_segment && management == FT_NO ? FT_NO : FT_MAYBE;
	if (frame->base != FT_PKEY_DEFAULT)
		return FT_NO;
	if (frame->by_segment || management != FT_NO)
		return management;
	return is_ipoib(frame);
}

static void judge_crossing(const struct ft_case *frame, struct ft_ruling *ruling)
{
	enum ft_answer exempt, excepted;
	uint32_t exception = ruling->exception;

	if (ruling->src.kind == FT_NOBODY || ruling->dst.kind == FT_NOBODY ||
	    ft_tenants_meet(&ruling->src, &ruling->dst))
		return;
	exempt = is_exempt(frame);
	if (exempt == FT_YES && !frame->by_segment)
		return;
	excepted = ft_except(frame, ruling, &exception);
	if (exempt == FT_NO)
		ruling->exception = exception;
	if (excepted == FT_YES)
		return;
	if (exempt == FT_YES) {
		if (excepted == FT_NO)
			ruling->rules |= 1u << FT_RULE_TENANT_MANAGEMENT_CROSSING;
		return;
	}
	if (exempt == FT_MAYBE || excepted == FT_MAYBE) {
		ruling->undecided = true;
		return;
	}
	ruling->rules |= 1u << FT_RULE_TENANT_CROSSING;
	ruling->crossing_between_customers =
		ft_tenants_have_customer(&ruling->src) && ft_tenants_have_customer(&ruling->dst);
}

/* Segments isolate and there are no partitions: another P_Key than the default one is odd. */
static bool is_unusual(const struct ft_case *frame)
{
	return frame->by_segment && !frame->by_pkey && ft_case_knows(frame, P) &&
	       frame->base != 0 && frame->base != FT_PKEY_DEFAULT;
}

static void find_tenants(const struct ft_case *frame, int64_t ts_ns, struct ft_ruling *ruling)
{
	const struct ft_map *map = frame->map;
	uint16_t base = frame->key->qp_kind == 0 ? 0 : frame->base;

	if (!ft_case_knows(frame, A))
		return;
	if (!frame->by_segment) {
		ruling->src = ft_tenants_owning(map, frame->src, base, ts_ns);
		ruling->dst = frame->group ? ft_tenants_of_group(map, base)
					   : ft_tenants_owning(map, frame->dst, base, ts_ns);
		return;
	}
	if (!ft_case_knows(frame, T))
		return;
	ruling->src = ft_tenants_at(map, &frame->from, &frame->tags, ts_ns);
	if (!frame->group)
		ruling->dst = ft_tenants_at(map, &frame->to, &frame->tags, ts_ns);
	else if (ruling->src.kind == FT_HERE)
		ruling->dst = ruling->src;
}

void ft_rule_at(const struct ft_case *frame, int64_t ts_ns, struct ft_ruling *ruling)
{
	struct moment moment = { .frame = frame,
				 .ruling = ruling,
				 .ts_ns = ts_ns,
				 .src = FT_FULL,
				 .dst = FT_FULL,
				 .src_line = { .file = FT_NONE } };

	*ruling = (struct ft_ruling){ .exception = FT_NONE, .origin = { .file = FT_NONE } };
	find_tenants(frame, ts_ns, ruling);
	if (frame->key->qp_kind == 0 && ft_case_knows(frame, Q))
		return;
	if (frame->by_pkey && !frame->everyone && frame->base != 0) {
		moment.src = ft_map_membership(frame->map, frame->src, frame->base, ts_ns,
					       &moment.src_line);
		if (!frame->group)
			moment.dst =
				ft_map_membership(frame->map, frame->dst, frame->base, ts_ns, NULL);
	}
	if (frame->by_pkey)
		climb(pkey_ladder, sizeof pkey_ladder / sizeof *pkey_ladder, &moment);
	if (frame->by_segment)
		climb(segment_ladder, sizeof segment_ladder / sizeof *segment_ladder, &moment);
	judge_crossing(frame, ruling);
	if (frame->spoofed)
		ruling->rules |= 1u << FT_RULE_SPOOF_ADDRESS_MISMATCH;
	if (is_unusual(frame))
		ruling->rules |= 1u << FT_RULE_DECODE_PKEY_UNUSUAL;
}
