#include "samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <partition/ask.h>
#include <partition/convert.h>
#include <partition/diff.h>
#include <partition/lint.h>
#include <partition/moment.h>
#include <partition/show.h>

#define THREE_TENANTS SAMPLES "tapmap/v01_three_tenants.json"
#define TENANTS       FT_TEST_DATA "/tenants/"

/* A map, loaded and compiled. */
struct loaded {
	struct ft_declared *declared;
	struct ft_map *map;
};

static struct loaded compile(struct ft_declared *declared)
{
	struct loaded loaded = { .declared = declared };

	assert_int_equal(ft_map_compile(&loaded.map, declared), 0);
	return loaded;
}

static struct loaded load_text(const char *text)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	if (ft_map_load_memory(&declared, "m", NULL, (const uint8_t *)text, strlen(text),
			       &complaint) != 0)
		fail_msg("%s", complaint.text);
	return compile(declared);
}

static void forget(struct loaded *loaded)
{
	ft_map_destroy(loaded->map);
	ft_declared_destroy(loaded->declared);
}

/* What was written, and its size. */
struct page {
	char *text;
	size_t size;
	FILE *out;
};

static void page_open(struct page *page)
{
	page->out = open_memstream(&page->text, &page->size);
	assert_non_null(page->out);
}

static json_t *page_json(struct page *page)
{
	json_t *document;

	fclose(page->out);
	document = json_loads(page->text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(document);
	free(page->text);
	return document;
}

static json_t *ask(const struct ft_map *map, const char *at, const char *port, const char *other)
{
	struct ft_question question = { .port = port, .other = other };
	struct ft_map_complaint complaint;
	struct page page;

	assert_true(ft_moment_read(at, &question.at_ns));
	page_open(&page);
	if (ft_map_ask(map, &question, true, page.out, &complaint) != 0)
		fail_msg("%s", complaint.text);
	return page_json(&page);
}

static int by_base(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "0x0101 full" …, sorted. */
static void assert_same_entries(const json_t *have, const json_t *want)
{
	char *lines[2][32];
	const json_t *sides[] = { have, want };

	assert_int_equal(json_array_size(have), json_array_size(want));
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < json_array_size(have); i++) {
			const json_t *entry = json_array_get(sides[side], i);

			assert_true(asprintf(&lines[side][i], "%s %s",
					     json_string_value(json_object_get(entry, "pkey_base")),
					     json_string_value(
						     json_object_get(entry, "membership"))) > 0);
		}
		qsort(lines[side], json_array_size(have), sizeof(char *), by_base);
	}
	for (size_t i = 0; i < json_array_size(have); i++) {
		assert_string_equal(lines[0][i], lines[1][i]);
		free(lines[0][i]);
		free(lines[1][i]);
	}
}

static void questions_have_the_authors_answers(void **state)
{
	static const char *const answers[] = { "allowed", "via", "exception", "in_grace_for" };
	struct loaded loaded = compile(load_sample(THREE_TENANTS, NULL));
	json_t *want = expected_of(THREE_TENANTS);
	const json_t *queries = json_object_get(want, "queries");

	(void)state;
	assert_int_equal(json_array_size(queries), 6);
	for (size_t i = 0; i < json_array_size(queries); i++) {
		const json_t *query = json_array_get(queries, i),
			     *pair = json_object_get(query, "pair");
		const char *port = json_string_value(pair != NULL ? json_array_get(pair, 0)
								  : json_object_get(query, "port"));
		json_t *answer = ask(loaded.map, json_string_value(json_object_get(query, "at")),
				     port, json_string_value(json_array_get(pair, 1)));

		if (json_object_get(query, "entries") != NULL)
			assert_same_entries(json_object_get(answer, "entries"),
					    json_object_get(query, "entries"));
		for (size_t j = 0; j < sizeof answers / sizeof *answers; j++)
			if (json_object_get(query, answers[j]) != NULL)
				assert_true(json_equal(json_object_get(answer, answers[j]),
						       json_object_get(query, answers[j])));
		json_decref(answer);
	}
	json_decref(want);
	forget(&loaded);
}

