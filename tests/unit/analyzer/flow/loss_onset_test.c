#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flow/loss_estimate.h>

/* Captures that begin, or end, while packets overtake each other. */

static struct ft_loss_evidence evidence;

static void fill_spaces(void)
{
	ft_loss_init(&evidence);
	for (uint64_t frame = 1; frame <= 10000; frame++)
		ft_loss_space(&evidence, frame);
}

/* Of 10 000 spaces, all early, the first 2000 are at an onset: holes left of `onset` ones there and `later` others. */
static uint64_t holes_left(uint32_t onset, uint32_t later, uint64_t late)
{
	uint64_t left = 0;

	fill_spaces();
	evidence.early = 10000;
	evidence.onset = 2000;
	evidence.late = late;
	for (uint32_t hole = 0; hole < onset + later; hole++) {
		ft_loss_hole(&evidence, 600 + hole, 1);
		ft_loss_doubt(&evidence, 600 + hole, 1,
			      hole < onset ? FT_LOSS_ONSET : FT_LOSS_EARLY);
	}
	ft_loss_resolve(&evidence);
	for (uint32_t i = 0; i < evidence.used; i++)
		left += evidence.bins[i].holes;
	return left;
}

static void the_very_first_packets_are_left_aside_where_ways_overtake(void **state)
{
	(void)state;
	assert_int_equal(holes_left(5, 0, 500), 0);
	assert_int_equal(holes_left(12, 10, 500), 10);
	/* not without so much trouble, nor where the mirror loses much */
	assert_int_equal(holes_left(8, 10, 10), 18);
	assert_int_equal(holes_left(200, 800, 2000), 1000);
}

/* What is left aside is lost as often as all else: 8 of 8000, and 2 of 2000. */
static void what_is_left_aside_counts_at_the_rate_of_the_rest(void **state)
{
	struct ft_loss_estimate estimate;

	(void)state;
	holes_left(12, 8, 500);
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_in_range(estimate.frames, 9, 11);
	assert_in_range(estimate.high, 10, 22);
}

/* Ten holes, four packets more that are open at the end, and so many that came late: what is estimated. */
static uint64_t lost_with_open(uint64_t unanswered, uint64_t overdue, uint64_t late)
{
	struct ft_loss_estimate estimate;

	fill_spaces();
	for (uint64_t frame = 1000; frame <= 10000; frame += 1000)
		ft_loss_hole(&evidence, frame, 1);
	evidence.unanswered = unanswered;
	evidence.overdue = overdue;
	evidence.uncertain = unanswered + overdue;
	evidence.late = late;
	ft_loss_estimate(&evidence, 0, &estimate);
	return estimate.frames;
}

/* What is open at the end comes late where much comes late; responses have been waited for longer. */
static void what_is_open_where_ways_overtake_is_hardly_lost(void **state)
{
	(void)state;
	assert_int_equal(lost_with_open(4, 0, 0), 14);
	assert_int_equal(lost_with_open(0, 4, 0), 14);
	assert_in_range(lost_with_open(4, 0, 4000), 10, 11);
	assert_in_range(lost_with_open(0, 4, 4000), 12, 13);
	assert_in_range(lost_with_open(0, 4, 40000), 10, 11);
}

/* Of 10 000 frames in sequences 2000 have none behind them: 800 holes among 8000, and as many among these. */
static void the_last_responses_are_lost_as_often_as_the_others(void **state)
{
	struct ft_loss_estimate estimate;

	(void)state;
	fill_spaces();
	evidence.ends = 2000;
	for (uint64_t frame = 10; frame <= 8000; frame += 10)
		ft_loss_hole(&evidence, frame, 1);
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_in_range(estimate.frames, 990, 1010);
	assert_in_range(1000, estimate.low, estimate.high);
}

/*
 * 4000 requests, of which one is missing in ten seen, and then their 4000 answers, which show that the last requests of 20
 * connections are missing, too: as many of the answers are lost.
 */
static void answers_apart_from_requests_are_lost_as_often(void **state)
{
	struct ft_loss_estimate estimate;

	(void)state;
	ft_loss_init(&evidence);
	for (uint64_t frame = 1; frame <= 4000; frame++)
		ft_loss_space(&evidence, frame);
	for (uint64_t frame = 4001; frame <= 8000; frame++)
		ft_loss_silent(&evidence, frame);
	for (uint64_t frame = 10; frame <= 4000; frame += 10)
		ft_loss_hole(&evidence, frame, 1);
	for (uint64_t frame = 4200; frame <= 8000; frame += 200)
		ft_loss_hole(&evidence, frame, 1);
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_in_range(estimate.frames, 830, 850);
}

