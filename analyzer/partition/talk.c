/* May two endpoints talk: the rules, asked about a frame that nobody sent. */
#include "case.h"

#include <stdio.h>
#include <string.h>

/* RC data from one endpoint to the other, with the P_Key the sender holds. */
static void imagine(struct ft_case *frame, struct ft_check_key *key, const struct ft_map *map,
		    uint32_t a, uint32_t b)
{
	*key = (struct ft_check_key){ .qp_kind = 2,
				      .native = 1,
				      .known = FT_NEED_ADDRESSES | FT_NEED_PKEY | FT_NEED_DEST_QP |
					       FT_NEED_QKEY | FT_NEED_CLASS | FT_NEED_TAGS };
	*frame = (struct ft_case){ .map = map, .key = key, .src = a, .dst = b };
}

static void use_base(struct ft_case *frame, struct ft_check_key *key, uint16_t base, int64_t ts_ns)
{
	bool full = (ft_map_membership(frame->map, frame->src, base, ts_ns, NULL) & FT_FULL) != 0;

	frame->by_pkey = true;
	frame->base = base;
	key->pkey = (uint16_t)(base | (full ? 0x8000 : 0));
}

static void use_segments(struct ft_case *frame)
{
	frame->by_segment = true;
	frame->base = FT_PKEY_DEFAULT;
	frame->from = ft_place_of_endpoint(frame->map, frame->src);
	frame->to = ft_place_of_endpoint(frame->map, frame->dst);
}

static const char *tenant_name(const struct ft_tenants *set)
{
	uint32_t tenant = ft_tenants_single(set);

	return tenant == FT_NONE ? "several tenants" : set->map->declared->tenants[tenant].name;
}

/* What no exception would mend of a base: true if there is nothing else to say of it. */
static bool explain_membership(const struct ft_case *frame, int64_t ts_ns, struct ft_talk *talk)
{
	const struct ft_map *map = frame->map;
	unsigned own = ft_map_membership(map, frame->src, frame->base, ts_ns, NULL);
	unsigned other = ft_map_membership(map, frame->dst, frame->base, ts_ns, NULL);

	if (other != 0 && ((own | other) & FT_FULL) == 0)
		snprintf(talk->because, sizeof talk->because, "both are limited members of 0x%04x",
			 frame->base);
	return other == 0 || ((own | other) & FT_FULL) == 0;
}

/* Rules whose meaning for two endpoints needs words of its own; the others do not arise in what both are members of. */
static void explain(const struct ft_case *frame, const struct ft_ruling *ruling, int64_t ts_ns,
		    struct ft_talk *talk)
{
	bool crossing = (ruling->rules & 1u << FT_RULE_TENANT_CROSSING) != 0;

	if (frame->by_pkey && explain_membership(frame, ts_ns, talk))
		return;
	if (crossing && frame->by_pkey)
		snprintf(talk->because, sizeof talk->because,
			 "%s to %s over 0x%04x, and no exception permits it",
			 tenant_name(&ruling->src), tenant_name(&ruling->dst), frame->base);
	else if (crossing)
		snprintf(talk->because, sizeof talk->because,
			 "%s to %s, and no exception permits it", tenant_name(&ruling->src),
			 tenant_name(&ruling->dst));
	else if ((ruling->rules & 1u << FT_RULE_PKEY_DEFAULT_USED) != 0)
		snprintf(talk->because, sizeof talk->because,
			 "0x%04x is for management, not for a customer's data", frame->base);
	else if ((ruling->rules & 1u << FT_RULE_TENANT_UNKNOWN_ENDPOINT) != 0)
		snprintf(talk->because, sizeof talk->because, "no segment holds one of them");
}

static void allow(const struct ft_case *frame, const struct ft_ruling *ruling, struct ft_talk *talk)
{
	const struct ft_declared *declared = frame->map->declared;

	talk->allowed = true;
	talk->base = frame->by_pkey ? frame->base : 0;
	talk->because[0] = '\0';
	if (ruling->exception != FT_NONE)
		talk->exception = declared->exceptions[ruling->exception].id;
	if (frame->by_pkey)
		snprintf(talk->because, sizeof talk->because, "both are members of 0x%04x",
			 frame->base);
	else
		snprintf(talk->because, sizeof talk->because, "%s to %s by segment",
			 tenant_name(&ruling->src), tenant_name(&ruling->dst));
}

static void excuse(const struct ft_case *frame, struct ft_talk *talk)
{
	talk->grace = true;
	talk->base = frame->base;
	snprintf(talk->because, sizeof talk->because,
		 "what allowed it over 0x%04x ended less than %lld ms before", frame->base,
		 (long long)(frame->map->declared->grace_ns / 1000000));
}

