#include "suspects_wire.h"

static void another_request_under_a_psn_that_passed_is_a_conflict(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.opcode = WRITE_ONLY;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	assert_int_equal(wire->suspicion.strange, FT_STRANGE_CONTENT);
	assert_false(wire->suspicion.grave);
}

/* Odd in two traits, neither of which makes it another machine's: the conflict is grave, and says so by itself. */
static void a_conflict_of_an_odd_packet_is_told_once(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.opcode = WRITE_ONLY;
	other.sport ^= 1;
	other.dscp ^= 1;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	assert_true(wire->suspicion.grave);
}

static void the_same_request_again_is_a_retransmission(void **state)
{
	struct wire *wire = *state;
	struct ft_observed again;

	talk(wire, SETTLED);
	for (uint32_t nth = SETTLED - 5; nth < SETTLED; nth++) {
		again = request(nth);
		again.has |= FT_OBSERVED_ACK_REQUEST;
		again.ip_id = (uint16_t)(400 + nth);
		assert_int_equal(a_sends(wire, again, FT_STEP_RETRANSMITTED), 0);
	}
}

static void another_payload_alone_is_worth_a_note(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.payload = 32;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), R(PAYLOAD_CHANGED));
}

static void another_address_is_another_request(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.va = 0x1000;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

/* Digests that differ in few of their bits or in many: a request is told from any other that passed of late. */
static void no_change_is_too_small(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t i = 0; i < 4000; i++) {
		struct ft_observed own = request(SETTLED + i), other = own;
		uint32_t change = i < 32 ? 1u << i : i * 0x9e3779b1u;
		bool payload = i % 2 == 0;

		other.content ^= change;
		other.va = payload ? 0 : change;
		assert_int_equal(a_sends(wire, own, FT_STEP_NEW), 0);
		assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED),
				 payload ? R(PAYLOAD_CHANGED) : R(PSN_CONFLICT));
		assert_int_equal(wire->suspicion.passed, wire->frame - 1);
	}
}

/* Of a sender that sends `ahead` requests more, and then one under the PSN of one of those, which is `back` before the last. */
static uint32_t send_another(struct wire *wire, uint32_t ahead, uint32_t back, uint64_t pause_ns)
{
	struct ft_observed other = request(SETTLED + ahead - back);

	tear_down((void **)&wire);
	set_up((void **)&wire);
	talk(wire, SETTLED + ahead);
	wire->now_ns += pause_ns;
	other.opcode = WRITE_ONLY;
	return a_sends(wire, other, FT_STEP_RETRANSMITTED);
}

static void a_conflict_is_seen_among_the_frames_of_late(void **state)
{
	struct wire *wire = *state;

	for (uint32_t back = 1; back < 1100; back += back < 10 ? 1 : 107)
		assert_int_equal(send_another(wire, 1200, back, 0),
				 back <= FT_SUSPECTS_PASSAGES ? R(PSN_CONFLICT) : 0);
	assert_int_equal(send_another(wire, 1200, 100, 11 * MS), 0); /* may be another connection */
}

static void a_request_ahead_of_its_turn_is_compared_with_the_one_that_comes(void **state)
{
	struct wire *wire = *state;
	struct ft_observed forged = request(SETTLED + 40);

	talk(wire, SETTLED);
	forged.opcode = WRITE_ONLY;
	assert_int_equal(a_sends(wire, forged, FT_STEP_NEW | FT_STEP_GAP), 0);
	for (uint32_t nth = SETTLED; nth < SETTLED + 40; nth++)
		assert_int_equal(a_sends(wire, request(nth), FT_STEP_REORDERED), 0);
	assert_int_equal(a_sends(wire, request(SETTLED + 40), FT_STEP_RETRANSMITTED),
			 R(PSN_CONFLICT));
	assert_int_equal(a_sends(wire, request(SETTLED + 41), FT_STEP_NEW), 0);
}

/* Requests of which the one before last is a READ of ten packets from PSN `psn`; the path MTU is 1024. */
static struct ft_observed talk_of_a_read(struct wire *wire)
{
	struct ft_observed read = request(SETTLED), next = request(SETTLED + 10);
	struct ft_flow *flow = flow_of(wire, false, 17);

