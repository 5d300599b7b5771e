#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "framing.h"

enum { FRAMES = 4, LATE = FRAMES - 1 };

/* A batch of frames in a row, the first of this number. */
static uint32_t since_of(struct ft_framing *framing, uint64_t first, uint64_t reused)
{
	struct ft_frame frames[FRAMES] = { 0 };
	struct ft_item items[FRAMES];
	const struct ft_batch batch = { .items = items, .count = FRAMES };

	for (unsigned i = 0; i < FRAMES; i++) {
		frames[i].number = first + i;
		items[i].frame = &frames[i];
	}
	ft_framing_reuse(framing, reused, &batch);
	return framing->since;
}

static void numbers_stand_for_the_same_halves_until_records_go_to_others(void **state)
{
	struct ft_framing framing = { .one_table = true, .renewals = 1 };
	uint32_t since = since_of(&framing, 1, 0);

	(void)state;
	assert_int_not_equal(since, 0);
	assert_int_equal(since_of(&framing, 1 + FRAMES, 0), since);
	assert_int_equal(since_of(&framing, 1 + 2 * FRAMES, 7), 0); /* somewhere in this batch */
	assert_true(since_of(&framing, 1 + 3 * FRAMES, 7) > since);
}

/* The straight way keeps lower halves of the numbers of frames. */
static void what_was_sure_is_looked_up_again_where_frames_have_another_upper_half(void **state)
{
	static const uint64_t beyond = UINT64_C(3) << 32;
	struct ft_framing framing = { .one_table = true, .renewals = 1 };
	uint32_t before, behind;

	(void)state;
	since_of(&framing, beyond - 3 * FRAMES, 0); /* the first of all may be of any half */
	before = since_of(&framing, beyond - 2 * FRAMES, 0);
	assert_int_not_equal(before, 0);
	assert_int_equal(since_of(&framing, beyond - FRAMES - 1, 0), before);
	assert_int_equal(since_of(&framing, beyond - 1, 0),
			 0); /* one frame below, the rest above */
	behind = since_of(&framing, beyond + LATE, 0);
	assert_true(behind > before);
	assert_int_equal(since_of(&framing, beyond + LATE + FRAMES, 0), behind);
}

/* Exactly between two batches. */
static void the_upper_half_may_change_between_batches(void **state)
{
	static const uint64_t beyond = UINT64_C(1) << 32;
	struct ft_framing framing = { .one_table = true, .renewals = 1 };
	uint32_t before = since_of(&framing, beyond - FRAMES, 0);
	uint32_t behind = since_of(&framing, beyond, 0);

	(void)state;
	assert_int_not_equal(before, 0);
	assert_int_not_equal(behind, before);
}

/* Records of several tables have the same numbers. */
static void numbers_of_several_workers_are_never_sure(void **state)
{
	struct ft_framing framing = { .renewals = 1 };

	(void)state;
	assert_int_equal(since_of(&framing, 1, 0), 0);
	assert_int_equal(since_of(&framing, 1 + FRAMES, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stand_for_the_same_halves_until_records_go_to_others),
		cmocka_unit_test(
			what_was_sure_is_looked_up_again_where_frames_have_another_upper_half),
		cmocka_unit_test(the_upper_half_may_change_between_batches),
		cmocka_unit_test(numbers_of_several_workers_are_never_sure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
