/* The P_Key ladder on native InfiniBand: docs/verdict-rules.md, sections 2, 3, 4 and 6. */
#include "maps.h"

enum { RED, GREEN, BLUE, STORE, MGMT };
#define FROM_RED   .from = RED + 1
#define FROM_GREEN .from = GREEN + 1
#define FROM_BLUE  .from = BLUE + 1
#define FROM_STORE .from = STORE + 1
#define FROM_MGMT  .from = MGMT + 1
#define TO_RED     .to = RED + 1
#define TO_GREEN   .to = GREEN + 1
#define TO_BLUE    .to = BLUE + 1
#define TO_STORE   .to = STORE + 1
#define TO_MGMT    .to = MGMT + 1

/* LIDs */
enum {
	R1 = 1,
	R2,
	R3,
	G1,
	G2,
	B1,
	NAS,
	SM,
	HUB = 16 /* LMC 2: 16..19 */,
	LONE = 20,
	OUTSIDER = 99
};

static const struct ft_declared fabric = {
	.format = "tapmap",
	.has_subnet_prefix = true,
	.subnet_prefix = 0xfec0000000000001,
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER },
		{ .name = "blue", .class = FT_CUSTOMER }, { .name = "store", .class = FT_SHARED },
		{ .name = "mgmt", .class = FT_MANAGEMENT }),
	PORTS(IB_PORT("r1", R1), IB_PORT("r2", R2), IB_PORT("r3", R3), IB_PORT("g1", G1),
	      IB_PORT("g2", G2), IB_PORT("b1", B1), IB_PORT("nas", NAS), IB_PORT("sm", SM),
	      IB_PORT("lone", LONE),
	      { .host = "hub",
		.has_guid = true,
		.guid = GUID(HUB),
		.has_lid = true,
		.lid = HUB,
		.lmc = 2 },
	      { .host = "far", .has_guid = true, .guid = GUID(200) }),
	PARTITIONS({ .base = 0x7fff,
		     .tenant = MGMT,
		     .ipoib = true,
		     AT_LINE(10),
		     ALWAYS(EVERYONE(FT_LIMITED), FULL("sm")) },
		   { .base = 0x0001,
		     .tenant = RED,
		     AT_LINE(20),
		     ALWAYS(FULL("r1"), LIMITED_AT("r2", 22), LIMITED_AT("r3", 23), FULL("hub")) },
		   { .base = 0x0002,
		     .tenant = GREEN,
		     AT_LINE(30),
		     ALWAYS(FULL("g1"), LIMITED("g2"), FULL("hub"), FULL("far")) },
		   { .base = 0x0003, .tenant = BLUE, ALWAYS(FULL("b1"), FULL("hub")) },
		   { .base = 0x0004,
		     .tenant = STORE,
		     ALWAYS(FULL("nas"), LIMITED("r1"), LIMITED("g1"), FULL("b1")) },
		   { .base = 0x0005,
		     .tenant = RED,
		     ALWAYS({ .kind = FT_MEMBER_HOST, .host = "r1", .membership = FT_BOTH },
			    LIMITED("r2"),
			    { .kind = FT_MEMBER_HOST, .host = "r3", .membership = FT_BOTH }) },
		   { .base = 0x0006, .tenant = FT_NONE, ALWAYS(FULL("lone"), FULL("r1")) }),
	EXCEPTIONS({ .id = "ex-nas",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     OF(RED),
		     .to_tenant = STORE,
		     .has_pkey = true,
		     .base = 0x0004 },
		   { .id = "ex-mad",
		     .kind = FT_EXCEPT_MANAGEMENT,
		     .any_from = true,
		     .to_tenant = FT_NONE,
		     .has_pkey = true,
		     .base = 0x7fff,
		     .has_classes = true,
		     .classes = FT_CLASS_SA | FT_CLASS_CM | FT_CLASS_VENDOR }),
	.grace_ns = SECONDS(5),
};

#define NO_QP  (ALL_KNOWN & ~(FT_NEED_DEST_QP | FT_NEED_QKEY | FT_NEED_CLASS))
#define NO_BTH (FT_NEED_ADDRESSES | FT_NEED_TAGS)

