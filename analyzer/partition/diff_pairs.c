#include "diff_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <partition/arena.h>
#include "diff_touched.h"
#include "document.h"
#include "ports.h"

enum { MOST_OWNERS = 64 };

/* A port that stands for its tenant in one partition or segment. */
struct delegate {
	uint32_t tenant, endpoint;
	unsigned membership;
	bool shared; /* it belongs to other tenants too */
	char word[FT_NOTATION_ROOM];
};

/* Two tenants that may talk; names, so that two maps can be compared. */
struct open_pair {
	const char *a, *b, *exception;
	uint16_t base;
	char through[FT_NOTATION_ROOM]; /* "": any port of the two */
};

/* What one map permits at the instant at hand. */
struct side {
	const struct ft_map *map;
	const struct ft_declared *declared;
	struct ft_ports ports;
	struct ft_list delegates; /* of the partition or segment at hand */
	struct ft_list pairs;
	int64_t from_ns, to_ns; /* the epoch that `pairs` is about */
	const struct ft_touched *touched;
	bool failed;
	struct {
		int64_t at_ns;
		uint32_t tenant; /* the partition's own; FT_NONE: segments */
		uint16_t base;   /* 0: segments */
	} here;
};

static bool in_force(const struct ft_interval *interval, int64_t at_ns)
{
	return interval->from_ns <= at_ns && at_ns < interval->to_ns;
}

/* One delegate per tenant and membership is enough, but each shared port speaks for itself. */
static bool known(const struct side *side, const struct delegate *wanted)
{
	const struct delegate *delegates = side->delegates.items;

	for (size_t i = 0; i < side->delegates.count; i++)
		if (delegates[i].tenant == wanted->tenant &&
		    delegates[i].membership == wanted->membership &&
		    delegates[i].shared == wanted->shared &&
		    (!wanted->shared || delegates[i].endpoint == wanted->endpoint))
			return true;
	return false;
}

static void add_delegate(struct side *side, const struct delegate *delegate)
{
	struct delegate *added = known(side, delegate) ? NULL : ft_list_add(&side->delegates);

	if (added != NULL)
		*added = *delegate;
}

static void add_endpoint(struct side *side, uint32_t endpoint, unsigned membership,
			 const char *word, int64_t at_ns)
{
	uint32_t owners[MOST_OWNERS];
	size_t count = ft_map_owners(side->map, endpoint, at_ns, owners, MOST_OWNERS);
	struct delegate delegate = { .endpoint = endpoint,
				     .membership = membership,
				     .shared = count > 1 };

	memcpy(delegate.word, word, strnlen(word, sizeof delegate.word - 1));
	for (size_t i = 0; i < count && i < MOST_OWNERS; i++) {
		delegate.tenant = owners[i];
		add_delegate(side, &delegate);
	}
}

static void add_member(struct side *side, const struct ft_member *member, int64_t at_ns)
{
	uint32_t port = ft_ports_first(&side->ports, member), endpoint;
	char text[FT_NOTATION_ROOM];

	if (port == FT_NONE) {
		endpoint = ft_member_endpoint(side->map, member);
		if (endpoint != FT_NONE)
			add_endpoint(side, endpoint, member->membership,
				     ft_member_word(text, member, false), at_ns);
		return;
	}
	for (; port != FT_NONE; port = ft_ports_next(&side->ports, member, port)) {
		endpoint = ft_port_endpoint(side->map, &side->declared->ports[port]);
		if (endpoint != FT_NONE)
			add_endpoint(side, endpoint, member->membership,
				     ft_port_word(text, &side->declared->ports[port]), at_ns);
	}
}

/* The shared port that opens the pair; NULL: none of the two is shared. */
static const struct delegate *outsider(const struct side *side, const struct delegate *left,
				       const struct delegate *right)
{
	if (left->shared && (!right->shared || left->tenant != side->here.tenant))
		return left;
	return right->shared ? right : NULL;
}

static void add_pair(struct side *side, const struct delegate *left, const struct delegate *right,
		     const struct ft_talk *talk)
{
	const char *a = side->declared->tenants[left->tenant].name,
		   *b = side->declared->tenants[right->tenant].name;
	struct open_pair *pair = ft_list_add(&side->pairs);
	const struct delegate *through = outsider(side, left, right);

	side->failed |= pair == NULL;
	if (pair == NULL)
		return;
	*pair = (struct open_pair){ .a = strcmp(a, b) < 0 ? a : b,
				    .b = strcmp(a, b) < 0 ? b : a,
				    .exception = talk->exception != NULL ? talk->exception : "",
				    .base = side->here.base };
	if (through != NULL)
		memcpy(pair->through, through->word, sizeof pair->through);
}

