#include "cmocka_headers.h"

#include <stdlib.h>
#include <string.h>

#include <report/nccl.h>

#include "sample_nccl.h"
#include "sample_report.h"
#include "written.h"

/* From the line that begins with NCCL; what stands before is told by the capture's own tests. */
static char *page(const struct ft_nccl_report *nccl, const struct ft_report *about, size_t messages)
{
	const struct ft_report_nccl report = { about, nccl };
	const struct ft_render_options look = { .colour = false };
	struct written written;
	const char *text;
	char *copy;

	written_open(&written);
	assert_int_equal(ft_render_nccl_text(written.out, &report, messages, &look), 0);
	text = strstr(written_close(&written), "\nNCCL ");
	assert_non_null(text);
	copy = strdup(text + 1);
	assert_non_null(copy);
	written_free(&written);
	return copy;
}

static void is_page(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

#define NOT_ON_THE_WIRE                                                                            \
	"not on the wire: what stays within a host (NVLink, PCIe, shared memory), data types,\n"   \
	"          reduction operators, names of tensors\n"                                        \
	"\n"                                                                                       \
	"FINDINGS  none\n"

static void a_job_reads_from_the_whole_to_the_single_message(void **state)
{
	const struct ft_report about = sample_report();

	(void)state;
	is_page(page(sample_nccl_job(), &about, 20),
		"NCCL      2 connections of 1 communicator: 3 messages, 3.15 MB written\n"
		"\n"
		"COMM 2    3 processes that connections tie together, 2 channels, 2 connections\n"
		"          ring 0 > 1 > lid:273 > 0\n"
		"          tree 1 up to 1: 0 > 1, lid:273 > 0\n"
		"          PAT's connections, from each to those 1, 2 ranks further on\n"
		"  rank  addresses\n"
		"     0  10.0.0.1\n"
		"     1  10.0.0.2, 10.0.1.2\n"
		"     ?  lid:273\n"
		"\n"
		"CONN      data goes from sender to receiver\n"
		"  conn  ch  rank  sender       rank  receiver    QPs                     family"
		"  NCCL    found by  CTS  messages    bytes  again  unseen\n"
		"     3   0     0  10.0.0.1        1  10.0.0.2    0x000020 > 0x000021     C     "
		"  2.19.4  cts         4         3  3.15 MB      6       7\n"
		"     5   .     1  10.0.0.2 +1     ?  lid:273 +1  0x000101 > 0x000201 +3  ?     "
		"  ?       lengths     .         .      0 B      .       .\n"
		"\n"
		"          conn: id; ch: channel; CTS: clear-to-sends; again: packets sent again by"
		" the transport;\n"
		"          unseen: packets lost on the way here; ?: not known; .: none\n"
		"\n"
		"OPS       3\n"
		"  comm  seq  began            operation  algorithm  protocol       size  channels"
		"  ranks  messages  written     took     algbw\n"
		"     2    0  21:43:47.000000  AllReduce  RING       LL128     <= 300 MB         2"
		"      3        24  1.20 GB   100 ms         .\n"
		"     2    1  .                ?          ?          ?                 ?         ."
		"      .         1  4.10 kB        .         .  incomplete\n"
		"     2    2  21:43:48.000000  AllReduce  RING       SIMPLE      3.00 kB         1"
		"      3        12  12.0 kB  2.00 us  1.5 GB/s\n"
		"\n"
		"MESSAGES  3\n"
		"  conn    k  CTS  first  last  n  offered  written  QPs  protocol  latency  "
		"state\n"
		"     3   99   13      .     .  1  1048576        ?    0  ?               .  "
		"unanswered\n"
		"     5    ?    .     41    77  1        ?    65536    2  ?               .  "
		"CTS unseen, incomplete\n"
		"     3  100   80     79    79  1    65536     1008    0  LL        -250 ns  "
		"whole\n"
		"\n"
		"FAILOVER  1 connection met an error of a port: probes ask what arrived of a "
		"message; then it is\n"
		"          asked, answered and confirmed that the port is back\n"
		"  conn  probes  asked  answered  confirmed  first  last\n"
		"     3       2     10         1          .     70    90\n"
		"\n"
		"QPS       4 queue pairs that packets were sent to, by what they carry\n"
		"  class    queue pairs  packets  confidence  evidence\n"
		"  nccl               2     1200        0.80  N2, N4, N9\n"
		"  nvme               1       50        0.95  CM service port 4420\n"
		"  unknown            1        4        0.00\n"
		"\n"
		"PROCESSES as bootstrap and RAS name them\n"
		"  address   rank  of  release  dead in\n"
		"  10.0.0.1     0   3  2.27.7         .\n"
		"  10.0.0.2     ?   ?  ?             55\n"
		"\n"
		"UNSEEN    2 connections without their set-up over TCP\n"
		"          1 of them is known by lengths and addresses alone: no clear-to-send "
		"could "
		"be read\n"
		"          1 connection whose NCCL release is not known\n"
		"          1 message whose clear-to-send is not in the capture\n"
		"          1 clear-to-send that no data answered\n"
		"          1 message incomplete\n"
		"          7 packets lost on the way here\n"
		"          11 messages counted, but not kept: there is no room for them\n"
		"          1 queue pair more than there is room for\n"
		"          " NOT_ON_THE_WIRE);
}

static void only_so_many_messages_are_shown(void **state)
{
	const struct ft_report about = sample_report();
	char *text = page(sample_nccl_job(), &about, 2);

	(void)state;
	assert_non_null(strstr(text, "\nOPS       the first 2 of 3; --messages N shows more\n"));
	assert_non_null(strstr(text, "\nMESSAGES  the first 2 of 3; --messages N shows more\n"));
	assert_non_null(strstr(text, "CTS unseen, incomplete\n\nFAILOVER "));
	free(text);
	text = page(sample_nccl_job(), &about, 0);
	assert_null(strstr(text, "MESSAGES"));
	assert_null(strstr(text, "OPS"));
	free(text);
}

/* Connection 3 comes first in the report, but is of the second communicator. */
static void connections_of_several_communicators_stand_one_after_the_other(void **state)
{
	static const uint32_t first[] = { 5 }, second[] = { 3 };
	const struct ft_nccl_communicator communicators[] = {
		{ .communicator = 0, .connections = first, .connection_count = 1 },
		{ .communicator = 1, .connections = second, .connection_count = 1 },
	};
	const struct ft_report about = sample_report();
	struct ft_nccl_report nccl = *sample_nccl_job();
	char *text;

	(void)state;
	nccl.communicators = communicators;
	nccl.communicator_count = 2;
	text = page(&nccl, &about, 0);
	assert_non_null(strstr(text,
			       "  comm  conn  ch  rank  sender       rank  receiver    QPs         "
			       "            family"
			       "  NCCL    found by  CTS  messages    bytes  again  unseen\n"
			       "     0     5   .     1  10.0.0.2 +1     ?  lid:273 +1  0x000101 > "
			       "0x000201 +3  ?     "
			       "  ?       lengths     .         .      0 B      .       .\n"
			       "     1     3   0     0  10.0.0.1        1  10.0.0.2    0x000020 > "
			       "0x000021     C     "
			       "  2.19.4  cts         4         3  3.15 MB      6       7\n"));
	assert_non_null(strstr(text, "          comm: communicator; conn: id; ch: channel; "));
	free(text);
}

static void a_capture_without_nccl_says_so(void **state)
{
	const struct ft_report about = sample_report();

	(void)state;
	is_page(page(sample_nccl_nothing(), &about, 20), "NCCL      no connections\n"
							 "\n"
							 "UNSEEN    " NOT_ON_THE_WIRE);
}

static void findings_about_nccl_stand_at_the_end(void **state)
{
	struct ft_report_finding findings[3];
	struct ft_report about = sample_report();
	const char *end;
	char *text;

	(void)state;
	memcpy(findings, about.findings, sizeof findings);
	findings[1].rule = "nccl.second-writer";
	about.findings = findings;
	text = page(sample_nccl_nothing(), &about, 20);
	end = strstr(text, "\nFINDINGS  1\n");
	assert_non_null(end);
	assert_non_null(strstr(end, "nccl.second-writer (high)"));
	assert_non_null(strstr(end, "00ff00ff00ff00ff"));
	assert_null(strstr(end, "a1b2c3d4e5f60718"));
	free(text);
	findings[1].map_file = NULL;
	text = page(sample_nccl_nothing(), &about, 20);
	assert_non_null(strstr(text, "\n  map     no single line decides this\n"));
	free(text);
	about.map = (struct ft_report_map){ 0 };
	text = page(sample_nccl_nothing(), &about, 20);
	assert_non_null(strstr(text, "nccl.second-writer (high)"));
	assert_null(strstr(text, "\n  map "));
	free(text);
}

static void operations_as_nccl_itself_records_them(void **state)
{
	const struct ft_report about = sample_report();
	const struct ft_report_nccl report = { &about, sample_nccl_job() };
	struct written written;

	(void)state;
	written_open(&written);
	assert_int_equal(ft_render_nccl_inspector(written.out, &report), 0);
	assert_string_equal(
		written_close(&written),
		"{\"header\": {\"communicator\": 2, \"n_ranks\": 3}, \"metadata\": "
		"{\"rec_mechanism\": \"fabtap\", \"dump_timestamp_us\": 1795211027100000, "
		"\"first_frame\": 12, \"last_frame\": 70}, \"coll_perf\": {\"coll\": "
		"\"AllReduce\", \"coll_sn\": 0, \"coll_exec_time_us\": 100000, "
		"\"coll_timing_source\": \"wire\", \"algorithm\": \"RING\", "
		"\"protocol\": \"LL128\", \"channels\": 2, \"wire_bytes\": 1200000000, "
		"\"complete\": true}}\n"
		"{\"header\": {\"communicator\": 2}, \"metadata\": {\"rec_mechanism\": "
		"\"fabtap\", \"first_frame\": 71, \"last_frame\": 71}, \"coll_perf\": "
		"{\"wire_bytes\": 4096, \"complete\": false}}\n"
		"{\"header\": {\"communicator\": 2, \"n_ranks\": 3}, \"metadata\": "
		"{\"rec_mechanism\": \"fabtap\", \"dump_timestamp_us\": 1795211028000002, "
		"\"first_frame\": 72, \"last_frame\": 79}, \"coll_perf\": {\"coll\": "
		"\"AllReduce\", \"coll_sn\": 1, \"coll_msg_size_bytes\": 3000, "
		"\"coll_exec_time_us\": 2, \"coll_timing_source\": \"wire\", "
		"\"coll_algobw_gbs\": 1.5, \"coll_busbw_gbs\": 2, \"algorithm\": \"RING\", "
		"\"protocol\": \"SIMPLE\", \"channels\": 1, \"wire_bytes\": 12000, "
		"\"complete\": true}}\n");
	written_free(&written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_reads_from_the_whole_to_the_single_message),
		cmocka_unit_test(only_so_many_messages_are_shown),
		cmocka_unit_test(connections_of_several_communicators_stand_one_after_the_other),
		cmocka_unit_test(a_capture_without_nccl_says_so),
		cmocka_unit_test(findings_about_nccl_stand_at_the_end),
		cmocka_unit_test(operations_as_nccl_itself_records_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