static void the_ladder_holds(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "full members talk", { IB(R1, HUB, 0x8001) }, 0, 0, FROM_RED, TO_RED },
		{ "a limited member talks to a full one",
		  { IB(R2, R1, 0x0001) }, 0, 0, FROM_RED, TO_RED },
		{ "a full member that sends bit 0 claims less",
		  { IB(R1, R2, 0x0001) }, 0, 0, FROM_RED, TO_RED },
		{ "base 0 is invalid",
		  { IB(R1, R2, 0x0000) }, 0, R(PKEY_INVALID), FROM_RED, TO_RED },
		{ "so it is with the full bit, and first of all",
		  { IB(OUTSIDER, R2, 0x8000) }, 0, R(PKEY_INVALID), TO_RED },
		{ "unknown source",
		  { IB(OUTSIDER, R1, 0x8001) }, 0, R(TENANT_UNKNOWN_ENDPOINT), TO_RED },
		{ "unknown destination, before an undeclared base",
		  { IB(R1, OUTSIDER, 0x8077) }, 0, R(TENANT_UNKNOWN_ENDPOINT), FROM_RED },
		{ "undeclared base",
		  { IB(R1, R2, 0x8077) }, 0, R(PKEY_UNDECLARED), FROM_RED, TO_RED },
		{ "the sender is not a member",
		  { IB(G1, R1, 0x8001) }, 0, R(PKEY_SENDER_NOT_MEMBER) | R(TENANT_CROSSING),
		  FROM_GREEN, TO_RED, .critical = true },
		{ "sender before receiver, and no crossing within a tenant",
		  { IB(R1, R2, 0x8002) }, 0, R(PKEY_SENDER_NOT_MEMBER), FROM_RED, TO_RED },
		{ "the receiver is not a member",
		  { IB(R1, B1, 0x8001) }, 0, R(PKEY_RECEIVER_NOT_MEMBER) | R(TENANT_CROSSING),
		  FROM_RED, TO_BLUE, .critical = true },
		{ "two limited members, bit 0",
		  { IB(R2, R3, 0x0001) }, 0, R(PKEY_LIMITED_TO_LIMITED), FROM_RED, TO_RED,
		  .line = 22 },
		{ "two limited members, whatever the bit says",
		  { IB(R2, R3, 0x8001) }, 0, R(PKEY_LIMITED_TO_LIMITED), FROM_RED, TO_RED },
		{ "a limited member claims full",
		  { IB(R3, R1, 0x8001) }, 0, R(PKEY_MEMBERSHIP_OVERCLAIMED), FROM_RED, TO_RED,
		  .line = 23 },
		{ "the receiver's membership is not on the wire",
		  { IB(R1, R3, 0x8001) }, 0, 0, FROM_RED, TO_RED },
		{ "both satisfies full: may send bit 1",
		  { IB(R1, R2, 0x8005) }, 0, 0, FROM_RED, TO_RED },
		{ "both satisfies full: talks to a limited one",
		  { IB(R2, R1, 0x0005) }, 0, 0, FROM_RED, TO_RED },
		{ "both satisfies limited: may send bit 0",
		  { IB(R1, R3, 0x0005) }, 0, 0, FROM_RED, TO_RED },
		{ "a partition without a tenant gives no owner",
		  { IB(LONE, R1, 0x8006) }, 0, 0, TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&fabric, cases);
}

