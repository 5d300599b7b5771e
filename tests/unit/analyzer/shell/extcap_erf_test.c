#include "cmocka_headers.h"

#include <string.h>

#include "extcap_erf.h"

static uint8_t record[FT_EXTCAP_RECORD], bytes[70000];

static void infiniband_becomes_an_erf_record(void **state)
{
	/* 2^32 / 4 is a quarter of a second; 1700000000 s is 0x6553f100 */
	static const uint8_t wanted[] = { 0x00, 0x00, 0x00, 0x40, 0x00, 0xf1, 0x53,
					  0x65, 21,   0x04, 0x00, 0x14, 0x00, 0x00,
					  0x01, 0x22, 0xde, 0xad, 0xbe, 0xef };
	static const uint8_t lrh[] = { 0xde, 0xad, 0xbe, 0xef };
	const struct ft_frame frame = {
		.bytes = lrh,
		.captured = 4,
		.original = 0x122,
		.wire = 0x122,
		.link_type = FT_LINK_INFINIBAND,
		.ts_ns = UINT64_C(1700000000250000000),
		.number = 7,
		.input = 1,
	};
	struct ft_frame written = ft_extcap_frame(&frame, record);

	(void)state;
	assert_int_equal(written.link_type, FT_LINK_ERF);
	assert_int_equal(written.captured, sizeof wanted);
	assert_int_equal(written.original, 16 + 0x122);
	assert_memory_equal(written.bytes, wanted, sizeof wanted);
	assert_true(written.ts_ns == frame.ts_ns && written.number == 7 && written.input == 1);
}

static void a_frame_too_long_for_a_record_is_cut(void **state)
{
	const struct ft_frame frame = {
		.bytes = bytes,
		.captured = sizeof bytes,
		.original = sizeof bytes,
		.link_type = FT_LINK_INFINIBAND,
		.ts_ns = FT_TS_UNKNOWN,
	};
	struct ft_frame written = ft_extcap_frame(&frame, record);

	(void)state;
	assert_int_equal(written.captured, 65535);
	assert_int_equal(written.original, 16 + sizeof bytes);
	assert_memory_equal(written.bytes, "\0\0\0\0\0\0\0\0\x15\x04\xff\xff\0\0\xff\xff", 16);
	assert_true(written.ts_ns == FT_TS_UNKNOWN);
}

static void any_other_frame_is_as_it_was(void **state)
{
	const struct ft_frame frame = {
		.bytes = bytes,
		.captured = 60,
		.original = 60,
		.link_type = FT_LINK_ETHERNET,
	};
	struct ft_frame written = ft_extcap_frame(&frame, record);

	(void)state;
	assert_ptr_equal(written.bytes, bytes);
	assert_int_equal(written.link_type, FT_LINK_ETHERNET);
	assert_int_equal(written.captured, 60);
	assert_int_equal(written.original, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(infiniband_becomes_an_erf_record),
		cmocka_unit_test(a_frame_too_long_for_a_record_is_cut),
		cmocka_unit_test(any_other_frame_is_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
