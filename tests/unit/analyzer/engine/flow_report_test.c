#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <partition/check.h>

#include "flow_report.h"

enum { CAPACITY = 16, ENGINES = 2, WRITE_ONLY = 0x0a, ACKNOWLEDGE = 0x11, CNP = 0x81 };

/* In the tracker's place: what is undecided of the half-connection to QP 11 and of the one to QP 12. */
struct ft_unsettled ft_tracker_unsettled(const struct ft_tracker *tracker,
					 const struct ft_flow *flow)
{
	(void)tracker;
	if (flow->key.dest_qp == 11)
		return (struct ft_unsettled){ .mirror_lost = 100, .peer_lost = 20, .open = 3 };
	if (flow->key.dest_qp == 12)
		return (struct ft_unsettled){ .peer_lost = 5000, .peer_open = 700 };
	return (struct ft_unsettled){ 0 };
}

static struct ft_flow_share shares[ENGINES];
static struct ft_details *details[ENGINES];
static struct ft_flow_report *report;
static struct ft_flow_choice choice;

static int open_engines(void **state)
{
	(void)state;
	report = NULL;
	for (unsigned i = 0; i < ENGINES; i++) {
		shares[i] = (struct ft_flow_share){ .expired = i + 1 };
		/* another seed: what is found first depends on it, what is reported does not */
		if (ft_flow_table_create(&shares[i].flows, CAPACITY, 7 * i) != 0 ||
		    ft_details_create(&details[i], CAPACITY) != 0)
			return -1;
		shares[i].details = details[i];
	}
	return ft_flow_choice_init(&choice);
}

static int close_engines(void **state)
{
	(void)state;
	ft_flow_report_destroy(report);
	for (unsigned i = 0; i < ENGINES; i++) {
		ft_flow_table_destroy(shares[i].flows);
		ft_details_destroy(details[i]);
	}
	ft_flow_choice_free(&choice);
	return 0;
}

/* From 10.0.0.from to 10.0.0.to. */
static struct ft_flow_key key_of(uint8_t from, uint8_t to, uint32_t dest_qp)
{
	struct ft_flow_key key = {
		.src = { [10] = 0xff, 0xff, 10, 0, 0, from },
		.dst = { [10] = 0xff, 0xff, 10, 0, 0, to },
		.dest_qp = dest_qp,
		.vni = FT_FLOW_NO_VNI,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
	};

	return key;
}

/* Count a packet of `bytes` in the record of `key`; returns the record's number. */
static uint32_t packet_of(unsigned engine, const struct ft_flow_key *key, uint64_t frame,
			  uint8_t opcode, uint32_t bytes)
{
	struct ft_flow_table *flows = shares[engine].flows;
	struct ft_flow *flow =
		ft_flow_find_or_create(flows, key, ft_flow_hash(flows, key), 1000 * frame);
	const struct ft_observed observed = {
		.frame = frame,
		.ts_ns = 1000 * frame,
		.has = FT_OBSERVED_BTH,
		.opcode = opcode,
		.psn = (uint32_t)frame,
		.pkey = 0xffff,
		.vlan = key->vlan == FT_FLOW_ANY_VLAN ? 5 : key->vlan,
	};
	uint32_t number = ft_flow_number(flows, flow);

	flow->packets++;
	flow->bytes += bytes;
	ft_details_count(details[engine], number, &observed, NULL, false);
	return number;
}

static uint32_t add(unsigned engine, uint8_t from, uint8_t to, uint32_t dest_qp, uint64_t frame)
{
	struct ft_flow_key key = key_of(from, to, dest_qp);

	return packet_of(engine, &key, frame, WRITE_ONLY, 100);
}

static void pair(unsigned engine, uint32_t a, uint32_t b)
{
	struct ft_flow *first = ft_flow_at(shares[engine].flows, a);
	struct ft_flow *second = ft_flow_at(shares[engine].flows, b);

	first->peer = b;
	second->peer = a;
	first->half.paired_by = second->half.paired_by = FT_PAIRED_TRANSPORT;
	first->half.pair_bits = second->half.pair_bits = 2;
}