static void ends_are_found(void **state)
{
#define GIDS(from, to) .has_gids = 1, .src = from, .dst = to
#define REMOTE(n)                                                                                  \
	{                                                                                          \
		0xfe, 0xc0, [7] = 0x77, [8] = 0x02, [15] = n                                       \
	}
#define CUSTOM(n)                                                                                  \
	{                                                                                          \
		0xfe, 0xc0, [7] = 0x01, [8] = 0x02, [15] = n                                       \
	}
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "the first LID of an LMC range",
		  { IB(HUB, R1, 0x8001) }, 0, 0, FROM_RED, TO_RED },
		{ "its last one", { IB(HUB + 3, R1, 0x8001) }, 0, 0, FROM_RED, TO_RED },
		{ "one LID beyond belongs to another port",
		  { IB(LONE, B1, 0x8003) }, 0, R(PKEY_SENDER_NOT_MEMBER), TO_BLUE },
		{ "one LID before belongs to nobody",
		  { IB(HUB - 1, B1, 0x8003) }, 0, R(TENANT_UNKNOWN_ENDPOINT), TO_BLUE },
		{ "without a known LID the GUID in the GID names the port",
		  { IB(OUTSIDER, R1, 0x8001), GIDS(LOCAL_GID(R3), LOCAL_GID(R1)) }, 0,
		  R(PKEY_MEMBERSHIP_OVERCLAIMED), FROM_RED, TO_RED },
		{ "so it does under the fabric's own prefix",
		  { IB(OUTSIDER, R1, 0x0001), GIDS(CUSTOM(R3), CUSTOM(R1)) }, 0, 0, FROM_RED,
		  TO_RED },
		{ "a GID that nobody declares is no finding: an alias GUID",
		  { IB(R1, R2, 0x8001), GIDS(LOCAL_GID(222), LOCAL_GID(R2)) }, 0, 0, FROM_RED,
		  TO_RED },
		{ "a remote GID counts alone, the LID is a router's",
		  { IB(R1, G1, 0x8002), GIDS(REMOTE(200), LOCAL_GID(G1)) }, 0, 0, FROM_GREEN,
		  TO_GREEN },
		{ "a remote GID that nobody declares is unknown, whatever the LID",
		  { IB(R1, G1, 0x8002), GIDS(REMOTE(201), LOCAL_GID(G1)) }, 0,
		  R(TENANT_UNKNOWN_ENDPOINT), TO_GREEN },
		{ "a port with a LID in this subnet has no remote GID",
		  { IB(R1, G1, 0x8002), GIDS(REMOTE(G2), LOCAL_GID(G1)) }, 0,
		  R(TENANT_UNKNOWN_ENDPOINT), TO_GREEN },
		{ "LID and GID of two ports: the ladder goes on with the LID",
		  { IB(R1, R2, 0x8001), GIDS(LOCAL_GID(G1), LOCAL_GID(R2)) }, 0,
		  R(SPOOF_ADDRESS_MISMATCH), FROM_RED, TO_RED },
		{ "so at the destination",
		  { IB(R1, R2, 0x8001), GIDS(LOCAL_GID(R1), LOCAL_GID(G1)) }, 0,
		  R(SPOOF_ADDRESS_MISMATCH), FROM_RED, TO_RED },
		{ "a path LID and the GID of the same port agree",
		  { IB(HUB + 2, R2, 0x8001), GIDS(LOCAL_GID(HUB), LOCAL_GID(R2)) }, 0, 0, FROM_RED,
		  TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&fabric, cases);
}

static void tenants_are_narrowed(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "a port of three customers acts for the frame's partition",
		  { IB(HUB, B1, 0x8003) }, 0, 0, FROM_BLUE, TO_BLUE },
		{ "outside of them it is nobody's in particular, but surely not management's",
		  { IB(HUB, SM, 0x7fff) }, 0, R(PKEY_DEFAULT_USED) | R(TENANT_CROSSING), TO_MGMT },
		{ "a limited member of a shared partition stays its customer's",
		  { IB(R1, NAS, 0x0004) }, 0, 0, FROM_RED, TO_STORE, .exception = 1 },
		{ "the answer is named too",
		  { IB(NAS, R1, 0x8004) }, 0, 0, FROM_STORE, TO_RED, .exception = 1 },
		{ "an exception names its tenants",
		  { IB(G1, NAS, 0x0004) }, 0, R(TENANT_CROSSING), FROM_GREEN, TO_STORE },
		{ "members of one partition, two customers",
		  { IB(B1, R1, 0x8004) }, 0, R(TENANT_CROSSING), FROM_BLUE, TO_RED,
		  .critical = true },
		{ "an exception that matches a frame which breaks another rule is not used",
		  { IB(R1, NAS, 0x8004) }, 0, R(PKEY_MEMBERSHIP_OVERCLAIMED), FROM_RED, TO_STORE },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&fabric, cases);
}

static void groups_have_no_receiver_rule(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "a full member sends to a group",
		  { IB(R1, 0xc001, 0x8001) }, 0, 0, FROM_RED, TO_RED },
		{ "a limited member may as well",
		  { IB(R2, 0xfffe, 0x0001) }, 0, 0, FROM_RED, TO_RED },
		{ "overclaiming is overclaiming",
		  { IB(R2, 0xc000, 0x8001) }, 0, R(PKEY_MEMBERSHIP_OVERCLAIMED), FROM_RED, TO_RED },
		{ "a stranger sends to red's group",
		  { IB(B1, 0xc001, 0x8001) }, 0, R(PKEY_SENDER_NOT_MEMBER) | R(TENANT_CROSSING),
		  FROM_BLUE, TO_RED, .critical = true },
		{ "the group of an undeclared base is nobody's",
		  { IB(R1, 0xc001, 0x8077) }, 0, R(PKEY_UNDECLARED), FROM_RED },
		{ "a customer in a shared group needs an exception",
		  { IB(G1, 0xc001, 0x0004) }, 0, R(TENANT_CROSSING), FROM_GREEN, TO_STORE },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&fabric, cases);
}

