/* The segment ladder on RoCE: docs/verdict-rules.md, sections 2 and 5, and both ladders together. */
#include "maps.h"

enum { RED, BLUE, GREEN, STORE };
#define FROM_RED   .from = RED + 1
#define FROM_BLUE  .from = BLUE + 1
#define FROM_GREEN .from = GREEN + 1
#define FROM_STORE .from = STORE + 1
#define TO_RED     .to = RED + 1
#define TO_BLUE    .to = BLUE + 1
#define TO_GREEN   .to = GREEN + 1
#define TO_STORE   .to = STORE + 1

#define RED_1    IPV4(10, 1, 0, 1)
#define RED_2    IPV4(10, 1, 0, 2)
#define RED_B    IPV4(10, 11, 0, 1) /* red's other subnet and VLAN */
#define BLUE_1   IPV4(10, 2, 0, 1)
#define BLUE_2   IPV4(10, 2, 0, 2)
#define GREEN_1  IPV4(10, 3, 0, 1)
#define GREEN_2  IPV4(10, 3, 0, 2)
#define STORE_1  IPV4(10, 9, 0, 1)
#define STORE_2  IPV4(10, 9, 0, 2)
#define LENT     IPV4(10, 1, 0, 99)   /* in red's subnet, blue's by exact address */
#define TWICE_1  IPV4(192, 168, 0, 1) /* red's and blue's, in two overlays */
#define TWICE_2  IPV4(192, 168, 0, 2)
#define RED_ONLY IPV4(192, 168, 0, 3)
#define NOBODY   IPV4(172, 31, 0, 1)
#define GROUP    IPV4(239, 1, 2, 3)

#define IN_VLAN(n) .vlan = n
#define IN_VNI(n)  .has_vni = 1, .vni = n

static const struct ft_declared pod = {
	.is_roce = true,
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER },
		{ .name = "green", .class = FT_CUSTOMER }, { .name = "store", .class = FT_SHARED }),
	PORTS({ .host = "s2",
		.has_ip = true,
		.ip = { STORE_2, 128 },
		.has_mac = true,
		.mac = { 2, 0, 0, 0, 0, 9 } },
	      { .host = "r1",
		.has_ip = true,
		.ip = { RED_1, 128 },
		.has_mac = true,
		.mac = { 2, 0, 0, 0, 0, 1 } }),
	SEGMENTS({ .name = "red-a", .tenant = RED, ALWAYS(VLAN(101), NET(10, 1, 0, 0, 24)) },
		 { .name = "red-b", .tenant = RED, ALWAYS(VLAN(111), NET(10, 11, 0, 0, 24)) },
		 { .name = "red-overlay",
		   .tenant = RED,
		   ALWAYS(VNI(1010), NET(192, 168, 0, 1, 32), NET(192, 168, 0, 2, 32),
			  NET(192, 168, 0, 3, 32)) },
		 { .name = "blue-a",
		   .tenant = BLUE,
		   ALWAYS(VLAN(102), NET(10, 2, 0, 0, 24), NET(10, 1, 0, 99, 32)) },
		 { .name = "blue-overlay",
		   .tenant = BLUE,
		   ALWAYS(VNI(1020), NET(192, 168, 0, 1, 32), NET(192, 168, 0, 2, 32)) },
		 { .name = "green", .tenant = GREEN, ALWAYS(NET(10, 3, 0, 0, 24)) },
		 { .name = "store",
		   .tenant = STORE,
		   ALWAYS(VLAN(900), NET(10, 9, 0, 1, 32), HOST("s2"),
			  { .kind = FT_MEMBER_MAC, .mac = { 2, 0, 0, 0, 0, 0x77 } }) }),
	EXCEPTIONS({ .id = "ex-store",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     OF(RED, BLUE),
		     .to_tenant = STORE }),
};

