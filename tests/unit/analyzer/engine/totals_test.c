#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <partition/declared.h>

#include "totals.h"

static void a_pair_has_one_cell(void **state)
{
	struct ft_totals totals;

	(void)state;
	assert_int_equal(ft_totals_init(&totals, 3), 0);
	assert_int_equal(ft_totals_cell(&totals, 0, 1), 0);
	assert_int_equal(ft_totals_cell(&totals, 1, 0), 1);
	assert_int_equal(ft_totals_cell(&totals, FT_NONE, 0), 2);
	assert_int_equal(ft_totals_cell(&totals, 0, 1), 0);
	assert_int_equal(ft_totals_cell(&totals, FT_NONE, 0), 2);
	ft_totals_free(&totals);
}

static void cells_survive_growth(void **state)
{
	enum { SIDE = 100 };
	struct ft_totals totals;

	(void)state;
	assert_int_equal(ft_totals_init(&totals, SIDE), 0);
	for (uint32_t from = 0; from < SIDE; from++)
		for (uint32_t to = 0; to < SIDE; to++) {
			uint32_t cell = ft_totals_cell(&totals, from, to);

			totals.cells[cell].packets += from * SIDE + to;
		}
	assert_int_equal(totals.cell_count, SIDE * SIDE);
	for (uint32_t from = 0; from < SIDE; from++)
		for (uint32_t to = 0; to < SIDE; to++)
			assert_int_equal(totals.cells[ft_totals_cell(&totals, from, to)].packets,
					 from * SIDE + to);
	ft_totals_free(&totals);
}

static void the_sum_takes_in_every_cell(void **state)
{
	struct ft_totals totals;
	struct ft_cell sum;

	(void)state;
	assert_int_equal(ft_totals_init(&totals, 2), 0);
	assert_int_equal(ft_totals_sum(&totals).packets, 0);
	for (uint32_t from = 0; from < 2; from++) {
		uint32_t index = ft_totals_cell(&totals, from, FT_NONE);

		totals.cells[index].packets = 10 + from;
		totals.cells[index].bytes = 1000 + from;
		totals.cells[index].judged = 5 + from;
	}
	sum = ft_totals_sum(&totals);
	assert_int_equal(sum.packets, 21);
	assert_int_equal(sum.bytes, 2001);
	assert_int_equal(sum.judged, 11);
	ft_totals_free(&totals);
}

static void exceptions_of_a_cell_are_a_sorted_set(void **state)
{
	const uint32_t used[] = { 5, 1, 9, 5, 1, 0 };
	const uint32_t expected[] = { 0, 1, 5, 9 };
	struct ft_totals totals;
	uint32_t cell;

	(void)state;
	assert_int_equal(ft_totals_init(&totals, 2), 0);
	cell = ft_totals_cell(&totals, 0, 1);
	for (unsigned i = 0; i < 6; i++)
		ft_totals_except(&totals, cell, used[i]);
	assert_int_equal(totals.cells[cell].exception_count, 4);
	assert_memory_equal(totals.cells[cell].exceptions, expected, sizeof expected);
	ft_totals_free(&totals);
}

static void an_endpoint_counts_once_for_each_tenant_it_acts_for(void **state)
{
	struct ft_totals totals;

	(void)state;
	assert_int_equal(ft_totals_init(&totals, 2), 0);
	for (uint64_t address = 0; address < 1000; address++) {
		ft_totals_see(&totals, 0, address * 1000003);
		ft_totals_see(&totals, 0, address * 1000003);
		ft_totals_see(&totals, address % 2 == 0 ? 1 : FT_NONE, address * 1000003);
	}
	assert_int_equal(totals.seen_by_tenant[0], 1000);
	assert_int_equal(totals.seen_by_tenant[1], 500);
	ft_totals_free(&totals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pair_has_one_cell),
		cmocka_unit_test(cells_survive_growth),
		cmocka_unit_test(the_sum_takes_in_every_cell),
		cmocka_unit_test(exceptions_of_a_cell_are_a_sorted_set),
		cmocka_unit_test(an_endpoint_counts_once_for_each_tenant_it_acts_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
