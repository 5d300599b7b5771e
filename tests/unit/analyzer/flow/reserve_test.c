#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include <flow/reserve.h>

enum { KIB = 1024, MIB = 1024 * KIB, PAGE = 4 * KIB };

static const struct {
	const char *what;
	size_t bytes;
} sizes[] = {
	{ "less than a page", 100 },
	{ "less than a huge page", 100 * KIB },
	{ "a huge page", 2 * MIB },
	{ "huge pages", 6 * MIB },
	{ "huge pages, and a bit", 6 * MIB + 100 },
	{ "huge pages, and small ones", 7 * MIB },
};

static void check_zero_and_write(unsigned char *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at++)
		assert_int_equal(memory[at], 0);
	memset(memory, 0xa5, bytes);
}

static void reserved_bytes_are_zero_and_can_be_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		unsigned char *memory = ft_reserve(sizes[i].bytes);

		print_message("%s\n", sizes[i].what);
		assert_non_null(memory);
		check_zero_and_write(memory, sizes[i].bytes);
		ft_release(memory, sizes[i].bytes);
	}
}

static void what_is_given_back_is_zero_and_no_more(void **state)
{
	unsigned char *memory = ft_reserve(MIB);

	(void)state;
	assert_non_null(memory);
	memset(memory, 1, MIB);
	ft_reserve_give_back(memory + PAGE + 1, 100); /* no whole page */
	ft_reserve_give_back(memory + 2 * PAGE - 1, 3 * PAGE);
	for (size_t at = 0; at < MIB; at++)
		assert_int_equal(memory[at], at < 2 * PAGE || at >= 4 * PAGE);
	ft_release(memory, MIB);
}

static void what_is_filled_keeps_its_bytes(void **state)
{
	unsigned char *memory = ft_reserve(MIB);

	(void)state;
	assert_non_null(memory);
	memory[5000] = 1;
	ft_reserve_fill(memory + 5001, 300 * KIB);
	ft_reserve_fill(memory, MIB);
	for (size_t at = 0; at < MIB; at++)
		assert_int_equal(memory[at], at == 5000);
	ft_release(memory, MIB);
}

static void growth_goes_to_the_end_and_not_beyond(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct ft_growth growth;
		size_t bytes = sizes[i].bytes;

		print_message("%s\n", sizes[i].what);
		assert_int_equal(ft_growth_reserve(&growth, bytes), 0);
		assert_int_equal((uintptr_t)growth.memory % FT_HUGE_PAGE, 0);
		assert_int_equal(growth.taken, 0);
		while (growth.taken < bytes) {
			size_t before = growth.taken;

			ft_growth_upto(&growth, before + 1);
			assert_in_range(growth.taken, before + 1, bytes);
		}
		check_zero_and_write(growth.memory, bytes);
		ft_growth_release(&growth);
	}
}

/* Whether the kernel has given a page for it. */
static bool has_page(unsigned char *memory)
{
	unsigned char has;

	assert_int_equal(mincore(memory, PAGE, &has), 0);
	return (has & 1) != 0;
}

static void growth_takes_its_pages_ahead_of_use(void **state)
{
	struct ft_growth growth;

	(void)state;
	assert_int_equal(ft_growth_reserve(&growth, 16 * MIB), 0);
	assert_false(has_page(growth.memory));
	for (size_t wanted = 1; wanted < 8 * MIB; wanted += 700 * KIB) {
		ft_growth_upto(&growth, wanted);
		assert_true(growth.taken >= wanted);
		assert_true(has_page(growth.memory + (growth.taken - 1) / PAGE * PAGE));
	}
	assert_true(growth.taken <= 10 * MIB);
	assert_false(has_page(growth.memory + 14 * MIB));
	ft_growth_release(&growth);
}

static void growth_that_is_to_stay_small_takes_little_at_a_time(void **state)
{
	struct ft_growth growth;

	(void)state;
	assert_int_equal(ft_growth_reserve(&growth, 8 * MIB), 0);
	ft_growth_stay_small(&growth, 6 * MIB);
	for (size_t wanted = 1; wanted < 6 * MIB; wanted += 100 * KIB) {
		ft_growth_upto(&growth, wanted);
		assert_in_range(growth.taken, wanted, wanted + FT_HUGE_PAGE / 2);
		assert_true(has_page(growth.memory + (growth.taken - 1) / PAGE * PAGE));
	}
	ft_growth_upto(&growth, 8 * MIB);
	check_zero_and_write(growth.memory, 8 * MIB);
	ft_growth_release(&growth);
}

