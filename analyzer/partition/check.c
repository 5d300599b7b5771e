/* The verdict on a frame: the rules of one instant, and what other instants make of them. */
#include "case.h"

#define BIT(rule) (1u << (rule))

/* What a frame that the map permits at another time breaks instead of "not a member" and the like. */
static const uint32_t of_time =
	BIT(FT_RULE_PKEY_SENDER_NOT_MEMBER) | BIT(FT_RULE_PKEY_RECEIVER_NOT_MEMBER) |
	BIT(FT_RULE_TENANT_UNKNOWN_ENDPOINT) | BIT(FT_RULE_TENANT_WRONG_SEGMENT);

static bool breaks_nothing(const struct ft_ruling *ruling)
{
	return (ruling->rules & ~FT_RULE_ALERTS) == 0;
}

/* ---- instants that matter: the ends of the intervals that this frame depends on ---- */

/*
 * The map says the same about a frame from one change of what it depends on to the next. `try` is
 * asked about each change; one that was just asked about is not asked about again.
 */
struct search {
	const struct ft_case *frame;
	int64_t from_ns, to_ns; /* changes in (from, to] */
	int64_t offset_ns;      /* the instant to judge is that far from the change */
	bool needs_tenants;
	int64_t last_ns;  /* change asked about last */
	bool found;       /* an instant that permits the frame, for all that can be read .. */
	int64_t found_ns; /* .. the first; or the first that does whatever was cut */
	struct ft_ruling ruling; /* of that instant */
};

/* Whether the instant permits the frame whatever was cut: no other one tells more. */
static bool is_permitted(struct search *search, int64_t ts_ns)
{
	struct ft_ruling ruling;

	ft_rule_at(search->frame, ts_ns, &ruling);
	if (!breaks_nothing(&ruling) || (search->found && ruling.undecided))
		return false;
	if (search->needs_tenants && (ruling.src.kind == FT_NOBODY || ruling.dst.kind == FT_NOBODY))
		return false;
	search->found = true;
	search->found_ns = ts_ns;
	search->ruling = ruling;
	return !ruling.undecided;
}

static bool try_change(struct search *search, int64_t change_ns)
{
	if (change_ns == FT_TIME_MIN || change_ns == FT_TIME_MAX || change_ns <= search->from_ns ||
	    change_ns > search->to_ns || change_ns == search->last_ns)
		return false;
	search->last_ns = change_ns;
	return is_permitted(search, change_ns + search->offset_ns);
}

static bool try_ends(void *with, const struct ft_compiled_interval *span)
{
	return try_change(with, span->from_ns) || try_change(with, span->to_ns);
}

/* Sender and unicast receiver are members in this interval, so a frame may be permitted in it. */
static bool has_both(const struct ft_case *frame, uint32_t span)
{
	uint32_t first = ft_map_of_base(frame->map, frame->base);

	/* one end may be in another partition of the base */
	if (frame->map->next_of_base[first] != FT_NONE)
		return true;
	return ft_map_granted(frame->map, frame->src, span, NULL) != 0 &&
	       (frame->group || ft_map_granted(frame->map, frame->dst, span, NULL) != 0);
}

/* Only intervals of the base's partition that hold both ends can permit the frame. */
static bool try_partition(struct search *search, bool *possible)
{
	const struct ft_case *frame = search->frame;
	const struct ft_map *map = frame->map;

	for (uint32_t p = ft_map_of_base(map, frame->base); p != FT_NONE; p = map->next_of_base[p])
		for (uint32_t s = map->first_span[p]; s < map->first_span[p + 1]; s++) {
			if (map->spans[s].from_ns > search->to_ns ||
			    map->spans[s].to_ns <= search->from_ns || !has_both(frame, s))
				continue;
			*possible = true;
			if (try_ends(search, &map->spans[s]))
				return true;
		}
	return false;
}

/* False: none permits the frame whatever was cut. */
static bool try_all(struct search *search)
{
	const struct ft_case *frame = search->frame;
	bool asked = ft_case_knows(frame, FT_NEED_PKEY | FT_NEED_DEST_QP); /* about membership */
	bool possible = !frame->by_pkey || frame->everyone || !asked;

	if (frame->by_pkey && try_partition(search, &possible))
		return true;
	if (!possible)
		return false;
	if (search->from_ns == FT_TIME_MIN && is_permitted(search, FT_TIME_MIN))
		return true;
	if (frame->by_pkey || !frame->by_segment) {
		if (ft_endpoint_spans(frame->map, frame->src, try_ends, search) ||
		    ft_endpoint_spans(frame->map, frame->dst, try_ends, search))
			return true;
	}
	return frame->by_segment &&
	       (ft_place_spans(frame->map, &frame->from, &frame->tags, try_ends, search) ||
		ft_place_spans(frame->map, &frame->to, &frame->tags, try_ends, search));
}

static bool find_instant(struct search *search)
{
	return try_all(search) || search->found;
}

static struct search search_of(const struct ft_case *frame)
{
	return (struct search){
		.frame = frame, .from_ns = FT_TIME_MIN, .to_ns = FT_TIME_MAX, .last_ns = FT_TIME_MIN
	};
}

