#include "suspects_wire.h"

static struct ft_observed refusal(uint32_t nth, uint32_t dest_qp)
{
	struct ft_observed nak = request(nth);

	nak.opcode = ACKNOWLEDGE;
	nak.dest_qp = dest_qp;
	nak.syndrome = ACCESS_ERROR;
	nak.has |= FT_OBSERVED_AETH;
	return nak;
}

enum { REFUSED = FT_STEP_ANSWER | FT_STEP_NAK };

static void the_third_access_error_in_ten_seconds_is_a_burst(void **state)
{
	struct wire *wire = *state;

	assert_int_equal(send_as(wire, true, refusal(1, 5), REFUSED), 0);
	wire->now_ns += UINT64_C(9000000000);
	assert_int_equal(send_as(wire, true, refusal(2, 5), REFUSED), 0);
	assert_int_equal(send_as(wire, true, refusal(3, 5), REFUSED), R(ACCESS_ERRORS));
	assert_int_equal(wire->suspicion.count, 3);
	assert_int_equal(send_as(wire, true, refusal(4, 5), REFUSED), R(ACCESS_ERRORS));
	assert_int_equal(wire->suspicion.count, 4);
}

static void slow_access_errors_are_no_burst(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 9; nth++) {
		assert_int_equal(send_as(wire, true, refusal(nth, 5), REFUSED), 0);
		wire->now_ns += UINT64_C(5500000000);
	}
}

/* One every four minutes, and one every five and a bit. */
static void the_twelfth_of_a_series_of_access_errors_is_told(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 30; nth++) {
		assert_int_equal(send_as(wire, true, refusal(nth, 5), REFUSED),
				 nth < 11 ? 0 : R(ACCESS_ERRORS));
		if (nth >= 11)
			assert_int_equal(wire->suspicion.count, nth + 1);
		wire->now_ns += UINT64_C(240000000000);
	}
	for (uint32_t nth = 30; nth < 60; nth++) {
		wire->now_ns += UINT64_C(61000000000);
		assert_int_equal(send_as(wire, true, refusal(nth, 5), REFUSED), 0);
		wire->now_ns += UINT64_C(240000000000);
	}
}

static void one_access_error_said_again_is_one(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 9; nth++)
		assert_int_equal(send_as(wire, true, refusal(4, 5), REFUSED), 0);
}

static void a_job_that_ends_under_its_peers_is_no_burst(void **state)
{
	struct wire *wire = *state;

	for (uint32_t qp = 20; qp < 40; qp++)
		for (uint32_t nth = 0; nth < SETTLED; nth++) {
			struct ft_observed seen = request(nth);

			seen.dest_qp = qp;
			assert_int_equal(a_sends(wire, seen, FT_STEP_NEW), 0);
		}
	for (uint32_t qp = 20; qp < 40; qp++) {
		struct ft_flow *flow = flow_of(wire, true, 100 + qp);

		flow->peer = ft_flow_number(wire->table, flow_of(wire, false, qp));
		assert_int_equal(send_as(wire, true, refusal(SETTLED, 100 + qp), REFUSED), 0);
	}
}

static void errors_on_one_fresh_connection_after_the_other_are_a_burst(void **state)
{
	struct wire *wire = *state;
	uint32_t rules = 0;

	for (uint32_t qp = 20; qp < 23; qp++) {
		struct ft_observed probe = request(qp);
		struct ft_flow *flow;

		probe.dest_qp = qp;
		a_sends(wire, probe, FT_STEP_NEW);
		flow = flow_of(wire, true, 100 + qp);
		flow->peer = ft_flow_number(wire->table, flow_of(wire, false, qp));
		rules = send_as(wire, true, refusal(qp, 100 + qp), REFUSED);
	}
	assert_int_equal(rules, R(ACCESS_ERRORS));
}

