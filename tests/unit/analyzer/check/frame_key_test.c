/* What is judged, and by what: docs/verdict-rules.md, sections 1 and 9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <decode/decode.h>
#include <engine/frame_key.h>

#define A          FT_NEED_ADDRESSES
#define T          FT_NEED_TAGS
#define P          FT_NEED_PKEY
#define Q          FT_NEED_DEST_QP
#define K          FT_NEED_QKEY
#define M          FT_NEED_CLASS
#define EVERYTHING (A | T | P | Q | K | M)

/* Headers in bytes; CRCs are left out of the capture, so every frame is one that was cut there. */
#define ETHERNET(type) 2, 0, 0, 0, 0, 0xd, 2, 0, 0, 0, 0, 0x5, (type) >> 8, (type)&0xff
#define IPV4_UDP(bytes, sport_high, port)                                                          \
	0x45, 0, (bytes) >> 8, (bytes)&0xff, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0,   \
		2, sport_high, 1, (port) >> 8, (port)&0xff, ((bytes)-20) >> 8,                     \
		((bytes)-20) & 0xff, 0, 0
#define LRH(vl, lnh, words) (vl) << 4, lnh, 0, 7, 0, words, 0, 5
#define GRH(bytes)                                                                                 \
	0x60, 0, 0, 0, 0, bytes, 0x1b, 64, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 5,   \
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 7
#define BTH(opcode, pkey, qp) opcode, 0x40, (pkey) >> 8, (pkey)&0xff, 0, 0, 0, qp, 0, 0, 0, 1
#define DETH(qkey)            (qkey) >> 24, (qkey) >> 16 & 0xff, (qkey) >> 8 & 0xff, (qkey)&0xff, 0, 0, 0, 9
#define RC                    0x04
#define UD                    0x64

struct frame_case {
	const char *says;
	uint16_t link_type;
	uint16_t captured, wire;
	enum ft_frame_kind kind;
	uint8_t known;
	uint16_t pkey;
	uint8_t qp_kind, mgmt_class;
	uint32_t qkey;
	uint8_t bytes[128];
};

#define NATIVE        247
#define WIRE_ETHERNET 1