static void the_ladder_holds(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "at home", { ROCE(RED_1, RED_2), IN_VLAN(101) }, 0, 0, FROM_RED, TO_RED },
		{ "one end at home is enough: routed, seen at the sender",
		  { ROCE(RED_1, RED_B), IN_VLAN(101) }, 0, 0, FROM_RED, TO_RED },
		{ "or at the receiver",
		  { ROCE(RED_1, RED_B), IN_VLAN(111) }, 0, 0, FROM_RED, TO_RED },
		{ "in another tenant's VLAN",
		  { ROCE(RED_1, RED_2), IN_VLAN(102) }, 0, R(TENANT_WRONG_SEGMENT), FROM_RED,
		  TO_RED },
		{ "in a VLAN of nobody's",
		  { ROCE(RED_1, RED_2), IN_VLAN(777) }, 0, R(TENANT_WRONG_SEGMENT), FROM_RED,
		  TO_RED },
		{ "untagged, where the segment has a tag",
		  { ROCE(RED_1, RED_2) }, 0, R(TENANT_WRONG_SEGMENT), FROM_RED, TO_RED },
		{ "untagged, where the segment has none",
		  { ROCE(GREEN_1, GREEN_2) }, 0, 0, FROM_GREEN, TO_GREEN },
		{ "a segment without tags fits every tag",
		  { ROCE(GREEN_1, GREEN_2), IN_VLAN(101) }, 0, 0, FROM_GREEN, TO_GREEN },
		{ "and every overlay",
		  { ROCE(GREEN_1, GREEN_2), IN_VNI(4711) }, 0, 0, FROM_GREEN, TO_GREEN },
		{ "unknown source",
		  { ROCE(NOBODY, RED_2), IN_VLAN(101) }, 0, R(TENANT_UNKNOWN_ENDPOINT), TO_RED },
		{ "unknown destination",
		  { ROCE(RED_1, NOBODY), IN_VLAN(101) }, 0, R(TENANT_UNKNOWN_ENDPOINT), FROM_RED },
		{ "two customers, one of them at home",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101) }, 0, R(TENANT_CROSSING), FROM_RED, TO_BLUE,
		  .critical = true },
		{ "two customers, none at home",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(900) }, 0,
		  R(TENANT_WRONG_SEGMENT) | R(TENANT_CROSSING), FROM_RED, TO_BLUE,
		  .critical = true },
		{ "shared storage by its exception",
		  { ROCE(RED_1, STORE_1), IN_VLAN(101) }, 0, 0, FROM_RED, TO_STORE,
		  .exception = 1 },
		{ "seen in the storage's VLAN",
		  { ROCE(STORE_1, RED_1), IN_VLAN(900) }, 0, 0, FROM_STORE, TO_RED,
		  .exception = 1 },
		{ "in a third VLAN the exception does not help",
		  { ROCE(RED_1, STORE_1), IN_VLAN(102) }, 0, R(TENANT_WRONG_SEGMENT), FROM_RED,
		  TO_STORE },
		{ "green is not in the exception",
		  { ROCE(GREEN_1, STORE_1) }, 0, R(TENANT_CROSSING), FROM_GREEN, TO_STORE },
		{ "QP1 on the default P_Key does not cross, but is remarked on",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .qp_kind = 1, .service = 3 }, 0,
		  R(TENANT_MANAGEMENT_CROSSING), FROM_RED, TO_BLUE },
		{ "not within a tenant",
		  { ROCE(RED_1, RED_2), IN_VLAN(101), .qp_kind = 1, .service = 3 }, 0, 0, FROM_RED,
		  TO_RED },
		{ "nor where an exception permits what it asks for",
		  { ROCE(RED_1, STORE_1), IN_VLAN(101), .qp_kind = 1, .service = 3 }, 0, 0,
		  FROM_RED, TO_STORE },
		{ "QP1 on another base crosses",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .pkey = 0x8001, .qp_kind = 1, .service = 3 }, 0,
		  R(TENANT_CROSSING) | R(DECODE_PKEY_UNUSUAL), FROM_RED, TO_BLUE, .critical = true },
		{ "an SMP is never judged", { ROCE(NOBODY, BLUE_1), .qp_kind = 0 }, 0, 0, TO_BLUE },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&pod, cases);
}