/* Losses of two responses each that are overdue since these frames, of 10 000: how many become holes. */
static uint64_t believed(const uint64_t *frames, size_t count, uint64_t late)
{
	uint64_t left = 0, found;

	fill_spaces();
	evidence.late = late;
	for (size_t i = 0; i < count; i++) {
		ft_loss_overdue(&evidence, frames[i], 2);
		evidence.uncertain += 2;
	}
	found = ft_loss_believe_overdue(&evidence);
	for (uint32_t i = 0; i < evidence.used; i++)
		left += evidence.bins[i].holes;
	assert_int_equal(left, found);
	assert_int_equal(evidence.overdue + found, 2 * count);
	assert_int_equal(evidence.uncertain, evidence.overdue);
	return found;
}

/* What is missing since these frames, with so much that speaks for another reason: how many become holes. */
typedef uint64_t belief(const uint64_t *frames, size_t count, uint64_t other_reason);

/* Not what is missing since just now, nor two accidents, nor where there is another reason; then what is. */
static void is_believed_if_spread(belief *believe, uint64_t other_reason)
{
	static const uint64_t spread[] = { 1000, 3000, 5000, 7000, 9000, 9900 };
	static const uint64_t end[] = { 1000, 6000, 7000, 8000, 9000, 9900 };

	assert_int_equal(believe(end, 6, 0), 0);
	assert_int_equal(believe(spread, 2, 0), 0);
	assert_int_equal(believe(spread, 6, other_reason), 0);
	assert_int_equal(believe(spread, 6, 0), 12);
}

static void nobody_waits_for_half_a_capture(void **state)
{
	(void)state;
	is_believed_if_spread(believed, 3); /* as many are overtaken */
}

/* Losses of two requests each that are missing since these frames, and `again` packets sent again: how many become holes. */
static uint64_t believed_requests(const uint64_t *frames, size_t count, uint64_t again)
{
	fill_spaces();
	for (uint64_t i = 0; i < again; i++)
		ft_loss_again(&evidence, 5000);
	for (size_t i = 0; i < count; i++)
		ft_loss_miss(&evidence, frames[i], 2, FT_LOSS_REQUESTS);
	evidence.unanswered = evidence.uncertain = 2 * count;
	return ft_loss_believe_unanswered(&evidence);
}

static void what_nobody_answers_for_was_lost_where_nothing_is_wanted_again(void **state)
{
	struct ft_loss_estimate estimate;

	(void)state;
	is_believed_if_spread(believed_requests, 1); /* who sends again lost them to the fabric */
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_int_equal(estimate.low, 12);
	assert_int_equal(estimate.frames, 12);
	assert_int_equal(evidence.unanswered + evidence.uncertain, 0);
}

/* Whether so many responses that so many requesters lack were lost by a fabric that loses one in a hundred. */
static bool taken_for_fabric(unsigned responses, uint64_t waiting)
{
	fill_spaces();
	evidence.fabric = 100;
	for (unsigned i = 0; i < responses; i++) {
		ft_loss_hole(&evidence, 9000 + i, 1);
		ft_loss_doubt(&evidence, 9000 + i, 1, FT_LOSS_OVERDUE);
	}
	assert_int_equal(evidence.waiting, responses);
	evidence.waiting = waiting;
	return ft_loss_resolve(&evidence) == 1u << FT_LOSS_OVERDUE;
}

static void who_waits_comes_to_lack_more(void **state)
{
	(void)state;
	assert_true(taken_for_fabric(14, 7));
	assert_false(taken_for_fabric(14, 14));
	assert_false(taken_for_fabric(40, 7));
}

/* What is overdue is not in the estimate, but the verdict reckons with it. */
static void what_may_yet_come_is_in_the_least_share(void **state)
{
	static const uint64_t end[] = { 9000, 9500, 9900 };
	struct ft_loss_estimate estimate;

	(void)state;
	assert_int_equal(believed(end, 3, 0), 0);
	evidence.unanswered = 994;
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_int_equal(estimate.frames, 0);
	assert_true(estimate.share_seen == 1);
	assert_true(estimate.least_share == 10000. / 11000);
}

/*
 * 15 000 frames, of which each third is of an unreliable connection; `holes` proved lost of the others, and `missing` of
 * these: how many of the latter are lost, too.
 */
static uint64_t believed_unreliable(uint32_t holes, uint32_t missing, uint64_t late)
{
	ft_loss_init(&evidence);
	for (uint64_t frame = 1; frame <= 15000; frame++) {
		if (frame % 3 != 0) {
			ft_loss_space(&evidence, frame);
			continue;
		}
		ft_loss_silent(&evidence, frame);
		ft_loss_bin(&evidence, frame)->unreliable++;
	}
	for (uint32_t i = 0; i < holes; i++)
		ft_loss_hole(&evidence, 15000 * i / holes + 1, 1);
	for (uint32_t i = 0; i < missing; i++)
		ft_loss_miss(&evidence, 15000 * i / missing + 1, 1, FT_LOSS_UNRELIABLE);
	evidence.uncertain = missing;
	evidence.late = late;
	return ft_loss_believe_unreliable(&evidence);
}

