#include "maps.h"

#include "ports.h"

/* From what the lines of a map name to its ports, and by which words a port is known in every map. */

enum { RED };
enum { GUIDED, LIDDED, GIDDED, ROCE_HOST, MACKED, SECOND, THIRD, NAMELESS, PORT_COUNT };

#define LOCAL(last)                                                                                \
	{                                                                                          \
		{ 0xfe, 0x80, [8] = 2, [15] = last }, 128                                          \
	}
#define MAC(last)                                                                                  \
	{                                                                                          \
		2, 0, 0, 0, 0, last                                                                \
	}

/* Each has what the one before lacks; the first has all. Three are of one host, the last of none. */
static const struct ft_declared pod = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS({ .host = "a",
		.has_guid = true,
		.guid = GUID(0x11),
		.has_lid = true,
		.lid = 16,
		.lmc = 2,
		.has_gid = true,
		.gid = LOCAL(0x11),
		.has_ip = true,
		.ip = { IPV4(10, 0, 0, 1), 128 },
		.has_mac = true,
		.mac = MAC(1) },
	      { .host = "b", .has_lid = true, .lid = 32 },
	      { .host = "c",
		.has_gid = true,
		.gid = LOCAL(0x13),
		.has_ip = true,
		.ip = { IPV4(10, 0, 0, 3), 128 } },
	      { .host = "d",
		.has_ip = true,
		.ip = { IPV4(10, 0, 0, 4), 128 },
		.has_mac = true,
		.mac = MAC(4) },
	      { .host = "many", .has_mac = true, .mac = MAC(5) },
	      { .host = "many", .has_lid = true, .lid = 40 },
	      { .host = "many", .has_guid = true, .guid = GUID(0x17) },
	      { .has_lid = true, .lid = 50 }),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(EVERYONE(FT_FULL)) }),
};

/* GUID, else GID, IP, MAC or LID. */
static void a_port_is_known_by_what_is_surest(void **state)
{
	static const char *const words[PORT_COUNT] = {
		[GUIDED] = "0x0200000000000011", [LIDDED] = "lid:32",
		[GIDDED] = "fe80::200:0:0:13",   [ROCE_HOST] = "10.0.0.4",
		[MACKED] = "02:00:00:00:00:05",  [SECOND] = "lid:40",
		[THIRD] = "0x0200000000000017",  [NAMELESS] = "lid:50",
	};
	char text[FT_NOTATION_ROOM];

	(void)state;
	for (unsigned i = 0; i < PORT_COUNT; i++)
		assert_string_equal(ft_port_word(text, &pod.ports[i]), words[i]);
}

/* Declared ports are the first endpoints, by the numbers that they have there. */
static void a_port_is_the_endpoint_of_its_number(void **state)
{
	struct ft_map *map = compiled(&pod);

	(void)state;
	for (uint32_t i = 0; i < PORT_COUNT; i++)
		assert_int_equal(ft_port_endpoint(map, &pod.ports[i]), i);
	ft_map_destroy(map);
}