static void the_most_specific_address_decides(void **state)
{
#define SMAC(...) .has_macs = 1, .smac = { __VA_ARGS__ }
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "an exact address before its subnet, at home",
		  { ROCE(LENT, BLUE_1), IN_VLAN(102) }, 0, 0, FROM_BLUE, TO_BLUE },
		{ "here comes first: in red's VLAN the subnet holds it",
		  { ROCE(LENT, RED_1), IN_VLAN(101) }, 0, 0, FROM_RED, TO_RED },
		{ "elsewhere it is blue's",
		  { ROCE(LENT, GREEN_1) }, 0, R(TENANT_CROSSING), FROM_BLUE, TO_GREEN,
		  .critical = true },
		{ "a host's address",
		  { ROCE(STORE_2, STORE_1), IN_VLAN(900) }, 0, 0, FROM_STORE, TO_STORE },
		{ "a host by its MAC, where the address says nothing",
		  { ROCE(NOBODY, STORE_1), IN_VLAN(900), SMAC(2, 0, 0, 0, 0, 9) }, 0, 0, FROM_STORE,
		  TO_STORE },
		{ "a MAC that the segment lists",
		  { ROCE(NOBODY, STORE_1), IN_VLAN(900), SMAC(2, 0, 0, 0, 0, 0x77) }, 0, 0,
		  FROM_STORE, TO_STORE },
		{ "an address before a MAC",
		  { ROCE(GREEN_1, GREEN_2), SMAC(2, 0, 0, 0, 0, 0x77) }, 0, 0, FROM_GREEN,
		  TO_GREEN },
		{ "address and MAC of two hosts",
		  { ROCE(RED_1, RED_2), IN_VLAN(101), SMAC(2, 0, 0, 0, 0, 9) }, 0,
		  R(SPOOF_ADDRESS_MISMATCH), FROM_RED, TO_RED },
		{ "address and MAC of one host",
		  { ROCE(RED_1, RED_2), IN_VLAN(101), SMAC(2, 0, 0, 0, 0, 1) }, 0, 0, FROM_RED,
		  TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&pod, cases);
}

static void two_overlays_may_use_one_address(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "in red's overlay it is red's",
		  { ROCE(TWICE_1, TWICE_2), IN_VNI(1010) }, 0, 0, FROM_RED, TO_RED },
		{ "in blue's overlay it is blue's",
		  { ROCE(TWICE_1, TWICE_2), IN_VNI(1020) }, 0, 0, FROM_BLUE, TO_BLUE },
		{ "red's third address in blue's overlay meets blue's",
		  { ROCE(RED_ONLY, TWICE_2), IN_VNI(1020) }, 0, R(TENANT_CROSSING), FROM_RED,
		  TO_BLUE, .critical = true },
		{ "two addresses of red alone, in blue's overlay",
		  { ROCE(RED_ONLY, RED_1), IN_VNI(1020) }, 0, R(TENANT_WRONG_SEGMENT), FROM_RED,
		  TO_RED },
		{ "in nobody's overlay they are both, so no crossing is certain",
		  { ROCE(TWICE_1, TWICE_2), IN_VNI(9) }, 0, R(TENANT_WRONG_SEGMENT) },
		{ "in an overlay the VLAN does not count",
		  { ROCE(RED_1, RED_2), IN_VNI(1020), IN_VLAN(101) }, 0, R(TENANT_WRONG_SEGMENT),
		  FROM_RED, TO_RED },
		{ "VNI 0 is a VNI, not no overlay",
		  { ROCE(GREEN_1, GREEN_2), IN_VNI(0), IN_VLAN(101) }, 0, 0, FROM_GREEN, TO_GREEN },
		{ "a VNI is not a VLAN of the same number",
		  { ROCE(RED_1, RED_2), IN_VNI(101) }, 0, R(TENANT_WRONG_SEGMENT), FROM_RED,
		  TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&pod, cases);
}

