#include "copies_wire.h"

/* What is sent again looks like a copy; what was asked for tells. */

/* A window of requests of which the first was lost: NAK, and all of them again. */
static void what_a_nak_asked_for_is_sent_again(void **state)
{
	struct ft_copies *copies = *state;

	for (uint32_t psn = 10; psn < 20; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn)), FT_COPY_NO);
	assert_int_equal(check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 13, 30)), FT_COPY_NO);
	for (uint32_t psn = 13; psn < 20; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 30)),
				 FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 12, 80)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 13, 90)), FT_COPY_YES);
}

/* What passed behind the NAK had been sent before it arrived. */
static void what_was_on_its_way_when_refused_is_sent_again(void **state)
{
	struct ft_copies *copies = *state;

	for (uint32_t psn = 10; psn < 20; psn++)
		check(copies, packet(WRITE_MIDDLE, psn, psn));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 13, 20));
	for (uint32_t psn = 20; psn < 30; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 1)), FT_COPY_NO);
	for (uint32_t psn = 13; psn < 30; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 30)),
				 FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 13, 90)), FT_COPY_YES);
}

/* Refused once more while the sender goes back: it goes back again, and that was on its way, too. */
static void a_sender_may_go_back_while_it_goes_back(void **state)
{
	struct ft_copies *copies = *state;

	for (uint32_t psn = 10; psn < 20; psn++)
		check(copies, packet(WRITE_MIDDLE, psn, psn));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 11, 20));
	for (uint32_t psn = 11; psn < 16; psn++)
		check(copies, packet(WRITE_MIDDLE, psn, psn + 20));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 12, 36));
	for (uint32_t psn = 16; psn < 20; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 22)),
				 FT_COPY_REPEATED);
	for (uint32_t psn = 12; psn < 20; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 40)),
				 FT_COPY_REPEATED);
}

/* Responses to a READ that was sent again while the first ones were still coming. */
static void responses_on_their_way_when_asked_again_are_sent_again(void **state)
{
	struct ft_copies *copies = *state;

	check(copies, packet(WRITE_MIDDLE, 9, 0));
	check(copies, packet(READ_REQUEST, 10, 1));
	check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 5));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 9, 8));
	assert_int_equal(check(copies, packet(READ_REQUEST, 10, 21)), FT_COPY_REPEATED);
	check(copies, answer(READ_RESPONSE_ONLY, 0, 11, 22));
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 25)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 11, 26)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 11, 27)), FT_COPY_YES);
}

static enum ft_copy_verdict acknowledged(struct ft_copies *copies, uint32_t psn, uint64_t us)
{
	return check(copies, answer(ACKNOWLEDGE, 0, psn, us));
}

/* Requests 10 .. 13 are sent again, and each is acknowledged with the newest PSN. */
static struct ft_copies *copies_with_four_again(bool answered)
{
	struct ft_copies *copies = copies_made();

	for (uint32_t psn = 10; psn < 14; psn++)
		check(copies, packet(WRITE_MIDDLE, psn, psn));
	for (uint32_t psn = 10; psn < 14; psn++) {
		const struct ft_observed again = packet(WRITE_MIDDLE, psn, 60000 + psn);

		assert_int_equal(check(copies, again), FT_COPY_NO);
		ft_copies_see_again(copies, &again, answered);
	}
	return copies;
}

static void each_request_sent_again_is_acknowledged(void **state)
{
	(void)state;
	for (unsigned unanswered = 0; unanswered < 2; unanswered++) {
		struct ft_copies *copies = copies_with_four_again(unanswered == 0);

		assert_int_equal(acknowledged(copies, 13, 70000), FT_COPY_NO);
		for (uint64_t us = 70001; us < 70004 + unanswered; us++)
			assert_int_equal(acknowledged(copies, 13, us), FT_COPY_REPEATED);
		assert_int_equal(acknowledged(copies, 13, 70010), FT_COPY_YES);
		ft_copies_destroy(copies);
	}
}

/* Whoever goes back for one goes on from there: what had just passed comes again, too. */
static void what_follows_a_request_sent_again_is_sent_again(void **state)
{
	struct ft_copies *copies = *state;
	const struct ft_observed again = packet(WRITE_MIDDLE, 10, 60020);

	check(copies, packet(WRITE_MIDDLE, 10, 10));
	for (uint32_t psn = 9; psn < 14; psn++)
		if (psn != 10)
			check(copies, packet(WRITE_MIDDLE, psn, 60000 + psn - 10));
	assert_int_equal(check(copies, again), FT_COPY_NO);
	ft_copies_see_again(copies, &again, false);
	for (uint32_t psn = 11; psn < 14; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, 60020 + psn - 10)),
				 FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 9, 60030)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 13, 60031)), FT_COPY_YES);
}

static void an_acknowledgement_before_them_is_none_of_theirs(void **state)
{
	struct ft_copies *copies = *state;
	const struct ft_observed again = packet(WRITE_MIDDLE, 10, 60000);

	assert_int_equal(acknowledged(copies, 10, 59900), FT_COPY_NO);
	check(copies, again);
	ft_copies_see_again(copies, &again, true);
	assert_int_equal(acknowledged(copies, 10, 60010), FT_COPY_REPEATED);
	assert_int_equal(acknowledged(copies, 10, 60011), FT_COPY_YES);
}