/* `count` first requests to as many queue pairs, `gap_ns` apart; how many broke a rule. */
static unsigned search(struct wire *wire, uint32_t count, uint64_t gap_ns, uint8_t opcode,
		       unsigned requests)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct ft_observed probe = request(0);

		probe.dest_qp = 100 + i;
		probe.opcode = opcode;
		for (unsigned nth = 0; nth < requests; nth++, probe.psn++)
			found += a_sends(wire, probe, FT_STEP_NEW) == R(QP_SCAN);
		wire->now_ns += gap_ns;
	}
	return found;
}

static void unanswered_requests_to_many_queue_pairs_are_a_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_true(search(wire, 200, 1 * MS, SEND_ONLY, 1) > 0);
	assert_true(wire->suspicion.count >= 32);
}

/* It shows when a first request comes after they all waited from count to count, which need not be. */
static void a_search_at_once_shows_when_it_goes_on(void **state)
{
	struct wire *wire = *state;
	struct ft_observed next = request(0);

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search(wire, 200, 10 * US, SEND_ONLY, 1), 0);
	wire->now_ns += 6 * MS;
	assert_int_equal(a_sends(wire, request(0), FT_STEP_NEW), 0);
	wire->now_ns += 6 * MS;
	next.dest_qp = 18;
	assert_int_equal(a_sends(wire, next, FT_STEP_NEW), R(QP_SCAN));
	assert_int_equal(wire->suspicion.count, 202);
	wire->now_ns += 1000 * MS;
	next.dest_qp = 19;
	assert_int_equal(a_sends(wire, next, FT_STEP_NEW), 0);
}

/* Many connections of a job begin together; that a count falls among them is nobody's fault. */
static void what_began_just_before_a_count_is_no_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	a_sends(wire, request(0), FT_STEP_NEW);
	wire->now_ns += 3 * MS + 500 * US;
	assert_int_equal(search(wire, 300, 10 * US, SEND_ONLY, 1), 0);
}

/* A datagram to each of `count` queue pairs of B, 1 ms apart, which may send something before or behind; how many broke a rule. */
static unsigned search_by_datagrams(struct wire *wire, uint32_t count, bool before, bool behind,
				    unsigned datagrams)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct ft_observed probe = datagram(i), answer = datagram(i);

		probe.dest_qp = answer.src_qp = 100 + i;
		answer.dest_qp = probe.src_qp;
		answer.vlan = 7;
		if (before)
			assert_int_equal(send_as(wire, true, answer, FT_STEP_NEW), 0);
		for (unsigned nth = 0; nth < datagrams; nth++, probe.psn += count)
			found += send_datagram(wire, probe) == R(QP_SCAN);
		if (behind)
			assert_int_equal(send_as(wire, true, answer, FT_STEP_NEW), 0);
		wire->now_ns += 1 * MS;
	}
	return found;
}

static void datagrams_to_queue_pairs_that_send_nothing_are_a_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, datagram(0), FT_STEP_NEW);
	assert_true(search_by_datagrams(wire, 200, false, false, 1) > 150);
	assert_true(wire->suspicion.count >= 32);
}

static void datagrams_to_queue_pairs_that_send_or_are_used_are_none(void **state)
{
	struct wire *wire = *state;

	assert_int_equal(search_by_datagrams(wire, 400, true, false, 1), 0);
	tear_down(state);
	set_up(state);
	assert_int_equal(search_by_datagrams(wire, 400, false, true, 1), 0);
	tear_down(state);
	set_up(state);
	send_as(wire, true, datagram(0), FT_STEP_NEW);
	assert_int_equal(search_by_datagrams(wire, 400, false, false, 2), 0);
}

/* A service that answers looks alike where what it is asked is not in view. */
static void datagrams_are_no_search_where_none_of_the_other_side_is_in_view(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search_by_datagrams(wire, 2000, false, false, 1), 0);
}

static void without_the_other_direction_few_are_no_search(void **state)
{
	assert_int_equal(search(*state, 200, 1 * MS, SEND_ONLY, 1), 0);
}

static void queue_pairs_that_are_used_are_not_searched_for(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search(wire, 400, 1 * MS, SEND_ONLY, 2), 0);
}

