#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loss_vague.h"

/*
 * A thousand holes of one length, in a capture of which half of the requests are READs of three responses, or none is. Losses
 * go on with the next request once in two times, or never, by far more holes in the midst of messages. With x the chance of
 * one more request of either kind, 1/4, a hole of three PSNs is one READ (x) or three others (x^3): 19/17 packets on average;
 * one of four is a READ and another one, either first (2 x^2), or four others (x^4): 68/33.
 */
static const struct row {
	const char *what;
	unsigned psns, counted; /* of each hole */
	bool reads, bursts;
	double wanted; /* of all of them */
} rows[] = {
	{ "three PSNs, one by one", 3, 1, true, false, 0 },
	{ "three PSNs, in bursts", 3, 1, true, true, 1000 * 2. / 17 },
	{ "four PSNs, one by one", 4, 2, true, false, 0 },
	{ "four PSNs, in bursts", 4, 2, true, true, 1000 * 2. / 33 },
	{ "two PSNs: no READ fits", 2, 1, true, false, 1000 },
	{ "counted as no READ: some were one, one by one", 3, 3, true, false, -2000 },
	{ "no READs at all", 7, 7, false, true, 0 },
	{ "no READs at all, one by one", 7, 7, false, false, 0 },
};

static void check(const struct row *row)
{
	const uint64_t many = 1000000000;
	static struct ft_loss_evidence evidence;
	struct ft_inferred lost;

	evidence = (struct ft_loss_evidence){ .runs = many,
					      .run_psns = row->bursts ? 2 * many : many,
					      .vague_counted = 1000ull * row->counted };
	evidence.vague[row->psns] = 1000;
	evidence.reads[3] = row->reads ? 5000 : 0;
	lost = ft_loss_in_vague(&evidence, 10000, 1e-6);
	if (lost.mean > row->wanted + 0.5 || lost.mean < row->wanted - 0.5)
		fail_msg("%s: %f packets more, not %f", row->what, lost.mean, row->wanted);
	assert_true(lost.variance > -1e-6);
}

static void holes_are_as_many_packets_as_losses_are_long(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
}

/* Where nothing else tells how long losses last, the holes do: READs are of nine PSNs, and all holes of two to four. */
static void lengths_that_no_read_has_show_bursts(void **state)
{
	static struct ft_loss_evidence evidence = {
		.reads = { [9] = 100 },
		.vague = { [2] = 300, [3] = 200, [4] = 100, [9] = 10 },
		.vague_counted = 610,
	};
	struct ft_inferred lost = ft_loss_in_vague(&evidence, 1000, 0.1);

	(void)state;
	/* 1600 packets in holes too short for a READ; of nine PSNs up to eight more each */
	assert_true(lost.mean >= 1600 - 600 && lost.mean <= 1600 - 600 + 80);
}

/* All requests are READs of four responses. One PSN left out is one response, two are two, of one READ or of two. */
static void responses_left_out_are_of_one_read_or_two(void **state)
{
	static struct ft_loss_evidence evidence = { .reads = { [4] = 9999 } };

	(void)state;
	evidence.skips[1] = 100;
	assert_true(ft_loss_in_skips(&evidence, 10000, 0.01, 1).mean == 0);
	evidence.skips[2] = 100;
	assert_in_range((int64_t)(-1000 * ft_loss_in_skips(&evidence, 10000, 0.01, 1).mean), 0, 1);

	/* READs are one request in a hundred: where the end of one is lost and the beginning of the next, others lie between */
	evidence =
		(struct ft_loss_evidence){ .reads = { [4] = 100 }, .missing_skips = { [50] = 10 } };
	assert_true(ft_loss_in_skips(&evidence, 10000, 0.01, 0).mean == 0);
	/* two responses of the fifty, or a few more */
	assert_true(ft_loss_in_skips(&evidence, 10000, 0.01, 1).mean < -475);
	assert_true(ft_loss_in_skips(&evidence, 10000, 0.01, 1).mean > -480);
}

/*
 * READs of four responses are one request in ten, and nine responses in ten are lost, but no request. Of three PSNs left out none
 * is within one READ. The ends of one and of the next are two of them, with another request between: 0.9; or all three, one
 * more of either: 2 * 0.9. On average 8 / 3.
 */
static void responses_are_left_out_as_often_as_responses_are_lost(void **state)
{
	static struct ft_loss_evidence evidence = {
		.reads = { [4] = 1000 },
		.skips = { [3] = 300 },
		.answers_seen = 1000,
		.answers_lost = 9000,
	};

	(void)state;
	assert_in_range((int64_t)(-10 * ft_loss_in_skips(&evidence, 10000, 0.01, 1).mean), 990,
			1010);
}

static void without_requests_in_view_all_left_out_are_responses(void **state)
{
	static struct ft_loss_evidence evidence = { .skips = { [3] = 10 } };

	(void)state;
	assert_true(ft_loss_in_skips(&evidence, 0, 0.01, 1).mean == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holes_are_as_many_packets_as_losses_are_long),
		cmocka_unit_test(lengths_that_no_read_has_show_bursts),
		cmocka_unit_test(responses_left_out_are_of_one_read_or_two),
		cmocka_unit_test(responses_are_left_out_as_often_as_responses_are_lost),
		cmocka_unit_test(without_requests_in_view_all_left_out_are_responses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
