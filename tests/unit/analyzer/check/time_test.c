/* Intervals, grace and traffic outside of its time: docs/verdict-rules.md, section 7. */
#include "maps.h"

#include <partition/map.h>

enum { RED, BLUE, GREEN, STORE };
#define FROM_RED  .from = RED + 1
#define FROM_BLUE .from = BLUE + 1
#define TO_RED    .to = RED + 1
#define TO_BLUE   .to = BLUE + 1
enum { R1 = 1, R2, B1, B2, MOVER, G1, G2, LENDER };

#define UD 3 /* service */

/* "mover" leaves red for blue at 100 s; green has a gap from 50 to 80; grace is 10 s. */
static const struct ft_declared jobs = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER },
		{ .name = "green", .class = FT_CUSTOMER }, { .name = "store", .class = FT_SHARED }),
	PORTS(IB_PORT("r1", R1), IB_PORT("r2", R2), IB_PORT("b1", B1), IB_PORT("b2", B2),
	      IB_PORT("mover", MOVER), IB_PORT("g1", G1), IB_PORT("g2", G2),
	      IB_PORT("lender", LENDER)),
	PARTITIONS({ .base = 1,
		     .tenant = RED,
		     AT_LINE(10),
		     INTERVALS({ .from_ns = SECONDS(10),
				 .to_ns = SECONDS(100),
				 AT_LINE(11),
				 MEMBERS(FULL("r1"), FULL("r2"), FULL("mover")) },
			       { .from_ns = SECONDS(100),
				 .to_ns = FT_TIME_MAX,
				 AT_LINE(12),
				 MEMBERS(FULL("r1"), LIMITED("r2")) }) },
		   { .base = 2,
		     .tenant = BLUE,
		     AT_LINE(20),
		     INTERVALS({ .from_ns = SECONDS(10),
				 .to_ns = SECONDS(100),
				 AT_LINE(21),
				 MEMBERS(FULL("b1"), FULL("b2")) },
			       { .from_ns = SECONDS(100),
				 .to_ns = FT_TIME_MAX,
				 AT_LINE(22),
				 MEMBERS(FULL("b1"), FULL("b2"), FULL("mover")) }) },
		   { .base = 3,
		     .tenant = GREEN,
		     AT_LINE(30),
		     INTERVALS({ .from_ns = SECONDS(10),
				 .to_ns = SECONDS(50),
				 AT_LINE(31),
				 MEMBERS(FULL("g1"), FULL("g2")) },
			       { .from_ns = SECONDS(80),
				 .to_ns = SECONDS(200),
				 AT_LINE(32),
				 MEMBERS(FULL("g1"), FULL("g2")) }) },
		   { .base = 4,
		     .tenant = STORE,
		     ALWAYS(FULL("lender"), FULL("r1"), LIMITED("b1"), FULL("mover")) },
		   { .base = 5, .tenant = BLUE, INTERVALS(DURING(300, 310, FULL("g1"))) },
		   { .base = 6, .tenant = BLUE, INTERVALS(DURING(10, 50, FULL("b1"))) },
		   { .base = 6, .tenant = BLUE, INTERVALS(DURING(10, 50, FULL("b2"))) }),
	.grace_ns = SECONDS(10),
};

#define JUST_BEFORE(s) (SECONDS(s) - 1)