static struct ft_report_flows made(const struct ft_map *map)
{
	assert_int_equal(ft_flow_report_create(&report, shares, ENGINES, map, 1234), 0);
	assert_int_equal(ft_flow_report_choose(report, &choice), 0);
	return ft_flow_report_model(report, NULL);
}

static struct ft_report_flow row_of(const struct ft_report_flows *flows, size_t index)
{
	struct ft_report_flow row;

	assert_true(index < flows->flow_count);
	flows->flow(flows->rows, index, &row);
	return row;
}

static void nothing_seen_is_an_empty_table(void **state)
{
	const struct ft_report_flows flows = made(NULL);

	(void)state;
	assert_int_equal(flows.flow_count, 0);
	assert_int_equal(flows.connection_count, 0);
	assert_int_equal(flows.capacity, 1234);
	assert_int_equal(flows.record_bytes, 192);
	assert_int_equal(flows.expired, 3);
	assert_false(flows.judged);
}

static void ids_are_the_order_of_first_frames_over_all_engines(void **state)
{
	static const uint32_t qps[] = { 14, 12, 13, 11 };
	struct ft_report_flows flows;

	(void)state;
	add(0, 1, 2, 11, 90);
	add(0, 1, 2, 12, 20);
	add(1, 3, 4, 13, 30);
	add(1, 3, 4, 14, 10);
	add(1, 3, 4, 14, 95); /* known already */
	flows = made(NULL);
	assert_int_equal(flows.used, 4);
	assert_int_equal(flows.flow_count, 4);
	for (size_t i = 0; i < 4; i++) {
		struct ft_report_flow row = row_of(&flows, i);

		assert_int_equal(row.flow, i + 1);
		assert_int_equal(row.dest_qp, qps[i]);
		assert_int_equal(row.packets, qps[i] == 14 ? 2 : 1);
	}
}

static void packets_of_one_frame_are_told_apart_by_their_keys(void **state)
{
	struct ft_report_flows flows;

	(void)state;
	add(0, 9, 2, 11, 7);
	add(1, 3, 4, 12, 7);
	add(0, 1, 2, 13, 7);
	flows = made(NULL);
	assert_string_equal(row_of(&flows, 0).src.address, "10.0.0.1");
	assert_string_equal(row_of(&flows, 1).src.address, "10.0.0.3");
	assert_string_equal(row_of(&flows, 2).src.address, "10.0.0.9");
}

static void a_row_says_what_its_record_knows(void **state)
{
	struct ft_flow_key key = key_of(1, 2, 13);
	struct ft_report_flows flows;
	struct ft_report_flow row;
	uint32_t number = packet_of(0, &key, 4, CNP, 74);

	(void)state;
	packet_of(0, &key, 5, ACKNOWLEDGE, 62);
	packet_of(0, &key, 6, CNP, 74);
	ft_flow_at(shares[0].flows, number)->half.mtu = 4096;
	flows = made(NULL);
	row = row_of(&flows, 0);
	assert_string_equal(row.src.address, "10.0.0.1");
	assert_string_equal(row.dst.address, "10.0.0.2");
	assert_null(row.src.host);
	assert_null(row.dst.tenant);
	assert_true(row.has_pkey);
	assert_int_equal(row.pkey, 0xffff);
	assert_true(row.has_vlan);
	assert_int_equal(row.vlan, 5);
	assert_false(row.has_vni);
	assert_string_equal(row.transport, "RC");
	assert_int_equal(row.first_ts_ns, 4000);
	assert_int_equal(row.last_ts_ns, 6000);
	assert_int_equal(row.bytes, 210);
	assert_int_equal(row.opcode_count, 2);
	assert_int_equal(row.opcodes[0].opcode, CNP);
	assert_int_equal(row.opcodes[0].packets, 2);
	assert_int_equal(row.cnps, 2);
	assert_int_equal(row.psn_first, 4);
	assert_int_equal(row.psn_last, 6);
	assert_int_equal(row.mtu, 4096);
	assert_int_equal(row.size_min, FT_UNKNOWN);
	assert_int_equal(row.connection, FT_UNKNOWN);
	assert_null(row.verdict);
}

