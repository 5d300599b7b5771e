/*
 * Frames are put together by hand; ICRCs are not computed, so the decoder does not check them but
 * where that is the subject.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <decode/decode.h>

#include "observe.h"

enum {
	/* offsets in `write_first` */
	DMAC = 0,
	SMAC = 6,
	IP = 14,
	IP_TOS = IP + 1,
	IP_LENGTH = IP + 2,
	IP_ID = IP + 4,
	IP_TTL = IP + 8,
	IP_CHECKSUM = IP + 10,
	IP_SRC = IP + 12,
	IP_DST = IP + 16,
	UDP = 34,
	UDP_LENGTH = UDP + 4,
	UDP_CHECKSUM = UDP + 6,
	BTH = 42,
	BTH_FLAGS = BTH + 1,
	BTH_PKEY = BTH + 2,
	BTH_MARKS = BTH + 4,
	BTH_DEST_QP = BTH + 5,
	BTH_ACK_REQUEST = BTH + 8,
	BTH_PSN = BTH + 9,
	RETH = 54,
	RETH_RKEY = RETH + 8,
	PAYLOAD = 70,
	ICRC = PAYLOAD + 256,
	SIZE = ICRC + 4,
	FRAME_MAX = 512,
};

/* RDMA WRITE First of 256 bytes, from 10.0.0.1 to 10.0.0.2. The payload is filled in by base(). */
static const uint8_t
	write_first[PAYLOAD] = {
		0x02, 0,    0,    0,    0,    0x02, 0x02, 0,    0,    0,    0,    0x01,
		0x08, 0x00,                                                          /* Ethernet */
		0x45, 0x68, 0x01, 0x3c, 0x12, 0x34, 0x40, 0,    63,   17,   0,    0, /* IPv4 */
		10,   0,    0,    1,    10,   0,    0,    2,    0xc1, 0x23, 0x12, 0xb7,
		0x01, 0x28, 0,    0,                                                    /* UDP */
		0x06, 0x40, 0x80, 0x01, 0,    0,    0x01, 0x02, 0x80, 0xab, 0xcd, 0xef, /* BTH */
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,                         /* RETH */
		0xde, 0xad, 0xbe, 0xef, 0,    0,    0x10, 0,
	};

struct bytes {
	uint8_t at[FRAME_MAX];
	uint32_t size, captured;
	uint16_t link_type;
	bool check_icrc;
};

static struct bytes base(void)
{
	struct bytes frame = { .size = SIZE, .captured = SIZE, .link_type = FT_LINK_ETHERNET };

	memcpy(frame.at, write_first, sizeof write_first);
	for (unsigned i = PAYLOAD; i < SIZE; i++)
		frame.at[i] = (uint8_t)(i * 37);
	return frame;
}

static struct ft_observed observed_of(const struct bytes *bytes)
{
	struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct ft_frame frame = {
		.bytes = bytes->at,
		.captured = bytes->captured,
		.original = bytes->size,
		.wire = bytes->size + 4,
		.link_type = bytes->link_type,
		.ts_ns = 77,
		.number = 12,
	};
	struct ft_decode_input input = { frame.bytes,     frame.captured,  frame.original,
					 frame.link_type, frame.fcs_bytes, frame.ts_ns };
	struct ft_observed observed;
	struct ft_decode_rest rest;
	static struct ft_packet packet;

	config.check_icrc = bytes->check_icrc;
	memset(&packet, 0x5a, sizeof packet); /* what is not set must not be read */
	memset(&observed, 0xa5, sizeof observed);
	ft_decode(&config, &input, &packet, &rest);
	ft_observe(&packet, &frame, &observed);
	return observed;
}

/* Replace `cut` bytes at `at` by others. */
static void splice(struct bytes *frame, uint32_t at, uint32_t cut, const uint8_t *by, uint32_t size)
{
	memmove(frame->at + at + size, frame->at + at + cut, frame->size - at - cut);
	memcpy(frame->at + at, by, size);
	frame->size = frame->captured = frame->size + size - cut;
}

