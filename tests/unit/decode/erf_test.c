#include "frame_rows.h"

#include <stdio.h>

/* Endace records (link type 197): what the kinds of records hold, and the fields of their headers. */

#define ERF(type, flags, rlen, lctr, wlen)                                                         \
	"00*8 " #type " " #flags " " #rlen " " #lctr " " #wlen " "
#define LLDP      ETH(88cc) "00*46 "
#define LLDP_FCS  "bddac294" /* CRC-32 of that frame, computed by zlib */
#define BTH_FRAME "04 00 ffff 00 000011 00 000001 00*4 "
#define LOCAL     "00 02 0002 0006 0001 " BTH_FRAME

static void decode_erf(const char *hex, struct ft_packet *packet)
{
	static uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct ft_decode_input input = { .bytes = bytes, .link_type = 197, .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;

	input.captured = input.wire = (uint32_t)frame_bytes(hex, bytes);
	ft_decode(&config, &input, packet, &rest);
}

/* Types 2 and the coloured 11, 16 and 20: two bytes, then the frame with its FCS. */
static void ethernet_is_behind_two_bytes_and_ends_in_its_fcs(void **state)
{
	static const struct {
		const char *good, *bad, *stack;
	} rows[] = {
		{ ERF(02, 04, 0052, 0000, 0040) "0000 " LLDP LLDP_FCS,
		  ERF(02, 04, 0052, 0000, 0040) "0000 " LLDP "bddac295", "erf:2,eth" },
		{ ERF(0b, 04, 0052, 0000, 0040) "0000 " LLDP LLDP_FCS,
		  ERF(0b, 04, 0052, 0000, 0040) "0000 " LLDP "bddac295", "erf:11,eth" },
		{ ERF(10, 04, 0052, 0000, 0040) "0000 " LLDP LLDP_FCS,
		  ERF(10, 04, 0052, 0000, 0040) "0000 " LLDP "3ddac294", "erf:16,eth" },
		{ ERF(14, 04, 0052, 0000, 0040) "0000 " LLDP LLDP_FCS,
		  ERF(14, 04, 0052, 0000, 0040) "0000 " LLDP "bdda6294", "erf:20,eth" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_packet packet;
		char text[64];

		decode_erf(rows[i].good, &packet);
		stack_text(&packet, text, sizeof text);
		assert_string_equal(text, rows[i].stack);
		assert_int_equal(packet.fcs_check, FT_CHECK_GOOD);
		decode_erf(rows[i].bad, &packet);
		assert_int_equal(packet.fcs_check, FT_CHECK_BAD);
		assert_int_equal(packet.malformed, FT_OK); /* it is damage, no broken rule */
	}
}

static void records_hold_what_their_type_says(void **state)
{
	static const struct frame_row rows[] = {
		{ "22 is IPv4, not link packets", 197, 0,
		  ERF(16, 04, 0024, 0000, 0014) IPV4(0014, 3b), .stack = "erf:22,ipv4" },
		{ "23 is IPv6", 197, 0, ERF(17, 04, 0038, 0000, 0028) IPV6(0000, 3b),
		  .stack = "erf:23,ipv6" },
		{ "24 is a raw link, which is not read", 197, 0,
		  ERF(18, 04, 0018, 0000, 0008) "1001 2003 39e0 0000", .stack = "erf:24" },
		{ "48 is padding", 197, 0, ERF(30, 04, 0018, 0000, 0008) "00*8",
		  .stack = "erf:48" },
		{ "a type above all that are defined", 197, 0, ERF(7f, 04, 0018, 0000, 0008) "00*8",
		  .stack = "erf:127" },
		{ "a record of its header alone", 197, 0, ERF(30, 04, 0010, 0000, 0000),
		  .stack = "erf:48" },
		{ "of its header and an extension header", 197, 0,
		  ERF(b0, 04, 0018, 0000, 0000) "10 00*7", .stack = "erf:48" },
		{ "one of the two bytes is cut", 197, 40, ERF(02, 04, 0052, 0000, 0040) "00",
		  .stack = "", .truncated = FT_CUT_ERF },
		{ "an extension header is cut by a byte", 197, 40,
		  ERF(95, 04, 0042, 0000, 001a) "10 00*6", .stack = "", .truncated = FT_CUT_ERF },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

static void the_fields_of_the_header_are_read(void **state)
{
	struct ft_packet packet;

	(void)state;
	decode_erf(ERF(95, c5, 003a, 0102, 001a) "83 00*7 11 00*7 " LOCAL "00*2", &packet);
	assert_true((packet.has & FT_HAS_ERF) != 0);
	assert_int_equal(packet.erf.type, 21);
	assert_int_equal(packet.erf.flags, 0xc5);
	assert_int_equal(packet.erf.lctr, 0x0102);
	assert_int_equal(packet.erf.wlen, 26);
	assert_int_equal(packet.erf.ext_count, 2);
	assert_int_equal(packet.erf.ext[0], 3);  /* classification, another follows */
	assert_int_equal(packet.erf.ext[1], 17); /* host id */
	assert_int_equal(packet.transport, FT_TRANSPORT_IB);
}

/* The LPCRC is the VCRC's CRC-16 over four bytes, low byte first: 39e0 of 1001 2003, made by a generator. */
static void a_link_packet_has_its_fields_and_its_crc(void **state)
{
	static const struct {
		const char *hex;
		unsigned op, fctbs, vl, fccl;
		bool good;
	} rows[] = {
		{ "1001 2003 39e0", 1, 0x001, 2, 0x003, true },
		{ "0fff 1abc 9dc3", 0, 0xfff, 1, 0xabc, true },
		{ "0fff 1abc 9cc3", 0, 0xfff, 1, 0xabc, false },
		{ "0fff 1abc 9dc2", 0, 0xfff, 1, 0xabc, false },
		{ "0fff 1abd 9dc3", 0, 0xfff, 1, 0xabd, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_packet packet;
		char hex[128];

		snprintf(hex, sizeof hex, ERF(19, 04, 0016, 0000, 0006) "%s", rows[i].hex);
		decode_erf(hex, &packet);
		assert_int_equal(packet.transport, FT_TRANSPORT_IB_LINK);
		assert_int_equal(packet.link.op, rows[i].op);
		assert_int_equal(packet.link.fctbs, rows[i].fctbs);
		assert_int_equal(packet.link.vl, rows[i].vl);
		assert_int_equal(packet.link.fccl, rows[i].fccl);
		assert_true(packet.link.lpcrc_known);
		assert_int_equal(packet.link.lpcrc_good, rows[i].good);
		assert_int_equal(packet.alerts, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ethernet_is_behind_two_bytes_and_ends_in_its_fcs),
		cmocka_unit_test(records_hold_what_their_type_says),
		cmocka_unit_test(the_fields_of_the_header_are_read),
		cmocka_unit_test(a_link_packet_has_its_fields_and_its_crc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
