#include "cmocka_headers.h"

#include <string.h>

#include <report/frame.h>

#include "written.h"

/* A RoCEv2 write with an immediate, decoded by hand. */
static const struct ft_frame write_frame = {
	.captured = 128,
	.original = 1102,
	.wire = 1102,
	.link_type = FT_LINK_ETHERNET,
	.ts_ns = 1795250704123456789,
	.number = 7,
};
static const struct ft_packet write_packet = {
	.has = FT_HAS_ETH | FT_HAS_IPV4 | FT_HAS_UDP | FT_HAS_BTH | FT_HAS_RETH | FT_HAS_IMMDT |
	       FT_HAS_PAYLOAD | FT_HAS_PAYLOAD_LENGTH,
	.transport = FT_TRANSPORT_ROCE2,
	.truncated = FT_CUT_PAYLOAD,
	.ip_version = 4,
	.layer_count = 5,
	.vlan_count = 1,
	.opcode = 0x0b,
	.pad = 0,
	.migrated = true,
	.ack_request = true,
	.pkey = 0x8001,
	.udp_sport = 49152,
	.udp_dport = 4791,
	.vlan = 100,
	.dest_qp = 0x1a2b3c,
	.psn = 16777215,
	.src = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1 },
	.dst = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 },
	.smac = { 2, 0, 0, 0, 0, 1 },
	.dmac = { 2, 0, 0, 0, 0, 2 },
	.ttl = 63,
	.dscp = 26,
	.ecn = 2,
	.ip_id = 0x1234,
	.reth = { .va = 0x7f0000001000, .rkey = 0x00000b0b, .length = 1024 },
	.immdt = 0xdeadbeef,
	.payload_offset = 78,
	.payload_captured = 50,
	.payload_length = 1024,
	.layers = { { .kind = FT_LAYER_ETH },
		    { .kind = FT_LAYER_VLAN, .pcp = 3, .value = 100 },
		    { .kind = FT_LAYER_IPV4 },
		    { .kind = FT_LAYER_UDP },
		    { .kind = FT_LAYER_BTH } },
};

/* A native acknowledgement with a wrong ICRC and an alert. */
static const struct ft_frame ack_frame = {
	.captured = 30,
	.original = 30,
	.wire = 30,
	.link_type = FT_LINK_INFINIBAND,
	.ts_ns = FT_TS_UNKNOWN,
	.number = 8,
};
static const struct ft_packet ack_packet = {
	.has = FT_HAS_LRH | FT_HAS_BTH | FT_HAS_AETH | FT_HAS_PAYLOAD_LENGTH | FT_HAS_ICRC |
	       FT_HAS_VCRC,
	.transport = FT_TRANSPORT_IB,
	.malformed = FT_BAD_ICRC,
	.alerts = FT_ALERT_BTH_RESERVED_BITS,
	.icrc_check = FT_CHECK_BAD,
	.vcrc_check = FT_CHECK_GOOD,
	.layer_count = 2,
	.opcode = 0x11,
	.pkey = 1,
	.dest_qp = 26,
	.psn = 5,
	.lrh = { .vl = 1, .sl = 4, .lnh = 2, .dlid = 23, .slid = 17, .pkt_len = 7 },
	.aeth = { .msn = 9, .syndrome = 0x62 },
	.icrc = { 0xf4, 0x80, 0x0d, 0x3b },
	.vcrc = { 0x01, 0xef },
	.layers = { { .kind = FT_LAYER_LRH }, { .kind = FT_LAYER_BTH } },
};

static const char *const rules[] = { "tenant.crossing", "pkey.sender-not-member" };
static const struct ft_frame_verdict crossing = {
	.rules = rules,
	.rule_count = 2,
	.from = "green",
	.to = "red\n",
	.judged = true,
};

static const struct ft_frame_view write_view = {
	&write_frame, "a \"b\".pcap", &write_packet, 0, NULL, false, NULL, false
};
static const struct ft_frame_view ack_view = { &ack_frame, NULL,  &ack_packet, 2,
					       &crossing,  false, NULL,        false };

static void expect(int (*write)(FILE *, const struct ft_frame_view *),
		   const struct ft_frame_view *view, const char *wanted)
{
	struct written written;

	written_open(&written);
	assert_int_equal(write(written.out, view), 0);
	assert_string_equal(written_close(&written), wanted);
	written_free(&written);
}