static void two_slots_of_one_opcode_are_one_row(void **state)
{
	uint32_t number = add(0, 1, 2, 13, 1);
	struct ft_detail *detail = ft_details_of(details[0], number);
	struct ft_report_flows flows;
	struct ft_report_flow row;

	(void)state;
	detail->opcode_packets[0] = UINT32_MAX;
	add(0, 1, 2, 13, 2);
	flows = made(NULL);
	row = row_of(&flows, 0);
	assert_int_equal(row.opcode_count, 1);
	assert_int_equal(row.opcodes[0].packets, 0x100000000);
}

static void lids_are_written_as_such(void **state)
{
	const uint16_t slid = 0x1234, dlid = 7;
	struct ft_flow_key key = { .dest_qp = 13,
				   .vni = 5001,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN,
				   .by_lid = 1 };
	struct ft_report_flows flows;

	(void)state;
	memcpy(key.src + 14, &slid, sizeof slid);
	memcpy(key.dst + 14, &dlid, sizeof dlid);
	packet_of(0, &key, 1, WRITE_ONLY, 1);
	flows = made(NULL);
	assert_string_equal(row_of(&flows, 0).src.address, "lid:4660");
	assert_int_equal(row_of(&flows, 0).src.octets[14], 0x12);
	assert_int_equal(row_of(&flows, 0).src.octets[15], 0x34);
	assert_string_equal(row_of(&flows, 0).dst.address, "lid:7");
	assert_true(row_of(&flows, 0).has_vni);
	assert_int_equal(row_of(&flows, 0).vni, 5001);
}

static void a_map_gives_names_and_verdicts(void **state)
{
	static const struct ft_tenant tenants[] = { { .name = "blue", .quota_gbps = -1 },
						    { .name = "red", .quota_gbps = -1 } };
	static const struct ft_port ports[] = { { .host = "gpu01",
						  .has_ip = true,
						  .ip = { { [10] = 0xff, 0xff, 10, 0, 0, 1 },
							  128 } } };
	static const struct ft_declared declared = {
		.tenants = tenants, .tenant_count = 2, .ports = ports, .port_count = 1
	};
	static const struct {
		uint32_t rules;
		bool decided;
		const char *verdict;
		size_t rule_count;
	} cases[] = {
		{ 0, true, "allowed", 0 },
		{ 0, false, "unknown", 0 },
		{ 1u << FT_RULE_DECODE_BAD_ICRC, false, "unknown", 1 },
		{ 1u << FT_RULE_TENANT_GRACE, true, "allowed", 1 },
		{ 1u << FT_RULE_PKEY_INVALID | 1u << FT_RULE_TENANT_CROSSING, true, "violated", 2 },
		{ 1u << FT_RULE_DECODE_BAD_ICRC | 1u << FT_RULE_TENANT_CROSSING, false, "violated",
		  2 },
	};
	struct ft_report_flows flows;
	struct ft_report_flow row;
	struct ft_map *map;

	(void)state;
	assert_int_equal(ft_map_compile(&map, &declared), 0);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ft_detail *detail = ft_details_of(details[0], add(0, 1, 2, 20 + i, 10 + i));

		ft_detail_judge(detail, cases[i].rules, cases[i].decided);
		ft_detail_place(detail,
				(uint32_t[]){ ft_map_find_address(map, ports[0].ip.address), 1 },
				(uint32_t[]){ FT_NONE, FT_NONE });
	}
	flows = made(map);
	assert_true(flows.judged);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		row = row_of(&flows, i);
		assert_string_equal(row.verdict, cases[i].verdict);
		assert_int_equal(row.rule_count, cases[i].rule_count);
	}
	assert_string_equal(row.src.host, "gpu01");
	assert_string_equal(row.src.tenant, "red");
	assert_null(row.dst.host);
	assert_null(row.dst.tenant);
	assert_string_equal(row.rules[0], "tenant.crossing");
	assert_string_equal(row.rules[1], "decode.bad-icrc");
	ft_map_destroy(map);
}

