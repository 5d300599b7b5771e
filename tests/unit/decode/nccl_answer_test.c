#include "frame_rows.h"

#include <string.h>

#include <decode/big_endian.h>
#include <decode/nccl.h>

enum { LITTLE = 1u << FT_NCCL_LITTLE, BIG = 1u << FT_NCCL_BIG };

static uint32_t immdt_of(const char *hex)
{
	uint8_t bytes[4];

	assert_int_equal(frame_bytes(hex, bytes), sizeof bytes);
	return ft_be32(bytes);
}

static void an_immediate_has_its_order_from_its_number(void **state)
{
	static const struct {
		const char *hex;
		uint32_t number;
		unsigned orders;
	} rows[] = {
		{ "00 00 10 00", 1048576, LITTLE }, { "00 10 00 00", 1048576, BIG },
		{ "00 08 00 00", 2048, LITTLE },    { "00 00 08 00", 2048, BIG },
		{ "00 00 01 00", 65536, LITTLE },   { "00 01 00 00", 65536, BIG },
		{ "00 00 00 29", 41, BIG },      /* by number, the message of idx 42 */
		{ "01 20 00 00", 8193, LITTLE }, /* 2.10.3 */
		{ "00 02 00 00", 131072, BIG },  /* 2.30.7 */
		{ "00 00 00 00", 0, LITTLE | BIG }, { "01 00 00 01", 16777217, LITTLE | BIG },
		{ "01 20 00 00", 8192, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t immdt = immdt_of(rows[i].hex);

		assert_int_equal(ft_nccl_immediate_orders(immdt, rows[i].number), rows[i].orders);
		if ((rows[i].orders & LITTLE) != 0)
			assert_int_equal(ft_nccl_immediate(immdt, FT_NCCL_LITTLE), rows[i].number);
		if ((rows[i].orders & BIG) != 0)
			assert_int_equal(ft_nccl_immediate(immdt, FT_NCCL_BIG), rows[i].number);
	}
}

static void a_mask_tells_the_requests_that_carry_something(void **state)
{
	static const struct {
		const char *sentence, *hex;
		enum ft_nccl_mask mask;
		uint32_t requests;
		enum ft_nccl_verdict verdict;
		uint8_t filled;
	} rows[] = {
		{ "4096, 0, 131072", "05 00 00 00", FT_NCCL_MASK_BITS, 3, FT_NCCL_READ, 0x05 },
		{ "2.19.3, the third of eight empty", "fb 00 00 00", FT_NCCL_MASK_BITS, 8,
		  FT_NCCL_READ, 0xfb },
		{ "2.19.3, the third of four empty", "0b 00 00 00", FT_NCCL_MASK_BITS, 4,
		  FT_NCCL_READ, 0x0b },
		{ "2.12.12, eight, of which four are told", "01 01 00 01", FT_NCCL_MASK_BYTES, 8,
		  FT_NCCL_READ, 0x0b },
		{ "2.12.12, two", "01 01 00 00", FT_NCCL_MASK_BYTES, 2, FT_NCCL_READ, 0x03 },
		{ "all empty", "00 00 00 00", FT_NCCL_MASK_BITS, 8, FT_NCCL_READ, 0 },
		{ "more than there are", "0b 00 00 00", FT_NCCL_MASK_BITS, 3, FT_NCCL_NOT, 0 },
		{ "a byte more than there are", "01 01 01 00", FT_NCCL_MASK_BYTES, 2, FT_NCCL_NOT,
		  0 },
		{ "a byte that is not yes", "02 00 00 00", FT_NCCL_MASK_BYTES, 4, FT_NCCL_NOT, 0 },
		{ "a length", "41 0b 00 00", FT_NCCL_MASK_BITS, 8, FT_NCCL_NOT, 0 },
		{ "one request has no mask", "01 00 00 00", FT_NCCL_MASK_BITS, 1, FT_NCCL_NOT, 0 },
		{ "nine requests do not exist", "01 00 00 00", FT_NCCL_MASK_BITS, 9, FT_NCCL_NOT,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t filled = 0x5a;
		enum ft_nccl_verdict verdict = ft_nccl_mask_read(
			immdt_of(rows[i].hex), rows[i].mask, rows[i].requests, &filled);

		if (verdict != rows[i].verdict ||
		    filled != (verdict == FT_NCCL_READ ? rows[i].filled : 0x5a))
			fail_msg("%s: %d, %02x", rows[i].sentence, (int)verdict, filled);
	}
}

static bool same(const struct ft_nccl_sizes *a, const struct ft_nccl_sizes *b)
{
	return memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0 && a->requests == b->requests &&
	       a->captured == b->captured;
}

static void sizes_are_read(void **state)
{
	static const struct {
		const char *sentence, *hex;
		uint32_t captured; /* 0: all */
		enum ft_nccl_verdict verdict;
		struct ft_nccl_sizes sizes;
	} rows[] = {
		{ "three",
		  "00100000 00000000 00000200",
		  0,
		  FT_NCCL_READ,
		  { { 4096, 0, 131072 }, 3, 3 } },
		{ "three, two captured",
		  "00100000 00000000 00000200",
		  11,
		  FT_NCCL_READ,
		  { { 4096 }, 3, 2 } },
		{ "from 2.30.7",
		  "5e0e0000 7c0f0000 00000000 d6140000 4e100000 ee160100 98100000 ed000000",
		  0,
		  FT_NCCL_READ,
		  { { 3678, 3964, 0, 5334, 4174, 71406, 4248, 237 }, 8, 8 } },
		{ "none captured", "00100000 00000000", 3, FT_NCCL_CUT, { { 0 }, 0, 0 } },
		{ "one alone", "00100000", 0, FT_NCCL_NOT, { { 0 }, 0, 0 } },
		{ "nine", "00*36", 0, FT_NCCL_NOT, { { 0 }, 0, 0 } },
		{ "not whole numbers", "00*10", 0, FT_NCCL_NOT, { { 0 }, 0, 0 } },
		{ "a negative one", "00100000 00000080", 0, FT_NCCL_NOT, { { 0 }, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_sizes sizes = { .requests = 0 };
		uint8_t bytes[64];
		uint32_t length = (uint32_t)frame_bytes(rows[i].hex, bytes);
		struct ft_nccl_write write = { bytes,
					       rows[i].captured != 0 ? rows[i].captured : length,
					       length };

		if (ft_nccl_sizes_read(&write, &sizes) != rows[i].verdict ||
		    !same(&sizes, &rows[i].sizes))
			fail_msg("%s", rows[i].sentence);
	}
}

static void a_probe_reads_the_flags_of_one_record(void **state)
{
	static const uint64_t records = 0x7fb13370ab30;

	(void)state;
	assert_int_equal(ft_nccl_probed_slot(records, records + 32, 128), 0);
	assert_int_equal(ft_nccl_probed_slot(records, records + 41 * 160 + 32, 128), 41);
	assert_int_equal(ft_nccl_probed_slot(records, records + 255 * 160 + 32, 128), 255);
	assert_int_equal(ft_nccl_probed_slot(records, records + 256 * 160 + 32, 128), -1);
	assert_int_equal(ft_nccl_probed_slot(records, records + 41 * 160, 128), -1);
	assert_int_equal(ft_nccl_probed_slot(records, records + 32, 1), -1);
	assert_int_equal(ft_nccl_probed_slot(records, records - 128, 128), -1);
}

static void a_recovering_port_is_answered_with_one_number(void **state)
{
	(void)state;
	assert_true(ft_nccl_is_recovery_answer(immdt_of("34 12 00 00")));
	assert_false(ft_nccl_is_recovery_answer(immdt_of("00 00 12 34")));
	assert_false(ft_nccl_is_recovery_answer(immdt_of("04 00 00 00")));
	assert_int_equal(ft_nccl_immediate(immdt_of("04 00 00 00"), FT_NCCL_LITTLE), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_immediate_has_its_order_from_its_number),
		cmocka_unit_test(a_mask_tells_the_requests_that_carry_something),
		cmocka_unit_test(sizes_are_read),
		cmocka_unit_test(a_probe_reads_the_flags_of_one_record),
		cmocka_unit_test(a_recovering_port_is_answered_with_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
