#include "cmocka_headers.h"

#include <stdlib.h>
#include <string.h>

#include <report/nccl.h>

#include "sample_nccl.h"
#include "sample_report.h"
#include "written_json.h"

static char *rendered_text(const struct ft_nccl_report *nccl, const struct ft_report *about,
			   bool keys)
{
	const struct ft_report_nccl report = { about, nccl };
	struct written written;
	char *copy;

	written_open(&written);
	assert_int_equal(ft_render_nccl_json(written.out, &report, keys), 0);
	copy = strdup(written_close(&written));
	assert_non_null(copy);
	written_free(&written);
	return copy;
}

static json_t *rendered(const struct ft_nccl_report *nccl, bool keys)
{
	const struct ft_report about = sample_report();
	const struct ft_report_nccl report = { &about, nccl };
	struct written written;

	written_open(&written);
	assert_int_equal(ft_render_nccl_json(written.out, &report, keys), 0);
	return written_json(&written);
}

static json_t *row_of(json_t *document, const char *list, size_t index)
{
	json_t *row = json_array_get(json_object_get(document, list), index);

	assert_non_null(row);
	return row;
}

/* Word by word what the format gives as its example. */
static void the_example_of_the_format(void **state)
{
	json_t *document = rendered(sample_nccl_example(), false);

	(void)state;
	is_json(json_object_get(document, "schema"), "\"fabtap.nccl/1\"");
	is_json(json_object_get(document, "connections"),
		"[{\"connection\": 0,"
		" \"sender\": {\"addresses\": [\"10.0.0.1\"], \"qpns\": [17], \"qp_device\": [0],"
		" \"rank\": 0},"
		" \"receiver\": {\"addresses\": [\"10.0.0.2\"], \"qpns\": [18], \"qp_device\": [0],"
		" \"rank\": null},"
		" \"cts_fifo\": {\"addr\": \"0x7f9c88fcba80\", \"slots\": 256,"
		" \"entries_per_slot\": 8, \"entry_bytes\": 64, \"slot_stride_bytes\": 512},"
		" \"sizes_array\": {\"addr\": \"0x7f73eb05bb30\", \"slot_stride_bytes\": 160},"
		" \"family\": {\"name\": \"F\", \"certainty\": 1,"
		" \"versions\": [\"2.30.3\", \"2.30.7\"]}, \"found_by\": \"metadata\","
		" \"metadata_tcp\": {\"connecting_side\": [\"10.0.0.1\", 39104],"
		" \"listening_side\": [\"10.0.0.2\", 48597], \"frames\": [1, 18]},"
		" \"channel\": null, \"devices\": 1, \"qps_per_connection\": 1,"
		" \"split_data_on_qps\": null, \"adaptive_routing\": false,"
		" \"imm\": {\"order\": \"big\", \"content\": \"length\"},"
		" \"counts\": {\"cts\": 1, \"messages\": 1, \"payload_bytes\": 8192,"
		" \"retransmitted_packets\": {\"data\": 0, \"cts\": 0},"
		" \"missing_packets\": 0}}]");
	is_json(json_object_get(document, "messages"),
		"[{\"connection\": 0, \"k\": 0, \"n\": 1,"
		" \"requests\": [{\"tag\": 0, \"offered_size\": 8256, \"written_bytes\": 8192,"
		" \"va\": \"0x7f73eac00000\"}],"
		" \"cts_frame\": 21, \"first_frame\": 24, \"last_frame\": 31, \"packets\": 8,"
		" \"qps\": [{\"qp_index\": 0, \"bytes\": 8192, \"packets\": 8}],"
		" \"imm\": \"00002000\", \"latency_ns\": 412345, \"completed\": true,"
		" \"protocol\": \"SIMPLE\"}]");
	is_json(json_object_get(document, "communicators"),
		"[{\"communicator\": 0,"
		" \"ranks\": [{\"rank\": 0, \"addresses\": [\"10.0.0.1\"]},"
		" {\"rank\": null, \"addresses\": [\"10.0.0.2\"]}],"
		" \"ring\": null, \"trees\": null, \"pat\": null, \"channels\": [{\"channel\": "
		"null, "
		"\"connections\": [0]}],"
		" \"connections\": [0]}]");
	is_json(json_object_get(document, "queue_pairs"),
		"[{\"address\": \"10.0.0.2\", \"qpn\": 18, \"class\": \"nccl\", \"confidence\": 1,"
		" \"evidence\": [\"N1\", \"N2\", \"N4\"], \"connection\": 0},"
		" {\"address\": \"10.0.0.1\", \"qpn\": 17, \"class\": \"nccl\", \"confidence\": 1,"
		" \"evidence\": [\"N1\", \"N2\"], \"connection\": 0}]");
	is_json(json_object_get(document, "findings"), "[]");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(document, "capture"), "frames")),
		612);
	json_decref(document);
}

