#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <decode/icrc.h>

#include "crc32_fold.h"

enum { SIZES = 2600 };

static const struct ft_crc32_mask masks[] = {
	{ 1, { 0 } },
	{ 1, { 0xf0, [12] = 0xff } },
	{ 2, { [30] = 0xff, [32] = 0xff, [63] = 0xff } }, /* behind its chunks it means nothing */
	{ 3, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, [9] = 0xff, [34] = 0xff, 0xff } },
	{ 4, { [5] = 0x0f, [54] = 0xff, 0xff, [60] = 0xff, [63] = 0x80 } },
};

enum { MASKS = sizeof masks / sizeof *masks };

static uint32_t by_zlib(uint32_t seed, const struct ft_crc32_mask *mask, const uint8_t *bytes,
			size_t size)
{
	uint8_t covered[SIZES];

	memcpy(covered, bytes, size);
	for (size_t i = 0; i < size && i < mask->chunks * FT_CRC32_CHUNK; i++)
		covered[i] |= mask->ones[i];
	return (uint32_t)crc32(seed, covered, (uInt)size);
}

/* Of each size, in memory that ends with them, so that sanitizers see what reads on; `least`: with a mask in whole. */
static void for_all_sizes(size_t least, void (*check)(const struct ft_crc32_mask *mask,
						      const uint8_t *bytes, size_t size))
{
	uint32_t random = 1;

	for (size_t size = 4; size < SIZES; size += size < 400 ? 1 : 37) {
		uint8_t *bytes = malloc(size);

		assert_non_null(bytes);
		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
		for (unsigned m = 0; m < MASKS; m++)
			if (size >= least * masks[m].chunks * FT_CRC32_CHUNK)
				check(&masks[m], bytes, size);
		free(bytes);
	}
}

static void check_masked(const struct ft_crc32_mask *mask, const uint8_t *bytes, size_t size)
{
	assert_int_equal(ft_crc32_masked(0, mask, bytes, size), by_zlib(0, mask, bytes, size));
	assert_int_equal(ft_crc32_masked(0x12345678, mask, bytes, size),
			 by_zlib(0x12345678, mask, bytes, size));
}

static void is_that_of_zlib_whatever_the_processor(void **state)
{
	(void)state;
	for_all_sizes(1, check_masked);
}

static void check_fold(const struct ft_crc32_mask *mask, const uint8_t *bytes, size_t size)
{
	assert_int_equal(ft_crc32_fold(0, mask, bytes, size), by_zlib(0, mask, bytes, size));
}

static void is_that_of_zlib_by_16_bytes(void **state)
{
	(void)state;
	if (!ft_crc32_can_fold()) {
		puts("SKIP: this processor has no carry-less multiplication");
		skip();
	}
	for_all_sizes(1, check_fold);
}

static void check_widely(const struct ft_crc32_mask *mask, const uint8_t *bytes, size_t size)
{
	assert_int_equal(ft_crc32_fold_widely(mask, bytes, size), by_zlib(0, mask, bytes, size));
}

static void is_that_of_zlib_by_64_bytes(void **state)
{
	(void)state;
	if (!ft_crc32_can_fold_widely()) {
		puts("SKIP: this processor has no carry-less multiplication of 64 bytes");
		skip();
	}
	for_all_sizes(0, check_widely);
}

/* As it stands, the low byte first. */
static uint32_t stored_crc(const uint8_t *bytes, size_t size)
{
	return htole32((uint32_t)crc32(0, bytes, (uInt)size));
}

static void a_change_of_two_bytes_changes_it_alike_whatever_else_there_is(void **state)
{
	uint8_t bytes[SIZES];
	uint32_t random = 7;

	(void)state;
	for (unsigned i = 0; i < SIZES; i++)
		bytes[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
	for (size_t at = 0; at + 2 <= SIZES; at += at % 256 < 16 ? 1 : 61) {
		uint16_t change = (uint16_t)(at * 37 << 8 | (at + 1) % 256);
		uint32_t before = stored_crc(bytes, SIZES);

		bytes[at] ^= (uint8_t)(change >> 8);
		bytes[at + 1] ^= (uint8_t)change;
		assert_int_equal(ft_icrc_change(change, (uint32_t)(SIZES - at - 2)),
				 before ^ stored_crc(bytes, SIZES));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_of_two_bytes_changes_it_alike_whatever_else_there_is),
		cmocka_unit_test(is_that_of_zlib_whatever_the_processor),
		cmocka_unit_test(is_that_of_zlib_by_16_bytes),
		cmocka_unit_test(is_that_of_zlib_by_64_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
