#include "frame_rows.h"

/* 1700000693 s is 0x6553f3b5, the capture clock says half a second later. */

#define CLOCK_NS                    1700000693500000000ull
#define WEEK_S                      (7 * 24 * 3600)
#define FRAME                       ETH(0800) IPV4(0014, 06)
#define FCS                         "11223344 "
#define METAMAKO(seconds, ns)       FCS #seconds " " #ns " 00 0001 02 "
#define EXABLAZE(seconds, fraction) FCS "01 02 " #seconds " " #fraction " 00 "

static struct ft_packet decode_at(const char *hex, uint64_t ts_ns, uint32_t cut)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = { .bytes = bytes, .link_type = 1, .ts_ns = ts_ns };
	struct ft_decode_rest rest;
	struct ft_packet packet;

	input.wire = (uint32_t)frame_bytes(hex, bytes);
	input.captured = input.wire - cut;
	ft_decode(&config, &input, &packet, &rest);
	return packet;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_trailers_are_found_with_and_without_an_fcs),
		cmocka_unit_test(what_is_no_trailer_is_not_taken_for_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
