#include "follow_play.h"

/* A message that ended with what is no length, before it was known that immediates are lengths; and what came behind it. */

enum { MESSAGES = 16, LENGTH = 700, FORGED = 64 };

struct row {
	uint32_t length; /* that the forged immediate gives */
	bool is_set_up;
	bool is_told;
};

static const struct row rows[] = {
	{ LENGTH - 1, true, true },
	{ LENGTH + 1, true, true },
	{ LENGTH - 1, false, true },
	/* another queue pair may have had the rest, had no message come whole that others would have a part of */
	{ LENGTH + 1, false, true },
	{ LENGTH, true, false },
};

static struct follow *start(bool is_set_up)
{
	struct follow *follow = follow_start('E');

	if (is_set_up)
		follow_set_up(follow, FIFO_AT, 1, 0);
	return follow;
}

static void expect(struct follow *follow, uint64_t k, uint64_t frame)
{
	assert_int_equal(follow->found_count, frame != 0 ? 1 : 0);
	if (frame != 0) {
		assert_int_equal(follow->found[0].fault, FT_NCCL_CONTRADICTION);
		assert_int_equal(follow->found[0].frame, frame);
		assert_int_equal(follow->found[0].k, k);
	}
	follow_stop(follow);
}

static void an_early_immediate_is_told_once_others_were_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (uint64_t k = 0; k < 3; k++) {
			struct follow *follow = start(rows[i].is_set_up);
			struct packet packet;
			uint64_t frame;

			converse(follow, 0, k);
			ask(follow, k);
			ask(follow, k + 1);
			packet = data_of(follow, k, LENGTH, 0);
			packet.immdt = rows[i].length;
			frame = follow_packet(follow, &packet);
			follow->data_psn++;
			answer(follow, k + 1, LENGTH);
			converse(follow, k + 2, MESSAGES);
			acknowledge_both(follow);
			converse(follow, k + 2 + MESSAGES, 2);
			expect(follow, k, rows[i].is_told ? frame : 0);
		}
	}
}

/* Who is quicker than the sender, and has his own PSN: the sender's data is not told for it. */
static void data_behind_an_odd_end_is_not_told(void **state)
{
	(void)state;
	for (uint64_t k = 0; k < MESSAGES; k += 5) {
		struct follow *follow = start(true);
		struct packet packet;
		uint64_t frame;

		converse(follow, 0, k);
		ask(follow, k);
		packet = data_of(follow, k, FORGED, 0);
		packet.immdt = FORGED + 1;
		frame = follow_packet(follow, &packet);
		follow->data_psn++;
		answer(follow, k, LENGTH);
		converse(follow, k + 1, MESSAGES);
		acknowledge_both(follow);
		expect(follow, k, frame);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_early_immediate_is_told_once_others_were_right),
		cmocka_unit_test(data_behind_an_odd_end_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