static void what_is_unknown_is_null(void **state)
{
	json_t *document = rendered(sample_nccl_job(), false);
	json_t *known = row_of(document, "connections", 0);
	json_t *row = row_of(document, "connections", 1);

	(void)state;
	assert_true(json_is_null(json_object_get(known, "cts_fifo")));
	assert_true(json_is_null(json_object_get(known, "metadata_tcp")));
	assert_int_equal(json_integer_value(json_object_get(known, "channel")), 0);
	is_json(json_object_get(known, "imm"), "{\"order\": \"little\", \"content\": \"id\"}");
	is_json(json_object_get(row, "family"),
		"{\"name\": null, \"certainty\": 0, \"versions\": [null, null]}");
	is_json(json_object_get(row, "imm"), "{\"order\": null, \"content\": null}");
	is_json(json_object_get(row, "sizes_array"),
		"{\"addr\": \"0x1000\", \"slot_stride_bytes\": null}");
	row = row_of(document, "queue_pairs", 2);
	is_json(row, "{\"address\": \"10.0.0.9\", \"qpn\": 1, \"class\": \"unknown\","
		     " \"confidence\": 0, \"evidence\": [], \"connection\": null}");
	row = row_of(document, "processes", 1);
	is_json(row, "{\"address\": \"10.0.0.2\", \"rank\": null, \"n_ranks\": null,"
		     " \"release\": null, \"first_frame\": 2, \"last_frame\": 2,"
		     " \"dead_frame\": 55}");
	row = row_of(document, "collectives", 1);
	is_json(row, "{\"communicator\": 2, \"sequence\": 1, \"collective\": null,"
		     " \"algorithm\": null, \"protocol\": \"unknown\", \"message_bytes\": null,"
		     " \"message_bytes_range\": null, \"wire_bytes\": 4096, \"messages\": 1, "
		     "\"channels\": null, \"n_ranks\": null,"
		     " \"first_frame\": 71, \"last_frame\": 71, \"first_ts\": null,"
		     " \"last_ts\": null, \"complete\": false}");
	json_decref(document);
}

static void messages_of_which_a_half_was_seen(void **state)
{
	json_t *document = rendered(sample_nccl_job(), false);

	(void)state;
	is_json(row_of(document, "messages", 0),
		"{\"connection\": 3, \"k\": 99, \"n\": 1,"
		" \"requests\": [{\"tag\": -1, \"offered_size\": 1048576, \"written_bytes\": null,"
		" \"va\": \"0x7f0000530000\"}],"
		" \"cts_frame\": 13, \"first_frame\": null, \"last_frame\": null, \"packets\": 0,"
		" \"qps\": [], \"imm\": null, \"latency_ns\": null, \"completed\": false,"
		" \"protocol\": \"unknown\"}");
	is_json(row_of(document, "messages", 1),
		"{\"connection\": 5, \"k\": null, \"n\": 1,"
		" \"requests\": [{\"tag\": null, \"offered_size\": null, \"written_bytes\": 65536,"
		" \"va\": null}],"
		" \"cts_frame\": null, \"first_frame\": 41, \"last_frame\": 77, \"packets\": 64,"
		" \"qps\": [{\"qp_index\": 0, \"bytes\": 40960, \"packets\": 40},"
		" {\"qp_index\": 1, \"bytes\": 24576, \"packets\": 24}],"
		" \"imm\": null, \"latency_ns\": null, \"completed\": false,"
		" \"protocol\": \"unknown\"}");
	is_json(json_object_get(row_of(document, "messages", 2), "imm"), "\"f0030000\"");
	json_decref(document);
}

