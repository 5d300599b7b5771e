#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suspects_passages.h"

enum { LONGEST = FT_SUSPECTS_PASSAGES, HALF = 7 };

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct ft_passages));
	return *state == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static struct ft_passage at(uint64_t frame, uint32_t half, uint32_t psn)
{
	return (struct ft_passage){ .half = half, .psn = psn & 0xffffff, .frame = (uint32_t)frame };
}

static void keep(struct ft_passages *passages, uint64_t frame, uint32_t half, uint32_t psn)
{
	const struct ft_passage passage = at(frame, half, psn);

	ft_passages_keep(passages, frame, &passage);
}

/* How many frames ago; 0: none is found. */
static unsigned back(struct ft_passages *passages, uint64_t frame, uint32_t half, uint32_t psn)
{
	const struct ft_passage now = at(frame, half, psn);
	struct ft_passed passed = ft_passages_find(passages, frame, &now);

	if (passed.passage == NULL)
		return 0;
	assert_int_equal(passed.passage->frame, (uint32_t)(frame - passed.back));
	return passed.back;
}

static void test_nothing_is_found_where_nothing_was_kept(void **state)
{
	for (uint64_t frame = 0; frame < 3; frame++)
		assert_int_equal(back(*state, frame, HALF, 0), 0);
}

static void test_it_is_found_as_long_as_its_place_is_its_own(void **state)
{
	struct ft_passages *passages = *state;

	keep(passages, 5000, HALF, 17);
	assert_int_equal(back(passages, 5001, HALF, 17), 1);
	assert_int_equal(back(passages, 5000 + LONGEST, HALF, 17), LONGEST);
	assert_int_equal(back(passages, 5001 + LONGEST, HALF, 17), 0);
	assert_int_equal(back(passages, 5001, HALF, 18), 0);
	assert_int_equal(back(passages, 5001, HALF + 1, 17), 0);
	keep(passages, 5000 + LONGEST, HALF, 18);
	assert_int_equal(back(passages, 5000 + LONGEST, HALF, 17), 0);
}

static void test_the_newest_of_several_is_found(void **state)
{
	struct ft_passages *passages = *state;

	keep(passages, 10, HALF, 17);
	keep(passages, 20, HALF, 17);
	assert_int_equal(back(passages, 21, HALF, 17), 1);
	/* frame 20 has more packets, as a datagram of samples does: they do not count against each other */
	assert_int_equal(back(passages, 20, HALF, 17), 10);
	keep(passages, 20, HALF, 18);
	assert_int_equal(back(passages, 21, HALF, 17), 11);
	assert_int_equal(back(passages, 21, HALF, 18), 1);
}

static void test_numbers_of_frames_may_wrap(void **state)
{
	struct ft_passages *passages = *state;
	const uint64_t frame = UINT64_C(0x1ffffffff);

	keep(passages, frame, HALF, 17);
	assert_int_equal(back(passages, frame + 2, HALF, 17), 2);
}

static void test_one_that_begins_a_life_is_found_as_others_are(void **state)
{
	struct ft_passages *passages = *state;

	keep(passages, 10, HALF, 17);
	assert_false(ft_passages_began_since(passages, HALF, 12, 3));
	ft_passages_begin(passages, 10);
	ft_passages_begin(passages, 11); /* nothing was kept of it */
	assert_int_equal(back(passages, 12, HALF, 17), 2);
	assert_true(ft_passages_began_since(passages, HALF, 12, 3));
	assert_false(ft_passages_began_since(passages, HALF, 12, 2));
	assert_false(ft_passages_began_since(passages, HALF + 1, 12, 3));
}

/* The last frame before `frame` of all that were kept, by looking at each. What this frame has kept already took a place. */
static unsigned back_by_looking(const struct ft_passage *all, uint64_t frame, uint32_t half,
				uint32_t psn)
{
	unsigned longest = all[frame].half == 0 ? LONGEST : LONGEST - 1;

	for (unsigned back = 1; back <= longest && back <= frame; back++) {
		if (all[frame - back].half == half && all[frame - back].psn == psn)
			return back;
	}
	return 0;
}

/* Few halves and PSNs, so that many are found; some frames keep nothing, some have two packets. */
static void test_as_by_looking_at_each(void **state)
{
	enum { FRAMES = 20000, HALVES = 30, PSNS = 60 };
	struct ft_passage *all = calloc(FRAMES, sizeof *all);
	unsigned found = 0;

	assert_non_null(all);
	srand(1);
	for (uint64_t frame = 0; frame < FRAMES; frame++) {
		for (int packets = rand() % 4; packets > 0; packets -= 2) {
			uint32_t half = 1 + (uint32_t)rand() % HALVES,
				 psn = (uint32_t)rand() % PSNS;
			unsigned expected = back_by_looking(all, frame, half, psn);

			assert_int_equal(back(*state, frame, half, psn), expected);
			found += expected != 0;
			keep(*state, frame, half, psn);
			all[frame] = at(frame, half, psn);
		}
	}
	assert_in_range(found, FRAMES / 4, FRAMES);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_is_found_where_nothing_was_kept,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_it_is_found_as_long_as_its_place_is_its_own,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_newest_of_several_is_found, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_numbers_of_frames_may_wrap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_that_begins_a_life_is_found_as_others_are,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_as_by_looking_at_each, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
