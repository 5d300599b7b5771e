#include "diff_members.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "opensm_resolved.h"
#include "ports.h"

/* One member line, for one port and one interval. */
struct held {
	const char *in, *who;
	const char *tenant, *host;
	int64_t from_ns, to_ns;
	uint8_t membership;
};

/* All of one map, by place and port. */
struct side {
	const struct ft_declared *declared;
	struct ft_arena *arena;
	struct ft_ports ports;
	struct ft_list held;
};

static int add(struct side *side, const struct held *held, const char *who)
{
	struct held *added = ft_list_add(&side->held);

	if (added == NULL)
		return -ENOMEM;
	*added = *held;
	added->who = ft_arena_text(side->arena, who, strlen(who));
	return added->who != NULL ? 0 : -ENOMEM;
}

static int add_member(struct side *side, struct held held, const struct ft_member *member)
{
	uint32_t port = ft_ports_first(&side->ports, member);
	char text[FT_NOTATION_ROOM];
	int failed = 0;

	held.membership = (uint8_t)member->membership;
	if (port == FT_NONE)
		return add(side, &held, ft_member_word(text, member, false));
	for (; failed == 0 && port != FT_NONE; port = ft_ports_next(&side->ports, member, port)) {
		held.host = side->declared->ports[port].host;
		failed = add(side, &held, ft_port_word(text, &side->declared->ports[port]));
	}
	return failed;
}

static int add_intervals(struct side *side, struct held held, const struct ft_interval *intervals,
			 size_t count)
{
	int failed = held.in != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; i < count; i++) {
		held.from_ns = intervals[i].from_ns;
		held.to_ns = intervals[i].to_ns;
		for (size_t j = 0; failed == 0 && j < intervals[i].member_count; j++)
			failed = add_member(side, held, &intervals[i].members[j]);
	}
	return failed;
}

static const char *place(struct side *side, const char *what, const char *name)
{
	size_t length = strlen(what) + strlen(name);
	char *text = ft_arena_take(side->arena, length + 1);

	if (text != NULL)
		snprintf(text, length + 1, "%s%s", what, name);
	return text;
}

static int by_place(const void *a, const void *b)
{
	const struct held *left = a, *right = b;
	int order = strcmp(left->in, right->in);

	if (order == 0)
		order = strcmp(left->who, right->who);
	if (order == 0)
		order = (left->from_ns > right->from_ns) - (left->from_ns < right->from_ns);
	return order;
}

static int collect(struct side *side)
{
	const struct ft_declared *declared = side->declared;
	char text[FT_NOTATION_ROOM];
	int failed = 0;

	for (size_t i = 0; failed == 0 && i < declared->partition_count; i++) {
		const struct ft_partition *partition = &declared->partitions[i];
		struct held held = { .in = place(side, ft_pkey_write(text, partition->base), ""),
				     .tenant = ft_owner_name(declared, partition->tenant) };

		failed = add_intervals(side, held, partition->intervals, partition->interval_count);
	}
	for (size_t i = 0; failed == 0 && i < declared->segment_count; i++) {
		const struct ft_segment *segment = &declared->segments[i];
		struct held held = { .in = place(side, "segment ", segment->name),
				     .tenant = ft_owner_name(declared, segment->tenant) };

		failed = add_intervals(side, held, segment->intervals, segment->interval_count);
	}
	if (failed == 0 && side->held.count != 0)
		qsort(side->held.items, side->held.count, sizeof(struct held), by_place);
	return failed;
}

static int open_side(struct side *side, const struct ft_declared *declared)
{
	*side = (struct side){ .declared = declared,
			       .arena = ft_arena_create(),
			       .held.item_size = sizeof(struct held) };
	if (side->arena == NULL)
		return -ENOMEM;
	return ft_ports_open(&side->ports, declared) == 0 ? collect(side) : -ENOMEM;
}

static void close_side(struct side *side)
{
	ft_list_release(&side->held);
	ft_ports_close(&side->ports);
	ft_arena_destroy(side->arena);
}

/* The lines of one place and port, in both maps. */
struct both {
	const struct held *lines[2];
	size_t counts[2];
};

/* Equally specific lines: full wins. 0: no member. */
static unsigned membership_at(const struct both *both, int side, int64_t at_ns)
{
	unsigned membership = 0;

	for (size_t i = 0; i < both->counts[side]; i++) {
		const struct held *line = &both->lines[side][i];

		if (line->from_ns <= at_ns && at_ns < line->to_ns && line->membership > membership)
			membership = line->membership;
	}
	return membership;
}

