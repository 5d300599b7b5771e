#include "follow_play.h"

/* Set-ups that name queue pairs of a connection which is followed: of a later job, or sent again by somebody. */

enum { MANY = 40, AFTER = 6, OTHER_QP = RECEIVER_QP + 100 };

#define FAR (UINT64_C(1) << 30)

static struct follow *start(void)
{
	struct follow *follow = follow_start('E');

	follow_set_up(follow, FIFO_AT, 1, UINT32_MAX);
	return follow;
}

/* In the place of the next packet of message k, which was asked for. */
static uint64_t write_outside(struct follow *follow, uint64_t k)
{
	struct packet forged = data_of(follow, k, 64, 0);

	forged.opcode = 0x0a;
	forged.va += FAR;
	return follow_packet(follow, &forged);
}

static void one_that_is_sent_again_hides_nothing(void **state)
{
	static const struct {
		uint64_t fifo;
		unsigned before,
			between; /* messages: before the set-up comes again, and from there to the forged write */
	} rows[] = {
		{ FIFO_AT, 20, 0 },    { FIFO_AT, 20, 1 },          { FIFO_AT, 20, MANY },
		{ FIFO_AT, 1, 3 },     { FIFO_AT + 64, 20, 2 },     { FIFO_AT + FAR, 20, 2 },
		{ FIFO_AT, MANY, 20 }, { FIFO_AT - 128, 20, MANY }, { FIFO_AT, 0, 20 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = start();
		uint64_t k = rows[i].before, frame;

		converse(follow, 0, k);
		follow_set_up(follow, rows[i].fifo, 1, UINT32_MAX);
		converse(follow, k, rows[i].between);
		k += rows[i].between;
		acknowledge_both(follow);
		ask(follow, k);
		frame = write_outside(follow, k);
		converse(follow, k + 1, AFTER);
		if (follow->found_count != 1 || follow->found[0].fault != FT_NCCL_WRITE_OUTSIDE ||
		    follow->found[0].frame != frame)
			fail_msg("row %zu: %u findings", i, follow->found_count);
		assert_int_equal(follow_kept(follow, 0, 1)->cts, k + 1 + AFTER);
		follow_stop(follow);
	}
}

/* It begins anew, with its memory elsewhere, or at the same place; the first packets may have been missed. */
static void a_later_job_takes_over(void **state)
{
	static const struct {
		const char *what;
		unsigned before;
		uint32_t missed; /* clear-to-sends */
		bool elsewhere;
	} rows[] = {
		{ "at the same place", MANY, 0, false },
		{ "behind a single message", 1, 0, false },
		{ "elsewhere", MANY, 0, true },
		{ "elsewhere, from the fourth message on", MANY, 3, true },
		{ "at the same place, from the fourth message on", MANY, 3, false },
		{ "elsewhere, where the first one was", 3, 3, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = start();
		const uint64_t moved = rows[i].elsewhere ? FAR : 0;

		converse(follow, 0, rows[i].before);
		follow_set_up(follow, FIFO_AT + moved, 1, UINT32_MAX);
		follow->cts_psn = follow->data_psn = rows[i].missed;
		for (uint64_t k = rows[i].missed; k < rows[i].missed + AFTER; k++) {
			struct packet packet = cts_of(follow, k);

			follow->cts_psn++;
			packet.va += moved;
			follow_packet(follow, &packet);
			answer(follow, k, 700);
		}
		assert_int_equal(follow->found_count, 0);
		follow_keep(follow);
		if (follow->kept.connection_count != 2 ||
		    follow->kept.connections[0]->messages != rows[i].before ||
		    follow->kept.connections[1]->messages != AFTER)
			fail_msg("%s: %zu connections", rows[i].what,
				 follow->kept.connection_count);
		for (size_t at = 0; at < 2; at++) {
			assert_string_equal(follow->kept.connections[at]->connecting_device,
					    "mlx5_0");
			assert_string_equal(follow->kept.connections[at]->listening_device,
					    "mlx5_1");
		}
		follow_stop(follow);
	}
}

/* Of a queue pair that the set-up does not name. */
static void answer_elsewhere(struct follow *follow, uint64_t k)
{
	struct packet packet = data_of(follow, k, 700, 0);

	packet.qpn = OTHER_QP;
	follow->data_psn++;
	follow_packet(follow, &packet);
}

/* The receiver's number was forged into the set-up: data that goes where it was asked for is the connection's own. */
static void what_goes_on_outweighs_a_forged_number(void **state)
{
	struct follow *follow = start();
	uint64_t frame;

	(void)state;
	for (uint64_t k = 0; k < MANY; k++) {
		ask(follow, k);
		answer_elsewhere(follow, k);
	}
	acknowledge_both(follow);
	assert_int_equal(follow->found_count, 0);
	assert_int_equal(follow_kept(follow, 0, 1)->messages, MANY);
	assert_int_equal(follow_kept(follow, 0, 1)->receiver.qpns[0], OTHER_QP);
	ask(follow, MANY);
	frame = follow_packet(follow, &(struct packet){ .from = STRANGER,
							.to = RECEIVER,
							.opcode = 0x0a,
							.qpn = OTHER_QP,
							.va = buffer_of(MANY),
							.rkey = DATA_KEY,
							.length = 64,
							.payload = 64 });
	answer_elsewhere(follow, MANY);
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, FT_NCCL_SECOND_WRITER);
	assert_int_equal(follow->found[0].frame, frame);
	follow_stop(follow);
}

/* Before the first data on the queue pair that the set-up names: it was right, and this another writer. */
static void another_writer_before_the_first_data_is_told_with_that(void **state)
{
	struct follow *follow = start();
	struct packet forged;
	uint64_t frame;

	(void)state;
	ask(follow, 0);
	forged = data_of(follow, 0, 700, 0);
	forged.qpn = OTHER_QP;
	frame = follow_packet(follow, &forged);
	assert_int_equal(follow->found_count, 0);
	answer(follow, 0, 700);
	converse(follow, 1, AFTER);
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, FT_NCCL_SECOND_WRITER);
	assert_int_equal(follow->found[0].frame, frame);
	follow_stop(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_sent_again_hides_nothing),
		cmocka_unit_test(a_later_job_takes_over),
		cmocka_unit_test(what_goes_on_outweighs_a_forged_number),
		cmocka_unit_test(another_writer_before_the_first_data_is_told_with_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