#define UD         3
#define QP1(class) .qp_kind = 1, .service = UD, .qkey = 0x80010000, .mgmt_class = class
static void the_default_partition_is_for_management(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "customer data",
		  { IB(R1, SM, 0x7fff) }, 0, R(PKEY_DEFAULT_USED) | R(TENANT_CROSSING), FROM_RED,
		  TO_MGMT },
		{ "to a customer is enough",
		  { IB(SM, R1, 0xffff) }, 0, R(PKEY_DEFAULT_USED) | R(TENANT_CROSSING), FROM_MGMT,
		  TO_RED },
		{ "not between others: then the ladder goes on",
		  { IB(NAS, LONE, 0x7fff) }, 0, R(PKEY_LIMITED_TO_LIMITED), FROM_STORE },
		{ "IPoIB: UD with its Q_Key, where the map declares it",
		  { IB(R1, SM, 0x7fff), .service = UD, .qkey = 0x0b1b }, 0, 0, FROM_RED, TO_MGMT },
		{ "another Q_Key is not IPoIB",
		  { IB(R1, SM, 0x7fff), .service = UD, .qkey = 0x0b1c }, 0,
		  R(PKEY_DEFAULT_USED) | R(TENANT_CROSSING), FROM_RED, TO_MGMT },
		{ "RC is not IPoIB, whatever stands in the key",
		  { IB(R1, SM, 0x7fff), .qkey = 0x0b1b }, 0,
		  R(PKEY_DEFAULT_USED) | R(TENANT_CROSSING), FROM_RED, TO_MGMT },
		{ "IPoIB between limited members breaks the next rule",
		  { IB(R1, G1, 0x7fff), .service = UD, .qkey = 0x0b1b }, 0,
		  R(PKEY_LIMITED_TO_LIMITED), FROM_RED, TO_GREEN },
		{ "an IPoIB broadcast",
		  { IB(R1, 0xc000, 0x7fff), .service = UD, .qkey = 0x0b1b }, 0, 0, FROM_RED,
		  TO_MGMT },
		{ "QP1 of a listed class",
		  { IB(R1, SM, 0x7fff), QP1(0x03) }, 0, 0, FROM_RED, TO_MGMT },
		{ "QP1: first and last vendor class of the high range",
		  { IB(R1, SM, 0x7fff), QP1(0x4f) }, 0, 0, FROM_RED, TO_MGMT },
		{ "QP1: one beyond",
		  { IB(R1, SM, 0x7fff), QP1(0x50) }, 0, R(PKEY_DEFAULT_USED), FROM_RED, TO_MGMT },
		{ "QP1 of a class that is not listed",
		  { IB(R1, SM, 0x7fff), QP1(0x04) }, 0, R(PKEY_DEFAULT_USED), FROM_RED, TO_MGMT },
		{ "QP1 of a class that is not listed, no customer at either end",
		  { IB(NAS, SM, 0x7fff), QP1(0x04) }, 0, R(PKEY_DEFAULT_USED), FROM_STORE,
		  TO_MGMT },
		{ "QP1 on a tenant's base is judged like data",
		  { IB(R2, R3, 0x0001), QP1(0x07) }, 0, R(PKEY_LIMITED_TO_LIMITED), FROM_RED,
		  TO_RED },
		{ "QP1 on a tenant's base crosses like data",
		  { IB(R1, B1, 0x8001), QP1(0x07) }, 0,
		  R(PKEY_RECEIVER_NOT_MEMBER) | R(TENANT_CROSSING), FROM_RED, TO_BLUE,
		  .critical = true },
		{ "an SMP is never judged, and acts for nobody's partition",
		  { IB(HUB, OUTSIDER, 0x0000), .qp_kind = 0 }, 0, 0 },
		{ "an SMP's P_Key makes nobody act for a partition",
		  { IB(HUB, SM, 0x8001), .qp_kind = 0 }, 0, 0, TO_MGMT },
		{ "an SMP's pair is by LID alone",
		  { IB(OUTSIDER, SM, 0x7fff), GIDS(LOCAL_GID(R1), LOCAL_GID(SM)), .qp_kind = 0 }, 0,
		  0, TO_MGMT },
		{ "an SMP's pair is by LID",
		  { IB(R1, SM, 0x8077), .qp_kind = 0 }, 0, 0, FROM_RED, TO_MGMT },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&fabric, cases);
}