/* clang-format off */
static const struct frame_case cases[] = {
	{ "native data",
	  NATIVE, 40, 50, FT_FRAME_JUDGED, EVERYTHING, 0x8001, 2, 0, 0,
	  { LRH(0, 2, 12), BTH(RC, 0x8001, 9) } },
	{ "an SMP by its DestQP",
	  NATIVE, 40, 50, FT_FRAME_NEVER_JUDGED, EVERYTHING, 0x7fff, 0, 0, 0,
	  { LRH(15, 2, 12), BTH(UD, 0x7fff, 0), DETH(0) } },
	{ "DestQP 0 off VL 15 is an SMP still",
	  NATIVE, 40, 50, FT_FRAME_NEVER_JUDGED, EVERYTHING, 0x7fff, 0, 0, 0,
	  { LRH(0, 2, 12), BTH(UD, 0x7fff, 0), DETH(0) } },
	{ "VL 15 does not hide data",
	  NATIVE, 40, 50, FT_FRAME_JUDGED, EVERYTHING, 0x8001, 2, 0, 0,
	  { LRH(15, 2, 12), BTH(RC, 0x8001, 9) } },
	{ "VL 15, cut before the BTH: an SMP",
	  NATIVE, 8, 50, FT_FRAME_NEVER_JUDGED, A | T, 0, 0, 0, 0, { LRH(15, 2, 12) } },
	{ "and one whose P_Key is there",
	  NATIVE, 12, 50, FT_FRAME_NEVER_JUDGED, A | T | P, 0x8001, 0, 0, 0,
	  { LRH(15, 2, 12), BTH(UD, 0x8001, 0) } },
	{ "VL 15 does not hide data that is cut behind the DestQP",
	  NATIVE, 16, 50, FT_FRAME_JUDGED, EVERYTHING, 0x8001, 2, 0, 0,
	  { LRH(15, 2, 12), BTH(RC, 0x8001, 9) } },
	{ "cut before the BTH: addresses",
	  NATIVE, 8, 50, FT_FRAME_JUDGED, A | T, 0, 2, 0, 0, { LRH(0, 2, 12) } },
	{ "cut behind the P_Key",
	  NATIVE, 12, 50, FT_FRAME_JUDGED, A | T | P, 0x8001, 2, 0, 0,
	  { LRH(0, 2, 12), BTH(RC, 0x8001, 9) } },
	{ "cut within the P_Key",
	  NATIVE, 11, 50, FT_FRAME_JUDGED, A | T, 0, 2, 0, 0,
	  { LRH(0, 2, 12), BTH(RC, 0x8001, 9) } },
	{ "cut within the LRH", NATIVE, 7, 50, FT_FRAME_CUT, 0, 0, 2, 0, 0, { LRH(0, 2, 12) } },
	{ "cut within the GRH",
	  NATIVE, 47, 90, FT_FRAME_CUT, A | T, 0, 2, 0, 0, { LRH(0, 3, 22), GRH(42) } },
	{ "the Q_Key of a default partition datagram",
	  NATIVE, 40, 50, FT_FRAME_JUDGED, EVERYTHING, 0xffff, 2, 0, 0x0b1b,
	  { LRH(0, 2, 12), BTH(UD, 0xffff, 9), DETH(0x0b1b) } },
	{ "of a DETH that was cut behind it",
	  NATIVE, 24, 50, FT_FRAME_JUDGED, EVERYTHING, 0xffff, 2, 0, 0x0b1b,
	  { LRH(0, 2, 12), BTH(UD, 0xffff, 9), DETH(0x0b1b) } },
	{ "of a DETH that was cut within it",
	  NATIVE, 23, 50, FT_FRAME_JUDGED, A | T | P | Q | M, 0xffff, 2, 0, 0,
	  { LRH(0, 2, 12), BTH(UD, 0xffff, 9), DETH(0x0b1b) } },
	{ "on a tenant's base the Q_Key is not part of the question",
	  NATIVE, 40, 50, FT_FRAME_JUDGED, EVERYTHING, 0x8001, 2, 0, 0,
	  { LRH(0, 2, 12), BTH(UD, 0x8001, 9), DETH(0x0b1b) } },
	{ "the class of a MAD",
	  NATIVE, 30, 290, FT_FRAME_JUDGED, EVERYTHING, 0x7fff, 1, 0x03, 0x80010000,
	  { LRH(0, 2, 72), BTH(UD, 0x7fff, 1), DETH(0x80010000u), 1, 0x03 } },
	{ "cut before the class",
	  NATIVE, 29, 290, FT_FRAME_JUDGED, A | T | P | Q | K, 0x7fff, 1, 0, 0x80010000,
	  { LRH(0, 2, 72), BTH(UD, 0x7fff, 1), DETH(0x80010000u), 1 } },
	{ "a raw packet is not RDMA",
	  NATIVE, 20, 50, FT_FRAME_NOT_RDMA, A | T, 0, 2, 0, 0, { LRH(0, 0, 12) } },
	{ "RoCEv2 data",
	  WIRE_ETHERNET, 60, 74, FT_FRAME_JUDGED, EVERYTHING, 0xffff, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 4791), BTH(RC, 0xffff, 9) } },
	{ "RoCEv2 cut behind its P_Key",
	  WIRE_ETHERNET, 46, 74, FT_FRAME_JUDGED, A | T | P, 0xffff, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 4791), BTH(RC, 0xffff, 9) } },
	{ "RoCEv2 cut behind its DestQP: RC needs no more",
	  WIRE_ETHERNET, 50, 74, FT_FRAME_JUDGED, EVERYTHING, 0xffff, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 4791), BTH(RC, 0xffff, 9) } },
	{ "RoCEv2 cut before its DestQP is whole",
	  WIRE_ETHERNET, 49, 74, FT_FRAME_JUDGED, A | T | P, 0xffff, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 4791), BTH(RC, 0xffff, 9) } },
	{ "UD to QP 1 cut behind its DestQP has neither Q_Key nor class",
	  WIRE_ETHERNET, 50, 332, FT_FRAME_JUDGED, A | T | P | Q, 0xffff, 1, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(318, 0xc0, 4791), BTH(UD, 0xffff, 1) } },
	{ "an SMP cut behind its DestQP is still none to judge",
	  NATIVE, 16, 290, FT_FRAME_NEVER_JUDGED, A | T | P | Q | M, 0xffff, 0, 0, 0,
	  { LRH(0, 2, 72), BTH(UD, 0xffff, 0) } },
	{ "cut within the UDP header: it may be RDMA",
	  WIRE_ETHERNET, 36, 74, FT_FRAME_CUT, A | T, 0, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 4791) } },
	{ "cut within the UDP header behind RoCE's port",
	  WIRE_ETHERNET, 40, 74, FT_FRAME_CUT, A | T, 0, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 4791) } },
	{ "cut within the UDP header behind the port of VXLAN: whose it is stands behind it",
	  WIRE_ETHERNET, 38, 124, FT_FRAME_CUT, 0, 0, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(110, 0xc0, 4789) } },
	{ "cut within the UDP header behind a port of something else",
	  WIRE_ETHERNET, 38, 124, FT_FRAME_NOT_RDMA, A | T, 0, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(110, 0xc0, 53) } },
	{ "cut within the port of something else",
	  WIRE_ETHERNET, 37, 124, FT_FRAME_CUT, A | T, 0, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(110, 0xc0, 53) } },
	{ "cut within the header of VXLAN: whose it is stands behind it",
	  WIRE_ETHERNET, 49, 124, FT_FRAME_CUT, 0, 0, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(110, 0xc0, 4789), 0x08 } },
	{ "cut within the IP header",
	  WIRE_ETHERNET, 30, 74, FT_FRAME_CUT, 0, 0, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 4791) } },
	{ "cut within Ethernet",
	  WIRE_ETHERNET, 13, 74, FT_FRAME_CUT, 0, 0, 2, 0, 0, { ETHERNET(0x0800) } },
	{ "a link type that is not read",
	  105, 60, 74, FT_FRAME_UNREAD, 0, 0, 2, 0, 0, { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 4791) } },
	{ "another UDP port is not RDMA",
	  WIRE_ETHERNET, 60, 74, FT_FRAME_NOT_RDMA, A | T, 0, 2, 0, 0,
	  { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 53), BTH(RC, 0xffff, 9) } },
	{ "ARP is not RDMA",
	  WIRE_ETHERNET, 42, 42, FT_FRAME_NOT_RDMA, 0, 0, 2, 0, 0, { ETHERNET(0x0806) } },
	{ "a fragment of UDP hides what it is",
	  WIRE_ETHERNET, 60, 74, FT_FRAME_BROKEN, A | T, 0, 2, 0, 0,
	  { ETHERNET(0x0800), 0x45, 0, 0, 60, 0, 1, 0x20, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2 } },
	{ "a fragment of TCP is not RDMA",
	  WIRE_ETHERNET, 60, 74, FT_FRAME_NOT_RDMA, A | T, 0, 2, 0, 0,
	  { ETHERNET(0x0800), 0x45, 0, 0, 60, 0, 1, 0x20, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2 } },
	{ "a UDP length that contradicts the IP length breaks below the BTH",
	  WIRE_ETHERNET, 60, 74, FT_FRAME_BROKEN, A | T, 0, 2, 0, 0,
	  { ETHERNET(0x0800), 0x45, 0, 0, 60, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0xc0, 1, 0x12, 0xb7, 0, 30 } },
};
/* clang-format on */

