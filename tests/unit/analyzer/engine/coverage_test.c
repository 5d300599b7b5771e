#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "coverage.h"

#define MOST 3

static const struct row {
	const char *what;
	struct ft_covered covered;
	struct ft_covered_pair pairs[MOST];
	bool enough;
	double could_hide; /* packets per million */
	const char *lacking, *hidden;
} rows[] = {
	{ "a whole capture",
	  { .judged = 1000, .share_seen = 1, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  0,
	  "",
	  "all frames seen were judged and none shows a loss" },
	{ "nothing tells of loss: three in the frames of the smallest pair",
	  { .judged = 1000, .share_seen = -1, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  30000,
	  "",
	  "from red to blue 100 judged, nothing tells how many were lost" },
	{ "no more can hide than was lost",
	  { .judged = 1000, .share_seen = 0.995, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  5000,
	  "",
	  "from red to blue 100 judged, about 0.5 % of all frames lost" },
	{ "1 % at most, of which half is likely",
	  { .judged = 1000, .share_seen = 0.995, .most_lost = 10, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  5000,
	  "",
	  "from red to blue 100 judged, about 0.5 % of all frames lost" },
	{ "1.2 % at most, of which half is likely",
	  { .judged = 1000, .share_seen = 0.994, .most_lost = 12, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  false,
	  6000,
	  "up to 1.2 % of the RDMA frames that crossed are not in the capture",
	  "from red to blue 100 judged, about 0.6 % of all frames lost" },
	{ "1.2 % at most, and nothing shows a loss",
	  { .judged = 1000, .share_seen = 1, .most_lost = 12, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  0,
	  "",
	  "all frames seen were judged and none shows a loss" },
	{ "losses that may have taken whole connections",
	  { .judged = 1000, .share_seen = 0.999, .lasting = true, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  false,
	  1000,
	  "losses last longer than connections do: of what they took whole nothing tells",
	  "from red to red 900 judged, about 0.1 % of all frames lost" },
	{ "requests missing of connections that are all alike",
	  { .judged = 1000, .share_seen = -1, .lasting = true, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  false,
	  30000,
	  "requests are missing of which answers are here: nothing tells how much else is",
	  "from red to blue 100 judged, nothing tells how many were lost" },
	{ "connections that are all alike and do not add up",
	  { .judged = 1000, .share_seen = -1, .crowd_share = 0.02, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  false,
	  30000,
	  "up to 2 % of the RDMA frames that crossed may be missing: which answer is to which "
	  "request is "
	  "not told, and they do not add up",
	  "from red to blue 100 judged, nothing tells how many were lost" },
	{ "those that nearly do",
	  { .judged = 1000, .share_seen = -1, .crowd_share = 0.01, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  30000,
	  "",
	  "from red to blue 100 judged, nothing tells how many were lost" },
	{ "a silence amid connections that come at a steady rate",
	  { .judged = 1000,
	    .share_seen = 1,
	    .silent_share = 0.03,
	    .silent_time = 0.04,
	    .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  false,
	  0,
	  "the capture is silent for 4 % of its time in the midst of connections that come at a "
	  "steady rate: "
	  "nothing shows that none did",
	  "all frames seen were judged and none shows a loss" },
	{ "packets that overtake each other by far",
	  { .judged = 1000, .share_seen = -1, .crowded = true, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  false,
	  30000,
	  "packets are out of order so far that those still to come are not told from lost ones",
	  "from red to blue 100 judged, nothing tells how many were lost" },
	{ "frames cut before the numbers that would tell",
	  { .judged = 1000, .unnumbered = 501, .share_seen = -1, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  false,
	  30000,
	  "501 of 1000 RDMA frames are cut before their sequence numbers: nothing can show whether "
	  "others are missing",
	  "from red to blue 100 judged, nothing tells how many were lost" },
	{ "frames cut before them, but so few that the rest may tell",
	  { .judged = 1000, .unnumbered = 500, .share_seen = -1, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  30000,
	  "",
	  "from red to blue 100 judged, nothing tells how many were lost" },
	{ "a few frames, cut before them",
	  { .judged = 63, .unnumbered = 63, .share_seen = -1, .min_coverage = 0.99 },
	  { { "red", "red", 63, 0 } },
	  true,
	  1e6 * 3 / 63,
	  "",
	  "from red to red 63 judged, nothing tells how many were lost" },
	{ "frames cut before them, where others tell",
	  { .judged = 1000, .unnumbered = 600, .share_seen = 1, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  0,
	  "",
	  "all frames seen were judged and none shows a loss" },
	{ "a source that does not count",
	  { .judged = 1000, .share_seen = 1, .uncounted = "verbs:mlx5_0/1", .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  false,
	  30000,
	  "verbs:mlx5_0/1 does not know how many frames it lost",
	  "from red to blue 100 judged, a source does not count its losses" },
	{ "P_Keys that are not known any more",
	  { .judged = 1000, .share_seen = 1, .forgotten = 7, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  false,
	  30000,
	  "7 half-connections had to be forgotten (--flows): a change of P_Key inside one of them "
	  "would not show",
	  "from red to blue 100 judged, P_Keys of connections were forgotten (--flows)" },
	{ "frames without a time may all be of the smallest pair",
	  { .judged = 1000,
	    .undecided = 8,
	    .unplaceable = 8,
	    .share_seen = 1,
	    .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  1e6 * 8 / 108,
	  "",
	  "from red to blue 100 judged, 8 of no known pair undecided" },
	{ "six in ten lost",
	  { .judged = 1000, .share_seen = 0.4, .min_coverage = 0.99 },
	  { { "red", "red", 1000, 0 } },
	  false,
	  3000,
	  "about 60 % of the RDMA frames that crossed are not in the capture",
	  "from red to red 1000 judged, about 60 % of all frames lost" },
	{ "a tenth doubted",
	  { .judged = 1000, .share_seen = 1, .doubted = 0.1, .min_coverage = 0.99 },
	  { { "red", "red", 1000, 0 } },
	  false,
	  0,
	  "about 10 % of the RDMA frames that crossed may be lost, or may have passed before the "
	  "capture began or after it ended",
	  "all frames seen were judged and none shows a loss" },
	{ "nearly all lost",
	  { .judged = 1000, .share_seen = 0.00005, .min_coverage = 0.99 },
	  { { "red", "red", 1000, 0 } },
	  false,
	  3000,
	  "about 99.99 % of the RDMA frames that crossed are not in the capture",
	  "from red to red 1000 judged, about 99.99 % of all frames lost" },
	{ "next to nothing lost",
	  { .judged = 1000, .share_seen = 1 - 2.5e-8, .min_coverage = 0.99 },
	  { { "red", "red", 1000, 0 } },
	  true,
	  0.025,
	  "",
	  "from red to red 1000 judged, about 0.0000025 % of all frames lost" },
	{ "six in ten lost are enough for him who says so",
	  { .judged = 1000, .share_seen = 0.4, .min_coverage = 0.4 },
	  { { "red", "red", 1000, 0 } },
	  true,
	  3000,
	  "",
	  "from red to red 1000 judged, about 60 % of all frames lost" },
	{ "undecided frames may all be the violation",
	  { .judged = 999, .undecided = 1, .share_seen = 1, .min_coverage = 0.99 },
	  { { "red", "red", 999, 1 } },
	  true,
	  1000,
	  "",
	  "from red to red 999 judged, 1 undecided" },
	{ "too many undecided",
	  { .judged = 900, .undecided = 100, .share_seen = 1, .min_coverage = 0.99 },
	  { { "red", "red", 900, 100 } },
	  false,
	  100000,
	  "100 of 1000 RDMA frames could not be judged",
	  "from red to red 900 judged, 100 undecided" },
	{ "a pair that is dark is not hidden behind a bright one",
	  { .judged = 9990, .undecided = 10, .share_seen = 1, .min_coverage = 0.99 },
	  { { "red", "red", 9990, 0 }, { "red", "blue", 0, 10 } },
	  false,
	  1e6,
	  "10 of 10 RDMA frames from red to blue could not be judged",
	  "from red to blue 0 judged, 10 undecided" },
	{ "a scrap: as much may be lost as is here",
	  { .judged = 10, .share_seen = 1, .most_lost = 10, .min_coverage = 0.99 },
	  { { "red", "red", 10, 0 } },
	  false,
	  0,
	  "up to 10 RDMA frames may be lost beside the 10 here",
	  "all frames seen were judged and none shows a loss" },
	{ "no scrap: one less",
	  { .judged = 10, .share_seen = 1, .most_lost = 9, .min_coverage = 0.99 },
	  { { "red", "red", 10, 0 } },
	  true,
	  0,
	  "",
	  "all frames seen were judged and none shows a loss" },
	{ "a pair without RDMA frames hides nothing",
	  { .judged = 10, .share_seen = 1, .min_coverage = 0.99 },
	  { { "red", "red", 10, 0 }, { "red", "blue", 0, 0 } },
	  true,
	  0,
	  "",
	  "all frames seen were judged and none shows a loss" },
	{ "three frames exclude nothing",
	  { .judged = 3, .share_seen = -1, .min_coverage = 0.99 },
	  { { "red", "red", 3, 0 } },
	  true,
	  1e6,
	  "",
	  "from red to red 3 judged, nothing tells how many were lost" },
	{ "nothing judged",
	  { .share_seen = -1, .min_coverage = 0 },
	  { { 0 } },
	  false,
	  1e6,
	  "no RDMA frame could be judged",
	  "no RDMA frame could be judged" },
	{ "a pair of which nothing could be judged, and no other",
	  { .undecided = 10, .share_seen = -1, .min_coverage = 0.99 },
	  { { "red", "blue", 0, 10 } },
	  false,
	  1e6,
	  "no RDMA frame could be judged",
	  "no RDMA frame could be judged" },
	{ "undecided frames of no known pair were taken by chance",
	  { .judged = 998, .undecided = 2, .share_seen = 1, .min_coverage = 0.99 },
	  { { "red", "red", 800, 0 }, { "red", "blue", 198, 0 } },
	  true,
	  2000,
	  "",
	  "from red to red 800 judged, 2 of no known pair undecided" },
	{ "those of a pair that is known are its own, and the others of any",
	  { .judged = 1095, .undecided = 5, .share_seen = 1, .min_coverage = 0.99 },
	  { { "red", "red", 700, 0 }, { "red", "blue", 395, 3 } },
	  true,
	  1e6 * 3 / 398 + 1e6 * 2 / 1100,
	  "",
	  "from red to blue 395 judged, 3 undecided, 2 of no known pair undecided" },
	{ "1 % was lost, and of what came 1 % damaged: together 1.99 %",
	  { .judged = 9900, .undecided = 100, .share_seen = 0.99, .min_coverage = 0.9 },
	  { { "red", "red", 9800, 0 }, { "red", "blue", 100, 0 } },
	  true,
	  19900,
	  "",
	  "from red to blue 100 judged, 100 of no known pair undecided, about 1 % of all frames "
	  "lost" },
	{ "by chance no more than three in the frames of a pair",
	  { .judged = 10000, .undecided = 50, .share_seen = 1, .min_coverage = 0.99 },
	  { { "red", "red", 10000, 0 } },
	  true,
	  300,
	  "",
	  "from red to red 10000 judged, 50 of no known pair undecided" },
	{ "missing frames that the mirror may have lost, and nothing else tells",
	  { .judged = 900, .share_seen = -1, .uncertain = 100, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 } },
	  false,
	  1e6 * 3 / 900,
	  "up to 10 % of the RDMA frames that crossed may be missing here: nothing tells "
	  "whether the mirror or the fabric lost them",
	  "from red to red 900 judged, nothing tells how many were lost" },
	{ "missing frames that the mirror is known not to have lost",
	  { .judged = 900, .share_seen = 1, .uncertain = 100, .min_coverage = 0.99 },
	  { { "red", "red", 900, 0 } },
	  true,
	  0,
	  "",
	  "all frames seen were judged and none shows a loss" },
	{ "exactly enough",
	  { .judged = 99, .undecided = 1, .share_seen = 0.99, .min_coverage = 0.99 },
	  { { "red", "red", 99, 1 } },
	  true,
	  20000,
	  "",
	  "from red to red 99 judged, 1 undecided, about 1 % of all frames lost" },
	{ "no end of any frame is known, and most were lost",
	  { .judged = 500, .undecided = 500, .share_seen = 0.25, .min_coverage = 0.99 },
	  { { 0 } },
	  false,
	  6000, /* the rule of three among 500 */
	  "500 of 1000 RDMA frames could not be judged",
	  "from unknown to unknown 500 judged, 500 of no known pair undecided, about 75 % of all "
	  "frames lost" },
	{ "no end of any frame is known, and all is here",
	  { .judged = 500, .share_seen = 1, .min_coverage = 0.99 },
	  { { 0 } },
	  true,
	  0,
	  "",
	  "all frames seen were judged and none shows a loss" },
};

static void the_verdict_needs_what_was_seen_and_what_was_decided(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct row *row = &rows[i];
		struct ft_covered covered = row->covered;
		char lacking[FT_COVERAGE_TEXT] = "", hidden[FT_COVERAGE_TEXT] = "";
		double share;

		covered.pairs = row->pairs;
		while (covered.pair_count < MOST && row->pairs[covered.pair_count].from != NULL)
			covered.pair_count++;
		if (ft_coverage_enough(&covered, lacking) != row->enough ||
		    strcmp(lacking, row->lacking) != 0)
			fail_msg("%s: \"%s\"", row->what, lacking);
		share = ft_coverage_could_hide(&covered, hidden);
		if (fabs(share - row->could_hide) > 1e-6 || strcmp(hidden, row->hidden) != 0)
			fail_msg("%s: %f, \"%s\"", row->what, share, hidden);
	}
}

static void names_as_long_as_they_like_fit(void **state)
{
	static char name[4096];
	const struct ft_covered_pair pair = { name, name, UINT64_MAX / 2, UINT64_MAX / 2 };
	const struct ft_covered covered = { .judged = UINT64_MAX / 2,
					    .share_seen = 0.123456789,
					    .pairs = &pair,
					    .pair_count = 1,
					    .min_coverage = 0.1 };
	char because[FT_COVERAGE_TEXT];

	(void)state;
	memset(name, 'x', sizeof name - 1);
	ft_coverage_could_hide(&covered, because);
	assert_non_null(strstr(because, "of all frames lost"));
}

static void names_are_cut_between_characters(void **state)
{
	const char *from = "a \u6771\u4eac\u5927\u5b66\u60c5\u5831\u57fa\u76e4"; /* 26 bytes */
	const struct ft_covered_pair pair = { from, "red", 9, 1 };
	const struct ft_covered covered = {
		.judged = 9, .undecided = 1, .share_seen = 1, .pairs = &pair, .pair_count = 1
	};
	char because[FT_COVERAGE_TEXT];

	(void)state;
	ft_coverage_could_hide(&covered, because);
	assert_string_equal(
		because,
		"from a \u6771\u4eac\u5927\u5b66\u60c5\u5831\u57fa to red 9 judged, 1 undecided");
}

static void counters_count_frames_of_any_kind(void **state)
{
	static const struct {
		struct ft_counted_frames here;
		uint64_t missing, wanted;
	} cases[] = {
		{ { .rdma = 1000 }, 100, 100 },
		{ { .rdma = 0 }, 100, 100 }, /* nothing came through at all */
		{ { .rdma = 900, .others = 100 }, 100, 90 },
		/* all pass twice, and 100 frames lack a copy: those are the missing, or nearly */
		{ { .rdma = 1000, .copies = 900 }, 100, 10 },
		{ { .rdma = 1000, .copies = 900 }, 95, 10 },
		{ { .rdma = 1000, .copies = 900 }, 1100, 500 }, /* and 500 more frames both */
		{ { .rdma = 1000, .copies = 1900 }, 100, 0 },
		/* no frame lacks a copy: each loss took both of a frame, or all three */
		{ { .rdma = 1000, .copies = 1000 }, 100, 50 },
		{ { .rdma = 1000, .copies = 1001 }, 2001, 1000 },
		{ { .rdma = 1000, .copies = 2000 }, 99, 33 },
		{ { .rdma = 500, .others = 500, .copies = 1000 }, 100, 25 },
		/* frames that pass differently often: nothing tells which lack a copy */
		{ { .rdma = 1000, .copies = 250 }, 100, 80 },
		{ { .rdma = 1000, .copies = 1500 }, 100, 40 },
		{ { .rdma = 1000, .copies = 1800 }, 28, 10 },
		{ { .others = 10 }, 100, 0 },
		{ { .rdma = UINT64_MAX / 4 }, UINT64_MAX, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(ft_coverage_counted(cases[i].missing, &cases[i].here),
				 cases[i].wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_needs_what_was_seen_and_what_was_decided),
		cmocka_unit_test(names_as_long_as_they_like_fit),
		cmocka_unit_test(names_are_cut_between_characters),
		cmocka_unit_test(counters_count_frames_of_any_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