static void what_is_cut_is_not_guessed(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "nothing readable", { .native = 1, .qp_kind = 2 }, 0, 0, .undecided = true },
		{ "addresses only: a pair, but no rule",
		  { IB(R1, B1, 0), .known = NO_BTH }, 0, 0, .undecided = true, FROM_RED, TO_BLUE },
		{ "addresses alone show a mismatch",
		  { IB(R1, R2, 0), .known = NO_BTH, GIDS(LOCAL_GID(G1), LOCAL_GID(R2)) }, 0,
		  R(SPOOF_ADDRESS_MISMATCH), .undecided = true, FROM_RED, TO_RED },
		{ "without the DestQP a rule that holds for data is undecided",
		  { IB(G1, R1, 0x8001), .known = NO_QP }, 0, R(TENANT_CROSSING), .undecided = true,
		  FROM_GREEN, TO_RED, .critical = true },
		{ "without the DestQP a frame that breaks no rule for any is decided",
		  { IB(R1, R2, 0x8001), .known = NO_QP }, 0, 0, FROM_RED, TO_RED },
		{ "of a datagram in the default partition it depends on the DestQP",
		  { IB(R1, SM, 0x7fff), .service = UD, .known = NO_QP }, 0, 0, .undecided = true,
		  FROM_RED, TO_MGMT },
		{ "no connection is with QP 1, nor is it IPoIB",
		  { IB(R1, G1, 0x7fff), .known = NO_QP }, 0, R(TENANT_CROSSING), .undecided = true,
		  FROM_RED, TO_GREEN, .critical = true },
		{ "UD in the default partition without its Q_Key",
		  { IB(R1, SM, 0x7fff), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, 0, 0,
		  .undecided = true, FROM_RED, TO_MGMT },
		{ "what is decided is reported beside it",
		  { IB(R1, G1, 0x7fff), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, 0,
		  R(PKEY_LIMITED_TO_LIMITED), .undecided = true, FROM_RED, TO_GREEN },
		{ "the Q_Key does not matter on a tenant's base",
		  { IB(R1, R2, 0x8001), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, 0, 0,
		  FROM_RED, TO_RED },
		{ "QP1 in the default partition without its class",
		  { IB(R1, SM, 0x7fff), .qp_kind = 1, .service = UD, .known = ALL_KNOWN & ~FT_NEED_CLASS },
		  0, 0, .undecided = true, FROM_RED, TO_MGMT },
		{ "the class does not matter on a tenant's base",
		  { IB(R1, R2, 0x8001), .qp_kind = 1, .service = UD, .known = ALL_KNOWN & ~FT_NEED_CLASS },
		  0, 0, FROM_RED, TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&fabric, cases);
}

/* ---- maps that differ in one point ---- */

static const struct ft_declared bare = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS(IB_PORT("r1", R1), IB_PORT("r2", R2), IB_PORT("lone", LONE)),
	PARTITIONS({ .base = 1, .tenant = 0, ALWAYS(FULL("r1"), FULL("r2")) }),
};

static void without_a_default_partition(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "QP1: everyone is in it", { IB(R1, LONE, 0xffff), QP1(0x07) }, 0, 0, FROM_RED },
		{ "QP1: still not the undeclared",
		  { IB(R1, OUTSIDER, 0xffff), QP1(0x07) }, 0, R(TENANT_UNKNOWN_ENDPOINT),
		  FROM_RED },
		{ "QP1: no class is listed anywhere, so all are",
		  { IB(R1, R2, 0x7fff), QP1(0x21) }, 0, 0, FROM_RED, TO_RED },
		{ "data of a customer is default use",
		  { IB(R1, LONE, 0xffff) }, 0, R(PKEY_DEFAULT_USED), FROM_RED },
		{ "data of others is undeclared",
		  { IB(LONE, LONE, 0xffff) }, 0, R(PKEY_UNDECLARED) },
		{ "IPoIB is not declared",
		  { IB(R1, R2, 0xffff), .service = UD, .qkey = 0x0b1b }, 0, R(PKEY_DEFAULT_USED),
		  FROM_RED, TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&bare, cases);
}

