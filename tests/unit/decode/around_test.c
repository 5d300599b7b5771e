#include "frame_rows.h"

#include <string.h>

#include <decode/around.h>

/* What is inside begins like this; nothing further of it is looked at. */
#define INSIDE    ETH(0800) "11*20 "
#define INSIDE_IS 34

#define MARKED_IPV4(total, protocol) "4503 " #total " 0000 4000 40 " #protocol " 0000 " ADDRESSES
#define MARKED_IPV6(payload, next)   "60300000 " #payload " " #next " 40 fd*16 fe*16 "
#define VXLAN(vni)                   "08000000 " #vni "00 "

struct told {
	uint32_t at, vni;
	bool bounded; /* it is known where it ends */
	unsigned depth;
	bool marked;
	/* of the outermost: */
	bool has_sequence;
	uint8_t kind;
	uint16_t session;
	uint32_t key, sequence, network_at;
};

static const struct {
	const char *sentence, *hex;
	struct told told;
} rows[] = {
	{ "GRE holds Ethernet",
	  ETH(0800) IPV4(003a, 2f) "0000 6558 " INSIDE,
	  { .at = 38,
	    .vni = FT_AROUND_NO_VNI,
	    .depth = 1,
	    .kind = FT_TUNNEL_GRE_TEB,
	    .network_at = 14 } },
	{ "a key and nothing else is NVGRE's",
	  ETH(0800) IPV4(003e, 2f) "2000 6558 00138807 " INSIDE,
	  { .at = 42,
	    .vni = 5000,
	    .depth = 1,
	    .kind = FT_TUNNEL_NVGRE,
	    .key = 0x138807,
	    .network_at = 14 } },
	{ "ERSPAN type I",
	  ETH(0800) IPV4(003a, 2f) "0000 88be " INSIDE,
	  { .at = 38,
	    .vni = FT_AROUND_NO_VNI,
	    .depth = 1,
	    .kind = FT_TUNNEL_ERSPAN1,
	    .network_at = 14 } },
	{ "ERSPAN type II is numbered, and tells its session",
	  ETH(8100) "0005 0800 " IPV4(0046, 2f) "1000 88be 00000009 1005602a 00000003 " INSIDE,
	  { .at = 54,
	    .vni = FT_AROUND_NO_VNI,
	    .depth = 1,
	    .has_sequence = true,
	    .kind = FT_TUNNEL_ERSPAN2,
	    .session = 0x2a,
	    .key = 0,
	    .sequence = 9,
	    .network_at = 18 } },
	{ "checksum, key and number stand in this order",
	  ETH(0800) IPV4(004e, 2f) "b000 88be 01020000 00000005 00000006 1005042a 00000003 " INSIDE,
	  { .at = 58,
	    .vni = FT_AROUND_NO_VNI,
	    .depth = 1,
	    .has_sequence = true,
	    .kind = FT_TUNNEL_ERSPAN2,
	    .session = 0x2a,
	    .key = 5,
	    .sequence = 6,
	    .network_at = 14 } },
	{ "ERSPAN type III with a subheader",
	  ETH(0800) IPV4(0052, 2f) "1000 22eb 00000008 2005002b 01020304 0000 0001 00*8 " INSIDE,
	  { .at = 62,
	    .vni = FT_AROUND_NO_VNI,
	    .depth = 1,
	    .has_sequence = true,
	    .kind = FT_TUNNEL_ERSPAN3,
	    .session = 0x2b,
	    .key = 0,
	    .sequence = 8,
	    .network_at = 14 } },
	{ "VXLAN",
	  ETH(0800) IPV4(0046, 11) UDP(12b5, 0032) VXLAN(001388) INSIDE,
	  { .at = 50, .vni = 5000, .bounded = true, .depth = 1 } },
	{ "VXLAN on Linux's first port, VNI 0",
	  ETH(0800) IPV4(0046, 11) UDP(2118, 0032) VXLAN(000000) INSIDE,
	  { .at = 50, .vni = 0, .bounded = true, .depth = 1 } },
	{ "over IPv6, the highest VNI, marked for congestion",
	  ETH(86dd) MARKED_IPV6(0032, 11) UDP(12b5, 0032) VXLAN(ffffff) INSIDE,
	  { .at = 70, .vni = 0xffffff, .bounded = true, .depth = 1, .marked = true } },
	{ "behind two tags, reserved bits set",
	  ETH(88a8) "0007 8100 0008 0800 " IPV4(0046, 11)
		  UDP(12b5, 0032) "ff801234 001388ff " INSIDE,
	  { .at = 58, .vni = 5000, .bounded = true, .depth = 1 } },
	{ "VXLAN's generic form names Ethernet",
	  ETH(0800) IPV4(0046, 11) UDP(12b6, 0032) "0c000003 00138800 " INSIDE,
	  { .at = 50, .vni = 5000, .bounded = true, .depth = 1 } },
	{ "... or has no next protocol",
	  ETH(0800) IPV4(0046, 11) UDP(12b6, 0032) "08000001 00138800 " INSIDE,
	  { .at = 50, .vni = 5000, .bounded = true, .depth = 1 } },
	{ "GENEVE",
	  ETH(0800) IPV4(0046, 11) UDP(17c1, 0032) "0000 6558 00138800 " INSIDE,
	  { .at = 50, .vni = 5000, .bounded = true, .depth = 1 } },
	{ "GENEVE with options, two of its bits set",
	  ETH(0800) IPV4(004e, 11) UDP(17c1, 003a) "02c0 6558 00138800 01028001 00000004 " INSIDE,
	  { .at = 58, .vni = 5000, .bounded = true, .depth = 1 } },
	{ "the innermost of two overlays counts, any of them meets congestion",
	  ETH(0800) MARKED_IPV4(0078, 11) UDP(12b5, 0064) VXLAN(000001) ETH(0800) IPV4(0046, 11)
		  UDP(17c1, 0032) "0000 6558 00000200 " INSIDE,
	  { .at = 100, .vni = 2, .bounded = true, .depth = 2, .marked = true } },
	{ "a mirror sends on what an overlay carries: its mark is none, its number counts",
	  ETH(0800) MARKED_IPV4(0078, 2f) "1000 88be 00000009 1005602a 00000003 " ETH(0800)
		  IPV4(0046, 11) UDP(12b5, 0032) VXLAN(001388) INSIDE,
	  { .at = 100,
	    .vni = 5000,
	    .bounded = true,
	    .depth = 2,
	    .has_sequence = true,
	    .kind = FT_TUNNEL_ERSPAN2,
	    .session = 0x2a,
	    .key = 0,
	    .sequence = 9,
	    .network_at = 14 } },
	{ "an overlay carries what a mirror sends on: nobody's numbers",
	  ETH(0800) IPV4(0078, 11) UDP(12b5, 0064) VXLAN(001388) ETH(0800)
		  IPV4(0046, 2f) "1000 88be 00000009 1005602a 00000003 " INSIDE,
	  { .at = 100, .vni = 5000, .depth = 2 } },
};

