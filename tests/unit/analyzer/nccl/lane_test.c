#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "lane.h"

/* Queue pairs of a connection begin as if nothing was seen, in memory that others had, and move as others are added. */

enum { HOLES = 3 };

static int32_t take(struct ft_nccl_psns *psns, uint32_t psn)
{
	return ft_nccl_psns_take(psns, psn, ft_nccl_psns_judge(psns, psn));
}

/* One packet of 10 is missing in so many places. */
static void take_with_holes(struct ft_nccl_psns *psns, uint32_t from, unsigned holes)
{
	take(psns, from);
	for (unsigned i = 0; i < holes; i++) {
		for (uint32_t psn = from + 10 * i + 1; psn < from + 10 * i + 10; psn++)
			take(psns, psn);
		take(psns, from + 10 * i + 11);
	}
}

static void has_holes(struct ft_nccl_psns *psns, uint32_t from, unsigned holes)
{
	assert_int_equal(ft_nccl_psns_judge(psns, from), FT_NCCL_AGAIN);
	for (unsigned i = 0; i < holes; i++)
		assert_int_equal(take(psns, from + 10 * i + 10), 1);
	for (unsigned i = 0; i < holes; i++)
		assert_int_equal(ft_nccl_psns_judge(psns, from + 10 * i + 10), FT_NCCL_AGAIN);
}

static void is_empty(const struct ft_nccl_lane *lane)
{
	assert_true(lane->exact);
	assert_false(lane->carried || lane->asked || lane->open || lane->writing || lane->has_odd ||
		     lane->has_early || lane->alien || lane->counted);
	assert_int_equal(lane->at + lane->next + lane->turns + lane->orphans + lane->left_out +
				 lane->orphan_row_count,
			 0);
	assert_int_equal(lane->tally.numbered + lane->tally.others + lane->tally.ended, 0);
	assert_int_equal(ft_nccl_psns_judge(&lane->data, 77), FT_NCCL_NEXT);
	assert_int_equal(ft_nccl_psns_judge(&lane->cts, 77), FT_NCCL_NEXT);
	assert_false(lane->data_before.known || lane->cts_before.known);
}

static void one_begins_in_memory_that_was_used(void **state)
{
	struct ft_nccl_lane lane;

	(void)state;
	memset(&lane, 0xff, sizeof lane);
	ft_nccl_lane_begin(&lane, false);
	is_empty(&lane);
	take_with_holes(&lane.data, 100, HOLES);
	has_holes(&lane.data, 100, HOLES);
}

static void one_begins_in_memory_that_is_zero(void **state)
{
	struct ft_nccl_lane lane;

	(void)state;
	memset(&lane, 0, sizeof lane);
	ft_nccl_lane_begin(&lane, true);
	is_empty(&lane);
	take_with_holes(&lane.data, 100, HOLES);
	has_holes(&lane.data, 100, HOLES);
}

static void one_goes_on_where_it_moves(void **state)
{
	struct ft_nccl_lane from, to;

	(void)state;
	memset(&to, 0xff, sizeof to);
	ft_nccl_lane_begin(&from, false);
	from.carried = from.has_odd = from.has_early = true;
	from.next = 12;
	from.tally.ended = 11;
	from.odd.frame = 4;
	from.early.frame = 5;
	from.orphan_row_count = 2;
	from.orphan_rows[0].psn = 90;
	from.orphan_rows[1].psn = 95;
	take_with_holes(&from.data, 100, HOLES);
	take_with_holes(&from.cts, 2000, 1);
	take_with_holes(&from.data_before, 50, 2);
	take_with_holes(&from.cts_before, 1900, 0);
	ft_nccl_lane_move(&to, &from);
	memset(&from, 0xff, sizeof from);
	assert_true(to.carried && to.has_odd && to.has_early && to.exact);
	assert_int_equal(to.next, 12);
	assert_int_equal(to.tally.ended, 11);
	assert_int_equal(to.odd.frame, 4);
	assert_int_equal(to.early.frame, 5);
	assert_int_equal(to.orphan_row_count, 2);
	assert_int_equal(to.orphan_rows[0].psn, 90);
	assert_int_equal(to.orphan_rows[1].psn, 95);
	has_holes(&to.data, 100, HOLES);
	has_holes(&to.cts, 2000, 1);
	has_holes(&to.data_before, 50, 2);
	has_holes(&to.cts_before, 1900, 0);
}

/* As many as there is room for. */
static void all_holes_move(void **state)
{
	struct ft_nccl_lane from, to;

	(void)state;
	ft_nccl_lane_begin(&from, false);
	take_with_holes(&from.data, 100, FT_NCCL_HOLES);
	ft_nccl_lane_move(&to, &from);
	has_holes(&to.data, 100, FT_NCCL_HOLES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_begins_in_memory_that_was_used),
		cmocka_unit_test(one_begins_in_memory_that_is_zero),
		cmocka_unit_test(one_goes_on_where_it_moves),
		cmocka_unit_test(all_holes_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
