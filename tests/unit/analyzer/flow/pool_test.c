#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <flow/pool.h>

enum { MANY = 40000, ROUNDS = 3 };

static const size_t sizes[] = {
	1, 63, 64, 65, 2624, 7680, 65535, FT_POOL_PIECE_MOST, 65537, 983040
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int create(void **state)
{
	*state = ft_pool_create();
	return *state != NULL ? 0 : -1;
}

static int destroy(void **state)
{
	ft_pool_destroy(*state);
	return 0;
}

static void pieces_are_aligned_and_apart(void **state)
{
	unsigned char *pieces[ROUNDS][SIZES];

	for (unsigned round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < SIZES; i++) {
			pieces[round][i] = ft_pool_take(*state, sizes[i]);
			assert_non_null(pieces[round][i]);
			assert_int_equal((uintptr_t)pieces[round][i] % FT_POOL_ALIGNMENT, 0);
			memset(pieces[round][i], (int)(round * SIZES + i), sizes[i]);
		}
	for (unsigned round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < SIZES; i++) {
			for (size_t at = 0; at < sizes[i]; at++)
				assert_int_equal(pieces[round][i][at], round * SIZES + i);
			ft_pool_give(*state, pieces[round][i], sizes[i]);
		}
}

/* .. and no other one: not even where both would fit into the same room. */
static void what_was_given_back_is_taken_again_for_its_size(void **state)
{
	void *small = ft_pool_take(*state, 128), *large = ft_pool_take(*state, 192);
	void *again;

	ft_pool_give(*state, small, 128);
	ft_pool_give(*state, large, 192);
	again = ft_pool_take(*state, 129);
	assert_ptr_equal(again, large);
	again = ft_pool_take(*state, 65);
	assert_ptr_equal(again, small);
	again = ft_pool_take(*state, 65);
	assert_ptr_not_equal(again, small);
	assert_ptr_not_equal(again, large);
}

/* Whether somebody had it before, or nobody. */
static void pieces_are_zeroed_on_demand(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		unsigned char *first = ft_pool_take_zeroed(*state, sizes[i]), *second;

		assert_non_null(first);
		for (size_t at = 0; at < sizes[i]; at++)
			assert_int_equal(first[at], 0);
		memset(first, 0xff, sizes[i]);
		ft_pool_give(*state, first, sizes[i]);
		second = ft_pool_take_zeroed(*state, sizes[i]);
		assert_non_null(second);
		for (size_t at = 0; at < sizes[i]; at++)
			assert_int_equal(second[at], 0);
		ft_pool_give(*state, second, sizes[i]);
	}
}

/* The largest pieces have no room beside the sanitizer's mark, and may not be the pool's then. */
static void only_what_nobody_had_is_zero_as_it_comes(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		bool is_pooled, is_zero;
		unsigned char *first = ft_pool_take_any(*state, sizes[i], &is_pooled), *second;

		assert_non_null(first);
		if (sizes[i] < FT_POOL_PIECE_MOST - FT_POOL_ALIGNMENT)
			assert_true(is_pooled);
		if (sizes[i] > FT_POOL_PIECE_MOST)
			assert_false(is_pooled);
		for (size_t at = 0; is_pooled && at < sizes[i]; at++)
			assert_int_equal(first[at], 0);
		memset(first, 0xff, sizes[i]);
		ft_pool_give(*state, first, sizes[i]);
		second = ft_pool_take_any(*state, sizes[i], &is_zero);
		assert_non_null(second);
		assert_false(is_zero);
		if (!is_pooled)
			ft_pool_give(*state, second, sizes[i]);
	}
}

static void nothing_is_given_back(void **state)
{
	void *piece;

	ft_pool_give(*state, NULL, 100);
	ft_pool_give(*state, NULL, 0);
	ft_pool_give(*state, NULL, 100000);
	piece = ft_pool_take(*state, 100);
	assert_non_null(piece);
}

/* More than a region has: each stays where it is, and as it was. */
static void there_is_always_room(void **state)
{
	static uint32_t *pieces[MANY];

	for (uint32_t i = 0; i < MANY; i++) {
		pieces[i] = ft_pool_take(*state, 2000 + i % 100);
		assert_non_null(pieces[i]);
		*pieces[i] = i;
	}
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(*pieces[i], i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pieces_are_aligned_and_apart, create, destroy),
		cmocka_unit_test_setup_teardown(what_was_given_back_is_taken_again_for_its_size,
						create, destroy),
		cmocka_unit_test_setup_teardown(pieces_are_zeroed_on_demand, create, destroy),
		cmocka_unit_test_setup_teardown(only_what_nobody_had_is_zero_as_it_comes, create,
						destroy),
		cmocka_unit_test_setup_teardown(nothing_is_given_back, create, destroy),
		cmocka_unit_test_setup_teardown(there_is_always_room, create, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
