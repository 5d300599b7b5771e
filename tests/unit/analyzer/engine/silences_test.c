#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "silences.h"

#define US      UINT64_C(1000)
#define MS      UINT64_C(1000000)
#define START   UINT64_C(1700000000000000000)
#define NO_TIME UINT64_MAX

enum { INPUTS = 2, GAPS_MAX = INPUTS * FT_SILENCES_KEPT, ROWS = 12, EVERY = 10 };

/* Frames every 10 us in [from, to) ms, none of them where another input has its turn. */
struct traffic {
	uint32_t input;
	unsigned from_ms, to_ms;
};

/* Holes from one time to another, each of so many packets, in so many flows. */
struct lost {
	unsigned from_ms, to_ms, flows, packets;
};

/* Frames of both inputs in the order of their times. */
static void see(struct ft_silences *silences, const struct traffic *traffic)
{
	for (uint64_t us = 0; us < 2000000; us += EVERY) {
		for (int row = 0; row < ROWS; row++) {
			if (traffic[row].from_ms * 1000 <= us && us < traffic[row].to_ms * 1000)
				ft_silences_see(silences, traffic[row].input,
						START + us * US + traffic[row].input);
		}
	}
}

static void lose(struct ft_silences *silences, const struct lost *lost)
{
	for (unsigned flow = 0; flow < lost->flows; flow++)
		ft_silences_lost(silences, 0, START + lost->from_ms * MS, START + lost->to_ms * MS,
				 lost->packets);
}

