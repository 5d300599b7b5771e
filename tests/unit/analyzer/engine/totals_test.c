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

enum { RED, BLUE, TENANTS, PARTS = 3 };

static const uint32_t used_exceptions[] = { 3, 8 };

/* What worker `i` counted: no number stands for two things. */
static void fill_part(struct ft_totals *part, unsigned i)
{
	uint32_t other, index;

	assert_int_equal(ft_totals_init(part, TENANTS), 0);
	other = ft_totals_cell(part, BLUE, i == 0 ? FT_NONE : BLUE);
	index = ft_totals_cell(part, RED, BLUE);
	part->cells[other].packets = 1;
	part->cells[index] = (struct ft_cell){
		.from = RED,
		.to = BLUE,
		.packets = 10 + i,
		.bytes = 100 + i,
		.violating = i,
		.judged = 7 + i,
		.undecided = 3 + i,
		.ce_marked = 20 + i,
		.cnps = 30 + i,
		.rnr_naks = 40 + i,
		.retransmitted = 50 + i,
	};
	ft_totals_except(part, index, used_exceptions[i % 2]);
	*ft_totals_pkey(part, 0x8001) = (struct ft_pkey_total){ .packets = i, .bytes = 10 * i };
	ft_totals_see(part, RED, 4711);
	ft_totals_see(part, BLUE, 1000 + i);
}

static void assert_sum_of_parts(struct ft_totals *sum)
{
	const struct ft_cell *cell;

	assert_int_equal(sum->cell_count, 3);
	assert_int_equal(sum->cells[ft_totals_cell(sum, BLUE, FT_NONE)].packets, 1);
	assert_int_equal(sum->cells[ft_totals_cell(sum, BLUE, BLUE)].packets, 2);
	cell = &sum->cells[ft_totals_cell(sum, RED, BLUE)];
	assert_int_equal(cell->packets, 33);
	assert_int_equal(cell->bytes, 303);
	assert_int_equal(cell->violating, 3);
	assert_int_equal(cell->judged, 24);
	assert_int_equal(cell->undecided, 12);
	assert_int_equal(cell->ce_marked, 63);
	assert_int_equal(cell->cnps, 93);
	assert_int_equal(cell->rnr_naks, 123);
	assert_int_equal(cell->retransmitted, 153);
	assert_int_equal(cell->exception_count, 2);
	assert_memory_equal(cell->exceptions, used_exceptions, sizeof used_exceptions);
	assert_int_equal(sum->pkeys[0x8001].packets, 3);
	assert_int_equal(sum->pkeys[0x8001].bytes, 30);
	assert_int_equal(sum->seen_by_tenant[RED], 1); /* one address, seen by all three */
	assert_int_equal(sum->seen_by_tenant[BLUE], 3);
}

static void p_keys_counted_are_met_in_order(void **state)
{
	static const uint16_t counted[] = { 0, 1, 0x00ff, 0x0100, 0x7fff, 0x8001, 0xfffe, 0xffff };
	struct ft_totals totals;
	uint32_t pkey;

	(void)state;
	assert_int_equal(ft_totals_init(&totals, TENANTS), 0);
	assert_int_equal(ft_totals_next_pkey(&totals, 0), FT_PKEYS);
	ft_totals_pkey(&totals, 0x4000); /* but none came */
	for (size_t i = sizeof counted / sizeof *counted; i-- > 0;)
		ft_totals_pkey(&totals, counted[i])->packets = 1;
	pkey = ft_totals_next_pkey(&totals, 0);
	for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
		assert_int_equal(pkey, counted[i]);
		pkey = ft_totals_next_pkey(&totals, pkey + 1);
	}
	assert_int_equal(pkey, FT_PKEYS);
	ft_totals_free(&totals);
}

static void parts_add_up_whatever_their_order(void **state)
{
	static const unsigned orders[][PARTS] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };

	(void)state;
	for (unsigned order = 0; order < 3; order++) {
		struct ft_totals sum, part;

		assert_int_equal(ft_totals_init(&sum, TENANTS), 0);
		for (unsigned i = 0; i < PARTS; i++) {
			fill_part(&part, orders[order][i]);
			ft_totals_merge(&sum, &part);
			ft_totals_free(&part);
		}
		assert_sum_of_parts(&sum);
		ft_totals_free(&sum);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pair_has_one_cell),
		cmocka_unit_test(cells_survive_growth),
		cmocka_unit_test(the_sum_takes_in_every_cell),
		cmocka_unit_test(exceptions_of_a_cell_are_a_sorted_set),
		cmocka_unit_test(an_endpoint_counts_once_for_each_tenant_it_acts_for),
		cmocka_unit_test(p_keys_counted_are_met_in_order),
		cmocka_unit_test(parts_add_up_whatever_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
