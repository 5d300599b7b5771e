#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <partition/lint.h>
#include <partition/load.h>

/*
 * `map lint` about segments and ports: which prefixes lie in which, where tags and times can meet, and who is named at
 * all. Each entry of a map stands on a line of its own, from line 2 on; what is said is "LINE CODE", in order.
 */

enum { TEXT = 16384 };

#define ANY              "\"from\":\"2026-01-01T00:00:00Z\",\"to\":null"
#define FROM(day)        "\"from\":\"2026-01-" day "T00:00:00Z\",\"to\":null"
#define UNTIL(day)       "\"from\":\"2026-01-01T00:00:00Z\",\"to\":\"2026-01-" day "T00:00:00Z\""
#define TENANT(name)     "{\"name\":\"" name "\",\"class\":\"customer\"}"
#define NET(prefix)      "{\"subnet\":\"" prefix "\"}"
#define VLAN(n)          "{\"vlan\":" n "}"
#define VNI(n)           "{\"vni\":" n "}"
#define NODE(host, port) "\n{\"host\":\"" host "\",\"ports\":[{" port "}]}"
#define IP(address)      "\"ip\":\"" address "\""
#define GUID(number)     "\"guid\":\"0x" number "\""
#define HOST(name)       "{\"host\":\"" name "\"}"

/* What is said of these codes (each behind a blank), a line each. */
static void say(const char *map, const char *codes, char said[TEXT])
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared;
	struct ft_map *compiled;
	char *text = NULL, *rest = NULL;
	size_t size, serious, used = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	if (ft_map_load_memory(&declared, "m", NULL, (const uint8_t *)map, strlen(map),
			       &complaint) != 0)
		fail_msg("%s\n%s", complaint.text, map);
	assert_int_equal(ft_map_compile(&compiled, declared), 0);
	assert_int_equal(ft_map_lint(compiled, false, out, &serious), 0);
	assert_int_equal(fclose(out), 0);
	said[0] = 0;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		char code[64], about[72];
		unsigned number;

		if (sscanf(line, "m:%u: %*[a-z]: %63[a-z.-]:", &number, code) != 2 &&
		    sscanf(line, "m: %*[a-z]: %63[a-z.-]: and %u more", code, &number) != 2)
			continue;
		snprintf(about, sizeof about, " %s ", code);
		if (strstr(codes, about) != NULL)
			used += (size_t)snprintf(said + used, TEXT - used, "%u %s\n", number, code);
	}
	free(text);
	ft_map_destroy(compiled);
	ft_declared_destroy(declared);
}

/* A segment of a tenant, and when it is in force. */
struct segment {
	const char *tenant, *members, *time;
};

enum { SEGMENTS = 4 };

struct prefix_case {
	const char *sentence;
	struct segment segments[SEGMENTS]; /* the first on line 2 */
	const char *said;
};

#define RED   "red"
#define GREEN "green"

/* clang-format off */
#define IN(tenant, members) { tenant, members, ANY }
#define AT(tenant, members, time) { tenant, members, time }