static enum ft_frame_kind key_of(const struct frame_case *row, struct ft_packet *packet,
				 struct ft_check_key *key)
{
	struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct ft_decode_input input = { .bytes = row->bytes,
					 .captured = row->captured,
					 .wire = row->wire,
					 .link_type = row->link_type,
					 .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;

	ft_decode(&config, &input, packet, &rest);
	return ft_frame_key(packet, row->bytes, row->captured, key);
}

static void frames_are_sorted(void **state)
{
	struct ft_packet packet;
	struct ft_check_key key;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct frame_case *row = &cases[i];
		enum ft_frame_kind kind = key_of(row, &packet, &key);

		if (kind != row->kind || key.known != row->known || key.pkey != row->pkey ||
		    key.qp_kind != row->qp_kind || key.mgmt_class != row->mgmt_class ||
		    key.qkey != row->qkey)
			fail_msg("not so: %s (kind %d, known 0x%x, pkey 0x%04x, qp %d, class %d, "
				 "qkey 0x%x)",
				 row->says, kind, key.known, key.pkey, key.qp_kind, key.mgmt_class,
				 key.qkey);
	}
}

/* All that is not read is zero, so that equal frames have equal keys. */
static void keys_hold_nothing_else(void **state)
{
	struct ft_packet packet;
	struct ft_check_key first, second;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		memset(&packet, 0x00, sizeof packet);
		memset(&first, 0x00, sizeof first);
		key_of(&cases[i], &packet, &first);
		memset(&packet, 0x5a, sizeof packet);
		memset(&second, 0xff, sizeof second);
		key_of(&cases[i], &packet, &second);
		if (memcmp(&first, &second, sizeof first) != 0)
			fail_msg("a key depends on what was there before: %s", cases[i].says);
	}
}

