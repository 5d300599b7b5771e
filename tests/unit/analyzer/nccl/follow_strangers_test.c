#include "follow_play.h"

#include <string.h>

/* One packet that nobody of the connection sent, into the memory that it announced; and beside that. */

enum { BEFORE = 12, AFTER = 6, FIFO_BYTES = 256 * 512 /* of families D to F */ };

/* Twelve messages, then one that has been asked for. */
static struct follow *start(char family)
{
	struct follow *follow = follow_start(family);

	converse(follow, 0, BEFORE);
	ask(follow, BEFORE);
	return follow;
}

/* The packet comes, the connection goes on, and a second writer is told of, or nothing is. */
static void meet(struct follow *follow, const struct packet *packet, bool told)
{
	uint64_t frame = follow_packet(follow, packet);

	answer(follow, BEFORE, 4000);
	converse(follow, BEFORE + 1, AFTER);
	assert_int_equal(follow->found_count, told);
	if (told) {
		assert_int_equal(follow->found[0].fault, FT_NCCL_SECOND_WRITER);
		assert_int_equal(follow->found[0].frame, frame);
		assert_int_equal(follow->found[0].connection, 0);
		assert_true(follow->found[0].certainty > 0.5);
		assert_null(strstr(follow->found[0].text, "18a3c5")); /* keys */
		assert_null(strstr(follow->found[0].text, "201b44"));
		assert_int_equal(strstr(follow->found[0].text, "another address") != NULL,
				 packet->qpn == SENDER_QP || packet->qpn == RECEIVER_QP);
	}
	follow_keep(follow);
	for (uint64_t k = 0; k < BEFORE + 1 + AFTER; k++)
		assert_true(follow_message(follow, k)->completed);
	follow_stop(follow);
}

static void a_buffer_that_was_asked_for_has_its_bounds(void **state)
{
	static const struct {
		uint8_t from;
		uint32_t qpn, key;
		int64_t at;
		bool told;
	} cases[] = {
		{ STRANGER, RECEIVER_QP, 0, 0, true },
		{ STRANGER, 99, 0, 0, true },
		{ SENDER, 99, 0, 0, true },
		{ STRANGER, 99, 0, OFFERED - 64, true },
		{ STRANGER, 99, 0, OFFERED - 63, false },
		{ STRANGER, 99, 0, -1, false },
		{ STRANGER, 99, 1, 0, false },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct follow *follow = start('E');
		struct packet packet = data_of(follow, BEFORE, 64, 0);

		packet.from = cases[i].from;
		packet.qpn = cases[i].qpn;
		packet.rkey += cases[i].key;
		packet.va += (uint64_t)cases[i].at;
		meet(follow, &packet, cases[i].told);
	}
}

/* A message that has all of its data has no buffer any more; the next one of the same place was not asked for. */
static void a_buffer_that_had_its_data_is_free(void **state)
{
	struct follow *follow = start('E');
	struct packet packet = data_of(follow, BEFORE - 2, 64, 0);

	(void)state;
	packet.from = STRANGER;
	packet.qpn = 99;
	meet(follow, &packet, false);
}

/* Also before a wrap shows how many slots there are: 64 or 256 with family C. */
static void the_fifo_is_written_by_one(void **state)
{
	(void)state;
	for (const char *family = "BCDEF"; *family != '\0'; family++) {
		struct follow *follow = start(*family);
		struct packet packet = cts_of(follow, BEFORE + 1);

		packet.from = STRANGER;
		packet.qpn = 99;
		meet(follow, &packet, true);
	}
}

static void what_lies_beside_the_fifo_is_not_its_own(void **state)
{
	static const struct {
		uint32_t qpn, key;
		int64_t at;
		bool told;
	} cases[] = {
		{ 99, 0, 0, true },
		{ 99, 0, FIFO_BYTES - 1, true },
		{ 99, 0, -1, false },
		{ 99, 0, FIFO_BYTES, false },
		{ 99, 1, 0, false },
		{ SENDER_QP, 0, 0, true },
		/* wherever it goes: that queue pair has a peer */
		{ SENDER_QP, 1, 0, true },
		{ SENDER_QP, 0, FIFO_BYTES, true },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct follow *follow = start('E');
		struct packet packet = cts_of(follow, BEFORE + 1);

		packet.from = STRANGER;
		packet.qpn = cases[i].qpn;
		packet.va = FIFO_AT + (uint64_t)cases[i].at;
		packet.rkey += cases[i].key;
		packet.length = packet.captured = packet.payload = 1;
		meet(follow, &packet, cases[i].told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_that_was_asked_for_has_its_bounds),
		cmocka_unit_test(a_buffer_that_had_its_data_is_free),
		cmocka_unit_test(the_fifo_is_written_by_one),
		cmocka_unit_test(what_lies_beside_the_fifo_is_not_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
