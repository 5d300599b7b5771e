#include "suspects_wire.h"

static void a_sender_is_another_one_if_no_path_explains_it(void **state)
{
	static const struct {
		const char *why;
		uint8_t ttl, dscp, mac;
		uint16_t sport, ip_id;
		uint32_t what, rules;
	} cases[] = {
		{ "as before", 64, 26, 1, 50000, 321, FT_STEP_NEW, 0 },
		{ "a router sent it on", 63, 26, 7, 50000, 321, FT_STEP_NEW, 0 },
		{ "and changed its class", 63, 0, 7, 50000, 321, FT_STEP_NEW, 0 },
		{ "sprayed", 64, 26, 1, 50001, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "another path", 62, 26, 7, 50001, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "another class", 64, 0, 1, 50000, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "the next hop's spare", 64, 26, 7, 50000, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "a longer path", 61, 26, 1, 50000, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "another counter alone", 64, 26, 1, 50000, 40000, FT_STEP_NEW, 0 },
		{ "a counter that went on", 62, 26, 1, 50001, 700, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "another counter as well", 62, 26, 1, 50001, 40000, FT_STEP_NEW,
		  R(SENDER_CHANGED) },
		{ "a TTL of another system", 128, 26, 1, 50000, 321, FT_STEP_NEW,
		  R(SENDER_VARIES) },
		{ "and another port", 128, 26, 1, 50001, 321, FT_STEP_NEW, R(SENDER_CHANGED) },
		{ "and another MAC", 255, 26, 7, 50000, 321, FT_STEP_NEW, R(SENDER_CHANGED) },
		{ "and a PSN far off", 128, 26, 1, 50000, 321, FT_STEP_OUTSIDE,
		  R(SENDER_CHANGED) | R(PSN_WINDOW) },
		{ "a PSN far off alone", 64, 26, 1, 50000, 321, FT_STEP_OUTSIDE, R(PSN_WINDOW) },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_observed odd = request(SETTLED);
		uint32_t rules;

		tear_down(state);
		set_up(state);
		talk(*state, SETTLED);
		odd.ttl = cases[i].ttl;
		odd.dscp = cases[i].dscp;
		odd.smac[5] = cases[i].mac;
		odd.sport = cases[i].sport;
		odd.ip_id = cases[i].ip_id;
		rules = a_sends(*state, odd, cases[i].what);
		if (rules != cases[i].rules)
			fail_msg("%s: rules %x", cases[i].why, rules);
	}
}

static void another_ttl_is_seen_where_the_identification_wraps(void **state)
{
	struct wire *wire = *state;
	struct ft_observed seen = request(0);

	for (uint32_t nth = 0; nth <= SETTLED; nth++) {
		seen = request(nth);
		seen.ip_id = (uint16_t)(nth - SETTLED); /* 0 at last */
		seen.ttl = nth == SETTLED ? 65 : 64;
		assert_int_equal(a_sends(wire, seen, FT_STEP_NEW),
				 nth == SETTLED ? R(SENDER_VARIES) : 0);
	}
}

static void two_viewpoints_of_one_sender_are_one_sender(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t nth = SETTLED; nth < 2000; nth++) {
		struct ft_observed seen = request(nth);

		if (nth * 2654435761u >> 30 == 0) { /* the other copy was lost by the mirror */
			seen.ttl = 63;
			seen.smac[5] = 7;
		}
		assert_int_equal(a_sends(wire, seen, FT_STEP_NEW), 0);
	}
}

static void a_sprayed_connection_is_at_most_worth_a_note(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 5000; nth++) {
		uint32_t path = (nth * 2654435761u >> 20) % 4;
		struct ft_observed seen = request(nth);

		seen.sport = (uint16_t)(50000 + path);
		seen.ttl = (uint8_t)(64 - path);
		seen.smac[5] = (uint8_t)path;
		assert_int_equal(a_sends(wire, seen, FT_STEP_NEW) & ~R(SENDER_VARIES), 0);
	}
}