/* Another operation: BTH, extended headers and payload give way to `body`, behind them an ICRC. */
static struct bytes with_body(uint8_t opcode, const uint8_t *body, uint32_t size)
{
	struct bytes frame = base();
	uint32_t udp = 8 + 12 + size + 4, ip = 20 + udp;

	splice(&frame, RETH, ICRC - RETH, body, size);
	frame.at[BTH] = opcode;
	frame.at[BTH_FLAGS] = 0;
	frame.at[IP_LENGTH] = (uint8_t)(ip >> 8);
	frame.at[IP_LENGTH + 1] = (uint8_t)ip;
	frame.at[UDP_LENGTH] = (uint8_t)(udp >> 8);
	frame.at[UDP_LENGTH + 1] = (uint8_t)udp;
	return frame;
}

/* --- fields --- */

static void fields_of_a_write_are_taken_over(void **state)
{
	struct bytes frame = base();
	struct ft_observed observed = observed_of(&frame);

	(void)state;
	assert_int_equal(observed.has & ~(uint32_t)FT_OBSERVED_UPWARD,
			 FT_OBSERVED_BTH | FT_OBSERVED_ETH | FT_OBSERVED_IP | FT_OBSERVED_IPV4 |
				 FT_OBSERVED_UDP | FT_OBSERVED_RETH | FT_OBSERVED_PAYLOAD |
				 FT_OBSERVED_ACK_REQUEST | FT_OBSERVED_CONTENT | FT_OBSERVED_WHOLE);
	assert_int_equal(observed.ts_ns, 77);
	assert_int_equal(observed.frame, 12);
	assert_int_equal(observed.opcode, 0x06);
	assert_int_equal(observed.pkey, 0x8001);
	assert_int_equal(observed.dest_qp, 0x000102);
	assert_int_equal(observed.psn, 0xabcdef);
	assert_int_equal(observed.va, 0x1122334455667788);
	assert_int_equal(observed.rkey, 0xdeadbeef);
	assert_int_equal(observed.length, 4096);
	assert_int_equal(observed.payload, 256);
	assert_int_equal(observed.sport, 0xc123);
	assert_int_equal(observed.ip_id, 0x1234);
	assert_int_equal(observed.ttl, 63);
	assert_int_equal(observed.dscp, 26);
	assert_int_equal(observed.ecn, 0);
	assert_int_equal(observed.vlan, 0);
	assert_memory_equal(observed.smac, write_first + SMAC, 6);
	assert_int_equal(observed.alike, FT_ALIKE_SEQUENCED);
	assert_int_equal(observed.src_qp | observed.syndrome | observed.mirror |
				 observed.mirror_sequence | observed.mirror_sequence_bits,
			 0);
}

static void fields_of_an_acknowledgement_are_taken_over(void **state)
{
	static const uint8_t aeth[] = { 0x63, 0x00, 0x12, 0x34 };
	struct bytes frame = with_body(0x11, aeth, sizeof aeth);
	struct ft_observed observed = observed_of(&frame);

	(void)state;
	assert_int_equal(observed.has & (FT_OBSERVED_AETH | FT_OBSERVED_RETH | FT_OBSERVED_PAYLOAD),
			 FT_OBSERVED_AETH | FT_OBSERVED_PAYLOAD);
	assert_int_equal(observed.syndrome, 0x63);
	assert_int_equal(observed.payload, 0);
	assert_int_equal(observed.msn, 0x1234);
	assert_int_equal(observed.rkey, 0);
}

static void fields_of_an_atomic_are_taken_over(void **state)
{
	static const uint8_t atomic[28] = { 0, 0, 0, 0, 0, 0, 0x10, 0x08, 0xca, 0xfe, 0, 1 };
	struct bytes frame = with_body(0x14, atomic, sizeof atomic);
	struct ft_observed observed = observed_of(&frame);

	(void)state;
	assert_int_equal(observed.has & (FT_OBSERVED_ATOMIC | FT_OBSERVED_RETH),
			 FT_OBSERVED_ATOMIC);
	assert_int_equal(observed.va, 0x1008);
	assert_int_equal(observed.rkey, 0xcafe0001);
}

