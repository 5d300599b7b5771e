#include "cmocka_headers.h"

#include <stdio.h>
#include <string.h>

#include <report/render.h>

#include "sample_report.h"
#include "written_json.h"

/*
 * Every field that the format of fabtap.audit/1 names, as a path (`.` a member, `[]` any element of a list
 * that must not be empty), with the JSON types it may have: o a s i r b n(ull).
 */
static const struct field {
	const char *path, *types;
} fields[] = {
	{ "schema", "s" },
	{ "verdict", "s" },
	{ "because", "s" },
	{ "tool.name", "s" },
	{ "tool.version", "s" },
	{ "tool.build", "s" },
	{ "capture.frames", "i" },
	{ "capture.bytes", "i" },
	{ "capture.first_ts", "sn" },
	{ "capture.last_ts", "sn" },
	{ "capture.sources[].name", "s" },
	{ "capture.sources[].kind", "s" },
	{ "capture.sources[].linktypes", "a" },
	{ "capture.sources[].frames", "i" },
	{ "capture.sources[].bytes", "i" },
	{ "capture.sources[].first_ts", "sn" },
	{ "capture.sources[].last_ts", "sn" },
	{ "capture.sources[].clock", "sno" },
	{ "map.name", "s" },
	{ "map.format", "s" },
	{ "map.sha256", "s" },
	{ "map.serial", "in" },
	{ "map.signed_by", "sn" },
	{ "map.verdict", "s" },
	{ "map.tenants", "i" },
	{ "map.partitions", "i" },
	{ "map.segments", "i" },
	{ "map.endpoints", "i" },
	{ "coverage.frames_seen", "i" },
	{ "coverage.frames_lost.estimate", "in" },
	{ "coverage.frames_lost.low", "in" },
	{ "coverage.frames_lost.high", "in" },
	{ "coverage.share_seen", "rin" },
	{ "coverage.lost_by[].method", "s" },
	{ "coverage.lost_by[].source", "s" },
	{ "coverage.lost_by[].frames", "in" },
	{ "coverage.duplicates", "i" },
	{ "coverage.truncated", "i" },
	{ "coverage.undecided", "i" },
	{ "coverage.undecodable", "i" },
	{ "coverage.connections", "in" },
	{ "coverage.one_sided", "in" },
	{ "coverage.unpaired", "in" },
	{ "coverage.time_gaps[].from", "s" },
	{ "coverage.time_gaps[].to", "s" },
	{ "coverage.time_gaps[].source", "s" },
	{ "coverage.clock_steps", "i" },
	{ "coverage.could_hide.packets_per_million", "rin" },
	{ "coverage.could_hide.because", "sn" },
	{ "coverage.enough", "b" },
	{ "coverage.unopened[].protocol", "s" },
	{ "coverage.unopened[].frames", "i" },
	{ "tenants[].name", "s" },
	{ "tenants[].class", "s" },
	{ "tenants[].endpoints_seen", "i" },
	{ "tenants[].frames", "i" },
	{ "tenants[].bytes", "i" },
	{ "tenants[].quota_gbps", "rin" },
	{ "tenants[].peak_gbps", "rin" },
	{ "tenants[].congestion.ce_marked", "in" },
	{ "tenants[].congestion.cnps_caused", "in" },
	{ "tenants[].congestion.cnps_received", "in" },
	{ "tenants[].congestion.pause_ns", "in" },
	{ "tenants[].congestion.rnr_naks", "in" },
	{ "tenants[].congestion.retransmitted", "in" },
	{ "matrix[].from", "s" },
	{ "matrix[].to", "s" },
	{ "matrix[].packets", "i" },
	{ "matrix[].bytes", "i" },
	{ "matrix[].verdict", "s" },
	{ "matrix[].exceptions", "a" },
	{ "pkeys[].pkey", "s" },
	{ "pkeys[].packets", "i" },
	{ "pkeys[].bytes", "i" },
	{ "findings[].id", "s" },
	{ "findings[].rule", "s" },
	{ "findings[].severity", "s" },
	{ "findings[].certainty", "ri" },
	{ "findings[].summary", "s" },
	{ "findings[].first_ts", "sn" },
	{ "findings[].last_ts", "sn" },
	{ "findings[].packets", "i" },
	{ "findings[].bytes", "i" },
	{ "findings[].src", "on" },
	{ "findings[].dst", "on" },
	{ "findings[].pkey", "sn" },
	{ "findings[].dest_qps", "a" },
	{ "findings[].vlan", "in" },
	{ "findings[].vni", "in" },
	{ "findings[].frames", "a" },
	{ "findings[].map_ref", "on" },
	{ "findings[].evidence", "a" },
};

static char type_letter(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return 'o';
	case JSON_ARRAY:
		return 'a';
	case JSON_STRING:
		return 's';
	case JSON_INTEGER:
		return 'i';
	case JSON_REAL:
		return 'r';
	case JSON_NULL:
		return 'n';
	default:
		return 'b';
	}
}

static void check(const json_t *value, const char *path, const struct field *field)
{
	char name[64];
	size_t size = strcspn(path, ".[");
	const json_t *member;

	snprintf(name, sizeof(name), "%.*s", (int)size, path);
	member = json_object_get(value, name);
	if (member == NULL)
		fail_msg("%s is missing", field->path);
	if (path[size] == 0 && strchr(field->types, type_letter(member)) == NULL)
		fail_msg("%s has the wrong type", field->path);
	if (path[size] == '.')
		check(member, path + size + 1, field);
	if (path[size] != '[')
		return;
	if (json_array_size(member) == 0)
		fail_msg("%s: the list is empty", field->path);
	for (size_t i = 0; i < json_array_size(member); i++)
		check(json_array_get(member, i), path + size + 3, field);
}