static void the_mirror_loses_of_unreliable_connections_what_it_loses_of_others(void **state)
{
	struct ft_loss_estimate estimate;

	(void)state;
	assert_int_equal(believed_unreliable(100, 50, 0), 50);
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_int_equal(estimate.low, 150);
	assert_int_equal(estimate.frames, 150);
	assert_int_equal(estimate.high, 150); /* every loss shows */
	/* not where three times as much is missing, little is proved, or a fabric is seen to carry them on many ways */
	assert_int_equal(believed_unreliable(100, 150, 0), 0);
	assert_int_equal(believed_unreliable(5, 3, 0), 0);
	assert_int_equal(believed_unreliable(0, 50, 0), 0);
	assert_int_equal(believed_unreliable(100, 50, 1), 0);
}

/* Two jumps of PSNs that nobody can tell from losses, among 100 sequences of 100 frames: these have no more ends to lose. */
static void no_more_of_a_sequence_is_lost_than_there_is(void **state)
{
	struct ft_loss_estimate estimate;

	(void)state;
	ft_loss_init(&evidence);
	for (uint64_t frame = 1; frame <= 10000; frame++) {
		if (frame % 100 == 1)
			ft_loss_silent(&evidence, frame);
		else
			ft_loss_space(&evidence, frame);
	}
	ft_loss_hole(&evidence, 3000, 12500);
	ft_loss_hole(&evidence, 6000, 12500);
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_in_range(estimate.frames, 25000, 25000 + 10000);
}

/* Responses alone: one proved lost, eight PSNs left out between two READs. How many become holes. */
static uint64_t believed_between(uint64_t apart)
{
	ft_loss_init(&evidence);
	for (uint64_t frame = 1; frame <= 10000; frame += 2) {
		ft_loss_answer(&evidence, frame);
		ft_loss_reply(&evidence, frame + 1);
	}
	ft_loss_hole(&evidence, 5000, 1);
	ft_loss_miss(&evidence, 7000, 8, FT_LOSS_BETWEEN);
	for (unsigned i = 0; i < 1000; i++)
		ft_loss_follow(&evidence, 0);
	for (uint64_t i = 0; i < apart; i++)
		ft_loss_follow(&evidence, 8);
	return ft_loss_believe_between(&evidence);
}

static void of_responses_alone_what_lies_between_was_lost(void **state)
{
	struct ft_loss_estimate estimate;

	(void)state;
	assert_int_equal(believed_between(251), 0); /* other requests take PSNs */
	ft_loss_reply(&evidence, 1);
	evidence.apart = 0;
	evidence.acks = 1; /* and are acknowledged */
	assert_int_equal(ft_loss_believe_between(&evidence), 0);
	evidence.acks = 0;
	ft_loss_space(&evidence, 1); /* or are in view */
	assert_int_equal(ft_loss_believe_between(&evidence), 0);

	assert_int_equal(believed_between(250), 8);
	assert_int_equal(ft_loss_believe_between(&evidence), 0);
	ft_loss_estimate(&evidence, 0, &estimate);
	assert_int_equal(estimate.frames, 9); /* none of them is silent any more */
	assert_int_equal(estimate.low, 9);
}

static void where_no_response_is_proved_lost_none_was_between(void **state)
{
	(void)state;
	ft_loss_init(&evidence);
	ft_loss_answer(&evidence, 1);
	ft_loss_miss(&evidence, 1, 8, FT_LOSS_BETWEEN);
	assert_int_equal(ft_loss_believe_between(&evidence), 0);
	ft_loss_hole(&evidence, 1, 1);
	ft_loss_again(&evidence, 1); /* who sends again lost it to the fabric */
	evidence.replies++;
	assert_int_equal(ft_loss_believe_between(&evidence), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_very_first_packets_are_left_aside_where_ways_overtake),
		cmocka_unit_test(what_is_left_aside_counts_at_the_rate_of_the_rest),
		cmocka_unit_test(the_last_responses_are_lost_as_often_as_the_others),
		cmocka_unit_test(answers_apart_from_requests_are_lost_as_often),
		cmocka_unit_test(what_is_open_where_ways_overtake_is_hardly_lost),
		cmocka_unit_test(nobody_waits_for_half_a_capture),
		cmocka_unit_test(what_nobody_answers_for_was_lost_where_nothing_is_wanted_again),
		cmocka_unit_test(who_waits_comes_to_lack_more),
		cmocka_unit_test(what_may_yet_come_is_in_the_least_share),
		cmocka_unit_test(
			the_mirror_loses_of_unreliable_connections_what_it_loses_of_others),
		cmocka_unit_test(of_responses_alone_what_lies_between_was_lost),
		cmocka_unit_test(where_no_response_is_proved_lost_none_was_between),
		cmocka_unit_test(no_more_of_a_sequence_is_lost_than_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