static void a_port_answers_to_each_of_its_names(void **state)
{
	static const char *const names[] = { "0xb8cef60300100021", "lid:5", "5", "gpu-a1",
					     "fe80::b8ce:f603:10:21" };
	static const char *const nobody[] = {
		"0xb8cef603001000ff", "lid:99", "99",   "gpu",      "fe80::1", "10.0.0.1",
		"02:00:00:00:00:01",  "",       "lid:", "lid:70000"
	};
	struct loaded loaded = compile(load_sample(THREE_TENANTS, NULL));
	struct ft_question question = { 0 };
	struct ft_map_complaint complaint;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names - 1; i++) {
		json_t *answer = ask(loaded.map, "2026-11-20T11:00:00Z", names[i], NULL);

		assert_string_equal(json_string_value(json_object_get(answer, "host")), "gpu-a1");
		assert_string_equal(json_string_value(json_object_get(answer, "owner")), "red");
		json_decref(answer);
	}
	for (size_t i = 0; i < sizeof nobody / sizeof *nobody; i++) {
		question.port = nobody[i];
		assert_int_equal(ft_map_ask(loaded.map, &question, true, stdout, &complaint),
				 -ENOENT);
		assert_non_null(strstr(complaint.text, "the map declares no such port"));
	}
	forget(&loaded);
}

static void the_first_word_of_a_node_description_is_a_name(void **state)
{
	struct loaded loaded =
		compile(load_sample(SAMPLES "opensm/v01_three_tenants.conf", FABRIC));
	json_t *answer = ask(loaded.map, "2026-11-20T11:00:00Z", "a1", NULL);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(answer, "host")), "a1 mlx5_0");
	json_decref(answer);
	forget(&loaded);
}

static json_t *convert(const struct ft_declared *declared)
{
	struct ft_map_complaint complaint;
	struct page page;

	page_open(&page);
	if (ft_map_convert(declared, page.out, &complaint) != 0)
		fail_msg("%s", complaint.text);
	return page_json(&page);
}

/* "0x8101" for each entry a port holds, sorted: as the fabric's table. */
static json_t *table_of(const struct ft_map *map, const char *guid)
{
	json_t *answer = ask(map, "2026-11-20T11:00:00Z", guid, NULL), *table = json_array();
	const json_t *entries = json_object_get(answer, "entries");
	char *values[64];
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(entries); i++) {
		const json_t *entry = json_array_get(entries, i);
		const char *membership = json_string_value(json_object_get(entry, "membership"));
		unsigned long base =
			strtoul(json_string_value(json_object_get(entry, "pkey_base")), NULL, 16);

		if (strcmp(membership, "full") != 0)
			assert_true(asprintf(&values[count++], "0x%04lx", base) > 0);
		if (strcmp(membership, "limited") != 0)
			assert_true(asprintf(&values[count++], "0x%04lx", base | 0x8000) > 0);
	}
	qsort(values, count, sizeof *values, by_base);
	for (size_t i = 0; i < count; i++) {
		json_array_append_new(table, json_string(values[i]));
		free(values[i]);
	}
	json_decref(answer);
	return table;
}

static void assert_tables(const char *map, const struct ft_map *compiled)
{
	json_t *want = expected_of(map);
	const json_t *effective = json_array_get(json_object_get(want, "effective"), 0);
	json_t *ports = json_object_get(effective, "ports"), *table;
	const char *guid;

	json_object_foreach(ports, guid, table)
	{
		json_t *have = table_of(compiled, guid);

		if (!json_equal(have, table))
			fail_msg("%s: %s has other entries", map, guid);
		json_decref(have);
	}
	json_decref(want);
}

static void a_converted_map_gives_every_port_the_table_opensm_gave_it(void **state)
{
	char *names[MOST_SAMPLES];
	size_t count = 0;

	(void)state;
	list_samples(SAMPLES "opensm", ".conf", 'v', names);
	for (; names[count] != NULL; count++) {
		struct ft_declared *declared = load_sample(names[count], FABRIC);
		json_t *document = convert(declared);
		char *text = json_dumps(document, JSON_INDENT(1));
		struct loaded loaded = load_text(text);

		assert_tables(names[count], loaded.map);
		forget(&loaded);
		free(text);
		json_decref(document);
		ft_declared_destroy(declared);
	}
	assert_int_equal(count, 9);
	forget_samples(names);
}