static void growth_takes_no_page_of_what_it_skips(void **state)
{
	struct ft_growth growth;

	(void)state;
	assert_int_equal(ft_growth_reserve(&growth, 8 * MIB), 0);
	ft_growth_skip(&growth, MIB);
	ft_growth_upto(&growth, MIB);
	assert_false(has_page(growth.memory));
	assert_false(has_page(growth.memory + MIB));
	ft_growth_upto(&growth, MIB + 1);
	assert_false(has_page(growth.memory + MIB - PAGE));
	assert_true(has_page(growth.memory + MIB));
	ft_growth_upto(&growth, 8 * MIB);
	check_zero_and_write(growth.memory + MIB, 7 * MIB);
	assert_false(has_page(growth.memory));
	ft_growth_release(&growth);
}

static void growth_that_skips_more_than_all_takes_none(void **state)
{
	struct ft_growth growth;

	(void)state;
	assert_int_equal(ft_growth_reserve(&growth, 3 * MIB), 0);
	ft_growth_skip(&growth, 4 * MIB);
	assert_int_equal(growth.taken, 3 * MIB);
	assert_false(has_page(growth.memory + 3 * MIB - PAGE));
	ft_growth_release(&growth);
}

static void growth_that_is_to_be_huge_takes_a_huge_page_first(void **state)
{
	struct ft_growth growth;

	(void)state;
	assert_int_equal(ft_growth_reserve(&growth, 8 * MIB), 0);
	ft_growth_be_huge(&growth);
	assert_false(has_page(growth.memory));
	ft_growth_upto(&growth, 1);
	assert_int_equal(growth.taken, FT_HUGE_PAGE);
	assert_true(has_page(growth.memory + FT_HUGE_PAGE - PAGE));
	ft_growth_upto(&growth, 8 * MIB);
	check_zero_and_write(growth.memory, 8 * MIB);
	ft_growth_release(&growth);
}

static void growth_that_is_to_stay_small_for_more_than_all_does_so_for_all(void **state)
{
	struct ft_growth growth;

	(void)state;
	assert_int_equal(ft_growth_reserve(&growth, 3 * MIB), 0);
	ft_growth_stay_small(&growth, 4 * MIB);
	assert_int_equal(growth.small_until, 3 * MIB);
	ft_growth_upto(&growth, 3 * MIB);
	assert_int_equal(growth.taken, 3 * MIB);
	check_zero_and_write(growth.memory, 3 * MIB);
	ft_growth_release(&growth);
}

static void growth_keeps_what_was_written(void **state)
{
	struct ft_growth growth;

	(void)state;
	assert_int_equal(ft_growth_reserve(&growth, 8 * MIB), 0);
	for (size_t at = 0; at < 8 * MIB; at += 10007) {
		ft_growth_upto(&growth, at + 1);
		growth.memory[at] = 1;
	}
	for (size_t at = 0; at < 8 * MIB; at++)
		assert_int_equal(growth.memory[at], at % 10007 == 0);
	ft_growth_release(&growth);
}

/* What of a growth's next huge pages is in small ones, in MiB, after pages that came slowly (s) or not (f). */
static const struct {
	const char *pages;
	size_t small;
} speeds[] = {
	{ "f", 0 },         { "s", 2 },           { "ss", 4 },       { "sss", 8 },
	{ "ssss", 16 },     { "sssss", 16 },      { "ssssf", 0 },    { "ssssfs", 2 },
	{ "fffffffff", 0 }, { "ffffffffffs", 2 }, { "sfsfsfss", 4 },
};

static void slow_pages_are_followed_by_small_ones_for_a_while(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
		struct ft_growth growth = { .bytes = (size_t)64 * MIB };

		print_message("%s\n", speeds[i].pages);
		for (const char *page = speeds[i].pages; *page != '\0'; page++) {
			growth.taken += FT_HUGE_PAGE;
			ft_growth_learn(&growth, *page == 's');
		}
		assert_int_equal(growth.small_until - growth.taken, speeds[i].small * MIB);
	}
}

static void small_pages_end_with_the_memory(void **state)
{
	struct ft_growth growth = { .bytes = 3 * MIB, .taken = 2 * MIB };

	(void)state;
	ft_growth_learn(&growth, true);
	assert_int_equal(growth.small_until, 3 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserved_bytes_are_zero_and_can_be_written),
		cmocka_unit_test(what_is_given_back_is_zero_and_no_more),
		cmocka_unit_test(what_is_filled_keeps_its_bytes),
		cmocka_unit_test(growth_goes_to_the_end_and_not_beyond),
		cmocka_unit_test(growth_takes_its_pages_ahead_of_use),
		cmocka_unit_test(growth_that_is_to_stay_small_takes_little_at_a_time),
		cmocka_unit_test(growth_takes_no_page_of_what_it_skips),
		cmocka_unit_test(growth_that_skips_more_than_all_takes_none),
		cmocka_unit_test(growth_that_is_to_be_huge_takes_a_huge_page_first),
		cmocka_unit_test(growth_that_is_to_stay_small_for_more_than_all_does_so_for_all),
		cmocka_unit_test(growth_keeps_what_was_written),
		cmocka_unit_test(slow_pages_are_followed_by_small_ones_for_a_while),
		cmocka_unit_test(small_pages_end_with_the_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