/* The next instant after `at_ns` at which any of the lines begins or ends. */
static int64_t next_change(const struct both *both, int64_t at_ns)
{
	int64_t next = FT_TIME_MAX;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < both->counts[side]; i++) {
			const struct held *line = &both->lines[side][i];

			if (line->from_ns > at_ns && line->from_ns < next)
				next = line->from_ns;
			if (line->to_ns > at_ns && line->to_ns < next)
				next = line->to_ns;
		}
	}
	return next;
}

static json_t *membership_text(unsigned membership)
{
	return membership == 0 ? json_null()
			       : json_string(ft_membership_word((enum ft_membership)membership));
}

static void add_difference(json_t *found, const struct held *line, unsigned old, unsigned new,
			   int64_t from_ns, int64_t to_ns)
{
	json_array_append_new(
		found, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "in",
				 ft_json_text(line->in), "tenant", ft_json_text(line->tenant),
				 "who", ft_json_text(line->who), "host", ft_json_text(line->host),
				 "old", membership_text(old), "new", membership_text(new), "from",
				 ft_json_moment(from_ns), "to", ft_json_moment(to_ns)));
}

static void compare_port(json_t *found, const struct both *both)
{
	const struct held *line = both->counts[1] != 0 ? both->lines[1] : both->lines[0];
	int64_t at_ns = 0, since_ns = 0; /* 1970: a tapmap knows nothing earlier */
	unsigned old = membership_at(both, 0, at_ns), new = membership_at(both, 1, at_ns);

	while (at_ns != FT_TIME_MAX) {
		int64_t next_ns = next_change(both, at_ns);
		unsigned then_old = membership_at(both, 0, next_ns),
			 then_new = membership_at(both, 1, next_ns);

		if (next_ns == FT_TIME_MAX || then_old != old || then_new != new) {
			if (old != new)
				add_difference(found, line, old, new, since_ns, next_ns);
			since_ns = next_ns;
			old = then_old;
			new = then_new;
		}
		at_ns = next_ns;
	}
}

/* How many lines from `start` on are of one place and port. */
static size_t group(const struct side *side, size_t start)
{
	const struct held *lines = side->held.items;
	size_t end = start + 1;

	while (end < side->held.count && strcmp(lines[end].in, lines[start].in) == 0 &&
	       strcmp(lines[end].who, lines[start].who) == 0)
		end++;
	return end - start;
}

static int order_of(const struct side *old, size_t i, const struct side *new, size_t j)
{
	const struct held *left = (const struct held *)old->held.items + i,
			  *right = (const struct held *)new->held.items + j;
	int order;

	if (i == old->held.count || j == new->held.count)
		return i == old->held.count ? 1 : -1;
	order = strcmp(left->in, right->in);
	return order != 0 ? order : strcmp(left->who, right->who);
}

static json_t *compare(const struct side *old, const struct side *new)
{
	json_t *found = json_array();
	size_t i = 0, j = 0;

	while (i < old->held.count || j < new->held.count) {
		int order = order_of(old, i, new, j);
		struct both both = { .lines = { (const struct held *)old->held.items + i,
						(const struct held *)new->held.items + j },
				     .counts = { order <= 0 ? group(old, i) : 0,
						 order >= 0 ? group(new, j) : 0 } };

		compare_port(found, &both);
		i += both.counts[0];
		j += both.counts[1];
	}
	return found;
}

/* The map itself, or its rules resolved; *failed is set on no memory. */
static const struct ft_declared *comparable(const struct ft_declared *declared,
					    struct ft_resolved *resolved, int *failed)
{
	*resolved = (struct ft_resolved){ 0 };
	if (!declared->last_rule_wins || !ft_resolvable(declared))
		return declared;
	*failed |= ft_resolve(resolved, declared);
	return &resolved->declared;
}

json_t *ft_diff_members(const struct ft_declared *old, const struct ft_declared *new)
{
	struct ft_resolved resolved[2];
	struct side sides[2] = { 0 };
	int failed = 0;
	const struct ft_declared *left = comparable(old, &resolved[0], &failed);
	const struct ft_declared *right = comparable(new, &resolved[1], &failed);
	json_t *found = NULL;

	if (failed == 0)
		failed = open_side(&sides[0], left);
	if (failed == 0)
		failed = open_side(&sides[1], right);
	if (failed == 0)
		found = compare(&sides[0], &sides[1]);
	for (int i = 0; i < 2; i++) {
		close_side(&sides[i]);
		ft_arena_destroy(resolved[i].arena);
	}
	return found;
}