static void only_what_they_ask_for_is_due(void **state)
{
	const struct {
		const char *sentence;
		struct ft_observed answer;
	} rows[] = {
		{ "of PSNs before them", answer(ACKNOWLEDGE, 0, 9, 70000) },
		{ "of the same side", packet(ACKNOWLEDGE, 13, 70000) },
		{ "a tenth of a second later", answer(ACKNOWLEDGE, 0, 13, 160100) },
		{ "no acknowledgement", answer(READ_RESPONSE_ONLY, 0, 13, 70000) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_copies *copies = copies_with_four_again(true);

		check(copies, rows[i].answer);
		if (check(copies, rows[i].answer) != FT_COPY_YES)
			fail_msg("%s", rows[i].sentence);
		ft_copies_destroy(copies);
	}
}

/* Where the mirror copies each frame, that many more of them are alike. */
static void due_acknowledgements_have_copies_too(void **state)
{
	struct ft_copies *copies = *state;
	struct ft_observed again;

	for (uint32_t psn = 100; psn < 140; psn++)
		for (unsigned times = 0; times < 2; times++)
			check(copies, answer(ACKNOWLEDGE, 0, psn - 1000, psn));
	for (uint32_t psn = 10; psn < 12; psn++) {
		again = packet(WRITE_MIDDLE, psn, 60000 + psn);
		check(copies, again);
		ft_copies_see_again(copies, &again, true);
	}
	assert_int_equal(acknowledged(copies, 13, 70000), FT_COPY_NO);
	assert_int_equal(acknowledged(copies, 13, 70001), FT_COPY_YES);
	assert_int_equal(acknowledged(copies, 13, 70002), FT_COPY_REPEATED);
	assert_int_equal(acknowledged(copies, 13, 70003), FT_COPY_YES);
}

static void psns_wrap_between_a_nak_and_what_it_asked_for(void **state)
{
	struct ft_copies *copies = *state;

	check(copies, packet(WRITE_MIDDLE, 0xffffff, 0));
	check(copies, packet(WRITE_MIDDLE, 0, 1));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 0xffffff, 10));
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 0xffffff, 20)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 0, 21)), FT_COPY_REPEATED);
}

static void a_nak_of_the_same_side_asks_for_nothing(void **state)
{
	struct ft_copies *copies = *state;
	struct ft_observed nak = packet(ACKNOWLEDGE, 10, 5);

	nak.syndrome = NAK_SEQUENCE;
	check(copies, packet(WRITE_MIDDLE, 10, 0));
	check(copies, nak);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 10)), FT_COPY_YES);
}

static void a_nak_before_the_original_explains_nothing(void **state)
{
	struct ft_copies *copies = *state;

	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 10, 0));
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 5)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 10)), FT_COPY_YES);
}

static void a_receiver_not_ready_refuses_twice(void **state)
{
	struct ft_copies *copies = *state;

	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 0)), FT_COPY_NO);
	assert_int_equal(check(copies, answer(ACKNOWLEDGE, RNR, 10, 5)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 100)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(ACKNOWLEDGE, RNR, 10, 105)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 200)), FT_COPY_REPEATED);
}

static void a_read_asked_for_again_is_answered_again(void **state)
{
	struct ft_copies *copies = *state;

	check(copies, packet(WRITE_MIDDLE, 9, 0));
	check(copies, packet(READ_REQUEST, 10, 1));
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 5)), FT_COPY_NO);
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 9, 8));
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 9, 20)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(READ_REQUEST, 10, 21)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 25)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 26)), FT_COPY_YES);
}

static void a_nak_asks_for_requests_not_for_responses(void **state)
{
	struct ft_copies *copies = *state;
	struct ft_observed nak = packet(ACKNOWLEDGE, 15, 5);

	nak.syndrome = NAK_SEQUENCE;
	check(copies, answer(READ_RESPONSE_ONLY, 0, 20, 0));
	check(copies, answer(WRITE_MIDDLE, 0, 20, 1));
	check(copies, nak);
	assert_int_equal(check(copies, answer(WRITE_MIDDLE, 0, 20, 10)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 20, 11)), FT_COPY_YES);
}

static void a_wrong_icrc_asks_for_nothing(void **state)
{
	struct ft_copies *copies = *state;
	struct ft_observed nak = answer(ACKNOWLEDGE, NAK_SEQUENCE, 10, 5);

	nak.has |= FT_OBSERVED_BAD_ICRC;
	check(copies, packet(WRITE_MIDDLE, 10, 0));
	check(copies, nak);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 10)), FT_COPY_YES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COPIES_TEST(what_a_nak_asked_for_is_sent_again),
		COPIES_TEST(what_was_on_its_way_when_refused_is_sent_again),
		COPIES_TEST(a_sender_may_go_back_while_it_goes_back),
		COPIES_TEST(responses_on_their_way_when_asked_again_are_sent_again),
		cmocka_unit_test(each_request_sent_again_is_acknowledged),
		COPIES_TEST(what_follows_a_request_sent_again_is_sent_again),
		COPIES_TEST(an_acknowledgement_before_them_is_none_of_theirs),
		cmocka_unit_test(only_what_they_ask_for_is_due),
		COPIES_TEST(due_acknowledgements_have_copies_too),
		COPIES_TEST(psns_wrap_between_a_nak_and_what_it_asked_for),
		COPIES_TEST(a_nak_of_the_same_side_asks_for_nothing),
		COPIES_TEST(a_nak_before_the_original_explains_nothing),
		COPIES_TEST(a_receiver_not_ready_refuses_twice),
		COPIES_TEST(a_read_asked_for_again_is_answered_again),
		COPIES_TEST(a_nak_asks_for_requests_not_for_responses),
		COPIES_TEST(a_wrong_icrc_asks_for_nothing),
	};

	return cmocka_run_group_tests_name("copies, sent again", tests, NULL, NULL);
}
