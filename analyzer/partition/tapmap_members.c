#include "tapmap.h"

#include <stdlib.h>
#include <string.h>

#include <partition/moment.h>

/* A member while its keys are read; exactly one of them may say who it is. */
struct member_reading {
	struct ft_member member;
	unsigned kinds; /* keys seen that say who */
};

static void is(struct member_reading *at, enum ft_member_kind kind)
{
	at->member.kind = kind;
	at->kinds++;
}

static void read_all(struct ft_reading *reading, struct ft_value value, void *into)
{
	bool all = false;

	is(into, FT_MEMBER_ALL);
	if (ft_read_bool(reading, value, &all) && !all)
		ft_refuse(reading, value, "bad-member", "\"all\" can only be true");
}

static void read_host(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct member_reading *at = into;

	is(at, FT_MEMBER_HOST);
	at->member.host = ft_read_string(reading, value);
}

static void read_guid(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct member_reading *at = into;

	is(at, FT_MEMBER_GUID);
	ft_read_hex(reading, value, 1, UINT64_MAX, "out-of-range", &at->member.guid);
}

static void read_gid(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct member_reading *at = into;

	is(at, FT_MEMBER_PREFIX);
	at->member.is_gid = true;
	ft_read_address(reading, value, false, &at->member.prefix);
}

static void read_ip(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct member_reading *at = into;

	is(at, FT_MEMBER_PREFIX);
	ft_read_address(reading, value, false, &at->member.prefix);
}

static void read_subnet(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct member_reading *at = into;

	is(at, FT_MEMBER_PREFIX);
	at->member.is_subnet = true;
	ft_read_address(reading, value, true, &at->member.prefix);
}

static void read_mac(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct member_reading *at = into;

	is(at, FT_MEMBER_MAC);
	ft_read_mac(reading, value, at->member.mac);
}

static void read_number(struct ft_reading *reading, struct ft_value value, int64_t most,
			struct member_reading *at)
{
	int64_t number;

	if (ft_read_integer(reading, value, 1, most, &number))
		at->member.number = (uint32_t)number;
}

static void read_lid(struct ft_reading *reading, struct ft_value value, void *into)
{
	is(into, FT_MEMBER_LID);
	read_number(reading, value, FT_LIDS - 1, into);
}

static void read_vlan(struct ft_reading *reading, struct ft_value value, void *into)
{
	is(into, FT_MEMBER_VLAN);
	read_number(reading, value, 4094, into);
}

static void read_vni(struct ft_reading *reading, struct ft_value value, void *into)
{
	is(into, FT_MEMBER_VNI);
	read_number(reading, value, (1 << 24) - 1, into);
}

static void read_membership(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const char *const words[] = { "limited", "full", "both", NULL };
	int word = ft_read_word(reading, value, words);

	((struct member_reading *)into)->member.membership = (enum ft_membership)(word + 1);
}

static const struct ft_object_field partition_members[] = {
	{ "host", false, read_host }, { "membership", true, read_membership },
	{ "guid", false, read_guid }, { "all", false, read_all },
	{ "lid", false, read_lid },   { "gid", false, read_gid },
	{ "ip", false, read_ip },     { "subnet", false, read_subnet },
	{ "mac", false, read_mac },   { 0 },
};

static const struct ft_object_field segment_members[] = {
	{ "ip", false, read_ip },
	{ "subnet", false, read_subnet },
	{ "vlan", false, read_vlan },
	{ "vni", false, read_vni },
	{ "mac", false, read_mac },
	{ "gid", false, read_gid },
	{ "host", false, read_host },
	{ "all", false, read_all },
	{ 0 },
};

struct member_list {
	struct ft_member *members;
	size_t count;
	bool segment;
};

/* The name as the node has it, so that it outlives the document. */
static void resolve_host(struct ft_reading *reading, struct ft_value value,
			 struct ft_member *member)
{
	const struct ft_builder *builder = reading->builder;
	const struct ft_port *ports = builder->ports.items;
	uint32_t port = ft_keys_find(&builder->hosts, member->host, strlen(member->host));

