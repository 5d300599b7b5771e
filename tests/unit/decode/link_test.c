#include "frame_rows.h"

#include <string.h>

#define TAG(vid)   "8100 0" #vid " "
#define EIGHT_TAGS TAG(001) TAG(002) TAG(003) TAG(004) TAG(005) TAG(006) TAG(007) TAG(008)
#define LABEL      "000100 40 "
#define LAST_LABEL "000111 40 "
#define STAMP_HEAD "d28b 0001 "
#define STAMP      STAMP_HEAD "0020 0001 00000002 "
#define IPV4_TCP   "0800 " IPV4(0014, 06)

static void link_headers_are_followed_to_their_bounds(void **state)
{
	static const struct frame_row rows[] = {
		{ "13 bytes are no Ethernet header", 1, 0, "00*13", .stack = "",
		  .malformed = FT_ETH_SHORT },
		{ "13 captured bytes of 60 are a cut one", 1, 47, "00*13", .stack = "",
		  .truncated = FT_CUT_ETH },
		{ "an 802.3 length is not followed", 1, 0, ETH(0026) "00*38", .stack = "eth" },
		{ "an unknown EtherType is not followed", 1, 0, ETH(88cc) "00*46", .stack = "eth" },
		{ "IPv4 that was not captured", 1, 46, ETH(0800), .stack = "eth",
		  .truncated = FT_CUT_IPV4 },
		{ "all four TPIDs", 1, 0, MACS "8100 0001 88a8 0002 9100 0003 9200 0004 " IPV4_TCP,
		  .stack = "eth,vlan:1,qinq:2,qinq9100:3,qinq9200:4,ipv4" },
		{ "eight tags", 1, 0, MACS EIGHT_TAGS IPV4_TCP,
		  .stack = "eth,vlan:1,vlan:2,vlan:3,vlan:4,vlan:5,vlan:6,vlan:7,vlan:8,ipv4" },
		{ "a ninth tag is one too many", 1, 0, MACS EIGHT_TAGS TAG(009) IPV4_TCP,
		  .stack = "eth,vlan:1,vlan:2,vlan:3,vlan:4,vlan:5,vlan:6,vlan:7,vlan:8",
		  .malformed = FT_VLAN_TOO_DEEP },
		{ "a tag that ends with the frame", 1, 0, MACS "8100 00", .stack = "eth",
		  .malformed = FT_ETH_SHORT },
		{ "a tag that ends with the capture", 1, 60, MACS "8100 00", .stack = "eth",
		  .truncated = FT_CUT_VLAN },
		{ "eight labels", 1, 0,
		  ETH(8847) LABEL LABEL LABEL LABEL LABEL LABEL LABEL LAST_LABEL IPV4(0014, 06),
		  .stack = "eth,mpls:16,mpls:16,mpls:16,mpls:16,mpls:16,mpls:16,mpls:16,mpls:17,"
			   "ipv4" },
		{ "a ninth label is one too many", 1, 0,
		  ETH(8847)
			  LABEL LABEL LABEL LABEL LABEL LABEL LABEL LABEL LAST_LABEL IPV4(0014, 06),
		  .stack = "eth,mpls:16,mpls:16,mpls:16,mpls:16,mpls:16,mpls:16,mpls:16,mpls:16",
		  .malformed = FT_MPLS_TOO_DEEP },
		{ "IPv6 behind a label", 1, 0, ETH(8848) LAST_LABEL IPV6(0000, 3b),
		  .stack = "eth,mpls:17,ipv6" },
		{ "a pseudowire is not followed", 1, 0, ETH(8847) LAST_LABEL "00000000" MACS,
		  .stack = "eth,mpls:17", .unopened = FT_UNOPENED_MPLS },
		{ "a label that ends with the frame", 1, 0, ETH(8847) LABEL "0001",
		  .stack = "eth,mpls:16", .malformed = FT_ETH_SHORT },
		{ "a label that ends with the capture", 1, 40, ETH(8847) LABEL "0001",
		  .stack = "eth,mpls:16", .truncated = FT_CUT_MPLS },
		{ "nothing captured behind the last label", 1, 40, ETH(8847) LAST_LABEL,
		  .stack = "eth,mpls:17", .truncated = FT_CUT_MPLS },
		{ "a 64-bit stamp", 1, 0, MACS STAMP_HEAD "0010 00000001 00000002 " IPV4_TCP,
		  .stack = "eth,avsp,ipv4" },
		{ "a 48-bit UTC stamp", 1, 0, MACS STAMP_HEAD "0120 0001 00000002 " IPV4_TCP,
		  .stack = "eth,avsp,ipv4" },
		{ "a stamp of another version", 1, 0,
		  MACS STAMP_HEAD "0030 0001 00000002 " IPV4_TCP, .stack = "eth" },
		{ "a stamp of another subtype", 1, 0,
		  MACS "d28b 0002 0010 00000001 00000002 " IPV4_TCP, .stack = "eth" },
		{ "a second stamp hides nothing", 1, 0, MACS STAMP TAG(005) STAMP IPV4_TCP,
		  .stack = "eth,avsp,vlan:5,avsp,ipv4" },
		{ "nor do ten, of which the stack lists eight", 1, 0,
		  MACS STAMP STAMP STAMP STAMP STAMP STAMP STAMP STAMP STAMP STAMP IPV4_TCP,
		  .stack = "eth,avsp,avsp,avsp,avsp,avsp,avsp,avsp,avsp,ipv4" },
		{ "a second stamp that is cut", 1, 60, MACS STAMP STAMP_HEAD "0010 000000",
		  .stack = "eth,avsp", .truncated = FT_CUT_AVSP },
		{ "a stamp without a version", 1, 0, MACS STAMP_HEAD "0000 0001 00000002 " IPV4_TCP,
		  .stack = "eth" },
		{ "a stamp whose head ends with the frame", 1, 0, MACS "d28b 0001 00",
		  .stack = "eth", .malformed = FT_ETH_SHORT },
		{ "a stamp whose head is cut", 1, 60, MACS "d28b 0001 00", .stack = "eth",
		  .truncated = FT_CUT_AVSP },
		{ "a cut stamp", 1, 60, MACS STAMP_HEAD "0010 000000", .stack = "eth",
		  .truncated = FT_CUT_AVSP },
		{ "pause", 1, 0, ETH(8808) "0001 ffff", .stack = "eth,macctrl" },
		{ "a control frame of another kind", 1, 0, ETH(8808) "0002 00*44",
		  .stack = "eth,macctrl" },
		{ "a control frame without an opcode", 1, 0, ETH(8808) "00", .stack = "eth",
		  .malformed = FT_ETH_SHORT },
		{ "a control frame cut in its opcode", 1, 45, ETH(8808) "00", .stack = "eth",
		  .truncated = FT_CUT_MACCTRL },
		{ "PFC whose quanta were not captured", 1, 30, ETH(8808) "0101 00ff 0000",
		  .stack = "eth", .truncated = FT_CUT_MACCTRL },
		{ "PFC whose quanta never were", 1, 0, ETH(8808) "0101 00ff 0000", .stack = "eth",
		  .malformed = FT_ETH_SHORT },
		{ "cooked", 113, 0, "0000 0001 0006 020000000001 0000 " IPV4_TCP,
		  .stack = "sll,ipv4" },
		{ "cooked, version 2", 276, 0,
		  "0800 0000 00000001 0001 00 06 020000000001 0000 " IPV4(0014, 06),
		  .stack = "sll2,ipv4" },
		{ "cooked GRE device: no EtherType", 113, 0,
		  "0000 030a 0006 020000000001 0000 " IPV4_TCP, .stack = "sll" },
		{ "cooked netlink: no EtherType", 276, 0,
		  "0800 0000 00000001 0338 00 06 020000000001 0000 " IPV4(0014, 06),
		  .stack = "sll2" },
		{ "a cut cooked header", 113, 60, "0000 0001", .stack = "",
		  .truncated = FT_CUT_SLL },
		{ "a cut cooked header, version 2", 276, 60, "0800 0000", .stack = "",
		  .truncated = FT_CUT_SLL2 },
		{ "an unknown link type says nothing", 105, 0, "00*60", .stack = "" },
	};

	(void)state;
	CHECK_FRAME_ROWS(rows);
}

