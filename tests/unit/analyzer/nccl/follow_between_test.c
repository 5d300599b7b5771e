#include "follow_play.h"

/*
 * What is written between two messages of a queue pair, to where one had its data and a later one asks for more. Without a set-up it
 * is not known, so early, whether other queue pairs have some of the messages: what the queue pair goes on with tells.
 */

enum { AHEAD = BUFFERS, MESSAGES = 16, LENGTH = 3000, FORGED = 64 };

/* With as many clear-to-sends ahead as there are buffers, up to the data of message k. */
static struct follow *start(uint64_t k)
{
	struct follow *follow = follow_start('E');

	for (uint64_t at = 0; at < AHEAD; at++)
		ask(follow, at);
	for (uint64_t at = 0; at < k; at++) {
		answer(follow, at, LENGTH);
		ask(follow, at + AHEAD);
	}
	answer(follow, k, LENGTH);
	return follow;
}

static void go_on(struct follow *follow, uint64_t from)
{
	for (uint64_t at = from; at < from + MESSAGES; at++) {
		answer(follow, at, LENGTH);
		ask(follow, at + AHEAD);
	}
	acknowledge_both(follow);
	answer(follow, from + MESSAGES, LENGTH);
}

/*
 * Behind message k: its buffer is asked for before the queue pair goes on, or behind that. Behind the first message of all that has
 * to be behind it: what it goes on with may be one of later, too, as long as nothing shows that it has each message.
 */
static void forge(uint64_t k, bool is_asked_first, bool has_immediate)
{
	struct follow *follow = start(k);
	struct packet packet = data_of(follow, k, FORGED, 0);
	uint64_t frame;

	if (!has_immediate)
		packet.opcode = 0x0a;
	frame = follow_packet(follow, &packet);
	follow->data_psn++;
	if (is_asked_first)
		ask(follow, k + AHEAD);
	answer(follow, k + 1, LENGTH);
	if (!is_asked_first)
		ask(follow, k + AHEAD);
	ask(follow, k + 1 + AHEAD);
	go_on(follow, k + 2);
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, FT_NCCL_REPLAY);
	assert_int_equal(follow->found[0].frame, frame);
	assert_int_equal(follow->found[0].k, k);
	follow_stop(follow);
}

static void a_second_write_is_told_by_what_comes_behind_it(void **state)
{
	(void)state;
	for (uint64_t k = 0; k < AHEAD; k++) {
		for (unsigned how = 0; how < 4; how++)
			forge(k, how % 2 != 0 && k != 0, how / 2 != 0);
	}
}

/* At taps that differ: the message's own, and the next one behind it. */
static void data_before_its_clear_to_send_is_not_told(void **state)
{
	(void)state;
	for (uint64_t k = 0; k < AHEAD; k++) {
		struct follow *follow = start(k);

		for (uint64_t at = k + 1; at < k + AHEAD; at++)
			answer(follow, at, LENGTH);
		answer(follow, k + AHEAD, LENGTH);
		for (uint64_t at = k + AHEAD; at <= k + 2 * AHEAD; at++)
			ask(follow, at);
		go_on(follow, k + AHEAD + 1);
		assert_int_equal(follow->found_count, 0);
		follow_stop(follow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_write_is_told_by_what_comes_behind_it),
		cmocka_unit_test(data_before_its_clear_to_send_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