static void groups_belong_to_the_source_at_home(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "at home", { ROCE(RED_1, GROUP), IN_VLAN(101) }, 0, 0, FROM_RED, TO_RED },
		{ "not at home",
		  { ROCE(RED_1, GROUP), IN_VLAN(102) }, 0, R(TENANT_WRONG_SEGMENT), FROM_RED },
		{ "of nobody",
		  { ROCE(NOBODY, GROUP), IN_VLAN(102) }, 0, R(TENANT_UNKNOWN_ENDPOINT) },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&pod, cases);
}

#define UD              3 /* BTH opcode bits 7..5 */
#define CUT_BEFORE_PKEY (FT_NEED_ADDRESSES | FT_NEED_TAGS)
#define CUT_BEHIND_PKEY (CUT_BEFORE_PKEY | FT_NEED_PKEY)
static void pkeys_are_not_what_isolates(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "base 0 is invalid, and comes first",
		  { ROCE(RED_1, RED_2), IN_VLAN(102), .pkey = 0x8000 }, 0, R(PKEY_INVALID),
		  FROM_RED, TO_RED },
		{ "crossing stands beside it",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .pkey = 0 }, 0,
		  R(PKEY_INVALID) | R(TENANT_CROSSING), FROM_RED, TO_BLUE, .critical = true },
		{ "the limited default P_Key is the default P_Key",
		  { ROCE(RED_1, RED_2), IN_VLAN(101), .pkey = 0x7fff }, 0, 0, FROM_RED, TO_RED },
		{ "another one is odd, but no violation",
		  { ROCE(RED_1, RED_2), IN_VLAN(101), .pkey = 0x8001 }, 0, R(DECODE_PKEY_UNUSUAL),
		  FROM_RED, TO_RED },
		{ "odd and permitted by an exception: still named",
		  { ROCE(RED_1, STORE_1), IN_VLAN(101), .pkey = 0x8001 }, 0, R(DECODE_PKEY_UNUSUAL),
		  FROM_RED, TO_STORE, .exception = 1 },
		{ "cut behind the P_Key: decided, the ladder asks for no DestQP",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .known = CUT_BEHIND_PKEY }, 0,
		  R(TENANT_CROSSING), FROM_RED, TO_BLUE, .critical = true },
		{ "cut before the P_Key: it may be invalid",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .pkey = 0, .known = CUT_BEFORE_PKEY },
		  0, R(TENANT_CROSSING), .undecided = true, FROM_RED, TO_BLUE, .critical = true },
		{ "a datagram cut behind the P_Key may be management's, which is free to cross",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .service = UD, .known = CUT_BEHIND_PKEY }, 0, 0,
		  .undecided = true, FROM_RED, TO_BLUE },
		{ "but not on another base",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .pkey = 0x8001, .service = UD, .known = CUT_BEHIND_PKEY },
		  0, R(TENANT_CROSSING) | R(DECODE_PKEY_UNUSUAL), FROM_RED, TO_BLUE, .critical = true },
		{ "a datagram cut before the P_Key",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .pkey = 0, .service = UD, .known = CUT_BEFORE_PKEY },
		  0, 0, .undecided = true, FROM_RED, TO_BLUE },
		{ "cut before the opcode it may be a datagram",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .pkey = 0, .service = FT_CHECK_NO_SERVICE,
		    .known = CUT_BEFORE_PKEY },
		  0, 0, .undecided = true, FROM_RED, TO_BLUE },
		{ "cut before the addresses", { .qp_kind = 2 }, 0, 0, .undecided = true },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&pod, cases);
}

/* Tags without addresses, and equal claims. */
static const struct ft_declared tags_only = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER },
		{ .name = "green", .class = FT_CUSTOMER }, { .name = "store", .class = FT_SHARED }),
	SEGMENTS({ .name = "red", .tenant = RED, ALWAYS(VNI(1), VLAN(11)) },
		 { .name = "blue", .tenant = BLUE, ALWAYS(VNI(2), NET(10, 2, 0, 0, 24)) },
		 { .name = "both", .tenant = RED, ALWAYS(VNI(4), NET(10, 4, 0, 0, 24)) },
		 { .name = "as-both", .tenant = BLUE, ALWAYS(VNI(4), NET(10, 4, 0, 0, 24)) }),
};