static const struct prefix_case prefix_cases[] = {
	{ "one in another's", { IN(RED, NET("10.0.0.0/8")), IN(GREEN, NET("10.1.0.0/16")) }, "3 prefix-shadowed\n" },
	{ "whichever comes first", { IN(GREEN, NET("10.1.0.0/16")), IN(RED, NET("10.0.0.0/8")) }, "2 prefix-shadowed\n" },
	{ "one in its own", { IN(RED, NET("10.0.0.0/8")), IN(RED, NET("10.1.0.0/16")) }, "" },
	{ "beside another's", { IN(RED, NET("10.0.0.0/16")), IN(GREEN, NET("10.1.0.0/16")) }, "" },
	{ "the last of twelve bits", { IN(RED, NET("10.16.0.0/12")), IN(GREEN, NET("10.31.255.0/24")) },
	  "3 prefix-shadowed\n" },
	{ "the first behind them", { IN(RED, NET("10.16.0.0/12")), IN(GREEN, NET("10.32.0.0/24")) }, "" },
	{ "the one before them", { IN(RED, NET("10.16.0.0/12")), IN(GREEN, NET("10.15.0.0/24")) }, "" },
	{ "one prefix of both, told of the later", { IN(RED, NET("10.1.0.0/16")), IN(GREEN, NET("10.1.0.0/16")) },
	  "3 address-of-two-tenants\n" },
	{ "an address and its prefix", { IN(RED, NET("10.1.0.0/16")), IN(GREEN, "{\"ip\":\"10.1.0.0\"}") },
	  "3 prefix-shadowed\n" },
	{ "IPv6", { IN(RED, NET("fd00::/61")), IN(GREEN, NET("fd00:0:0:7::/64")), IN(GREEN, NET("fd00:0:0:8::/64")) },
	  "3 prefix-shadowed\n" },
	{ "in other VLANs", { IN(RED, VLAN("1") "," NET("10.0.0.0/8")), IN(GREEN, VLAN("2") "," NET("10.0.0.0/8")) }, "" },
	{ "in one VLAN of several",
	  { IN(RED, VLAN("1") "," NET("10.0.0.0/8") "," VLAN("3")), IN(GREEN, NET("10.0.0.0/8") "," VLAN("2") "," VLAN("3")) },
	  "3 address-of-two-tenants\n" },
	{ "a VLAN is not the network of its number",
	  { IN(RED, VLAN("5") "," NET("10.0.0.0/8")), IN(GREEN, VNI("5") "," NET("10.0.0.0/8")) }, "" },
	{ "one of them in every VLAN", { IN(RED, NET("10.0.0.0/8")), IN(GREEN, VLAN("2") "," NET("10.0.0.0/8")) },
	  "3 address-of-two-tenants\n" },
	{ "the other of them", { IN(RED, VLAN("2") "," NET("10.0.0.0/8")), IN(GREEN, NET("10.0.0.0/8")) },
	  "3 address-of-two-tenants\n" },
	{ "one after the other", { AT(RED, NET("10.0.0.0/8"), UNTIL("05")), AT(GREEN, NET("10.0.0.0/8"), FROM("05")) }, "" },
	{ "for a day together", { AT(RED, NET("10.0.0.0/8"), UNTIL("06")), AT(GREEN, NET("10.0.0.0/8"), FROM("05")) },
	  "3 address-of-two-tenants\n" },
	{ "and the other way round", { AT(RED, NET("10.0.0.0/8"), FROM("05")), AT(GREEN, NET("10.0.0.0/8"), UNTIL("06")) },
	  "3 address-of-two-tenants\n" },
	{ "in the second of its intervals",
	  { AT(RED, NET("10.0.0.0/8"), UNTIL("03") ",\"members\":[" NET("192.168.0.0/16") "]},{" FROM("03")),
	    IN(GREEN, NET("10.1.0.0/16")) },
	  "3 prefix-shadowed\n" },
	{ "past one of its own to another's",
	  { IN(RED, NET("10.0.0.0/8")), IN(GREEN, NET("10.1.0.0/16")), IN(GREEN, NET("10.1.1.0/24")) },
	  "3 prefix-shadowed\n4 prefix-shadowed\n" },
	{ "two levels, and a neighbour of the inner one",
	  { IN(RED, NET("10.0.0.0/8")), IN(GREEN, NET("10.1.0.0/16")), IN(GREEN, NET("11.0.0.0/16")), IN(GREEN, NET("10.2.0.0/16")) },
	  "3 prefix-shadowed\n5 prefix-shadowed\n" },
};
/* clang-format on */

static void in_segments(const struct segment segments[SEGMENTS], char map[TEXT])
{
	size_t used =
		(size_t)snprintf(map, TEXT,
				 "{\"schema\":\"tapmap/1\",\"serial\":1,"
				 "\"fabric\":{\"kind\":\"roce\"},"
				 "\"tenants\":[" TENANT(RED) "," TENANT(GREEN) "],"
									       "\"segments\":[");

	for (size_t i = 0; i < SEGMENTS && segments[i].tenant != NULL; i++)
		used += (size_t)snprintf(map + used, TEXT - used,
					 "%s\n{\"name\":\"s%zu\",\"tenant\":\"%s\","
					 "\"intervals\":[{%s,\"members\":[%s]}]}",
					 i > 0 ? "," : "", i, segments[i].tenant, segments[i].time,
					 segments[i].members);
	snprintf(map + used, TEXT - used, "]}");
}

static void prefixes_of_two_tenants_are_told_where_they_can_meet(void **state)
{
	char map[TEXT], said[TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof prefix_cases / sizeof *prefix_cases; i++) {
		in_segments(prefix_cases[i].segments, map);
		say(map, " prefix-shadowed address-of-two-tenants ", said);
		if (strcmp(said, prefix_cases[i].said) != 0)
			fail_msg("%s: %s", prefix_cases[i].sentence, said);
	}
}