static void fields_of_a_datagram_are_taken_over(void **state)
{
	static const uint8_t deth[12] = { 0x11, 0x11, 0x11, 0x11, 0, 0x00, 0x0a, 0x0b, 1, 2, 3, 4 };
	struct bytes frame = with_body(0x64, deth, sizeof deth);
	struct ft_observed observed = observed_of(&frame);

	(void)state;
	assert_int_equal(observed.has & FT_OBSERVED_DETH, FT_OBSERVED_DETH);
	assert_int_equal(observed.src_qp, 0x0a0b);
	assert_int_equal(observed.payload, 4);
	assert_int_equal(observed.has & FT_OBSERVED_CONTENT, FT_OBSERVED_CONTENT);
}

static void congestion_marks_are_taken_over(void **state)
{
	static const uint8_t reserved[16] = { 0 };
	struct bytes frame = with_body(0x81, reserved, sizeof reserved);
	struct ft_observed observed;

	(void)state;
	frame.at[BTH_MARKS] = 0x40;
	frame.at[IP_TOS] = 0xc3;
	observed = observed_of(&frame);
	assert_int_equal(observed.has & (FT_OBSERVED_BECN | FT_OBSERVED_FECN), FT_OBSERVED_BECN);
	assert_int_equal(observed.dscp, 48);
	assert_int_equal(observed.ecn, 3);
	assert_int_equal(observed.alike, FT_ALIKE_PLAIN);
	frame.at[BTH_MARKS] = 0x80;
	observed = observed_of(&frame);
	assert_int_equal(observed.has & (FT_OBSERVED_BECN | FT_OBSERVED_FECN), FT_OBSERVED_FECN);
}

