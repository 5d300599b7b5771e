#include "frame_rows.h"

#define OPTION(next)  #next " 00 000000000000 "
#define SEVEN_OPTIONS OPTION(00) OPTION(2b) OPTION(3c) OPTION(3c) OPTION(3c) OPTION(3c) OPTION(3c)
#define BTH_AND_ICRC  "04 00 ffff 00 000011 00 000001 00*4 "
#define ROCE          UDP(12b7, 0018) BTH_AND_ICRC
#define DNS           UDP(0035, 0008)

static void ip_and_udp_rules_hold_in_their_order(void **state)
{
	static const struct frame_row rows[] = {
		{ "RoCEv2 over IPv4", 1, 0, ETH(0800) IPV4(002c, 11) ROCE,
		  .stack = "eth,ipv4,udp,bth" },
		{ "RoCEv2 with Ethernet padding", 1, 0, ETH(0800) IPV4(002c, 11) ROCE "00*18",
		  .stack = "eth,ipv4,udp,bth" },
		{ "19 bytes of IPv4", 1, 0, ETH(0800) "45*19", .stack = "eth",
		  .malformed = FT_IP_SHORT },
		{ "19 captured bytes of IPv4", 1, 1, ETH(0800) "45*19", .stack = "eth",
		  .truncated = FT_CUT_IPV4 },
		{ "version 6 under 0x0800", 1, 0, ETH(0800) "65*20", .stack = "eth",
		  .malformed = FT_IP_BAD_VERSION },
		{ "IHL 4", 1, 0, ETH(0800) "44*20", .stack = "eth", .malformed = FT_IP_BAD_IHL },
		{ "total length 19", 1, 0, ETH(0800) IPV4(0013, 11) ROCE, .stack = "eth,ipv4",
		  .malformed = FT_IP_BAD_LENGTH },
		{ "total length one too long", 1, 0, ETH(0800) IPV4(002d, 11) ROCE,
		  .stack = "eth,ipv4", .malformed = FT_IP_BAD_LENGTH },
		{ "that last byte was not captured", 1, 1,
		  ETH(0800) IPV4(002d, 11) UDP(12b7, 0019) BTH_AND_ICRC,
		  .stack = "eth,ipv4,udp,bth", .malformed = FT_UNALIGNED_LENGTH,
		  .truncated = FT_CUT_ICRC },
		{ "total length shorter than the options", 1, 0,
		  ETH(0800) "4600 0017 0000 4000 40 02 0000 " ADDRESSES "94040000",
		  .stack = "eth,ipv4", .malformed = FT_IP_BAD_LENGTH },
		{ "options that were not captured", 1, 12,
		  ETH(0800) "4600 0020 0000 4000 40 02 0000 " ADDRESSES, .stack = "eth",
		  .truncated = FT_CUT_IPV4 },
		{ "options are legal for IGMP", 1, 0,
		  ETH(0800) "4600 0020 0000 4000 01 02 0000 " ADDRESSES "94040000 00*8",
		  .stack = "eth,ipv4" },
		{ "options are not legal for RoCEv2", 1, 0,
		  ETH(0800) "4600 0030 0000 4000 40 11 0000 " ADDRESSES "94040000" ROCE,
		  .stack = "eth,ipv4,udp,bth", .malformed = FT_IP_OPTIONS },
		{ "more fragments", 1, 0,
		  ETH(0800) "4500 002c 0000 2000 40 11 0000 " ADDRESSES ROCE, .stack = "eth,ipv4",
		  .malformed = FT_IP_FRAGMENT },
		{ "a later fragment", 1, 0,
		  ETH(0800) "4500 002c 0000 0001 40 11 0000 " ADDRESSES ROCE, .stack = "eth,ipv4",
		  .malformed = FT_IP_FRAGMENT },
		{ "39 bytes of IPv6", 1, 0, ETH(86dd) "60*39", .stack = "eth",
		  .malformed = FT_IP_SHORT },
		{ "version 4 under 0x86dd", 1, 0, ETH(86dd) "45*40", .stack = "eth",
		  .malformed = FT_IP_BAD_VERSION },
		{ "payload length one too long", 1, 0, ETH(86dd) IPV6(0019, 11) ROCE,
		  .stack = "eth,ipv6", .malformed = FT_IP_BAD_LENGTH },
		{ "no UDP checksum over IPv6", 1, 0, ETH(86dd) IPV6(0018, 11) ROCE,
		  .stack = "eth,ipv6,udp,bth", .alerts = FT_ALERT_UDP6_ZERO_CHECKSUM },
		{ "eight extension headers", 1, 0,
		  ETH(86dd) IPV6(0048, 00) SEVEN_OPTIONS OPTION(11) DNS, .stack = "eth,ipv6,udp",
		  .alerts = FT_ALERT_UDP6_ZERO_CHECKSUM },
		{ "a ninth is one too many", 1, 0,
		  ETH(86dd) IPV6(0050, 00) SEVEN_OPTIONS OPTION(3c) OPTION(11) DNS,
		  .stack = "eth,ipv6", .malformed = FT_IP_EXT_TOO_DEEP },
		{ "an extension header past the datagram", 1, 0,
		  ETH(86dd) IPV6(0008, 00) "11 01 00*6", .stack = "eth,ipv6",
		  .malformed = FT_IP_BAD_LENGTH },
		{ "an extension header past the capture", 1, 8,
		  ETH(86dd) IPV6(0010, 00) "11 01 00*6", .stack = "eth,ipv6",
		  .truncated = FT_CUT_IPV6 },
		{ "an extension header of 24 bytes", 1, 0,
		  ETH(86dd) IPV6(0020, 00) "11 02 00*22" DNS, .stack = "eth,ipv6,udp",
		  .alerts = FT_ALERT_UDP6_ZERO_CHECKSUM },
		{ "seven bytes of an extension header", 1, 0, ETH(86dd) IPV6(0007, 3c) "11*7",
		  .stack = "eth,ipv6", .malformed = FT_IP_BAD_LENGTH },
		{ "half an extension header", 1, 0, ETH(86dd) IPV6(0004, 3c) "11000000",
		  .stack = "eth,ipv6", .malformed = FT_IP_BAD_LENGTH },
		{ "an extension header cut in its first eight bytes", 1, 12,
		  ETH(86dd) IPV6(0010, 3c) "11000000", .stack = "eth,ipv6",
		  .truncated = FT_CUT_IPV6 },
		{ "an IPv6 fragment", 1, 0, ETH(86dd) IPV6(0010, 2c) "00*16", .stack = "eth,ipv6",
		  .malformed = FT_IP_FRAGMENT },
		{ "ESP is not followed", 1, 0, ETH(86dd) IPV6(0010, 32) "00*16",
		  .stack = "eth,ipv6", .unopened = FT_UNOPENED_ESP },
		{ "seven bytes of UDP", 1, 0, ETH(0800) IPV4(001b, 11) "00*7", .stack = "eth,ipv4",
		  .malformed = FT_UDP_SHORT },
		{ "UDP that was not captured", 1, 8, ETH(0800) IPV4(001c, 11), .stack = "eth,ipv4",
		  .truncated = FT_CUT_UDP },
		{ "UDP length 7", 1, 0, ETH(0800) IPV4(001c, 11) UDP(12b7, 0007),
		  .stack = "eth,ipv4,udp", .malformed = FT_UDP_BAD_LENGTH },
		{ "UDP length past the datagram", 1, 0, ETH(0800) IPV4(001c, 11) UDP(12b7, 0009),
		  .stack = "eth,ipv4,udp", .malformed = FT_UDP_BAD_LENGTH },
		{ "UDP length short of the datagram", 1, 0,
		  ETH(0800) IPV4(001d, 11) UDP(12b7, 0008) "00", .stack = "eth,ipv4,udp",
		  .malformed = FT_UDP_LENGTH_MISMATCH },
		{ "the same for a port that is not RoCE's", 1, 0,
		  ETH(0800) IPV4(001d, 11) UDP(0035, 0008) "00", .stack = "eth,ipv4,udp",
		  .malformed = FT_UDP_LENGTH_MISMATCH },
		{ "15 bytes are no BTH with ICRC", 1, 0,
		  ETH(0800) IPV4(002b, 11) UDP(12b7, 0017) "00*15", .stack = "eth,ipv4,udp",
		  .malformed = FT_BTH_SHORT },
		{ "source port 4791 is not RoCE", 1, 0,
		  ETH(0800) IPV4(002c, 11) "12b7 0035 0018 0000" BTH_AND_ICRC,
		  .stack = "eth,ipv4,udp" },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

static struct ft_packet decode_with(const struct ft_decode_config *config, const char *hex)
{
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = { .bytes = bytes, .link_type = 1, .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;
	struct ft_packet packet;

	input.captured = input.wire = (uint32_t)frame_bytes(hex, bytes);
	ft_decode(config, &input, &packet, &rest);
	return packet;
}

static void checksums_are_judged_but_stop_nothing(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	/* RFC 1071 by hand: 4500 001d 0000 4000 4011 0a00 0001 0a00 0002 -> 26ce; UDP of one byte, odd on purpose */
	const char *good =
		ETH(0800) "4500 001d 0000 4000 40 11 26ce " ADDRESSES "c000 0035 0009 daa3 51";
	const char *bad =
		ETH(0800) "4500 001d 0000 4000 40 11 26cf " ADDRESSES "c000 0035 0009 daa4 51";

	(void)state;
	assert_int_equal(decode_with(&config, good).alerts, 0);
	assert_int_equal(decode_with(&config, bad).alerts,
			 FT_ALERT_IP_BAD_CHECKSUM | FT_ALERT_UDP_BAD_CHECKSUM);
}

/*
 * CRC-32 of eight bytes of ones, the IPv6 header, its extension headers, UDP, BTH and payload, where traffic class, flow
 * label, hop limit, UDP checksum and byte 4 of the BTH are ones: computed with zlib. With extension headers nothing defines
 * that, so another one is not known to be wrong.
 */
static void the_icrc_may_cover_ipv6_extension_headers(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
#define PACKET     UDP(12b7, 001c) "04 00 ffff 00 000011 00 000001 01020304 "
#define HOP_BY_HOP "11 00 01 04 00000000 "
	static const struct {
		const char *hex;
		enum ft_check icrc;
	} rows[] = {
		{ ETH(86dd) IPV6(001c, 11) PACKET "ddb2ee86", FT_CHECK_GOOD },
		{ ETH(86dd) IPV6(001c, 11) PACKET "ddb2ee87", FT_CHECK_BAD },
		{ ETH(86dd) IPV6(0024, 00) HOP_BY_HOP PACKET "006f2b37", FT_CHECK_GOOD },
		{ ETH(86dd) IPV6(0024, 00) "11 00 01 04 00000001 " PACKET "006f2b37",
		  FT_CHECK_UNKNOWN },
		{ ETH(86dd) "6ab12345 0024 00 01 fd*16 fe*16 " HOP_BY_HOP PACKET "006f2b37",
		  FT_CHECK_GOOD },
		{ ETH(86dd) IPV6(0024, 00) HOP_BY_HOP PACKET "006f2b38", FT_CHECK_UNKNOWN },
	};
#undef PACKET
#undef HOP_BY_HOP

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(decode_with(&config, rows[i].hex).icrc_check, rows[i].icrc);
}

static void roce_ports_are_a_list(void **state)
{
	struct ft_decode_config config = { .roce_ports = { 4791, 53 }, .roce_port_count = 2 };
	const char *frame = ETH(0800) IPV4(002c, 11) UDP(0035, 0018) BTH_AND_ICRC;

	(void)state;
	assert_int_equal(decode_with(&config, frame).transport, FT_TRANSPORT_ROCE2);
	config.roce_port_count = 1;
	assert_int_equal(decode_with(&config, frame).transport, FT_TRANSPORT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ip_and_udp_rules_hold_in_their_order),
		cmocka_unit_test(checksums_are_judged_but_stop_nothing),
		cmocka_unit_test(the_icrc_may_cover_ipv6_extension_headers),
		cmocka_unit_test(roce_ports_are_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