static void the_tenant_vlan_is_the_first_that_is_not_zero(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = { .bytes = bytes, .link_type = 1, .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;
	struct ft_packet packet;

	(void)state;
	input.captured = input.wire =
		(uint32_t)frame_bytes(MACS "88a8 e000 8100 2007 8100 0009 88cc 00*40", bytes);
	assert_false(ft_decode(&config, &input, &packet, &rest));
	assert_int_equal(packet.vlan, 7);
	assert_int_equal(packet.vlan_count, 3);
	assert_int_equal(packet.layers[1].pcp, 7);
	assert_int_equal(packet.layers[2].pcp, 1);
}

static void a_tag_of_the_mirror_is_none_of_the_tenants(void **state)
{
	static const struct ft_decode_config config = {
		.mirror_vlans = { 5, 7 },
		.mirror_vlan_count = 2,
	};
	static const struct {
		const char *hex;
		uint16_t vlan, count;
	} rows[] = {
		{ MACS TAG(007) TAG(009) "88cc 00*40", 9, 2 },
		{ MACS TAG(007) "88cc 00*40", 0, 1 },
		{ MACS TAG(007) TAG(007) "88cc 00*40", 7, 2 },
		{ MACS TAG(009) TAG(007) "88cc 00*40", 9, 2 },
		{ MACS TAG(000) TAG(005) "88cc 00*40", 5, 2 },
	};
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = { .bytes = bytes, .link_type = 1, .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;
	struct ft_packet packet;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		input.captured = input.wire = (uint32_t)frame_bytes(rows[i].hex, bytes);
		ft_decode(&config, &input, &packet, &rest);
		assert_int_equal(packet.vlan, rows[i].vlan);
		assert_int_equal(packet.vlan_count, rows[i].count);
	}
}

static void cooked_headers_name_a_sender_of_six_bytes_only(void **state)
{
	static const struct {
		const char *sentence;
		uint16_t link_type;
		const char *hex;
		bool named;
	} rows[] = {
		{ "Ethernet", 113, "0000 0001 0006 020000000001 0000 88cc", true },
		{ "no address", 113, "0000 fffe 0000 020000000001 0000 88cc", false },
		{ "eight of the twenty bytes of IPoIB", 113,
		  "0000 0020 0014 020000000001 0203 88cc", false },
		{ "six, the upper byte counts", 113, "0000 0001 0106 020000000001 0000 88cc",
		  false },
		{ "version 2", 276, "88cc 0000 00000001 0001 00 06 020000000001 0000", true },
		{ "version 2 without an address", 276,
		  "88cc 0000 00000001 fffe 00 00 020000000001 0000", false },
	};
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	uint8_t bytes[FRAME_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_decode_input input = { .bytes = bytes,
						 .link_type = rows[i].link_type,
						 .ts_ns = UINT64_MAX };
		struct ft_decode_rest rest;
		struct ft_packet packet;

		input.captured = input.wire = (uint32_t)frame_bytes(rows[i].hex, bytes);
		ft_decode(&config, &input, &packet, &rest);
		if (((packet.has & FT_HAS_SLL) != 0) != rows[i].named)
			fail_msg("%s", rows[i].sentence);
		if (rows[i].named)
			assert_memory_equal(packet.smac, ((uint8_t[6]){ 2, 0, 0, 0, 0, 1 }), 6);
	}
}

static void an_announced_fcs_is_no_part_of_the_packet(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = {
		.bytes = bytes, .link_type = 1, .fcs_bytes = 4, .ts_ns = UINT64_MAX
	};
	struct ft_decode_rest rest;
	struct ft_packet packet;

	(void)state;
	input.captured = input.wire = (uint32_t)frame_bytes(ETH(0800) IPV4(0018, 06) "00*4", bytes);
	ft_decode(&config, &input, &packet, &rest);
	assert_int_equal(packet.malformed, FT_IP_BAD_LENGTH);
	assert_int_equal(packet.fcs_check, FT_CHECK_BAD);
	input.captured--;
	ft_decode(&config, &input, &packet, &rest);
	assert_int_equal(packet.fcs_check, FT_CHECK_UNKNOWN);
	/* a container may announce one for all its records, but only Ethernet has it */
	input.link_type = 113;
	input.captured = input.wire = (uint32_t)frame_bytes(
		"0000 0001 0006 020000000001 0000 0800" IPV4(0014, 06), bytes);
	ft_decode(&config, &input, &packet, &rest);
	assert_int_equal(packet.malformed, FT_OK);
}

/* An ERF record of `frame` bytes, the rest of which are `behind`, of an IPv4 datagram as long as `total` says. */
#define RECORD(rlen, wlen, total, behind)                                                          \
	"00*8 02 04 " #rlen " 0000 " #wlen " 0000 " ETH(0800) IPV4(total, 06) behind

static void an_fcs_that_is_none_belongs_to_the_packet_where_its_length_says_so(void **state)
{
	static const struct {
		const char *sentence, *hex;
		uint32_t cut;
		uint8_t malformed, fcs_check;
	} rows[] = {
		{ "a datagram before the FCS", RECORD(0038, 0026, 0014, "00*4"), 0, FT_OK,
		  FT_CHECK_BAD },
		{ "one that ends where the FCS would", RECORD(0038, 0026, 0018, "00*4"), 0, FT_OK,
		  FT_CHECK_UNKNOWN },
		{ "likewise, cut", RECORD(0038, 0026, 0018, "00*4"), 2, FT_OK, FT_CHECK_UNKNOWN },
		{ "one that ends amid it", RECORD(0038, 0026, 0017, "00*4"), 0, FT_IP_BAD_LENGTH,
		  FT_CHECK_BAD },
		{ "one that ends behind it", RECORD(0038, 0026, 0019, "00*4"), 0, FT_IP_BAD_LENGTH,
		  FT_CHECK_BAD },
		{ "the FCS is right", RECORD(0038, 0026, 0018, "29808367"), 0, FT_IP_BAD_LENGTH,
		  FT_CHECK_GOOD },
	};
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	uint8_t bytes[FRAME_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_decode_input input = { .bytes = bytes,
						 .link_type = 197,
						 .ts_ns = UINT64_MAX };
		struct ft_decode_rest rest;
		struct ft_packet packet;

		input.wire = (uint32_t)frame_bytes(rows[i].hex, bytes);
		input.captured = input.wire - rows[i].cut;
		ft_decode(&config, &input, &packet, &rest);
		if (packet.malformed != rows[i].malformed || packet.fcs_check != rows[i].fcs_check)
			fail_msg("%s: malformed %u, FCS %u", rows[i].sentence, packet.malformed,
				 packet.fcs_check);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_headers_are_followed_to_their_bounds),
		cmocka_unit_test(the_tenant_vlan_is_the_first_that_is_not_zero),
		cmocka_unit_test(a_tag_of_the_mirror_is_none_of_the_tenants),
		cmocka_unit_test(cooked_headers_name_a_sender_of_six_bytes_only),
		cmocka_unit_test(an_announced_fcs_is_no_part_of_the_packet),
		cmocka_unit_test(
			an_fcs_that_is_none_belongs_to_the_packet_where_its_length_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
