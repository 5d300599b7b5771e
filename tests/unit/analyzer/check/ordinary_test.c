/*
 * Which frames are judged the short way: those whose ends one customer's partition in force lists, or one tenant's
 * segments hold.
 */
#include "maps.h"

#include "case.h"

enum { RED, GREEN, STORE };
enum { R1 = 1, R2, R3, R4, G1, BOTH, NAS, LONE, OUTSIDER = 99 };

static const struct ft_declared fabric = {
	.format = "tapmap",
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER },
		{ .name = "store", .class = FT_SHARED }),
	PORTS(IB_PORT("r1", R1), IB_PORT("r2", R2), IB_PORT("r3", R3), IB_PORT("r4", R4),
	      IB_PORT("g1", G1), IB_PORT("both", BOTH), IB_PORT("nas", NAS), IB_PORT("lone", LONE)),
	PARTITIONS({ .base = 1,
		     .tenant = RED,
		     INTERVALS(DURING(100, 200, EVERYONE(FT_FULL), FULL("r1"), FULL("r2"),
				      LIMITED("r3"), LIMITED("r4"), FULL("both"))) },
		   { .base = 2, .tenant = GREEN, ALWAYS(FULL("g1"), FULL("both")) },
		   { .base = 3, .tenant = STORE, ALWAYS(FULL("nas"), FULL("r1")) },
		   { .base = 4, .tenant = RED, ALWAYS(FULL("r1"), FULL("r2")) },
		   { .base = 4, .tenant = GREEN, ALWAYS(FULL("both"), FULL("r1")) },
		   { .base = 0x7fff, .tenant = RED, ALWAYS(FULL("r1"), FULL("r2")) }),
};

struct short_case {
	const char *says;
	struct ft_check_key key;
	int64_t ts_ns;
	bool ordinary;
};
static const struct short_case pkey_cases[] = {
	{ "two full members", { IB(R1, R2, 0x8001) }, SECONDS(150), true },
	{ "a full member may claim less", { IB(R1, R2, 0x0001) }, SECONDS(150), true },
	{ "full to limited", { IB(R1, R3, 0x8001) }, SECONDS(150), true },
	{ "limited to full", { IB(R3, R1, 0x0001) }, SECONDS(150), true },
	{ "to itself", { IB(R1, R1, 0x8001) }, SECONDS(150), true },
	{ "QP1 of a partition", { IB(R1, R2, 0x8001), .qp_kind = 1 }, SECONDS(150), true },
	{ "an owner of two acts for the base", { IB(G1, BOTH, 0x8002) }, SECONDS(150), true },
	{ "no Q_Key to be seen",
	  { IB(R1, R2, 0x8001), .known = ALL_KNOWN & ~FT_NEED_QKEY },
	  SECONDS(150),
	  true },
	{ "at the first instant", { IB(R1, R2, 0x8001) }, SECONDS(100), true },
	{ "at the end of the interval", { IB(R1, R2, 0x8001) }, SECONDS(200), false },
	{ "before the interval", { IB(R1, R2, 0x8001) }, SECONDS(100) - 1, false },
	{ "limited to limited", { IB(R3, R4, 0x0001) }, SECONDS(150), false },
	{ "overclaimed", { IB(R3, R1, 0x8001) }, SECONDS(150), false },
	{ "listed by `all` alone, which owns nothing",
	  { IB(R1, LONE, 0x8001) },
	  SECONDS(150),
	  false },
	{ "the sender is listed by `all` alone", { IB(G1, R1, 0x8001) }, SECONDS(150), false },
	{ "receiver not a member", { IB(G1, R1, 0x8002) }, SECONDS(150), false },
	{ "undeclared receiver", { IB(R1, OUTSIDER, 0x8001) }, SECONDS(150), false },
	{ "a group", { IB(R1, 0xc001, 0x8001) }, SECONDS(150), false },
	{ "undeclared base", { IB(R1, R2, 0x8055) }, SECONDS(150), false },
	{ "base 0", { IB(R1, R2, 0x8000) }, SECONDS(150), false },
	{ "the default partition", { IB(R1, R2, 0xffff) }, SECONDS(150), false },
	{ "a shared tenant's partition", { IB(R1, NAS, 0x8003) }, SECONDS(150), false },
	{ "two partitions of one base", { IB(R1, R1, 0x8004) }, SECONDS(150), false },
	{ "an SMP", { IB(BOTH, BOTH, 0x8002), .qp_kind = 0 }, SECONDS(150), false },
	{ "no address to be seen",
	  { IB(R1, R2, 0x8001), .known = ALL_KNOWN & ~FT_NEED_ADDRESSES },
	  SECONDS(150),
	  false },
	{ "no P_Key to be seen",
	  { IB(R1, R2, 0x8001), .known = ALL_KNOWN & ~FT_NEED_PKEY },
	  SECONDS(150),
	  false },
};

#define ADDRESS(n)        IPV4(10, 0, n, 1)
#define VLAN_10(from, to) ROCE(ADDRESS(from), ADDRESS(to)), .vlan = 10