/* A queue pair is known by address and number, whichever engine has the half-connection to it. */
static void rows_say_what_the_framing_of_nccl_does(void **state)
{
	static const struct ft_nccl_queue_pair queue_pairs[] = {
		{ .place.address = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
		  .qpn = 13,
		  .class = FT_NCCL_CLASS_NCCL,
		  .confidence = 0.75 },
		{ .place.address = { [10] = 0xff, 0xff, 10, 0, 0, 4 },
		  .qpn = 14,
		  .class = FT_NCCL_CLASS_UCX,
		  .confidence = 0.5 },
	};
	static const struct ft_nccl_report nccl = { .queue_pairs = queue_pairs,
						    .queue_pair_count = 2 };
	static const struct ft_framing nothing;
	struct ft_report_flows flows;
	struct ft_framed *framed;

	(void)state;
	add(0, 1, 2, 13, 1);
	add(1, 3, 4, 14, 2);
	add(0, 1, 2, 15, 3);
	flows = made(NULL);
	assert_false(flows.followed);
	assert_null(row_of(&flows, 0).nccl.class);
	assert_int_equal(ft_framed_create(&framed, &nccl, 7), 0);
	ft_flow_report_take_framed(report, framed, &nothing);
	assert_int_equal(ft_flow_choice_where(&choice, "class=nccl,unknown", NULL), 0);
	assert_int_equal(ft_flow_report_choose(report, &choice), 0);
	flows = ft_flow_report_model(report, NULL);
	assert_true(flows.followed);
	assert_int_equal(flows.flow_count, 2);
	assert_string_equal(row_of(&flows, 0).nccl.class, "nccl");
	assert_true(row_of(&flows, 0).nccl.confidence == 0.75);
	assert_int_equal(row_of(&flows, 1).flow, 3);
	assert_null(row_of(&flows, 1).nccl.class);
}

/* Of the half-connection whose packet it was, in its VLAN and with its P_Key. */
static void rows_say_which_rules_of_nccl_they_break(void **state)
{
	static const struct {
		uint32_t dest_qp;
		uint16_t vlan, pkey;
		const char *rule; /* NULL: none */
	} cases[] = {
		{ 13, 7, 0xffff, "nccl.replay" },
		{ 13, 8, 0xffff, NULL },
		{ 13, 7, 0x8001, NULL },
		{ 14, 7, 0xffff, NULL },
	};
	static const struct ft_nccl_report nccl;
	struct ft_nccl_found found = {
		.ends = { .src = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
			  .dst = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
			  .vni = UINT32_MAX },
		.pkey = 0x7fff,
		.vlan = 7,
		.dest_qp = 13,
	};
	struct ft_framing framing = { .line_count = 0 };
	struct ft_framed *framed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ft_flow_key key = key_of(1, 2, cases[i].dest_qp);

		key.vlan = cases[i].vlan;
		key.base = cases[i].pkey & 0x7fff;
		packet_of(0, &key, i + 1, WRITE_ONLY, 100);
	}
	ft_framing_marks_add(&framing.marks, &found, FT_RULE_NCCL_REPLAY, true);
	for (found.dest_qp = 100; found.dest_qp < 300; found.dest_qp++)
		ft_framing_marks_add(&framing.marks, &found, FT_RULE_NCCL_WRITE_UNASKED, false);
	made(NULL);
	assert_int_equal(ft_framed_create(&framed, &nccl, 7), 0);
	ft_flow_report_take_framed(report, framed, &framing);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ft_report_flows flows = ft_flow_report_model(report, NULL);
		struct ft_report_flow row = row_of(&flows, i);

		assert_int_equal(row.rule_count, cases[i].rule != NULL);
		assert_null(row.verdict); /* there is no map */
		if (cases[i].rule != NULL)
			assert_string_equal(row.rules[0], cases[i].rule);
	}
	ft_framing_marks_free(&framing.marks);
}