static void queue_pairs_that_answer_are_not_searched_for(void **state)
{
	struct wire *wire = *state;

	for (uint32_t i = 0; i < 400; i++) {
		struct ft_observed first = request(0), answer = request(0);

		first.dest_qp = 100 + i;
		answer.dest_qp = 1000 + i;
		answer.opcode = ACKNOWLEDGE;
		assert_int_equal(a_sends(wire, first, FT_STEP_NEW), 0);
		assert_int_equal(send_as(wire, true, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
		wire->now_ns += 1 * MS;
	}
}

static void connections_joined_in_the_middle_are_no_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search(wire, 400, 1 * MS, WRITE_MIDDLE, 1), 0);
}

static void connections_joined_in_the_middle_do_not_hide_a_search(void **state)
{
	struct wire *wire = *state;
	unsigned found = 0;

	send_as(wire, true, request(0), FT_STEP_NEW);
	for (uint32_t i = 0; i < 200; i++) {
		struct ft_observed probe = request(0), joined = request(0);

		probe.dest_qp = 100 + i;
		found += a_sends(wire, probe, FT_STEP_NEW) == R(QP_SCAN);
		joined.dest_qp = 1000 + i / 2; /* each has two */
		joined.opcode = WRITE_MIDDLE;
		joined.psn += i % 2;
		assert_int_equal(a_sends(wire, joined, FT_STEP_NEW), 0);
		wire->now_ns += 1 * MS;
	}
	assert_true(found > 150);
}

static void connections_that_begin_together_are_no_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search(wire, 300, 0, SEND_ONLY, 1), 0);
}

static void says(const struct wire *wire, const char *sentence)
{
	char text[FT_SUSPICION_TEXT];

	ft_suspicion_text(&wire->suspicion, text, sizeof text);
	assert_string_equal(text, sentence);
}

/* The sentences of docs/findings.md that no shipped capture shows. */
static void the_documented_sentences_are_said(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1), answer = request(0);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	a_sends(wire, other, FT_STEP_RETRANSMITTED);
	says(wire,
	     "frame 21: RC_SEND_ONLY with PSN 1019 again, with another payload than in frame 20");

	tear_down(state);
	set_up(state);
	answer.opcode = ACKNOWLEDGE;
	send_as(wire, true, answer, FT_STEP_ANSWER | FT_STEP_UNASKED);
	says(wire, "frame 1: RC_ACKNOWLEDGE for PSN 1000, which was not asked for");

	tear_down(state);
	set_up(state);
	send_as(wire, true, request(0), FT_STEP_NEW);
	search(wire, 85, 1 * MS, SEND_ONLY, 1);
	says(wire, "frame 86: 85 queue pairs got a first request within a second, next to none "
		   "answered");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_third_access_error_in_ten_seconds_is_a_burst),
		TEST(slow_access_errors_are_no_burst),
		TEST(the_twelfth_of_a_series_of_access_errors_is_told),
		TEST(one_access_error_said_again_is_one),
		TEST(a_job_that_ends_under_its_peers_is_no_burst),
		TEST(errors_on_one_fresh_connection_after_the_other_are_a_burst),
		TEST(unanswered_requests_to_many_queue_pairs_are_a_search),
		TEST(a_search_at_once_shows_when_it_goes_on),
		TEST(what_began_just_before_a_count_is_no_search),
		TEST(datagrams_to_queue_pairs_that_send_nothing_are_a_search),
		TEST(datagrams_to_queue_pairs_that_send_or_are_used_are_none),
		TEST(datagrams_are_no_search_where_none_of_the_other_side_is_in_view),
		TEST(without_the_other_direction_few_are_no_search),
		TEST(queue_pairs_that_are_used_are_not_searched_for),
		TEST(queue_pairs_that_answer_are_not_searched_for),
		TEST(connections_joined_in_the_middle_are_no_search),
		TEST(connections_joined_in_the_middle_do_not_hide_a_search),
		TEST(connections_that_begin_together_are_no_search),
		TEST(the_documented_sentences_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
