/* The compiled map: who is who, memberships and owners. */
#include "maps.h"

#include <string.h>

#include <partition/map.h>

enum { RED, GREEN };
enum { SW = 1, CA1 = 4 /* LMC 2 */, CA2 = 8, ROUTER = 9, SM = 10 };

/* In OpenSM's manner: keywords, and the last rule wins. */
static const struct ft_declared opensm = {
	.last_rule_wins = true,
	TENANTS({ .name = "Default", .class = FT_MANAGEMENT }, { .name = "p1" }, { .name = "p2" },
		{ .name = "p3" }),
	PORTS({ .has_guid = true,
		.guid = 0x10,
		.has_lid = true,
		.lid = SW,
		.kind = FT_NODE_SWITCH },
	      { .has_guid = true, .guid = 0x11, .has_lid = true, .lid = CA1, .lmc = 2 },
	      { .has_guid = true, .guid = 0x12, .has_lid = true, .lid = CA2 },
	      { .has_guid = true,
		.guid = 0x13,
		.has_lid = true,
		.lid = ROUTER,
		.kind = FT_NODE_ROUTER },
	      { .has_guid = true, .guid = 0x14, .has_lid = true, .lid = SM, .is_sm = true }),
	PARTITIONS({ .base = 0x7fff,
		     .tenant = 0,
		     ALWAYS({ .kind = FT_MEMBER_ALL, .membership = FT_LIMITED },
			    { .kind = FT_MEMBER_ALL_SWITCHES, .membership = FT_FULL },
			    { .kind = FT_MEMBER_SELF, .membership = FT_FULL }) },
		   { .base = 1,
		     .tenant = 1,
		     ALWAYS({ .kind = FT_MEMBER_ALL_CAS, .membership = FT_FULL },
			    { .kind = FT_MEMBER_GUID, .guid = 0x11, .membership = FT_LIMITED }) },
		   { .base = 2,
		     .tenant = 2,
		     ALWAYS({ .kind = FT_MEMBER_GUID, .guid = 0x11, .membership = FT_FULL },
			    { .kind = FT_MEMBER_ALL_CAS, .membership = FT_LIMITED }) },
		   { .base = 3,
		     .tenant = 3,
		     ALWAYS({ .kind = FT_MEMBER_ALL_ROUTERS, .membership = FT_FULL },
			    { .kind = FT_MEMBER_SELF, .membership = FT_LIMITED }) }),
};

static void keywords_and_the_last_rule(void **state)
{
	static const struct {
		const char *says;
		uint16_t lid, base;
		unsigned membership;
	} rows[] = {
		{ "a switch is full by its keyword", SW, 0x7fff, FT_FULL },
		{ "a CA is one of all", CA2, 0x7fff, FT_LIMITED },
		{ "the SM port is SELF", SM, 0x7fff, FT_FULL },
		{ "a later GUID line overrides ALL_CAS", CA1, 1, FT_LIMITED },
		{ "by every LID of the port", CA1 + 3, 1, FT_LIMITED },
		{ "the others keep ALL_CAS", CA2, 1, FT_FULL },
		{ "the SM port is a CA too", SM, 1, FT_FULL },
		{ "a switch is no CA", SW, 1, 0 },
		{ "a later ALL_CAS overrides a GUID line", CA1, 2, FT_LIMITED },
		{ "routers", ROUTER, 3, FT_FULL },
		{ "SELF, limited", SM, 3, FT_LIMITED },
		{ "nobody else", CA2, 3, 0 },
	};
	struct ft_map *map = compiled(&opensm);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (ft_map_membership(map, ft_map_find_lid(map, rows[i].lid), rows[i].base, 0,
				      NULL) != rows[i].membership)
			fail_msg("not so: %s", rows[i].says);
	ft_map_destroy(map);
}

static void keywords_own_nothing_but_self(void **state)
{
	struct ft_map *map = compiled(&opensm);

	(void)state;
	assert_owners(map, ft_map_find_lid(map, CA1), 0, "p1 p2");
	assert_owners(map, ft_map_find_lid(map, CA2), 0, "");
	assert_owners(map, ft_map_find_lid(map, SW), 0, "");
	/* a customer comes before management */
	assert_owners(map, ft_map_find_lid(map, SM), 0, "p3");
	assert_owners(map, FT_NONE, 0, "");
	ft_map_destroy(map);
}