static void try_pair(struct side *side, const struct delegate *left, const struct delegate *right)
{
	struct ft_talk talk;

	ft_map_may_talk(side->map, left->endpoint, right->endpoint, side->here.at_ns, &talk);
	if (!talk.allowed || talk.grace)
		ft_map_may_talk(side->map, right->endpoint, left->endpoint, side->here.at_ns,
				&talk);
	if (talk.allowed && !talk.grace)
		add_pair(side, left, right, &talk);
}

/*
 * A port of several tenants acts for the partition's own tenant there, so what it opens is that
 * tenant to each of its others.
 */
static bool worth_trying(const struct side *side, const struct delegate *left,
			 const struct delegate *right)
{
	if (left->tenant == right->tenant || left->endpoint == right->endpoint ||
	    ((left->membership | right->membership) & FT_FULL) == 0)
		return false;
	return (!left->shared && !right->shared) || left->tenant == side->here.tenant ||
	       right->tenant == side->here.tenant;
}

/* Pairs over the partition, or the segments, at hand. */
static void pair_delegates(struct side *side)
{
	const struct delegate *delegates = side->delegates.items;

	for (size_t i = 0; i < side->delegates.count; i++)
		for (size_t j = i + 1; j < side->delegates.count; j++)
			if (worth_trying(side, &delegates[i], &delegates[j]))
				try_pair(side, &delegates[i], &delegates[j]);
	side->delegates.count = 0;
}

static void add_members(struct side *side, const struct ft_partition *partition, int64_t at_ns)
{
	for (size_t i = 0; i < partition->interval_count; i++) {
		const struct ft_interval *interval = &partition->intervals[i];

		for (size_t j = 0; in_force(interval, at_ns) && j < interval->member_count; j++)
			add_member(side, &interval->members[j], at_ns);
	}
}

static void pair_partitions(struct side *side, int64_t at_ns)
{
	for (size_t i = 0; i < side->declared->partition_count; i++) {
		const struct ft_partition *partition = &side->declared->partitions[i];

		if (!ft_touches_partition(side->touched, &side->ports, partition))
			continue;
		add_members(side, partition, at_ns);
		side->here.base = partition->base;
		side->here.tenant = partition->tenant;
		pair_delegates(side);
	}
}

/* In segments only an exception lets two tenants talk; a subnet's first address stands for it. */
static void add_segment_member(struct side *side, uint32_t tenant, const struct ft_member *member)
{
	struct delegate delegate = { .tenant = tenant, .membership = FT_FULL, .endpoint = FT_NONE };
	uint32_t port = ft_ports_first(&side->ports, member);

	delegate.endpoint = port != FT_NONE
				    ? ft_port_endpoint(side->map, &side->declared->ports[port])
				    : ft_member_endpoint(side->map, member);
	if (delegate.endpoint != FT_NONE)
		add_delegate(side, &delegate);
}

static bool concerns(const struct ft_exception *exception, uint32_t tenant)
{
	if (exception->kind == FT_EXCEPT_MULTICAST)
		return false;
	if (exception->any_from || exception->to_tenant == FT_NONE ||
	    exception->to_tenant == tenant)
		return true;
	for (size_t i = 0; i < exception->from_count; i++)
		if (exception->from_tenants[i] == tenant)
			return true;
	return false;
}

static bool any_concerns(const struct ft_declared *declared, uint32_t tenant)
{
	for (size_t i = 0; i < declared->exception_count; i++)
		if (concerns(&declared->exceptions[i], tenant))
			return true;
	return false;
}

static void pair_segments(struct side *side, int64_t at_ns)
{
	for (size_t i = 0; side->touched->segments && i < side->declared->segment_count; i++) {
		const struct ft_segment *segment = &side->declared->segments[i];

		if (!any_concerns(side->declared, segment->tenant))
			continue;
		for (size_t j = 0; j < segment->interval_count; j++)
			for (size_t k = 0; in_force(&segment->intervals[j], at_ns) &&
					   k < segment->intervals[j].member_count;
			     k++)
				add_segment_member(side, segment->tenant,
						   &segment->intervals[j].members[k]);
	}
	side->here.base = 0;
	side->here.tenant = FT_NONE;
	pair_delegates(side);
}

static int order(const struct open_pair *left, const struct open_pair *right)
{
	int difference = strcmp(left->a, right->a);

	if (difference == 0)
		difference = strcmp(left->b, right->b);
	if (difference == 0)
		difference = strcmp(left->through, right->through);
	if (difference == 0)
		difference = strcmp(left->exception, right->exception);
	return difference != 0 ? difference : left->base - right->base;
}

static int by_names(const void *a, const void *b)
{
	return order(a, b);
}