static const struct ft_declared open = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER },
		{ .name = "mgmt", .class = FT_MANAGEMENT }),
	PORTS(IB_PORT("r1", R1), IB_PORT("r2", R2), IB_PORT("g1", G1), IB_PORT("sm", SM)),
	PARTITIONS({ .base = 0x7fff,
		     .tenant = 2,
		     .ipoib = true,
		     ALWAYS(EVERYONE(FT_LIMITED), FULL("sm"), FULL("g1")) },
		   { .base = 1, .tenant = 0, ALWAYS(FULL("r1"), FULL("r2")) },
		   { .base = 2, .tenant = 1, ALWAYS(FULL("g1")) }),
	EXCEPTIONS({ .id = "ex", .kind = FT_EXCEPT_MANAGEMENT, .any_from = true, .to_tenant = 2 }),
};

static void a_management_exception_without_classes_opens_the_default_partition(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "data to management is permitted and named",
		  { IB(R1, SM, 0x7fff) }, 0, 0, FROM_RED, .to = 3, .exception = 1 },
		{ "IP over InfiniBand needs no exception",
		  { IB(R1, SM, 0x7fff), .service = UD, .qkey = 0x0b1b }, 0, 0, FROM_RED, .to = 3 },
		{ "without the Q_Key it is either, and permitted",
		  { IB(R1, SM, 0x7fff), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, 0, 0,
		  FROM_RED, .to = 3 },
		{ "between customers it is a crossing",
		  { IB(R1, G1, 0x7fff) }, 0, R(TENANT_CROSSING), FROM_RED, TO_GREEN,
		  .critical = true },
		{ "or none: that takes the Q_Key",
		  { IB(R1, G1, 0x7fff), .service = UD, .known = ALL_KNOWN & ~FT_NEED_QKEY }, 0, 0,
		  FROM_RED, TO_GREEN, .undecided = true },
		{ "QP1 of any class passes, and needs no exception",
		  { IB(R1, SM, 0x7fff), QP1(0x21) }, 0, 0, FROM_RED, .to = 3 },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&open, cases);
}

static const struct ft_declared dropped = {
	.verdict = FT_MAP_FAIL_OPEN,
	.last_rule_wins = true,
	TENANTS({ .name = "Default", .class = FT_MANAGEMENT }),
	PORTS(IB_PORT(NULL, R1), IB_PORT(NULL, G1)),
	PARTITIONS({ .base = 0x7fff,
		     .tenant = 0,
		     ALWAYS(EVERYONE(FT_FULL),
			    { .kind = FT_MEMBER_GUID, .guid = GUID(R1), .membership = FT_FULL }) }),
};

static void a_dropped_file_leaves_everyone_in_the_default_partition(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "the default partition is open", { IB(R1, G1, 0xffff) }, 0, 0 },
		{ "a tenant's base is undeclared", { IB(R1, G1, 0x8001) }, 0, R(PKEY_UNDECLARED) },
		{ "a stranger is unknown",
		  { IB(OUTSIDER, G1, 0x8001) }, 0, R(TENANT_UNKNOWN_ENDPOINT) },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&dropped, cases);
}

#define A1      IPV4(10, 0, 0, 1)
#define A2      IPV4(10, 0, 0, 2)
#define A9      IPV4(10, 0, 0, 9)
#define AX      IPV4(10, 1, 0, 1)
#define MACS(d) .has_macs = 1, .smac = { 2, 0, 10, 0, 0, d }, .dmac = { 2, 9 }
static const struct ft_declared roce = {
	.is_roce = true,
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 0, 0, 1), ROCE_PORT("r2", 10, 0, 0, 2),
	      ROCE_PORT(NULL, 10, 0, 0, 3), ROCE_PORT("g9", 10, 0, 0, 9)),
	PARTITIONS(
		{ .base = 1,
		  .tenant = 0,
		  ALWAYS({ .kind = FT_MEMBER_PREFIX,
			   .membership = FT_LIMITED,
			   .prefix = { IPV4(10, 0, 0, 0), 96 + 24 },
			   .is_subnet = true },
			 { .kind = FT_MEMBER_PREFIX, .membership = FT_FULL, .prefix = { A1, 128 } },
			 EVERYONE(FT_FULL)) }),
};

