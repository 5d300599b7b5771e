/* What `map ask` tells: whose an endpoint is, what it holds, and whom it may talk to. */
#include "maps.h"

#include <string.h>

#include <partition/map.h>

enum { RED, GREEN, STORE, MGMT };
enum { A1 = 1, A2, C2, NAS, ADMIN };
static const struct ft_declared site = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER },
		{ .name = "storage", .class = FT_SHARED },
		{ .name = "mgmt", .class = FT_MANAGEMENT }),
	PORTS(IB_PORT("a1", A1), IB_PORT("a2", A2), IB_PORT("c2", C2), IB_PORT("nas", NAS),
	      IB_PORT("admin", ADMIN)),
	PARTITIONS(
		{ .base = 0x7fff, .tenant = MGMT, ALWAYS(EVERYONE(FT_LIMITED), FULL("admin")) },
		{ .base = 0x101,
		  .tenant = RED,
		  INTERVALS(DURING(0, 100, FULL("a1"), FULL("a2")), DURING(100, 900, FULL("a2"))) },
		{ .base = 0x103, .tenant = GREEN, ALWAYS(FULL("c2")) },
		{ .base = 0x200,
		  .tenant = STORE,
		  ALWAYS(FULL("nas"), LIMITED("a1"), LIMITED("a2"), LIMITED("c2")) }),
	EXCEPTIONS({ .id = "ex-1",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     OF(RED),
		     .to_tenant = STORE,
		     .has_pkey = true,
		     .base = 0x200 }),
	.grace_ns = SECONDS(5),
};

static void owners_are_customers_first(void **state)
{
	struct ft_map *map = compiled(&site);

	(void)state;
	assert_owners(map, ft_map_find_lid(map, A1), 0, "red");
	/* limited in storage: not storage's */
	assert_owners(map, ft_map_find_lid(map, A1), SECONDS(100), "");
	assert_owners(map, ft_map_find_lid(map, NAS), 0, "storage");
	assert_owners(map, ft_map_find_lid(map, ADMIN), 0, "mgmt");
	ft_map_destroy(map);
}

static void entries_are_those_in_force(void **state)
{
	struct ft_map *map = compiled(&site);
	uint32_t a1 = ft_map_find_guid(map, GUID(A1));
	struct ft_entry entries[4];

	(void)state;
	assert_int_equal(ft_map_entries(map, a1, SECONDS(99), entries, 4), 3);
	assert_int_equal(entries[0].base, 0x7fff);
	assert_int_equal(entries[0].membership, FT_LIMITED);
	assert_int_equal(entries[1].base, 0x101);
	assert_int_equal(entries[1].membership, FT_FULL);
	assert_int_equal(entries[2].base, 0x200);
	assert_int_equal(ft_map_entries(map, a1, SECONDS(100), entries, 4), 2);
	assert_int_equal(entries[1].base, 0x200);
	assert_int_equal(ft_map_entries(map, a1, SECONDS(99), NULL, 0), 3);
	ft_map_destroy(map);
}

static void who_may_talk(void **state)
{
	static const struct {
		const char *says;
		uint16_t a, b;
		int64_t ts_ns;
		bool allowed, grace;
		uint16_t base;
		const char *exception, *because;
	} rows[] = {
		{ "two of one tenant", A1, A2, SECONDS(50), true, false, 0x101, NULL,
		  "both are members of 0x0101" },
		{ "in the grace of an interval that ended", A1, A2, SECONDS(104), false, true,
		  0x101, NULL, "what allowed it over 0x0101 ended less than 5000 ms before" },
		{ "and no longer", A1, A2, SECONDS(105), false, false, 0, NULL,
		  "both are limited members of 0x0200" },
		{ "a client of storage, by its exception", A1, NAS, SECONDS(50), true, false, 0x200,
		  "ex-1", "both are members of 0x0200" },
		{ "storage to its client", NAS, A1, SECONDS(50), true, false, 0x200, "ex-1",
		  "both are members of 0x0200" },
		{ "a tenant that the exception does not name", C2, NAS, SECONDS(50), false, false,
		  0, NULL, "green to storage over 0x0200, and no exception permits it" },
		{ "only limited on both sides, which no exception would mend", A1, C2, SECONDS(50),
		  false, false, 0, NULL, "both are limited members of 0x0200" },
		{ "the one partition of both is the default one", A1, ADMIN, SECONDS(50), false,
		  false, 0, NULL, "red to mgmt over 0x7fff, and no exception permits it" },
		{ "nobody is declared there", 77, NAS, SECONDS(50), false, false, 0, NULL,
		  "not declared" },
	};
	struct ft_map *map = compiled(&site);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_talk talk;

		ft_map_may_talk(map, ft_map_find_lid(map, rows[i].a),
				ft_map_find_lid(map, rows[i].b), rows[i].ts_ns, &talk);
		if (talk.allowed != rows[i].allowed || talk.grace != rows[i].grace ||
		    talk.base != rows[i].base ||
		    (talk.exception == NULL) != (rows[i].exception == NULL) ||
		    (talk.exception != NULL && strcmp(talk.exception, rows[i].exception) != 0) ||
		    strcmp(talk.because, rows[i].because) != 0)
			fail_msg("not so: %s (%d %d 0x%04x %s: %s)", rows[i].says, talk.allowed,
				 talk.grace, talk.base,
				 talk.exception != NULL ? talk.exception : "-", talk.because);
	}
	ft_map_destroy(map);
}