static void a_cut_write_as_an_object(void **state)
{
	(void)state;
	expect(ft_frame_json, &write_view,
	       "{\"input\":\"a "
	       "\\\"b\\\".pcap\",\"frame\":7,\"sub\":0,\"linktype\":1,\"ts_ns\":"
	       "1795250704123456789,"
	       "\"caplen\":128,\"wirelen\":1102,\"encap\":[\"eth\",\"vlan:100\",\"ipv4\",\"udp\","
	       "\"bth\"],"
	       "\"transport\":\"roce2\",\"smac\":\"02:00:00:00:00:01\",\"dmac\":\"02:00:00:00:00:"
	       "02\","
	       "\"ip\":{\"ver\":4,\"src\":\"10.0.0.1\",\"dst\":\"10.0.0.2\",\"ttl\":63,\"dscp\":26,"
	       "\"ecn\":2,\"id\":4660},"
	       "\"udp_sport\":49152,\"opcode\":11,\"opname\":\"RC_RDMA_WRITE_ONLY_IMM\",\"se\":0,"
	       "\"m\":1,\"pad\":0,\"tver\":0,"
	       "\"pkey\":32769,\"fecn\":0,\"becn\":0,\"dest_qp\":1715004,\"ack_req\":1,\"psn\":"
	       "16777215,\"rdeth\":null,"
	       "\"deth\":null,\"xrceth\":null,\"reth\":{\"va\":\"0x00007f0000001000\",\"rkey\":"
	       "2827,\"len\":1024},"
	       "\"atomiceth\":null,\"aeth\":null,\"atomicack\":null,\"immdt\":3735928559,\"ieth\":"
	       "null,\"feth\":null,"
	       "\"payload_len\":1024,\"payload_captured\":50,\"icrc\":null,\"icrc_ok\":null,"
	       "\"malformed\":null,"
	       "\"truncated\":\"payload\",\"vlan_pcp\":[3],\"vlan\":100}\n");
}

static void a_bad_acknowledgement_as_an_object_with_its_verdict(void **state)
{
	(void)state;
	expect(ft_frame_json, &ack_view,
	       "{\"input\":\"-\",\"frame\":8,\"sub\":2,\"linktype\":247,\"ts_ns\":null,\"caplen\":"
	       "30,\"wirelen\":30,"
	       "\"encap\":[\"lrh\",\"bth\"],\"transport\":\"ib\",\"smac\":null,\"dmac\":null,"
	       "\"ip\":null,\"udp_sport\":null,"
	       "\"lrh\":{\"vl\":1,\"lver\":0,\"sl\":4,\"lnh\":2,\"dlid\":23,\"slid\":17,\"pkt_"
	       "len\":7},\"opcode\":17,"
	       "\"opname\":\"RC_ACKNOWLEDGE\",\"se\":0,\"m\":0,\"pad\":0,\"tver\":0,\"pkey\":1,"
	       "\"fecn\":0,\"becn\":0,"
	       "\"dest_qp\":26,\"ack_req\":0,\"psn\":5,\"rdeth\":null,\"deth\":null,\"xrceth\":"
	       "null,\"reth\":null,"
	       "\"atomiceth\":null,\"aeth\":{\"syndrome\":98,\"msn\":9,\"kind\":\"nak\",\"nak\":"
	       "\"remote_access_error\"},"
	       "\"atomicack\":null,\"immdt\":null,\"ieth\":null,\"feth\":null,\"payload_len\":0,"
	       "\"payload_captured\":0,"
	       "\"icrc\":\"0xf4800d3b\",\"icrc_ok\":false,\"vcrc\":\"0x01ef\",\"vcrc_ok\":true,"
	       "\"malformed\":\"bad_icrc\","
	       "\"truncated\":null,\"alerts\":[\"bth_reserved_bits\"],\"judged\":true,\"from\":"
	       "\"green\",\"to\":\"red\\n\","
	       "\"rules\":[\"tenant.crossing\",\"pkey.sender-not-member\"]}\n");
}