/* Members that no port answers to, nested prefixes, and one address on two ports. */
static const struct ft_declared odd = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("x", 10, 0, 0, 1), ROCE_PORT("y", 10, 0, 0, 1),
	      { .host = "z", .has_ip = true, .ip = { IPV4(10, 0, 8, 0), 96 + 24 } },
	      { .host = "v6", .has_gid = true, .gid = { { 0xfd, [15] = 1 }, 128 } }),
	PARTITIONS({ .base = 1,
		     .tenant = RED,
		     ALWAYS(NET(10, 0, 0, 0, 8), NET(10, 0, 0, 0, 16), NET(10, 0, 0, 7, 32),
			    NET(0, 0, 0, 0, 0),
			    { .kind = FT_MEMBER_GUID,
			      .guid = 0xabc,
			      .membership = FT_FULL,
			      AT_LINE(7) },
			    { .kind = FT_MEMBER_LID, .number = 300, .membership = FT_FULL },
			    { .kind = FT_MEMBER_MAC,
			      .mac = { 2, 0, 0, 0, 0, 5 },
			      .membership = FT_FULL },
			    { .kind = FT_MEMBER_HOST, .host = "nowhere", .membership = FT_FULL }) },
		   { .base = 2,
		     .tenant = RED,
		     ALWAYS({ .kind = FT_MEMBER_PREFIX,
			      .membership = FT_LIMITED,
			      .prefix = { IPV4(10, 0, 0, 0), 96 + 16 } },
			    NET(10, 0, 0, 0, 8)) }),
};

static void endpoints_are_found_by_every_name(void **state)
{
	static const uint8_t x[16] = IPV4(10, 0, 0, 1), seven[16] = IPV4(10, 0, 0, 7),
			     eight[16] = IPV4(10, 0, 0, 8);
	static const uint8_t far[16] = IPV4(10, 9, 0, 8), z[16] = IPV4(10, 0, 8, 9),
			     any[16] = IPV4(99, 0, 0, 1);
	static const uint8_t v6[16] = { 0xfd, [15] = 1 }, v6_other[16] = { 0xfd, [15] = 2 },
			     mac[6] = { 2, 0, 0, 0, 0, 5 };
	struct ft_map *map = compiled(&odd);

	(void)state;
	assert_int_equal(ft_map_find_address(map, x), 0);
	assert_string_equal(ft_map_endpoint(map, 0).host, "x");
	assert_int_equal(ft_map_find_address(map, z), 2);
	assert_int_equal(ft_map_find_address(map, v6), 3);
	assert_int_equal(ft_map_find_address(map, v6_other), FT_NONE);
	assert_int_not_equal(ft_map_find_address(map, seven), ft_map_find_address(map, eight));
	assert_int_not_equal(ft_map_find_address(map, far), ft_map_find_address(map, eight));
	assert_int_not_equal(ft_map_find_address(map, any), FT_NONE);
	assert_int_equal(ft_map_find_guid(map, 0xabd), FT_NONE);
	assert_int_equal(ft_map_endpoint(map, ft_map_find_guid(map, 0xabc)).origin.line, 7);
	assert_null(ft_map_endpoint(map, ft_map_find_guid(map, 0xabc)).host);
	assert_int_not_equal(ft_map_find_lid(map, 300), FT_NONE);
	assert_int_equal(ft_map_find_lid(map, 301), FT_NONE);
	assert_int_equal(ft_map_find_lid(map, 0xffff), FT_NONE);
	assert_int_not_equal(ft_map_find_mac(map, mac), FT_NONE);
	/* ports, GUID, LID, MAC, prefixes */
	assert_int_equal(ft_map_endpoint_count(map), 4 + 3 + 4);
	ft_map_destroy(map);
}

static void an_address_belongs_to_every_prefix_around_it(void **state)
{
	static const uint8_t seven[16] = IPV4(10, 0, 0, 7), far[16] = IPV4(10, 9, 0, 8);
	struct ft_map *map = compiled(&odd);

	(void)state;
	assert_int_equal(ft_map_membership(map, ft_map_find_address(map, seven), 1, 0, NULL),
			 FT_FULL);
	assert_int_equal(ft_map_membership(map, ft_map_find_address(map, seven), 2, 0, NULL),
			 FT_LIMITED);
	assert_int_equal(ft_map_membership(map, ft_map_find_address(map, far), 2, 0, NULL),
			 FT_FULL);
	/* a host by its address */
	assert_int_equal(ft_map_membership(map, 0, 2, 0, NULL), FT_LIMITED);
	ft_map_destroy(map);
}

