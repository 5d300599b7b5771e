#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "psns.h"
#include "source_port.h"

/* Which packet sequence numbers of a direction were seen. */

static int32_t take(struct ft_nccl_psns *psns, uint32_t psn, enum ft_nccl_turn expected)
{
	enum ft_nccl_turn turn = ft_nccl_psns_judge(psns, psn);

	assert_int_equal(turn, expected);
	return ft_nccl_psns_take(psns, psn, turn);
}

static void the_first_is_as_expected(void **state)
{
	struct ft_nccl_psns psns = { 0 };

	(void)state;
	assert_int_equal(take(&psns, 0xabcdef, FT_NCCL_NEXT), 0);
	assert_int_equal(take(&psns, 0xabcdf0, FT_NCCL_NEXT), 0);
}

static void numbers_wrap(void **state)
{
	struct ft_nccl_psns psns = { 0 };

	(void)state;
	take(&psns, 0xfffffe, FT_NCCL_NEXT);
	take(&psns, 0xffffff, FT_NCCL_NEXT);
	take(&psns, 0, FT_NCCL_NEXT);
	take(&psns, 0xffffff, FT_NCCL_AGAIN);
	assert_int_equal(take(&psns, 3, FT_NCCL_AHEAD), -2);
	assert_int_equal(take(&psns, 1, FT_NCCL_LATE), 1);
}

static void a_hole_is_filled_in_any_order(void **state)
{
	static const uint32_t orders[][4] = { { 1, 2, 3, 4 }, { 4, 3, 2, 1 }, { 2, 4, 1, 3 } };

	(void)state;
	for (unsigned i = 0; i < sizeof orders / sizeof orders[0]; i++) {
		struct ft_nccl_psns psns = { 0 };

		take(&psns, 0, FT_NCCL_NEXT);
		assert_int_equal(take(&psns, 5, FT_NCCL_AHEAD), -4);
		for (unsigned j = 0; j < 4; j++)
			assert_int_equal(take(&psns, orders[i][j], FT_NCCL_LATE), 1);
		for (unsigned j = 0; j < 6; j++)
			assert_int_equal(take(&psns, j, FT_NCCL_AGAIN), 0);
		assert_int_equal(psns.hole_count, 0);
		take(&psns, 6, FT_NCCL_NEXT);
	}
}

static void the_newest_holes_are_remembered(void **state)
{
	struct ft_nccl_psns psns = { 0 };

	(void)state;
	for (uint32_t psn = 0; psn <= 2 * (FT_NCCL_HOLES + 1); psn += 2)
		take(&psns, psn, psn == 0 ? FT_NCCL_NEXT : FT_NCCL_AHEAD);
	take(&psns, 1, FT_NCCL_AGAIN);
	take(&psns, 3, FT_NCCL_LATE);
	take(&psns, 2 * FT_NCCL_HOLES + 1, FT_NCCL_LATE);
}

static void what_the_first_overtook_is_no_repetition(void **state)
{
	struct ft_nccl_psns psns = { 0 };

	(void)state;
	take(&psns, 100, FT_NCCL_NEXT);
	take(&psns, 101, FT_NCCL_NEXT);
	take(&psns, 99, FT_NCCL_AGAIN);
	assert_false(ft_nccl_psns_repeats(&psns, 99));
	assert_true(ft_nccl_psns_repeats(&psns, 99));
	assert_false(ft_nccl_psns_repeats(&psns, 36));
	assert_true(ft_nccl_psns_repeats(&psns, 36));
	assert_false(ft_nccl_psns_repeats(&psns, 35));
	assert_false(ft_nccl_psns_repeats(&psns, 35));
	assert_true(ft_nccl_psns_repeats(&psns, 100));
	assert_true(ft_nccl_psns_repeats(&psns, 101));
}

static void another_sequence_has_a_first_one_of_its_own(void **state)
{
	struct ft_nccl_psns psns = { 0 };

	(void)state;
	take(&psns, 100, FT_NCCL_NEXT);
	assert_false(ft_nccl_psns_repeats(&psns, 99));
	take(&psns, 200 + FT_NCCL_PSN_WINDOW, FT_NCCL_APART);
	assert_false(ft_nccl_psns_repeats(&psns, 199 + FT_NCCL_PSN_WINDOW));
	assert_true(ft_nccl_psns_repeats(&psns, 200 + FT_NCCL_PSN_WINDOW));
}

static void far_away_is_another_sequence(void **state)
{
	struct ft_nccl_psns psns = { 0 };

	(void)state;
	take(&psns, 1000000, FT_NCCL_NEXT);
	assert_int_equal(ft_nccl_psns_judge(&psns, 1000000 + FT_NCCL_PSN_WINDOW), FT_NCCL_AHEAD);
	assert_int_equal(take(&psns, 1000001 + FT_NCCL_PSN_WINDOW, FT_NCCL_APART), 0);
	take(&psns, 0, FT_NCCL_APART);
	take(&psns, 1, FT_NCCL_NEXT);
}

/* The specification's test vectors TV13. */
static void ports_are_those_of_linux(void **state)
{
	(void)state;
	assert_int_equal(ft_nccl_source_port(0x000123, 0x000456), 60881);
	assert_int_equal(ft_nccl_source_port(0x000456, 0x000123), 60881);
	assert_int_equal(ft_nccl_source_port(0x0000a1, 0x000b07), 61308);
	assert_int_equal(ft_nccl_source_port(0x01c2d3, 0x01c3f4), 56255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_is_as_expected),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(a_hole_is_filled_in_any_order),
		cmocka_unit_test(the_newest_holes_are_remembered),
		cmocka_unit_test(what_the_first_overtook_is_no_repetition),
		cmocka_unit_test(another_sequence_has_a_first_one_of_its_own),
		cmocka_unit_test(far_away_is_another_sequence),
		cmocka_unit_test(ports_are_those_of_linux),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
