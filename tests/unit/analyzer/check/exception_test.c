/* What permits a crossing, key by key: docs/verdict-rules.md, section 6. */
#include "maps.h"

enum { RED, GREEN, BLUE, STORE, MGMT };
#define FROM_RED   .from = RED + 1
#define FROM_GREEN .from = GREEN + 1
#define FROM_STORE .from = STORE + 1
#define FROM_MGMT  .from = MGMT + 1
#define TO_RED     .to = RED + 1
#define TO_GREEN   .to = GREEN + 1
#define TO_STORE   .to = STORE + 1
#define TO_MGMT    .to = MGMT + 1
enum { R1 = 1, G1, B1, NAS, ADMIN };

#define UD         3
#define QP1(class) .qp_kind = 1, .service = UD, .mgmt_class = class

/* Everyone is a full member of 0x0100 .. 0x0103, so that only crossing can break. */
#define OPEN_TO_ALL(number)                                                                        \
	{                                                                                          \
		.base = number, .tenant = FT_NONE,                                                 \
		ALWAYS(FULL("r1"), FULL("g1"), FULL("b1"), FULL("nas"), FULL("admin"))             \
	}
#define FABRIC                                                                                     \
	TENANTS({ .name = "red", .class = FT_CUSTOMER },                                           \
		{ .name = "green", .class = FT_CUSTOMER },                                         \
		{ .name = "blue", .class = FT_CUSTOMER }, { .name = "store", .class = FT_SHARED }, \
		{ .name = "mgmt", .class = FT_MANAGEMENT }),                                       \
		PORTS(IB_PORT("r1", R1), IB_PORT("g1", G1), IB_PORT("b1", B1),                     \
		      IB_PORT("nas", NAS), IB_PORT("admin", ADMIN)),                               \
		PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r1")) },                       \
			   { .base = 2, .tenant = GREEN, ALWAYS(FULL("g1")) },                     \
			   { .base = 3, .tenant = BLUE, ALWAYS(FULL("b1")) },                      \
			   { .base = 4, .tenant = STORE, ALWAYS(FULL("nas"), FULL("r1")) },        \
			   { .base = 5, .tenant = MGMT, ALWAYS(FULL("admin")) },                   \
			   OPEN_TO_ALL(0x100), OPEN_TO_ALL(0x101), OPEN_TO_ALL(0x102),             \
			   OPEN_TO_ALL(0x103))

#define CROSSED  R(TENANT_CROSSING)
#define CRITICAL .critical = true

static const struct ft_declared shared_services = {
	FABRIC,
	EXCEPTIONS({ .id = "both",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     OF(RED),
		     .to_tenant = STORE,
		     .has_pkey = true,
		     .base = 0x100 },
		   { .id = "to",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     OF(RED),
		     .to_tenant = STORE,
		     .direction = FT_DIR_TO,
		     .has_pkey = true,
		     .base = 0x101 },
		   { .id = "from",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     OF(RED),
		     .to_tenant = STORE,
		     .direction = FT_DIR_FROM,
		     .has_pkey = true,
		     .base = 0x102 },
		   { .id = "anyone",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     .any_from = true,
		     .to_tenant = STORE,
		     .has_pkey = true,
		     .base = 0x103 },
		   { .id = "never reached",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     OF(RED, GREEN),
		     .to_tenant = STORE,
		     .has_pkey = true,
		     .base = 0x103 },
		   { .id = "every base",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     OF(GREEN),
		     .to_tenant = BLUE }),
};

