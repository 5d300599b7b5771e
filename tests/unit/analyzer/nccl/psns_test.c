#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "history.h"
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

static bool repeats(struct ft_nccl_history *history, uint32_t psn)
{
	const uint64_t before = history->again;

	ft_nccl_history_take(history, psn);
	return history->again != before;
}

static void what_the_first_overtook_is_no_repetition(void **state)
{
	struct ft_nccl_history history = { 0 };

	(void)state;
	assert_false(repeats(&history, 100));
	assert_false(repeats(&history, 101));
	assert_false(repeats(&history, 99));
	assert_true(repeats(&history, 99));
	assert_false(repeats(&history, 36));
	assert_true(repeats(&history, 36));
	assert_false(repeats(&history, 35));
	assert_true(repeats(&history, 35));
	assert_false(repeats(&history, 40));
	assert_true(repeats(&history, 40));
	assert_true(repeats(&history, 100));
	assert_true(repeats(&history, 101));
}

static void another_sequence_has_a_first_one_of_its_own(void **state)
{
	struct ft_nccl_history history = { 0 };

	(void)state;
	assert_false(repeats(&history, 100));
	assert_false(repeats(&history, 99));
	assert_false(repeats(&history, 200 + FT_NCCL_PSN_WINDOW));
	assert_false(repeats(&history, 199 + FT_NCCL_PSN_WINDOW));
	assert_true(repeats(&history, 200 + FT_NCCL_PSN_WINDOW));
	assert_int_equal(history.missing, 0);
}

static void what_lies_behind_an_earlier_first_one_is_missing(void **state)
{
	struct ft_nccl_history history = { 0 };

	(void)state;
	ft_nccl_history_take_run(&history, 2, 3);
	assert_int_equal(history.missing, 0);
	ft_nccl_history_take(&history, 0xfffffe);
	assert_int_equal(history.missing, 3);
	ft_nccl_history_take(&history, 0);
	assert_int_equal(history.missing, 2);
	ft_nccl_history_take(&history, 7);
	assert_int_equal(history.missing, 4);
}

/* Seen: 10, 12, 15, 16, 20; what is missing up to a PSN that is counted elsewhere. */
static void what_comes_from_an_end_on_is_forgotten(void **state)
{
	static const uint32_t seen[] = { 10, 12, 15, 16, 20 };
	static const struct {
		uint32_t end;
		uint64_t missing;
	} rows[] = { { 25, 10 }, { 21, 6 }, { 20, 6 }, { 19, 5 },     { 17, 3 },
		     { 15, 3 },  { 14, 2 }, { 13, 1 }, { 12, 1 },     { 11, 0 },
		     { 10, 0 },  { 9, 0 },  { 0, 0 },  { 0xfffff, 0 } };

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ft_nccl_history history = { 0 };

		for (unsigned j = 0; j < sizeof seen / sizeof seen[0]; j++)
			ft_nccl_history_take(&history, seen[j]);
		ft_nccl_history_end(&history, rows[i].end);
		assert_int_equal(history.missing, rows[i].missing);
		assert_int_equal(history.psns.next, rows[i].end);
	}
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
		cmocka_unit_test(what_lies_behind_an_earlier_first_one_is_missing),
		cmocka_unit_test(what_comes_from_an_end_on_is_forgotten),
		cmocka_unit_test(far_away_is_another_sequence),
		cmocka_unit_test(ports_are_those_of_linux),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