static struct ft_decode_input input_of(const char *hex, uint8_t *bytes)
{
	struct ft_decode_input input = { .bytes = bytes, .link_type = FT_LINKTYPE_ETHERNET };

	input.captured = input.wire = (uint32_t)frame_bytes(hex, bytes);
	return input;
}

/* All that there are. */
static struct ft_around peel(const struct ft_decode_config *config,
			     const struct ft_decode_input *input)
{
	struct ft_around around;

	ft_around_begin(&around, input);
	while (ft_around_peel(config, input->bytes, &around))
		continue;
	return around;
}

static void tunnels_are_told(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static uint8_t bytes[FRAME_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_decode_input input = input_of(rows[i].hex, bytes);
		const struct ft_around around = peel(&config, &input);
		const struct told *told = &rows[i].told;

		if (around.at != told->at || around.vni != told->vni ||
		    around.depth != told->depth || around.marked != told->marked)
			fail_msg("%s: at %u, VNI %x, depth %u, marked %d", rows[i].sentence,
				 around.at, around.vni, around.depth, around.marked);
		if (around.captured != input.captured || around.captured != told->at + INSIDE_IS ||
		    around.wire != (told->bounded ? input.wire : FT_AROUND_UNKNOWN))
			fail_msg("%s: up to %u, %u", rows[i].sentence, around.captured,
				 around.wire);
		if (around.has_sequence != told->has_sequence || around.kind != told->kind ||
		    around.session != told->session || around.key != told->key ||
		    around.sequence != told->sequence || around.network_at != told->network_at)
			fail_msg("%s: kind %u, session %u, key %x, number %u, from %u",
				 rows[i].sentence, around.kind, around.session, around.key,
				 around.sequence, around.network_at);
	}
}