static void frames_are_judged_by_their_own_time(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "in its interval",
		  { IB(MOVER, R1, 0x8001) }, JUST_BEFORE(100), 0, FROM_RED, TO_RED },
		{ "the end of an interval is excluded: grace begins",
		  { IB(MOVER, R1, 0x8001) }, SECONDS(100), R(TENANT_GRACE), FROM_BLUE, TO_RED,
		  .critical = true, .line = 11 },
		{ "the last instant of grace",
		  { IB(MOVER, R1, 0x8001) }, JUST_BEFORE(110), R(TENANT_GRACE), FROM_BLUE, TO_RED,
		  .critical = true },
		{ "exactly the grace after the change",
		  { IB(MOVER, R1, 0x8001) }, SECONDS(110),
		  R(TENANT_OUTSIDE_VALIDITY) | R(TENANT_CROSSING), FROM_BLUE, TO_RED,
		  .critical = true, .line = 11 },
		{ "and for the answer",
		  { IB(R1, MOVER, 0x8001) }, SECONDS(110),
		  R(TENANT_OUTSIDE_VALIDITY) | R(TENANT_CROSSING), FROM_RED, TO_BLUE,
		  .critical = true },
		{ "the beginning is included",
		  { IB(MOVER, B1, 0x8002) }, SECONDS(100), 0, FROM_BLUE, TO_BLUE },
		{ "no tolerance before a change",
		  { IB(MOVER, B1, 0x8002) }, JUST_BEFORE(100),
		  R(TENANT_OUTSIDE_VALIDITY) | R(TENANT_CROSSING), FROM_RED, TO_BLUE,
		  .critical = true, .line = 22 },
		{ "a base may be made of several partitions",
		  { IB(B1, B2, 0x8006) }, SECONDS(49), 0, FROM_BLUE, TO_BLUE },
		{ "and was, at another time",
		  { IB(B1, B2, 0x8006) }, SECONDS(60), R(TENANT_OUTSIDE_VALIDITY), FROM_BLUE, TO_BLUE },
		{ "a gap means nobody; first grace",
		  { IB(G1, G2, 0x8003) }, SECONDS(59), R(TENANT_GRACE), .line = 31 },
		{ "then it is outside",
		  { IB(G1, G2, 0x8003) }, SECONDS(60), R(TENANT_OUTSIDE_VALIDITY) },
		{ "until the next interval",
		  { IB(G1, G2, 0x8003) }, JUST_BEFORE(80), R(TENANT_OUTSIDE_VALIDITY) },
		{ "which is a new one",
		  { IB(G1, G2, 0x8003) }, SECONDS(80), 0, .from = GREEN + 1, .to = GREEN + 1 },
		{ "after the last one",
		  { IB(G1, G2, 0x8003) }, SECONDS(1000), R(TENANT_OUTSIDE_VALIDITY) },
		{ "before the first one",
		  { IB(G1, G2, 0x8003) }, SECONDS(1), R(TENANT_OUTSIDE_VALIDITY) },
		{ "at the beginning of time",
		  { IB(G1, G2, 0x8003) }, FT_TIME_MIN, R(TENANT_OUTSIDE_VALIDITY) },
		{ "at its end", { IB(G1, G2, 0x8003) }, FT_TIME_MAX, R(TENANT_OUTSIDE_VALIDITY) },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&jobs, cases);
}

static void other_rules_are_not_renamed(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "a stranger to the partition at any time",
		  { IB(G1, R1, 0x8001) }, SECONDS(90),
		  R(PKEY_SENDER_NOT_MEMBER) | R(TENANT_CROSSING), .from = GREEN + 1, TO_RED,
		  .critical = true },
		{ "members at different times were never members together",
		  { IB(MOVER, B1, 0x8005) }, SECONDS(90),
		  R(PKEY_SENDER_NOT_MEMBER) | R(TENANT_CROSSING), FROM_RED, TO_BLUE,
		  .critical = true },
		{ "overclaiming is not a matter of time, once grace is over",
		  { IB(R2, R1, 0x8001) }, SECONDS(110), R(PKEY_MEMBERSHIP_OVERCLAIMED), FROM_RED,
		  TO_RED },
		{ "but grace excuses it",
		  { IB(R2, R1, 0x8001) }, SECONDS(109), R(TENANT_GRACE), FROM_RED, TO_RED },
		{ "crossing alone, permitted when both were red",
		  { IB(MOVER, R1, 0x8004) }, SECONDS(120),
		  R(TENANT_CROSSING) | R(TENANT_OUTSIDE_VALIDITY), FROM_BLUE, TO_RED,
		  .critical = true },
		{ "crossing alone; before 10 s nobody owned the receiver, which permits nothing",
		  { IB(R1, B1, 0x8004) }, SECONDS(120), R(TENANT_CROSSING), FROM_RED, TO_BLUE,
		  .critical = true },
		{ "an unknown endpoint is unknown at all times",
		  { IB(77, R1, 0x8001) }, SECONDS(20), R(TENANT_UNKNOWN_ENDPOINT), TO_RED },
		{ "an undeclared base as well",
		  { IB(R1, R2, 0x8009) }, SECONDS(101), R(PKEY_UNDECLARED), FROM_RED, TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&jobs, cases);
}

/* Red had IP over InfiniBand in the default partition until 50 s. */
static const struct ft_declared over_ib = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS(IB_PORT("r1", R1), IB_PORT("r2", R2)),
	PARTITIONS({ .base = 0x7fff,
		     .tenant = RED,
		     .ipoib = true,
		     INTERVALS(DURING(10, 50, FULL("r1"), FULL("r2"))) }),
};