/* One port, named by several lines at once. */
static const struct ft_declared named_twice = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "all", .class = FT_CUSTOMER }),
	PORTS({ .host = "h",
		.has_guid = true,
		.guid = 9,
		.has_ip = true,
		.ip = { IPV4(10, 0, 0, 1), 128 },
		.has_gid = true,
		.gid = { { 0xfd, [15] = 1 }, 128 } }),
	PARTITIONS({ .base = 1,
		     .tenant = 0,
		     ALWAYS({ .kind = FT_MEMBER_GUID, .guid = 9, .membership = FT_LIMITED },
			    FULL("h")) },
		   { .base = 2,
		     .tenant = FT_NONE,
		     ALWAYS({ .kind = FT_MEMBER_PREFIX,
			      .membership = FT_LIMITED,
			      .prefix = { IPV4(10, 0, 0, 0), 96 + 8 } },
			    { .kind = FT_MEMBER_PREFIX,
			      .membership = FT_FULL,
			      .is_gid = true,
			      .prefix = { { 0xfd, [15] = 1 }, 128 } }) },
		   { .base = 3,
		     .tenant = FT_NONE,
		     ALWAYS({ .kind = FT_MEMBER_PREFIX,
			      .membership = FT_FULL,
			      .prefix = { IPV4(10, 0, 0, 0), 96 + 8 } },
			    LIMITED("h"), EVERYONE(FT_FULL)) },
		   { .base = 4, .tenant = 0, ALWAYS(LIMITED("h"), NET(10, 0, 0, 1, 32)) },
		   { .base = 5,
		     .tenant = FT_NONE,
		     ALWAYS({ .kind = FT_MEMBER_PREFIX,
			      .membership = FT_FULL,
			      .is_gid = true,
			      .prefix = { { 0xfd, 0x80, [15] = 9 }, 128 } }) },
		   { .base = 6,
		     .tenant = FT_NONE,
		     ALWAYS({ .kind = FT_MEMBER_PREFIX,
			      .membership = FT_FULL,
			      .is_gid = true,
			      .prefix = { { 0xfe, 0x80, [15] = 9 }, 128 } }) },
		   { .base = 7,
		     .tenant = 1,
		     ALWAYS({ .kind = FT_MEMBER_PREFIX,
			      .membership = FT_FULL,
			      .prefix = { { 0 }, 0 } }) }),
};

static void the_most_specific_line_decides_and_of_equals_the_fuller(void **state)
{
	struct ft_map *map = compiled(&named_twice);

	(void)state;
	assert_int_equal(ft_map_membership(map, 0, 1, 0, NULL), FT_FULL);
	assert_int_equal(ft_map_membership(map, 0, 2, 0, NULL), FT_FULL);
	assert_int_equal(ft_map_membership(map, 0, 3, 0, NULL), FT_LIMITED);
	assert_int_equal(ft_map_membership(map, 0, 4, 0, NULL), FT_FULL);
	assert_int_equal(ft_map_membership(map, 0, 5, 0, NULL), 0); /* beyond a router */
	assert_int_equal(ft_map_membership(map, 0, 6, 0, NULL), FT_FULL);
	/* around address and GID */
	assert_int_equal(ft_map_membership(map, 0, 7, 0, NULL), FT_FULL);
	assert_owners(map, 0, 0, "red all"); /* once, however often it is listed */
	ft_map_destroy(map);
}

static const struct ft_declared shared_base = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER }),
	PORTS(IB_PORT("r", 1), IB_PORT("g", 2), IB_PORT("both", 3)),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r"), LIMITED("both")) },
		   { .base = 1, .tenant = GREEN, ALWAYS(FULL("g"), FULL("both")) }),
};

static void two_partitions_may_use_one_base(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "both are members, and of two tenants",
		  { IB(1, 2, 0x8001) }, 0, R(TENANT_CROSSING), .from = 1, .to = 2,
		  .critical = true },
		{ "a group of that base is either's",
		  { IB(2, 0xc001, 0x8001) }, 0, 0, .from = 2 },
		{ "the fuller entry counts", { IB(3, 1, 0x8001) }, 0, 0, .to = 1 },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&shared_base, cases);
}

static void a_map_may_be_empty(void **state)
{
	static const struct ft_declared nothing = { 0 };
	struct ft_check_key key = { IB(1, 2, 0x8001) };
	struct ft_map *map = compiled(&nothing);
	struct ft_verdict verdict;

	(void)state;
	ft_check(map, &key, 0, &verdict);
	assert_int_equal(verdict.rules, R(TENANT_UNKNOWN_ENDPOINT));
	assert_int_equal(ft_map_endpoint_count(map), 0);
	assert_int_equal(ft_map_epoch_count(map), 1);
	ft_map_destroy(map);
	ft_map_destroy(NULL);
}

static void every_rule_has_its_words(void **state)
{
	(void)state;
	for (unsigned rule = 0; rule < FT_RULES; rule++) {
		const struct ft_rule_text *text = ft_rule_text(rule);

		assert_non_null(text->name);
		assert_non_null(strchr(text->name, '.'));
		assert_int_equal(text->meaning[strlen(text->meaning) - 1], '.');
		assert_int_equal(text->violation, text->severity >= FT_LOW);
		for (unsigned other = 0; other < rule; other++)
			assert_string_not_equal(text->name, ft_rule_text(other)->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keywords_and_the_last_rule),
		cmocka_unit_test(keywords_own_nothing_but_self),
		cmocka_unit_test(endpoints_are_found_by_every_name),
		cmocka_unit_test(an_address_belongs_to_every_prefix_around_it),
		cmocka_unit_test(the_most_specific_line_decides_and_of_equals_the_fuller),
		cmocka_unit_test(two_partitions_may_use_one_base),
		cmocka_unit_test(a_map_may_be_empty),
		cmocka_unit_test(every_rule_has_its_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
