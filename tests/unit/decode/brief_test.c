#include "frame_rows.h"

#include <string.h>

#include <decode/brief.h>

#define BTH(opcode, flags, qp) #opcode " " #flags " ffff 00" #qp " 80000001 "
#define SEND                   BTH(04, 00, 000011)
#define WRITE                  BTH(0a, 00, 000011)
#define ACKNOWLEDGE            BTH(11, 00, 000011) "1f000001 "
#define RETH                   "0000000000001000 00000001 00000010 "
#define BODY                   "11*16 "
#define ICRC                   "aabbccdd "
#define ROCE                   UDP(12b7, 0028)
#define HEADERS                ETH(0800) IPV4(003c, 11) ROCE
#define WHOLE                  HEADERS SEND BODY ICRC
#define LONGER                 ETH(0800) IPV4(004c, 11) UDP(12b7, 0038) WRITE
#define SHORTER                ETH(0800) IPV4(0030, 11) UDP(12b7, 001c) ACKNOWLEDGE

enum { ETHERNET = 1, SLL = 113, INFINIBAND = 247 };

static bool find(struct ft_decode_input *input, const char *hex, uint32_t cut,
		 struct ft_brief *brief)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_around around;

	memset(bytes, 0, sizeof bytes);
	input->bytes = bytes;
	input->captured = (uint32_t)frame_bytes(hex, bytes);
	input->wire = input->captured + cut;
	return ft_brief_find(&config, input, brief) ||
	       ft_brief_find_other(&config, input, brief, &around) ||
	       ft_brief_find_native(input, brief);
}

/* A frame that is not found; `cut`: bytes that existed behind those captured. */
struct refused {
	const char *sentence, *hex;
	uint32_t cut;
};

static void expect_none(uint16_t link_type, const struct refused *rows, size_t count)
{
	struct ft_brief brief;

	for (size_t i = 0; i < count; i++) {
		struct ft_decode_input input = { .link_type = link_type };

		if (find(&input, rows[i].hex, rows[i].cut, &brief))
			fail_msg("%s", rows[i].sentence);
	}
}