static void the_compiled_map_gives_every_port_the_table_opensm_gave_it(void **state)
{
	char *names[MOST_SAMPLES];

	(void)state;
	for (const char *first = "vx"; *first != '\0'; first++) {
		list_samples(SAMPLES "opensm", ".conf", *first, names);
		for (size_t i = 0; names[i] != NULL; i++) {
			struct loaded loaded = compile(load_sample(names[i], FABRIC));

			assert_tables(names[i], loaded.map);
			forget(&loaded);
		}
		forget_samples(names);
	}
}

static void a_tapmap_converted_is_the_same_map(void **state)
{
	static const char *const maps[] = { THREE_TENANTS, TENANTS "tenants-moving.map.json",
					    TENANTS "tenants-segments.map.json",
					    TENANTS "cotenancy-bad.map.json" };

	(void)state;
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
		struct loaded old = compile(load_sample(maps[i], NULL)), new;
		json_t *document = convert(old.declared);
		char *text = json_dumps(document, 0);
		struct page page;
		size_t changes = 99;

		new = load_text(text);
		page_open(&page);
		assert_int_equal(ft_map_diff(old.map, new.map, false, page.out, &changes), 0);
		fclose(page.out);
		assert_string_equal(page.text, "the two maps permit the same\n");
		assert_int_equal(changes, 0);
		free(page.text);
		free(text);
		json_decref(document);
		forget(&old);
		forget(&new);
	}
}

static void what_cannot_be_resolved_is_not_converted(void **state)
{
	struct ft_declared *dropped = load_sample(SAMPLES "opensm/x01_bad_guid.conf", FABRIC);
	struct ft_declared *alone = load_sample(SAMPLES "opensm/v01_three_tenants.conf", NULL);
	struct ft_map_complaint complaint;

	(void)state;
	assert_int_equal(ft_map_convert(dropped, stdout, &complaint), -EINVAL);
	assert_non_null(strstr(complaint.text, "OpenSM drops this file"));
	assert_int_equal(ft_map_convert(alone, stdout, &complaint), -EINVAL);
	assert_non_null(strstr(complaint.text, "--topology"));
	ft_declared_destroy(dropped);
	ft_declared_destroy(alone);
}

#define HEAD                                                                                       \
	"{\"schema\":\"tapmap/1\",\"serial\":1,\n"                                                 \
	"\"nodes\":[{\"host\":\"r\",\"ports\":[{\"guid\":\"0x1\"}]},\n"                            \
	"{\"host\":\"g\",\"ports\":[{\"guid\":\"0x2\"}]},\n"                                       \
	"{\"host\":\"n\",\"ports\":[{\"guid\":\"0x3\"}]}],\n"                                      \
	"\"tenants\":[{\"name\":\"red\",\"class\":\"customer\"},\n"                                \
	"{\"name\":\"green\",\"class\":\"customer\"},\n"                                           \
	"{\"name\":\"nas\",\"class\":\"shared\"}],\n"
#define ALWAYS(members)                                                                            \
	"\"intervals\":[{\"from\":\"2026-01-01T00:00:00Z\",\"to\":null,\"members\":[" members "]}" \
	"]"
#define FULL(host)    "{\"host\":\"" host "\",\"membership\":\"full\"}"
#define LIMITED(host) "{\"host\":\"" host "\",\"membership\":\"limited\"}"
#define PARTITION(pkey, tenant, members)                                                           \
	"{\"pkey\":\"" pkey "\",\"tenant\":\"" tenant "\"," ALWAYS(members) "}"
#define RED   PARTITION("0x1", "red", FULL("r"))
#define GREEN PARTITION("0x2", "green", FULL("g"))
#define NAS   PARTITION("0x3", "nas", FULL("n") "," LIMITED("r"))
#define PLAIN HEAD "\"partitions\":[" RED ",\n" GREEN ",\n" NAS "]}\n"

