#include "cmocka_headers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <report/flows.h>

#include "sample_flows.h"
#include "sample_report.h"
#include "written_json.h"

static json_t *rendered(const struct ft_report_flows *flows)
{
	struct written written;

	written_open(&written);
	assert_int_equal(ft_render_flows_json(written.out, flows), 0);
	return written_json(&written);
}

static json_t *sample_document(bool judged)
{
	struct ft_report about = sample_report();
	struct ft_report_flows flows = sample_flows(&about, judged);

	return rendered(&flows);
}

static void a_flow_has_every_field_of_the_format(void **state)
{
	json_t *document = sample_document(true);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(document, "schema")),
			    "fabtap.flows/1");
	is_json(json_object_get(document, "table"),
		"{\"capacity\": 1024, \"used\": 4, \"evicted\": 5, \"expired\": 6,"
		" \"record_bytes\": 192, \"detail_bytes\": 448}");
	is_json(json_array_get(json_object_get(document, "flows"), 0),
		"{\"flow\": 1,"
		" \"src\": {\"address\": \"10.0.0.1\", \"host\": \"g1\", \"tenant\": \"green\"},"
		" \"dst\": {\"address\": \"10.0.0.2\", \"host\": \"g2\", \"tenant\": \"green\"},"
		" \"dest_qp\": 46, \"pkey\": \"0x8001\", \"vlan\": 100, \"vni\": null,"
		" \"transport\": \"RC\", \"first_ts\": \"2025-11-21T08:45:04.000000001Z\","
		" \"last_ts\": \"2025-11-21T08:45:05.000000000Z\", \"packets\": 12,"
		" \"bytes\": 15300, \"payload_bytes\": 9000, \"opcodes\":"
		" {\"RC_RDMA_WRITE_ONLY\": 9, \"RC_RDMA_READ_REQUEST\": 2, \"0xdf\": 1},"
		" \"messages\": {\"send\": 0, \"write\": 9, \"read\": 2, \"atomic\": 0,"
		" \"sizes\": {\"min\": 8, \"p50\": 1000, \"max\": 4096}},"
		" \"retransmitted\": 1, \"reordered\": 2, \"duplicates\": 3, \"fabric_lost\": 4,"
		" \"mirror_lost\": 5, \"gaps_open\": 6, \"acks\": 7,"
		" \"naks\": {\"psn_sequence_error\": 8, \"remote_operational_error\": 9},"
		" \"rnr_naks\": 10, \"ce_marked\": 11, \"cnps\": 12, \"psn_first\": 16777215,"
		" \"psn_last\": 3, \"mtu\": 1024, \"verdict\": \"violated\","
		" \"rules\": [\"pkey.undeclared\", \"tenant.crossing\"], \"connection\": 1}");
	is_json(json_object_get(document, "connections"),
		"[{\"connection\": 1, \"flows\": [1, 2], \"paired_by\": \"transport\","
		" \"certainty\": 0.75, \"rtt_ns\": {\"min\": 1500, \"p50\": 2500, \"p99\": "
		"90000}}]");
	assert_non_null(json_object_get(document, "tool"));
	assert_non_null(json_object_get(document, "capture"));
	assert_non_null(json_object_get(document, "coverage"));
	json_decref(document);
}

static void what_is_unknown_is_null(void **state)
{
	static const char *const unknown[] = { "pkey",      "vlan",     "vni", "transport",
					       "psn_first", "psn_last", "mtu", "connection",
					       "verdict",   "rules" };
	json_t *document = sample_document(false);
	json_t *flows = json_object_get(document, "flows");
	json_t *row = json_array_get(flows, 2);

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_true(json_is_null(json_object_get(row, unknown[i])));
	is_json(json_object_get(row, "src"),
		"{\"address\": \"fe80::1\", \"host\": null, \"tenant\": null}");
	is_json(json_object_get(row, "opcodes"), "{}");
	is_json(json_object_get(row, "naks"), "{}");
	is_json(json_object_get(json_object_get(row, "messages"), "sizes"),
		"{\"min\": null, \"p50\": null, \"max\": null}");
	row = json_array_get(flows, 1);
	assert_true(json_is_null(json_object_get(row, "first_ts")));
	assert_int_equal(json_integer_value(json_object_get(row, "vni")), 5001);
	is_json(json_object_get(row, "opcodes"), "{\"CNP\": 2000000}");
	json_decref(document);
}

