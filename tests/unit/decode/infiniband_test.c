#include "frame_rows.h"

#define LRH(lnh, words)       "01 0" #lnh " 0002 " #words " 0001 "
#define BTH                   "04 00 ffff 00 000011 00 000001 "
#define ICRC                  "00*4 "
#define VCRC                  "00*2 "
#define ERF(type, rlen, wlen) "00*8 " #type " 04 " #rlen " 0000 " #wlen " "
#define ERF_LAST(type)        #type " 00*7 "

static void native_packets_end_where_the_lrh_says(void **state)
{
	static const struct frame_row rows[] = {
		{ "local", 247, 0, "00 02 0002 0006 0001 " BTH ICRC VCRC, .stack = "lrh,bth" },
		{ "a capturer may drop the VCRC", 247, 0, "00 02 0002 0006 0001 " BTH ICRC,
		  .stack = "lrh,bth" },
		{ "it was there but not captured", 247, 2, "00 02 0002 0006 0001 " BTH ICRC,
		  .stack = "lrh,bth", .truncated = FT_CUT_VCRC },
		{ "half of it was captured", 247, 1, "00 02 0002 0006 0001 " BTH ICRC "00",
		  .stack = "lrh,bth", .truncated = FT_CUT_VCRC },
		{ "global", 247, 0, "00 03 0002 0010 0001 " GRH(0010, 1b) BTH ICRC VCRC,
		  .stack = "lrh,grh,bth" },
		{ "seven bytes", 247, 0, "00*7", .stack = "", .malformed = FT_LRH_SHORT },
		{ "seven captured bytes", 247, 30, "00*7", .stack = "", .truncated = FT_CUT_LRH },
		{ "link version 1 comes before a bad length", 247, 0, LRH(2, 00ff) BTH ICRC,
		  .stack = "lrh", .malformed = FT_LRH_BAD_LVER },
		{ "a length past the wire", 247, 0, "00 02 0002 0007 0001 " BTH ICRC VCRC,
		  .stack = "lrh", .malformed = FT_LRH_BAD_PKTLEN },
		{ "a length past the capture", 247, 4, "00 02 0002 0007 0001 " BTH ICRC,
		  .stack = "lrh,bth", .truncated = FT_CUT_ICRC },
		{ "reserved bits above the length", 247, 0, "00 02 0002 f806 0001 " BTH ICRC,
		  .stack = "lrh,bth" },
		{ "five words hold no local packet", 247, 0, "00 02 0002 0005 0001 " BTH ICRC,
		  .stack = "lrh", .malformed = FT_LRH_BAD_PKTLEN },
		{ "fifteen words hold no global packet", 247, 0,
		  "00 03 0002 000f 0001 " GRH(000c, 1b) BTH, .stack = "lrh",
		  .malformed = FT_LRH_BAD_PKTLEN },
		{ "a GRH payload past the LRH's end", 247, 0,
		  "00 03 0002 0010 0001 " GRH(0014, 1b) BTH ICRC "00*4", .stack = "lrh,grh",
		  .malformed = FT_GRH_BAD_PAYLEN },
		{ "raw with an EtherType", 247, 0, "00 00 0002 0003 0001 0000 0800",
		  .stack = "lrh,rwh" },
		{ "two words hold no raw header", 247, 0, "00 00 0002 0002 0001 0000 0800",
		  .stack = "lrh", .malformed = FT_LRH_BAD_PKTLEN },
		{ "twelve words hold raw IPv6", 247, 0, "00 01 0002 000c 0001 " IPV6(0000, 3b),
		  .stack = "lrh,ipv6" },
		{ "eleven do not", 247, 0, "00 01 0002 000b 0001 " IPV6(0000, 3b), .stack = "lrh",
		  .malformed = FT_LRH_BAD_PKTLEN },
		{ "raw IPv6 is no RoCE", 247, 0,
		  "00 01 0002 0014 0001 " IPV6(0020, 11) UDP(12b7, 0020) BTH ICRC "00*8",
		  .stack = "lrh,ipv6,udp", .alerts = FT_ALERT_UDP6_ZERO_CHECKSUM },
		{ "a mirrored packet in a raw one", 247, 0,
		  "00 00 0002 000a 0001 0000 1123 00*4 00 02 0002 0006 0001 " BTH ICRC VCRC,
		  .stack = "lrh,rwh,mirror1123,lrh,bth" },
		{ "a raw header that was not captured", 247, 4, "00 00 0002 0003 0001",
		  .stack = "lrh", .truncated = FT_CUT_RWH },
		{ "no prefix in front of it", 247, 0, "00 00 0002 0003 0001 0000 1123",
		  .stack = "lrh,rwh", .malformed = FT_LRH_BAD_PKTLEN },
		{ "it is as long as the mirror's packet says", 247, 0,
		  "00 00 0002 0009 0001 0000 1123 00*4 00 02 0002 0006 0001 " BTH VCRC,
		  .stack = "lrh,rwh,mirror1123,lrh", .malformed = FT_LRH_BAD_PKTLEN },
		{ "so what the capture lacks of it was cut", 247, 6,
		  "00 00 0002 000a 0001 0000 1123 00*4 00 02 0002 0006 0001 " BTH,
		  .stack = "lrh,rwh,mirror1123,lrh,bth", .truncated = FT_CUT_ICRC },
		{ "no VCRC was cut behind it: that is the mirror's", 247, 4,
		  "00 00 0002 000b 0001 0000 1123 00*4 00 02 0002 0006 0001 " BTH ICRC,
		  .stack = "lrh,rwh,mirror1123,lrh,bth" },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

/* The packet of a mirror has no VCRC, whatever stands between its end and the mirror's. */
static void a_mirrored_packet_has_no_vcrc(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static const struct {
		const char *hex;
		bool has_vcrc;
	} rows[] = {
		{ "00 00 0002 000b 0001 0000 1123 00*4 00 02 0002 0006 0001 " BTH ICRC "00*4 " VCRC,
		  false },
		{ "00 02 0002 0006 0001 " BTH ICRC VCRC, true },
	};
	uint8_t bytes[FRAME_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_decode_input input = { .bytes = bytes,
						 .link_type = 247,
						 .ts_ns = UINT64_MAX };
		struct ft_decode_rest rest;
		struct ft_packet packet;

		input.captured = input.wire = (uint32_t)frame_bytes(rows[i].hex, bytes);
		ft_decode(&config, &input, &packet, &rest);
		assert_true((packet.has & FT_HAS_BTH) != 0);
		assert_int_equal((packet.has & FT_HAS_VCRC) != 0, rows[i].has_vcrc);
		assert_int_equal(packet.vcrc_check,
				 rows[i].has_vcrc ? FT_CHECK_BAD : FT_CHECK_UNKNOWN);
	}
}

static void grh_rules_hold_in_their_order(void **state)
{
	static const struct frame_row rows[] = {
		{ "RoCEv1", 1, 0, ETH(8915) GRH(0010, 1b) BTH ICRC, .stack = "eth,grh,bth" },
		{ "39 bytes", 1, 0, ETH(8915) "60*39", .stack = "eth", .malformed = FT_GRH_SHORT },
		{ "39 captured bytes", 1, 20, ETH(8915) "60*39", .stack = "eth",
		  .truncated = FT_CUT_GRH },
		{ "the version comes first", 1, 0, ETH(8915) "50000000 ffff 00 40 fd*16 fe*16",
		  .stack = "eth,grh", .malformed = FT_GRH_BAD_IPVER },
		{ "the next header comes before the length", 1, 0, ETH(8915) GRH(ffff, 3b),
		  .stack = "eth,grh", .malformed = FT_GRH_BAD_NXTHDR },
		{ "the length comes before the BTH", 1, 0, ETH(8915) GRH(0004, 1b),
		  .stack = "eth,grh", .malformed = FT_GRH_BAD_PAYLEN },
		{ "no room for BTH and ICRC", 1, 0, ETH(8915) GRH(000f, 1b) BTH ICRC,
		  .stack = "eth,grh", .malformed = FT_BTH_SHORT },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

static void erf_records_bound_what_they_hold(void **state)
{
#define EIGHT_EXTENSIONS                                                                           \
	ERF_LAST(90)                                                                               \
	ERF_LAST(90) ERF_LAST(90) ERF_LAST(90) ERF_LAST(90) ERF_LAST(90) ERF_LAST(90) ERF_LAST(90)
#define LOCAL "00 02 0002 0006 0001 " BTH ICRC
	static const struct frame_row rows[] = {
		{ "InfiniBand", 197, 0, ERF(15, 002a, 001a) LOCAL VCRC, .stack = "erf:21,lrh,bth" },
		{ "padding behind the packet is not the VCRC", 197, 0,
		  ERF(15, 0030, 0018) LOCAL "00*8", .stack = "erf:21,lrh,bth" },
		{ "the packet was longer than the record", 197, 0,
		  ERF(15, 0028, 0020) "00 02 0002 0007 0001 " BTH ICRC, .stack = "erf:21,lrh,bth",
		  .truncated = FT_CUT_ICRC },
		{ "15 bytes", 197, 0, "00*15", .stack = "", .malformed = FT_ERF_SHORT },
		{ "15 captured bytes", 197, 40, "00*15", .stack = "", .truncated = FT_CUT_ERF },
		{ "a record shorter than its header", 197, 0, ERF(15, 000f, 0018) LOCAL,
		  .stack = "", .malformed = FT_ERF_BAD_RLEN },
		{ "no room for the two bytes in front of Ethernet", 197, 0,
		  ERF(02, 0011, 0040) "00*64", .stack = "", .malformed = FT_ERF_BAD_RLEN },
		{ "Ethernet behind offset and pad, with its FCS", 197, 0,
		  ERF(02, 0052, 0040) "0000 " ETH(88cc) "00*50", .stack = "erf:2,eth" },
		{ "IPv6", 197, 0, ERF(17, 0038, 0028) IPV6(0000, 3b), .stack = "erf:23,ipv6" },
		{ "an unknown type is not followed", 197, 0, ERF(1b, 0030, 0020) "00*32",
		  .stack = "erf:27" },
		{ "extension headers past the record", 197, 0,
		  ERF(95, 0018, 0018) ERF_LAST(90) ERF_LAST(10), .stack = "",
		  .malformed = FT_ERF_EXT_OVERRUN },
		{ "extension headers past the capture", 197, 40, ERF(95, 0048, 0018) ERF_LAST(90),
		  .stack = "", .truncated = FT_CUT_ERF },
		{ "64 extension headers", 197, 0,
		  ERF(95, 0228, 0018)
			  EIGHT_EXTENSIONS EIGHT_EXTENSIONS EIGHT_EXTENSIONS EIGHT_EXTENSIONS
				  EIGHT_EXTENSIONS EIGHT_EXTENSIONS EIGHT_EXTENSIONS ERF_LAST(90)
					  ERF_LAST(90) ERF_LAST(90) ERF_LAST(90) ERF_LAST(90)
						  ERF_LAST(90) ERF_LAST(90) ERF_LAST(10) LOCAL,
		  .stack = "erf:21,lrh,bth" },
		{ "a 65th is one too many", 197, 0,
		  ERF(95, 0230, 0018) EIGHT_EXTENSIONS EIGHT_EXTENSIONS EIGHT_EXTENSIONS
			  EIGHT_EXTENSIONS EIGHT_EXTENSIONS EIGHT_EXTENSIONS EIGHT_EXTENSIONS
				  EIGHT_EXTENSIONS ERF_LAST(10) LOCAL,
		  .stack = "", .malformed = FT_ERF_EXT_OVERRUN },
		{ "a link packet", 197, 0, ERF(19, 0016, 0006) "1001 2003 0000",
		  .stack = "erf:25" },
		{ "a link packet of a reserved kind", 197, 0, ERF(19, 0016, 0006) "2001 2003 0000",
		  .stack = "erf:25", .alerts = FT_ALERT_LINK_OP_RESERVED },
		{ "a link packet that was cut", 197, 0, ERF(19, 0014, 0006) "1001 2003",
		  .stack = "erf:25", .truncated = FT_CUT_LINK },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(native_packets_end_where_the_lrh_says),
		cmocka_unit_test(a_mirrored_packet_has_no_vcrc),
		cmocka_unit_test(grh_rules_hold_in_their_order),
		cmocka_unit_test(erf_records_bound_what_they_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
