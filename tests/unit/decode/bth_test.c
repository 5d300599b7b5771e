#include "frame_rows.h"

#include <stdio.h>
#include <string.h>

#include <decode/aeth.h>
#include <decode/opcode.h>

/* The rules above the BTH: RoCEv1 packets made from opcode, pad, P_Key and destination QP, headers, and so many bytes. */
struct row {
	const char *sentence;
	uint8_t opcode, pad_and_tver;
	uint16_t pkey;
	uint32_t dest_qp;
	const char *headers;
	unsigned payload; /* pad included */
	enum ft_malformed malformed;
	int payload_length; /* -1: not to be known */
	bool native;
};

#define RETH(length) "0000000000001000 00000001 " #length " "
#define ATOMIC(va)   "00000000000000" #va " 00000001 00*16 "
#define DETH(qkey)   #qkey " 00 000001 "
#define GSI          DETH(80010000)

enum { ICRC_LEN = 4, PAYLOAD_MAX = 5000 };

static size_t build(const struct row *row, uint8_t *bytes)
{
	char bth[64];
	size_t start, size, transport;

	start = row->native ? frame_bytes("00 02 0002 0000 0001", bytes)
			    : frame_bytes(ETH(8915) GRH(0000, 1b), bytes);
	snprintf(bth, sizeof bth, "%02x %02x %04x 00 %06x 00 000001", row->opcode,
		 row->pad_and_tver, row->pkey, row->dest_qp);
	size = start + frame_bytes(bth, bytes + start);
	size += frame_bytes(row->headers, bytes + size);
	memset(bytes + size, 1, row->payload + ICRC_LEN);
	size += row->payload + ICRC_LEN;
	transport = size - start;
	if (row->native) {
		bytes[4] = (uint8_t)(size / 4 >> 8);
		bytes[5] = (uint8_t)(size / 4);
	} else {
		bytes[18] = (uint8_t)(transport >> 8);
		bytes[19] = (uint8_t)transport;
	}
	return size;
}

