#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <flow/reserve.h>

enum { KIB = 1024, MIB = 1024 * KIB };

static const struct {
	const char *what;
	size_t bytes, small;
} kinds[] = {
	{ "less than a page", 100, FT_RESERVE_ALL },
	{ "small pages", 5 * MIB, FT_RESERVE_ALL },
	{ "huge pages", 4 * MIB, 0 },
	{ "huge pages, and a bit", 4 * MIB + 100, 0 },
	{ "less than a huge page", 100 * KIB, 0 },
	{ "huge pages behind small ones", 6 * MIB, FT_HUGE_PAGE },
	{ "none behind small ones", 1 * MIB, FT_HUGE_PAGE },
};

static void all_bytes_are_zero_and_can_be_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t bytes = kinds[i].bytes;
		unsigned char *memory = ft_reserve(bytes, kinds[i].small);

		print_message("%s\n", kinds[i].what);
		assert_non_null(memory);
		for (size_t at = 0; at < bytes; at++)
			assert_int_equal(memory[at], 0);
		memset(memory, 0xa5, bytes);
		ft_release(memory, bytes);
	}
}

static void huge_pages_can_begin_where_they_should(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		void *memory = ft_reserve(4 * MIB, 0);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % FT_HUGE_PAGE, 0);
		ft_release(memory, 4 * MIB);
	}
}

static void what_is_filled_keeps_its_bytes(void **state)
{
	unsigned char *memory = ft_reserve(MIB, FT_RESERVE_ALL);

	(void)state;
	assert_non_null(memory);
	memory[5000] = 1;
	ft_reserve_fill(memory + 5001, 300 * KIB);
	ft_reserve_fill(memory, MIB);
	for (size_t at = 0; at < MIB; at++)
		assert_int_equal(memory[at], at == 5000);
	ft_release(memory, MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_bytes_are_zero_and_can_be_written),
		cmocka_unit_test(huge_pages_can_begin_where_they_should),
		cmocka_unit_test(what_is_filled_keeps_its_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