/* A partition of their own each; that of the third one is over for the fourth. */
static const struct ft_declared strangers = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER }),
	PORTS(IB_PORT("r", 1), IB_PORT("g", 2), IB_PORT("r2", 3)),
	PARTITIONS(
		{ .base = 1,
		  .tenant = RED,
		  INTERVALS(DURING(0, 100, FULL("r"), FULL("r2")), DURING(100, 900, FULL("r"))) },
		{ .base = 2, .tenant = GREEN, ALWAYS(FULL("g")) }),
};

static void who_has_no_partition_in_common_is_told_so(void **state)
{
	struct ft_map *map = compiled(&strangers);
	struct ft_talk talk;

	(void)state;
	/* not that an exception is missing: with one they could not talk either */
	ft_map_may_talk(map, 0, 1, SECONDS(50), &talk);
	assert_string_equal(talk.because, "no common partition");
	ft_map_may_talk(map, 1, 0, SECONDS(50), &talk);
	assert_string_equal(talk.because, "no common partition");
	ft_map_may_talk(map, 0, 2, SECONDS(50), &talk);
	assert_string_equal(talk.because, "both are members of 0x0001");
	ft_map_may_talk(map, 0, 2, SECONDS(500), &talk);
	assert_string_equal(talk.because, "no common partition");
	ft_map_destroy(map);
}

/* The usual fabric: everybody is a limited member of the default partition, so that all reach its managers alone. */
static const struct ft_declared managed = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER },
		{ .name = "mgmt", .class = FT_MANAGEMENT }),
	PORTS(IB_PORT("r", 1), IB_PORT("g", 2), IB_PORT("r2", 3), IB_PORT("admin", 4)),
	PARTITIONS({ .base = 0x7fff, .tenant = 2, ALWAYS(EVERYONE(FT_LIMITED), FULL("admin")) },
		   { .base = 1, .tenant = RED, ALWAYS(FULL("r")) },
		   { .base = 2, .tenant = GREEN, ALWAYS(FULL("g")) },
		   { .base = 3, .tenant = RED, ALWAYS(FULL("r2")) }),
};

static void the_default_partition_is_no_reason_for_two_limited_members(void **state)
{
	struct ft_map *map = compiled(&managed);
	struct ft_talk talk;

	(void)state;
	ft_map_may_talk(map, 0, 1, 0, &talk);
	assert_string_equal(talk.because, "both are limited members of 0x7fff");
	ft_map_may_talk(map, 0, 2, 0, &talk);
	assert_string_equal(talk.because, "both are limited members of 0x7fff");
	ft_map_may_talk(map, 0, 3, 0, &talk);
	assert_string_equal(talk.because, "red to mgmt over 0x7fff, and no exception permits it");
	ft_map_destroy(map);
}

static const struct ft_declared pod = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER },
		{ .name = "store", .class = FT_SHARED }),
	PORTS(ROCE_PORT("r1", 10, 0, 1, 1), ROCE_PORT("r2", 10, 0, 1, 2),
	      ROCE_PORT("g1", 10, 0, 2, 1), ROCE_PORT("nas", 10, 0, 9, 1),
	      ROCE_PORT("free", 10, 0, 7, 1)),
	SEGMENTS({ .tenant = 0, ALWAYS(VLAN(1), HOST("r1"), HOST("r2")) },
		 { .tenant = 0, ALWAYS(VNI(1), HOST("r1")) },
		 { .tenant = 1, ALWAYS(VLAN(2), NET(10, 0, 2, 0, 24)) },
		 { .tenant = 2, ALWAYS(VLAN(9), HOST("nas")) }),
	EXCEPTIONS({ .id = "ex",
		     .kind = FT_EXCEPT_SHARED_SERVICE,
		     OF(0),
		     .to_tenant = 2,
		     .direction = FT_DIR_TO }),
};

