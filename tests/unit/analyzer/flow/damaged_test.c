#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "damaged.h"

static int set_up(void **state)
{
	struct ft_damaged *damaged = calloc(1, sizeof *damaged);

	if (damaged == NULL)
		return -1;
	damaged->seed = 0x1234567890abcdef;
	*state = damaged;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static void add_range(struct ft_damaged *damaged, uint32_t flow, uint32_t from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		ft_damaged_add(damaged, flow, (from + i) & 0xffffff);
}

static void nothing_is_found_where_nothing_came(void **state)
{
	struct ft_damaged *damaged = *state;

	assert_int_equal(ft_damaged_within(damaged, 1, 0, 1), 0);
	assert_int_equal(ft_damaged_within(damaged, 1, 0, 1 << 24), 0);
	ft_damaged_add(damaged, 1, 7);
	assert_int_equal(ft_damaged_within(damaged, 2, 0, 10), 0);
	assert_int_equal(ft_damaged_within(damaged, 1, 8, 10), 0);
	assert_int_equal(ft_damaged_within(damaged, 1, 7, 0), 0);
}

/* The 15th copy of a packet says no more than the first. */
static void each_psn_counts_once(void **state)
{
	struct ft_damaged *damaged = *state;

	for (unsigned i = 0; i < 5; i++)
		add_range(damaged, 3, 100, 3);
	assert_int_equal(ft_damaged_within(damaged, 3, 100, 3), 3);
	assert_int_equal(ft_damaged_within(damaged, 3, 0, 1000), 3);
	assert_int_equal(ft_damaged_within(damaged, 3, 101, 1), 1);
}

static void ranges_pass_the_end_of_the_numbers(void **state)
{
	struct ft_damaged *damaged = *state;

	add_range(damaged, 3, 0xfffffe, 4);
	assert_int_equal(ft_damaged_within(damaged, 3, 0xfffffd, 5), 4);
	assert_int_equal(ft_damaged_within(damaged, 3, 0xffffff, 2), 2);
	assert_int_equal(ft_damaged_within(damaged, 3, 0xffff00, 300), 4);
}

static void answers_are_counted_apart(void **state)
{
	struct ft_damaged *damaged = *state;

	ft_damaged_add(damaged, 3, 10);
	ft_damaged_add(damaged, 3, 11 | FT_DAMAGED_ANSWER);
	ft_damaged_add(damaged, 3, 12 | FT_DAMAGED_ANSWER);
	assert_int_equal(ft_damaged_within(damaged, 3, 0, 20), 1);
	assert_int_equal(ft_damaged_within(damaged, 3, 0 | FT_DAMAGED_ANSWER, 20), 2);
	assert_int_equal(ft_damaged_within(damaged, 3, 0, 2000), 1);
	assert_int_equal(ft_damaged_within(damaged, 3, 0 | FT_DAMAGED_ANSWER, 2000), 2);
}

/* Of 10000 of one half-connection 4096 are left, whether they are asked for one by one or together. */
static void the_last_ones_are_remembered(void **state)
{
	struct ft_damaged *damaged = *state;
	uint32_t found = 0;

	add_range(damaged, 3, 0, 10000);
	for (uint32_t psn = 0; psn < 10000; psn++)
		found += ft_damaged_within(damaged, 3, psn, 1);
	assert_int_equal(found, FT_DAMAGED_KEPT);
	assert_int_equal(ft_damaged_within(damaged, 3, 0, 10000), FT_DAMAGED_KEPT);
	assert_int_equal(ft_damaged_within(damaged, 3, 10000 - FT_DAMAGED_KEPT, 1), 1);
	assert_int_equal(ft_damaged_within(damaged, 3, 10000 - FT_DAMAGED_KEPT - 1, 1), 0);
	add_range(damaged, 4, 0, 96);
	assert_int_equal(ft_damaged_within(damaged, 3, 0, 10000), FT_DAMAGED_KEPT - 96);
	assert_int_equal(ft_damaged_within(damaged, 4, 0, 10000), 96);
}

/* 2^32 - 3 packets later: those before the wrap are there as long as any. */
static void numbers_of_packets_wrap(void **state)
{
	struct ft_damaged *damaged = *state;

	damaged->newest = UINT32_MAX - 3;
	add_range(damaged, 3, 0, 10);
	assert_int_equal(ft_damaged_within(damaged, 3, 0, 10), 10);
	assert_int_equal(ft_damaged_within(damaged, 3, 0, 100), 10);
	add_range(damaged, 4, 0, FT_DAMAGED_KEPT);
	assert_int_equal(ft_damaged_within(damaged, 3, 0, 10), 0);
	assert_int_equal(ft_damaged_within(damaged, 3, 0, 100), 0);
	assert_in_range(ft_damaged_within(damaged, 4, 0, FT_DAMAGED_KEPT), FT_DAMAGED_KEPT - 1,
			FT_DAMAGED_KEPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_found_where_nothing_came, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(each_psn_counts_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ranges_pass_the_end_of_the_numbers, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(answers_are_counted_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_last_ones_are_remembered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(numbers_of_packets_wrap, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