static void what_was_cut_off_is_not_there(void **state)
{
	static const struct {
		uint32_t captured, has, has_not;
		uint8_t alike;
	} rows[] = {
		{ SIZE - 1, FT_OBSERVED_CONTENT | FT_OBSERVED_RETH, FT_OBSERVED_WHOLE,
		  FT_ALIKE_SEQUENCED },
		{ PAYLOAD + 8, FT_OBSERVED_CONTENT, FT_OBSERVED_WHOLE, FT_ALIKE_SEQUENCED },
		{ PAYLOAD + 7, FT_OBSERVED_RETH | FT_OBSERVED_PAYLOAD, FT_OBSERVED_CONTENT,
		  FT_ALIKE_SEQUENCED },
		{ PAYLOAD - 1, FT_OBSERVED_BTH | FT_OBSERVED_PAYLOAD,
		  FT_OBSERVED_RETH | FT_OBSERVED_CONTENT, FT_ALIKE_SEQUENCED },
		{ RETH, FT_OBSERVED_BTH, FT_OBSERVED_RETH, FT_ALIKE_SEQUENCED },
		{ RETH - 1, FT_OBSERVED_UDP, FT_OBSERVED_BTH, FT_ALIKE_PLAIN },
		{ BTH, FT_OBSERVED_UDP, FT_OBSERVED_BTH, FT_ALIKE_PLAIN },
		{ BTH - 1, FT_OBSERVED_IPV4, FT_OBSERVED_UDP, FT_ALIKE_PLAIN },
		{ UDP - 1, FT_OBSERVED_ETH, FT_OBSERVED_IP | FT_OBSERVED_IPV4, FT_ALIKE_PLAIN },
		{ 13, 0, FT_OBSERVED_ETH, FT_ALIKE_PLAIN },
		{ 0, 0, FT_OBSERVED_ETH, FT_ALIKE_PLAIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bytes frame = base();
		struct ft_observed observed;

		frame.captured = rows[i].captured;
		observed = observed_of(&frame);
		assert_int_equal(observed.has & rows[i].has, rows[i].has);
		assert_int_equal(observed.has & (rows[i].has_not | FT_OBSERVED_WHOLE), 0);
		assert_int_equal(observed.alike, rows[i].alike);
	}
}

/* --- digests --- */

/* Which digests of a frame change with a byte of it. */
static void digests_cover_what_they_should(void **state)
{
	enum { DIGEST = 1, CONTENT = 2, HOP = 4, ADDRESSES = 8 };
	static const struct {
		const char *what;
		unsigned offset;
		uint8_t flip;
		unsigned changed;
	} rows[] = {
		{ "destination MAC", DMAC + 5, 1, HOP },
		{ "source MAC", SMAC, 4, HOP },
		{ "time to live", IP_TTL, 1, HOP },
		{ "DSCP", IP_TOS, 0x80, 0 },
		{ "ECN", IP_TOS, 3, 0 },
		{ "IP checksum", IP_CHECKSUM, 0xff, 0 },
		{ "IP identification", IP_ID, 1, DIGEST },
		{ "source address", IP_SRC + 3, 0x40, DIGEST | ADDRESSES },
		{ "destination address", IP_DST, 1, DIGEST | ADDRESSES },
		{ "source port", UDP, 1, DIGEST },
		{ "UDP checksum", UDP_CHECKSUM, 0xff, 0 },
		{ "opcode: UC for RC", BTH, 0x20, DIGEST | CONTENT },
		{ "solicited event", BTH_FLAGS, 0x80, DIGEST },
		{ "P_Key", BTH_PKEY + 1, 2, DIGEST },
		{ "membership", BTH_PKEY, 0x80, DIGEST },
		{ "FECN", BTH_MARKS, 0x80, 0 },
		{ "BECN", BTH_MARKS, 0x40, 0 },
		{ "DestQP", BTH_DEST_QP, 1, DIGEST },
		{ "acknowledge request", BTH_ACK_REQUEST, 0x80, DIGEST },
		{ "PSN", BTH_PSN + 2, 1, DIGEST },
		{ "virtual address", RETH, 1, DIGEST | CONTENT },
		{ "R_Key", RETH_RKEY, 1, DIGEST | CONTENT },
		{ "first byte of the payload", PAYLOAD, 1, DIGEST | CONTENT },
		{ "one of its first 48", PAYLOAD + 47, 0x80, DIGEST | CONTENT },
		{ "ICRC, which stands for the rest", ICRC + 2, 1, DIGEST },
	};
	struct bytes original = base();
	struct ft_observed expected = observed_of(&original);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bytes frame = base();
		struct ft_observed got;
		unsigned changed;

		print_message("%s\n", rows[i].what);
		frame.at[rows[i].offset] ^= rows[i].flip;
		got = observed_of(&frame);
		changed = (got.digest != expected.digest ? DIGEST : 0u) |
			  (got.content != expected.content ? CONTENT : 0u) |
			  (got.hop != expected.hop ? HOP : 0u) |
			  (got.pair != expected.pair ? ADDRESSES : 0u);
		assert_int_equal(changed, rows[i].changed);
	}
}

/* A frame cut anywhere behind its BTH: every byte that is there counts, but those a hop changes. */
static void digests_of_cut_frames_cover_what_is_there(void **state)
{
	static const uint32_t cuts[] = { RETH + 1, RETH_RKEY, PAYLOAD, PAYLOAD + 1, 86, 117, 118 };

	(void)state;
	for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		struct bytes frame = base();
		uint64_t digest;

		frame.captured = cuts[i];
		digest = observed_of(&frame).digest;
		for (uint32_t at = RETH; at < cuts[i]; at++) {
			frame.at[at] ^= 0x10;
			assert_true(observed_of(&frame).digest != digest);
			frame.at[at] ^= 0x10;
		}
		frame.at[cuts[i]] ^= 0x10; /* not captured */
		assert_true(observed_of(&frame).digest == digest);
	}
}

static void a_wrong_icrc_makes_every_byte_count(void **state)
{
	struct bytes frame = base(), other = base();
	struct ft_observed expected, got;

	(void)state;
	frame.check_icrc = other.check_icrc = true;
	expected = observed_of(&frame);
	assert_int_equal(expected.has & FT_OBSERVED_BAD_ICRC, FT_OBSERVED_BAD_ICRC);
	other.at[PAYLOAD + 200] ^= 1;
	got = observed_of(&other);
	assert_true(got.digest != expected.digest);
	frame.check_icrc = false; /* not known to be wrong */
	got = observed_of(&frame);
	assert_int_equal(got.has & FT_OBSERVED_BAD_ICRC, 0);
	assert_true(got.digest != expected.digest);
}

