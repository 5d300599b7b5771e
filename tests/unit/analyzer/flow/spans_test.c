#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spans.h"

enum { SPANS = 20000, LONG_RING = 4000, PSNS = 8 * LONG_RING };

struct ring {
	struct ft_spans spans;
	struct ft_half half;
};

static int set_up(void **state)
{
	static struct ring ring;

	ring = (struct ring){ 0 };
	*state = &ring;
	return ft_spans_create(&ring.spans, SPANS);
}

static int tear_down(void **state)
{
	struct ring *ring = *state;

	ft_spans_destroy(&ring->spans);
	return 0;
}

static uint32_t append(struct ring *ring, enum ft_span_kind kind, uint32_t from, uint32_t count)
{
	const struct ft_span span = { .kind = (uint8_t)kind, .from = from, .count = count };

	return ft_spans_append(&ring->spans, &ring->half, &span);
}

static uint32_t find(const struct ring *ring, uint32_t psn, uint32_t kinds)
{
	return ft_spans_find(&ring->spans, &ring->half, psn, kinds);
}

static uint32_t find_newest(const struct ring *ring, uint32_t psn, uint32_t kinds)
{
	return ft_spans_find_newest(&ring->spans, &ring->half, psn, kinds);
}

/* Holes at every hundredth PSN, past the wrap; READs that are awaited behind each. */
static void what_holds_a_psn_is_found_from_either_end(void **state)
{
	struct ring *ring = *state;
	uint32_t holes[100], reads[100];

	for (uint32_t i = 0; i < 100; i++) {
		uint32_t psn = (0xfff000 + 100 * i) & 0xffffff;

		holes[i] = append(ring, FT_SPAN_HOLE, psn, 10);
		reads[i] = append(ring, FT_SPAN_AWAITED, (psn + 50) & 0xffffff, 20);
		assert_true(holes[i] != 0 && reads[i] != 0);
	}
	assert_true(ft_spans_are_sorted(&ring->half));
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t psn = (0xfff000 + 100 * i) & 0xffffff;

		assert_int_equal(find(ring, psn, FT_SPANS_HOLES), holes[i]);
		assert_int_equal(find(ring, (psn + 9) & 0xffffff, FT_SPANS_HOLES), holes[i]);
		assert_int_equal(find(ring, (psn + 10) & 0xffffff, FT_SPANS_HOLES), 0);
		assert_int_equal(find(ring, (psn + 69) & 0xffffff, FT_SPANS_AWAITED), reads[i]);
		assert_int_equal(find(ring, psn, FT_SPANS_AWAITED), 0);
		assert_int_equal(find_newest(ring, psn, FT_SPANS_HOLES), holes[i]);
		assert_int_equal(find_newest(ring, (psn + 70) & 0xffffff, UINT32_MAX), 0);
	}
	assert_int_equal(find(ring, 0xffefff, UINT32_MAX), 0);
	assert_int_equal(find(ring, 0xfff000 + 10000 - 0x1000000, UINT32_MAX), 0);
}

/* One that lies before the newest, or within it, is found none the less; of two that hold the same, which is asked for. */
static void rings_out_of_order_are_searched_to_the_end(void **state)
{
	struct ring *ring = *state;
	uint32_t late, wide, within;

	append(ring, FT_SPAN_HOLE, 1000, 10);
	append(ring, FT_SPAN_HOLE, 2000, 10);
	late = append(ring, FT_SPAN_HOLE, 500, 10);
	assert_false(ft_spans_are_sorted(&ring->half));
	assert_int_equal(find(ring, 505, FT_SPANS_HOLES), late);
	assert_int_equal(find_newest(ring, 505, FT_SPANS_HOLES), late);
	wide = append(ring, FT_SPAN_HOLE, 3000, 100);
	within = append(ring, FT_SPAN_HOLE, 3050, 1);
	assert_int_equal(find(ring, 3050, FT_SPANS_HOLES), wide);
	assert_int_equal(find_newest(ring, 3050, FT_SPANS_HOLES), within);
}

static void a_newest_one_put_first_is_found(void **state)
{
	struct ring *ring = *state;
	uint32_t newest;

	append(ring, FT_SPAN_HOLE, 1000, 10);
	append(ring, FT_SPAN_HOLE, 2000, 10);
	newest = append(ring, FT_SPAN_HOLE, 3000, 100);
	ft_spans_put_first(&ring->spans, &ring->half, newest);
	assert_int_equal(ring->half.spans, newest);
	assert_int_equal(find(ring, 3099, FT_SPANS_HOLES), newest);
	assert_int_not_equal(find(ring, 1000, FT_SPANS_HOLES), 0);
	assert_int_not_equal(find_newest(ring, 2009, FT_SPANS_HOLES), 0);
}