	talk(wire, SETTLED);
	flow->half.mtu = 1024;
	flow->half.next_psn = (next.psn + 1) & 0xffffff;
	read.opcode = READ_REQUEST;
	read.payload = 0;
	read.va = 0x10000;
	read.rkey = 77;
	read.length = 10 * 1024;
	assert_int_equal(a_sends(wire, read, FT_STEP_NEW), 0);
	assert_int_equal(a_sends(wire, next, FT_STEP_NEW), 0);
	return read;
}

static void a_read_may_be_asked_again_in_part(void **state)
{
	static const uint32_t parts[][2] = { { 0, 1 }, { 0, 4 }, { 3, 1 }, { 3, 7 }, { 0, 10 } };
	struct wire *wire = *state;
	struct ft_observed read = talk_of_a_read(wire);

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		struct ft_observed part = read;

		part.psn += parts[i][0];
		part.va += (uint64_t)parts[i][0] * 1024;
		part.length = parts[i][1] * 1024;
		part.content += (uint32_t)i << 12;
		assert_int_equal(a_sends(wire, part, FT_STEP_RETRANSMITTED), 0);
	}
}

static void also_if_nothing_came_after_it(void **state)
{
	struct wire *wire = *state;
	struct ft_flow *flow = flow_of(wire, false, 17);
	struct ft_observed read = talk_of_a_read(wire), part;

	read.psn += 20;
	flow->half.next_psn = (read.psn + 10) & 0xffffff;
	assert_int_equal(a_sends(wire, read, FT_STEP_NEW), 0);
	for (uint32_t length = 1; length <= 7; length += 3) {
		part = read;
		part.psn += 3;
		part.va += 3 * 1024;
		part.length = length * 1024;
		part.content += length << 12;
		assert_int_equal(a_sends(wire, part, FT_STEP_RETRANSMITTED), 0);
	}
	assert_int_equal(a_sends(wire, read, FT_STEP_RETRANSMITTED), 0);
}

/* What the queue pair sent in another life, set up anew as the tracker says or as a pause lets suspect, says nothing of it. */
static void also_where_another_life_had_its_psns(void **state)
{
	static const uint32_t begins[] = { FT_STEP_NEW | FT_STEP_RESTART, FT_STEP_RETRANSMITTED };
	struct wire *wire = *state;

	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
		struct ft_observed part;

		tear_down(state);
		set_up(state);
		wire = *state;
		talk(wire, 2 * SETTLED);
		wire->now_ns += 200 * MS;
		assert_int_equal(a_sends(wire, request(2 * SETTLED - 1), begins[i]), 0);
		part = talk_of_a_read(wire);
		part.psn += 3;
		part.va += 3 * 1024;
		part.length = 7 * 1024;
		assert_int_equal(a_sends(wire, part, FT_STEP_RETRANSMITTED), 0);
	}
}