static void shared_services_match_by_all_their_keys(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "towards the service",
		  { IB(R1, NAS, 0x8100) }, 0, 0, FROM_RED, TO_STORE, .exception = 1 },
		{ "and back", { IB(NAS, R1, 0x8100) }, 0, 0, FROM_STORE, TO_RED, .exception = 1 },
		{ "not for a tenant that is not named",
		  { IB(G1, NAS, 0x8100) }, 0, CROSSED, FROM_GREEN, TO_STORE },
		{ "not to another tenant",
		  { IB(R1, G1, 0x8100) }, 0, CROSSED, FROM_RED, TO_GREEN, CRITICAL },
		{ "direction to: towards it",
		  { IB(R1, NAS, 0x8101) }, 0, 0, FROM_RED, TO_STORE, .exception = 2 },
		{ "direction to: not back",
		  { IB(NAS, R1, 0x8101) }, 0, CROSSED, FROM_STORE, TO_RED },
		{ "direction from: back",
		  { IB(NAS, R1, 0x8102) }, 0, 0, FROM_STORE, TO_RED, .exception = 3 },
		{ "direction from: not towards it",
		  { IB(R1, NAS, 0x8102) }, 0, CROSSED, FROM_RED, TO_STORE },
		{ "no tenants named: any of them",
		  { IB(G1, NAS, 0x8103) }, 0, 0, FROM_GREEN, TO_STORE, .exception = 4 },
		{ "the first in file order is named",
		  { IB(R1, NAS, 0x8103) }, 0, 0, FROM_RED, TO_STORE, .exception = 4 },
		{ "no base named: every base",
		  { IB(G1, B1, 0x8101) }, 0, 0, FROM_GREEN, .to = BLUE + 1, .exception = 6 },
		{ "the base is compared without the membership bit",
		  { IB(R1, NAS, 0x0100) }, 0, 0, FROM_RED, TO_STORE, .exception = 1 },
		{ "an exception makes nobody a member",
		  { IB(G1, B1, 0x8002) }, 0, R(PKEY_RECEIVER_NOT_MEMBER), FROM_GREEN,
		  .to = BLUE + 1 },
		{ "within a tenant none is used", { IB(R1, R1, 0x8100) }, 0, 0, FROM_RED, TO_RED },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&shared_services, cases);
}

static const struct ft_declared management = {
	FABRIC,
	EXCEPTIONS({ .id = "cm",
		     .kind = FT_EXCEPT_MANAGEMENT,
		     .any_from = true,
		     .to_tenant = FT_NONE,
		     .has_classes = true,
		     .classes = FT_CLASS_CM | FT_CLASS_SM },
		   { .id = "admin",
		     .kind = FT_EXCEPT_MANAGEMENT,
		     .any_from = true,
		     .to_tenant = MGMT,
		     .has_pkey = true,
		     .base = 0x100 }),
};

#define NOT_BEHIND_PKEY (FT_NEED_DEST_QP | FT_NEED_QKEY | FT_NEED_CLASS)
static void management_may_name_classes(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "a listed class on QP1",
		  { IB(R1, G1, 0x8100), QP1(0x07) }, 0, 0, FROM_RED, TO_GREEN, .exception = 1 },
		{ "sm has two numbers",
		  { IB(R1, G1, 0x8100), QP1(0x81) }, 0, 0, FROM_RED, TO_GREEN, .exception = 1 },
		{ "another class",
		  { IB(R1, G1, 0x8100), QP1(0x03) }, 0, CROSSED, FROM_RED, TO_GREEN, CRITICAL },
		{ "a listed class number in data",
		  { IB(R1, G1, 0x8100), .mgmt_class = 0x07 }, 0, CROSSED, FROM_RED, TO_GREEN,
		  CRITICAL },
		{ "a DestQP that was cut off may be 1",
		  { IB(R1, G1, 0x8100), .service = UD, .known = ALL_KNOWN & ~NOT_BEHIND_PKEY }, 0, 0,
		  .undecided = true, FROM_RED, TO_GREEN },
		{ "but not that of a connection",
		  { IB(R1, G1, 0x8100), .known = ALL_KNOWN & ~NOT_BEHIND_PKEY }, 0, CROSSED, FROM_RED,
		  TO_GREEN, CRITICAL },
		{ "a class that was cut off may be listed",
		  { IB(R1, G1, 0x8100), QP1(0), .known = ALL_KNOWN & ~FT_NEED_CLASS }, 0, 0,
		  .undecided = true, FROM_RED, TO_GREEN },
		{ "unless another exception permits any",
		  { IB(R1, ADMIN, 0x8100), QP1(0), .known = ALL_KNOWN & ~FT_NEED_CLASS }, 0, 0,
		  FROM_RED, TO_MGMT, .exception = 2 },
		{ "without classes data is permitted",
		  { IB(R1, ADMIN, 0x8100) }, 0, 0, FROM_RED, TO_MGMT, .exception = 2 },
		{ "and its answer",
		  { IB(ADMIN, R1, 0x8100) }, 0, 0, FROM_MGMT, TO_RED, .exception = 2 },
		{ "on its base only", { IB(R1, ADMIN, 0x8101) }, 0, CROSSED, FROM_RED, TO_MGMT },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&management, cases);
}