/* Ports on lines 2 .., and one segment of red with these members. */
static void with_ports(const char *nodes, const char *members, char map[TEXT])
{
	const int size =
		snprintf(map, TEXT,
			 "{\"schema\":\"tapmap/1\",\"serial\":1,\"tenants\":[" TENANT(
				 "red") "],\"nodes\":[%s],\n\"segments\":["
					"{\"name\":\"s\",\"tenant\":\"red\",\"intervals\":[{" ANY
					",\"members\":[%s]}]}]}",
			 nodes, members);

	assert_in_range(size, 1, TEXT - 1);
}

static void ports_that_nothing_names_are_told(void **state)
{
	static const char nodes[] = NODE("a", IP("10.31.0.1")) "," NODE(
		"b", IP("10.32.0.1")) "," NODE("c", "\"gid\":\"fd00::1\"") "," NODE("d", GUID("4"));
	static const struct {
		const char *sentence, *members, *said;
	} rows[] = {
		{ "none is named", VLAN("7"),
		  "2 orphan-port\n3 orphan-port\n4 orphan-port\n5 orphan-port\n" },
		{ "within twelve bits", NET("10.16.0.0/12"),
		  "3 orphan-port\n4 orphan-port\n5 orphan-port\n" },
		{ "within whole bytes", NET("10.0.0.0/8"), "4 orphan-port\n5 orphan-port\n" },
		{ "by address", "{\"ip\":\"10.32.0.1\"}",
		  "2 orphan-port\n4 orphan-port\n5 orphan-port\n" },
		{ "by GID", "{\"gid\":\"fd00::1\"}",
		  "2 orphan-port\n3 orphan-port\n5 orphan-port\n" },
		{ "by a prefix of GIDs", NET("fd00::/61"),
		  "2 orphan-port\n3 orphan-port\n5 orphan-port\n" },
		{ "by host", HOST("d") "," HOST("a"), "3 orphan-port\n4 orphan-port\n" },
		{ "everyone", "{\"all\":true}", "" },
	};
	char map[TEXT], said[TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		with_ports(nodes, rows[i].members, map);
		say(map, " orphan-port ", said);
		if (strcmp(said, rows[i].said) != 0)
			fail_msg("%s: %s", rows[i].sentence, said);
	}
}

/* Twenty are named, and then how many more there are. */
static void many_orphans_are_counted(void **state)
{
	char nodes[TEXT] = "", map[TEXT], said[TEXT];

	(void)state;
	for (int count = 1; count <= 23; count++) {
		size_t used = strlen(nodes), lines = 0;
		char last[32];

		snprintf(nodes + used, TEXT - used, "%s" NODE("h%d", IP("10.0.0.%d")),
			 count > 1 ? "," : "", count, count);
		with_ports(nodes, VLAN("7"), map);
		say(map, " orphan-port ", said);
		for (const char *at = said; (at = strchr(at, '\n')) != NULL; at++)
			lines++;
		assert_int_equal(lines, count <= 20 ? count : 21);
		snprintf(last, sizeof last, "\n%d orphan-port\n",
			 count <= 20 ? count + 1 : count - 20);
		if (count > 1)
			assert_string_equal(said + strlen(said) - strlen(last), last);
	}
}

static void what_is_there_twice_is_told(void **state)
{
	static const struct {
		const char *sentence, *nodes, *members, *said;
	} rows[] = {
		{ "an address on two ports",
		  NODE("a", IP("10.0.0.1")) "," NODE("b", IP("10.0.0.1")), HOST("a") "," HOST("b"),
		  "3 address-of-two-ports\n" },
		{ "two addresses", NODE("a", IP("10.0.0.1")) "," NODE("b", IP("10.0.0.2")),
		  HOST("a") "," HOST("b"), "" },
		{ "a prefix and an address in it are not one",
		  NODE("a", IP("10.0.0.0/24")) "," NODE("b", IP("10.0.0.0")),
		  HOST("a") "," HOST("b"), "" },
		{ "a port by host, twice", NODE("a", IP("10.0.0.1")), HOST("a") "," HOST("a"),
		  "3 port-listed-twice\n" },
		{ "a port without an address", NODE("a", GUID("1")) "," NODE("b", GUID("2")),
		  HOST("a") "," HOST("b"), "" },
	};
	char map[TEXT], said[TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		with_ports(rows[i].nodes, rows[i].members, map);
		say(map, " address-of-two-ports port-listed-twice ", said);
		if (strcmp(said, rows[i].said) != 0)
			fail_msg("%s: %s", rows[i].sentence, said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_of_two_tenants_are_told_where_they_can_meet),
		cmocka_unit_test(ports_that_nothing_names_are_told),
		cmocka_unit_test(many_orphans_are_counted),
		cmocka_unit_test(what_is_there_twice_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