static void credits_are_no_content(void **state)
{
	uint8_t body[4 + 64] = { 0x1f, 0, 0, 7, 'a' };
	struct bytes response = with_body(0x10, body, sizeof body);
	struct ft_observed first = observed_of(&response), second;

	(void)state;
	response.at[RETH] = 0x05;
	second = observed_of(&response);
	assert_int_equal(second.content, first.content);
	assert_true(second.digest != first.digest);
	response.at[RETH + 4] = 'b';
	assert_true(observed_of(&response).content != first.content);
}

static void both_directions_are_one_pair(void **state)
{
	static const uint8_t swapped[] = { 10, 0, 0, 2, 10, 0, 0, 1 };
	struct bytes frame = base();
	struct ft_observed there = observed_of(&frame), back;

	(void)state;
	memcpy(frame.at + IP_SRC, swapped, sizeof swapped);
	back = observed_of(&frame);
	assert_true(back.pair == there.pair);
	assert_true(back.digest != there.digest);
	assert_int_equal((back.has ^ there.has) & FT_OBSERVED_UPWARD, FT_OBSERVED_UPWARD);
}

/* --- around the packet --- */

static const uint8_t priority_tag[] = { 0x81, 0x00, 0x60, 0x00 };
static const uint8_t vlan_tag[] = { 0x81, 0x00, 0x60, 0x07 };

/* ERSPAN II: 10.9.9.1 to 10.9.9.2, sequence 0x01020304, session 5. The IP length is filled in. */
static const uint8_t erspan[] = {
	0x02, 0, 0,    0,    0, 0x0a, 0x02, 0, 0,    0,  0, 0x0b, 0x08, 0x00, 0x45, 0, 0,
	0,    0, 0,    0x40, 0, 60,   47,   0, 0,    10, 9, 9,    1,    10,   9,    9, 2,
	0x10, 0, 0x88, 0xbe, 1, 2,    3,    4, 0x10, 0,  0, 5,    0,    0,    0,    0,
};

static struct bytes wrapped(const uint8_t *outer, uint32_t size)
{
	struct bytes frame = base();
	uint32_t length;

	splice(&frame, 0, 0, outer, size);
	length = frame.size - 14;
	frame.at[IP_LENGTH] = (uint8_t)(length >> 8);
	frame.at[IP_LENGTH + 1] = (uint8_t)length;
	return frame;
}

static void a_tag_or_a_mirror_changes_no_digest(void **state)
{
	struct bytes plain = base(), priority = base(), tagged = base();
	struct bytes mirrored = wrapped(erspan, sizeof erspan);
	struct ft_observed expected = observed_of(&plain), got;

	(void)state;
	splice(&priority, 12, 0, priority_tag, sizeof priority_tag);
	got = observed_of(&priority);
	assert_true(got.digest == expected.digest && got.hop == expected.hop);
	assert_int_equal(got.vlan, 0);

	splice(&tagged, 12, 0, vlan_tag, sizeof vlan_tag);
	got = observed_of(&tagged);
	assert_true(got.digest == expected.digest && got.hop == expected.hop);
	assert_int_equal(got.vlan, 7);

	got = observed_of(&mirrored);
	assert_true(got.digest == expected.digest && got.hop == expected.hop);
	assert_true(got.pair == expected.pair && got.content == expected.content);
}

static void a_mirrors_session_and_number_are_taken_over(void **state)
{
	struct bytes frame = wrapped(erspan, sizeof erspan), other = frame;
	struct ft_observed first = observed_of(&frame), second;

	(void)state;
	assert_int_equal(first.has & FT_OBSERVED_MIRROR, FT_OBSERVED_MIRROR);
	assert_int_equal(first.mirror_sequence, 0x01020304);
	assert_int_equal(first.mirror_sequence_bits, 32);
	other.at[41] ^= 1; /* sequence */
	second = observed_of(&other);
	assert_int_equal(second.mirror_sequence, 0x01020305);
	assert_int_equal(second.mirror, first.mirror);
	other.at[45] ^= 1; /* session */
	assert_true(observed_of(&other).mirror != first.mirror);
	other = frame;
	other.at[29] ^= 4; /* who sends it */
	assert_true(observed_of(&other).mirror != first.mirror);
}