static void the_opcode_is_known_from_its_first_byte_on(void **state)
{
	struct frame_case row = {
		.link_type = WIRE_ETHERNET,
		.wire = 74,
		.bytes = { ETHERNET(0x0800), IPV4_UDP(60, 0xc0, 4791), BTH(UD, 0xffff, 9) },
	};
	struct ft_packet packet;
	struct ft_check_key key;

	(void)state;
	for (row.captured = 42; row.captured <= 46; row.captured++) {
		assert_int_equal(key_of(&row, &packet, &key), FT_FRAME_JUDGED);
		assert_int_equal(key.service, row.captured > 42 ? UD >> 5 : FT_CHECK_NO_SERVICE);
	}
}

static struct ft_packet roce_packet(void)
{
	struct ft_packet packet = {
		.has = FT_HAS_ETH | FT_HAS_IPV4 | FT_HAS_UDP | FT_HAS_BTH | FT_HAS_VNI,
		.transport = FT_TRANSPORT_ROCE2,
		.opcode = RC,
		.pkey = 0xffff,
		.dest_qp = 9,
		.vlan = 7,
		.vni = 4711,
		.src = { [15] = 1 },
		.dst = { [15] = 2 },
		.smac = { 2 },
		.dmac = { 4 },
	};

	return packet;
}

static void roce_keys_have_tags_and_macs(void **state)
{
	struct ft_packet packet = roce_packet();
	struct ft_check_key key;

	(void)state;
	assert_int_equal(ft_frame_key(&packet, NULL, 0, &key), FT_FRAME_JUDGED);
	assert_true(!key.native && key.has_gids && key.has_macs && key.has_vni);
	assert_int_equal(key.vlan, 7);
	assert_int_equal(key.vni, 4711);
	assert_int_equal(key.src[15], 1);
	assert_int_equal(key.smac[0], 2);
	assert_int_equal(key.dmac[0], 4);
}

/* A native packet mirrored in Ethernet brings the mirror's MACs and tags along; they say nothing. */
static void native_keys_have_none(void **state)
{
	struct ft_packet packet = roce_packet();
	struct ft_check_key key;

	(void)state;
	packet.transport = FT_TRANSPORT_IB;
	packet.has = FT_HAS_ETH | FT_HAS_LRH | FT_HAS_BTH | FT_HAS_VNI;
	packet.lrh.slid = 5;
	packet.lrh.dlid = 7;
	assert_int_equal(ft_frame_key(&packet, NULL, 0, &key), FT_FRAME_JUDGED);
	assert_true(key.native && !key.has_gids && !key.has_macs && !key.has_vni);
	assert_int_equal(key.vlan, 0);
	assert_int_equal(key.smac[0], 0);
	assert_int_equal(key.slid, 5);
	assert_int_equal(key.dlid, 7);
}

static void a_wrong_icrc_decides_before_all_else(void **state)
{
	struct ft_packet packet = roce_packet();
	struct ft_check_key key;

	(void)state;
	packet.icrc_check = FT_CHECK_BAD;
	packet.dest_qp = 0;
	assert_int_equal(ft_frame_key(&packet, NULL, 0, &key), FT_FRAME_BAD_ICRC);
	packet.icrc_check = FT_CHECK_GOOD;
	packet.malformed = FT_BAD_VCRC;
	packet.dest_qp = 9;
	assert_int_equal(ft_frame_key(&packet, NULL, 0, &key), FT_FRAME_JUDGED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_sorted),
		cmocka_unit_test(keys_hold_nothing_else),
		cmocka_unit_test(the_opcode_is_known_from_its_first_byte_on),
		cmocka_unit_test(roce_keys_have_tags_and_macs),
		cmocka_unit_test(native_keys_have_none),
		cmocka_unit_test(a_wrong_icrc_decides_before_all_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