static bool try_frame(const struct ft_case *frame, int64_t ts_ns, struct ft_talk *talk)
{
	/* which VLAN or VNI an untagged frame would be seen in is not asked */
	const uint32_t ignored =
		FT_RULE_ALERTS | (frame->tags.count == 0 ? 1u << FT_RULE_TENANT_WRONG_SEGMENT : 0);
	struct ft_ruling ruling;

	ft_rule_at(frame, ts_ns, &ruling);
	if ((ruling.rules & ~ignored) == 0) {
		allow(frame, &ruling, talk);
		return true;
	}
	if (!talk->grace && frame->by_pkey && ft_case_in_grace(frame, ts_ns))
		excuse(frame, talk);
	if (talk->because[0] == '\0')
		explain(frame, &ruling, ts_ns, talk);
	return false;
}

/* Partitions for data first, the default one last. */
static bool try_partitions(struct ft_case *frame, struct ft_check_key *key, int64_t ts_ns,
			   bool is_default, struct ft_talk *talk)
{
	const struct ft_map *map = frame->map;

	for (uint32_t p = ft_map_next_partition(map, frame->src, 0); p != FT_NONE;
	     p = ft_map_next_partition(map, frame->src, p + 1)) {
		uint16_t base = map->declared->partitions[p].base;

		if ((base == FT_PKEY_DEFAULT) != is_default)
			continue;
		use_base(frame, key, base, ts_ns);
		if (try_frame(frame, ts_ns, talk))
			return true;
	}
	return false;
}

void ft_map_may_talk(const struct ft_map *map, uint32_t a, uint32_t b, int64_t ts_ns,
		     struct ft_talk *talk)
{
	struct ft_check_key key;
	struct ft_case frame;

	*talk = (struct ft_talk){ 0 };
	if (a == FT_NONE || b == FT_NONE) {
		snprintf(talk->because, sizeof talk->because, "not declared");
		return;
	}
	imagine(&frame, &key, map, a, b);
	if (try_partitions(&frame, &key, ts_ns, false, talk) ||
	    try_partitions(&frame, &key, ts_ns, true, talk))
		talk->grace = false;
	else if (map->declared->segment_count != 0) {
		imagine(&frame, &key, map, a, b);
		use_segments(&frame);
		talk->grace = !try_frame(&frame, ts_ns, talk) && talk->grace;
	}
	if (talk->because[0] == '\0')
		snprintf(talk->because, sizeof talk->because, "no common partition");
}

struct tagged {
	struct ft_case *frame;
	int64_t ts_ns;
	struct ft_talk *talk;
};

static bool try_tag(const struct tagged *tagged, const struct ft_member *tag)
{
	bool in_overlay = tag->kind == FT_MEMBER_VNI;
	struct ft_talk *talk = tagged->talk;
	size_t length;

	tagged->frame->tags = ft_tags_of(tagged->frame->map, in_overlay, tag->number,
					 in_overlay ? 0 : (uint16_t)tag->number);
	if (!try_frame(tagged->frame, tagged->ts_ns, talk))
		return false;
	length = strlen(talk->because);
	snprintf(talk->because + length, sizeof talk->because - length, ", in %s %u",
		 in_overlay ? "VNI" : "VLAN", tag->number);
	return true;
}

/* In one of the VLANs and VNIs that a segment lists. */
static bool try_tags(void *with, const struct ft_compiled_interval *slot)
{
	const struct tagged *tagged = with;

	for (size_t i = 0; ft_span_holds(slot, tagged->ts_ns) && i < slot->source->member_count;
	     i++)
		if (ft_member_is_tag(&slot->source->members[i]) &&
		    try_tag(tagged, &slot->source->members[i]))
			return true;
	return false;
}

void ft_map_may_talk_tagged(const struct ft_map *map, uint32_t a, uint32_t b, int64_t ts_ns,
			    struct ft_talk *talk)
{
	static const struct ft_segment_tags untagged = { 0 };
	struct ft_check_key key;
	struct ft_case frame;
	struct tagged tagged = { &frame, ts_ns, talk };

	ft_map_may_talk(map, a, b, ts_ns, talk);
	if (talk->allowed || a == FT_NONE || b == FT_NONE)
		return;
	imagine(&frame, &key, map, a, b);
	use_segments(&frame);
	if (!ft_place_spans(map, &frame.from, &untagged, try_tags, &tagged))
		ft_place_spans(map, &frame.to, &untagged, try_tags, &tagged);
}