static void wrappers_say_what_was_read(void **state)
{
	static const struct {
		const char *sentence, *end;
		struct ft_packet packet;
	} rows[] = {
		{ "a time stamp may stand between the tags of one header",
		  "\"vlan_pcp\":[2,1],\"vlan\":7}\n",
		  { .vlan_count = 2,
		    .vlan = 7,
		    .layer_count = 4,
		    .layers = { { .kind = FT_LAYER_ETH },
				{ .kind = FT_LAYER_VLAN, .pcp = 2, .value = 7 },
				{ .kind = FT_LAYER_AVSP },
				{ .kind = FT_LAYER_QINQ, .pcp = 1, .value = 5 } } } },
		{ "tags in front of a tunnel are not the packet's",
		  "\"vlan_pcp\":[1],\"vlan\":5}\n",
		  { .vlan_count = 1,
		    .vlan = 5,
		    .layer_count = 5,
		    .layers = { { .kind = FT_LAYER_ETH },
				{ .kind = FT_LAYER_VLAN, .pcp = 2, .value = 7 },
				{ .kind = FT_LAYER_VXLAN },
				{ .kind = FT_LAYER_ETH },
				{ .kind = FT_LAYER_VLAN, .pcp = 1, .value = 5 } } } },
		{ "an ERSPAN II header",
		  "\"mirror\":{\"kind\":\"erspan2\",\"seq\":5,\"vlan\":100,\"cos\":0,\"en\":0,"
		  "\"t\":0,\"session\":7,\"index\":255}}\n",
		  { .tunnel_count = 1,
		    .tunnels = { { .kind = FT_TUNNEL_ERSPAN2,
				   .has_sequence = true,
				   .sequence = 5,
				   .has_session = true,
				   .vlan = 100,
				   .session = 7,
				   .index = 255 } } } },
		{ "an ERSPAN II header that was cut or refused",
		  "\"mirror\":{\"kind\":\"erspan2\",\"seq\":5}}\n",
		  { .tunnel_count = 1,
		    .tunnels = { { .kind = FT_TUNNEL_ERSPAN2,
				   .has_sequence = true,
				   .sequence = 5 } } } },
		{ "an ERSPAN III header that was cut or refused",
		  "\"mirror\":{\"kind\":\"erspan3\",\"seq\":null}}\n",
		  { .tunnel_count = 1, .tunnels = { { .kind = FT_TUNNEL_ERSPAN3 } } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ft_frame_view view = { &ack_frame, NULL, &rows[i].packet, 0, NULL, false,
					      NULL,       false };
		size_t end = strlen(rows[i].end);
		struct written written;
		const char *text;

		written_open(&written);
		assert_int_equal(ft_frame_json(written.out, &view), 0);
		text = written_close(&written);
		if (strlen(text) < end || strcmp(text + strlen(text) - end, rows[i].end) != 0)
			fail_msg("%s: %s", rows[i].sentence, text);
		written_free(&written);
	}
}

static void packets_as_lines_for_people(void **state)
{
	(void)state;
	expect(ft_frame_text, &write_view,
	       "      7 08:45:04.123456789 10.0.0.1 > 10.0.0.2                 "
	       "RC_RDMA_WRITE_ONLY_IMM      "
	       "qp 0x1a2b3c psn 16777215 pkey 0x8001 va 0x00007f0000001000 rkey 0x00000b0b dma "
	       "1024 imm 0xdeadbeef "
	       "len 1102 captured 128 data 1024 icrc ? vlan 100 cut at payload\n");
	expect(ft_frame_text, &ack_view,
	       "      8+                   lid:17 > lid:23                     RC_ACKNOWLEDGE      "
	       "        "
	       "qp 0x00001a psn 5 pkey 0x0001 nak remote_access_error msn 9 len 30 data 0 icrc BAD "
	       "vcrc ok "
	       "MALFORMED bad_icrc alert bth_reserved_bits [green > red\\x0a] VIOLATES "
	       "tenant.crossing,pkey.sender-not-member\n");
}

/* Values in Wireshark's names are what tshark 4.0.17 prints for the same header bytes. */
static void fields_take_our_forms_or_those_of_wireshark(void **state)
{
	static const struct {
		const char *name, *of_write, *of_ack;
	} cases[] = {
		{ "frame", "7", "8" },
		{ "ts_ns", "1795250704123456789", "" },
		{ "encap", "eth,vlan:100,ipv4,udp,bth", "lrh,bth" },
		{ "src", "10.0.0.1", "" },
		{ "slid", "", "17" },
		{ "pkey", "32769", "1" },
		{ "dest_qp", "1715004", "26" },
		{ "opname", "RC_RDMA_WRITE_ONLY_IMM", "RC_ACKNOWLEDGE" },
		{ "reth.va", "0x00007f0000001000", "" },
		{ "aeth.kind", "", "remote_access_error" },
		{ "icrc_ok", "", "false" },
		{ "malformed", "", "bad_icrc" },
		{ "truncated", "payload", "" },
		{ "alerts", "", "bth_reserved_bits" },
		{ "rules", "", "tenant.crossing,pkey.sender-not-member" },
		{ "to", "", "red\\x0a" },
		{ "frame.number", "7", "8" },
		{ "frame.time_epoch", "1795250704.123456789", "" },
		{ "frame.len", "1102", "30" },
		{ "frame.cap_len", "128", "30" },
		{ "eth.src", "02:00:00:00:00:01", "" },
		{ "vlan.id", "100", "" },
		{ "vlan.priority", "3", "" },
		{ "ip.dst", "10.0.0.2", "" },
		{ "ip.id", "0x1234", "" },
		{ "ip.dsfield", "0x6a", "" },
		{ "ip.dsfield.dscp", "26", "" },
		{ "udp.srcport", "49152", "" },
		{ "infiniband.lrh.vl", "", "0x01" },
		{ "infiniband.lrh.slid", "", "17" },
		{ "infiniband.bth.opcode", "11", "17" },
		{ "infiniband.bth.p_key", "32769", "1" },
		{ "infiniband.bth.destqp", "0x1a2b3c", "0x00001a" },
		{ "infiniband.bth.psn", "16777215", "5" },
		{ "infiniband.bth.a", "1", "0" },
		{ "infiniband.reth.va", "0x00007f0000001000", "" },
		{ "infiniband.reth.r_key", "0x00000b0b", "" },
		{ "infiniband.reth.dmalen", "1024", "" },
		{ "infiniband.immdt", "deadbeef", "" },
		{ "infiniband.aeth.syndrome", "", "98" },
		{ "infiniband.aeth.syndrome.opcode", "", "3" },
		{ "infiniband.aeth.syndrome.error_code", "", "2" },
		{ "infiniband.aeth.syndrome.credit_count", "", "" },
		{ "infiniband.aeth.msn", "", "9" },
		{ "infiniband.invariant.crc", "", "0xf4800d3b" },
		{ "infiniband.variant.crc", "", "0x01ef" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ft_field *field = ft_field_find(cases[i].name);
		const struct ft_field *twice[2] = { field, field };
		struct written written;
		char wanted[256];

		if (field == NULL)
			fail_msg("no field %s", cases[i].name);
		snprintf(wanted, sizeof(wanted), "%s\t%s\n%s\t%s\n", cases[i].of_write,
			 cases[i].of_write, cases[i].of_ack, cases[i].of_ack);
		written_open(&written);
		assert_int_equal(ft_fields_write(written.out, twice, 2, &write_view), 0);
		assert_int_equal(ft_fields_write(written.out, twice, 2, &ack_view), 0);
		assert_string_equal(written_close(&written), wanted);
		written_free(&written);
	}
	assert_null(ft_field_find("psns"));
	assert_null(ft_field_find(""));
}

static void every_listed_field_is_found_once(void **state)
{
	struct written written;
	size_t count = 0;
	char *rest, *line;

	(void)state;
	written_open(&written);
	assert_int_equal(ft_field_list(written.out), 0);
	written_close(&written);
	for (line = strtok_r(written.text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest), count++) {
		line[strcspn(line, " ")] = 0;
		assert_non_null(ft_field_find(line));
	}
	assert_true(count > 100);
	written_free(&written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_write_as_an_object),
		cmocka_unit_test(a_bad_acknowledgement_as_an_object_with_its_verdict),
		cmocka_unit_test(wrappers_say_what_was_read),
		cmocka_unit_test(packets_as_lines_for_people),
		cmocka_unit_test(fields_take_our_forms_or_those_of_wireshark),
		cmocka_unit_test(every_listed_field_is_found_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
