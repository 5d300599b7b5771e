#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "history.h"

/* What passed of a sequence before anybody knew what it is: what is missing of it, and what passed again. */

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

/* .. and what was missing of the one before, or passed again, is none of its. */
static void another_sequence_counts_from_nothing(void **state)
{
	struct ft_nccl_history history = { 0 };

	(void)state;
	ft_nccl_history_take_run(&history, 100, 2);
	ft_nccl_history_take(&history, 105);
	ft_nccl_history_take(&history, 105);
	ft_nccl_history_take(&history, 200 + FT_NCCL_PSN_WINDOW);
	assert_int_equal(history.missing, 0);
	assert_int_equal(history.again, 0);
	ft_nccl_history_take(&history, 202 + FT_NCCL_PSN_WINDOW);
	assert_int_equal(history.missing, 1);
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

/* What an end left is a sequence still: it has a first one and a next one, and what was missing stays. */
static void what_is_left_before_an_end_goes_on(void **state)
{
	struct ft_nccl_history history = { 0 };

	(void)state;
	ft_nccl_history_take_run(&history, 10, 2);
	ft_nccl_history_take(&history, 11);
	ft_nccl_history_take(&history, 14);
	ft_nccl_history_end(&history, 13);
	assert_true(history.psns.known);
	assert_int_equal(history.psns.origin, 10);
	assert_int_equal(history.missing, 1);
	assert_int_equal(history.again, 1);
	ft_nccl_history_take(&history, 12);
	assert_int_equal(history.missing, 0);
	assert_false(repeats(&history, 13));
}

/* Of nothing that passed, or of what is elsewhere, an end is the first and the next; what passed again did. */
static void an_end_of_another_sequence_leaves_nothing_but_what_passed_again(void **state)
{
	static const uint32_t ends[] = { 100 + 2 * FT_NCCL_PSN_WINDOW, 99, 100 };

	(void)state;
	for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		struct ft_nccl_history history = { 0 };

		ft_nccl_history_take(&history, 100);
		ft_nccl_history_take(&history, 105);
		ft_nccl_history_take(&history, 105);
		ft_nccl_history_end(&history, ends[i]);
		assert_true(history.psns.known);
		assert_int_equal(history.psns.origin, ends[i]);
		assert_int_equal(history.psns.next, ends[i]);
		assert_int_equal(history.psns.hole_count, 0);
		assert_int_equal(history.missing, 0);
		assert_int_equal(history.again, 1);
	}
}

static void an_end_where_nothing_passed_is_the_first(void **state)
{
	struct ft_nccl_history history = { 0 };

	(void)state;
	ft_nccl_history_end(&history, 7);
	assert_true(history.psns.known);
	assert_int_equal(history.psns.origin, 7);
	assert_int_equal(history.psns.next, 7);
	assert_int_equal(history.missing, 0);
}

/* --- runs in any order, held against a list of what was seen --- */

enum { PSNS = 48, ORDERS = 2000, RUNS = 6, FIRST = 0xffffe0 /* they wrap */ };

struct list {
	unsigned times[PSNS];
};

static uint64_t missing_in(const struct list *list)
{
	unsigned first = 0, last = PSNS;
	uint64_t missing = 0;

	while (list->times[first] == 0)
		first++;
	while (list->times[last - 1] == 0)
		last--;
	for (unsigned i = first; i < last; i++)
		missing += list->times[i] == 0;
	return missing;
}

static uint64_t again_in(const struct list *list)
{
	uint64_t again = 0;

	for (unsigned i = 0; i < PSNS; i++)
		again += list->times[i] > 1 ? list->times[i] - 1 : 0;
	return again;
}

static uint32_t drawn(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

static void runs_in_any_order_are_what_was_seen_of_them(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (unsigned order = 0; order < ORDERS; order++) {
		struct ft_nccl_history history = { 0 };
		struct list list = { { 0 } };

		for (unsigned i = 0; i < RUNS; i++) {
			const uint32_t from = drawn(&seed, PSNS - 8), count = 1 + drawn(&seed, 8);

			ft_nccl_history_take_run(&history, ft_psn_add(FIRST, from), count);
			for (uint32_t at = from; at < from + count; at++)
				list.times[at]++;
			assert_int_equal(history.missing, missing_in(&list));
			assert_int_equal(history.again, again_in(&list));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_first_overtook_is_no_repetition),
		cmocka_unit_test(another_sequence_has_a_first_one_of_its_own),
		cmocka_unit_test(another_sequence_counts_from_nothing),
		cmocka_unit_test(what_lies_behind_an_earlier_first_one_is_missing),
		cmocka_unit_test(what_comes_from_an_end_on_is_forgotten),
		cmocka_unit_test(what_is_left_before_an_end_goes_on),
		cmocka_unit_test(an_end_of_another_sequence_leaves_nothing_but_what_passed_again),
		cmocka_unit_test(an_end_where_nothing_passed_is_the_first),
		cmocka_unit_test(runs_in_any_order_are_what_was_seen_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