static const struct {
	const char *sentence;
	struct traffic traffic[ROWS];
	struct lost lost[4];
	uint64_t flows;
	uint64_t gaps; /* the expected ones: */
	unsigned from_ms, to_ms;
} cases[] = {
	{ "a silence alone is idleness",
	  { { 0, 0, 100 }, { 0, 200, 300 } },
	  { { 0 } },
	  10,
	  0,
	  0,
	  0 },
	{ "two flows lost packets in it",
	  { { 0, 0, 100 }, { 0, 200, 300 } },
	  { { 99, 201, 2, 600 } },
	  10,
	  1,
	  100,
	  200 },
	{ "one flow lost many packets in it",
	  { { 0, 0, 100 }, { 0, 200, 300 } },
	  { { 99, 201, 1, 1200 } },
	  10,
	  1,
	  100,
	  200 },
	{ "one flow lost a few packets in it",
	  { { 0, 0, 100 }, { 0, 102, 300 } },
	  { { 99, 103, 1, 7 } },
	  10,
	  0,
	  0,
	  0 },
	{ "too few were lost to have filled it",
	  { { 0, 0, 100 }, { 0, 200, 300 } },
	  { { 99, 201, 10, 40 } },
	  10,
	  0,
	  0,
	  0 },
	{ "packets were lost before it",
	  { { 0, 0, 100 }, { 0, 200, 300 } },
	  { { 50, 150, 2, 4000 } },
	  10,
	  0,
	  0,
	  0 },
	{ "packets were lost after it",
	  { { 0, 0, 100 }, { 0, 200, 300 } },
	  { { 150, 250, 2, 4000 } },
	  10,
	  0,
	  0,
	  0 },
	{ "the longest silence in a hole explains it",
	  { { 0, 0, 100 }, { 0, 120, 200 }, { 0, 400, 500 } },
	  { { 99, 401, 2, 4000 } },
	  10,
	  1,
	  200,
	  400 },
	{ "a hole far longer than the silence says nothing of it",
	  { { 0, 0, 100 }, { 0, 140, 300 } },
	  { { 20, 160, 2, 4000 } },
	  10,
	  0,
	  0,
	  0 },
	{ "each of two silences has its own",
	  { { 0, 0, 100 }, { 0, 120, 200 }, { 0, 300, 400 } },
	  { { 99, 121, 2, 4000 }, { 199, 301, 2, 4000 } },
	  10,
	  2,
	  100,
	  120 },
	{ "flows lose as much elsewhere: those beside an idle time say nothing",
	  { { 0, 0, 100 }, { 0, 110, 300 } },
	  { { 99, 111, 30, 2 }, { 50, 51, 3000, 2 } },
	  300,
	  0,
	  0,
	  0 },
	{ "flows lose elsewhere, but far less",
	  { { 0, 0, 100 }, { 0, 110, 300 } },
	  { { 99, 111, 300, 2 }, { 50, 51, 3000, 2 } },
	  300,
	  1,
	  100,
	  110 },
	{ "bursts are lost elsewhere: one beside an idle time says nothing",
	  { { 0, 0, 100 }, { 0, 102, 300 } },
	  { { 99, 103, 1, 20 }, { 50, 51, 1000, 20 } },
	  20,
	  0,
	  0,
	  0 },
	{ "bursts are lost elsewhere, but far shorter ones",
	  { { 0, 0, 100 }, { 0, 102, 300 } },
	  { { 99, 103, 1, 200 }, { 50, 51, 1000, 20 } },
	  20,
	  1,
	  100,
	  102 },
	{ "the other input went on",
	  { { 0, 0, 100 }, { 0, 200, 300 }, { 1, 0, 300 } },
	  { { 0 } },
	  0,
	  1,
	  100,
	  200 },
	{ "the other input went on for a moment",
	  { { 0, 0, 100 }, { 0, 102, 300 }, { 1, 0, 101 }, { 1, 102, 300 } },
	  { { 0 } },
	  0,
	  1,
	  100,
	  102 },
	{ "the other input went on for less than that",
	  { { 0, 0, 1000 }, { 0, 1002, 1100 }, { 1, 999, 1000 } },
	  { { 0 } },
	  0,
	  0,
	  0,
	  0 },
	{ "both were silent",
	  { { 0, 0, 100 }, { 0, 200, 300 }, { 1, 0, 100 }, { 1, 200, 300 } },
	  { { 0 } },
	  0,
	  0,
	  0,
	  0 },
	{ "inputs that take turns are not evidence against each other",
	  { { 0, 0, 100 },
	    { 1, 100, 200 },
	    { 0, 200, 300 },
	    { 1, 300, 400 },
	    { 0, 400, 500 },
	    { 1, 500, 600 },
	    { 0, 600, 700 },
	    { 1, 700, 800 },
	    { 0, 800, 900 } },
	  { { 0 } },
	  0,
	  0,
	  0,
	  0 },
	{ "nor is one that was never heard at the same time",
	  { { 0, 0, 100 }, { 1, 100, 200 }, { 0, 200, 300 } },
	  { { 0 } },
	  0,
	  0,
	  0,
	  0 },
	{ "an input that ends before another begins has no gap",
	  { { 0, 0, 100 }, { 1, 200, 300 } },
	  { { 0 } },
	  0,
	  0,
	  0,
	  0 },
};

static void gaps_are_silences_that_other_evidence_speaks_against(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_time_gap gaps[GAPS_MAX];
		struct ft_silences silences;

		print_message("%s\n", cases[i].sentence);
		assert_int_equal(ft_silences_init(&silences, INPUTS), 0);
		see(&silences, cases[i].traffic);
		for (int l = 0; l < 4; l++)
			lose(&silences, &cases[i].lost[l]);
		assert_int_equal(ft_silences_gaps(&silences, cases[i].flows, gaps), cases[i].gaps);
		if (cases[i].gaps > 0) {
			assert_int_equal(gaps[0].input, 0);
			assert_in_range(gaps[0].from_ns, START + cases[i].from_ms * MS - EVERY * US,
					START + cases[i].from_ms * MS);
			assert_in_range(gaps[0].to_ns, START + cases[i].to_ms * MS,
					START + cases[i].to_ms * MS + EVERY * US);
		}
		ft_silences_free(&silences);
	}
}

/* Gaps where two flows lost much in the one silence of 17 ms, beside 2000 steps of 100 us and 1000 of `other_ns`. */
static size_t gaps_beside(uint64_t other_ns)
{
	struct ft_time_gap gaps[FT_SILENCES_KEPT];
	struct ft_silences silences;
	uint64_t now = START;
	size_t count;

	assert_int_equal(ft_silences_init(&silences, 1), 0);
	for (int step = 0; step < 1000; step++) {
		ft_silences_see(&silences, 0, now += 100 * US);
		ft_silences_see(&silences, 0, now += 100 * US);
		ft_silences_see(&silences, 0, now += other_ns);
	}
	ft_silences_see(&silences, 0, now += 17 * MS);
	for (int flow = 0; flow < 2; flow++)
		ft_silences_lost(&silences, 0, now - 17 * MS, now, 4000);
	count = ft_silences_gaps(&silences, 10, gaps);
	ft_silences_free(&silences);
	return count;
}

