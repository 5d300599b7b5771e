#include "follow_play.h"

/*
 * Messages whose first packet was missed. They count if they are certainly none of those that are listed: each of these has one
 * request and three packets, so that what lies behind its third is another one.
 */

enum { BEFORE = 12, MESSAGES = 4, LENGTH = 2500, PACKETS = 3 };

/* `?a` asks for a, the first of the next four; `a0` to `a2` are its packets. All others are missed. */
static void play(struct follow *follow, const char *order)
{
	for (; *order != '\0'; order++) {
		const bool is_cts = *order == '?';
		const uint64_t number = (uint64_t)(order[is_cts] - 'a');
		struct packet packet;

		if (*order == ' ')
			continue;
		order++;
		if (is_cts) {
			ask(follow, BEFORE + number);
			continue;
		}
		packet = data_of(follow, BEFORE + number, LENGTH, (uint32_t)(*order - '0'));
		packet.psn += (uint32_t)number * PACKETS;
		follow_packet(follow, &packet);
	}
	follow->data_psn += MESSAGES * PACKETS;
}

static void messages_without_their_first_packet_count(void **state)
{
	static const struct {
		const char *what, *order;
		uint64_t messages; /* of the four */
	} rows[] = {
		{ "all is there", "?a?b?c?d a0a1a2 b0b1b2 c0c1c2 d0d1d2", 4 },
		{ "one is not", "?a?b?c?d a0a1a2 c0c1c2 d0d1d2", 3 },
		{ "a packet in the middle", "?a?b?c?d a0a1a2 b1 c0c1c2 d0d1d2", 4 },
		{ ".. of the last one", "?a?b?c?d a0a1a2 b0b1b2 c0c1c2 d1", 4 },
		{ ".. behind one that is not", "?a?b?c?d a0a1a2 c1 d0d1d2", 3 },
		{ "an end behind one that is not", "?a?b?c?d a0a1a2 c2 d0d1d2", 3 },
		{ "both", "?a?b?c?d a0a1a2 c1c2 d0d1d2", 3 },
		{ "behind one without its end", "?a?b?c?d a0a1 c1 d0d1d2", 3 },
		{ "behind a first one alone", "?a?b?c?d a0 c1c2 d0d1d2", 3 },
		{ "several", "?a?b?c?d a1 b1 c1 d0d1d2", 2 }, /* of one, perhaps */
		{ "several with their ends", "?a?b?c?d a0a1a2 c1c2 d1d2", 3 },
		{ "the rest of what was seen to begin", "?a?b?c?d a0a2 b0b1b2 c0c1c2 d0d1d2", 4 },
		{ "its first comes yet", "?a?b?c?d a0a1a2 c1 d0d1d2 c0", 3 },
		{ ".. with its end", "?a?b?c?d a0a1a2 c1c2 d0d1d2 c0", 3 },
		{ ".. at once", "?a?b?c?d a0a1a2 c1c0c2 d0d1d2", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start('E');

		converse(follow, 0, BEFORE);
		play(follow, rows[i].order);
		follow_keep(follow);
		if (follow->kept.connections[0]->messages_told != BEFORE + rows[i].messages)
			fail_msg("%s: %d", rows[i].what,
				 (int)follow->kept.connections[0]->messages_told - BEFORE);
		assert_int_equal(follow->found_count, 0);
		follow_stop(follow);
	}
}

/* Rows that made room for others: it is not known any more whose packets they were, so one that comes to begin is none more. */
static void those_whose_packets_are_forgotten_count_once(void **state)
{
	struct follow *follow = follow_start('E');
	struct packet first;

	(void)state;
	converse(follow, 0, BEFORE);
	for (uint64_t k = BEFORE; k < BEFORE + 14; k++)
		ask(follow, k);
	first = data_of(follow, BEFORE, LENGTH, 0);
	for (uint32_t n = 0; n < 14; n++) {
		for (uint32_t at = n % 2 == 0 ? 1 : 0; at < PACKETS; at++) {
			struct packet packet = data_of(follow, BEFORE + n, LENGTH, at);

			packet.psn += n * PACKETS;
			if (n % 2 == 1 || at == 1)
				follow_packet(follow, &packet);
		}
	}
	follow_keep(follow);
	assert_int_equal(follow->kept.connections[0]->messages_told, BEFORE + 14);
	follow_packet(follow, &first);
	follow_keep(follow);
	assert_in_range(follow->kept.connections[0]->messages_told, BEFORE + 13, BEFORE + 14);
	follow_stop(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_without_their_first_packet_count),
		cmocka_unit_test(those_whose_packets_are_forgotten_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