static void a_new_look_that_stays_is_the_look(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t nth = SETTLED; nth < 3 * SETTLED; nth++) {
		struct ft_observed seen = request(nth);
		uint32_t rules;

		seen.sport = 50009;
		rules = a_sends(wire, seen, FT_STEP_NEW);
		assert_int_equal(rules, nth < SETTLED + 3 ? R(SENDER_VARIES) : 0);
	}
}

static struct ft_observed forged_request(uint32_t nth)
{
	struct ft_observed forged = request(nth);

	forged.smac[5] = 66;
	forged.ttl = 128;
	forged.sport = 50001;
	forged.ip_id = 40000;
	return forged;
}

static void a_search_for_the_psn_is_not_the_look(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t i = 0; i < 3 * SETTLED; i++)
		assert_int_equal(a_sends(wire, forged_request(0x100000 + i), FT_STEP_OUTSIDE),
				 R(SENDER_CHANGED) | R(PSN_WINDOW));
	for (uint32_t nth = SETTLED; nth < 2 * SETTLED; nth++)
		assert_int_equal(a_sends(wire, request(nth), FT_STEP_NEW), 0);
}

static void nor_are_a_few_of_another_system(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(a_sends(wire, forged_request(SETTLED + i), FT_STEP_NEW),
				 R(SENDER_CHANGED));
	assert_int_equal(a_sends(wire, request(SETTLED + 6), FT_STEP_NEW), 0);
}

