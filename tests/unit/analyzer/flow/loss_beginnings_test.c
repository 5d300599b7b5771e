#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flow/loss_estimate.h>

#include "loss_beginnings.h"

/*
 * 6000 frames are here. Of losses of several in a row one frame in five is lost if one beginning in five is: 1500. Those cut in the midst
 * of a message lack it, and those cut behind whole ones.
 */
static void a_beginning_is_lost_as_often_as_any_frame(void **state)
{
	const struct {
		const char *what;
		uint64_t cut, opened, older, counted;
		double in_a_row, holes, wanted;
	} rows[] = {
		{ "in the midst of messages", 100, 500, 0, 500, 8, 800, 1500 },
		{ "behind whole ones", 0, 500, 100, 500, 8, 800, 1500 },
		{ "both: 19 in 100", 50, 500, 50, 500, 8, 800, 1407.4 },
		{ "as many as are here, at most", 250, 500, 250, 500, 8, 800, 6000 },
		{ "few behind whole ones are cut as well", 100, 500, 20, 500, 8, 800, 1500 },
		{ "none", 0, 500, 0, 500, 8, 800, 0 },
		{ "too few are cut", 4, 500, 0, 500, 8, 0, 0 },
		{ "holes say as much, but for chance", 100, 500, 0, 500, 8, 1300, 0 },
		{ "too few are met", 20, 29, 0, 500, 8, 0, 0 },
		{ "too few are counted", 20, 500, 0, 29, 8, 0, 0 },
		{ "one by one: holes say more", 100, 500, 0, 500, 2, 800, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_loss_evidence evidence = {
			.maybe_cut = rows[i].cut,
			.opened = rows[i].opened,
			.maybe_older = rows[i].older,
			.counted = rows[i].counted,
		};
		const struct ft_loss_spread by = { .frames = rows[i].in_a_row };
		const struct ft_inferred lost =
			ft_loss_by_beginnings(&evidence, &by, 6000, rows[i].holes);

		if (lost.mean < rows[i].wanted - 0.5 || lost.mean > rows[i].wanted + 0.5)
			fail_msg("%s: %f lost, not %f", rows[i].what, lost.mean, rows[i].wanted);
		assert_true(lost.variance >= lost.mean);
	}
}

/*
 * Sequences of three frames, and losses of several frames that leave eight holes each. Of so many halves the beginning is missing,
 * all over the capture.
 */
static struct ft_loss_estimate of_brief_halves(uint64_t cut)
{
	static struct ft_loss_evidence evidence;
	struct ft_loss_estimate estimate;

	ft_loss_init(&evidence);
	for (uint64_t frame = 1; frame <= 9000; frame++)
		if (frame % 3 == 1)
			ft_loss_silent(&evidence, frame);
		else
			ft_loss_space(&evidence, frame);
	for (uint64_t loss = 1; loss <= 100; loss++)
		for (uint64_t hole = 0; hole < 8; hole++)
			ft_loss_hole(&evidence, 89 * loss + hole / 2, 1);
	evidence.opened = evidence.counted = 2500;
	for (uint64_t n = 1; n <= cut; n++)
		ft_loss_miss(&evidence, 600 + n * 8300 / cut, 1, FT_LOSS_CUT);
	ft_loss_believe_cut(&evidence);
	ft_loss_estimate(&evidence, 0, &estimate);
	return estimate;
}

/* Of 2500 halves 750 lack their beginning, three in ten: of 9000 frames here that says 3857 lost. Never less than holes do. */
static void beginnings_show_what_losses_in_a_row_hide(void **state)
{
	const struct ft_loss_estimate holes = of_brief_halves(0), both = of_brief_halves(750);

	(void)state;
	assert_in_range(holes.frames, 800, 2500);
	assert_int_equal(both.frames, 3857);
	assert_int_equal(both.low, holes.low > 750 ? holes.low : 750);
	assert_in_range(both.high, 3857 + 3857 / 2, 2 * 3857 + 100);
	assert_int_equal(of_brief_halves(10).frames, holes.frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_beginning_is_lost_as_often_as_any_frame),
		cmocka_unit_test(beginnings_show_what_losses_in_a_row_hide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