static void roce_frames_are_judged_by_pkey_where_nothing_else_isolates(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "an address is more specific than its subnet",
		  { ROCE(A1, A2), .pkey = 0x8001 }, 0, 0, FROM_RED, TO_RED },
		{ "a subnet is more specific than everyone",
		  { ROCE(A2, A1), .pkey = 0x8001 }, 0, R(PKEY_MEMBERSHIP_OVERCLAIMED), FROM_RED,
		  TO_RED },
		{ "an address of a declared subnet is declared",
		  { ROCE(IPV4(10, 0, 0, 200), A1), .pkey = 0x0001 }, 0, 0, FROM_RED, TO_RED },
		{ "another is not",
		  { ROCE(AX, A1), .pkey = 0x0001 }, 0, R(TENANT_UNKNOWN_ENDPOINT), TO_RED },
		{ "then its MAC may be",
		  { ROCE(AX, A1), .pkey = 0x8001, MACS(1) }, 0, 0, FROM_RED, TO_RED },
		{ "address and MAC of two hosts",
		  { ROCE(A1, A2), .pkey = 0x8001, MACS(9) }, 0, R(SPOOF_ADDRESS_MISMATCH), FROM_RED,
		  TO_RED },
		{ "address and MAC of one host",
		  { ROCE(A1, A2), .pkey = 0x8001, MACS(1) }, 0, 0, FROM_RED, TO_RED },
		{ "the MAC of a router is nobody's",
		  { ROCE(A1, A2), .pkey = 0x8001, MACS(77) }, 0, 0, FROM_RED, TO_RED },
		{ "nor has a port without one",
		  { ROCE(IPV4(10, 0, 0, 3), A1), .pkey = 0x0001, MACS(9) }, 0, 0, FROM_RED,
		  TO_RED },
		{ "an address without a host has no MAC to differ from",
		  { ROCE(IPV4(10, 0, 0, 200), A1), .pkey = 0x0001, MACS(9) }, 0, 0, FROM_RED,
		  TO_RED },
		{ "0xffff is judged as well",
		  { ROCE(A1, A2) }, 0, R(PKEY_DEFAULT_USED), FROM_RED, TO_RED },
		{ "a multicast address is a group",
		  { ROCE(A1, IPV4(224, 0, 0, 5)), .pkey = 0x8001 }, 0, 0, FROM_RED, TO_RED },
		{ "so is the last of them",
		  { ROCE(A1, IPV4(239, 255, 255, 255)), .pkey = 0x8001 }, 0, 0, FROM_RED, TO_RED },
		{ "the next one is not",
		  { ROCE(A1, IPV4(240, 0, 0, 0)), .pkey = 0x8001 }, 0, R(TENANT_UNKNOWN_ENDPOINT),
		  FROM_RED },
		{ "an IPv6 group",
		  { .has_gids = 1, .src = A1, .dst = { 0xff, 0x02, [15] = 1 }, .pkey = 0x8001, .qp_kind = 2, .known = ALL_KNOWN },
		  0, 0, FROM_RED, TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&roce, cases);
}

static void the_connection_rule_follows_connected_services(void **state)
{
	struct ft_map *map = compiled(&fabric);
	const uint8_t followed = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5; /* RC, UC, RD, XRC */

	(void)state;
	for (uint8_t service = 0; service < 8; service++) {
		struct ft_check_key key = { IB(R1, R2, 0x8001), .service = service };

		assert_int_equal(ft_check_follows_pkey(map, &key), followed >> service & 1);
		key.qp_kind = 1;
		assert_false(ft_check_follows_pkey(map, &key));
		key.qp_kind = 2;
		key.known = NO_QP;
		assert_false(ft_check_follows_pkey(map, &key));
	}
	ft_map_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ladder_holds),
		cmocka_unit_test(ends_are_found),
		cmocka_unit_test(tenants_are_narrowed),
		cmocka_unit_test(groups_have_no_receiver_rule),
		cmocka_unit_test(the_default_partition_is_for_management),
		cmocka_unit_test(what_is_cut_is_not_guessed),
		cmocka_unit_test(without_a_default_partition),
		cmocka_unit_test(
			a_management_exception_without_classes_opens_the_default_partition),
		cmocka_unit_test(a_dropped_file_leaves_everyone_in_the_default_partition),
		cmocka_unit_test(roce_frames_are_judged_by_pkey_where_nothing_else_isolates),
		cmocka_unit_test(the_connection_rule_follows_connected_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
