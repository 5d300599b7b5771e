#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loss_spared.h"

/*
 * Of 2000 requests each asks for an ACK of its own. What is expected follows from the counts: so many ACKs lack their request, and so
 * many requests their ACK, of those that are here.
 */

static const struct row {
	const char *what;
	uint64_t asking, acks, ahead, passed_over, torn, uncounted;
	double odds;
	double sequence;
	double least, most; /* of the share of ACKs that is spared */
} rows[] = {
	/* half of the requests lost, and no ACK: 1000 ACKs lack their request */
	{ "all ACKs pass", 1000, 2000, 1000, 0, 900, 0, 1, 2, 1, 1 },
	/* of 1000 requests 10 lack their ACK, of 1990 ACKs 1000 their request: odds of 0.0101 to 1.01 */
	{ "most ACKs pass", 1000, 1990, 1000, 10, 900, 5, 1, 2, 0.98, 1 },
	/* a tenth of all, one by one: a tenth of requests lacks its ACK, a tenth of ACKs its request */
	{ "all are lost alike", 1800, 1800, 180, 180, 180, 18, 0.11, 1, 0, 0 },
	/* in runs that take a request with its ACK: few lack each other, as many of the one as of the other */
	{ "all are lost alike, in runs", 1800, 1800, 20, 20, 180, 160, 0.11, 20, 0, 0 },
	/* one ACK for two requests: half of them lack theirs */
	{ "one ACK answers for two", 1800, 1000, 100, 800, 180, 120, 0.11, 1, 0, 0 },
	/* exchanges of one request each, of which no later ACK passes over: their number tells */
	{ "exchanges, all lost alike", 1800, 1800, 180, 0, 0, 0, 0.11, 1, 0, 0 },
	/* the last packets of messages are short, and so pass: 20 ACKs in 2000 lack theirs, but 180 messages lack packets */
	{ "short ends pass, too", 1980, 2000, 20, 0, 180, 0, 0.13, 4, 1, 1 },
	{ "short ends, ACKs of torn messages do not pass", 1980, 1990, 20, 0, 180, 18, 0.13, 4, 0,
	  0 },
	{ "a handful", 1995, 2000, 5, 0, 5, 0, 0.0025, 1, 0, 0 },
	{ "nothing", 0, 0, 0, 0, 0, 0, 0.1, 1, 0, 0 },
};

static struct ft_loss_evidence evidence;

static void acks_are_spared_where_requests_have_theirs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *row = &rows[i];
		struct ft_loss_spared spared;

		evidence = (struct ft_loss_evidence){
			.asking = row->asking,
			.timed = row->asking,
			.acks = row->acks,
			.ahead = row->ahead,
			.passed_over = row->passed_over,
			.torn_counted = row->torn,
			.torn_uncounted = row->uncounted,
		};
		spared = ft_loss_spared_of(&evidence, row->odds, row->sequence);
		if (spared.share < row->least || spared.share > row->most)
			fail_msg("%s: %f", row->what, spared.share);
		assert_true(spared.error >= 0 && !spared.begins);
	}
}

/* Of 500 sequences behind the first frames ten were cut, and half of all requests are lost, two in a row: ten beginnings of two. */
static void beginnings_are_counted_where_acks_are_spared(void **state)
{
	struct ft_loss_spared spared;

	(void)state;
	evidence = (struct ft_loss_evidence){
		.asking = 1000,
		.timed = 1000,
		.acks = 2000,
		.ahead = 1000,
		.begun = 520,
		.begun_soon = 20,
		.counted = 500,
		.used = 1,
	};
	evidence.bins[0].missing[FT_LOSS_CUT] = 6;
	evidence.bins[0].missing[FT_LOSS_OLDER] = 4;
	spared = ft_loss_spared_of(&evidence, 1, 2);
	assert_true(spared.begins && spared.begun > 19.9 && spared.begun < 20.1);
	assert_true(spared.begun_error > 2 && spared.begun_error < 20);

	/* no fewer than elsewhere: of before the capture, perhaps */
	evidence.bins[0].missing[FT_LOSS_CUT] = 400;
	assert_false(ft_loss_spared_of(&evidence, 1, 2).begins);
	evidence.bins[0].missing[FT_LOSS_CUT] = 6;
	evidence.ahead = 0;
	evidence.acks = 1000; /* all are lost alike */
	assert_false(ft_loss_spared_of(&evidence, 1, 2).begins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acks_are_spared_where_requests_have_theirs),
		cmocka_unit_test(beginnings_are_counted_where_acks_are_spared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