static const struct row {
	const char *what;
	struct ft_member member;
	uint32_t endpoint; /* of an address of its own */
	uint32_t ports[4]; /* that it names: from the first to FT_NONE */
} rows[] = {
	{ "a GUID", { .kind = FT_MEMBER_GUID, .guid = GUID(0x11) }, GUIDED, { GUIDED, FT_NONE } },
	{ "nobody's GUID", { .kind = FT_MEMBER_GUID, .guid = GUID(0x12) }, FT_NONE, { FT_NONE } },
	{ "the first of four LIDs",
	  { .kind = FT_MEMBER_LID, .number = 16 },
	  GUIDED,
	  { GUIDED, FT_NONE } },
	{ "the last of them",
	  { .kind = FT_MEMBER_LID, .number = 19 },
	  GUIDED,
	  { GUIDED, FT_NONE } },
	{ "the one behind", { .kind = FT_MEMBER_LID, .number = 20 }, FT_NONE, { FT_NONE } },
	{ "the one before", { .kind = FT_MEMBER_LID, .number = 15 }, FT_NONE, { FT_NONE } },
	{ "an only LID", { .kind = FT_MEMBER_LID, .number = 32 }, LIDDED, { LIDDED, FT_NONE } },
	{ "one of a port without a name",
	  { .kind = FT_MEMBER_LID, .number = 50 },
	  NAMELESS,
	  { NAMELESS, FT_NONE } },
	{ "an address",
	  { .kind = FT_MEMBER_PREFIX, .prefix = { IPV4(10, 0, 0, 4), 128 } },
	  ROCE_HOST,
	  { FT_NONE } },
	{ "a GID", { .kind = FT_MEMBER_PREFIX, .prefix = LOCAL(0x13) }, GIDDED, { FT_NONE } },
	{ "a MAC address", { .kind = FT_MEMBER_MAC, .mac = MAC(5) }, MACKED, { FT_NONE } },
	{ "a host with one port",
	  { .kind = FT_MEMBER_HOST, .host = "b" },
	  FT_NONE,
	  { LIDDED, FT_NONE } },
	{ "a host with three",
	  { .kind = FT_MEMBER_HOST, .host = "many" },
	  FT_NONE,
	  { THIRD, SECOND, MACKED, FT_NONE } },
	{ "no such host", { .kind = FT_MEMBER_HOST, .host = "man" }, FT_NONE, { FT_NONE } },
	{ "all", { .kind = FT_MEMBER_ALL }, FT_NONE, { FT_NONE } },
	{ "a VLAN", { .kind = FT_MEMBER_VLAN, .number = 16 }, FT_NONE, { FT_NONE } },
};

static void a_member_names_an_endpoint_by_its_own_address(void **state)
{
	struct ft_map *map = compiled(&pod);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		print_message("%s\n", rows[i].what);
		assert_int_equal(ft_member_endpoint(map, &rows[i].member), rows[i].endpoint);
	}
	ft_map_destroy(map);
}

static void a_member_names_ports(void **state)
{
	struct ft_ports ports;

	(void)state;
	assert_int_equal(ft_ports_open(&ports, &pod), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_member *member = &rows[i].member;
		uint32_t port = ft_ports_first(&ports, member);

		print_message("%s\n", rows[i].what);
		for (unsigned k = 0; rows[i].ports[k] != FT_NONE; k++) {
			assert_int_equal(port, rows[i].ports[k]);
			port = ft_ports_next(&ports, member, port);
		}
		assert_int_equal(port, FT_NONE);
	}
	ft_ports_close(&ports);
}

/* The last LIDs that there are: none lies behind. */
static const struct ft_declared last_lids = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS({ .host = "a", .has_lid = true, .lid = 0xfffe, .lmc = 2 }),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(EVERYONE(FT_FULL)) }),
};

static void lids_end_with_sixteen_bits(void **state)
{
	const struct ft_member last = { .kind = FT_MEMBER_LID, .number = 0xffff };
	const struct ft_member none = { .kind = FT_MEMBER_LID, .number = 0x10000 };
	const struct ft_member zero = { .kind = FT_MEMBER_LID, .number = 0 };
	struct ft_ports ports;

	(void)state;
	assert_int_equal(ft_ports_open(&ports, &last_lids), 0);
	assert_int_equal(ft_ports_first(&ports, &last), 0);
	assert_int_equal(ft_ports_first(&ports, &none), FT_NONE);
	assert_int_equal(ft_ports_first(&ports, &zero), FT_NONE);
	ft_ports_close(&ports);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_is_known_by_what_is_surest),
		cmocka_unit_test(a_port_is_the_endpoint_of_its_number),
		cmocka_unit_test(a_member_names_an_endpoint_by_its_own_address),
		cmocka_unit_test(a_member_names_ports),
		cmocka_unit_test(lids_end_with_sixteen_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