static const struct ft_declared segments = {
	.format = "tapmap",
	.is_roce = true,
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER }),
	SEGMENTS({ .tenant = RED,
		   INTERVALS(DURING(100, 200, VLAN(10), NET(10, 0, 1, 0, 24), NET(10, 0, 2, 0, 24),
				    NET(10, 0, 4, 0, 24))) },
		 { .tenant = GREEN, ALWAYS(VLAN(10), NET(10, 0, 3, 0, 24), NET(10, 0, 4, 0, 24)) }),
};
static const struct short_case segment_cases[] = {
	{ "both at home", { VLAN_10(1, 2) }, SECONDS(150), true },
	{ "QP1 is judged alike", { VLAN_10(1, 2), .qp_kind = 1 }, SECONDS(150), true },
	{ "after the interval", { VLAN_10(1, 2) }, SECONDS(200), false },
	{ "of two tenants", { VLAN_10(1, 3) }, SECONDS(150), false },
	{ "sender with two tenants", { VLAN_10(4, 1) }, SECONDS(150), false },
	{ "receiver with two tenants", { VLAN_10(1, 4) }, SECONDS(150), false },
	{ "undeclared sender", { VLAN_10(9, 1) }, SECONDS(150), false },
	{ "undeclared receiver", { VLAN_10(1, 9) }, SECONDS(150), false },
	{ "routed into another VLAN",
	  { ROCE(ADDRESS(1), ADDRESS(2)), .vlan = 20 },
	  SECONDS(150),
	  false },
	{ "unusual P_Key", { VLAN_10(1, 2), .pkey = 0x8001 }, SECONDS(150), false },
	{ "base 0", { VLAN_10(1, 2), .pkey = 0x8000 }, SECONDS(150), false },
	{ "a group", { VLAN_10(1, 2), .dst = IPV4(224, 0, 1, 1) }, SECONDS(150), false },
	{ "no tags to be seen",
	  { VLAN_10(1, 2), .known = ALL_KNOWN & ~FT_NEED_TAGS },
	  SECONDS(150),
	  false },
};

static bool same(const struct ft_verdict *a, const struct ft_verdict *b)
{
	return a->rules == b->rules && a->now == b->now && a->undecided == b->undecided &&
	       a->grace == b->grace && a->src.tenant == b->src.tenant &&
	       a->dst.tenant == b->dst.tenant && a->src.endpoint == b->src.endpoint &&
	       a->dst.endpoint == b->dst.endpoint && a->exception == b->exception &&
	       a->partition == b->partition && a->origin.file == b->origin.file;
}

static void assert_short_cases(const struct ft_declared *declared, const struct short_case *cases,
			       size_t count)
{
	struct ft_map *map = compiled(declared);

	for (size_t i = 0; i < count; i++) {
		struct ft_verdict shortly, fully;
		struct ft_case frame;
		bool ordinary;

		ft_case_open(&frame, map, &cases[i].key);
		ordinary = ft_check_ordinary(&frame, cases[i].ts_ns, &shortly);
		ft_check_ladders(&frame, cases[i].ts_ns, &fully);
		if (ordinary != cases[i].ordinary || (ordinary && !same(&shortly, &fully)))
			fail_msg("%s", cases[i].says);
	}
	ft_map_destroy(map);
}

static void the_short_way_is_for_members_of_a_partition(void **state)
{
	(void)state;
	assert_short_cases(&fabric, pkey_cases, sizeof pkey_cases / sizeof *pkey_cases);
}

static void the_short_way_is_for_ends_at_home_in_segments(void **state)
{
	(void)state;
	assert_short_cases(&segments, segment_cases, sizeof segment_cases / sizeof *segment_cases);
}

/* More intervals than are kept: the holders are asked, and say the same. */
static void a_port_of_very_many_intervals_is_asked_about(void **state)
{
	enum { MANY = FT_LISTINGS_MAX + 1 };
	static const struct ft_member members[] = { FULL("r1"), FULL("r2") };
	const struct ft_check_key key = { IB(R1, R2, 0x8001) };
	struct ft_interval intervals[MANY];
	struct ft_declared jobs = fabric;
	struct ft_partition partition = { .base = 1, .tenant = RED, .intervals = intervals };

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		intervals[i] = (struct ft_interval){ .from_ns = SECONDS(10 * i),
						     .to_ns = SECONDS(10 * i + 5),
						     .members = members,
						     .member_count = 2 };
	jobs.partitions = &partition;
	jobs.partition_count = 1;
	for (unsigned count = MANY - 1; count <= MANY; count++) {
		struct ft_verdict verdict;
		struct ft_case frame;
		struct ft_map *map;

		partition.interval_count = count;
		map = compiled(&jobs);
		ft_case_open(&frame, map, &key);
		assert_int_equal(ft_check_ordinary(&frame, SECONDS(12), &verdict), count < MANY);
		ft_check(map, &key, SECONDS(12), &verdict);
		assert_int_equal(verdict.rules, 0);
		assert_int_equal(verdict.src.tenant, RED);
		ft_map_destroy(map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_short_way_is_for_members_of_a_partition),
		cmocka_unit_test(the_short_way_is_for_ends_at_home_in_segments),
		cmocka_unit_test(a_port_of_very_many_intervals_is_asked_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