static void a_read_of_more_than_was_asked_for_is_another(void **state)
{
	struct wire *wire = *state;
	struct ft_observed more = talk_of_a_read(wire);

	more.length += 1024;
	more.content ^= 0x5a5a5a5a;
	assert_int_equal(a_sends(wire, more, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

static void so_is_one_of_another_address_or_key(void **state)
{
	for (unsigned which = 0; which < 2; which++) {
		struct ft_observed other;
		struct wire *wire;

		tear_down(state);
		set_up(state);
		wire = *state;
		other = talk_of_a_read(wire);
		other.length = 1024;
		other.content ^= 0x5a5a5a5a;
		if (which == 0)
			other.va += 1024;
		else
			other.rkey++;
		assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	}
}

static void operands_of_an_atomic_do_not_change(void **state)
{
	struct wire *wire = *state;
	struct ft_observed swap = request(SETTLED);

	talk(wire, SETTLED);
	swap.opcode = COMPARE_SWAP;
	swap.payload = 0;
	swap.va = 0x1000;
	assert_int_equal(a_sends(wire, swap, FT_STEP_NEW), 0);
	swap.content ^= 0x5a5a5a5a;
	assert_int_equal(a_sends(wire, swap, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

static void what_was_cut_differently_is_not_compared(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.has &= ~(uint32_t)FT_OBSERVED_WHOLE;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), 0);
}

static void a_conflict_across_the_wrap_is_seen(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(0);

	for (uint32_t nth = 0; nth < SETTLED; nth++) {
		other = request(nth);
		other.psn = (0xffffff - SETTLED + 3 + nth) & 0xffffff;
		assert_int_equal(a_sends(wire, other, FT_STEP_NEW), 0);
	}
	other = request(SETTLED - 4);
	other.psn = 0xffffff;
	other.opcode = WRITE_ONLY;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

static void a_connection_set_up_anew_repeats_psns(void **state)
{
	struct wire *wire = *state;

	for (uint32_t length = 1; length < 2 * SETTLED; length++) {
		struct ft_flow *flow = flow_of(wire, false, 17);

		flow->packets = 0; /* the first of these connections is the first of the flow */
		talk(wire, length);
		wire->now_ns += 11 * MS;
		for (uint32_t nth = 0; nth < length + 3; nth++) {
			struct ft_observed other = request(nth);

			other.opcode = WRITE_ONLY;
			other.content = ~other.content;
			assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), 0);
		}
	}
}

static void nor_does_one_that_passed_the_end_of_the_last(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other;

	talk(wire, SETTLED);
	wire->now_ns += 50 * MS;
	for (uint32_t nth = 0; nth <= SETTLED; nth++) {
		other = request(nth);
		other.opcode = WRITE_ONLY;
		assert_int_equal(a_sends(wire, other, FT_STEP_NEW), 0);
	}
	other = request(SETTLED - 2);
	other.opcode = WRITE_ONLY;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), 0);
}

static void after_a_pause_only_the_last_request_is_compared(void **state)
{
	struct wire *wire = *state;

	for (uint32_t back = 1; back <= 3; back++) {
		struct ft_observed other = request(SETTLED - back);

		tear_down(state);
		set_up(state);
		talk(wire, SETTLED);
		wire->now_ns += 50 * MS;
		other.opcode = WRITE_ONLY;
		assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED),
				 back == 1 ? R(PSN_CONFLICT) : 0);
	}
}

static void what_is_long_ago_is_not_compared(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	wire->now_ns += UINT64_C(11000000000);
	other.opcode = WRITE_ONLY;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), 0);
}

static void what_follows_a_long_silence_is_compared_again(void **state)
{
	const uint32_t high = 0x900000;
	struct wire *wire = *state;
	struct ft_observed other = request(0);

	for (uint32_t nth = 0; nth < SETTLED + 3; nth++) {
		other = request(nth);
		other.psn = high + nth;
		if (nth == SETTLED)
			wire->now_ns += UINT64_C(11000000000);
		assert_int_equal(a_sends(wire, other, FT_STEP_NEW), 0);
	}
	other.opcode = WRITE_ONLY;
	assert_int_equal(a_sends(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

static void a_read_of_many_psns_does_not_stand_for_older_ones(void **state)
{
	struct wire *wire = *state;
	struct ft_observed later = request(SETTLED - 2 + 4096);

	talk(wire, SETTLED);
	later.opcode = WRITE_ONLY;
	assert_int_equal(a_sends(wire, request(SETTLED + 8192), FT_STEP_NEW), 0);
	assert_int_equal(a_sends(wire, later, FT_STEP_REORDERED), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_request_under_a_psn_that_passed_is_a_conflict),
		TEST(a_conflict_of_an_odd_packet_is_told_once),
		TEST(the_same_request_again_is_a_retransmission),
		TEST(another_payload_alone_is_worth_a_note),
		TEST(another_address_is_another_request),
		TEST(no_change_is_too_small),
		TEST(a_conflict_is_seen_among_the_frames_of_late),
		TEST(a_request_ahead_of_its_turn_is_compared_with_the_one_that_comes),
		TEST(a_read_may_be_asked_again_in_part),
		TEST(also_if_nothing_came_after_it),
		TEST(also_where_another_life_had_its_psns),
		TEST(a_read_of_more_than_was_asked_for_is_another),
		TEST(so_is_one_of_another_address_or_key),
		TEST(operands_of_an_atomic_do_not_change),
		TEST(what_was_cut_differently_is_not_compared),
		TEST(a_conflict_across_the_wrap_is_seen),
		TEST(a_connection_set_up_anew_repeats_psns),
		TEST(nor_does_one_that_passed_the_end_of_the_last),
		TEST(after_a_pause_only_the_last_request_is_compared),
		TEST(what_is_long_ago_is_not_compared),
		TEST(what_follows_a_long_silence_is_compared_again),
		TEST(a_read_of_many_psns_does_not_stand_for_older_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