	if (port != FT_NONE && port < builder->ports.count)
		member->host = ports[port].host;
	else
		ft_refuse(reading, value, "unknown-host", "no node is named \"%.80s\"",
			  member->host);
}

static void read_member(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct member_list *list = into;
	struct member_reading at = { .member.membership = FT_FULL };
	const struct ft_object_field *fields = list->segment ? segment_members : partition_members;

	if (!ft_read_object(reading, value, fields, &at, NULL))
		return;
	if (at.kinds != 1) {
		ft_refuse(reading, value, "bad-member",
			  "a member is named by exactly one key, not by %u", at.kinds);
		return;
	}
	if (at.member.kind == FT_MEMBER_HOST)
		resolve_host(reading, value, &at.member);
	at.member.origin = ft_reading_origin(reading, value);
	list->members[list->count++] = at.member;
}

struct interval_reading {
	struct ft_interval interval;
	bool segment;
};

static void read_from(struct ft_reading *reading, struct ft_value value, void *into)
{
	ft_read_moment(reading, value, &((struct interval_reading *)into)->interval.from_ns);
}

static void read_to(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_interval *interval = &((struct interval_reading *)into)->interval;

	interval->to_ns = FT_TIME_MAX;
	if (!json_is_null(value.json))
		ft_read_moment(reading, value, &interval->to_ns);
}

static void read_reason(struct ft_reading *reading, struct ft_value value, void *into)
{
	if (!json_is_null(value.json))
		((struct interval_reading *)into)->interval.reason = ft_read_name(reading, value);
}

static void read_members(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct interval_reading *at = into;
	struct member_list list = { .segment = at->segment };

	list.members =
		ft_builder_take(reading->builder, ft_array_size(value) * sizeof *list.members);
	if (list.members == NULL)
		return;
	ft_read_array(reading, value, read_member, &list);
	at->interval.members = list.members;
	at->interval.member_count = list.count;
}

static const struct ft_object_field interval_fields[] = {
	{ "from", true, read_from },
	{ "to", true, read_to },
	{ "reason", false, read_reason },
	{ "members", true, read_members },
	{ 0 },
};

static int by_time(const void *a, const void *b)
{
	const struct ft_interval *left = a, *right = b;

	if (left->from_ns != right->from_ns)
		return left->from_ns < right->from_ns ? -1 : 1;
	return (left->origin.line > right->origin.line) - (left->origin.line < right->origin.line);
}

static void put_in_order(struct ft_reading *reading, struct ft_interval_list *list)
{
	struct ft_interval *intervals = list->intervals;
	char text[FT_MOMENT_ROOM];

	if (list->count > 1)
		qsort(intervals, list->count, sizeof *intervals, by_time);
	for (size_t i = 1; i < list->count; i++)
		if (intervals[i - 1].to_ns > intervals[i].from_ns)
			ft_diagnose(reading->builder, FT_ERROR, "interval-overlap",
				    intervals[i].origin,
				    "begins at %s, before the interval of line %u ends",
				    ft_moment_write(text, intervals[i].from_ns),
				    intervals[i - 1].origin.line);
}

static void read_interval(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_interval_list *list = into;
	struct interval_reading at = { .segment = list->segment };

	if (!ft_read_object(reading, value, interval_fields, &at, NULL))
		return;
	at.interval.origin = ft_reading_origin(reading, value);
	if (at.interval.from_ns >= at.interval.to_ns)
		ft_refuse(reading, value, "interval-empty", "it ends before it begins");
	else
		list->intervals[list->count++] = at.interval;
}

void ft_tapmap_intervals(struct ft_reading *reading, struct ft_value value,
			 struct ft_interval_list *list)
{
	list->intervals =
		ft_builder_take(reading->builder, ft_array_size(value) * sizeof *list->intervals);
	if (list->intervals == NULL)
		return;
	ft_read_array(reading, value, read_interval, list);
	put_in_order(reading, list);
}
