#include "frame_rows.h"

/* 1700000693 s is 0x6553f3b5, the capture clock says half a second later. */

#define CLOCK_NS                    1700000693500000000ull
#define WEEK_S                      (7 * 24 * 3600)
#define FRAME                       ETH(0800) IPV4(0014, 06)
#define FCS                         "11223344 "
#define METAMAKO(seconds, ns)       FCS #seconds " " #ns " 00 0001 02 "
#define EXABLAZE(seconds, fraction) FCS "01 02 " #seconds " " #fraction " 00 "

static struct ft_packet decode_link(uint16_t link_type, const char *hex, uint64_t ts_ns,
				    uint32_t cut)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = { .bytes = bytes, .link_type = link_type, .ts_ns = ts_ns };
	struct ft_decode_rest rest;
	struct ft_packet packet;

	input.wire = (uint32_t)frame_bytes(hex, bytes);
	input.captured = input.wire - cut;
	ft_decode(&config, &input, &packet, &rest);
	return packet;
}

static struct ft_packet decode_at(const char *hex, uint64_t ts_ns, uint32_t cut)
{
	return decode_link(1, hex, ts_ns, cut);
}

static void expect(const char *hex, int kind, uint64_t ts_ns)
{
	struct ft_packet packet = decode_at(hex, CLOCK_NS, 0);

	assert_true((packet.has & FT_HAS_TRAILER) != 0);
	assert_int_equal(packet.trailer.kind, kind);
	assert_int_equal(packet.trailer.ts_ns, ts_ns);
}

static bool has_trailer(const char *hex, uint64_t ts_ns, uint32_t cut)
{
	return (decode_at(hex, ts_ns, cut).has & FT_HAS_TRAILER) != 0;
}

static void both_trailers_are_found_with_and_without_an_fcs(void **state)
{
	(void)state;
	expect(FRAME METAMAKO(6553f3b5, 075bcd15), 0, 1700000693123456789);
	expect(FRAME METAMAKO(6553f3b5, 075bcd15) FCS, 0, 1700000693123456789);
	expect(FRAME "00*26 " METAMAKO(6553f3b5, 075bcd15), 0, 1700000693123456789);
	expect(FRAME EXABLAZE(6553f3b5, 8000000000), 1, 1700000693500000000);
	expect(FRAME EXABLAZE(6553f3b5, 8000000000) FCS, 1, 1700000693500000000);
	/* the largest fraction is 2^-40 s short of the next second */
	expect(FRAME EXABLAZE(6553f3b5, ffffffffff), 1, 1700000693999999999);
}

static void what_is_no_trailer_is_not_taken_for_one(void **state)
{
	(void)state;
	assert_false(has_trailer(FRAME "00*26", CLOCK_NS, 0));
	assert_false(has_trailer(FRAME METAMAKO(6553f3b5, 3b9aca00), CLOCK_NS, 0));
	assert_false(has_trailer(FRAME METAMAKO(6553f3b5, 00000000),
				 (1700000692ull - WEEK_S) * 1000000000, 0));
	assert_false(has_trailer(FRAME METAMAKO(6553f3b5, 075bcd15), UINT64_MAX, 0));
	assert_false(has_trailer(FRAME METAMAKO(6553f3b5, 075bcd15), CLOCK_NS, 1));
	assert_true(has_trailer(FRAME METAMAKO(6553f3b5, 00000000),
				(1700000693ull + WEEK_S) * 1000000000, 0));
	assert_false(has_trailer(FRAME METAMAKO(6553f3b5, 00000000),
				 (1700000694ull + WEEK_S) * 1000000000, 0));
}

/* A capture clock of zero is near to what no trailer says. */
static void no_time_is_never_near(void **state)
{
	(void)state;
	assert_false(has_trailer(FRAME METAMAKO(00000000, 00000000), 0, 0));
	assert_false(has_trailer(FRAME METAMAKO(0000000f, 3b9aca00), 1, 0));
	assert_false(has_trailer(FRAME METAMAKO(0000000f, a7ec0064), 1000000000000, 0));
	assert_false(has_trailer(FRAME METAMAKO(00000000, 0000ffff), 0, 0));
	assert_false(has_trailer(FRAME EXABLAZE(00000000, ffffffffff), 0, 0));
	assert_true(has_trailer(FRAME METAMAKO(00000001, 00000000), 0, 0));
}

#define TRAILER               METAMAKO(6553f3b5, 00000000)
#define BTH                   "04 00 ffff 00 000011 00 000001 00*4 "
#define LRH_GRH               "00 03 0002 0010 0001 " GRH(0010, 1b) BTH
#define ERF(type, rlen, wlen) "00*8 " #type " 04 " #rlen " 0000 " #wlen " "

static void only_ethernet_frames_have_a_trailer(void **state)
{
	static const struct {
		const char *sentence;
		uint16_t link_type;
		const char *hex;
		bool found;
	} rows[] = {
		{ "RoCEv1", 1, ETH(8915) GRH(0010, 1b) BTH TRAILER, true },
		{ "InfiniBand with a GRH", 247, LRH_GRH TRAILER, false },
		{ "raw IPv6 on InfiniBand", 247, "00 01 0002 000c 0001 " IPV6(0000, 3b) TRAILER,
		  false },
		{ "a cooked header", 113,
		  "0000 0001 0006 020000000001 0000 0800 " IPV4(0014, 06) TRAILER, false },
		{ "InfiniBand in an ERF record", 197, ERF(15, 0060, 0050) LRH_GRH TRAILER, false },
		{ "IPv4 in an ERF record", 197, ERF(16, 0034, 0024) IPV4(0014, 06) TRAILER, false },
		{ "Ethernet in an ERF record", 197, ERF(02, 0048, 0036) "0000 " FRAME TRAILER FCS,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_packet packet = decode_link(rows[i].link_type, rows[i].hex, CLOCK_NS, 0);

		if (((packet.has & FT_HAS_TRAILER) != 0) != rows[i].found)
			fail_msg("%s", rows[i].sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_trailers_are_found_with_and_without_an_fcs),
		cmocka_unit_test(no_time_is_never_near),
		cmocka_unit_test(only_ethernet_frames_have_a_trailer),
		cmocka_unit_test(what_is_no_trailer_is_not_taken_for_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