static void what_is_undecided_counts_as_if_the_run_ended(void **state)
{
	uint32_t asking = add(0, 1, 2, 11, 1), answering = add(0, 2, 1, 12, 2);
	struct ft_report_flows flows;

	(void)state;
	ft_details_of(details[0], asking)->mirror_lost = 1;
	pair(0, asking, answering);
	flows = made(NULL);
	assert_int_equal(row_of(&flows, 0).mirror_lost, 1 + 100 + 5000);
	assert_int_equal(row_of(&flows, 0).gaps_open, 3 + 700);
	assert_int_equal(row_of(&flows, 1).mirror_lost, 20);
	assert_int_equal(row_of(&flows, 1).gaps_open, 0);
}

static void connections_are_the_order_of_their_first_halves(void **state)
{
	struct ft_report_connection row;
	struct ft_report_flows flows;
	uint32_t late = add(0, 1, 2, 21, 50), later = add(0, 2, 1, 22, 60);
	uint32_t answer = add(1, 4, 3, 23, 70), early = add(1, 3, 4, 24, 10);

	(void)state;
	add(0, 5, 6, 25, 40);
	pair(0, late, later);
	pair(1, answer, early);
	flows = made(NULL);
	assert_int_equal(flows.all_connections, 2);
	flows.connection(flows.rows, 0, &row);
	assert_int_equal(row.connection, 1);
	assert_int_equal(row.flows[0], 1);
	assert_int_equal(row.flows[1], 5);
	assert_string_equal(row.paired_by, "transport");
	assert_true(row.certainty == 0.75);
	assert_int_equal(row.rtt_p50_ns, FT_UNKNOWN);
	flows.connection(flows.rows, 1, &row);
	assert_int_equal(row.flows[0], 3);
	assert_int_equal(row.flows[1], 4);
	assert_int_equal(row_of(&flows, 0).connection, 1);
	assert_int_equal(row_of(&flows, 1).connection, FT_UNKNOWN);
	assert_int_equal(row_of(&flows, 3).connection, 2);
}

static void round_trips_of_both_halves_count(void **state)
{
	struct ft_report_connection row;
	struct ft_report_flows flows;
	uint32_t a = add(0, 1, 2, 21, 1), b = add(0, 2, 1, 22, 2);
	struct ft_detail *of_a = ft_details_of(details[0], a);
	struct ft_detail *of_b = ft_details_of(details[0], b);

	(void)state;
	pair(0, a, b);
	ft_spread_add(&of_a->rtts, 1000, 60);
	ft_spread_add(&of_a->rtts, 9000, 1);
	ft_spread_add(&of_b->rtts, 500, 30);
	ft_spread_add(&of_b->rtts, 1000, 9);
	flows = made(NULL);
	flows.connection(flows.rows, 0, &row);
	assert_int_equal(row.rtt_min_ns, 500);
	assert_int_equal(row.rtt_p50_ns, 1000);
	assert_int_equal(row.rtt_p99_ns, 1000); /* 99 of 100 are no longer than this */
}

static void halves_that_do_not_name_each_other_are_no_connection(void **state)
{
	uint32_t a = add(0, 1, 2, 21, 1), b = add(0, 2, 1, 22, 2), c = add(0, 2, 1, 23, 3);
	struct ft_report_flows flows;

	(void)state;
	pair(0, a, b);
	ft_flow_at(shares[0].flows, c)->peer = a;
	ft_flow_at(shares[0].flows, b)->peer = 0; /* evicted */
	ft_flow_at(shares[0].flows, a)->peer = c;
	flows = made(NULL);
	assert_int_equal(flows.all_connections, 1);
	assert_int_equal(row_of(&flows, 0).connection, 1);
	assert_int_equal(row_of(&flows, 1).connection, FT_UNKNOWN);
	assert_int_equal(row_of(&flows, 2).connection, 1);
}

