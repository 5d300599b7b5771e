#include "straight_play.h"

/* The straight way of audits over two queue pairs. */

/* Message k over this one of two queue pairs. */
static void pass_over(struct follow *follow, uint64_t k, uint32_t lane, uint32_t psns[2])
{
	uint32_t count = packets_in(LONG);

	pass_cts(follow, k);
	for (uint32_t at = 0; at < count; at++) {
		struct packet packet = data_of(follow, k, LONG, at);

		packet.qpn += 2 * lane;
		packet.psn = psns[lane]++;
		pass(follow, &packet);
	}
}

/* If they take turns. */
static void pass_in_turn(struct follow *follow, uint64_t k, uint32_t psns[2])
{
	pass_over(follow, k, k % 2, psns);
}

/* Nobody has told how many slots there are: the first one comes again where it must. */
static void queue_pairs_that_take_turns_go_straight_through_the_first_slot(void **state)
{
	enum { KNOWN_OF_TWO = 26, SLOTS = 256 };
	struct follow *follow = audit_start();
	uint32_t psns[2] = { 0 }, turns;

	(void)state;
	for (uint64_t k = 0; k < KNOWN_OF_TWO; k++)
		pass_in_turn(follow, k, psns);
	assert_true(is_straight(follow));
	assert_int_equal(only_one(follow)->lane_count, 2);
	assert_int_equal(only_one(follow)->straight->slots, 0);
	turns = only_one(follow)->straight->turns;
	for (uint64_t k = KNOWN_OF_TWO; k < 2 * SLOTS + 5; k++)
		pass_in_turn(follow, k, psns);
	assert_true(is_straight(follow));
	assert_int_equal(only_one(follow)->straight->turns, turns);
	follow_keep(follow);
	assert_int_equal(only_one(follow)->model.fifo.slots, SLOTS);
	assert_int_equal(only_one(follow)->model.cts, 2 * SLOTS + 5);
	assert_int_equal(only_one(follow)->model.messages, 2 * SLOTS + 5);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* Of the second one only data was seen: the third of its answers in a row tells which queue pair of the sender they go to. */
static void the_answers_to_a_queue_pair_that_is_learnt_go_straight(void **state)
{
	enum { KNOWN_OF_TWO = 26, VOTES = 3, ANSWERS = 6 };
	struct follow *follow = audit_start();
	uint32_t psns[2] = { 0 }, turns;
	unsigned straight = 0;
	uint64_t k = 0;

	(void)state;
	while (k < KNOWN_OF_TWO)
		pass_in_turn(follow, k++, psns);
	assert_true(is_straight(follow));
	assert_int_equal(only_one(follow)->lane_count, 2);
	turns = only_one(follow)->straight->turns;
	for (unsigned i = 0; i < ANSWERS; i++) {
		struct packet answer = {
			.from = RECEIVER, .to = SENDER, .opcode = 0x11, .qpn = SENDER_QP + 2
		};
		struct ft_nccl_seen seen;

		pass_in_turn(follow, k++, psns);
		pass_in_turn(follow, k++, psns);
		answer.psn = psns[1] - 1;
		seen = seen_of(&answer, follow->frame + 1);
		assert_int_equal(only_one(follow)->model.sender.qpns[1],
				 i < VOTES ? FT_NCCL_NONE : SENDER_QP + 2);
		if (goes_straight(follow->connections, &seen, answer.qpn, 0)) {
			follow->frame++;
			straight++;
		} else {
			follow_packet(follow, &answer);
		}
		assert_int_equal(straight, i < VOTES ? 0 : i + 1 - VOTES);
		assert_true(is_straight(follow));
	}
	assert_int_equal(only_one(follow)->straight->turns, turns);
	follow_keep(follow);
	assert_int_equal(only_one(follow)->model.messages, k);
	assert_int_equal(only_one(follow)->model.missing_packets, 0);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* One rests, and goes on with the message that has the place in memory of the one that was its turn. */
static void a_queue_pair_that_rests_goes_on_with_another_message(void **state)
{
	enum { KNOWN_OF_TWO = 26, LAP = 16 };
	struct follow *follow = audit_start();
	uint32_t psns[2] = { 0 };
	uint64_t k;

	(void)state;
	for (k = 0; k < KNOWN_OF_TWO; k++)
		pass_in_turn(follow, k, psns);
	assert_true(is_straight(follow));
	assert_int_equal(only_one(follow)->straight->stage, FT_NCCL_STRAIGHT_ROTA);
	for (; k < KNOWN_OF_TWO + LAP + 1; k++)
		pass_over(follow, k, 0, psns);
	assert_true(is_straight(follow));
	pass_over(follow, k, 1, psns);
	ft_nccl_straight_leave(follow->connections->all[0]);
	assert_int_equal(only_one(follow)->lanes[1].at, k);
	assert_int_equal(only_one(follow)->lanes[0].at, k - 1);
	follow_keep(follow);
	assert_int_equal(only_one(follow)->model.messages, k + 1);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* One writes where another one has a message under way: that is for the general way to tell. */
static void a_message_that_another_queue_pair_has_begun_does_not_go_straight(void **state)
{
	enum { KNOWN_OF_TWO = 26 };
	struct follow *follow = audit_start();
	uint32_t psns[2] = { 0 };
	struct packet packet;
	uint32_t turns;
	uint64_t k;

	(void)state;
	for (k = 0; k < KNOWN_OF_TWO; k++)
		pass_in_turn(follow, k, psns);
	turns = only_one(follow)->straight->turns;
	pass_cts(follow, k);
	packet = data_of(follow, k, LONG, 0);
	packet.psn = psns[0];
	pass(follow, &packet);
	assert_true(is_straight(follow));
	assert_int_equal(only_one(follow)->straight->turns, turns);
	packet.qpn += 2;
	packet.psn = psns[1];
	pass(follow, &packet);
	assert_int_equal(only_one(follow)->straight->turns, turns + 1);
	follow_stop(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_pairs_that_take_turns_go_straight_through_the_first_slot),
		cmocka_unit_test(the_answers_to_a_queue_pair_that_is_learnt_go_straight),
		cmocka_unit_test(a_queue_pair_that_rests_goes_on_with_another_message),
		cmocka_unit_test(a_message_that_another_queue_pair_has_begun_does_not_go_straight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