/* The pieces of what is cut in two are where it was. */
static void what_is_taken_out_leaves_the_rest_in_order(void **state)
{
	struct ring *ring = *state;
	uint32_t hole = append(ring, FT_SPAN_HOLE, 1000, 10);

	append(ring, FT_SPAN_HOLE, 2000, 10);
	assert_int_equal(ft_spans_take(&ring->spans, &ring->half, hole, 1004, 2), 0);
	assert_true(ft_spans_are_sorted(&ring->half));
	assert_int_equal(find(ring, 1003, FT_SPANS_HOLES), hole);
	assert_int_equal(find(ring, 1004, FT_SPANS_HOLES), 0);
	assert_int_equal(find(ring, 1005, FT_SPANS_HOLES), 0);
	assert_int_not_equal(find(ring, 1006, FT_SPANS_HOLES), 0);
	assert_int_equal(find(ring, 1010, FT_SPANS_HOLES), 0);
	assert_int_equal(ring->half.span_count, 3);
}

/* And a ring that was empty has nothing left of what was known of it. */
static void a_kind_is_found_as_what_it_became(void **state)
{
	struct ring *ring = *state;
	uint32_t read = append(ring, FT_SPAN_AWAITED, 1000, 10);
	const uint32_t again = 1u << FT_SPAN_ASKED_AGAIN;

	assert_int_equal(find(ring, 1000, again), 0);
	ft_span_become(&ring->half, ft_span_at(&ring->spans, read), FT_SPAN_ASKED_AGAIN);
	assert_int_equal(find(ring, 1000, again), read);
	assert_int_equal(find(ring, 1000, 1u << FT_SPAN_AWAITED), 0);
	ft_spans_remove(&ring->spans, &ring->half, read);
	assert_int_equal(ring->half.spans, 0);
	assert_int_equal(ring->half.span_traits, 0);
	assert_int_equal(find(ring, 1000, again), 0);
}

/* Three packets where a hole begins say it of those behind, too; what is left before the third is missing as it was. */
static void a_hole_is_filled_from_its_beginning(void **state)
{
	struct ring *ring = *state;
	uint32_t hole = append(ring, FT_SPAN_HOLE, 100, 50);
	uint32_t behind = append(ring, FT_SPAN_HOLE, 300, 50);
	uint32_t before = append(ring, FT_SPAN_HOLE, 40, 50);
	uint32_t rest;

	ft_spans_take(&ring->spans, &ring->half, hole, 100, 1);
	ft_spans_take(&ring->spans, &ring->half, hole, 101, 1);
	assert_int_equal(ft_span_at(&ring->spans, behind)->filled, 0);
	ft_spans_take(&ring->spans, &ring->half, hole, 105, 1);
	rest = find(ring, 106, FT_SPANS_HOLES);
	assert_int_equal(ft_span_at(&ring->spans, hole)->from, 102);
	assert_int_equal(ft_span_at(&ring->spans, hole)->filled, 0);
	assert_int_equal(ft_span_at(&ring->spans, rest)->filled, FT_SPAN_FILLING);
	assert_int_equal(ft_span_at(&ring->spans, behind)->filled, FT_SPAN_FILLING);
	assert_int_equal(ft_span_at(&ring->spans, before)->filled, 0);
}

/* As many holes as late packets leave, filled in no order: each is found as long as it is there, and no other. */
static void a_long_ring_is_searched_from_near_by(void **state)
{
	static bool missing[PSNS];
	struct ring *ring = *state;
	uint32_t psn = 1;

	for (uint32_t i = 0; i < PSNS; i++) {
		missing[i] = i % 8 < 3;
		if (i % 8 == 0)
			assert_int_not_equal(append(ring, FT_SPAN_HOLE, i, 3), 0);
	}
	for (uint32_t i = 0; i < 4 * PSNS; i++) {
		uint32_t number;

		psn = (psn * 1103515245 + 12345) % PSNS;
		number = find(ring, psn, FT_SPANS_HOLES);
		assert_int_equal(number != 0, missing[psn]);
		assert_int_equal(find_newest(ring, psn, FT_SPANS_HOLES), number);
		if (number == 0)
			continue;
		assert_int_equal(ft_spans_take(&ring->spans, &ring->half, number, psn, 1), 0);
		missing[psn] = false;
	}
	for (psn = 0; psn < PSNS; psn++)
		assert_int_equal(find(ring, psn, FT_SPANS_HOLES) != 0, missing[psn]);
}