static void data_before_its_clear_to_send_has_a_negative_latency(void **state)
{
	json_t *document = rendered(sample_nccl_job(), false);

	(void)state;
	is_json(json_object_get(row_of(document, "messages", 2), "latency_ns"), "-250");
	json_decref(document);
}

static void devices_queue_pairs_and_lids(void **state)
{
	json_t *document = rendered(sample_nccl_job(), false);
	json_t *row = row_of(document, "connections", 1);

	(void)state;
	is_json(json_object_get(row, "sender"),
		"{\"addresses\": [\"10.0.0.2\", \"10.0.1.2\"], \"qpns\": [257, 258, 259, 260],"
		" \"qp_device\": [0, 1, 0, 1], \"rank\": 1}");
	is_json(json_object_get(row, "receiver"),
		"{\"addresses\": [\"lid:273\", \"fe80::3\"], \"qpns\": [513, 514, 515, 516],"
		" \"qp_device\": [0, 1, 0, 1], \"rank\": null}");
	is_json(json_object_get(row, "found_by"), "\"lengths\"");
	is_json(json_object_get(row, "devices"), "2");
	is_json(json_object_get(row, "qps_per_connection"), "2");
	is_json(json_object_get(row, "split_data_on_qps"), "true");
	is_json(json_object_get(row, "adaptive_routing"), "true");
	row = row_of(document, "connections", 0);
	is_json(json_object_get(row, "counts"),
		"{\"cts\": 4, \"messages\": 3, \"payload_bytes\": 3145728,"
		" \"retransmitted_packets\": {\"data\": 5, \"cts\": 1}, \"missing_packets\": 7}");
	is_json(json_object_get(row, "failover"),
		"{\"probe_qps\": true, \"recovery_qps\": true, \"probes\": 2, \"recovery_asked\": "
		"10,"
		" \"recovery_answered\": 1, \"recovery_confirmed\": 0, \"frames\": [70, 90]}");
	json_decref(document);
}

static void groups_and_what_they_did(void **state)
{
	json_t *document = rendered(sample_nccl_job(), false);

	(void)state;
	is_json(json_object_get(document, "communicators"),
		"[{\"communicator\": 2,"
		" \"ranks\": [{\"rank\": 0, \"addresses\": [\"10.0.0.1\"]},"
		" {\"rank\": 1, \"addresses\": [\"10.0.0.2\", \"10.0.1.2\"]},"
		" {\"rank\": null, \"addresses\": [\"lid:273\"]}],"
		" \"ring\": [0, 1, 2], \"trees\": [{\"tree\": 1, \"root\": 1, \"edges\": ["
		"{\"parent\": 1, \"child\": 0, \"up\": [3], \"down\": [5]},"
		" {\"parent\": 0, \"child\": 2, \"up\": [5], \"down\": [3]}]}],"
		" \"pat\": [1, 2],"
		" \"channels\": [{\"channel\": 0, \"connections\": [3]},"
		" {\"channel\": 1, \"connections\": [5]}], \"connections\": [3, 5]}]");
	is_json(row_of(document, "collectives", 0),
		"{\"communicator\": 2, \"sequence\": 0, \"collective\": \"AllReduce\","
		" \"algorithm\": \"RING\", \"protocol\": \"LL128\", \"message_bytes\": null,"
		" \"message_bytes_range\": [299991000, 300000000],"
		" \"wire_bytes\": 1200000000, \"messages\": 24, \"channels\": 2, \"n_ranks\": 3,"
		" \"first_frame\": 12, \"last_frame\": 70,"
		" \"first_ts\": \"2026-11-20T21:43:47.000000000Z\","
		" \"last_ts\": \"2026-11-20T21:43:47.100000000Z\", \"complete\": true}");
	is_json(row_of(document, "processes", 0),
		"{\"address\": \"10.0.0.1\", \"rank\": 0, \"n_ranks\": 3, \"release\": \"2.27.7\","
		" \"first_frame\": 1, \"last_frame\": 90, \"dead_frame\": null}");
	is_json(json_object_get(document, "dropped"),
		"{\"connections\": 0, \"messages\": 11, \"queue_pairs\": 1}");
	json_decref(document);
}

