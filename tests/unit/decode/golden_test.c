/*
 * Every field of every reference record. The records were made by a generator and checked by decoders
 * that share no code with this project; expected.jsonl is their common answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <capture/source.h>
#include <decode/decode.h>

#include "packet_json.h"

enum { RECORDS = 1270, FRAMES_PER_CALL = 16 };

/* A null here says that the value was not looked at. */
static const char *const unchecked_if_null[] = { "smac", "dmac", "ip", "udp_sport", "grh", "lrh" };

/* Not the decoder's business. */
static const char *const unchecked[] = { "file", "desc", "flow", "anchor_source" };

/* Only the common header of a MAD is decoded. */
static const char *const mad_header[] = { "base_version", "mgmt_class", "class_version",
					  "method",       "status",     "class_specific",
					  "tid",          "attr_id",    "attr_mod" };

struct tally {
	unsigned records, fields, differences;
};

static bool is_listed(const char *key, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(key, list[i]) == 0)
			return true;
	return false;
}

#define IS_LISTED(key, list) is_listed(key, list, sizeof(list) / sizeof *(list))

static bool array_contains(json_t *array, json_t *value)
{
	size_t index;
	json_t *element;

	json_array_foreach(array, index, element) if (json_equal(element, value)) return true;
	return false;
}

static bool same_set(json_t *expected, json_t *got)
{
	size_t index;
	json_t *element;

	if (json_array_size(expected) != json_array_size(got))
		return false;
	json_array_foreach(expected, index,
			   element) if (!array_contains(got, element)) return false;
	return true;
}

/* Every member of `expected` is in `got`; null and missing are the same. */
static bool holds_members(json_t *expected, json_t *got)
{
	const char *key;
	json_t *value;

	if (!json_is_object(got))
		return false;
	json_object_foreach(expected, key, value)
	{
		json_t *other = json_object_get(got, key);

		if (!json_equal(value, other) && !(json_is_null(value) && other == NULL))
			return false;
	}
	return true;
}

static bool same_mad(json_t *expected, json_t *got)
{
	json_t *header = json_object();
	bool same;

	for (size_t i = 0; i < sizeof mad_header / sizeof *mad_header; i++) {
		json_t *value = json_object_get(expected, mad_header[i]);

		if (value != NULL)
			json_object_set(header, mad_header[i], value);
	}
	same = json_object_size(header) == 0 || holds_members(header, got);
	json_decref(header);
	return same;
}

static bool same_value(const char *key, json_t *expected, json_t *got)
{
	if (strcmp(key, "alerts") == 0)
		return same_set(expected, got);
	if (json_is_null(expected))
		return got == NULL || json_is_null(got) || IS_LISTED(key, unchecked_if_null);
	if (strcmp(key, "mad") == 0)
		return same_mad(expected, got);
	return json_is_object(expected) ? holds_members(expected, got) : json_equal(expected, got);
}

/* The one slip of the reference: a packet cut behind LRH, BTH and RETH is said to have no transport. */
static bool is_reference_slip(json_t *expected, const char *key)
{
	return strcmp(key, "transport") == 0 &&
	       strcmp(json_string_value(json_object_get(expected, "file")), "erf.pcap") == 0 &&
	       json_integer_value(json_object_get(expected, "frame")) == 18;
}

static void report(json_t *expected, const char *key, json_t *wanted, json_t *got)
{
	char *wanted_text = json_dumps(wanted, JSON_ENCODE_ANY | JSON_COMPACT);
	char *got_text =
		got != NULL ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : strdup("nothing");

	print_error("%s frame %lld sub %lld (%s): %s is %s, expected %s\n",
		    json_string_value(json_object_get(expected, "file")),
		    json_integer_value(json_object_get(expected, "frame")),
		    json_integer_value(json_object_get(expected, "sub")),
		    json_string_value(json_object_get(expected, "desc")), key, got_text,
		    wanted_text);
	free(wanted_text);
	free(got_text);
}

static void compare(json_t *expected, json_t *got, struct tally *tally)
{
	json_t *value, *no_alerts = json_array();
	const char *key;

	if (json_object_get(expected, "alerts") == NULL)
		json_object_set(expected, "alerts", no_alerts);
	json_object_foreach(expected, key, value)
	{
		if (IS_LISTED(key, unchecked) || is_reference_slip(expected, key))
			continue;
		tally->fields++;
		if (same_value(key, value, json_object_get(got, key)))
			continue;
		tally->differences++;
		report(expected, key, value, json_object_get(got, key));
	}
	json_decref(no_alerts);
	tally->records++;
}

static void decode_frame(const struct ft_frame *frame, json_t *records, size_t *next,
			 struct tally *tally)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	const struct ft_decode_input input = {
		.bytes = frame->bytes,
		.captured = frame->captured,
		.wire = frame->original,
		.link_type = frame->link_type,
		.fcs_bytes = frame->fcs_bytes,
		.ts_ns = frame->ts_ns,
	};
	struct ft_decode_rest rest;
	struct ft_packet packet;
	bool more;

	memset(&packet, 0xa5, sizeof packet);
	more = ft_decode(&config, &input, &packet, &rest);
	for (;;) {
		json_t *got = packet_json(frame, rest.sub, &packet);

		assert_true(*next < json_array_size(records));
		compare(json_array_get(records, (*next)++), got, tally);
		json_decref(got);
		if (!more)
			return;
		memset(&packet, 0x5a, sizeof packet);
		more = ft_decode_more(&config, &input, &packet, &rest);
	}
}

static void decode_file(const char *name, json_t *records, struct tally *tally)
{
	char path[512];
	const char *paths[] = { path };
	struct ft_source_complaint complaint;
	struct ft_source *source = NULL;
	struct ft_frame frames[FRAMES_PER_CALL];
	size_t next = 0;
	int count;

	snprintf(path, sizeof path, FT_TEST_DATA "/vectors/%s", name);
	if (ft_source_open_files(&source, paths, 1, &complaint) != 0)
		fail_msg("%s", complaint.text);
	while ((count = ft_source_next(source, frames, FRAMES_PER_CALL)) > 0)
		for (int i = 0; i < count; i++)
			decode_frame(&frames[i], records, &next, tally);
	ft_source_close(source);
	if (next != json_array_size(records))
		fail_msg("%s: %zu packets, expected %zu", name, next, json_array_size(records));
}

/* { file name: [records] }; the file mixes captures, but keeps each in order. */
static json_t *read_records(void)
{
	FILE *file = fopen(FT_TEST_DATA "/vectors/expected.jsonl", "r");
	json_t *by_file = json_object(), *record;
	json_error_t error;

	assert_non_null(file);
	while ((record = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error)) != NULL) {
		const char *name = json_string_value(json_object_get(record, "file"));

		if (json_object_get(by_file, name) == NULL)
			json_object_set_new(by_file, name, json_array());
		json_array_append_new(json_object_get(by_file, name), record);
	}
	fclose(file);
	return by_file;
}

static void every_field_of_every_record_is_decoded_as_expected(void **state)
{
	json_t *by_file = read_records(), *records;
	struct tally tally = { 0 };
	const char *name;

	(void)state;
	json_object_foreach(by_file, name, records) decode_file(name, records, &tally);
	json_decref(by_file);
	print_message("%u records, %u fields\n", tally.records, tally.fields);
	assert_int_equal(tally.records, RECORDS);
	assert_int_equal(tally.differences, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_every_record_is_decoded_as_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
