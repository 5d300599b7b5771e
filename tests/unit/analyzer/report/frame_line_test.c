#include "cmocka_headers.h"

#include <string.h>

#include <report/frame.h>

#include "written.h"

/* The line of `decode` for packets of every kind; blanks in a row count as one. Names and times of RNR as in the IBA. */

#define V4(last)                                                                                   \
	{                                                                                          \
		[10] = 0xff, [11] = 0xff, [12] = 10, [15] = last                                   \
	}
#define BTH FT_HAS_ETH | FT_HAS_IPV4 | FT_HAS_UDP | FT_HAS_BTH
#define ROCE(number, ...)                                                                          \
	{                                                                                          \
		.opcode = number, .dest_qp = 0x11, .psn = 7, .pkey = 0xffff, .src = V4(1),         \
		.dst = V4(2), __VA_ARGS__                                                          \
	}
#define HEAD   "1 00:00:00.000000001 "
#define ENDS   HEAD "10.0.0.1 > 10.0.0.2 "
#define TO(op) ENDS op " qp 0x000011 psn 7 pkey 0xffff "
#define TAIL   " len 64"

static const struct row {
	const char *sentence;
	struct ft_packet packet;
	const char *line;
} rows[] = {
	{ "a pause frame",
	  { .has = FT_HAS_ETH | FT_HAS_MACCTRL,
	    .smac = { 2, 0, 0, 0, 0, 1 },
	    .dmac = { 1, 0x80, 0xc2, 0, 0, 1 },
	    .macctrl = { .opcode = 0x0001 } },
	  HEAD "02:00:00:00:00:01 > 01:80:c2:00:00:01 PAUSE" TAIL },
	{ "one of priorities",
	  { .has = FT_HAS_ETH | FT_HAS_MACCTRL, .macctrl = { .opcode = 0x0101 } },
	  HEAD "00:00:00:00:00:00 > 00:00:00:00:00:00 PFC" TAIL },
	{ "a link packet", { .has = FT_HAS_LINK, .link = { .op = 1 } }, HEAD "- LINK op 1" TAIL },
	{ "bytes that are nothing", { .has = 0 }, HEAD "- -" TAIL },
	{ "a datagram that is not RDMA",
	  { .has = FT_HAS_ETH | FT_HAS_IPV4 | FT_HAS_UDP,
	    .src = V4(1),
	    .dst = V4(2),
	    .layer_count = 3,
	    .layers = { { .kind = FT_LAYER_ETH },
			{ .kind = FT_LAYER_IPV4 },
			{ .kind = FT_LAYER_UDP } } },
	  ENDS "eth/ipv4/udp" TAIL },
	{ "no more than eight layers are named",
	  { .has = FT_HAS_ETH,
	    .layer_count = 9,
	    .layers = { { .kind = FT_LAYER_ETH },
			{ .kind = FT_LAYER_VLAN, .value = 1 },
			{ .kind = FT_LAYER_VLAN, .value = 2 },
			{ .kind = FT_LAYER_VLAN, .value = 3 },
			{ .kind = FT_LAYER_VLAN, .value = 4 },
			{ .kind = FT_LAYER_VLAN, .value = 5 },
			{ .kind = FT_LAYER_VLAN, .value = 6 },
			{ .kind = FT_LAYER_VLAN, .value = 7 },
			{ .kind = FT_LAYER_IPV4 } } },
	  HEAD "00:00:00:00:00:00 > 00:00:00:00:00:00 "
	       "eth/vlan:1/vlan:2/vlan:3/vlan:4/vlan:5/vlan:6/vlan:7" TAIL },
	{ "IPv6",
	  { .has = FT_HAS_ETH | FT_HAS_IPV6,
	    .src = { 0xfe, 0x80, [15] = 1 },
	    .dst = { 0xff, 0x02, [15] = 2 },
	    .layer_count = 1,
	    .layers = { { .kind = FT_LAYER_IPV6 } } },
	  HEAD "fe80::1 > ff02::2 ipv6" TAIL },
	{ "a GRH alone has addresses, too",
	  { .has = FT_HAS_GRH, .src = { 0xfe, 0x80, [15] = 1 }, .dst = { 0xfe, 0x80, [15] = 2 } },
	  HEAD "fe80::1 > fe80::2 -" TAIL },
	{ "native ends are LIDs",
	  { .has = FT_HAS_LRH | FT_HAS_GRH | FT_HAS_BTH,
	    .opcode = 0x04,
	    .dest_qp = 0xabcdef,
	    .psn = 16777215,
	    .pkey = 0x0001,
	    .lrh = { .slid = 17, .dlid = 49153 },
	    .icrc_check = FT_CHECK_GOOD,
	    .vcrc_check = FT_CHECK_BAD },
	  HEAD "lid:17 > lid:49153 RC_SEND_ONLY qp 0xabcdef psn 16777215 pkey 0x0001" TAIL
	       " icrc ok vcrc BAD" },
	{ "a datagram of management",
	  ROCE(0x64, .has = BTH | FT_HAS_DETH | FT_HAS_PAYLOAD_LENGTH, .payload_length = 256,
	       .deth = { .qkey = 0x80010000, .src_qp = 1 }, .icrc_check = FT_CHECK_GOOD),
	  TO("UD_SEND_ONLY") "from qp 0x000001 qkey 0x80010000" TAIL " data 256 icrc ok" },
	{ "an atomic",
	  ROCE(0x14, .has = BTH | FT_HAS_ATOMICETH, .atomiceth = { .va = 0x1000, .rkey = 0xb0b }),
	  TO("RC_FETCH_ADD") "va 0x0000000000001000 rkey 0x00000b0b" TAIL " icrc ?" },
	{ "an immediate", ROCE(0x05, .has = BTH | FT_HAS_IMMDT, .immdt = 0xbeef),
	  TO("RC_SEND_ONLY_IMM") "imm 0x0000beef" TAIL " icrc ?" },
	{ "an opcode that is not defined", ROCE(0x1f, .has = BTH),
	  TO("opcode 0x1f") "len 64 icrc ?" },
	{ "an ACK", ROCE(0x11, .has = BTH | FT_HAS_AETH, .aeth = { .syndrome = 0x1f, .msn = 9 }),
	  TO("RC_ACKNOWLEDGE") "ack msn 9" TAIL " icrc ?" },
	{ "an RNR NAK of code 1",
	  ROCE(0x11, .has = BTH | FT_HAS_AETH, .aeth = { .syndrome = 0x21, .msn = 9 }),
	  TO("RC_ACKNOWLEDGE") "rnr-nak 10us msn 9" TAIL " icrc ?" },
	{ "code 0 is the longest",
	  ROCE(0x11, .has = BTH | FT_HAS_AETH, .aeth = { .syndrome = 0x20, .msn = 9 }),
	  TO("RC_ACKNOWLEDGE") "rnr-nak 655360us msn 9" TAIL " icrc ?" },
	{ "a NAK", ROCE(0x11, .has = BTH | FT_HAS_AETH, .aeth = { .syndrome = 0x62, .msn = 0 }),
	  TO("RC_ACKNOWLEDGE") "nak remote_access_error msn 0" TAIL " icrc ?" },
	{ "a kind of its own",
	  ROCE(0x11, .has = BTH | FT_HAS_AETH, .aeth = { .syndrome = 0x43, .msn = 1 }),
	  TO("RC_ACKNOWLEDGE") "syndrome 0x43 msn 1" TAIL " icrc ?" },
	{ "a tag, a network and two tunnels",
	  ROCE(0x04, .has = BTH | FT_HAS_VNI, .vlan_count = 1, .vlan = 100, .vni = 5000,
	       .tunnel_count = 2,
	       .tunnels = { { .kind = FT_TUNNEL_ERSPAN2 }, { .kind = FT_TUNNEL_VXLAN } }),
	  TO("RC_SEND_ONLY") "len 64 icrc ? vlan 100 vni 5000 via erspan2+vxlan" },
	{ "a priority tag is none", ROCE(0x04, .has = BTH, .vlan_count = 1, .vlan = 0),
	  TO("RC_SEND_ONLY") "len 64 icrc ?" },
	{ "what is odd",
	  ROCE(0x04, .has = BTH, .malformed = FT_BAD_PADCNT, .truncated = FT_CUT_ICRC,
	       .alerts = FT_ALERT_BTH_RESERVED_BITS | FT_ALERT_UDP6_ZERO_CHECKSUM),
	  TO("RC_SEND_ONLY") "len 64 icrc ? MALFORMED bad_padcnt cut at icrc alert "
			     "bth_reserved_bits alert "
			     "udp6_zero_checksum" },
};