static void a_change_tells_what_it_opens_and_closes(void **state)
{
	static const struct {
		const char *sentence, *new, *said;
	} rows[] = {
		{ "nothing", PLAIN, "the two maps permit the same\n" },
		{ "a member more",
		  HEAD "\"partitions\":[" RED "," GREEN "," PARTITION(
			  "0x3", "nas", FULL("n") "," LIMITED("r") "," LIMITED("g")) "]}",
		  "member  0x0000000000000002 (g) in 0x0003 (nas): none -> limited, from "
		  "2026-01-01T00:00:00Z\n" },
		{ "a membership wider",
		  HEAD "\"partitions\":[" RED "," GREEN
		       "," PARTITION("0x3", "nas", FULL("n") "," FULL("r")) "]}",
		  "member  0x0000000000000001 (r) in 0x0003 (nas): limited -> full, from "
		  "2026-01-01T00:00:00Z\n" },
		{ "an exception",
		  HEAD "\"exceptions\":[{\"id\":\"e\",\"kind\":\"shared-service\",\"to_tenant\":"
		       "\"nas\"}],\"partitions\":[" RED "," GREEN "," NAS "]}",
		  "opens   nas and red via 0x0003 by exception e, from "
		  "2026-01-01T00:00:00Z\nexception e appears\n" },
		{ "a host of red in green's partition",
		  HEAD "\"partitions\":[" RED
		       "," PARTITION("0x2", "green", FULL("g") "," FULL("r")) "," NAS "]}",
		  "opens   green and red via 0x0002 through 0x0000000000000001, from "
		  "2026-01-01T00:00:00Z\n"
		  "member  0x0000000000000001 (r) in 0x0002 (green): none -> full, from "
		  "2026-01-01T00:00:00Z\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct loaded old = load_text(PLAIN), new = load_text(rows[i].new);
		struct page page;
		size_t changes;

		print_message("%s\n", rows[i].sentence);
		page_open(&page);
		assert_int_equal(ft_map_diff(old.map, new.map, false, page.out, &changes), 0);
		fclose(page.out);
		assert_string_equal(page.text, rows[i].said);
		assert_int_equal(changes == 0, i == 0);
		free(page.text);
		forget(&old);
		forget(&new);
	}
}

static json_t *lint(const struct ft_map *map, size_t *serious)
{
	struct page page;

	page_open(&page);
	assert_int_equal(ft_map_lint(map, true, page.out, serious), 0);
	return page_json(&page);
}

static void lint_finds_what_an_operator_wants_to_know(void **state)
{
	static const struct {
		const char *sentence, *text, *code;
		unsigned line;
	} rows[] = {
		{ "nothing", PLAIN, NULL, 0 },
		{ "two tenants on one base",
		  HEAD "\"partitions\":[" RED "," GREEN "," NAS
		       ",\n" PARTITION("0x1", "green", FULL("g")) "]}",
		  "two-tenants-on-one-pkey", 9 },
		{ "a customer open in the default partition",
		  HEAD "\"partitions\":[" RED "," GREEN "," NAS
		       "," PARTITION("0x7fff", "nas", FULL("r")) "]}",
		  "customer-full-in-default", 2 },
		{ "everyone open in the default partition",
		  HEAD "\"partitions\":[" RED "," GREEN "," NAS "," PARTITION(
			  "0x7fff", "nas", "{\"all\":true,\"membership\":\"full\"}") "]}",
		  "customer-full-in-default", 2 },
		{ "limited members only",
		  HEAD "\"partitions\":[" RED "," GREEN
		       ",\n" PARTITION("0x3", "nas", LIMITED("n") "," LIMITED("r")) "]}",
		  "limited-only", 9 },
		{ "a port in no partition",
		  HEAD "\"partitions\":[" RED "," PARTITION("0x3", "nas", FULL("n")) "]}",
		  "orphan-port", 3 },
		{ "a port twice",
		  HEAD "\"partitions\":[" RED "," GREEN "," PARTITION(
			  "0x3", "nas",
			  FULL("n") ",\n{\"guid\":\"0x3\",\"membership\":\"limited\"}") "]}",
		  "port-listed-twice", 9 },
		{ "an exception for a P_Key that is not there",
		  HEAD "\"exceptions\":[\n{\"id\":\"e\",\"kind\":\"management\",\"pkey\":\"0x9\"}],"
		       "\"partitions\":[" RED "," GREEN "," NAS "]}",
		  "exception-never-matches", 9 },
		{ "an exception for the default one, which is everyone's for management then",
		  HEAD
		  "\"exceptions\":[\n{\"id\":\"e\",\"kind\":\"management\",\"pkey\":\"0x7fff\","
		  "\"classes\":[\"cm\"]}],\"partitions\":[" RED "," GREEN "," NAS "]}",
		  NULL, 0 },
		{ "an interval that was over before",
		  HEAD "\"issued_at\":\"2026-01-02T00:00:00Z\",\"partitions\":[" RED "," GREEN
		       "," NAS
		       ",{\"pkey\":\"0x4\",\"tenant\":\"red\",\"intervals\":[\n{\"from\":\"2025-01-"
		       "01T00:00:00Z\",\"to\":\"2025-02-01T00:00:00Z\",\"members\":[]}]}]}",
		  "interval-past", 9 },
		{ "a tenant without anything",
		  HEAD "\"partitions\":[" RED "," GREEN "," PARTITION("0x3", "red", FULL("n")) "]}",
		  "tenant-without-partition", 7 },
		{ "a customer named as a service",
		  HEAD "\"partitions\":[" RED "," GREEN "," NAS
		       "],\n\"segments\":[{\"name\":\"backup-net\",\"tenant\":\"red\"," ALWAYS(
			       "{\"vlan\":5}") "}]}",
		  "service-by-name", 9 },
		{ "a prefix in another's",
		  HEAD "\"segments\":[{\"name\":\"a\",\"tenant\":\"red\"," ALWAYS(
			  "{\"subnet\":\"10.0.0.0/8\"}") "},\n{\"name\":\"b\",\"tenant\":"
							 "\"green\"," ALWAYS("{\"subnet\":\"10.1.0."
									     "0/16\"}") "}]}",
		  "prefix-shadowed", 9 },
		{ "one address of two",
		  HEAD "\"segments\":[{\"name\":\"a\",\"tenant\":\"red\"," ALWAYS(
			  "{\"ip\":\"10.0.0.1\"}") "},\n{\"name\":\"b\",\"tenant\":"
						   "\"green\"," ALWAYS("{\"ip\":\"10.0.0.1\"}") "}]"
												"}",
		  "address-of-two-tenants", 9 },
		{ "no serial",
		  "{\"schema\":\"tapmap/"
		  "1\",\"tenants\":[{\"name\":\"t\",\"class\":\"customer\"}],\"partitions\":"
		  "[" PARTITION("0x1", "t", "") "]}",
		  "no-serial", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct loaded loaded = load_text(rows[i].text);
		size_t serious;
		json_t *document = lint(loaded.map, &serious);
		const json_t *diagnostics = json_object_get(document, "diagnostics");
		bool found = false;

		print_message("%s\n", rows[i].sentence);
		for (size_t j = 0; j < json_array_size(diagnostics); j++) {
			const json_t *one = json_array_get(diagnostics, j);

			found |= rows[i].code != NULL &&
				 strcmp(json_string_value(json_object_get(one, "code")),
					rows[i].code) == 0 &&
				 json_integer_value(json_object_get(one, "line")) == rows[i].line;
		}
		if (rows[i].code == NULL ? json_array_size(diagnostics) != 0 : !found) {
			char *text = json_dumps(diagnostics, JSON_INDENT(1));

			fail_msg("%s: %s", rows[i].sentence, text);
		}
		json_decref(document);
		forget(&loaded);
	}
}

static void overlapping_subnets_in_other_vlans_are_legal(void **state)
{
	struct loaded loaded = load_text(
		HEAD "\"segments\":[{\"name\":\"a\",\"tenant\":"
		     "\"red\"," ALWAYS("{\"vlan\":1},{\"subnet\":\"10.0.0.0/"
				       "8\"}") "},{\"name\":\"b\",\"tenant\":"
					       "\"green\"," ALWAYS("{\"vlan\":2},{"
								   "\"subnet\":\"10.0.0.0/"
								   "8\"}") "}]}");
	size_t serious;
	json_t *document = lint(loaded.map, &serious);
	const json_t *diagnostics = json_object_get(document, "diagnostics");

	(void)state;
	for (size_t i = 0; i < json_array_size(diagnostics); i++)
		assert_string_not_equal(
			json_string_value(json_object_get(json_array_get(diagnostics, i), "code")),
			"address-of-two-tenants");
	json_decref(document);
	forget(&loaded);
}

static void lint_sees_tenants_that_must_not_share_a_leaf(void **state)
{
	struct loaded bad = compile(load_sample(TENANTS "cotenancy-bad.map.json", NULL));
	struct loaded fine = compile(load_sample(TENANTS "cotenancy-fine.map.json", NULL));
	struct page page;
	size_t serious;

	(void)state;
	page_open(&page);
	assert_int_equal(ft_map_lint(bad.map, false, page.out, &serious), 0);
	fclose(page.out);
	assert_int_equal(serious, 1);
	assert_non_null(strstr(page.text, "tenant.cotenancy"));
	assert_non_null(strstr(page.text, "leaf2"));
	free(page.text);
	page_open(&page);
	assert_int_equal(ft_map_lint(fine.map, false, page.out, &serious), 0);
	fclose(page.out);
	assert_int_equal(serious, 0);
	free(page.text);
	forget(&bad);
	forget(&fine);
}

static void a_dropped_file_is_told_with_file_and_line(void **state)
{
	struct ft_declared *declared =
		load_sample(TENANTS "tenants-ib.failopen.conf", TENANTS "ib-a/ibnetdiscover.txt");
	struct page page;

	(void)state;
	page_open(&page);
	assert_int_equal(ft_map_check_write(declared, false, page.out), 0);
	fclose(page.out);
	assert_non_null(strstr(page.text, "tenants-ib.failopen.conf:7: error: bad-port-guid: "));
	assert_non_null(strstr(page.text, "tenants-ib.failopen.conf: fail_open: "));
	free(page.text);
	page_open(&page);
	assert_int_equal(ft_map_show(declared, false, page.out), 0);
	fclose(page.out);
	assert_non_null(strstr(page.text, "partitions that were meant:"));
	free(page.text);
	ft_declared_destroy(declared);
}

static void a_full_disk_is_told(void **state)
{
	struct loaded loaded = compile(load_sample(THREE_TENANTS, NULL));
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (full == NULL) {
		print_message("skipped: there is no /dev/full\n");
	} else {
		assert_int_equal(ft_map_show(loaded.declared, true, full), -ENOSPC);
		rewind(full);
		assert_int_equal(ft_map_show(loaded.declared, false, full), -ENOSPC);
		fclose(full);
	}
	forget(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_have_the_authors_answers),
		cmocka_unit_test(a_port_answers_to_each_of_its_names),
		cmocka_unit_test(the_first_word_of_a_node_description_is_a_name),
		cmocka_unit_test(the_compiled_map_gives_every_port_the_table_opensm_gave_it),
		cmocka_unit_test(a_converted_map_gives_every_port_the_table_opensm_gave_it),
		cmocka_unit_test(a_tapmap_converted_is_the_same_map),
		cmocka_unit_test(what_cannot_be_resolved_is_not_converted),
		cmocka_unit_test(a_change_tells_what_it_opens_and_closes),
		cmocka_unit_test(lint_finds_what_an_operator_wants_to_know),
		cmocka_unit_test(overlapping_subnets_in_other_vlans_are_legal),
		cmocka_unit_test(lint_sees_tenants_that_must_not_share_a_leaf),
		cmocka_unit_test(a_dropped_file_is_told_with_file_and_line),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