/* Whether the map permits a frame at another time may depend on what was cut. */
static void another_time_is_undecided_of_what_was_cut(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "IP over InfiniBand, after its time",
		  { IB(R1, R2, 0xffff), .service = UD, .qkey = 0x0b1b }, SECONDS(60),
		  R(TENANT_OUTSIDE_VALIDITY) },
		{ "other datagrams were never permitted",
		  { IB(R1, R2, 0xffff), .service = UD, .qkey = 1 }, SECONDS(60),
		  R(PKEY_SENDER_NOT_MEMBER) },
		{ "without the Q_Key it may be either",
		  { IB(R1, R2, 0xffff), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, SECONDS(60),
		  R(TENANT_OUTSIDE_VALIDITY), .undecided = true },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&over_ib, cases);
}

/* Then customers, who may use the default partition for IP over InfiniBand alone; from 45 s on nobody's but the shop's. */
static const struct ft_declared returned = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "shop", .class = FT_SHARED }),
	PORTS(IB_PORT("r1", R1), IB_PORT("r2", R2)),
	PARTITIONS({ .base = 0x7fff,
		     .tenant = 1,
		     .ipoib = true,
		     INTERVALS(DURING(10, 45, FULL("r1"), FULL("r2")),
			       DURING(45, 50, FULL("r1"), FULL("r2"))) },
		   { .base = 1, .tenant = RED, INTERVALS(DURING(10, 45, FULL("r1"), FULL("r2"))) }),
	.grace_ns = SECONDS(10),
};

static void a_time_at_which_nothing_of_it_matters_decides(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "without the Q_Key, while it mattered",
		  { IB(R1, R2, 0xffff), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, SECONDS(44),
		  0, FROM_RED, TO_RED, .undecided = true },
		{ "when it mattered no longer",
		  { IB(R1, R2, 0xffff), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, SECONDS(49),
		  0, .from = 2, .to = 2 },
		{ "within the grace of both times",
		  { IB(R1, R2, 0xffff), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, SECONDS(52),
		  R(TENANT_GRACE) },
		{ "after both",
		  { IB(R1, R2, 0xffff), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, SECONDS(70),
		  R(TENANT_OUTSIDE_VALIDITY) },
		{ "as with any Q_Key",
		  { IB(R1, R2, 0xffff), .service = UD, .qkey = 1 }, SECONDS(70),
		  R(TENANT_OUTSIDE_VALIDITY) },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&returned, cases);
}

/* Other instants change nothing about a mismatch of addresses. */
static void a_mismatch_has_no_grace(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "a mismatch, in what would be the grace",
		  { IB(MOVER, R1, 0x8001), .has_gids = 1, .src = LOCAL_GID(R2), .dst = LOCAL_GID(R1) },
		  SECONDS(101),
		  R(SPOOF_ADDRESS_MISMATCH) | R(PKEY_SENDER_NOT_MEMBER) | R(TENANT_CROSSING),
		  FROM_BLUE, TO_RED, .critical = true },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&jobs, cases);
}

static void a_changed_pkey_has_neither_grace_nor_another_time(void **state)
{
	struct ft_map *map = compiled(&jobs);
	struct ft_check_key key = { IB(MOVER, R1, 0x8001) };
	uint32_t plain =
		R(PKEY_SENDER_NOT_MEMBER) | R(TENANT_CROSSING) | R(PKEY_CHANGED_ON_CONNECTION);
	struct ft_verdict verdict;

	(void)state;
	ft_check(map, &key, SECONDS(105), &verdict);
	assert_true(verdict.grace);
	assert_int_equal(ft_verdict_rules(&verdict, true), plain);
	ft_check(map, &key, SECONDS(120), &verdict);
	assert_int_equal(ft_verdict_rules(&verdict, true), plain);
	key = (struct ft_check_key){ IB(B1, B2, 0x8002) };
	ft_check(map, &key, SECONDS(105), &verdict);
	assert_int_equal(ft_verdict_rules(&verdict, true), R(PKEY_CHANGED_ON_CONNECTION));
	ft_map_destroy(map);
}

#define RED_1      IPV4(10, 1, 0, 1)
#define RED_2      IPV4(10, 1, 0, 2)
#define HIRED      IPV4(10, 5, 0, 1)
#define IN_VLAN(n) .vlan = n
static const struct ft_declared leases = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER }),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(NET(10, 1, 0, 0, 24)) }),
	SEGMENTS({ .name = "red", .tenant = RED, ALWAYS(VLAN(101), NET(10, 1, 0, 0, 24)) },
		 { .name = "lease-1",
		   .tenant = RED,
		   INTERVALS(DURING(10, 100, VLAN(105), NET(10, 5, 0, 1, 32))) },
		 { .name = "lease-2",
		   .tenant = BLUE,
		   INTERVALS(DURING(100, 200, VLAN(105), NET(10, 5, 0, 1, 32))) },
		 { .name = "party",
		   .tenant = RED,
		   INTERVALS(DURING(300, 310, VLAN(106), NET(10, 1, 0, 0, 24))) }),
	.grace_ns = SECONDS(10),
};

