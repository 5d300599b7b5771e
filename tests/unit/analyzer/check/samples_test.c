/* The compiled map against tables that OpenSM really gave its ports, and answers worked out by hand. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>

#include <partition/load.h>
#include <partition/map.h>

#define SAMPLES  FT_TEST_DATA "/partitions/"
#define TOPOLOGY SAMPLES "runtime/v03_ibnetdiscover.txt"
enum { MOST = 64 };

struct loaded {
	struct ft_declared *declared;
	struct ft_map *map;
};

static struct loaded load(const char *path, bool allow_both_pkeys, const char *topology)
{
	struct ft_map_files files = { .map = path,
				      .topologies = &topology,
				      .topology_count = topology != NULL,
				      .allow_both_pkeys = allow_both_pkeys };
	struct ft_map_complaint complaint = { "" };
	struct loaded loaded = { NULL, NULL };

	if (ft_map_load(&loaded.declared, &files, NULL, &complaint) != 0)
		fail_msg("%s", complaint.text);
	assert_int_equal(ft_map_compile(&loaded.map, loaded.declared), 0);
	return loaded;
}

static void unload(struct loaded *loaded)
{
	ft_map_destroy(loaded->map);
	ft_declared_destroy(loaded->declared);
}

static json_t *read_expected(const char *path)
{
	json_error_t error;
	json_t *expected = json_load_file(path, 0, &error);

	if (expected == NULL)
		fail_msg("%s: %s", path, error.text);
	return expected;
}

static uint64_t number_of(const json_t *text)
{
	return strtoull(json_string_value(text), NULL, 16);
}

/* Is the 16-bit P_Key in the port's table? */
static bool holds(const struct ft_entry *entries, size_t count, uint64_t pkey)
{
	unsigned needed = (pkey & 0x8000) != 0 ? FT_FULL : FT_LIMITED;

	for (size_t i = 0; i < count; i++)
		if (entries[i].base == (pkey & 0x7fff) && (entries[i].membership & needed) != 0)
			return true;
	return false;
}

static void compare_table(const struct ft_map *map, const char *guid, const json_t *table)
{
	uint32_t port = ft_map_find_guid(map, strtoull(guid, NULL, 16));
	struct ft_entry entries[MOST];
	size_t count = ft_map_entries(map, port, 0, entries, MOST), values = 0;

	assert_in_range(count, 0, MOST);
	for (size_t i = 0; i < count; i++)
		values += entries[i].membership == FT_BOTH ? 2 : 1;
	if (values != json_array_size(table))
		fail_msg("%s has %zu P_Keys instead of %zu", guid, values, json_array_size(table));
	for (size_t i = 0; i < json_array_size(table); i++)
		if (!holds(entries, count, number_of(json_array_get(table, i))))
			fail_msg("%s lacks %s", guid, json_string_value(json_array_get(table, i)));
}

static size_t compare_file(const char *expected_path)
{
	json_t *expected = read_expected(expected_path), *effective, *table;
	char path[512];
	const char *guid;
	size_t index, tables = 0;

	snprintf(path, sizeof path, "%sopensm/%s", SAMPLES,
		 json_string_value(json_object_get(expected, "file")));
	json_array_foreach(json_object_get(expected, "effective"), index, effective)
	{
		struct loaded loaded =
			load(path, json_is_true(json_object_get(effective, "allow_both_pkeys")),
			     TOPOLOGY);

		json_object_foreach(json_object_get(effective, "ports"), guid, table)
		{
			compare_table(loaded.map, guid, table);
			tables++;
		}
		unload(&loaded);
	}
	json_decref(expected);
	return tables;
}

static void ports_hold_what_opensm_gave_them(void **state)
{
	size_t tables = 0;
	glob_t found;

	(void)state;
	assert_int_equal(glob(SAMPLES "opensm/*.expected.json", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		tables += compare_file(found.gl_pathv[i]);
	globfree(&found);
	assert_true(tables >= 100);
}

static int64_t moment_of(const json_t *text)
{
	struct tm at = { 0 };

	assert_non_null(strptime(json_string_value(text), "%Y-%m-%dT%H:%M:%SZ", &at));
	return (int64_t)timegm(&at) * 1000000000;
}

static void compare_entries(const struct ft_map *map, const json_t *query, const json_t *expected)
{
	uint32_t port = ft_map_find_guid(map, number_of(json_object_get(query, "port")));
	struct ft_entry entries[MOST];
	size_t count =
		ft_map_entries(map, port, moment_of(json_object_get(query, "at")), entries, MOST);

	assert_int_equal(count, json_array_size(expected));
	for (size_t i = 0; i < count; i++) {
		const json_t *entry = json_array_get(expected, i);
		const char *membership = json_string_value(json_object_get(entry, "membership"));

		assert_int_equal(entries[i].base, number_of(json_object_get(entry, "pkey_base")));
		assert_string_equal(entries[i].membership == FT_FULL ? "full" : "limited",
				    membership);
	}
}

static void compare_pair(const struct ft_map *map, const json_t *query, const json_t *pair)
{
	const char *exception = json_string_value(json_object_get(query, "exception"));
	const json_t *via = json_object_get(query, "via");
	struct ft_talk talk;

	ft_map_may_talk(map, ft_map_find_guid(map, number_of(json_array_get(pair, 0))),
			ft_map_find_guid(map, number_of(json_array_get(pair, 1))),
			moment_of(json_object_get(query, "at")), &talk);
	assert_int_equal(talk.allowed, json_is_true(json_object_get(query, "allowed")));
	if (via != NULL)
		assert_int_equal(talk.base, number_of(via));
	if (exception != NULL)
		assert_string_equal(talk.exception, exception);
}

static void questions_have_their_answers(void **state)
{
	struct loaded loaded = load(SAMPLES "tapmap/v01_three_tenants.json", false, NULL);
	json_t *expected = read_expected(SAMPLES "tapmap/v01_three_tenants.expected.json"), *query;
	size_t index, asked = 0;

	(void)state;
	json_array_foreach(json_object_get(expected, "queries"), index, query)
	{
		const json_t *entries = json_object_get(query, "entries"),
			     *pair = json_object_get(query, "pair");

		asked += entries != NULL || pair != NULL;
		if (entries != NULL)
			compare_entries(loaded.map, query, entries);
		if (pair != NULL)
			compare_pair(loaded.map, query, pair);
	}
	assert_int_equal(asked, 5);
	json_decref(expected);
	unload(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_hold_what_opensm_gave_them),
		cmocka_unit_test(questions_have_their_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