static void tags_alone_hold_every_address(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "any address in red's overlay",
		  { ROCE(NOBODY, GREEN_1), IN_VNI(1) }, 0, 0, FROM_RED, TO_RED },
		{ "or VLAN: either tag fits",
		  { ROCE(NOBODY, GREEN_1), IN_VLAN(11) }, 0, 0, FROM_RED, TO_RED },
		{ "but not elsewhere",
		  { ROCE(NOBODY, BLUE_1), IN_VNI(2) }, 0, R(TENANT_UNKNOWN_ENDPOINT), TO_BLUE },
		{ "an address member is not needed to be at home there",
		  { ROCE(BLUE_1, BLUE_2), IN_VNI(1) }, 0, 0, FROM_RED, TO_RED },
		{ "equally specific: both tenants, so neither",
		  { ROCE(IPV4(10, 4, 0, 1), BLUE_1), IN_VNI(4) }, 0, 0, TO_BLUE },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&tags_only, cases);
}

#define ALWAYS_AT(n, ...)                                                                          \
	INTERVALS({ .from_ns = FT_TIME_MIN,                                                        \
		    .to_ns = FT_TIME_MAX,                                                          \
		    AT_LINE(n),                                                                    \
		    MEMBERS(__VA_ARGS__) })

static const struct ft_declared with_lines = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER }),
	SEGMENTS({ .name = "red", .tenant = RED, ALWAYS_AT(10, VNI(1), NET(10, 1, 0, 0, 16)) },
		 { .name = "red-2", .tenant = RED, ALWAYS_AT(20, VNI(2), NET(10, 2, 0, 0, 16)) },
		 { .name = "blue", .tenant = BLUE, ALWAYS_AT(30, VNI(2), NET(10, 2, 0, 0, 16)) },
		 { .name = "blue-1", .tenant = BLUE, ALWAYS_AT(40, VNI(3), NET(10, 2, 0, 0, 16)) },
		 { .name = "blue-2", .tenant = BLUE, ALWAYS_AT(50, VNI(3), NET(10, 2, 0, 0, 16)) }),
};

static void a_crossing_is_against_the_line_that_gives_the_destination_its_tenant(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "as it is here, whatever stands for other overlays",
		  { ROCE(RED_1, BLUE_1), IN_VNI(3) }, 0, R(TENANT_CROSSING), FROM_RED, TO_BLUE,
		  .critical = true, .line = 40 },
		{ "the other way round, where it is not at home",
		  { ROCE(BLUE_1, RED_1), IN_VNI(3) }, 0, R(TENANT_CROSSING), FROM_BLUE, TO_RED,
		  .critical = true, .line = 10 },
		{ "of two tenants there is none", { ROCE(RED_1, BLUE_1), IN_VNI(2) }, 0, 0, FROM_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&with_lines, cases);
}

/* An address that moves between two hosts. */
static const struct ft_declared shared_address = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER }),
	PORTS({ .host = "first", .has_ip = true, .ip = { RED_1, 128 } },
	      { .host = "second", .has_ip = true, .ip = { RED_1, 128 } },
	      { .host = "other", .has_ip = true, .ip = { BLUE_1, 128 } }),
	SEGMENTS({ .name = "red", .tenant = RED, ALWAYS(HOST("second")) },
		 { .name = "blue", .tenant = BLUE, ALWAYS(HOST("other")) }),
};

static void an_address_of_two_hosts_is_either_s(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "the second's tenant has it",
		  { ROCE(RED_1, BLUE_1) }, 0, R(TENANT_CROSSING), FROM_RED, TO_BLUE, .critical = true },
		{ "an address of no port is nobody's",
		  { ROCE(RED_2, BLUE_1) }, 0, R(TENANT_UNKNOWN_ENDPOINT), TO_BLUE },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&shared_address, cases);
}