/* A gap is 20 times as long as usual. 17 ms takes 25 bits of nanoseconds, 6 ms 23, 10 ms 24. */
static void usual_are_the_steps_of_a_quarter_of_the_silence_at_most(void **state)
{
	(void)state;
	assert_int_equal(gaps_beside(100 * US), 1);
	assert_int_equal(gaps_beside(6 * MS), 0);  /* usual: some 2 ms */
	assert_int_equal(gaps_beside(10 * MS), 1); /* usual: 100 us */
}

/* Each of 200 silences of its own length, and evidence for all of them in two orders. */
static void the_order_of_evidence_does_not_matter(void **state)
{
	enum { SILENCES = 200 };
	struct ft_time_gap gaps[2][FT_SILENCES_KEPT];
	uint64_t from_ns[SILENCES], to_ns[SILENCES];

	(void)state;
	for (int late = 0; late < 2; late++) {
		struct ft_silences silences;
		uint64_t now = START;

		assert_int_equal(ft_silences_init(&silences, 1), 0);
		for (unsigned s = 0; s < SILENCES; s++) {
			for (int frame = 0; frame < 100; frame++)
				ft_silences_see(&silences, 0, now += US);
			from_ns[s] = now;
			ft_silences_see(&silences, 0, now += (2 + s * 77 % SILENCES) * MS);
			to_ns[s] = now;
			for (int flow = 0; flow < 3 && !late; flow++)
				ft_silences_lost(&silences, 0, from_ns[s], to_ns[s], 1000000);
		}
		for (unsigned s = SILENCES; s-- > 0 && late;) {
			for (int flow = 0; flow < 3; flow++)
				ft_silences_lost(&silences, 0, from_ns[s], to_ns[s], 1000000);
		}
		assert_int_equal(ft_silences_gaps(&silences, 1, gaps[late]), FT_SILENCES_KEPT);
		ft_silences_free(&silences);
	}
	for (int i = 0; i < FT_SILENCES_KEPT; i++) {
		assert_int_equal(gaps[0][i].from_ns, gaps[1][i].from_ns);
		assert_int_equal(gaps[0][i].to_ns, gaps[1][i].to_ns);
		assert_true(gaps[0][i].to_ns - gaps[0][i].from_ns >
			    (2 + SILENCES - FT_SILENCES_KEPT - 1) * MS);
	}
}

static void clocks_that_step_make_no_gaps(void **state)
{
	static const uint64_t times[] = { START,
					  START + 1 * MS,
					  NO_TIME,
					  START + 2 * MS,
					  START - 900 * MS,
					  START - 899 * MS,
					  START - 898 * MS,
					  START + 1,
					  NO_TIME,
					  START + 2 * MS,
					  0,
					  UINT64_MAX - 1,
					  5 };
	struct ft_time_gap gaps[FT_SILENCES_KEPT];
	struct ft_silences silences;

	(void)state;
	assert_int_equal(ft_silences_init(&silences, 1), 0);
	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
		ft_silences_see(&silences, 0, times[i]);
	ft_silences_lost(&silences, 0, 10, 5, 3);
	ft_silences_lost(&silences, 0, 0, UINT64_MAX, 3);
	assert_int_equal(ft_silences_gaps(&silences, 0, gaps), 0);
	ft_silences_free(&silences);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_are_silences_that_other_evidence_speaks_against),
		cmocka_unit_test(usual_are_the_steps_of_a_quarter_of_the_silence_at_most),
		cmocka_unit_test(the_order_of_evidence_does_not_matter),
		cmocka_unit_test(clocks_that_step_make_no_gaps),
	};

	return cmocka_run_group_tests_name("silences", tests, NULL, NULL);
}
