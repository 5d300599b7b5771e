#include "follow_play.h"

#include <string.h>

/* Packets that fill holes: they came in another order than they were sent in, or from another tap. */

enum { BEFORE = 12, AFTER = 8, MESSAGES = 4, LENGTH = 2500, PACKETS = 3 };

/*
 * Messages a to d are the next ones, of three packets each: 0 to 2. `?a` is the clear-to-send of a.
 */
static void play(struct follow *follow, const char *order, uint64_t frames[MESSAGES][2])
{
	memset(frames, 0, MESSAGES * sizeof *frames);
	for (; *order != '\0'; order++) {
		const bool is_cts = *order == '?';
		const uint64_t number = (uint64_t)(order[is_cts] - 'a'), k = BEFORE + number;
		struct packet packet;
		uint64_t frame;

		if (*order == ' ')
			continue;
		order++;
		if (is_cts) {
			ask(follow, k);
			continue;
		}
		packet = data_of(follow, k, LENGTH, (uint32_t)(*order - '0'));
		packet.psn += (uint32_t)number * PACKETS;
		frame = follow_packet(follow, &packet);
		frames[number][0] = frames[number][0] == 0 ? frame : frames[number][0];
		frames[number][1] = frame;
	}
	follow->data_psn += MESSAGES * PACKETS;
}

static void packets_of_messages_in_other_orders_are_theirs(void **state)
{
	static const struct {
		const char *order;
		unsigned packets[MESSAGES]; /* 0: three, and it is complete */
	} rows[] = {
		{ "?a?b?c?d a0a1a2 b0b1b2 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d a0a2a1 b0b1b2 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d a1a0a2 b0b1b2 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d a2a1a0 b0b1b2 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d a1a2a0 b0b1b2 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d a2a0a1 b0b1b2 c0c1c2 d0d1d2", { 0 } },
		/* over the borders of messages */
		{ "?a?b?c?d a0a1b0 a2b1b2 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d a0b0a1 a2b1b2 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d b0a0a1 a2b1b2 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d b0b1b2 a0a1a2 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d a0a1a2 c0c1c2 b0b1b2 d0d1d2", { 0 } },
		{ "?a?b?c?d a0a1a2 d0d1d2 c0c1c2 b0b1b2", { 0 } },
		{ "?a?b?c?d a0a1a2 c0c1b0 b1b2c2 d0d1d2", { 0 } },
		/* behind a hole of their own, or ends first */
		{ "?a?b?c?d a0a1a2 b2b1b0 c0c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d a0a1a2 b1c0b0 b2c1c2 d0d1d2", { 0 } },
		{ "?a?b?c?d a0a1a2 c1b0b1 b2c2c0 d0d1d2", { 0 } },
		{ "?a?b?c?d a0a1a2 b0b1b2 d2c1d1 c2c0d0", { 0 } },
		{ "?a?b?c?d a0a1a2 b0d0c1 b1c0c2 b2d1d2", { 0 } },
		{ "?a?b?c?d a2b2c2 d2a1b1 c1d1a0 b0c0d0", { 0 } },
		/* asked for one by one */
		{ "?a a0a2a1 ?b b1b0b2 ?c c0c2c1 ?d d0d1d2", { 0 } },
		/* some never come */
		{ "?a?b?c?d a0a2 b0b1b2 c0c1c2 d0d1d2", { 2 } },
		{ "?a?b?c?d a1a2 b0b1b2 c0c1c2 d0d1d2", { 2 } },
		{ "?a?b?c?d a0a1 b0b1b2 c0c1c2 d0d1d2", { 2 } },
		{ "?a?b?c?d a0a1a2 c0c1c2 b0b2 d0d1d2", { 0, 2 } },
		{ "?a?b?c?d a0a1a2 c0c1c2 b0b1 d0d1d2", { 0, 2 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start('E');
		uint64_t frames[MESSAGES][2];

		converse(follow, 0, BEFORE);
		play(follow, rows[i].order, frames);
		converse(follow, BEFORE + MESSAGES, AFTER);
		follow_keep(follow);
		for (unsigned n = 0; n < MESSAGES; n++) {
			const struct ft_nccl_message *message = follow_message(follow, BEFORE + n);
			const unsigned packets = rows[i].packets[n];

			if (message->packets != (packets != 0 ? packets : PACKETS) ||
			    message->completed != (packets == 0) ||
			    message->first_frame != frames[n][0] ||
			    message->last_frame != frames[n][1])
				fail_msg("%s: %c has %d packets, %s, frames %d to %d",
					 rows[i].order, 'a' + (int)n, (int)message->packets,
					 message->completed ? "complete" : "not complete",
					 (int)message->first_frame, (int)message->last_frame);
		}
		assert_int_equal(follow->found_count, 0);
		follow_stop(follow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_of_messages_in_other_orders_are_theirs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
