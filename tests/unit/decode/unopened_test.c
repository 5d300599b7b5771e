#include "frame_rows.h"

#define INNER_ETHER ETH(0800) INNER
#define INNER                                                                                      \
	IPV4(002c, 11)                                                                             \
	UDP(12b7, 0018) "04 00 ffff 00 000011 00 000001 00*4 "
#define NO_IP "00*12 "

static void what_nothing_reads_on_is_named(void **state)
{
	static const struct frame_row rows[] = {
		{ "MACsec", 1, 0, ETH(88e5) "2c00 00000001 020000000001 0001 " INNER,
		  .stack = "eth", .unopened = FT_UNOPENED_MACSEC },
		{ "MACsec behind a tag", 1, 0, ETH(8100) "0005 88e5 2c00 00000001 " INNER,
		  .stack = "eth,vlan:5", .unopened = FT_UNOPENED_MACSEC },
		{ "PPPoE", 1, 0, ETH(8864) "1100 0001 002e 0021 " INNER, .stack = "eth",
		  .unopened = FT_UNOPENED_PPPOE },
		{ "PBB", 1, 0, ETH(88e7) "00000005 " INNER_ETHER, .stack = "eth",
		  .unopened = FT_UNOPENED_PBB },
		{ "TRILL", 1, 0, ETH(22f3) "003f 0001 0002 " INNER_ETHER, .stack = "eth",
		  .unopened = FT_UNOPENED_TRILL },
		{ "FabricPath", 1, 0, ETH(8903) "0001 " INNER_ETHER, .stack = "eth",
		  .unopened = FT_UNOPENED_FABRIC_PATH },
		{ "VN-Tag", 1, 0, ETH(8926) "00000001 0800 " INNER, .stack = "eth",
		  .unopened = FT_UNOPENED_VN_TAG },
		{ "E-TAG", 1, 0, ETH(893f) "0000 0001 0000 0800 " INNER, .stack = "eth",
		  .unopened = FT_UNOPENED_E_TAG },
		{ "HSR", 1, 0, ETH(892f) "0034 0001 0800 " INNER, .stack = "eth",
		  .unopened = FT_UNOPENED_HSR },
		{ "R-TAG", 1, 0, ETH(f1c1) "0000 0001 0800 " INNER, .stack = "eth",
		  .unopened = FT_UNOPENED_R_TAG },
		{ "NSH", 1, 0, ETH(894f) "0fc6 0103 00000001 00*16 " INNER_ETHER, .stack = "eth",
		  .unopened = FT_UNOPENED_NSH },
		{ "a pseudowire", 1, 0, ETH(8847) "00005140 00000000 " INNER_ETHER,
		  .stack = "eth,mpls:5", .unopened = FT_UNOPENED_MPLS },
		{ "IPv4 in IPv4", 1, 0, ETH(0800) IPV4(0040, 04) INNER, .stack = "eth,ipv4",
		  .unopened = FT_UNOPENED_IP_IN_IP },
		{ "IPv6 in IPv4", 1, 0, ETH(0800) IPV4(003c, 29) IPV6(0000, 3b),
		  .stack = "eth,ipv4", .unopened = FT_UNOPENED_IP_IN_IP },
		{ "IPv4 in IPv6", 1, 0, ETH(86dd) IPV6(002c, 04) INNER, .stack = "eth,ipv6",
		  .unopened = FT_UNOPENED_IP_IN_IP },
		{ "ESP", 1, 0, ETH(0800) IPV4(0040, 32) INNER, .stack = "eth,ipv4",
		  .unopened = FT_UNOPENED_ESP },
		{ "ESP of which nothing was captured", 1, 0x2c, ETH(0800) IPV4(0040, 32),
		  .stack = "eth,ipv4", .unopened = FT_UNOPENED_ESP },
		{ "AH", 1, 0, ETH(0800) IPV4(0040, 33) INNER, .stack = "eth,ipv4",
		  .unopened = FT_UNOPENED_AH },
		{ "EtherIP", 1, 0, ETH(0800) IPV4(0050, 61) "3000 " INNER_ETHER "0000",
		  .stack = "eth,ipv4", .unopened = FT_UNOPENED_ETHERIP },
		{ "L2TP in IP", 1, 0, ETH(0800) IPV4(0040, 73) INNER, .stack = "eth,ipv4",
		  .unopened = FT_UNOPENED_L2TP },
		{ "MPLS in IP", 1, 0, ETH(0800) IPV4(0044, 89) "00005140 " INNER,
		  .stack = "eth,ipv4", .unopened = FT_UNOPENED_MPLS },
		{ "PSP", 1, 0, ETH(0800) IPV4(0028, 11) UDP(03e8, 0014) NO_IP,
		  .stack = "eth,ipv4,udp", .unopened = FT_UNOPENED_PSP },
		{ "L2TP in UDP", 1, 0, ETH(0800) IPV4(0028, 11) UDP(06a5, 0014) NO_IP,
		  .stack = "eth,ipv4,udp", .unopened = FT_UNOPENED_L2TP },
		{ "GTP-U", 1, 0, ETH(0800) IPV4(0028, 11) UDP(0868, 0014) NO_IP,
		  .stack = "eth,ipv4,udp", .unopened = FT_UNOPENED_GTP_U },
		{ "LISP", 1, 0, ETH(0800) IPV4(0028, 11) UDP(10f5, 0014) NO_IP,
		  .stack = "eth,ipv4,udp", .unopened = FT_UNOPENED_LISP },
		{ "ESP in UDP", 1, 0, ETH(0800) IPV4(0028, 11) UDP(1194, 0014) NO_IP,
		  .stack = "eth,ipv4,udp", .unopened = FT_UNOPENED_ESP },
		{ "GRE in UDP", 1, 0, ETH(0800) IPV4(0028, 11) UDP(1292, 0014) NO_IP,
		  .stack = "eth,ipv4,udp", .unopened = FT_UNOPENED_GRE_IN_UDP },
		{ "GUE", 1, 0, ETH(0800) IPV4(0028, 11) UDP(17c0, 0014) NO_IP,
		  .stack = "eth,ipv4,udp", .unopened = FT_UNOPENED_GUE },
		{ "MPLS in UDP", 1, 0, ETH(0800) IPV4(0028, 11) UDP(19eb, 0014) NO_IP,
		  .stack = "eth,ipv4,udp", .unopened = FT_UNOPENED_MPLS },
		{ "WireGuard", 1, 0, ETH(0800) IPV4(0028, 11) UDP(ca6c, 0014) NO_IP,
		  .stack = "eth,ipv4,udp", .unopened = FT_UNOPENED_WIREGUARD },
		{ "MPLS in GRE", 1, 0, ETH(0800) IPV4(0048, 2f) "0000 8847 00005140 " INNER,
		  .stack = "eth,ipv4,gre:8847", .unopened = FT_UNOPENED_GRE },
		{ "NSH in VXLAN-GPE", 1, 0,
		  ETH(0800) IPV4(0030, 11) UDP(12b6, 001c) "0c000004 000005 00 " NO_IP,
		  .stack = "eth,ipv4,udp,vxlan:5", .unopened = FT_UNOPENED_VXLAN_GPE },
		{ "MPLS in GENEVE", 1, 0,
		  ETH(0800) IPV4(0030, 11) UDP(17c1, 001c) "0000 8847 000005 00 " NO_IP,
		  .stack = "eth,ipv4,udp,geneve:5", .unopened = FT_UNOPENED_GENEVE },
		{ "MACsec in VXLAN", 1, 0,
		  ETH(0800) IPV4(0032, 11) UDP(12b5, 001e) "08000000 000005 00 " ETH(88e5),
		  .stack = "eth,ipv4,udp,vxlan:5,eth", .unopened = FT_UNOPENED_MACSEC },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

static void what_holds_no_packets_is_not(void **state)
{
	static const struct frame_row rows[] = {
		{ "ARP", 1, 0, ETH(0806) "00*28", .stack = "eth" },
		{ "LLDP", 1, 0, ETH(88cc) "00*46", .stack = "eth" },
		{ "PPPoE discovery", 1, 0, ETH(8863) "1109 0000 0000", .stack = "eth" },
		{ "TCP", 1, 0, ETH(0800) IPV4(0028, 06) "00*20", .stack = "eth,ipv4" },
		{ "DNS", 1, 0, ETH(0800) IPV4(001c, 11) UDP(0035, 0008), .stack = "eth,ipv4,udp" },
		{ "RoCEv2", 1, 0, ETH(0800) INNER, .stack = "eth,ipv4,udp,bth" },
		{ "a fragment of ESP: broken before", 1, 0,
		  ETH(0800) "4500 0018 0000 2000 40 32 0000 " ADDRESSES "00*4", .stack = "eth,ipv4",
		  .malformed = FT_IP_FRAGMENT },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

static void every_kind_has_a_name_of_its_own(void **state)
{
	(void)state;
	assert_null(ft_unopened_name(FT_UNOPENED_NONE));
	for (unsigned i = 1; i < FT_UNOPENED_KINDS; i++) {
		assert_non_null(ft_unopened_name((enum ft_unopened)i));
		for (unsigned k = 1; k < i; k++)
			assert_string_not_equal(ft_unopened_name((enum ft_unopened)i),
						ft_unopened_name((enum ft_unopened)k));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nothing_reads_on_is_named),
		cmocka_unit_test(what_holds_no_packets_is_not),
		cmocka_unit_test(every_kind_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
