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

/* Seen: 10, 12, 15, 16, 20. */
static struct ft_nccl_psns with_holes(void)
{
	static const uint32_t seen[] = { 10, 12, 15, 16, 20 };
	struct ft_nccl_psns psns = { 0 };

	for (unsigned i = 0; i < sizeof seen / sizeof seen[0]; i++)
		ft_nccl_psns_take(&psns, seen[i], ft_nccl_psns_judge(&psns, seen[i]));
	return psns;
}

static void what_is_remembered_lies_between_the_first_and_the_newest(void **state)
{
	static const struct {
		struct ft_nccl_psn_range all, remembered;
	} rows[] = {
		{ { 10, 11 }, { 10, 11 } },        { { 0, 100 }, { 10, 11 } },
		{ { 12, 3 }, { 12, 3 } },          { { 18, 100 }, { 18, 3 } },
		{ { 5, 5 }, { 10, 0 } },           { { 5, 6 }, { 10, 1 } },
		{ { 21, 5 }, { 21, 0 } },          { { 30, 5 }, { 30, 0 } },
		{ { 0xffff00, 300 }, { 10, 11 } }, { { 13, 0 }, { 13, 0 } },
	};
	const struct ft_nccl_psns psns = with_holes(), none = { 0 };

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct ft_nccl_psn_range told = ft_nccl_psns_remembered(&psns, &rows[i].all);

		assert_int_equal(told.count, rows[i].remembered.count);
		if (told.count != 0)
			assert_int_equal(told.psn, rows[i].remembered.psn);
		assert_int_equal(ft_nccl_psns_remembered(&none, &rows[i].all).count, 0);
	}
}

static void what_is_remembered_is_no_older_than_the_window(void **state)
{
	const struct ft_nccl_psn_range all = { 5, 3 * FT_NCCL_PSN_WINDOW };
	struct ft_nccl_psns psns = { 0 };
	struct ft_nccl_psn_range told;

	(void)state;
	take(&psns, 5, FT_NCCL_NEXT);
	take(&psns, FT_NCCL_PSN_WINDOW, FT_NCCL_AHEAD);
	take(&psns, 2 * FT_NCCL_PSN_WINDOW - 1, FT_NCCL_AHEAD);
	told = ft_nccl_psns_remembered(&psns, &all);
	assert_int_equal(told.psn, FT_NCCL_PSN_WINDOW);
	assert_int_equal(told.count, FT_NCCL_PSN_WINDOW);
}

/* Each that there is of the PSNs 10 to 20: as if its packets were taken one by one. */
static void ranges_fill_what_their_packets_would(void **state)
{
	(void)state;
	for (uint32_t from = 10; from <= 20; from++) {
		for (uint32_t count = 0; from + count <= 21; count++) {
			const struct ft_nccl_psn_range range = { from, count };
			struct ft_nccl_psns at_once = with_holes(), one_by_one = with_holes();
			uint32_t filled = 0;

			for (uint32_t psn = from; psn < from + count; psn++) {
				if (ft_nccl_psns_judge(&one_by_one, psn) != FT_NCCL_LATE)
					continue;
				ft_nccl_psns_take(&one_by_one, psn, FT_NCCL_LATE);
				filled++;
			}
			assert_int_equal(ft_nccl_psns_fill(&at_once, &range), filled);
			for (uint32_t psn = 10; psn <= 21; psn++)
				assert_int_equal(ft_nccl_psns_judge(&at_once, psn),
						 ft_nccl_psns_judge(&one_by_one, psn));
		}
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
		cmocka_unit_test(what_is_remembered_lies_between_the_first_and_the_newest),
		cmocka_unit_test(what_is_remembered_is_no_older_than_the_window),
		cmocka_unit_test(ranges_fill_what_their_packets_would),
		cmocka_unit_test(far_away_is_another_sequence),
		cmocka_unit_test(ports_are_those_of_linux),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
