#include "reading.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#define FOLDER FT_TEST_DATA "/capture/"

/*
 * Reference captures made by a generator that shares no code with the product; expected.jsonl says
 * what each record is, in the order of files and frames.
 */
static uint64_t number(const json_t *record, const char *key)
{
	const json_t *value = json_object_get(record, key);

	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
}

static unsigned direction(const json_t *record)
{
	const char *text = json_string_value(json_object_get(record, "epb_dir"));

	if (text == NULL)
		return FT_DIRECTION_UNKNOWN;
	return strcmp(text, "in") == 0 ? FT_DIRECTION_IN : FT_DIRECTION_OUT;
}

static void check(const struct ft_frame *frame, const json_t *record)
{
	const json_t *erf = json_object_get(record, "erf");

	assert_int_equal(frame->number, number(record, "frame"));
	assert_int_equal(frame->link_type, number(record, "linktype"));
	assert_int_equal(frame->captured, number(record, "caplen"));
	assert_int_equal(frame->original, number(record, "wirelen"));
	assert_int_equal(frame->wire, erf != NULL ? number(erf, "wlen") : frame->wire);
	assert_int_equal(frame->ts_ns, json_is_null(json_object_get(record, "ts_ns"))
					       ? FT_TS_UNKNOWN
					       : number(record, "ts_ns"));
	assert_int_equal(frame->is_pcapng, json_object_get(record, "interface") != NULL);
	assert_int_equal(frame->interface, number(record, "interface"));
	assert_int_equal(frame->section, number(record, "section"));
	assert_int_equal(frame->direction, direction(record));
	assert_int_equal(frame->fcs_bytes,
			 json_is_true(json_object_get(record, "fcs_known")) ? 4 : 0);
}

static void every_record_is_what_its_author_meant(void **state)
{
	FILE *expected = fopen(FOLDER "expected.jsonl", "r");
	char line[1024], path[512], file[64] = "";
	struct reading r = { 0 };
	int at = 0, files = 0;

	(void)state;
	assert_non_null(expected);
	while (fgets(line, sizeof line, expected) != NULL) {
		json_t *record = json_loads(line, 0, NULL);
		const char *name = json_string_value(json_object_get(record, "file"));

		assert_non_null(name);
		if (strcmp(name, file) != 0) {
			assert_int_equal(at, r.count);
			snprintf(file, sizeof file, "%s", name);
			snprintf(path, sizeof path, "%s%s", FOLDER, name);
			r = read_file(path);
			assert_int_equal(r.error, -ENODATA);
			assert_false(r.input.damaged);
			at = 0;
			files++;
		}
		assert_true(at < r.count);
		check(&r.frames[at++], record);
		json_decref(record);
	}
	assert_int_equal(at, r.count);
	assert_int_equal(files, 10);
	fclose(expected);
}

static const struct {
	const char *file, *format;
	uint64_t bytes, lost; /* summed from the author's values, not by our reader */
	unsigned link_types;
} inputs[] = {
	{ "native.erf", "erf", 30 + 70 + 54 + 66, 0, 1 },
	{ "erf.pcap", "pcap", 2540, 17, 1 },
	{ "erf_bad.pcap", "pcap", 12 + 314 + 24, 0, 1 },
	{ "fcs_present.pcap", "pcap", 74 + 90 + 98 + 98 + 1102 + 86, 0, 1 },
	{ "multi.pcapng", "pcapng", 8574, 0, 4 },
};

static void inputs_are_summed_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
		char path[512];
		struct reading r;

		print_message("%s\n", inputs[i].file);
		snprintf(path, sizeof path, "file:%s%s", FOLDER, inputs[i].file);
		r = read_file(path);
		assert_string_equal(r.input.format, inputs[i].format);
		assert_string_equal(r.input.kind, "file");
		assert_int_equal(r.input.bytes, inputs[i].bytes);
		assert_int_equal(r.input.erf_lost, inputs[i].lost);
		assert_int_equal(r.input.link_type_count, inputs[i].link_types);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_is_what_its_author_meant),
		cmocka_unit_test(inputs_are_summed_up),
	};

	return cmocka_run_group_tests_name("vectors", tests, NULL, NULL);
}