static void keys_are_left_out_unless_asked_for(void **state)
{
	const struct ft_report about = sample_report();
	char *without = rendered_text(sample_nccl_job(), &about, false);
	json_t *document;

	(void)state;
	assert_null(strstr(without, "rkey"));
	assert_null(strstr(without, "0xabc"));
	free(without);
	document = rendered(sample_nccl_job(), true);
	is_json(json_object_get(row_of(document, "connections", 1), "sizes_array"),
		"{\"addr\": \"0x1000\", \"rkeys\": [\"0xabc\", \"0xdef\"],"
		" \"slot_stride_bytes\": null}");
	is_json(json_array_get(json_object_get(row_of(document, "messages", 0), "requests"), 0),
		"{\"tag\": -1, \"offered_size\": 1048576, \"written_bytes\": null,"
		" \"va\": \"0x7f0000530000\", \"rkeys\": [\"0x11\", \"0x22\"]}");
	json_decref(document);
	document = rendered(sample_nccl_example(), true);
	is_json(json_object_get(json_object_get(row_of(document, "connections", 0), "cts_fifo"),
				"rkeys"),
		"[\"0x448\"]");
	json_decref(document);
}

static void of_the_findings_those_about_nccl(void **state)
{
	struct ft_report_finding findings[3];
	struct ft_report about = sample_report();
	char *text;
	json_t *list, *document;

	(void)state;
	memcpy(findings, about.findings, sizeof findings);
	findings[1].rule = "nccl.second-writer";
	about.findings = findings;
	text = rendered_text(sample_nccl_nothing(), &about, false);
	document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	list = json_object_get(document, "findings");
	assert_int_equal(json_array_size(list), 1);
	is_json(json_object_get(json_array_get(list, 0), "id"), "\"00ff00ff00ff00ff\"");
	is_json(json_object_get(json_array_get(list, 0), "severity"), "\"high\"");
	json_decref(document);
	free(text);
}

static void nothing_found_is_a_document_too(void **state)
{
	static const char *const lists[] = { "connections", "messages", "communicators",
					     "queue_pairs", "findings", "collectives",
					     "processes" };
	json_t *document = rendered(sample_nccl_nothing(), false);

	(void)state;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		is_json(json_object_get(document, lists[i]), "[]");
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_format),
		cmocka_unit_test(what_is_unknown_is_null),
		cmocka_unit_test(messages_of_which_a_half_was_seen),
		cmocka_unit_test(data_before_its_clear_to_send_has_a_negative_latency),
		cmocka_unit_test(devices_queue_pairs_and_lids),
		cmocka_unit_test(groups_and_what_they_did),
		cmocka_unit_test(keys_are_left_out_unless_asked_for),
		cmocka_unit_test(of_the_findings_those_about_nccl),
		cmocka_unit_test(nothing_found_is_a_document_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