/* The line without its end, and runs of blanks as one. */
static void line_of(const struct ft_frame_view *view, char text[512])
{
	struct written written;
	size_t used = 0;

	written_open(&written);
	assert_int_equal(ft_frame_text(written.out, view), 0);
	for (const char *at = written_close(&written); *at != '\n'; at++) {
		assert_true(*at != 0 && used < 511);
		if (*at != ' ' || (used > 0 && text[used - 1] != ' '))
			text[used++] = *at;
	}
	text[used] = 0;
	written_free(&written);
}

static void packets_of_every_kind_have_their_line(void **state)
{
	static const struct ft_frame frame = {
		.number = 1, .ts_ns = 1, .captured = 64, .original = 64, .wire = 64
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ft_frame_view view = { .frame = &frame, .packet = &rows[i].packet };

		line_of(&view, text);
		if (strcmp(text, rows[i].line) != 0)
			fail_msg("%s:\n%s\n%s", rows[i].sentence, text, rows[i].line);
	}
}

static void a_frame_is_numbered_and_may_be_cut_or_without_a_time(void **state)
{
	static const struct ft_packet nothing;
	const struct ft_frame frame = {
		.number = 12, .ts_ns = FT_TS_UNKNOWN, .captured = 63, .original = 64, .wire = 64
	};
	struct ft_frame_view view = { .frame = &frame, .packet = &nothing };
	char text[512];

	(void)state;
	line_of(&view, text);
	assert_string_equal(text, "12 - - len 64 captured 63");
	view.sub = 1; /* a further packet of the frame */
	line_of(&view, text);
	assert_string_equal(text, "12+ - - len 64 captured 63");
}