static void what_is_odd_is_no_tunnel(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static uint8_t bytes[FRAME_BYTES_MAX];
	static const struct {
		const char *sentence, *hex;
	} odd[] = {
		{ "a later version of GRE", ETH(0800) IPV4(003a, 2f) "0001 6558 " INSIDE },
		{ "GRE with routing", ETH(0800) IPV4(003e, 2f) "4000 6558 00000000 " INSIDE },
		{ "IPv4 in GRE", ETH(0800) IPV4(003a, 2f) "0000 0800 " INSIDE },
		{ "another version of ERSPAN",
		  ETH(0800) IPV4(0046, 2f) "1000 88be 00000009 2005602a 00000003 " INSIDE },
		{ "IPv4 in ERSPAN",
		  ETH(0800)
			  IPV4(004a, 2f) "1000 22eb 00000008 2005002b 01020304 0000 0800 " INSIDE },
		{ "VXLAN without a VNI",
		  ETH(0800) IPV4(0046, 11) UDP(12b5, 0032) "f7000000 00138800 " INSIDE },
		{ "VXLAN's generic form of IPv4",
		  ETH(0800) IPV4(0046, 11) UDP(12b6, 0032) "0c000001 00138800 " INSIDE },
		{ "GENEVE of IPv4",
		  ETH(0800) IPV4(0046, 11) UDP(17c1, 0032) "0000 0800 00138800 " INSIDE },
		{ "a later version of GENEVE",
		  ETH(0800) IPV4(0046, 11) UDP(17c1, 0032) "4000 6558 00138800 " INSIDE },
		{ "options beyond the datagram",
		  ETH(0800) IPV4(0046, 11) UDP(17c1, 0032) "0900 6558 00138800 " INSIDE },
		{ "another port", ETH(0800) IPV4(0046, 11) UDP(12b4, 0032) VXLAN(001388) INSIDE },
		{ "UDP is shorter than IP says",
		  ETH(0800) IPV4(0046, 11) UDP(12b5, 0031) VXLAN(001388) INSIDE },
		{ "IP is longer than the frame",
		  ETH(0800) IPV4(0047, 11) UDP(12b5, 0033) VXLAN(001388) INSIDE },
		{ "IP is shorter than its header",
		  ETH(0800) IPV4(0013, 11) UDP(12b5, 0032) VXLAN(001388) INSIDE },
		{ "a fragment", ETH(0800) "4500 0046 0000 2000 4011 0000 " ADDRESSES UDP(12b5, 0032)
					VXLAN(001388) INSIDE },
		{ "IPv4 with options", ETH(0800) "4600 004a 0000 4000 4011 0000 " ADDRESSES
						 "01*4 " UDP(12b5, 0032) VXLAN(001388) INSIDE },
		{ "three tags", ETH(8100) "0001 8100 0002 8100 0003 0800 " IPV4(0046, 11)
					UDP(12b5, 0032) VXLAN(001388) INSIDE },
		{ "TCP", ETH(0800) IPV4(0046, 06) UDP(12b5, 0032) VXLAN(001388) INSIDE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		const struct ft_decode_input input = input_of(odd[i].hex, bytes);
		const struct ft_around around = peel(&config, &input);

		if (around.depth != 0 || around.at != 0 || around.vni != FT_AROUND_NO_VNI)
			fail_msg("%s", odd[i].sentence);
	}
}

/* A port that is said to be RoCE's is nobody else's. */
static void a_port_of_roce_is_no_tunnel(void **state)
{
	static const struct ft_decode_config config = { .roce_ports = { 4791, 4789 },
							.roce_port_count = 2 };
	static uint8_t bytes[FRAME_BYTES_MAX];
	const struct ft_decode_input input =
		input_of(ETH(0800) IPV4(0046, 11) UDP(12b5, 0032) VXLAN(001388) INSIDE, bytes);

	(void)state;
	assert_int_equal(peel(&config, &input).depth, 0);
}

/* Nothing but what there is is read, and what was not captured is not said to be. */
static void cut_tunnels_end_where_they_were_cut(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static uint8_t bytes[FRAME_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_decode_input input = input_of(rows[i].hex, bytes);
		const struct told *told = &rows[i].told;

		for (uint32_t left = input.wire; left-- > 0;) {
			struct ft_around around;

			input.captured = left;
			around = peel(&config, &input);
			assert_true(around.captured == left && around.depth <= told->depth);
			assert_true(around.at <= left);
			assert_int_equal(around.depth == told->depth, around.at == told->at);
			if (left >= told->at + 14) /* of Ethernet */
				assert_int_equal(around.depth, told->depth);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tunnels_are_told),
		cmocka_unit_test(what_is_odd_is_no_tunnel),
		cmocka_unit_test(a_port_of_roce_is_no_tunnel),
		cmocka_unit_test(cut_tunnels_end_where_they_were_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