/* Two rings have the same PSNs, and one takes the other's spans when that lets go of them. */
static void long_rings_do_not_find_each_others_spans(void **state)
{
	struct ring *ring = *state;
	struct ft_half other = { 0 };
	const struct ft_span hole = { .kind = FT_SPAN_HOLE, .from = 500, .count = 1 };

	for (uint32_t i = 0; i < 100; i++)
		append(ring, FT_SPAN_HOLE, 10 * i, 1);
	assert_int_not_equal(find(ring, 500, FT_SPANS_HOLES), 0);
	for (uint32_t i = 0; i < 100; i++) {
		struct ft_span span = hole;

		ft_spans_remove(&ring->spans, &ring->half, ring->half.spans);
		span.from = 10 * i + 5;
		assert_int_not_equal(ft_spans_append(&ring->spans, &other, &span), 0);
	}
	for (uint32_t i = 0; i < 100; i++)
		append(ring, FT_SPAN_HOLE, 10 * i + 3, 1);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(ft_spans_find(&ring->spans, &other, 10 * i, UINT32_MAX), 0);
		assert_int_not_equal(ft_spans_find(&ring->spans, &other, 10 * i + 5, UINT32_MAX),
				     0);
		assert_int_equal(find(ring, 10 * i + 5, UINT32_MAX), 0);
		assert_int_not_equal(find(ring, 10 * i + 3, UINT32_MAX), 0);
	}
}

static void put_long_one_first(struct ring *ring, uint32_t from)
{
	uint32_t newest = append(ring, FT_SPAN_HOLE, from, 100);

	ft_spans_put_first(&ring->spans, &ring->half, newest);
}

/* Long holes were put first, the newest before the others. */
static void a_long_ring_out_of_order_is_sorted_before_it_is_full(void **state)
{
	struct ring *ring = *state;
	uint32_t psn = 0;

	for (uint32_t i = 0; i < FT_SPANS_FEW; i++, psn += 200) {
		assert_false(ft_spans_still_full(&ring->spans, &ring->half));
		if (i % 50 == 7)
			put_long_one_first(ring, psn);
		else
			append(ring, FT_SPAN_HOLE, psn, 1);
	}
	assert_false(ft_spans_are_sorted(&ring->half));
	assert_false(ft_spans_still_full(&ring->spans, &ring->half));
	assert_true(ft_spans_are_sorted(&ring->half));
	for (uint32_t i = 0; i < FT_SPANS_FEW; i++) {
		uint32_t number = find(ring, 200 * i, FT_SPANS_HOLES);

		assert_int_not_equal(number, 0);
		assert_int_equal(ft_span_at(&ring->spans, number)->from, 200 * i);
		assert_int_equal(find(ring, 200 * i + 150, FT_SPANS_HOLES), 0);
	}
	for (; ring->half.span_count < FT_SPANS_PER_HALF; psn += 2) {
		assert_false(ft_spans_still_full(&ring->spans, &ring->half));
		append(ring, FT_SPAN_HOLE, psn, 1);
	}
	assert_true(ft_spans_still_full(&ring->spans, &ring->half));
}

/* Of two that hold the same neither is behind the other. */
static void what_overlaps_is_not_sorted(void **state)
{
	struct ring *ring = *state;

	for (uint32_t i = 0; i < FT_SPANS_FEW; i++)
		append(ring, FT_SPAN_HOLE, i == 100 ? 0 : 10 * i, 2);
	assert_true(ft_spans_still_full(&ring->spans, &ring->half));
	assert_false(ft_spans_are_sorted(&ring->half));
	for (uint32_t i = 0; i < FT_SPANS_FEW; i++)
		assert_int_equal(find(ring, 10 * i, FT_SPANS_HOLES) != 0, i != 100);
}

/* So that none takes all. */
static void where_half_of_the_pool_is_in_use_a_half_may_have_few(void **state)
{
	struct ring *ring = *state;
	struct ft_half others[3] = { 0 };

	for (uint32_t i = 0; i < LONG_RING; i++)
		for (unsigned k = 0; k < 3; k++) {
			struct ft_span span = { .kind = FT_SPAN_HOLE, .from = 2 * i, .count = 1 };

			ft_spans_append(&ring->spans, &others[k], &span);
		}
	for (uint32_t i = 0; i < FT_SPANS_FEW; i++) {
		assert_false(ft_spans_still_full(&ring->spans, &ring->half));
		append(ring, FT_SPAN_HOLE, 2 * i, 1);
	}
	assert_true(ft_spans_still_full(&ring->spans, &ring->half));
	ft_spans_drop(&ring->spans, &others[0], UINT32_MAX);
	assert_false(ft_spans_still_full(&ring->spans, &ring->half));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_holds_a_psn_is_found_from_either_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(rings_out_of_order_are_searched_to_the_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_newest_one_put_first_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_taken_out_leaves_the_rest_in_order, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_hole_is_filled_from_its_beginning, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_kind_is_found_as_what_it_became, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_long_ring_is_searched_from_near_by, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(long_rings_do_not_find_each_others_spans, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_long_ring_out_of_order_is_sorted_before_it_is_full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_overlaps_is_not_sorted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			where_half_of_the_pool_is_in_use_a_half_may_have_few, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