/* Was it permitted at some instant in (ts - grace, ts]? Then it was just before a change in there. */
static bool was_permitted(const struct ft_case *frame, int64_t ts_ns, struct search *search)
{
	int64_t grace = frame->map->declared->grace_ns;

	*search = search_of(frame);
	if (grace <= 0)
		return false;
	if (__builtin_sub_overflow(ts_ns, grace, &search->from_ns))
		search->from_ns = FT_TIME_MIN + 1;
	search->to_ns = ts_ns;
	search->offset_ns = -1;
	return find_instant(search);
}

bool ft_case_in_grace(const struct ft_case *frame, int64_t ts_ns)
{
	struct search search;

	return was_permitted(frame, ts_ns, &search);
}

static bool is_ever_permitted(const struct ft_case *frame, struct search *search)
{
	*search = search_of(frame);
	search->needs_tenants = true;
	return find_instant(search);
}

/* The interval that permits the frame at the instant found. */
static struct ft_origin permitting_line(const struct search *search)
{
	const struct ft_case *frame = search->frame;
	uint32_t partition = frame->by_pkey ? ft_map_of_base(frame->map, frame->base) : FT_NONE;
	uint32_t span = partition == FT_NONE ? FT_NONE
					     : ft_map_span(frame->map, partition, search->found_ns);

	return span != FT_NONE ? frame->map->spans[span].source->origin
			       : ft_tenants_origin(&search->ruling.src);
}

/* ---- the verdict ---- */

static struct ft_end end_of(const struct ft_tenants *set, uint32_t endpoint, bool group)
{
	return (struct ft_end){ .endpoint = endpoint,
				.tenant = ft_tenants_single(set),
				.group = group };
}

static void describe(const struct ft_case *frame, const struct ft_ruling *ruling,
		     struct ft_verdict *verdict)
{
	*verdict = (struct ft_verdict){
		.rules = ruling->rules,
		.now = ruling->rules,
		.undecided = ruling->undecided,
		.crossing_between_customers = ruling->crossing_between_customers,
		.src = end_of(&ruling->src, frame->src, false),
		.dst = end_of(&ruling->dst, frame->dst, frame->group),
		.exception = breaks_nothing(ruling) ? ruling->exception : FT_NONE,
		.partition = frame->base == 0 ? FT_NONE : ft_map_of_base(frame->map, frame->base),
		.origin = ruling->origin,
		.crossing_origin = { .file = FT_NONE },
		.spoof_origin = frame->spoof_origin,
	};
	if ((ruling->rules & BIT(FT_RULE_TENANT_CROSSING)) != 0)
		verdict->crossing_origin = ft_tenants_origin(&ruling->dst);
}

/*
 * Section 7: within the grace period, or permitted at another time. A frame that was cut is excused as
 * far as it can be read, and stays undecided.
 */
static void consider_time(const struct ft_case *frame, int64_t ts_ns, struct ft_verdict *verdict)
{
	uint32_t violations = verdict->rules & ~FT_RULE_ALERTS;
	struct search search;

	if (was_permitted(frame, ts_ns, &search)) {
		verdict->grace = true;
		verdict->undecided |= search.ruling.undecided;
		verdict->origin = permitting_line(&search);
		return;
	}
	if ((violations & of_time) == 0 && violations != BIT(FT_RULE_TENANT_CROSSING))
		return;
	if (!is_ever_permitted(frame, &search))
		return;
	verdict->undecided |= search.ruling.undecided;
	verdict->rules = (verdict->rules & ~of_time) | BIT(FT_RULE_TENANT_OUTSIDE_VALIDITY);
	verdict->origin = permitting_line(&search);
}

void ft_check_ladders(const struct ft_case *frame, int64_t ts_ns, struct ft_verdict *verdict)
{
	struct ft_ruling ruling;

	ft_rule_at(frame, ts_ns, &ruling);
	describe(frame, &ruling, verdict);
	if (!breaks_nothing(&ruling))
		consider_time(frame, ts_ns, verdict);
}

void ft_check(const struct ft_map *map, const struct ft_check_key *key, int64_t ts_ns,
	      struct ft_verdict *verdict)
{
	struct ft_case frame;

	ft_case_open(&frame, map, key);
	if (!ft_check_ordinary(&frame, ts_ns, verdict))
		ft_check_ladders(&frame, ts_ns, verdict);
}

uint32_t ft_verdict_rules(const struct ft_verdict *verdict, bool changed_on_connection)
{
	if (changed_on_connection)
		return verdict->now | BIT(FT_RULE_PKEY_CHANGED_ON_CONNECTION);
	if (verdict->grace)
		return (verdict->now & FT_RULE_ALERTS) | BIT(FT_RULE_TENANT_GRACE);
	return verdict->rules;
}

struct ft_origin ft_verdict_origin(const struct ft_verdict *verdict, enum ft_rule rule)
{
	if (rule == FT_RULE_TENANT_CROSSING)
		return verdict->crossing_origin;
	if (rule == FT_RULE_SPOOF_ADDRESS_MISMATCH)
		return verdict->spoof_origin;
	return verdict->origin;
}