static void segments_come_and_go(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "leased",
		  { ROCE(HIRED, RED_1), IN_VLAN(105) }, SECONDS(50), 0, FROM_RED, TO_RED },
		{ "not yet leased",
		  { ROCE(HIRED, RED_1), IN_VLAN(105) }, SECONDS(5), R(TENANT_OUTSIDE_VALIDITY),
		  TO_RED },
		{ "just lost to blue",
		  { ROCE(HIRED, RED_1), IN_VLAN(105) }, SECONDS(100), R(TENANT_GRACE), FROM_BLUE,
		  TO_RED, .critical = true },
		{ "lost to blue",
		  { ROCE(HIRED, RED_1), IN_VLAN(105) }, SECONDS(110),
		  R(TENANT_CROSSING) | R(TENANT_OUTSIDE_VALIDITY), FROM_BLUE, TO_RED,
		  .critical = true },
		{ "nobody's, in grace",
		  { ROCE(HIRED, HIRED), IN_VLAN(105) }, JUST_BEFORE(210), R(TENANT_GRACE) },
		{ "nobody's",
		  { ROCE(HIRED, HIRED), IN_VLAN(105) }, SECONDS(210), R(TENANT_OUTSIDE_VALIDITY) },
		{ "nobody's, cut before the P_Key",
		  { ROCE(HIRED, HIRED), IN_VLAN(105), .known = FT_NEED_ADDRESSES | FT_NEED_TAGS, .pkey = 0 },
		  SECONDS(210), R(TENANT_OUTSIDE_VALIDITY), .undecided = true },
		{ "in a VLAN that is theirs only later",
		  { ROCE(RED_1, RED_2), IN_VLAN(106) }, SECONDS(50), R(TENANT_OUTSIDE_VALIDITY),
		  FROM_RED, TO_RED },
		{ "in a VLAN that is never theirs",
		  { ROCE(RED_1, RED_2), IN_VLAN(107) }, SECONDS(50), R(TENANT_WRONG_SEGMENT),
		  FROM_RED, TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&leases, cases);
}

static const struct ft_declared strict = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS(IB_PORT("r1", R1), IB_PORT("r2", R2)),
	PARTITIONS({ .base = 1, .tenant = RED, INTERVALS(DURING(10, 100, FULL("r1"), FULL("r2"))) },
		   { .base = 2, .tenant = RED, INTERVALS(UNTIL(50, FULL("r1"), FULL("r2"))) }),
};

static void without_grace_there_is_none(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "what always was until then",
		  { IB(R1, R2, 0x8002) }, SECONDS(200), R(TENANT_OUTSIDE_VALIDITY) },
		{ "at the end itself",
		  { IB(R1, R2, 0x8001) }, SECONDS(100), R(TENANT_OUTSIDE_VALIDITY) },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&strict, cases);
}

static void epochs_begin_at_changes_and_where_their_grace_ends(void **state)
{
	static const int64_t begins[] = {
		10, 20, 50, 60, 80, 90, 100, 110, 200, 210, 300, 310, 320
	};
	const size_t count = sizeof begins / sizeof *begins;
	struct ft_map *map = compiled(&jobs);
	int64_t from, to;

	(void)state;
	assert_int_equal(ft_map_epoch_count(map), count + 1);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(ft_map_epoch(map, JUST_BEFORE(begins[i]), &from, &to), i);
		assert_true(to == SECONDS(begins[i]));
		assert_int_equal(ft_map_epoch(map, SECONDS(begins[i]), &from, &to), i + 1);
		assert_true(from == SECONDS(begins[i]));
	}
	assert_int_equal(ft_map_epoch(map, FT_TIME_MIN, &from, &to), 0);
	assert_true(from == FT_TIME_MIN);
	assert_int_equal(ft_map_epoch(map, FT_TIME_MAX, &from, &to), count);
	assert_true(to == FT_TIME_MAX);
	ft_map_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_judged_by_their_own_time),
		cmocka_unit_test(other_rules_are_not_renamed),
		cmocka_unit_test(another_time_is_undecided_of_what_was_cut),
		cmocka_unit_test(a_time_at_which_nothing_of_it_matters_decides),
		cmocka_unit_test(a_mismatch_has_no_grace),
		cmocka_unit_test(a_changed_pkey_has_neither_grace_nor_another_time),
		cmocka_unit_test(segments_come_and_go),
		cmocka_unit_test(without_grace_there_is_none),
		cmocka_unit_test(epochs_begin_at_changes_and_where_their_grace_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