static json_t *rendered(const struct ft_report *report)
{
	struct written written;

	written_open(&written);
	assert_int_equal(ft_render_json(written.out, report), 0);
	return written_json(&written);
}

static void every_field_of_the_format_is_there(void **state)
{
	struct ft_report report = sample_report();
	json_t *document = rendered(&report);

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		check(document, fields[i].path, &fields[i]);
	json_decref(document);
}

static void expect_text(const json_t *object, const char *name, const char *wanted)
{
	assert_string_equal(json_string_value(json_object_get(object, name)), wanted);
}

static void values_have_the_forms_of_the_format(void **state)
{
	struct ft_report report = sample_report();
	json_t *document = rendered(&report);
	const json_t *finding = json_array_get(json_object_get(document, "findings"), 0);
	const json_t *other = json_array_get(json_object_get(document, "findings"), 1);
	const json_t *source = json_object_get(finding, "src");
	const json_t *reference = json_object_get(finding, "map_ref");

	(void)state;
	expect_text(document, "schema", "fabtap.audit/1");
	expect_text(document, "verdict", "violated");
	expect_text(json_object_get(document, "capture"), "first_ts",
		    "2026-11-21T08:45:04.000000001Z");
	expect_text(finding, "id", "a1b2c3d4e5f60718");
	expect_text(finding, "severity", "critical");
	expect_text(finding, "pkey", "0x8001");
	expect_text(finding, "last_ts", "2026-11-21T08:45:05.700000000Z");
	expect_text(source, "address", "lid:17");
	expect_text(source, "host", "g1");
	expect_text(source, "tenant", "green");
	expect_text(reference, "file", "maps/site.json");
	expect_text(reference, "path", "/partitions/2");
	assert_int_equal(json_integer_value(json_object_get(reference, "line")), 31);
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(finding, "dest_qps"), 1)), 0x1b);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(finding, "frames"), 2)),
			 40);
	assert_true(json_is_null(json_object_get(finding, "vlan")));
	assert_int_equal(json_integer_value(json_object_get(other, "vlan")), 100);
	assert_int_equal(json_integer_value(json_object_get(other, "vni")), 5001);
	expect_text(json_object_get(other, "dst"), "host", "evil\033[2Jhost");
	assert_true(json_is_null(json_object_get(json_object_get(other, "src"), "host")));
	json_decref(document);
}

static void what_is_unknown_is_null(void **state)
{
	struct ft_report report = sample_report();
	const json_t *coverage, *tenant, *finding;
	json_t *document;

	(void)state;
	report.map = (struct ft_report_map){ 0 };
	report.first_ts_ns = report.last_ts_ns = FT_UNKNOWN;
	report.coverage.lost_estimate = report.coverage.lost_low = FT_UNKNOWN;
	report.coverage.lost_high = FT_UNKNOWN;
	report.coverage.share_seen = report.coverage.could_hide_per_million = -1;
	report.coverage.connections = FT_UNKNOWN;
	document = rendered(&report);
	coverage = json_object_get(document, "coverage");
	tenant = json_array_get(json_object_get(document, "tenants"), 1);
	finding = json_array_get(json_object_get(document, "findings"), 2);
	assert_true(json_is_null(json_object_get(document, "map")));
	assert_true(
		json_is_null(json_object_get(json_object_get(document, "capture"), "first_ts")));
	assert_true(json_is_null(
		json_object_get(json_object_get(coverage, "frames_lost"), "estimate")));
	assert_true(json_is_null(json_object_get(coverage, "share_seen")));
	assert_true(json_is_null(json_object_get(coverage, "connections")));
	assert_true(json_is_null(
		json_object_get(json_object_get(coverage, "could_hide"), "packets_per_million")));
	assert_true(json_is_null(json_object_get(tenant, "peak_gbps")));
	assert_true(
		json_is_null(json_object_get(json_object_get(tenant, "congestion"), "pause_ns")));
	assert_true(json_is_null(json_object_get(finding, "src")));
	assert_true(json_is_null(json_object_get(finding, "pkey")));
	assert_true(json_is_null(json_object_get(finding, "map_ref")));
	assert_int_equal(json_array_size(json_object_get(finding, "frames")), 0);
	json_decref(document);
}

static void names_that_are_no_text_still_give_a_document(void **state)
{
	struct ft_report report = sample_report();
	const struct ft_report_tenant tenant = { .name = "\xff\"\\\n\x01",
						 .class = "customer",
						 .quota_gbps = -1 };
	json_t *document;

	(void)state;
	report.tenants = &tenant;
	report.tenant_count = 1;
	document = rendered(&report);
	expect_text(json_array_get(json_object_get(document, "tenants"), 0), "name",
		    "\xef\xbf\xbd\"\\\n\x01");
	json_decref(document);
}

static void one_finding_is_a_document_of_its_own(void **state)
{
	struct ft_report report = sample_report();
	struct written written;
	json_t *document;

	(void)state;
	written_open(&written);
	assert_int_equal(ft_render_finding_json(written.out, &report, "1234567890abcdef"), 0);
	document = written_json(&written);
	expect_text(document, "schema", "fabtap.finding/1");
	expect_text(json_object_get(document, "finding"), "rule", "tenant.cotenancy");
	expect_text(json_object_get(document, "finding"), "leaf", "leaf-1");
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_the_format_is_there),
		cmocka_unit_test(values_have_the_forms_of_the_format),
		cmocka_unit_test(what_is_unknown_is_null),
		cmocka_unit_test(names_that_are_no_text_still_give_a_document),
		cmocka_unit_test(one_finding_is_a_document_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
