#include "follow_play.h"

/*
 * A packet whose operation does not fit its place in the sequence, whose own packet comes behind it: what is told of it, and that
 * nothing else is lost or blamed.
 */

enum { BEFORE = 20, LENGTH = 4000, LAST = 3, AFTER = 6 };

#define NOTHING FT_NCCL_FAULTS

/* From packet `from` of the message on, and more of them. */
static void go_on(struct follow *follow, uint32_t from)
{
	answer_without(follow, BEFORE, LENGTH, (UINT64_C(1) << from) - 1);
	converse(follow, BEFORE + 1, AFTER);
}

static void expect(struct follow *follow, enum ft_nccl_fault fault, uint64_t frame)
{
	assert_int_equal(follow->found_count, fault == NOTHING ? 0 : 1);
	if (fault != NOTHING) {
		assert_int_equal(follow->found[0].fault, fault);
		assert_int_equal(follow->found[0].frame, frame);
	}
	follow_keep(follow);
	for (uint64_t k = 0; k < BEFORE + 1 + AFTER; k++)
		assert_true(follow_message(follow, k)->completed);
	follow_stop(follow);
}

static void what_goes_on_where_nothing_began(void **state)
{
	static const uint8_t opcodes[] = { 0x07, 0x08, 0x09 };

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof opcodes; i++) {
		struct follow *follow = follow_start_behind(BEFORE);
		struct packet forged = data_of(follow, BEFORE, LENGTH, LAST), again;
		uint64_t frame;

		forged.opcode = opcodes[i / 2];
		forged.psn = follow->data_psn;
		again = forged;
		again.opcode = 0x09;
		again.psn--;
		frame = follow_packet(follow, &forged);
		if (i % 2 !=
		    0) /* the end of the message before comes again: near that nothing is told */
			follow_packet(follow, &again);
		go_on(follow, 0);
		expect(follow, i % 2 == 0 ? FT_NCCL_CONTRADICTION : NOTHING, frame);
	}
}

static void what_goes_on_before_the_first_packet_of_all(void **state)
{
	struct follow *follow = follow_start('E');
	struct packet forged;
	uint64_t frame;

	(void)state;
	learn_set_up(follow->connections,
		     &(struct set_up){ .metadata_bytes = 3648, .fifo = FIFO_AT });
	ask(follow, 0);
	forged = data_of(follow, 0, LENGTH, LAST);
	forged.psn = follow->data_psn;
	frame = follow_packet(follow, &forged);
	answer(follow, 0, LENGTH);
	converse(follow, 1, BEFORE);
	assert_true(follow->found_count <= 1);
	if (follow->found_count == 1)
		assert_int_equal(follow->found[0].frame, frame);
	follow_keep(follow);
	for (uint64_t k = 0; k <= BEFORE; k++)
		assert_true(follow_message(follow, k)->completed);
	follow_stop(follow);
}

static void an_end_before_the_length_is_there(void **state)
{
	(void)state;
	for (uint32_t at = 1; at < LAST; at++) {
		struct follow *follow = follow_start_behind(BEFORE);
		struct packet packet, forged = data_of(follow, BEFORE, LENGTH, LAST);
		uint64_t frame;

		for (uint32_t i = 0; i < at; i++) {
			packet = data_of(follow, BEFORE, LENGTH, i);
			follow_packet(follow, &packet);
		}
		forged.psn = follow->data_psn + at;
		frame = follow_packet(follow, &forged);
		go_on(follow, at);
		expect(follow, FT_NCCL_CONTRADICTION, frame);
	}
}

/* To where it asks for data, in the midst of that: but for the place, the transport would do that as well. */
static void a_write_amid_a_write(void **state)
{
	(void)state;
	for (unsigned in_place = 0; in_place < 2; in_place++) {
		struct follow *follow = follow_start_behind(BEFORE);
		struct packet packet = data_of(follow, BEFORE, LENGTH, 0), amid;
		uint64_t frame;

		follow_packet(follow, &packet);
		amid = data_of(follow, BEFORE, LENGTH - MTU, 0);
		amid.psn = follow->data_psn + 1;
		amid.va += in_place != 0 ? MTU : 0;
		frame = follow_packet(follow, &amid);
		go_on(follow, in_place != 0 ? 2 : 1);
		expect(follow, in_place != 0 ? NOTHING : FT_NCCL_WRITE_UNASKED, frame);
	}
}

/* It takes the place of the message's first packet, but for the immediate: a message of two packets does not end there. */
static void an_end_in_place_of_a_write_without_one(void **state)
{
	struct follow *follow = follow_start_behind(BEFORE);
	struct packet own = data_of(follow, BEFORE, 64, 0), forged = own, end = own;
	uint64_t frame = follow_packet(follow, &forged);

	(void)state;
	own.opcode = 0x0a;
	follow_packet(follow, &own);
	end.psn++;
	end.va = end.rkey = end.length = end.payload = 0;
	follow_packet(follow, &end);
	follow->data_psn += 2;
	converse(follow, BEFORE + 1, AFTER);
	assert_int_equal(follow->found_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(follow->found[i].fault, FT_NCCL_REPLAY);
		assert_int_equal(follow->found[i].frame, frame + i);
	}
	follow_keep(follow);
	assert_int_equal(follow_message(follow, BEFORE)->last_frame, frame + 2);
	for (uint64_t k = BEFORE + 1; k < BEFORE + 1 + AFTER; k++)
		assert_true(follow_message(follow, k)->completed);
	follow_stop(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_on_where_nothing_began),
		cmocka_unit_test(what_goes_on_before_the_first_packet_of_all),
		cmocka_unit_test(an_end_before_the_length_is_there),
		cmocka_unit_test(a_write_amid_a_write),
		cmocka_unit_test(an_end_in_place_of_a_write_without_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