static void an_overlay_is_part_of_the_digest(void **state)
{
	static const uint8_t vxlan[] = {
		0x02, 0, 0,    0,    0,    0x0a, 0x02, 0, 0,    0,  0, 0x0b, 0x08, 0x00, 0x45, 0, 0,
		0,    0, 0,    0x40, 0,    60,   17,   0, 0,    10, 9, 9,    1,    10,   9,    9, 2,
		0xd0, 0, 0x12, 0xb5, 0x01, 0x5a, 0,    0, 0x08, 0,  0, 0,    0,    0,    9,    0,
	};
	struct bytes plain = base(), frame = wrapped(vxlan, sizeof vxlan);
	struct ft_observed inner = observed_of(&plain), first = observed_of(&frame), second;

	(void)state;
	assert_int_equal(first.psn, 0xabcdef);
	assert_true(first.digest != inner.digest);
	frame.at[34 + 1] ^= 1; /* outer source port */
	second = observed_of(&frame);
	assert_true(second.digest == first.digest);
	frame.at[48] ^= 1; /* VNI */
	second = observed_of(&frame);
	assert_true(second.digest != first.digest);
}

/* --- native --- */

static struct bytes native(void)
{
	static const uint8_t lrh[] = { 0x30, 0x22, 0x00, 0x05, 0x00, 0x4b, 0x00, 0x09 };
	struct bytes frame = base();

	splice(&frame, 0, BTH, lrh, sizeof lrh);
	frame.at[5] = (uint8_t)(frame.size / 4);
	frame.at[frame.size++] = 0xaa; /* VCRC */
	frame.at[frame.size++] = 0xbb;
	frame.captured = frame.size;
	frame.link_type = FT_LINK_INFINIBAND;
	return frame;
}

static void native_packets_are_known_by_their_lids(void **state)
{
	struct bytes frame = native();
	struct ft_observed first = observed_of(&frame), second;

	(void)state;
	assert_int_equal(first.psn, 0xabcdef);
	assert_int_equal(first.has & (FT_OBSERVED_ETH | FT_OBSERVED_IP | FT_OBSERVED_UDP), 0);
	frame.at[0] = 0x40;               /* virtual lane */
	frame.at[frame.size - 1] ^= 0xff; /* VCRC */
	second = observed_of(&frame);
	assert_true(second.digest == first.digest && second.pair == first.pair);
	frame.at[7] ^= 1; /* SLID */
	second = observed_of(&frame);
	assert_true(second.digest != first.digest && second.pair != first.pair);
}

/* --- not RDMA --- */

static struct bytes tcp_segment(void)
{
	struct bytes frame = base();

	frame.at[IP + 9] = 6;
	frame.at[UDP + 12] = 0x50;
	frame.at[UDP + 13] = 0x10; /* ACK */
	return frame;
}

static void other_packets_have_digests_too(void **state)
{
	static const struct {
		const char *what;
		unsigned offset;
		bool changed;
	} rows[] = {
		{ "MAC address", SMAC, false },
		{ "time to live", IP_TTL, false },
		{ "DSCP", IP_TOS, false },
		{ "IP checksum", IP_CHECKSUM, false },
		{ "IP identification", IP_ID, true },
		{ "source address", IP_SRC, true },
		{ "port", UDP + 1, true },
		{ "sequence", UDP + 5, true },
		{ "checksum", UDP + 17, true },
		{ "payload", UDP + 30, true },
	};
	struct bytes original = tcp_segment();
	struct ft_observed expected = observed_of(&original);

	(void)state;
	assert_int_equal(expected.alike, FT_ALIKE_FOREIGN);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bytes frame = tcp_segment();

		print_message("%s\n", rows[i].what);
		frame.at[rows[i].offset] ^= 0x08;
		assert_int_equal(observed_of(&frame).digest != expected.digest, rows[i].changed);
	}
	original.at[UDP + 13] = 0x04; /* RST */
	assert_int_equal(observed_of(&original).alike, FT_ALIKE_PLAIN);
}