static void usual_frames_are_found(void **state)
{
	static const struct {
		const char *sentence, *hex;
		uint32_t cut; /* bytes that existed behind the captured ones */
		uint32_t payload_at, payload_length;
		bool ipv6;
	} rows[] = {
		{ "whole", WHOLE, 0, 54, 16, false },
		{ "tagged", ETH(8100) "0005 0800 " IPV4(003c, 11) ROCE SEND BODY ICRC, 0, 58, 16,
		  false },
		{ "IPv6", ETH(86dd) IPV6(0028, 11) ROCE SEND BODY ICRC, 0, 74, 16, true },
		{ "tagged IPv6", ETH(8100) "0005 86dd " IPV6(0028, 11) ROCE SEND BODY ICRC, 0, 78,
		  16, true },
		{ "an extended header", LONGER RETH BODY ICRC, 0, 70, 16, false },
		{ "no payload", SHORTER ICRC, 0, 58, 0, false },
		{ "cut in the payload", HEADERS SEND "11*4 ", 16, 54, 16, false },
		{ "cut in the ICRC", HEADERS SEND BODY "aabb ", 2, 54, 16, false },
		{ "with a UDP checksum",
		  ETH(0800) IPV4(003c, 11) "c000 12b7 0028 1234 " SEND BODY ICRC, 0, 54, 16,
		  false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_decode_input input = { .link_type = ETHERNET };
		struct ft_brief brief;

		if (!find(&input, rows[i].hex, rows[i].cut, &brief))
			fail_msg("%s", rows[i].sentence);
		if (brief.payload_at != rows[i].payload_at ||
		    (brief.form == FT_BRIEF_OVER_IPV6) != rows[i].ipv6 ||
		    brief.payload_length != rows[i].payload_length)
			fail_msg("%s: payload at %u, %u bytes", rows[i].sentence, brief.payload_at,
				 brief.payload_length);
	}
}

static void nothing_else_is(void **state)
{
	static const struct refused rows[] = {
		{ "cut in an extended header", LONGER "0000000000001000 ", 28 },
		{ "bytes behind the datagram", WHOLE "00 ", 0 },
		{ "cut behind the datagram", WHOLE, 4 },
		{ "less than the datagram", HEADERS SEND BODY, 0 },
		{ "two tags", ETH(8100) "0005 8100 0006 0800 " IPV4(003c, 11) ROCE SEND BODY ICRC,
		  0 },
		{ "another EtherType", ETH(8915) IPV4(003c, 11) ROCE SEND BODY ICRC, 0 },
		{ "options",
		  ETH(0800) "4600 0040 0000 4000 4011 0000 " ADDRESSES "01*4 " ROCE SEND BODY ICRC,
		  0 },
		{ "a fragment",
		  ETH(0800) "4500 003c 0000 2000 4011 0000 " ADDRESSES ROCE SEND BODY ICRC, 0 },
		{ "TCP", ETH(0800) IPV4(003c, 06) ROCE SEND BODY ICRC, 0 },
		{ "an extension header", ETH(86dd) IPV6(0028, 3c) ROCE SEND BODY ICRC, 0 },
		{ "another port", ETH(0800) IPV4(003c, 11) UDP(12b8, 0028) SEND BODY ICRC, 0 },
		{ "lengths at odds", ETH(0800) IPV4(003c, 11) UDP(12b7, 0027) SEND BODY ICRC, 0 },
		{ "cut where a tagged one has its BTH", HEADERS SEND "11*3 ", 17 },
		{ "no room for the ICRC", ETH(0800) IPV4(0028, 11) UDP(12b7, 0014) SEND, 0 },
		{ "pad bytes", HEADERS BTH(04, 10, 000011) BODY ICRC, 0 },
		{ "a later version", HEADERS BTH(04, 01, 000011) BODY ICRC, 0 },
		{ "QP1", HEADERS BTH(04, 00, 000001) BODY ICRC, 0 },
		{ "UD", HEADERS BTH(64, 00, 000011) BODY ICRC, 0 },
		{ "a CNP", HEADERS BTH(81, 00, 000011) BODY ICRC, 0 },
		{ "an XRC request", HEADERS BTH(a4, 00, 000011) BODY ICRC, 0 },
		{ "a reserved opcode", HEADERS BTH(18, 00, 000011) BODY ICRC, 0 },
	};

	(void)state;
	expect_none(ETHERNET, rows, sizeof rows / sizeof *rows);
}

static void it_is_ethernet_without_fcs(void **state)
{
	struct ft_decode_input usual = { .link_type = ETHERNET };
	struct ft_decode_input announced = { .link_type = ETHERNET, .fcs_bytes = 4 };
	struct ft_decode_input cooked = { .link_type = SLL };
	struct ft_brief brief;

	(void)state;
	assert_true(find(&usual, WHOLE, 0, &brief));
	assert_false(find(&announced, WHOLE, 0, &brief));
	assert_false(find(&cooked, WHOLE, 0, &brief));
}

/* A whole frame has 74 bytes. */
#define IN_VXLAN(total, udp) ETH(0800) IPV4(total, 11) UDP(12b5, udp) "08000000 00138800 "
#define IN_GRE(total)        ETH(0800) IPV4(total, 2f) "0000 6558 "

static void usual_frames_in_tunnels_are_found(void **state)
{
	static const struct {
		const char *sentence, *hex;
		uint32_t cut, ethernet_at, payload_at;
	} rows[] = {
		{ "in VXLAN", IN_VXLAN(006e, 005a) WHOLE, 0, 50, 50 + 54 },
		{ "... tagged",
		  IN_VXLAN(0072, 005e) ETH(8100) "0005 0800 " IPV4(003c, 11) ROCE SEND BODY ICRC, 0,
		  50, 50 + 58 },
		{ "... IPv6", IN_VXLAN(0082, 006e) ETH(86dd) IPV6(0028, 11) ROCE SEND BODY ICRC, 0,
		  50, 50 + 74 },
		{ "... cut in the payload", IN_VXLAN(006e, 005a) HEADERS SEND "11*4 ", 16, 50,
		  50 + 54 },
		{ "in GRE", IN_GRE(0062) WHOLE, 0, 38, 38 + 54 },
		{ "... cut by the mirror", IN_GRE(005a) HEADERS SEND "11*12 ", 0, 38, 38 + 54 },
		{ "... cut by both", IN_GRE(005a) HEADERS SEND "11*4 ", 8, 38, 38 + 54 },
		{ "in VXLAN that a mirror cuts",
		  ETH(0800) IPV4(0088, 2f) "0000 6558 " IN_VXLAN(006e, 005a) HEADERS SEND "11*8 ",
		  0, 88, 88 + 54 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_decode_input input = { .link_type = ETHERNET };
		struct ft_brief brief;

		if (!find(&input, rows[i].hex, rows[i].cut, &brief))
			fail_msg("%s", rows[i].sentence);
		assert_int_equal(brief.payload_at, rows[i].payload_at);
		assert_int_equal(brief.payload_length, 16);
		assert_int_equal(brief.end, brief.payload_at + 16 + 4);
		assert_int_equal(brief.ethernet_at, rows[i].ethernet_at);
	}
}

static void nothing_else_is_in_tunnels(void **state)
{
	static const struct refused rows[] = {
		{ "bytes behind the inner datagram", IN_VXLAN(006f, 005b) WHOLE "00 ", 0 },
		{ "bytes behind the outer one", IN_VXLAN(006e, 005a) WHOLE "00 ", 0 },
		{ "cut behind both", IN_VXLAN(006e, 005a) WHOLE, 4 },
		{ "the inner datagram is longer than the outer one",
		  IN_VXLAN(006d, 0059) HEADERS SEND BODY "aabbcc ", 0 },
		{ "... and was cut", IN_VXLAN(006d, 0059) HEADERS SEND BODY "aa ", 2 },
		{ "cut behind what a mirror sent on", IN_GRE(0062) WHOLE, 4 },
		{ "two tags inside",
		  IN_VXLAN(0076, 0062) ETH(8100) "0005 8100 0006 0800 " IPV4(003c, 11)
			  ROCE SEND BODY ICRC,
		  0 },
		{ "UD inside", IN_VXLAN(006e, 005a) HEADERS BTH(64, 00, 000011) BODY ICRC, 0 },
		{ "cut in the inner BTH", IN_VXLAN(006e, 005a) HEADERS "0400 ffff 0000 ", 30 },
	};

	(void)state;
	expect_none(ETHERNET, rows, sizeof rows / sizeof *rows);
}

/* By length in words, LRH to ICRC. */
#define LRH(lver, lnh, words) "0" #lver "0" #lnh " 0009 " #words " 0001 "

static void usual_native_frames_are_found(void **state)
{
	static const struct {
		const char *sentence, *hex;
		uint32_t cut, payload_length;
	} rows[] = {
		{ "whole, without VCRC", LRH(0, 2, 000a) SEND BODY ICRC, 0, 16 },
		{ "whole, with VCRC", LRH(0, 2, 000a) SEND BODY ICRC "beef ", 0, 16 },
		{ "reserved bits by the length", LRH(0, 2, f80a) SEND BODY ICRC, 0, 16 },
		{ "no payload", LRH(0, 2, 0006) SEND ICRC, 0, 0 },
		{ "cut in the payload", LRH(0, 2, 000a) SEND "11*4 ", 18, 16 },
		{ "cut in the ICRC", LRH(0, 2, 000a) SEND BODY "aabb ", 4, 16 },
		{ "cut behind the BTH", LRH(0, 2, 000a) SEND, 22, 16 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_decode_input input = { .link_type = INFINIBAND };
		struct ft_brief brief;

		if (!find(&input, rows[i].hex, rows[i].cut, &brief))
			fail_msg("%s", rows[i].sentence);
		assert_int_equal(brief.form, FT_BRIEF_NATIVE);
		assert_int_equal(brief.payload_at, 8 + 12);
		assert_int_equal(brief.payload_length, rows[i].payload_length);
	}
}

static void nothing_else_is_native(void **state)
{
	static const struct refused rows[] = {
		{ "cut in the VCRC", LRH(0, 2, 000a) SEND BODY ICRC "be ", 1 },
		{ "cut before the VCRC", LRH(0, 2, 000a) SEND BODY ICRC, 2 },
		{ "more behind it than a VCRC", LRH(0, 2, 000a) SEND BODY ICRC "beef 00 ", 0 },
		{ "longer than the frame", LRH(0, 2, 000b) SEND BODY ICRC, 0 },
		{ "no room for the ICRC", LRH(0, 2, 0005) SEND, 0 },
		{ "a GRH", LRH(0, 3, 000a) SEND BODY ICRC, 0 },
		{ "a raw packet", LRH(0, 0, 000a) SEND BODY ICRC, 0 },
		{ "a later link version", LRH(1, 2, 000a) SEND BODY ICRC, 0 },
		{ "pad bytes", LRH(0, 2, 000a) BTH(04, 10, 000011) BODY ICRC, 0 },
		{ "a later version", LRH(0, 2, 000a) BTH(04, 01, 000011) BODY ICRC, 0 },
		{ "QP0", LRH(0, 2, 000a) BTH(04, 00, 000000) BODY ICRC, 0 },
		{ "UD", LRH(0, 2, 000a) BTH(64, 00, 000011) BODY ICRC, 0 },
		{ "cut in the BTH", LRH(0, 2, 000a) "0400 ffff 0000 0011 0000 ", 26 },
	};

	(void)state;
	expect_none(INFINIBAND, rows, sizeof rows / sizeof *rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_frames_are_found),
		cmocka_unit_test(nothing_else_is),
		cmocka_unit_test(it_is_ethernet_without_fcs),
		cmocka_unit_test(usual_frames_in_tunnels_are_found),
		cmocka_unit_test(nothing_else_is_in_tunnels),
		cmocka_unit_test(usual_native_frames_are_found),
		cmocka_unit_test(nothing_else_is_native),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
