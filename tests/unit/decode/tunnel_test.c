#include "frame_rows.h"

#define INNER                ETH(0800) IPV4(002c, 11) UDP(12b7, 0018) "04 00 ffff 00 000011 00 000001 00*4 "
#define INNER_LONGER         ETH(0800) IPV4(012c, 11) UDP(12b7, 0118) "04 00 ffff 00 000011 00 000001 00*4 "
#define OUTER                ETH(0800) "4500 0300 0000 4000 40 2f 0000 " ADDRESSES
#define MORE                 0x400 /* the outer datagrams claim 768 bytes; the rest was not captured */
#define GRE(flags, protocol) OUTER #flags " " #protocol " "
#define VXLAN                "08000000 000005 00 "
#define UDP_OUTER(port)                                                                            \
	ETH(0800) "4500 0300 0000 4000 40 11 0000 " ADDRESSES "c000 " #port " 02ec 0000 "
#define ERSPAN3(flags) "2005 2c01 00000001 0000 " #flags " "
#define TZSP           "01 00 0001 "

static void tunnels_are_peeled(void **state)
{
	static const struct frame_row rows[] = {
		{ "GRE-TEB", 1, MORE, GRE(0000, 6558) INNER,
		  .stack = "eth,ipv4,gre:6558,eth,ipv4,udp,bth" },
		{ "GRE-TEB with key and sequence is no NVGRE", 1, MORE,
		  GRE(3000, 6558) "00000500 00000001" INNER,
		  .stack = "eth,ipv4,gre:6558,eth,ipv4,udp,bth" },
		{ "NVGRE has a key and nothing else", 1, MORE, GRE(2000, 6558) "00000511" INNER,
		  .stack = "eth,ipv4,gre:6558,nvgre:5,eth,ipv4,udp,bth" },
		{ "GRE version 1", 1, MORE, GRE(0001, 880b) INNER, .stack = "eth,ipv4",
		  .malformed = FT_GRE_BAD_VERSION },
		{ "GRE routing", 1, MORE, GRE(4000, 6558) INNER, .stack = "eth,ipv4",
		  .malformed = FT_GRE_ROUTING },
		{ "GRE routing and version 1: the version is looked at first", 1, MORE,
		  GRE(4001, 6558) INNER, .stack = "eth,ipv4", .malformed = FT_GRE_BAD_VERSION },
		{ "three bytes of GRE", 1, 0, ETH(0800) IPV4(0017, 2f) "000065",
		  .stack = "eth,ipv4", .malformed = FT_GRE_SHORT },
		{ "a GRE key past the datagram", 1, 0, ETH(0800) IPV4(0018, 2f) "2000 6558",
		  .stack = "eth,ipv4", .malformed = FT_GRE_SHORT },
		{ "a GRE key past the capture", 1, MORE, GRE(2000, 6558) "0000",
		  .stack = "eth,ipv4", .truncated = FT_CUT_GRE },
		{ "an unknown GRE protocol is not followed", 1, MORE, GRE(0000, 880b) "00*20",
		  .stack = "eth,ipv4,gre:880b", .unopened = FT_UNOPENED_GRE },
		{ "IPv4 in GRE", 1, MORE,
		  GRE(0000, 0800) IPV4(002c, 11)
			  UDP(12b7, 0018) "04 00 ffff 00 000011 00 000001 00*4",
		  .stack = "eth,ipv4,gre:0800,ipv4,udp,bth" },
		{ "ERSPAN I has no header", 1, MORE, GRE(0000, 88be) INNER,
		  .stack = "eth,ipv4,gre:88be,erspan1,eth,ipv4,udp,bth" },
		{ "ERSPAN II", 1, MORE, GRE(1000, 88be) "00000001 1005 0001 00000000" INNER,
		  .stack = "eth,ipv4,gre:88be,erspan2,eth,ipv4,udp,bth" },
		{ "ERSPAN II of version 2", 1, MORE,
		  GRE(1000, 88be) "00000001 2005 0001 00000000" INNER, .stack = "eth,ipv4,gre:88be",
		  .malformed = FT_ERSPAN_BAD_VERSION },
		{ "a cut ERSPAN II", 1, MORE, GRE(1000, 88be) "00000001 1005",
		  .stack = "eth,ipv4,gre:88be", .truncated = FT_CUT_ERSPAN2 },
		{ "ERSPAN III with a sub-header", 1, MORE,
		  GRE(0000, 22eb) ERSPAN3(8001) "04000000 00000000" INNER,
		  .stack = "eth,ipv4,gre:22eb,erspan3,eth,ipv4,udp,bth" },
		{ "ERSPAN III around IP", 1, MORE, GRE(0000, 22eb) ERSPAN3(8800) IPV6(0000, 3b),
		  .stack = "eth,ipv4,gre:22eb,erspan3,ipv6" },
		{ "ERSPAN III around IP of which nothing was captured", 1, MORE,
		  GRE(0000, 22eb) ERSPAN3(8800), .stack = "eth,ipv4,gre:22eb,erspan3",
		  .truncated = FT_CUT_IPV4 },
		{ "ERSPAN III around something else", 1, MORE, GRE(0000, 22eb) ERSPAN3(8400) INNER,
		  .stack = "eth,ipv4,gre:22eb,erspan3" },
		{ "ERSPAN III, sub-header cut", 1, MORE, GRE(0000, 22eb) ERSPAN3(8001) "0400",
		  .stack = "eth,ipv4,gre:22eb", .truncated = FT_CUT_ERSPAN3 },
		{ "22 opaque bytes behind GRE 0x8949", 1, MORE, GRE(0000, 8949) "a5*22 " INNER,
		  .stack = "eth,ipv4,gre:8949,mlnx8949,eth,ipv4,udp,bth" },
		{ "of which one is missing", 1, MORE, GRE(0000, 8949) "a5*21",
		  .stack = "eth,ipv4,gre:8949", .truncated = FT_CUT_MLNX8949 },
		{ "EtherType 0x8949", 1, 0, ETH(8949) INNER,
		  .stack = "eth,mlnx8949,eth,ipv4,udp,bth" },
		{ "EtherType 0x8949, tagged", 1, 0, ETH(8949) "8100 0005 " INNER,
		  .stack = "eth,mlnx8949,eth,ipv4,udp,bth" },
		{ "EtherType 0x8949 whose tag was cut", 1, 0, ETH(8949) "8100 00", .stack = "eth",
		  .truncated = FT_CUT_MLNX8949 },
		{ "VXLAN", 1, MORE, UDP_OUTER(12b5) VXLAN INNER,
		  .stack = "eth,ipv4,udp,vxlan:5,eth,ipv4,udp,bth" },
		{ "VXLAN on the old port", 1, MORE, UDP_OUTER(2118) VXLAN INNER,
		  .stack = "eth,ipv4,udp,vxlan:5,eth,ipv4,udp,bth" },
		{ "VXLAN without VNI", 1, MORE, UDP_OUTER(12b5) "00*8 " INNER,
		  .stack = "eth,ipv4,udp", .malformed = FT_VXLAN_BAD_FLAGS },
		{ "generic VXLAN around IPv6", 1, MORE,
		  UDP_OUTER(12b6) "0c000002 000005 00 " IPV6(0000, 3b),
		  .stack = "eth,ipv4,udp,vxlan:5,ipv6" },
		{ "generic VXLAN around IPv4", 1, MORE,
		  UDP_OUTER(12b6) "0c000001 000005 00 " IPV4(0014, 3b),
		  .stack = "eth,ipv4,udp,vxlan:5,ipv4" },
		{ "generic VXLAN around Ethernet", 1, MORE,
		  UDP_OUTER(12b6) "0c000003 000005 00 " INNER,
		  .stack = "eth,ipv4,udp,vxlan:5,eth,ipv4,udp,bth" },
		{ "generic VXLAN around NSH is not followed", 1, MORE,
		  UDP_OUTER(12b6) "0c000004 000005 00 " INNER, .stack = "eth,ipv4,udp,vxlan:5",
		  .unopened = FT_UNOPENED_VXLAN_GPE },
		{ "generic VXLAN that names no protocol", 1, MORE,
		  UDP_OUTER(12b6) "08000000 000005 00 " INNER,
		  .stack = "eth,ipv4,udp,vxlan:5,eth,ipv4,udp,bth" },
		{ "GENEVE with all the options it can have", 1, MORE,
		  UDP_OUTER(17c1) "3f00 6558 000005 00 "
				  "00*252 " INNER,
		  .stack = "eth,ipv4,udp,geneve:5,eth,ipv4,udp,bth" },
		{ "GENEVE options past the capture", 1, MORE,
		  UDP_OUTER(17c1) "3f00 6558 000005 00 "
				  "00*251 ",
		  .stack = "eth,ipv4,udp", .truncated = FT_CUT_GENEVE },
		{ "GENEVE around IPv4", 1, MORE,
		  UDP_OUTER(17c1) "0000 0800 000005 00 " IPV4(0014, 3b),
		  .stack = "eth,ipv4,udp,geneve:5,ipv4" },
		{ "GENEVE around IPv6", 1, MORE,
		  UDP_OUTER(17c1) "0000 86dd 000005 00 " IPV6(0000, 3b),
		  .stack = "eth,ipv4,udp,geneve:5,ipv6" },
		{ "GENEVE around something else", 1, MORE,
		  UDP_OUTER(17c1) "0000 8847 000005 00 " INNER, .stack = "eth,ipv4,udp,geneve:5",
		  .unopened = FT_UNOPENED_GENEVE },
		{ "TZSP", 1, MORE, UDP_OUTER(9090) TZSP "00 00 29 02 0040 01" INNER,
		  .stack = "eth,ipv4,udp,tzsp,eth,ipv4,udp,bth" },
		{ "a TZSP keepalive is no packet", 1, MORE, UDP_OUTER(9090) "01 04 0001 01" INNER,
		  .stack = "eth,ipv4,udp" },
		{ "TZSP of another version", 1, MORE, UDP_OUTER(9090) "02 00 0001 01" INNER,
		  .stack = "eth,ipv4,udp" },
		{ "nor is what opens a port", 1, MORE, UDP_OUTER(9090) "01 05 0001 01" INNER,
		  .stack = "eth,ipv4,udp" },
		{ "TZSP around something else than Ethernet", 1, MORE,
		  UDP_OUTER(9090) "01 00 0012 01" INNER, .stack = "eth,ipv4,udp,tzsp" },
		{ "TZSP without tags, and cut there", 1, MORE, UDP_OUTER(9090) TZSP,
		  .stack = "eth,ipv4,udp", .truncated = FT_CUT_TZSP },
		{ "a TZSP tag without a length", 1, 0,
		  ETH(0800) IPV4(0021, 11) UDP(9090, 000d) TZSP "29", .stack = "eth,ipv4,udp",
		  .malformed = FT_TZSP_BAD_TAGS },
		{ "255 TZSP tags", 1, MORE, UDP_OUTER(9090) TZSP "00*254 01" INNER,
		  .stack = "eth,ipv4,udp,tzsp,eth,ipv4,udp,bth" },
		{ "more are too many", 1, MORE, UDP_OUTER(9090) TZSP "00*255 01" INNER,
		  .stack = "eth,ipv4,udp", .malformed = FT_TZSP_BAD_TAGS },
		{ "a TZSP tag past the capture", 1, MORE, UDP_OUTER(9090) TZSP "29 10 0040",
		  .stack = "eth,ipv4,udp", .truncated = FT_CUT_TZSP },
		{ "a cut sFlow datagram", 1, MORE, UDP_OUTER(18c7) "00000005 0000",
		  .stack = "eth,ipv4,udp", .truncated = FT_CUT_SFLOW5 },
		{ "sFlow of another version", 1, MORE, UDP_OUTER(18c7) "00000004 00000001 00*20",
		  .stack = "eth,ipv4,udp" },
		{ "sFlow of an agent without an address", 1, MORE,
		  UDP_OUTER(18c7) "00000005 00000003 00*20", .stack = "eth,ipv4,udp" },
		{ "a TZSP tag past the datagram", 1, 0,
		  ETH(0800) IPV4(0023, 11) UDP(9090, 000f) TZSP "29 10 00", .stack = "eth,ipv4,udp",
		  .malformed = FT_TZSP_BAD_TAGS },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

static void a_mirror_may_cut_where_an_overlay_may_not(void **state)
{
	static const struct frame_row rows[] = {
		{ "the copy in GRE is shorter than its IP header says", 1, 0,
		  ETH(0800) IPV4(0052, 2f) "0000 6558 " INNER_LONGER,
		  .stack = "eth,ipv4,gre:6558,eth,ipv4,udp,bth", .truncated = FT_CUT_PAYLOAD },
		{ "the same behind GRE 0x8949", 1, 0,
		  ETH(0800) IPV4(0068, 2f) "0000 8949 a5*22 " INNER_LONGER,
		  .stack = "eth,ipv4,gre:8949,mlnx8949,eth,ipv4,udp,bth",
		  .truncated = FT_CUT_PAYLOAD },
		{ "the same behind EtherType 0x8949", 1, 0, ETH(8949) INNER_LONGER,
		  .stack = "eth,mlnx8949,eth,ipv4,udp,bth", .truncated = FT_CUT_PAYLOAD },
		{ "the same in VXLAN", 1, 0,
		  ETH(0800) IPV4(005e, 11) UDP(12b5, 004a) VXLAN INNER_LONGER,
		  .stack = "eth,ipv4,udp,vxlan:5,eth,ipv4", .malformed = FT_IP_BAD_LENGTH },
		{ "and in VXLAN inside GRE", 1, 0,
		  ETH(0800) IPV4(0084, 2f) "0000 6558 " ETH(0800) IPV4(005e, 11) UDP(12b5, 004a)
			  VXLAN INNER_LONGER,
		  .stack = "eth,ipv4,gre:6558,eth,ipv4,udp,vxlan:5,eth,ipv4",
		  .malformed = FT_IP_BAD_LENGTH },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

/* Of a mirror's header that was cut or refused, nothing is known but its kind and what GRE said. */
static void a_mirror_header_counts_if_it_was_read(void **state)
{
	static const struct {
		const char *sentence, *hex;
		bool known;
	} rows[] = {
		{ "ERSPAN II", GRE(1000, 88be) "00000005 1064 a807 000000ff", true },
		{ "ERSPAN II, cut", GRE(1000, 88be) "00000005 1064 a8", false },
		{ "ERSPAN II of version 7", GRE(1000, 88be) "00000005 7064 a807 000000ff", false },
		{ "ERSPAN III", GRE(1000, 22eb) "00000005 2064 a807 00000001 0000 8000", true },
		{ "ERSPAN III, cut", GRE(1000, 22eb) "00000005 2064 a807 00000001 0000", false },
		{ "ERSPAN III of version 1",
		  GRE(1000, 22eb) "00000005 1064 a807 00000001 0000 8000", false },
	};
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	uint8_t bytes[FRAME_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_decode_input input = { .bytes = bytes,
						 .link_type = 1,
						 .ts_ns = UINT64_MAX };
		struct ft_decode_rest rest;
		struct ft_packet packet;

		input.captured = (uint32_t)frame_bytes(rows[i].hex, bytes);
		input.wire = input.captured + MORE;
		ft_decode(&config, &input, &packet, &rest);
		assert_int_equal(packet.tunnel_count, 1);
		assert_int_equal(packet.tunnels[0].sequence, 5);
		if (packet.tunnels[0].has_session != rows[i].known)
			fail_msg("%s", rows[i].sentence);
		if (!rows[i].known)
			continue;
		assert_int_equal(packet.tunnels[0].vlan, 100);
		assert_int_equal(packet.tunnels[0].session, 7);
	}
}

/* What was cut is called by the name that the whole header has in the stack. */
static void a_cut_header_keeps_its_name(void **state)
{
	static const struct {
		enum ft_truncated cut;
		enum ft_layer_kind layer;
	} rows[] = {
		{ FT_CUT_ETH, FT_LAYER_ETH },         { FT_CUT_SLL, FT_LAYER_SLL },
		{ FT_CUT_SLL2, FT_LAYER_SLL2 },       { FT_CUT_AVSP, FT_LAYER_AVSP },
		{ FT_CUT_IPV4, FT_LAYER_IPV4 },       { FT_CUT_IPV6, FT_LAYER_IPV6 },
		{ FT_CUT_UDP, FT_LAYER_UDP },         { FT_CUT_ERSPAN2, FT_LAYER_ERSPAN2 },
		{ FT_CUT_ERSPAN3, FT_LAYER_ERSPAN3 }, { FT_CUT_MLNX8949, FT_LAYER_MLNX8949 },
		{ FT_CUT_TZSP, FT_LAYER_TZSP },       { FT_CUT_SFLOW5, FT_LAYER_SFLOW5 },
		{ FT_CUT_MACCTRL, FT_LAYER_MACCTRL }, { FT_CUT_LRH, FT_LAYER_LRH },
		{ FT_CUT_RWH, FT_LAYER_RWH },         { FT_CUT_MIRROR1123, FT_LAYER_MIRROR1123 },
		{ FT_CUT_GRH, FT_LAYER_GRH },         { FT_CUT_BTH, FT_LAYER_BTH },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_layer layer = { .kind = (uint8_t)rows[i].layer };

		ft_layer_text(&layer, text, sizeof text);
		assert_string_equal(ft_truncated_name(rows[i].cut), text);
	}
}

#define MIRROR       GRE(0000, 6558)
#define RAW(words)   "00 00 0002 " #words " 0001 0000 1123 00*4 "
#define FOUR_MIRRORS "eth,ipv4,gre:6558,eth,ipv4,gre:6558,eth,ipv4,gre:6558,eth,ipv4,gre:6558,"

static void the_fifth_tunnel_stays_closed(void **state)
{
	static const struct frame_row rows[] = {
		{ "four mirrors around RoCE", 1, MORE, MIRROR MIRROR MIRROR MIRROR INNER,
		  .stack = FOUR_MIRRORS "eth,ipv4,udp,bth" },
		{ "a fifth GRE", 1, MORE, MIRROR MIRROR MIRROR MIRROR GRE(0000, 6558) INNER,
		  .stack = FOUR_MIRRORS "eth,ipv4", .malformed = FT_TUNNEL_TOO_DEEP },
		{ "a fifth by VXLAN", 1, MORE,
		  MIRROR MIRROR MIRROR MIRROR UDP_OUTER(12b5) VXLAN INNER,
		  .stack = FOUR_MIRRORS "eth,ipv4,udp", .malformed = FT_TUNNEL_TOO_DEEP },
		{ "a fifth by GENEVE", 1, MORE,
		  MIRROR MIRROR MIRROR MIRROR UDP_OUTER(17c1) "0000 6558 000005 00 " INNER,
		  .stack = FOUR_MIRRORS "eth,ipv4,udp", .malformed = FT_TUNNEL_TOO_DEEP },
		{ "a fifth by TZSP", 1, MORE,
		  MIRROR MIRROR MIRROR MIRROR UDP_OUTER(9090) TZSP "01" INNER,
		  .stack = FOUR_MIRRORS "eth,ipv4,udp", .malformed = FT_TUNNEL_TOO_DEEP },
		{ "a fifth by sFlow", 1, MORE,
		  MIRROR MIRROR MIRROR MIRROR UDP_OUTER(18c7) "00000005 00000001 00*20",
		  .stack = FOUR_MIRRORS "eth,ipv4,udp", .malformed = FT_TUNNEL_TOO_DEEP },
		{ "a fifth in raw InfiniBand", 247, MORE,
		  RAW(0040) RAW(003c) RAW(0038) RAW(0034) RAW(0030) "00 02 0002 0006 0001",
		  .stack = "lrh,rwh,mirror1123,lrh,rwh,mirror1123,lrh,rwh,mirror1123,lrh,rwh,"
			   "mirror1123,lrh,rwh",
		  .malformed = FT_TUNNEL_TOO_DEEP },
		{ "a fifth by EtherType", 1, 0,
		  ETH(8949) ETH(8949) ETH(8949) ETH(8949) ETH(8949) INNER,
		  .stack = "eth,mlnx8949,eth,mlnx8949,eth,mlnx8949,eth,mlnx8949,eth",
		  .malformed = FT_TUNNEL_TOO_DEEP },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tunnels_are_peeled),
		cmocka_unit_test(a_mirror_may_cut_where_an_overlay_may_not),
		cmocka_unit_test(a_mirror_header_counts_if_it_was_read),
		cmocka_unit_test(a_cut_header_keeps_its_name),
		cmocka_unit_test(the_fifth_tunnel_stays_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