static void unmeasured(const void *rows, size_t index, struct ft_report_connection *row)
{
	(void)rows;
	(void)index;
	*row = (struct ft_report_connection){ .connection = 1,
					      .flows = { 1, 2 },
					      .paired_by = "cm",
					      .certainty = 1,
					      .rtt_min_ns = FT_UNKNOWN };
}

static void an_unmeasured_round_trip_is_null(void **state)
{
	struct ft_report about = sample_report();
	struct ft_report_flows flows = sample_flows(&about, false);
	json_t *document, *connection;

	(void)state;
	flows.connection = unmeasured;
	document = rendered(&flows);
	connection = json_array_get(json_object_get(document, "connections"), 0);
	assert_true(json_is_null(json_object_get(connection, "rtt_ns")));
	assert_true(json_number_value(json_object_get(connection, "certainty")) == 1);
	json_decref(document);
}

/* From the line that begins with the word; what stands before SEEN is the report's, and tested there. */
static char *page_from(const char *word, const struct ft_report_flows *flows, bool colour)
{
	const struct ft_render_options look = { .colour = colour };
	struct written written;
	const char *text;
	char *copy;

	written_open(&written);
	assert_int_equal(ft_render_flows_text(written.out, flows, &look), 0);
	text = strstr(written_close(&written), word);
	assert_non_null(text);
	copy = strdup(text);
	written_free(&written);
	return copy;
}

static char *page(const struct ft_report_flows *flows, bool colour)
{
	return page_from("FLOWS", flows, colour);
}

static char *sample_page(bool judged, bool colour)
{
	struct ft_report about = sample_report();
	struct ft_report_flows flows = sample_flows(&about, judged);

	return page(&flows, colour);
}