static bool row_holds(const struct row *row)
{
	struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static uint8_t bytes[FRAME_BYTES_MAX + PAYLOAD_MAX];
	struct ft_decode_input input = { .bytes = bytes,
					 .link_type = row->native ? 247 : 1,
					 .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;
	struct ft_packet packet;
	int length;

	config.check_icrc = false;
	input.captured = input.wire = (uint32_t)build(row, bytes);
	ft_decode(&config, &input, &packet, &rest);
	length = (packet.has & FT_HAS_PAYLOAD_LENGTH) != 0 ? (int)packet.payload_length : -1;
	if ((packet.has & FT_HAS_BTH) != 0 && packet.malformed == row->malformed &&
	    length == row->payload_length)
		return true;
	print_error("%s: malformed %s, payload %d\n", row->sentence,
		    ft_malformed_name(packet.malformed), length);
	return false;
}

static void rules_above_the_bth_hold_in_their_order(void **state)
{
	static const struct row rows[] = {
		{ "the version comes before the opcode", 0xff, 0x01, 0, 2, "", 0, FT_BAD_TVER,
		  .payload_length = -1 },
		{ "the opcode comes before the P_Key", 0x18, 0, 0, 2, "", 0, FT_RESERVED_OPCODE,
		  .payload_length = -1 },
		{ "a manufacturer's opcode", 0xc0, 0, 0, 2, "", 8, FT_MANUFACTURER_OPCODE,
		  .payload_length = -1 },
		{ "UC has no READ", 0x2c, 0, 0xffff, 2, RETH(00000000), 0, FT_RESERVED_OPCODE,
		  .payload_length = -1 },
		{ "the P_Key comes before the headers", 0x0a, 0, 0x8000, 2, "", 0, FT_INVALID_PKEY,
		  .payload_length = -1 },
		{ "QP 0 may carry any P_Key", 0x64, 0, 0x0000, 0, DETH(00000000), 256, FT_OK,
		  .payload_length = 256, .native = true },
		{ "a RETH one byte short", 0x0a, 0, 0xffff, 2, "", 15, FT_EXTHDR_SHORT,
		  .payload_length = -1 },
		{ "headers come before alignment", 0x0a, 0, 0xffff, 2, RETH(00000001), 1,
		  FT_UNALIGNED_LENGTH, .payload_length = 1 },
		{ "alignment comes before padding", 0x11, 0x30, 0xffff, 2, "00000001", 3,
		  FT_UNALIGNED_LENGTH, .payload_length = 0 },
		{ "a CNP of 12 bytes", 0x81, 0, 0xffff, 2, "", 12, FT_CNP_BAD_LENGTH,
		  .payload_length = 12 },
		{ "a CNP of 16 bytes", 0x81, 0, 0xffff, 2, "", 16, FT_OK, .payload_length = 16 },
		{ "three bytes of padding, none to pad", 0x04, 0x30, 0xffff, 2, "", 0,
		  FT_BAD_PADCNT, .payload_length = -1 },
		{ "one byte and three of padding", 0x04, 0x30, 0xffff, 2, "", 4, FT_OK,
		  .payload_length = 1 },
		{ "an ACK has nothing to pad", 0x11, 0x20, 0xffff, 2, "00000001", 4, FT_BAD_PADCNT,
		  .payload_length = 2 },
		{ "nor has a middle packet", 0x01, 0x20, 0xffff, 2, "", 256, FT_BAD_PADCNT,
		  .payload_length = 254 },
		{ "an ACK has no payload", 0x11, 0, 0xffff, 2, "00000001", 4,
		  FT_PAYLOAD_NOT_ALLOWED, .payload_length = 4 },
		{ "an ATOMIC WRITE of 4", 0x1d, 0, 0xffff, 2, RETH(00000008), 4,
		  FT_ATOMIC_WRITE_LENGTH, .payload_length = 4 },
		{ "4096 bytes fit", 0x04, 0, 0xffff, 2, "", 4096, FT_OK, .payload_length = 4096 },
		{ "4100 do not, whatever the opcode", 0x01, 0, 0xffff, 2, "", 4100,
		  FT_PAYLOAD_OVER_MTU, .payload_length = 4100 },
		{ "a first packet of 128", 0x00, 0, 0xffff, 2, "", 128, FT_PAYLOAD_NOT_MTU,
		  .payload_length = 128 },
		{ "a first packet of 2048", 0x00, 0, 0xffff, 2, "", 2048, FT_OK,
		  .payload_length = 2048 },
		{ "a last packet of none", 0x02, 0, 0xffff, 2, "", 0, FT_PAYLOAD_ZERO_LAST,
		  .payload_length = 0 },
		{ "a READ of 2 GiB", 0x0c, 0, 0xffff, 2, RETH(80000000), 0, FT_OK,
		  .payload_length = 0 },
		{ "and one byte", 0x0c, 0, 0xffff, 2, RETH(80000001), 0, FT_RETH_LEN_TOO_BIG,
		  .payload_length = 0 },
		{ "a WRITE ONLY with less than it says", 0x0a, 0, 0xffff, 2, RETH(00000005), 4,
		  FT_RETH_LEN_MISMATCH, .payload_length = 4 },
		{ "a WRITE FIRST that is all of it", 0x06, 0, 0xffff, 2, RETH(00000100), 256,
		  FT_RETH_LEN_MISMATCH, .payload_length = 256 },
		{ "a WRITE FIRST with one byte to come", 0x06, 0, 0xffff, 2, RETH(00000101), 256,
		  FT_OK, .payload_length = 256 },
		{ "XRC: the SRQ number stands before the RETH", 0xaa, 0, 0xffff, 2,
		  "00000007" RETH(00000004), 4, FT_OK, .payload_length = 4 },
		{ "an atomic at 4", 0x14, 0, 0xffff, 2, ATOMIC(04), 0, FT_ATOMIC_UNALIGNED,
		  .payload_length = 0 },
		{ "an atomic at 8", 0x14, 0, 0xffff, 2, ATOMIC(08), 0, FT_OK, .payload_length = 0 },
		{ "QP 0 on RoCE", 0x04, 0, 0xffff, 0, "", 0, FT_QP0_ON_ROCE, .payload_length = 0 },
		{ "QP 0 on InfiniBand", 0x04, 0, 0xffff, 0, "", 0, FT_OK, .payload_length = 0,
		  .native = true },
		{ "multicast by RC", 0x04, 0, 0xffff, 0xffffff, "", 0, FT_MCAST_QP_NOT_UD,
		  .payload_length = 0 },
		{ "multicast by UD", 0x64, 0, 0xffff, 0xffffff, DETH(00000b1b), 0, FT_OK,
		  .payload_length = 0 },
		{ "the Q_Key comes before the MAD", 0x64, 0, 0xffff, 1, DETH(00000001), 4,
		  FT_QP1_BAD_QKEY, .payload_length = 4 },
		{ "252 bytes are no MAD", 0x64, 0, 0xffff, 1, GSI, 252, FT_MAD_BAD_LENGTH,
		  .payload_length = 252 },
		{ "RC to QP 1 is odd but breaks no rule", 0x04, 0, 0xffff, 1, "", 4, FT_OK,
		  .payload_length = 4 },
		{ "RD is judged by its size", 0x44, 0, 0xffff, 2, "00000001", 4, FT_EXTHDR_SHORT,
		  .payload_length = -1 },
		{ "but by no other length", 0x40, 0, 0xffff, 2, "00000001 00000002 00 000003", 4,
		  FT_OK, .payload_length = 4 },
		{ "and undefined RD opcodes may be DC's", 0x5f, 0, 0xffff, 2, "", 4, FT_OK,
		  .payload_length = -1 },
	};
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		wrong += !row_holds(&rows[i]);
	assert_int_equal(wrong, 0);
}

static struct ft_packet decode_cut(const struct ft_decode_config *config, const char *hex,
				   uint32_t captured)
{
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = { .bytes = bytes, .link_type = 1, .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;
	struct ft_packet packet;

	input.wire = (uint32_t)frame_bytes(hex, bytes);
	input.captured = captured < input.wire ? captured : input.wire;
	ft_decode(config, &input, &packet, &rest);
	return packet;
}

static void dc_has_eight_bytes_more_and_opaque_has_none(void **state)
{
	struct ft_decode_config config = FT_DECODE_DEFAULTS;
	const char *frame = ETH(8915)
		GRH(0028, 1b) "4a 00 ffff 00 000002 00 000001 00*8 " RETH(00000000) "00*4";
	struct ft_packet packet;

	(void)state;
	config.check_icrc = false;
	config.rd = FT_RD_DC;
	packet = decode_cut(&config, frame, UINT32_MAX);
	assert_int_equal(packet.payload_length, 16);
	assert_int_equal(packet.payload_offset, 14 + 40 + 12 + 8);
	assert_true((packet.has & FT_HAS_AMBIGUOUS_RD) != 0);
	config.rd = FT_RD_OPAQUE;
	packet = decode_cut(&config, frame, UINT32_MAX);
	assert_int_equal(packet.payload_length, 24);
	assert_int_equal(packet.has & (FT_HAS_RDETH | FT_HAS_DETH | FT_HAS_RETH), 0);
}

/* 0x55 without a solicited event sets a connection up: 16 bytes more. */
static void a_dc_connect_has_sixteen_bytes_more(void **state)
{
	struct ft_decode_config config = FT_DECODE_DEFAULTS;
	const char *connect = ETH(8915) GRH(0030, 1b) "55 00 ffff 00 000002 00 000001 00*32 00*4";
	const char *solicited = ETH(8915) GRH(0030, 1b) "55 80 ffff 00 000002 00 000001 00*32 00*4";
	struct ft_packet packet;

	(void)state;
	config.check_icrc = false;
	config.rd = FT_RD_DC;
	packet = decode_cut(&config, connect, UINT32_MAX);
	assert_int_equal(packet.malformed, FT_OK);
	assert_int_equal(packet.payload_length, 8);
	assert_int_equal(packet.payload_offset, 14 + 40 + 12 + 8 + 16);
	assert_int_equal(decode_cut(&config, solicited, UINT32_MAX).payload_length, 24);
	packet = decode_cut(&config, connect, 14 + 40 + 12 + 23);
	assert_true(packet.truncated != FT_COMPLETE);
	assert_int_equal(packet.malformed, FT_OK);
	assert_int_equal(packet.has & FT_HAS_PAYLOAD, 0);
}

static void a_cut_bth_still_names_partition_and_queue_pair(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	const char *frame = ETH(8915) GRH(0010, 1b) "04 00 8003 00 000011 00 000001 00*4";
	struct ft_packet packet = decode_cut(&config, frame, 14 + 40 + 8);

	(void)state;
	assert_int_equal(packet.has & FT_HAS_BTH, 0);
	assert_int_equal(packet.truncated, FT_CUT_BTH);
	assert_int_equal(packet.bth_captured, 8);
	assert_int_equal(packet.pkey, 0x8003);
	assert_int_equal(packet.dest_qp, 0x11);
	assert_int_equal(decode_cut(&config, frame, 14 + 40).bth_captured, 0);
}

static void odd_but_legal_packets_raise_alerts(void **state)
{
	static const struct frame_row rows[] = {
		{ "reserved bits beside FECN", 1, 0,
		  ETH(8915) GRH(0010, 1b) "04 00 ffff 10 000002 00 000001 00*4",
		  .stack = "eth,grh,bth", .alerts = FT_ALERT_BTH_RESERVED_BITS },
		{ "a CNP without BECN", 1, 0,
		  ETH(8915) GRH(0020, 1b) "81 00 ffff 00 000002 00 000001 00*20",
		  .stack = "eth,grh,bth", .alerts = FT_ALERT_CNP_WITHOUT_BECN },
		{ "a CNP with BECN", 1, 0,
		  ETH(8915) GRH(0020, 1b) "81 00 ffff 40 000002 00 000001 00*20",
		  .stack = "eth,grh,bth" },
		{ "a pad byte that is not zero", 1, 0,
		  ETH(8915) GRH(0014, 1b) "04 10 ffff 00 000002 00 000001 00000001 00*4",
		  .stack = "eth,grh,bth", .alerts = FT_ALERT_PAD_NONZERO },
		{ "the same before an ICRC that was cut", 1, 3,
		  ETH(8915) GRH(0014, 1b) "04 10 ffff 00 000002 00 000001 00000001 00",
		  .stack = "eth,grh,bth", .truncated = FT_CUT_ICRC,
		  .alerts = FT_ALERT_PAD_NONZERO },
		{ "a pad byte that was cut", 1, 5,
		  ETH(8915) GRH(0014, 1b) "04 10 ffff 00 000002 00 000001 010101",
		  .stack = "eth,grh,bth", .truncated = FT_CUT_ICRC },
		{ "the byte before it may be anything", 1, 0,
		  ETH(8915) GRH(0014, 1b) "04 10 ffff 00 000002 00 000001 00000100 00*4",
		  .stack = "eth,grh,bth" },
		{ "260 bytes to QP 1 are no MAD", 1, 0,
		  ETH(8915) GRH(011c,
				1b) "64 00 ffff 00 000001 00 000001 80010000 00 000001 01*260 00*4",
		  .stack = "eth,grh,bth", .malformed = FT_MAD_BAD_LENGTH },
		{ "an AETH of the reserved kind", 1, 0,
		  ETH(8915) GRH(0014, 1b) "11 00 ffff 00 000002 00 000001 40000001 00*4",
		  .stack = "eth,grh,bth", .alerts = FT_ALERT_AETH_RESERVED },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

static void opcodes_have_the_headers_of_the_standard(void **state)
{
	static const struct {
		uint8_t opcode;
		const char *name;
		uint32_t headers;
		uint8_t length, payload;
	} rows[] = {
		{ 0x00, "RC_SEND_FIRST", 0, 0, FT_PAYLOAD_MTU },
		{ 0x0b, "RC_RDMA_WRITE_ONLY_IMM", FT_HAS_RETH | FT_HAS_IMMDT, 20, FT_PAYLOAD_ANY },
		{ 0x12, "RC_ATOMIC_ACKNOWLEDGE", FT_HAS_AETH | FT_HAS_ATOMICACK, 12,
		  FT_PAYLOAD_NONE },
		{ 0x13, "RC_COMPARE_SWAP", FT_HAS_ATOMICETH, 28, FT_PAYLOAD_NONE },
		{ 0x1c, "RC_FLUSH", FT_HAS_FETH | FT_HAS_RETH, 20, FT_PAYLOAD_NONE },
		{ 0x2b, "UC_RDMA_WRITE_ONLY_IMM", FT_HAS_RETH | FT_HAS_IMMDT, 20, FT_PAYLOAD_ANY },
		{ 0x4c, "RD_RDMA_READ_REQUEST", FT_HAS_RDETH | FT_HAS_DETH | FT_HAS_RETH, 28,
		  FT_PAYLOAD_NONE },
		{ 0x4d, "RD_RDMA_READ_RESPONSE_FIRST", FT_HAS_RDETH | FT_HAS_AETH, 8,
		  FT_PAYLOAD_MTU },
		{ 0x53, "RD_COMPARE_SWAP", FT_HAS_RDETH | FT_HAS_DETH | FT_HAS_ATOMICETH, 40,
		  FT_PAYLOAD_NONE },
		{ 0x55, "RD_RESYNC", FT_HAS_RDETH | FT_HAS_DETH, 12, FT_PAYLOAD_NONE },
		{ 0x5c, "RD_FLUSH", FT_HAS_RDETH | FT_HAS_FETH | FT_HAS_RETH, 24, FT_PAYLOAD_NONE },
		{ 0x64, "UD_SEND_ONLY", FT_HAS_DETH, 8, FT_PAYLOAD_ANY },
		{ 0x65, "UD_SEND_ONLY_IMM", FT_HAS_DETH | FT_HAS_IMMDT, 12, FT_PAYLOAD_ANY },
		{ 0x81, "CNP", 0, 0, FT_PAYLOAD_CNP },
		{ 0xa6, "XRC_RDMA_WRITE_FIRST", FT_HAS_XRCETH | FT_HAS_RETH, 20, FT_PAYLOAD_MTU },
		{ 0xae, "XRC_RDMA_READ_RESPONSE_MIDDLE", 0, 0, FT_PAYLOAD_MTU },
		{ 0xb1, "XRC_ACKNOWLEDGE", FT_HAS_AETH, 4, FT_PAYLOAD_NONE },
		{ 0xb7, "XRC_SEND_ONLY_INV", FT_HAS_XRCETH | FT_HAS_IETH, 8, FT_PAYLOAD_ANY },
	};
	unsigned defined[8] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_opcode_shape *shape = ft_opcode_shape(rows[i].opcode);

		assert_true(shape->defined);
		assert_string_equal(ft_opcode_name(rows[i].opcode), rows[i].name);
		assert_int_equal(shape->headers, rows[i].headers);
		assert_int_equal(shape->length, rows[i].length);
		assert_int_equal(shape->payload, rows[i].payload);
	}
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		assert_int_equal(ft_opcode_shape((uint8_t)opcode)->defined,
				 ft_opcode_name((uint8_t)opcode) != NULL);
		defined[opcode >> 5] += ft_opcode_shape((uint8_t)opcode)->defined;
	}
	/* RC, UC, RD, UD, CNP, XRC, and the manufacturers' */
	assert_memory_equal(defined, ((unsigned[8]){ 25, 12, 23, 2, 1, 25, 0, 0 }), sizeof defined);
}

static void syndromes_are_spelled_out(void **state)
{
	(void)state;
	assert_string_equal(ft_aeth_kind_name(ft_aeth_kind(0x1f)), "ack");
	assert_int_equal(ft_aeth_credits(0x1f), -1);
	assert_int_equal(ft_aeth_credits(0x1e), 32768);
	assert_int_equal(ft_aeth_rnr_us(0x20), 655360);
	assert_int_equal(ft_aeth_rnr_us(0x21), 10);
	assert_string_equal(ft_aeth_nak_name(0x62), "remote_access_error");
	assert_true(ft_aeth_is_reserved(0x65));
	assert_false(ft_aeth_is_reserved(0x64));
	assert_true(ft_aeth_is_reserved(0x80));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_above_the_bth_hold_in_their_order),
		cmocka_unit_test(dc_has_eight_bytes_more_and_opaque_has_none),
		cmocka_unit_test(a_dc_connect_has_sixteen_bytes_more),
		cmocka_unit_test(a_cut_bth_still_names_partition_and_queue_pair),
		cmocka_unit_test(odd_but_legal_packets_raise_alerts),
		cmocka_unit_test(opcodes_have_the_headers_of_the_standard),
		cmocka_unit_test(syndromes_are_spelled_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