/* Work out what is open at `at_ns`, unless that is known from the same epoch. */
static void look(struct side *side, int64_t at_ns)
{
	struct open_pair *pairs;
	size_t kept = 0;

	if (at_ns < side->to_ns)
		return;
	ft_map_epoch(side->map, at_ns, &side->from_ns, &side->to_ns);
	side->pairs.count = 0;
	side->here.at_ns = at_ns;
	pair_partitions(side, at_ns);
	pair_segments(side, at_ns);
	pairs = side->pairs.items;
	if (side->pairs.count > 1)
		qsort(pairs, side->pairs.count, sizeof *pairs, by_names);
	for (size_t i = 0; i < side->pairs.count; i++)
		if (kept == 0 || order(&pairs[kept - 1], &pairs[i]) != 0)
			pairs[kept++] = pairs[i];
	side->pairs.count = kept;
}

/* A difference that the stretch before had too is made longer. */
static void note(json_t *found, const struct open_pair *pair, const char *change, int64_t from_ns,
		 int64_t to_ns)
{
	json_t *document = json_pack(
		"{s:o, s:o, s:s, s:o, s:o, s:o}", "a", ft_json_text(pair->a), "b",
		ft_json_text(pair->b), "change", change, "via",
		pair->base != 0 ? ft_json_pkey(pair->base) : json_null(), "exception",
		pair->exception[0] != '\0' ? ft_json_text(pair->exception) : json_null(), "through",
		pair->through[0] != '\0' ? ft_json_text(pair->through) : json_null());
	json_t *from = ft_json_moment(from_ns), *to = ft_json_moment(to_ns);

	for (size_t i = json_array_size(found); i > 0; i--) {
		json_t *before = json_array_get(found, i - 1), *same = json_copy(before);
		bool continues =
			json_equal(json_object_get(before, "to"), from) && !json_is_null(from);

		json_object_del(same, "from");
		json_object_del(same, "to");
		continues = continues && json_equal(same, document);
		json_decref(same);
		if (!continues)
			continue;
		json_object_set_new(before, "to", to);
		json_decref(from);
		json_decref(document);
		return;
	}
	json_object_set_new(document, "from", from);
	json_object_set_new(document, "to", to);
	json_array_append_new(found, document);
}

static void compare(json_t *found, const struct side *old, const struct side *new, int64_t from_ns,
		    int64_t to_ns)
{
	const struct open_pair *left = old->pairs.items, *right = new->pairs.items;
	size_t i = 0, j = 0;

	while (i < old->pairs.count || j < new->pairs.count) {
		int difference = i == old->pairs.count   ? 1
				 : j == new->pairs.count ? -1
							 : order(&left[i], &right[j]);

		if (difference < 0)
			note(found, &left[i], "closes", from_ns, to_ns);
		else if (difference > 0)
			note(found, &right[j], "opens", from_ns, to_ns);
		i += difference <= 0;
		j += difference >= 0;
	}
}

static int open_side(struct side *side, const struct ft_map *map, const struct ft_touched *touched)
{
	*side = (struct side){ .map = map,
			       .declared = ft_map_declared(map),
			       .touched = touched,
			       .delegates.item_size = sizeof(struct delegate),
			       .pairs.item_size = sizeof(struct open_pair),
			       .to_ns = FT_TIME_MIN };
	return ft_ports_open(&side->ports, side->declared);
}

static void close_side(struct side *side)
{
	ft_ports_close(&side->ports);
	ft_list_release(&side->delegates);
	ft_list_release(&side->pairs);
}

static void walk(json_t *found, struct side *old, struct side *new)
{
	int64_t at_ns = 0, next_ns; /* 1970: a tapmap knows nothing earlier */

	for (; at_ns != FT_TIME_MAX; at_ns = next_ns) {
		look(old, at_ns);
		look(new, at_ns);
		next_ns = old->to_ns < new->to_ns ? old->to_ns : new->to_ns;
		compare(found, old, new, at_ns, next_ns);
	}
}

json_t *ft_diff_pairs(const struct ft_map *old, const struct ft_map *new, const json_t *members,
		      bool everywhere)
{
	struct side sides[2] = { 0 };
	struct ft_touched touched;
	json_t *found = json_array();
	int failed = ft_touched_read(&touched, members, everywhere);

	if (failed == 0)
		failed = open_side(&sides[0], old, &touched);
	if (failed == 0)
		failed = open_side(&sides[1], new, &touched);
	if (failed == 0 && found != NULL)
		walk(found, &sides[0], &sides[1]);
	close_side(&sides[0]);
	close_side(&sides[1]);
	ft_touched_release(&touched);
	if (failed == 0 && !sides[0].failed && !sides[1].failed)
		return found;
	json_decref(found);
	return NULL;
}
