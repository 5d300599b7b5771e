/* Tenants that must not share a leaf: docs/verdict-rules.md, section 8. */
#include "maps.h"

enum { RED, GREEN, BLUE, STORE };
#define LEAF(name, number, switch_name)                                                            \
	{                                                                                          \
		.host = name, .has_lid = true, .lid = number, .leaf = switch_name                  \
	}

static const struct ft_declared racks = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER, APART(GREEN, STORE) },
		{ .name = "green", .class = FT_CUSTOMER },
		{ .name = "blue", .class = FT_CUSTOMER, APART(GREEN) },
		{ .name = "store", .class = FT_SHARED }),
	PORTS(LEAF("r1", 1, "leaf1"), LEAF("g1", 2, "leaf2"), LEAF("b1", 3, "leaf2"),
	      LEAF("mover", 4, "leaf1"), LEAF("nas", 5, "leaf1"), LEAF("shared", 6, "leaf1"),
	      LEAF("nowhere", 7, NULL), LEAF("r2", 8, "leaf3")),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r1"), FULL("shared"), FULL("r2")) },
		   { .base = 2,
		     .tenant = GREEN,
		     INTERVALS(DURING(0, 100, FULL("g1"), FULL("shared"), FULL("nowhere")),
			       DURING(100, 200, FULL("mover"), FULL("shared")),
			       DURING(300, 400, FULL("g1"))) },
		   { .base = 3,
		     .tenant = BLUE,
		     INTERVALS(DURING(50, 60, FULL("b1")), DURING(350, 400, FULL("b1"))) },
		   { .base = 4, .tenant = STORE, ALWAYS(FULL("nas"), LIMITED("r1")) }),
};

static void assert_shared(int64_t from_s, int64_t to_s, size_t count,
			  const struct ft_cotenancy *expected)
{
	struct ft_map *map = compiled(&racks);
	struct ft_cotenancy found[4];

	assert_int_equal(ft_check_cotenancy(map, SECONDS(from_s), SECONDS(to_s), found, 4), count);
	assert_int_equal(ft_check_cotenancy(map, SECONDS(from_s), SECONDS(to_s), NULL, 0), count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found[i].tenant_a, expected[i].tenant_a);
		assert_int_equal(found[i].tenant_b, expected[i].tenant_b);
		assert_string_equal(found[i].leaf, expected[i].leaf);
		assert_int_equal(found[i].port_a, expected[i].port_a);
		assert_int_equal(found[i].port_b, expected[i].port_b);
		assert_true(found[i].at_ns == expected[i].at_ns);
	}
	ft_map_destroy(map);
}

static void conflicts_are_found_at_their_first_instant(void **state)
{
	static const struct ft_cotenancy both[] = {
		{ RED, GREEN, "leaf1", 0, 3, SECONDS(100) },
		{ GREEN, BLUE, "leaf2", 1, 2, SECONDS(50) },
	};
	static const struct ft_cotenancy later[] = { { GREEN, BLUE, "leaf2", 1, 2, SECONDS(350) } };
	static const struct ft_cotenancy within[] = { { RED, GREEN, "leaf1", 0, 3, SECONDS(150) } };

	(void)state;
	assert_shared(0, 1000, 2, both);
	assert_shared(200, 1000, 1, later);
	assert_shared(150, 150, 1, within);
	/* a port that both own, and shared storage, do not conflict */
	assert_shared(0, 49, 0, NULL);
	assert_shared(100, 100, 1, &both[0]);
	assert_shared(200, 349, 0, NULL);
	assert_shared(350, 350, 1, later);
}

static const struct ft_declared segments = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER, APART(GREEN) },
		{ .name = "green", .class = FT_CUSTOMER, APART(RED) },
		{ .name = "ops", .class = FT_MANAGEMENT }),
	PORTS({ .host = "r",
		.has_ip = true,
		.ip = { IPV4(10, 0, 1, 1), 128 },
		.has_mac = true,
		.mac = { 2 },
		.leaf = "leaf1" },
	      { .host = "g",
		.has_ip = true,
		.ip = { IPV4(10, 0, 2, 1), 128 },
		.has_mac = true,
		.mac = { 4 },
		.leaf = "leaf1" }),
	SEGMENTS({ .name = "red", .tenant = RED, ALWAYS(VLAN(1), HOST("r")) },
		 { .name = "green", .tenant = GREEN, ALWAYS(VLAN(2), NET(10, 0, 2, 0, 24)) },
		 /* fits frames without a tag, which says nothing of whose the ports are */
		 { .name = "ops", .tenant = 2, ALWAYS(NET(10, 0, 0, 0, 8)) }),
};

static void segments_list_ports_by_host_or_address(void **state)
{
	struct ft_map *map = compiled(&segments);
	struct ft_cotenancy found[2];

	(void)state;
	assert_int_equal(ft_check_cotenancy(map, 0, 0, found, 2), 1);
	assert_int_equal(found[0].port_a, 0);
	assert_int_equal(found[0].port_b, 1);
	ft_map_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conflicts_are_found_at_their_first_instant),
		cmocka_unit_test(segments_list_ports_by_host_or_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