static void a_verdict_stands_behind(void **state)
{
	static const char *const names[] = { "pkey.invalid", "tenant.crossing" };
	static const struct ft_packet nothing;
	static const struct {
		struct ft_frame_verdict verdict;
		const char *text;
	} cases[] = {
		{ { .judged = true }, "[unknown > unknown]" },
		{ { .from = "red", .to = "blue", .exception = "ex-1" }, "[red > blue by ex-1]" },
		{ { .from = "red", .to = "blue", .rules = names, .rule_count = 2 },
		  "[red > blue] VIOLATES pkey.invalid,tenant.crossing" },
		{ { .from = "red", .to = "red", .notes = names, .note_count = 1, .grace = true },
		  "[red > red] note pkey.invalid grace" },
		{ { .from = "red", .undecided = "truncated" },
		  "[red > unknown] undecided: truncated" },
	};
	const struct ft_frame frame = {
		.number = 1, .ts_ns = FT_TS_UNKNOWN, .captured = 1, .original = 1
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ft_frame_view view = { .frame = &frame,
					      .packet = &nothing,
					      .verdict = &cases[i].verdict };

		line_of(&view, text);
		assert_memory_equal(text, "1 - - len 1 ", 12);
		assert_string_equal(text + 12, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_of_every_kind_have_their_line),
		cmocka_unit_test(a_frame_is_numbered_and_may_be_cut_or_without_a_time),
		cmocka_unit_test(a_verdict_stands_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