static const struct ft_declared everyone = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER },
		{ .name = "green", .class = FT_CUSTOMER }),
	SEGMENTS({ .name = "red", .tenant = RED, ALWAYS(VNI(1)) },
		 { .name = "green", .tenant = GREEN, ALWAYS(VNI(3), EVERYONE(FT_FULL)) }),
};

static void everyone_is_an_address_member_that_holds_every_address(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "in the segment's overlay",
		  { ROCE(NOBODY, BLUE_1), IN_VNI(3) }, 0, 0, FROM_GREEN, TO_GREEN },
		{ "elsewhere its tenant owns what no other segment holds",
		  { ROCE(NOBODY, BLUE_1) }, 0, R(TENANT_WRONG_SEGMENT), FROM_GREEN, TO_GREEN },
		{ "a segment of tags alone owns nothing elsewhere",
		  { ROCE(NOBODY, BLUE_1), IN_VNI(1) }, 0, 0, FROM_RED, TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&everyone, cases);
}

static const struct ft_declared mixed = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER }),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(NET(10, 1, 0, 1, 32), NET(10, 2, 0, 1, 32)) },
		   { .base = 0x7fff, .tenant = FT_NONE, ALWAYS(EVERYONE(FT_LIMITED)) }),
	SEGMENTS({ .name = "red", .tenant = RED, ALWAYS(VLAN(101), NET(10, 1, 0, 0, 24)) },
		 { .name = "blue", .tenant = BLUE, ALWAYS(VLAN(102), NET(10, 2, 0, 0, 24)) }),
};

static void both_ladders_are_climbed(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "the default P_Key is left to the segments",
		  { ROCE(RED_1, RED_2), IN_VLAN(101) }, 0, 0, FROM_RED, TO_RED },
		{ "a declared P_Key is judged",
		  { ROCE(RED_1, RED_2), IN_VLAN(101), .pkey = 0x8001 }, 0,
		  R(PKEY_RECEIVER_NOT_MEMBER), FROM_RED, TO_RED },
		{ "an undeclared one as well",
		  { ROCE(RED_1, RED_2), IN_VLAN(101), .pkey = 0x8002 }, 0, R(PKEY_UNDECLARED),
		  FROM_RED, TO_RED },
		{ "one rule of each",
		  { ROCE(RED_1, RED_2), IN_VLAN(102), .pkey = 0x8001 }, 0,
		  R(PKEY_RECEIVER_NOT_MEMBER) | R(TENANT_WRONG_SEGMENT), FROM_RED, TO_RED },
		{ "tenants are those of the segments",
		  { ROCE(RED_1, BLUE_1), IN_VLAN(101), .pkey = 0x8001 }, 0, R(TENANT_CROSSING),
		  FROM_RED, TO_BLUE, .critical = true },
		{ "declared means held by a segment",
		  { ROCE(NOBODY, RED_1), IN_VLAN(101), .pkey = 0x8001 }, 0,
		  R(TENANT_UNKNOWN_ENDPOINT), TO_RED },
		{ "native frames know no segments",
		  { IB(1, 2, 0x8001) }, 0, R(TENANT_UNKNOWN_ENDPOINT) },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&mixed, cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ladder_holds),
		cmocka_unit_test(the_most_specific_address_decides),
		cmocka_unit_test(two_overlays_may_use_one_address),
		cmocka_unit_test(groups_belong_to_the_source_at_home),
		cmocka_unit_test(pkeys_are_not_what_isolates),
		cmocka_unit_test(tags_alone_hold_every_address),
		cmocka_unit_test(
			a_crossing_is_against_the_line_that_gives_the_destination_its_tenant),
		cmocka_unit_test(an_address_of_two_hosts_is_either_s),
		cmocka_unit_test(everyone_is_an_address_member_that_holds_every_address),
		cmocka_unit_test(both_ladders_are_climbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