static void trailing_bytes_of_a_frame_do_not_count(void **state)
{
	static const uint8_t arp[60] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0, 0,    0, 0,  1, 0x08, 0x06,
		0,    1,    8,    0,    6,    4,    0,    1, 0x02, 0, 0,  0, 0,    1,
		10,   0,    0,    1,    0,    0,    0,    0, 0,    0, 10, 0, 0,    2,
	};
	struct bytes frame = { .size = 60, .captured = 60, .link_type = FT_LINK_ETHERNET };
	struct ft_observed plain, tagged;

	(void)state;
	memcpy(frame.at, arp, sizeof arp);
	plain = observed_of(&frame);
	assert_int_equal(plain.alike, FT_ALIKE_FOREIGN);
	splice(&frame, 12, 0, vlan_tag, sizeof vlan_tag);
	frame.at[frame.size++] = 0xfc; /* an FCS */
	frame.captured = frame.size;
	tagged = observed_of(&frame);
	assert_true(tagged.digest == plain.digest);
	frame.at[41 + 4] ^= 1; /* who is asked for */
	assert_true(observed_of(&frame).digest != plain.digest);
}

static void what_is_deep_in_a_tunnel_that_is_not_opened_counts(void **state)
{
	static const uint8_t pseudowire[] = { 0x02, 0,    0,    0, 0,    1, 0x02, 0, 0, 0, 0,
					      2,    0x88, 0x47, 0, 0x10, 1, 0x40, 0, 0, 0, 0 };
	static const struct {
		unsigned at;
		bool counts;
	} rows[] = { { 8, true }, { 70, true }, { 14 + 48 + 191, true }, { 14 + 48 + 192, false } };
	struct bytes frame = { .size = 300, .captured = 300, .link_type = FT_LINK_ETHERNET };
	struct ft_observed plain;

	(void)state;
	memcpy(frame.at, pseudowire, sizeof pseudowire);
	for (size_t i = sizeof pseudowire; i < 300; i++)
		frame.at[i] = (uint8_t)(i * 7);
	plain = observed_of(&frame);
	assert_int_equal(plain.alike, FT_ALIKE_FOREIGN);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bytes other = frame;

		print_message("byte %u\n", rows[i].at);
		other.at[rows[i].at] ^= 1;
		assert_int_equal(observed_of(&other).digest != plain.digest, rows[i].counts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_a_write_are_taken_over),
		cmocka_unit_test(fields_of_an_acknowledgement_are_taken_over),
		cmocka_unit_test(fields_of_an_atomic_are_taken_over),
		cmocka_unit_test(fields_of_a_datagram_are_taken_over),
		cmocka_unit_test(congestion_marks_are_taken_over),
		cmocka_unit_test(what_was_cut_off_is_not_there),
		cmocka_unit_test(digests_cover_what_they_should),
		cmocka_unit_test(digests_of_cut_frames_cover_what_is_there),
		cmocka_unit_test(a_wrong_icrc_makes_every_byte_count),
		cmocka_unit_test(credits_are_no_content),
		cmocka_unit_test(both_directions_are_one_pair),
		cmocka_unit_test(a_tag_or_a_mirror_changes_no_digest),
		cmocka_unit_test(a_mirrors_session_and_number_are_taken_over),
		cmocka_unit_test(an_overlay_is_part_of_the_digest),
		cmocka_unit_test(native_packets_are_known_by_their_lids),
		cmocka_unit_test(other_packets_have_digests_too),
		cmocka_unit_test(trailing_bytes_of_a_frame_do_not_count),
		cmocka_unit_test(what_is_deep_in_a_tunnel_that_is_not_opened_counts),
	};

	return cmocka_run_group_tests_name("observe", tests, NULL, NULL);
}