#define MGID                                                                                       \
	{                                                                                          \
		0xff, 0x12, 0x40, 0x1b, 0x81, 0x00, [14] = 0x07, 0x07                              \
	}
#define ANOTHER                                                                                    \
	{                                                                                          \
		0xff, 0x12, 0x40, 0x1b, 0x81, 0x00, [14] = 0x07, 0x08                              \
	}
#define TO_MGID(group) .has_gids = 1, .src = LOCAL_GID(R1), .dst = group
static const struct ft_declared multicast = {
	FABRIC,
	EXCEPTIONS({ .id = "stream",
		     .kind = FT_EXCEPT_MULTICAST,
		     OF(RED),
		     .to_tenant = FT_NONE,
		     .mgid = { MGID, 128 } }),
};

static void multicast_names_its_group(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "red sends to the group of the shared partition",
		  { IB(R1, 0xc005, 0x8004), TO_MGID(MGID) }, 0, 0, FROM_RED, TO_STORE,
		  .exception = 1 },
		{ "another group",
		  { IB(R1, 0xc005, 0x8004), TO_MGID(ANOTHER) }, 0, CROSSED, FROM_RED, TO_STORE },
		{ "a group without a GRH cannot be told",
		  { IB(R1, 0xc005, 0x8004) }, 0, CROSSED, FROM_RED, TO_STORE },
		{ "the group's address on a unicast LID is no group",
		  { IB(R1, NAS, 0x8004), TO_MGID(MGID) }, 0, CROSSED, FROM_RED, TO_STORE },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&multicast, cases);
}

static const struct ft_declared every_class = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS(IB_PORT("r1", R1), IB_PORT("r2", G1)),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r1"), FULL("r2")) }),
};

/* Each class word covers its numbers and no other: asked on the default partition. */
static void class_words_cover_their_numbers(void **state)
{
	static const struct {
		uint32_t word;
		uint8_t first, last, also;
	} words[] = {
		{ FT_CLASS_SM, 0x01, 0x01, 0x81 },     { FT_CLASS_SA, 0x03, 0x03, 0x03 },
		{ FT_CLASS_PM, 0x04, 0x04, 0x04 },     { FT_CLASS_BM, 0x05, 0x05, 0x05 },
		{ FT_CLASS_DM, 0x06, 0x06, 0x06 },     { FT_CLASS_CM, 0x07, 0x07, 0x07 },
		{ FT_CLASS_SNMP, 0x08, 0x08, 0x08 },   { FT_CLASS_CC, 0x21, 0x21, 0x21 },
		{ FT_CLASS_VENDOR, 0x09, 0x0f, 0x30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct ft_exception only = { .id = "only",
					     .kind = FT_EXCEPT_MANAGEMENT,
					     .any_from = true,
					     .to_tenant = FT_NONE,
					     .has_classes = true,
					     .classes = words[i].word };
		struct ft_declared declared = every_class;
		struct ft_map *map;

		declared.exceptions = &only;
		declared.exception_count = 1;
		map = compiled(&declared);
		for (unsigned class = 0; class < 256; class ++) {
			struct ft_check_key key = { IB(R1, G1, 0xffff), QP1((uint8_t) class) };
			bool covered = (class >= words[i].first && class <= words[i].last) ||
				       class == words[i].also ||
				       (words[i].word == FT_CLASS_VENDOR && class >= 0x30 &&
					class <= 0x4f);
			struct ft_verdict verdict;

			ft_check(map, &key, 0, &verdict);
			assert_int_equal(verdict.rules, covered ? 0 : R(PKEY_DEFAULT_USED));
		}
		ft_map_destroy(map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_services_match_by_all_their_keys),
		cmocka_unit_test(management_may_name_classes),
		cmocka_unit_test(multicast_names_its_group),
		cmocka_unit_test(class_words_cover_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