static void answers_and_notices_may_look_otherwise(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(0), notice = request(0);

	talk(wire, SETTLED);
	answer.opcode = ACKNOWLEDGE;
	answer.dscp = 48;
	answer.sport = 1;
	answer.ip_id = 0;
	assert_int_equal(a_sends(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
	notice.opcode = CNP;
	notice.ttl = 255;
	notice.sport = 0;
	assert_int_equal(a_sends(wire, notice, FT_STEP_CNP), 0);
}

static struct ft_observed forged_answer(uint32_t nth)
{
	struct ft_observed forged = request(nth);

	forged.opcode = ACKNOWLEDGE;
	forged.smac[5] = 66;
	forged.ttl = 128;
	forged.ip_id = 40000;
	return forged;
}

static void an_answer_from_another_machine_is_seen_among_requests(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(SETTLED);

	talk(wire, SETTLED);
	assert_int_equal(a_sends(wire, forged_answer(0), FT_STEP_ANSWER | FT_STEP_ACK),
			 R(SENDER_CHANGED));
	assert_int_equal(wire->suspicion.strange,
			 FT_STRANGE_MAC | FT_STRANGE_TTL | FT_STRANGE_IP_ID);
	assert_int_equal(a_sends(wire, forged_answer(0), FT_STEP_ANSWER | FT_STEP_NAK),
			 R(SENDER_CHANGED));
	assert_int_equal(a_sends(wire, request(SETTLED), FT_STEP_NEW), 0);
	answer.opcode = ACKNOWLEDGE;
	assert_int_equal(a_sends(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
}

static void an_answer_by_another_path_is_none(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = forged_answer(0);

	talk(wire, SETTLED);
	answer.ttl = 63;
	answer.sport = 1;
	for (unsigned i = 0; i < SETTLED; i++)
		assert_int_equal(a_sends(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
}

/* Many in a row settle what the next answer has, and not what the next request has, which may come another way. */
static void answers_may_be_counted_apart(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(0), next = request(SETTLED);

	talk(wire, SETTLED);
	answer.opcode = ACKNOWLEDGE;
	for (uint32_t nth = 0; nth < SETTLED; nth++) {
		answer.ip_id = (uint16_t)(40000 + nth);
		assert_int_equal(a_sends(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
	}
	next.smac[5] = 9;
	next.ttl = 62;
	assert_true((a_sends(wire, next, FT_STEP_NEW) & R(SENDER_CHANGED)) == 0);
}

static void answers_in_the_count_of_requests_leave_it_settled(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(SETTLED), other = request(SETTLED);

	talk(wire, SETTLED);
	answer.opcode = ACKNOWLEDGE;
	assert_int_equal(a_sends(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
	other.ip_id = 40000;
	other.smac[5] = 9;
	other.ttl = 62;
	assert_int_equal(a_sends(wire, other, FT_STEP_NEW), R(SENDER_CHANGED));
}

/* Two viewpoints, one far behind the other: an answer that later ones overtook may have an identification from long ago. */
static void an_answer_from_behind_a_router_may_come_late(void **state)
{
	enum { BEHIND = 20000 };
	struct wire *wire = *state;
	struct ft_observed answer = request(0);
	struct ft_flow *flow;

	answer.opcode = ACKNOWLEDGE;
	for (uint32_t nth = 0; nth < SETTLED; nth++) {
		answer.psn = FIRST_PSN + nth;
		answer.ip_id = (uint16_t)(40000 + nth);
		assert_int_equal(a_sends(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
	}
	flow = flow_of(wire, false, answer.dest_qp);
	answer.ip_id -= BEHIND;
	answer.smac[5] = 9;
	answer.ttl = 63;
	flow->half.answered = answer.psn + 1;
	assert_int_equal(a_sends(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
	flow->half.answered = answer.psn;
	assert_int_equal(a_sends(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), R(SENDER_CHANGED));
}

static void who_always_answers_so_is_no_other(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 3 * SETTLED; nth++) {
		assert_int_equal(a_sends(wire, request(nth), FT_STEP_NEW), 0);
		assert_int_equal(a_sends(wire, forged_answer(nth), FT_STEP_ANSWER | FT_STEP_ACK),
				 0);
	}
}

static void another_payload_after_one_of_another_look_is_grave_unless_sent_again(void **state)
{
	static const struct {
		uint64_t pause_ns;
		uint8_t half_flags;
		uint32_t rules;
	} cases[] = {
		{ 0, 0, R(PSN_CONFLICT) },
		{ 0, FT_HALF_NAKED, R(PAYLOAD_CHANGED) },
		{ 67 * MS, 0, R(PAYLOAD_CHANGED) },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_observed other = request(SETTLED);
		struct wire *wire;

		tear_down(state);
		set_up(state);
		wire = *state;
		talk(wire, SETTLED);
		other.content ^= 0x5a5a5a5a;
		other.sport = 50009;
		other.ttl = 62;
		assert_int_equal(a_sends(wire, other, FT_STEP_NEW), R(SENDER_VARIES));
		wire->now_ns += cases[i].pause_ns;
		flow_of(wire, false, 17)->half.flags = cases[i].half_flags;
		assert_int_equal(a_sends(wire, request(SETTLED), FT_STEP_RETRANSMITTED),
				 cases[i].rules);
	}
}

static void memory_that_changed_may_take_another_path(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.sport = 50009;
	other.ttl = 62;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED),
			 R(SENDER_VARIES) | R(PAYLOAD_CHANGED));
}

static void a_resent_payload_seen_behind_a_router_is_worth_a_note(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.ttl = 63;
	other.smac[5] = 9;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), R(PAYLOAD_CHANGED));
}

static void a_conflict_from_another_looking_sender_is_grave(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.opcode = WRITE_ONLY;
	other.sport = 4791;
	other.ttl = 63;
	other.smac[5] = 9;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED) & R(PSN_CONFLICT),
			 R(PSN_CONFLICT));
	assert_true(wire->suspicion.grave);
}

static void the_own_packet_after_an_injected_one_is_not_blamed(void **state)
{
	struct wire *wire = *state;
	struct ft_observed injected = request(SETTLED);

	talk(wire, SETTLED);
	injected.opcode = WRITE_ONLY;
	injected.ttl = 128;
	injected.sport = 4791;
	assert_int_equal(a_sends(wire, injected, FT_STEP_NEW), R(SENDER_CHANGED));
	assert_int_equal(a_sends(wire, request(SETTLED), FT_STEP_RETRANSMITTED), 0);
	assert_int_equal(a_sends(wire, request(SETTLED + 1), FT_STEP_NEW), 0);
}

static void nor_after_two_of_them(void **state)
{
	struct wire *wire = *state;
	struct ft_observed injected = request(SETTLED);

	talk(wire, SETTLED);
	injected.opcode = WRITE_ONLY;
	injected.sport = 4791;
	injected.ttl = 62;
	assert_int_equal(a_sends(wire, injected, FT_STEP_NEW), R(SENDER_VARIES));
	injected.va = 0x1000;
	assert_int_equal(a_sends(wire, injected, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	assert_int_equal(a_sends(wire, request(SETTLED), FT_STEP_RETRANSMITTED), 0);
}

static void the_own_packet_shows_the_conflict_if_nothing_else_did(void **state)
{
	struct wire *wire = *state;
	struct ft_observed injected = request(SETTLED);

	talk(wire, SETTLED);
	injected.opcode = WRITE_ONLY;
	injected.sport = 4791;
	injected.ttl = 62;
	assert_int_equal(a_sends(wire, injected, FT_STEP_NEW), R(SENDER_VARIES));
	assert_int_equal(a_sends(wire, request(SETTLED), FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	assert_true(wire->suspicion.grave);
}

static void an_unasked_answer_is_worth_a_note(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(0);

	answer.opcode = ACKNOWLEDGE;
	assert_int_equal(send_as(wire, true, answer, FT_STEP_ANSWER | FT_STEP_UNASKED),
			 R(UNASKED_RESPONSE));
}

static void a_suspicion_says_what_it_rests_on(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);
	char text[FT_SUSPICION_TEXT], little[20];

	talk(wire, SETTLED);
	other.opcode = WRITE_ONLY;
	other.smac[5] = 9;
	other.ttl = 62;
	other.sport = 4791;
	a_sends(wire, other, FT_STEP_RETRANSMITTED);
	ft_suspicion_text(&wire->suspicion, text, sizeof text);
	assert_string_equal(text,
			    "frame 21: source MAC 02:00:00:00:00:09 instead of "
			    "02:00:00:00:00:01, TTL 62 instead of 64, source port 4791 instead "
			    "of 50000, RC_RDMA_WRITE_ONLY with "
			    "PSN 1019, under which another request passed before, in frame 20");
	ft_suspicion_text(&wire->suspicion, little, sizeof little);
	assert_string_equal(little, "frame 21");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_payload_after_one_of_another_look_is_grave_unless_sent_again),
		TEST(memory_that_changed_may_take_another_path),
		TEST(a_resent_payload_seen_behind_a_router_is_worth_a_note),
		TEST(a_conflict_from_another_looking_sender_is_grave),
		TEST(the_own_packet_after_an_injected_one_is_not_blamed),
		TEST(nor_after_two_of_them),
		TEST(the_own_packet_shows_the_conflict_if_nothing_else_did),
		TEST(a_sender_is_another_one_if_no_path_explains_it),
		TEST(another_ttl_is_seen_where_the_identification_wraps),
		TEST(two_viewpoints_of_one_sender_are_one_sender),
		TEST(a_sprayed_connection_is_at_most_worth_a_note),
		TEST(a_new_look_that_stays_is_the_look),
		TEST(a_search_for_the_psn_is_not_the_look),
		TEST(nor_are_a_few_of_another_system),
		TEST(answers_and_notices_may_look_otherwise),
		TEST(an_answer_from_another_machine_is_seen_among_requests),
		TEST(an_answer_by_another_path_is_none),
		TEST(answers_may_be_counted_apart),
		TEST(answers_in_the_count_of_requests_leave_it_settled),
		TEST(an_answer_from_behind_a_router_may_come_late),
		TEST(who_always_answers_so_is_no_other),
		TEST(an_unasked_answer_is_worth_a_note),
		TEST(a_suspicion_says_what_it_rests_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
