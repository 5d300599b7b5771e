#include "follow_play.h"

/* Writes a few PSNs ahead of their queue pair: forged ones, and such as have overtaken others. */

enum { BEFORE = 20, AFTER = 6 };

static void expect(struct follow *follow, const char *what, uint64_t frame)
{
	const unsigned count = frame != 0 ? 1 : 0;

	if (follow->found_count != count ||
	    (frame != 0 &&
	     (follow->found[0].fault != FT_NCCL_WRITE_UNASKED || follow->found[0].frame != frame)))
		fail_msg("%s: %u findings", what, follow->found_count);
	follow_stop(follow);
}

/* So far ahead of a message of so many bytes, and another one behind it. */
static void what_has_anothers_place_is_told(void **state)
{
	static const struct {
		const char *what;
		uint32_t ahead, length;
	} rows[] = {
		{ "amid the message's only write", 1, 4000 },
		{ "amid it, farther", 3, 6000 },
		{ "with its last packet", 3, 4000 },
		{ "with the next message, of one packet", 1, 700 },
		{ "with the next message, of several", 4, 4000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start_behind(BEFORE);
		struct packet forged = data_of(follow, BEFORE, 64, 0);
		uint64_t frame;

		forged.opcode = 0x0a;
		forged.psn += rows[i].ahead;
		frame = follow_packet(follow, &forged);
		answer(follow, BEFORE, rows[i].length);
		converse(follow, BEFORE + 1, AFTER);
		expect(follow, rows[i].what, frame);
	}
}

/* The second message before the first: as it is, and sent again. */
static void what_has_overtaken_others_is_not(void **state)
{
	(void)state;
	for (unsigned again = 0; again < 2; again++) {
		struct follow *follow = follow_start_behind(BEFORE);
		const uint32_t psn = follow->data_psn;

		ask(follow, BEFORE + 1);
		follow->data_psn += packets_in(4000);
		answer(follow, BEFORE + 1, 700);
		follow->data_psn = psn;
		answer(follow, BEFORE, 4000);
		if (again != 0)
			answer(follow, BEFORE + 1, 700);
		follow->data_psn = psn + packets_in(4000) + 1;
		converse(follow, BEFORE + 2, AFTER);
		expect(follow, again != 0 ? "sent again" : "overtaken", 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_anothers_place_is_told),
		cmocka_unit_test(what_has_overtaken_others_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