/* Red's subnet holds an address that is blue's in another VLAN, and green's in an overlay for a while. */
static const struct ft_declared shared_subnet = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER },
		{ .name = "green", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 0, 1, 1), ROCE_PORT("lent", 10, 0, 1, 99),
	      ROCE_PORT("b1", 10, 0, 2, 1), ROCE_PORT("x", 10, 0, 7, 1),
	      ROCE_PORT("y", 10, 0, 7, 2), ROCE_PORT("c1", 10, 0, 3, 1)),
	SEGMENTS({ .tenant = 0, ALWAYS(VLAN(101), NET(10, 0, 1, 0, 24)) },
		 { .tenant = 1, ALWAYS(VLAN(102), NET(10, 0, 1, 99, 32), NET(10, 0, 2, 0, 24)) },
		 { .tenant = 2,
		   INTERVALS({ .from_ns = 0,
			       .to_ns = SECONDS(9),
			       MEMBERS(VNI(77), NET(10, 0, 1, 64, 26), NET(10, 0, 3, 0, 24)) }) },
		 { .tenant = 2, ALWAYS(VLAN(7)) }),
};

static void a_vlan_may_let_two_talk(void **state)
{
	enum { R1, LENT, B1, X, Y, C1 };
	static const struct {
		const char *says;
		uint32_t a, b;
		int64_t ts_ns;
		const char *because; /* its end; NULL: not allowed */
	} rows[] = {
		{ "one tenant's, whatever the VLAN", LENT, B1, 0, "blue to blue by segment" },
		{ "the subnet's tenant, in its VLAN", R1, LENT, 0,
		  "red to red by segment, in VLAN 101" },
		{ "two tenants in every VLAN", R1, B1, 0, NULL },
		{ "a segment of tags alone says nothing of an address", X, Y, 0, NULL },
		{ "an overlay's tenant, while it is there", LENT, C1, 0,
		  "green to green by segment, in VNI 77" },
		{ "and no longer", LENT, C1, SECONDS(9), NULL },
	};
	struct ft_map *map = compiled(&shared_subnet);
	struct ft_talk talk;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *because = rows[i].because, *end;

		ft_map_may_talk_tagged(map, rows[i].a, rows[i].b, rows[i].ts_ns, &talk);
		end = because != NULL ? strstr(talk.because, because) : "";
		if (talk.allowed != (because != NULL) || end == NULL ||
		    (because != NULL && strcmp(end, because) != 0))
			fail_msg("%s: %d, %s", rows[i].says, talk.allowed, talk.because);
	}
	ft_map_may_talk_tagged(map, R1, FT_NONE, 0, &talk);
	assert_false(talk.allowed);
	ft_map_may_talk(map, R1, LENT, 0, &talk);
	assert_false(talk.allowed);
	ft_map_destroy(map);
}

static void segments_answer_too(void **state)
{
	enum { R1, R2, G1, NAS_PORT, FREE };
	struct ft_map *map = compiled(&pod);
	struct ft_talk talk;

	(void)state;
	assert_owners(map, R1, 0, "red");
	assert_owners(map, G1, 0, "green");
	assert_owners(map, FREE, 0, "");
	ft_map_may_talk(map, R1, R2, 0, &talk);
	assert_true(talk.allowed && talk.base == 0 && talk.exception == NULL);
	ft_map_may_talk(map, R1, G1, 0, &talk);
	assert_false(talk.allowed);
	assert_non_null(strstr(talk.because, "red to green"));
	ft_map_may_talk(map, R1, NAS_PORT, 0, &talk);
	assert_true(talk.allowed);
	assert_string_equal(talk.exception, "ex");
	ft_map_may_talk(map, NAS_PORT, R1, 0, &talk);
	assert_false(talk.allowed);
	ft_map_may_talk(map, R1, FREE, 0, &talk);
	assert_false(talk.allowed);
	ft_map_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_are_customers_first),
		cmocka_unit_test(entries_are_those_in_force),
		cmocka_unit_test(who_may_talk),
		cmocka_unit_test(who_has_no_partition_in_common_is_told_so),
		cmocka_unit_test(the_default_partition_is_no_reason_for_two_limited_members),
		cmocka_unit_test(segments_answer_too),
		cmocka_unit_test(a_vlan_may_let_two_talk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
