#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loss_ends.h"

/*
 * A thousand holes by very many losses. All frames of sequences are 8 frames of the capture behind the first of theirs. A loss that
 * lasts for 2 frames on average, so that a typical frame is lost with 3, goes on over 8 frames in one of 256 cases: so many of
 * the frames are hidden by the beginning of their sequence, as many by the end, and (255 / 256)^2 of what is lost shows:
 * 1000 / (255 / 256)^2 - 1000 = 7.86. Those that do not show are too few to change how long they last.
 */
static const struct row {
	const char *what;
	struct ft_loss_shown shown;
	unsigned behind; /* the first of its sequence, each frame */
	double wanted;
} rows[] = {
	{ "losses that last", { 1000, 1000, 0.1, 3, 20, 1e9 }, 8, 7.86 },
	{ "one by one: as many in a row as chance makes", { 1000, 1000, 0.5, 3, 2, 1e9 }, 8, 0 },
	{ "of single frames", { 1000, 1000, 0.1, 1, 20, 1e9 }, 8, 0 },
	{ "half as much again as chance makes: surely", { 1000, 1000, 0, 3, 1.5, 1e9 }, 8, 7.86 },
	{ "two losses: how long they last is half known",
	  { 1000, 1000, 0.1, 3, 20, 2 },
	  8,
	  7.86 / 2 },
	{ "no beginnings near", { 1000, 1000, 0.1, 3, 20, 1e9 }, FT_LOSS_NEAR, 0 },
};

static void as_much_is_hidden_as_lies_near_to_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		static struct ft_loss_evidence evidence;
		struct ft_inferred lost;

		evidence = (struct ft_loss_evidence){ 0 };
		for (unsigned frame = 0; frame < 1000; frame++)
			ft_loss_near(&evidence, rows[i].behind);
		lost = ft_loss_over_ends(&evidence, &rows[i].shown, &(struct ft_loss_spared){ 0 });
		if (lost.mean < 0.97 * rows[i].wanted - 0.01 ||
		    lost.mean > 1.03 * rows[i].wanted + 0.01)
			fail_msg("%s: %f, not %f", rows[i].what, lost.mean, rows[i].wanted);
		assert_true(lost.variance >= lost.mean * lost.mean / 4);
	}
}

/*
 * Half of all frames lie 4 frames behind a beginning, and losses of more than that seldom show there: those that do are shorter
 * than all. What is hidden is more than if losses lasted as long as those.
 */
static void what_shows_is_shorter_than_what_does_not(void **state)
{
	static struct ft_loss_evidence evidence;
	const struct ft_loss_shown shown = { 1000, 100, 0.1, 9, 5, 1e9 };
	double on = 1 - 1 / 5., near = 0.5 * on * on * on * on;

	(void)state;
	evidence.near[4] = 500;
	assert_true(ft_loss_over_ends(&evidence, &shown, &(struct ft_loss_spared){ 0 }).mean >
		    1.02 * 100 * (1 / ((1 - near) * (1 - near)) - 1));
}

/*
 * 100 halves end with a request that was acknowledged, and a fifth of all requests is lost. Were it all the same whether the
 * ACK of a request is lost, a fifth of those seen would lack theirs.
 */
static void what_is_lost_with_its_ack_does_not_show_at_the_end(void **state)
{
	static const struct {
		const char *what;
		uint64_t timed, passed_over, ahead;
		unsigned sequence; /* frames that a typical one of the holes was lost with */
		double wanted;
	} cases[] = {
		{ "none is lost alone", 1000, 0, 0, 1, 100 },
		{ "an ACK alone, a tenth as often", 1000, 20, 0, 1, 90 },
		{ "a request alone, a tenth as often", 1000, 0, 20, 1, 90 },
		{ "half of them alone", 1000, 100, 0, 1, 0 },
		{ "each for itself", 1000, 200, 160, 1, 0 },
		{ "more ACKs than requests", 1000, 500, 0, 1, 0 },
		{ "no ACK is known to be for a request", 0, 0, 0, 1, 0 },
		{ "losses that last", 1000, 0, 0, 3, 0 },
	};
	static struct ft_loss_evidence evidence;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double ends;

		evidence = (struct ft_loss_evidence){ .ends_answered = 100,
						      .asking = 1000,
						      .timed = cases[i].timed,
						      .passed_over = cases[i].passed_over,
						      .ahead = cases[i].ahead,
						      .squares = 100 * cases[i].sequence };
		ends = ft_loss_unshown_ends(&evidence, 400, 100);
		if (ends < cases[i].wanted - 1e-6 || ends > cases[i].wanted + 1e-6)
			fail_msg("%s: %f, not %f", cases[i].what, ends, cases[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_lost_with_its_ack_does_not_show_at_the_end),
		cmocka_unit_test(as_much_is_hidden_as_lies_near_to_ends),
		cmocka_unit_test(what_shows_is_shorter_than_what_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
