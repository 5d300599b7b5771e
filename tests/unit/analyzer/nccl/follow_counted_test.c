#include "follow_play.h"

/* The receiver's ACKs count what it has whole: message k is the request number k + 1, if each message is one request. */

enum {
	SHORT = 512,  /* bytes, in one packet */
	LONG = 20000, /* so long a message would be two requests where long ones are */
	BEGIN = 100,
	MESSAGES = 40,
};

static void acknowledge_data(struct follow *follow, uint32_t psn, uint32_t msn)
{
	const struct packet of_data = { .from = RECEIVER,
					.to = SENDER,
					.opcode = 0x11,
					.qpn = SENDER_QP,
					.psn = psn,
					.msn = msn };

	follow_packet(follow, &of_data);
}

static void acknowledge_cts(struct follow *follow, uint32_t psn)
{
	const struct packet of_cts = {
		.from = SENDER, .to = RECEIVER, .opcode = 0x11, .qpn = RECEIVER_QP, .psn = psn
	};

	follow_packet(follow, &of_cts);
}

/*
 * From the middle on, what the sender sends shows earlier than it should: message k passes ahead of its clear-to-send, where
 * the buffer was offered for k - 8 last. ACKs count `more` requests; 0: there are none.
 */
static struct follow *hear_receiver_late(uint32_t more, uint64_t data_frames[MESSAGES])
{
	struct follow *follow = follow_start('E');

	follow->cts_psn = follow->data_psn = BEGIN;
	for (uint64_t i = 0; i < MESSAGES; i++) {
		uint32_t psn = follow->data_psn;

		acknowledge_cts(follow, psn);
		data_frames[i] = answer(follow, BEGIN + i, SHORT);
		ask(follow, BEGIN + i);
		if (more != 0)
			acknowledge_data(follow, psn, psn + more);
	}
	follow_keep(follow);
	return follow;
}

static void acks_tell_numbers_where_data_passes_first(void **state)
{
	uint64_t frames[MESSAGES];
	struct follow *follow = hear_receiver_late(1, frames);
	unsigned told = 0;

	(void)state;
	for (size_t i = 0; i < follow->kept.message_count; i++) {
		const struct ft_nccl_message *message = &follow->kept.messages[i];

		if (!message->has_k || message->first_frame == 0)
			continue;
		assert_int_equal(message->first_frame, frames[message->k - BEGIN]);
		told++;
	}
	assert_true(told >= MESSAGES - 2 * BUFFERS);
	assert_true(follow_message(follow, BEGIN + MESSAGES - 1)->completed);
	follow_stop(follow);
}

/* Nor where they count more than was asked for, as when messages were of several requests. */
static void without_acks_nobody_knows_them(void **state)
{
	static const uint32_t more[] = { 0, 2 * BUFFERS, 5000 };
	uint64_t frames[MESSAGES];

	(void)state;
	for (unsigned at = 0; at < sizeof more / sizeof *more; at++) {
		struct follow *follow = hear_receiver_late(more[at], frames);

		for (size_t i = 0; i < follow->kept.message_count; i++)
			assert_true(!follow->kept.messages[i].has_k ||
				    follow->kept.messages[i].first_frame == 0);
		follow_stop(follow);
	}
}

/* A whole round of buffers was lost: message 20 goes to where message 12 was to go. */
static void acks_tell_which_message_is_behind_a_hole(void **state)
{
	(void)state;
	for (unsigned acked = 0; acked < 2; acked++) {
		struct follow *follow = follow_start('E');
		uint32_t lost;

		for (uint64_t k = 0; k < 12; k++) {
			ask(follow, k);
			answer(follow, k, LONG);
		}
		for (uint64_t k = 12; k <= 20; k++)
			ask(follow, k);
		lost = 8 * packets_in(LONG);
		follow->data_psn += lost;
		answer(follow, 20, LONG);
		if (acked != 0)
			acknowledge_data(follow, follow->data_psn - 1, 21);
		follow_keep(follow);
		assert_int_equal(follow_message(follow, 20)->completed, acked != 0);
		assert_int_equal(follow_message(follow, 12)->first_frame, 0);
		follow_stop(follow);
	}
}

/* The ACK passes first, as where its tap is ahead: it is of the message that ends with its PSN. */
static void an_ack_may_pass_ahead_of_its_message(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	for (uint64_t k = 0; k < 12; k++) {
		ask(follow, k);
		answer(follow, k, LONG);
	}
	for (uint64_t k = 12; k <= 20; k++)
		ask(follow, k);
	follow->data_psn += 8 * packets_in(LONG);
	acknowledge_data(follow, follow->data_psn + packets_in(LONG) - 1, 21);
	answer(follow, 20, LONG);
	ask(follow, 21);
	answer(follow, 21, LONG);
	follow_keep(follow);
	assert_int_not_equal(follow_message(follow, 20)->first_frame, 0);
	assert_true(follow_message(follow, 21)->completed);
	follow_stop(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acks_tell_numbers_where_data_passes_first),
		cmocka_unit_test(without_acks_nobody_knows_them),
		cmocka_unit_test(acks_tell_which_message_is_behind_a_hole),
		cmocka_unit_test(an_ack_may_pass_ahead_of_its_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