static void what_a_half_sent_in_another_vlan_is_a_row_of_its_connection(void **state)
{
	uint32_t a = add(0, 1, 2, 11, 2), b = add(0, 2, 1, 22, 3);
	struct ft_flow_key key = key_of(1, 2, 11);
	struct ft_report_flows flows;
	struct ft_report_flow row;

	(void)state;
	pair(0, a, b);
	ft_flow_at(shares[0].flows, a)->half.mtu = 1024;
	ft_flow_at(shares[0].flows, a)->half.service = 0;
	key.base = 0x7fff;
	key.vlan = 77;
	packet_of(0, &key, 1, CNP, 74);
	flows = made(NULL);
	row = row_of(&flows, 0);
	assert_int_equal(row.vlan, 77);
	assert_int_equal(row.connection, 1);
	assert_int_equal(row.mtu, 1024);
	assert_string_equal(row.transport, "RC");
	assert_int_equal(row.gaps_open, 0); /* they are the whole half-connection's, told there */
	assert_int_equal(row.mirror_lost, 0);
	assert_int_equal(row_of(&flows, 1).gaps_open, 3);
	assert_int_equal(flows.all_connections, 1);
}

static void only_what_is_chosen_is_listed_with_its_connections(void **state)
{
	uint32_t a = add(0, 1, 2, 21, 1), b = add(0, 2, 1, 22, 2);
	uint32_t c = add(1, 3, 4, 23, 3), d = add(1, 4, 3, 24, 4);
	struct ft_flow_complaint complaint;
	struct ft_report_connection row;
	struct ft_report_flows flows;

	(void)state;
	pair(0, a, b);
	pair(1, c, d);
	assert_int_equal(ft_flow_choice_where(&choice, "qp=24", &complaint), 0);
	flows = made(NULL);
	assert_int_equal(flows.all_flows, 4);
	assert_int_equal(flows.all_connections, 2);
	assert_int_equal(flows.flow_count, 1);
	assert_int_equal(row_of(&flows, 0).flow, 4);
	assert_int_equal(flows.connection_count, 1);
	flows.connection(flows.rows, 0, &row);
	assert_int_equal(row.connection, 2);
	assert_int_equal(row.flows[0], 3);
}

static void the_top_is_taken_after_the_order(void **state)
{
	struct ft_flow_key big = key_of(1, 2, 22);
	struct ft_flow_complaint complaint;
	struct ft_report_flows flows;

	(void)state;
	add(0, 1, 2, 21, 1);
	packet_of(0, &big, 2, WRITE_ONLY, 5000);
	add(1, 3, 4, 23, 3);
	choice.top = 2;
	assert_int_equal(ft_flow_choice_sort(&choice, "bytes", &complaint), 0);
	flows = made(NULL);
	assert_int_equal(flows.flow_count, 2);
	assert_int_equal(row_of(&flows, 0).dest_qp, 22);
	assert_int_equal(row_of(&flows, 1).dest_qp, 21);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, open_engines, close_engines)
	const struct CMUnitTest tests[] = {
		EACH(nothing_seen_is_an_empty_table),
		EACH(ids_are_the_order_of_first_frames_over_all_engines),
		EACH(packets_of_one_frame_are_told_apart_by_their_keys),
		EACH(a_row_says_what_its_record_knows),
		EACH(two_slots_of_one_opcode_are_one_row),
		EACH(lids_are_written_as_such),
		EACH(a_map_gives_names_and_verdicts),
		EACH(rows_say_what_the_framing_of_nccl_does),
		EACH(rows_say_which_rules_of_nccl_they_break),
		EACH(what_is_undecided_counts_as_if_the_run_ended),
		EACH(connections_are_the_order_of_their_first_halves),
		EACH(round_trips_of_both_halves_count),
		EACH(halves_that_do_not_name_each_other_are_no_connection),
		EACH(what_a_half_sent_in_another_vlan_is_a_row_of_its_connection),
		EACH(only_what_is_chosen_is_listed_with_its_connections),
		EACH(the_top_is_taken_after_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