static void the_page_says_what_of_the_frames_could_not_be_read(void **state)
{
	static const struct {
		struct ft_report_coverage seen;
		const char *text;
	} cases[] = {
		{ { .frames_seen = 1 }, "SEEN      1 frame\n" },
		{ { .frames_seen = 9,
		    .duplicates = 1,
		    .undecided = 6,
		    .undecided_bad_icrc = 1,
		    .undecided_cut = 2,
		    .undecided_malformed = 3,
		    .never_judged = 1,
		    .not_rdma = 2 },
		  "SEEN      9 frames without copies\n"
		  "          1 copy that the mirror made, left out of all else\n"
		  "          1 of subnet management, 2 not RDMA\n"
		  "          6 undecided: 1 with a wrong ICRC, 2 cut too short, 3 malformed\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_report about = sample_report();
		struct ft_report_flows flows = sample_flows(&about, false);
		char *text;

		about.coverage = cases[i].seen;
		text = page_from("SEEN", &flows, false);
		assert_memory_equal(text, cases[i].text, strlen(cases[i].text));
		free(text);
	}
}

static void the_page_has_a_line_for_each_flow(void **state)
{
	static const char expected[] =
		"FLOWS     3 of 4 half-connections, 2 connections\n"
		"          INCOMPLETE: 5 made room for others; a larger --flows than 1024 keeps "
		"more of them\n"
		"  flow  conn  source                 destination  QP        type  P_Key           "
		" "
		"frames    bytes  messages  again  lost  unseen  refused  marked    cnps  verdict\n"
		"     1     1  g1 (green)             g2 (green)   0x00002e  RC    0x8001 vlan 100 "
		" "
		"    12  15.3 kB        11      1     4       5       27      11      12  violated "
		"pkey.undeclared, tenant.crossing\n"
		"     2     1  g2 (green)             g1 (green)   0x000012  CNP   0x0001 vni 5001 "
		" "
		"2.00 M   120 MB         .      .     .       .        .       .  2.00 M  allowed\n"
		"     3     .  fe80::1 (evil\\x1b[2J)  lid:17       0xffffff  -     -              "
		"       1     60 B         .      .     .       .        .       .       .  "
		"unknown\n";
	char *text = sample_page(true, false);

	(void)state;
	assert_memory_equal(text, expected, strlen(expected));
	assert_null(strchr(text, '\033'));
	free(text);
}

static void without_a_map_there_is_no_verdict(void **state)
{
	char *text = sample_page(false, false);

	(void)state;
	assert_null(strstr(text, "verdict"));
	assert_null(strstr(text, "green"));
	assert_non_null(strstr(text, "     1     1  10.0.0.1  10.0.0.2     0x00002e  RC"));
	free(text);
}

static char long_name[301];

static void odd_flow(const void *rows, size_t index, struct ft_report_flow *row)
{
	(void)rows;
	(void)index;
	memset(long_name, 'n', sizeof long_name - 1);
	*row = (struct ft_report_flow){
		.flow = 1,
		.src = { .address = "10.0.0.1", .host = long_name, .tenant = "red" },
		.dst = { .address = "10.0.0.2" },
		.has_vlan = true,
		.vlan = 100,
		.has_vni = true,
		.vni = 5001,
		.connection = FT_UNKNOWN
	};
}

static void a_line_has_both_tags_and_names_of_any_length(void **state)
{
	struct ft_report about = sample_report();
	struct ft_report_flows flows = sample_flows(&about, true);
	char *text;

	(void)state;
	flows.flow_count = 1;
	flows.flow = odd_flow;
	text = page(&flows, false);
	assert_non_null(strstr(text, long_name));
	assert_non_null(strstr(text, "nnn (red)  10.0.0.2 "));
	assert_non_null(strstr(text, " - vlan 100 vni 5001 "));
	assert_non_null(strstr(text, "  .\n")); /* no verdict, though there is a map */
	free(text);
}

static const struct ft_report_flow_nccl followed_rows[] = {
	{ "nccl", 0.875, 12, "data", 3, true, 0 },
	{ "nccl", 1, 12, "cts", FT_UNKNOWN, false, 0 },
	{ NULL, 0, 0, NULL, 0, false, 0 },
	{ "ucx", 0.5, FT_UNKNOWN, NULL, FT_UNKNOWN, false, 0 },
	{ "unknown", 0, FT_UNKNOWN, NULL, FT_UNKNOWN, false, 0 },
	{ "unknown", 0.25, 7, "data", FT_UNKNOWN, true, -1 },
};

static void followed_flow(const void *rows, size_t index, struct ft_report_flow *row)
{
	(void)rows;
	*row = (struct ft_report_flow){ .flow = index + 1,
					.src = { .address = "10.0.0.1" },
					.dst = { .address = "10.0.0.2" },
					.transport = "RC",
					.connection = FT_UNKNOWN,
					.nccl = followed_rows[index] };
}

static struct ft_report_flows followed_flows(const struct ft_report *about)
{
	struct ft_report_flows flows = sample_flows(about, false);

	flows.followed = true;
	flows.flow = followed_flow;
	flows.flow_count = sizeof(followed_rows) / sizeof(followed_rows[0]);
	return flows;
}

static void a_flow_says_what_the_framing_of_nccl_does(void **state)
{
	static const char *const expected[] = {
		"{\"class\": \"nccl\", \"confidence\": 0.875, \"connection\": 12, \"role\": "
		"\"data\","
		" \"channel\": 3, \"rank\": 0}",
		"{\"class\": \"nccl\", \"confidence\": 1, \"connection\": 12, \"role\": \"cts\","
		" \"channel\": null, \"rank\": null}",
		"null",
		"{\"class\": \"ucx\", \"confidence\": 0.5, \"connection\": null, \"role\": null,"
		" \"channel\": null, \"rank\": null}",
		"{\"class\": \"unknown\", \"confidence\": 0, \"connection\": null, \"role\": null,"
		" \"channel\": null, \"rank\": null}",
		"{\"class\": \"unknown\", \"confidence\": 0.25, \"connection\": 7, \"role\": "
		"\"data\","
		" \"channel\": null, \"rank\": -1}",
	};
	struct ft_report about = sample_report();
	struct ft_report_flows flows = followed_flows(&about);
	json_t *document = rendered(&flows), *plain = sample_document(true);
	json_t *rows = json_object_get(document, "flows");

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		is_json(json_object_get(json_array_get(rows, i), "nccl"), expected[i]);
	assert_null(json_object_get(json_array_get(json_object_get(plain, "flows"), 0), "nccl"));
	json_decref(plain);
	json_decref(document);
}

static void a_followed_page_has_a_column_for_the_class(void **state)
{
	static const char *const cells[] = {
		"QP        type  class         P_Key  frames",
		"0x000000  RC    nccl data     -",
		"0x000000  RC    nccl cts      -",
		"0x000000  RC    .             -",
		"0x000000  RC    ucx           -",
		"0x000000  RC    .             -",
		"0x000000  RC    unknown data  -",
	};
	struct ft_report about = sample_report();
	struct ft_report_flows flows = followed_flows(&about);
	char *text = page(&flows, false), *at = text;

	(void)state;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		at = strstr(at, cells[i]);
		if (at == NULL)
			fail_msg("%s\n  is not in\n%s", cells[i], text);
		at++;
	}
	free(text);
}

