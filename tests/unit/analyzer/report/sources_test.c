#include "cmocka_headers.h"

#include <string.h>

#include <report/sources.h>

#include "table.h"
#include "written_json.h"

static const struct ft_source_input whole = {
	.name = "leaf1.pcapng",
	.kind = "file",
	.format = "pcapng",
	.compression = "gzip",
	.frames = 1234567,
	.bytes = 1000,
	.first_ts_ns = 1795250704000000001,
	.last_ts_ns = 1795250765200000001,
	.link_types = { 1, 12 },
	.link_type_count = 2,
	.odd_records = 3,
	.clock_steps = 1,
	.erf_lost = 9,
};
static const struct ft_source_input damaged = {
	.name = "cut\033.pcap",
	.kind = "file",
	.format = "pcap",
	.first_ts_ns = FT_TS_UNKNOWN,
	.last_ts_ns = FT_TS_UNKNOWN,
	.damaged = true,
	.complaint = { "cut.pcap: damaged at byte 24" },
};
static const struct ft_source_input *const inputs[] = { &whole, &damaged };
static const struct ft_sources both = { .inputs = inputs, .input_count = 2 };
static const struct ft_sources nothing;

static void inputs_are_told_apart_for_people(void **state)
{
	struct written written;

	(void)state;
	written_open(&written);
	assert_int_equal(ft_sources_inputs_text(written.out, &both), 0);
	assert_string_equal(written_close(&written),
			    "leaf1.pcapng\n"
			    "  format      pcapng, gzip\n"
			    "  link type   1 (Ethernet), 12 (not read)\n"
			    "  frames      1234567, 1.00 kB on the wire\n"
			    "  time        2026-11-21T08:45:04.000000001Z to "
			    "2026-11-21T08:46:05.200000001Z, 61.2 s\n"
			    "  odd records 3\n"
			    "  clock steps 1\n"
			    "  lost by ERF 9\n"
			    "cut\\x1b.pcap\n"
			    "  format      pcap\n"
			    "  link type   none met\n"
			    "  frames      0, 0 B on the wire\n"
			    "  damage      cut.pcap: damaged at byte 24\n");
	written_free(&written);
}

static void inputs_as_a_document(void **state)
{
	struct written written;
	const json_t *rows, *first, *second;
	json_t *document;

	(void)state;
	written_open(&written);
	assert_int_equal(ft_sources_json(written.out, &both), 0);
	document = written_json(&written);
	rows = json_object_get(document, "inputs");
	first = json_array_get(rows, 0);
	second = json_array_get(rows, 1);
	assert_string_equal(json_string_value(json_object_get(document, "schema")),
			    "fabtap.sources/1");
	assert_int_equal(json_array_size(rows), 2);
	assert_int_equal(json_integer_value(json_object_get(first, "frames")), 1234567);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(first, "linktypes"), 1)),
			 12);
	assert_true(json_is_null(json_object_get(first, "damage")));
	assert_true(json_is_null(json_object_get(second, "first_ts")));
	assert_string_equal(json_string_value(json_object_get(second, "damage")),
			    "cut.pcap: damaged at byte 24");
	json_decref(document);
}

static void what_is_read_is_listed_without_files_too(void **state)
{
	struct written written;
	json_t *document;

	(void)state;
	written_open(&written);
	assert_int_equal(ft_sources_json(written.out, &nothing), 0);
	document = written_json(&written);
	assert_int_equal(json_array_size(json_object_get(document, "formats")), 3);
	assert_int_equal(json_array_size(json_object_get(document, "linktypes")), 5);
	assert_int_equal(json_array_size(json_object_get(document, "inputs")), 0);
	json_decref(document);
}

/* Columns are as wide as their widest cell, counted in characters; no line ends in blanks. */
static void columns_line_up(void **state)
{
	static const char *const names[] = { "from", "caf\xc3\xa9", "a\033" };
	struct ft_table table;
	struct written written;
	struct ft_line line;

	(void)state;
	ft_table_init(&table, "<><");
	for (size_t i = 0; i < 3; i++) {
		ft_table_name(&table, names[i]);
		ft_table_format(&table, "%u", (unsigned)(i * i * 50));
		ft_table_name(&table, i == 1 ? "last" : NULL);
	}
	written_open(&written);
	ft_line_open(&line, written.out);
	assert_int_equal(ft_table_write(&table, &line, 1, NULL), 0);
	assert_int_equal(ft_line_flush(&line), 0);
	assert_string_equal(written_close(&written), " from     0\n"
						     " caf\xc3\xa9    50  last\n"
						     " a\\x1b  200\n");
	written_free(&written);
	ft_table_free(&table);
}

static void a_table_may_grow_past_its_first_memory(void **state)
{
	struct ft_table table;
	struct written written;
	struct ft_line line;

	(void)state;
	ft_table_init(&table, ">");
	for (unsigned i = 0; i < 100000; i++)
		ft_table_format(&table, "%u", i);
	written_open(&written);
	ft_line_open(&line, written.out);
	assert_int_equal(ft_table_write(&table, &line, 0, NULL), 0);
	assert_int_equal(ft_line_flush(&line), 0);
	written_close(&written);
	assert_int_equal(written.size, 100000 * strlen("99999\n"));
	assert_memory_equal(written.text + written.size - 12, "99998\n99999\n", 12);
	written_free(&written);
	ft_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_are_told_apart_for_people),
		cmocka_unit_test(inputs_as_a_document),
		cmocka_unit_test(what_is_read_is_listed_without_files_too),
		cmocka_unit_test(columns_line_up),
		cmocka_unit_test(a_table_may_grow_past_its_first_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
