#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heads.h"

static void frames_count_from_the_first_of_their_half(void **state)
{
	static struct ft_heads heads;

	(void)state;
	assert_false(ft_heads_may_have(&heads, 7, 1));
	ft_heads_begin(&heads, 7, 1000);
	ft_heads_begin(&heads, 8, 1010);
	assert_true(ft_heads_may_have(&heads, 7, 1010 + FT_LOSS_NEAR - 1));
	assert_false(ft_heads_may_have(&heads, 9, 1010 + FT_LOSS_NEAR - 1));
	assert_false(ft_heads_may_have(&heads, 8, 1010 + FT_LOSS_NEAR));
	assert_int_equal(ft_heads_behind(&heads, 7, 1011), 11);
	assert_int_equal(ft_heads_behind(&heads, 8, 1011), 1);
	assert_int_equal(ft_heads_behind(&heads, 9, 1011), 0);
	/* one of the two is too far back by now */
	assert_int_equal(ft_heads_behind(&heads, 7, 1000 + FT_LOSS_NEAR), 0);
	assert_int_equal(ft_heads_behind(&heads, 8, 1000 + FT_LOSS_NEAR), FT_LOSS_NEAR - 10);
}

/* As after a queue pair was set up anew. */
static void the_newest_beginning_of_a_half_counts(void **state)
{
	static struct ft_heads heads;

	(void)state;
	ft_heads_begin(&heads, 7, 5);
	ft_heads_begin(&heads, 7, 20);
	assert_int_equal(ft_heads_behind(&heads, 7, 23), 3);
}

static void a_beginning_in_every_frame_finds_room(void **state)
{
	static struct ft_heads heads;

	(void)state;
	for (uint32_t frame = 1; frame <= 3 * FT_LOSS_NEAR; frame++) {
		ft_heads_begin(&heads, frame, frame);
		if (frame > 10)
			assert_true(ft_heads_may_have(&heads, frame - 10, frame));
		if (frame > 10)
			assert_int_equal(ft_heads_behind(&heads, frame - 10, frame), 10);
		if (frame >= FT_LOSS_NEAR)
			assert_true(ft_heads_may_have(&heads, frame - FT_LOSS_NEAR + 1, frame));
		if (frame >= FT_LOSS_NEAR)
			assert_int_equal(ft_heads_behind(&heads, frame - FT_LOSS_NEAR + 1, frame),
					 FT_LOSS_NEAR - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_count_from_the_first_of_their_half),
		cmocka_unit_test(the_newest_beginning_of_a_half_counts),
		cmocka_unit_test(a_beginning_in_every_frame_finds_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