static void a_violated_flow_has_a_colour_of_its_own(void **state)
{
	char *text = sample_page(true, true);
	unsigned codes = 0;

	(void)state;
	assert_non_null(strstr(text, "tenant.crossing\033[0m\n"));
	for (const char *at = text; (at = strstr(at, "\033[0m")) != NULL; at++)
		codes++;
	assert_int_equal(codes, 1);
	free(text);
}

static void numbered(const void *rows, size_t index, struct ft_report_flow *row)
{
	(void)rows;
	*row = (struct ft_report_flow){ .flow = index + 1,
					.src = { .address = "10.0.0.1" },
					.dst = { .address = "10.0.0.2" },
					.connection = FT_UNKNOWN };
	if (index == 1499)
		strcpy(row->src.address, "2001:db8:1234:5678:9abc:def0:1234:5678");
}

static void a_long_table_is_aligned_from_the_first_line_on(void **state)
{
	struct ft_report about = sample_report();
	struct ft_report_flows flows = sample_flows(&about, false);
	unsigned lines = 0;
	char *text, *line, *rest;

	(void)state;
	flows.flow_count = 1500;
	flows.flow = numbered;
	text = page(&flows, false);
	for (line = strtok_r(strstr(text, "  flow"), "\n", &rest); line != NULL && *line != 0;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (strstr(line, "again:") != NULL)
			break;
		assert_true(strlen(line) > 60);
		assert_memory_equal(line + 54, lines == 0 ? "destin" : "10.0.0", 6);
		lines++;
	}
	assert_int_equal(lines, 1501);
	free(text);
}

static void nothing_listed_is_said_in_one_line(void **state)
{
	struct ft_report about = sample_report();
	struct ft_report_flows flows = sample_flows(&about, true);
	char *text;
	json_t *document;

	(void)state;
	flows.flow_count = flows.connection_count = 0;
	flows.all_flows = flows.all_connections = flows.evicted = 0;
	text = page(&flows, false);
	assert_string_equal(text, "FLOWS     0 half-connections, 0 connections\n");
	free(text);
	document = rendered(&flows);
	assert_int_equal(json_array_size(json_object_get(document, "flows")), 0);
	assert_int_equal(json_array_size(json_object_get(document, "connections")), 0);
	json_decref(document);
}

static void an_error_of_the_handle_is_told(void **state)
{
	const struct ft_render_options look = { .width = 80 };
	struct ft_report about = sample_report();
	struct ft_report_flows flows = sample_flows(&about, true);
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_true(ft_render_flows_json(full, &flows) < 0);
	assert_true(ft_render_flows_text(full, &flows, &look) < 0);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_has_every_field_of_the_format),
		cmocka_unit_test(what_is_unknown_is_null),
		cmocka_unit_test(an_unmeasured_round_trip_is_null),
		cmocka_unit_test(the_page_says_what_of_the_frames_could_not_be_read),
		cmocka_unit_test(the_page_has_a_line_for_each_flow),
		cmocka_unit_test(a_line_has_both_tags_and_names_of_any_length),
		cmocka_unit_test(without_a_map_there_is_no_verdict),
		cmocka_unit_test(a_flow_says_what_the_framing_of_nccl_does),
		cmocka_unit_test(a_followed_page_has_a_column_for_the_class),
		cmocka_unit_test(a_violated_flow_has_a_colour_of_its_own),
		cmocka_unit_test(a_long_table_is_aligned_from_the_first_line_on),
		cmocka_unit_test(nothing_listed_is_said_in_one_line),
		cmocka_unit_test(an_error_of_the_handle_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
