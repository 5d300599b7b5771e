#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flow/loss_estimate.h>

enum { SEQUENCES = 1000, TURNS = 10 };

/*
 * A thousand sequences take turns: of each one frame, and one that is in no sequence; three in the second turn. Nothing before the
 * first frame is known to be lost, and a hole shows a turn later, so that the first two turns have none: 800 in the others, one
 * in ten.
 */
static void take_turns(struct ft_loss_evidence *evidence)
{
	uint64_t frame = 0;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		for (unsigned i = 0; i < SEQUENCES; i++) {
			frame++;
			if (turn == 0)
				ft_loss_silent(evidence, frame);
			else
				ft_loss_space(evidence, frame);
			if (turn > 1 && i % 10 == 0)
				ft_loss_hole(evidence, frame, 1);
			for (unsigned silent = turn == 1 ? 3 : 1; silent != 0; silent--)
				ft_loss_silent(evidence, ++frame);
		}
	}
}

/* 800 holes in 9000 spaces; 13 000 are silent, so that 1156 of them were lost, if losses do not wait for sequences to begin. */
static void the_first_turns_show_no_holes_and_lost_as_much(void **state)
{
	static struct ft_loss_evidence evidence;
	struct ft_loss_estimate estimate;

	(void)state;
	take_turns(&evidence);
	evidence.begun = SEQUENCES;
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_in_range(estimate.frames, 800 + 1145, 800 + 1167);
}

/*
 * The same frames, but those of a sequence follow each other at once, as they are near the first: nothing was lost in the second
 * turn, and in those behind it one in ten, 800; 178 in the first one, of which nothing else is known. The whole tempers it a little.
 */
static void sequences_that_go_on_at_once_show_what_is_lost_now(void **state)
{
	static struct ft_loss_evidence evidence;
	struct ft_loss_estimate estimate;

	(void)state;
	take_turns(&evidence);
	evidence.begun = SEQUENCES;
	evidence.near[0] = 128 * SEQUENCES;
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_in_range(estimate.frames, 800 + 978, 800 + 1060);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_turns_show_no_holes_and_lost_as_much),
		cmocka_unit_test(sequences_that_go_on_at_once_show_what_is_lost_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
