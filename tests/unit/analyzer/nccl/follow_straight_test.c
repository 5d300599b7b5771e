#include "straight_play.h"

/* The straight way of audits: from where it is taken on, what is remembered is as if each packet had been looked at. */

enum { KNOWN = 10 }; /* messages until all is known */

/* The first packet, and the last one. Returns the frame of the first. */
static uint64_t pass_data(struct follow *follow, uint64_t k, uint32_t length)
{
	uint32_t count = packets_in(length);
	uint64_t first = 0;

	for (uint32_t at = 0; at < count; at++) {
		struct packet packet = data_of(follow, k, length, at);
		uint64_t frame = pass(follow, &packet);

		first = at == 0 ? frame : first;
	}
	follow->data_psn += count;
	return first;
}

static void pass_messages(struct follow *follow, uint64_t from, uint64_t count)
{
	for (uint64_t k = from; k < from + count; k++) {
		pass_cts(follow, k);
		pass_data(follow, k, k % 2 == 0 ? LONG : SHORT);
	}
}

static void pass_acknowledgments(struct follow *follow)
{
	const struct packet of_data = { .from = RECEIVER,
					.to = SENDER,
					.opcode = 0x11,
					.qpn = SENDER_QP,
					.psn = follow->data_psn - 1 };
	const struct packet of_cts = { .from = SENDER,
				       .to = RECEIVER,
				       .opcode = 0x11,
				       .qpn = RECEIVER_QP,
				       .psn = follow->cts_psn - 1 };

	pass(follow, &of_data);
	pass(follow, &of_cts);
}

/* A connection that clear-to-sends have shown, `frames` frames into the capture, and that goes straight. */
static struct follow *go_straight(uint64_t frames)
{
	struct follow *follow = audit_start();

	follow->frame = frames;
	pass_messages(follow, 0, KNOWN);
	pass_acknowledgments(follow);
	pass_messages(follow, KNOWN, 2);
	assert_true(is_straight(follow));
	return follow;
}

static const struct ft_nccl_transfer *remembered(const struct follow *follow, uint64_t k)
{
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&only_one(follow)->ring, k);

	assert_non_null(transfer);
	return transfer;
}

/* --- where the last one went --- */

enum { NUMBER = 5 }; /* of the half-connection to the sender */

/* The next clear-to-send: whether it goes where the last one went, and, if it does not, whether it goes straight. */
static void offer_cts(struct follow *follow, uint64_t k, uint32_t since, bool again)
{
	const struct packet packet = cts_of(follow, k);
	const struct ft_nccl_seen seen = seen_of(&packet, follow->frame + 1);

	assert_int_equal(goes_again(follow->connections, &seen, NUMBER, since), again);
	if (!again)
		assert_true(goes_straight(follow->connections, &seen, NUMBER, since));
	follow->frame++;
	follow->cts_psn++;
	pass_data(follow, k, SHORT);
}

static void packets_go_where_the_last_of_their_number_went(void **state)
{
	struct follow *follow = go_straight(0);
	uint64_t k = KNOWN + 2;

	(void)state;
	offer_cts(follow, k++, 1, false);
	offer_cts(follow, k++, 1, true);
	offer_cts(follow, k++, 1, true);
	offer_cts(follow, k++, 2, false); /* the number may be another one's by now */
	offer_cts(follow, k++, 2, true);
	offer_cts(follow, k++, 0, false);
	assert_true(is_straight(follow));
	follow_keep(follow);
	assert_int_equal(only_one(follow)->model.messages, k);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* --- frames beyond 2^32 --- */

#define BEYOND (UINT64_C(1) << 32)

static void numbers_of_frames_have_more_than_32_bits(void **state)
{
	struct follow *follow = go_straight(5 * BEYOND + 7);
	uint64_t asked = pass_cts(follow, KNOWN + 2);
	uint64_t written = pass_data(follow, KNOWN + 2, LONG);

	(void)state;
	assert_true(is_straight(follow));
	assert_true(asked > 5 * BEYOND);
	follow_keep(follow);
	assert_int_equal(remembered(follow, KNOWN + 2)->message.cts_frame, asked);
	assert_int_equal(remembered(follow, KNOWN + 2)->message.first_frame, written);
	assert_int_equal(only_one(follow)->model.messages, KNOWN + 3);
	follow_stop(follow);
}

/* Clear-to-sends below it wait for their data above. */
static void messages_stretch_across_the_32_bits(void **state)
{
	struct follow *follow = go_straight(BEYOND - 60);
	uint64_t asked[3], written[3];

	(void)state;
	assert_true(follow->frame < BEYOND - 4);
	follow->frame = BEYOND - 4;
	for (unsigned i = 0; i < 3; i++)
		asked[i] = pass_cts(follow, KNOWN + 2 + i);
	assert_int_equal(asked[2], BEYOND - 1);
	for (unsigned i = 0; i < 3; i++)
		written[i] = pass_data(follow, KNOWN + 2 + i, LONG);
	assert_int_equal(written[0], BEYOND);
	for (unsigned i = 0; i < 3; i++) {
		const struct ft_nccl_transfer *transfer = remembered(follow, KNOWN + 2 + i);

		assert_int_equal(transfer->message.cts_frame, asked[i]);
		assert_int_equal(transfer->message.first_frame, written[i]);
	}
	pass_messages(follow, KNOWN + 5, 3);
	assert_true(is_straight(follow)); /* again */
	follow_keep(follow);
	assert_int_equal(only_one(follow)->model.messages, KNOWN + 8);
	assert_int_equal(only_one(follow)->model.cts, KNOWN + 8);
	assert_int_equal(only_one(follow)->model.missing_packets, 0);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* A write far from what was asked for, on the frame on which the number grows, and later. */
static void what_is_found_beyond_has_its_whole_number(void **state)
{
	static const uint64_t ahead[] = { 0, 1, 100000 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct follow *follow = go_straight(BEYOND - 60);
		struct packet forged;

		follow->frame = BEYOND + ahead[i] - 2;
		pass_cts(follow, KNOWN + 2);
		forged = data_of(follow, KNOWN + 2, SHORT, 0);
		forged.va += UINT64_C(1) << 30;
		pass(follow, &forged);
		assert_int_equal(follow->found_count, 1);
		assert_int_equal(follow->found[0].fault, FT_NCCL_WRITE_OUTSIDE);
		assert_int_equal(follow->found[0].frame, BEYOND + ahead[i]);
		assert_int_equal(follow->found[0].k, KNOWN + 2);
		follow_stop(follow);
	}
}

/* --- as many messages as there is room for --- */

/* Those that wait take the place of the last one that was answered, too. */
static void the_last_message_answered_makes_room_for_those_that_wait(void **state)
{
	struct follow *follow = go_straight(0);
	uint64_t next = KNOWN + 3;

	(void)state;
	pass_messages(follow, KNOWN + 2, 1);
	for (unsigned i = 0; i < FT_NCCL_RING_LEAST; i++)
		pass_cts(follow, next + i);
	assert_true(is_straight(follow));
	follow_keep(follow);
	assert_int_equal(only_one(follow)->ring.slots, FT_NCCL_RING_LEAST);
	assert_null(ft_nccl_ring_find(&only_one(follow)->ring, next - 1));
	assert_int_equal(only_one(follow)->lanes[0].next, next);
	pass_data(follow, next, LONG);
	follow_keep(follow);
	assert_int_equal(only_one(follow)->model.messages, next + 1);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* --- set-ups that are read late --- */

static void set_up_late(struct follow *follow)
{
	const struct set_up set_up = {
		.metadata_bytes = 3744, /* 2.29.7: immediates are big-endian */
		.fifo = FIFO_AT,
		.vni = UINT32_MAX,
		.frames = { follow->frame + 1, follow->frame + 9 },
	};

	follow->frame += 9;
	learn_set_up(follow->connections, &set_up);
}

/* The FIFO's slots have not come round yet: how many there are only the set-up tells. */
static void a_late_set_up_tells_how_many_slots_there_are(void **state)
{
	struct follow *follow = go_straight(0);

	(void)state;
	assert_int_equal(only_one(follow)->straight->slots, 0);
	set_up_late(follow);
	assert_false(is_straight(follow));
	assert_int_equal(only_one(follow)->model.fifo.slots, 256);
	assert_int_equal(only_one(follow)->model.version_first, 22907);
	assert_int_equal(only_one(follow)->model.messages, KNOWN + 2);
	pass_messages(follow, KNOWN + 2, 256);
	assert_true(is_straight(follow));
	assert_int_equal(only_one(follow)->straight->slots, 256);
	follow_stop(follow);
}

/* It goes straight through the first slot again, with messages open where the set-up is read. */
static void messages_that_wait_outlast_a_late_set_up(void **state)
{
	static const unsigned opened[] = { 0, 1, 3 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct follow *follow = go_straight(0);
		uint64_t asked[3] = { 0 }, next = KNOWN + 2;

		for (unsigned at = 0; at < opened[i]; at++)
			asked[at] = pass_cts(follow, next + at);
		set_up_late(follow);
		for (unsigned at = 0; at < opened[i]; at++)
			assert_int_equal(remembered(follow, next + at)->message.cts_frame,
					 asked[at]);
		for (unsigned at = 0; at < opened[i]; at++)
			pass_data(follow, next + at, LONG);
		next += opened[i];
		pass_messages(follow, next, 600 - next);
		assert_true(is_straight(follow));
		follow_keep(follow);
		assert_int_equal(only_one(follow)->model.found_by, FT_NCCL_BY_METADATA);
		assert_int_equal(only_one(follow)->model.fifo.slots, 256);
		assert_int_equal(only_one(follow)->model.messages, 600);
		assert_int_equal(only_one(follow)->model.cts, 600);
		assert_int_equal(only_one(follow)->model.missing_packets, 0);
		assert_int_equal(follow->found_count, 0);
		follow_stop(follow);
	}
}

/* In the midst of a write: its end has yet to come. */
static void a_write_under_way_outlasts_a_late_set_up(void **state)
{
	struct follow *follow = go_straight(0);
	struct packet first = data_of(follow, KNOWN + 2, LONG, 0);
	struct packet last = data_of(follow, KNOWN + 2, LONG, 1);
	uint64_t frame;

	pass_cts(follow, KNOWN + 2);
	frame = pass(follow, &first);
	(void)state;
	set_up_late(follow);
	pass(follow, &last);
	follow->data_psn += packets_in(LONG);
	assert_int_equal(remembered(follow, KNOWN + 2)->message.first_frame, frame);
	assert_true(remembered(follow, KNOWN + 2)->message.has_imm);
	assert_int_equal(remembered(follow, KNOWN + 2)->message.packets, 2);
	pass_messages(follow, KNOWN + 3, 3);
	assert_true(is_straight(follow));
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* A FIFO of fewer slots than the set-up says would take a clear-to-send back to its first one: that is none. */
static void a_clear_to_send_in_the_first_slot_again_is_found(void **state)
{
	struct follow *follow = go_straight(0);
	struct packet forged;
	uint64_t frame;

	(void)state;
	set_up_late(follow);
	pass_messages(follow, KNOWN + 2, 64 - KNOWN - 2);
	assert_true(is_straight(follow));
	forged = cts_of(follow, 64);
	forged.va = FIFO_AT;
	frame = pass(follow, &forged);
	follow->cts_psn++;
	pass_messages(follow, 64, 3);
	follow_keep(follow);
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, FT_NCCL_CONTRADICTION);
	assert_int_equal(follow->found[0].frame, frame);
	follow_stop(follow);
}

/* --- more than is counted in 32 bits --- */

/* Its first and its last packet. */
static void pass_ends(struct follow *follow, uint64_t k, uint32_t length)
{
	struct packet first = data_of(follow, k, length, 0);
	struct packet last = data_of(follow, k, length, packets_in(length) - 1);

	pass(follow, &first);
	pass(follow, &last);
	follow->data_psn = ft_psn_add(follow->data_psn, packets_in(length));
}

static void four_gigabytes_are_counted(void **state)
{
	struct follow *follow = go_straight(0);
	uint64_t before, messages = BEYOND / OFFERED + 512; /* slots are counted meanwhile */

	(void)state;
	follow_keep(follow);
	before = only_one(follow)->model.payload_bytes;
	pass_messages(follow, KNOWN + 2, 2);
	assert_true(is_straight(follow));
	for (uint64_t k = KNOWN + 4; k < KNOWN + 4 + messages; k++) {
		pass_cts(follow, k);
		pass_ends(follow, k, OFFERED);
	}
	assert_true(is_straight(follow));
	follow_keep(follow);
	assert_int_equal(only_one(follow)->model.payload_bytes - before,
			 messages * OFFERED + LONG + SHORT);
	follow_stop(follow);
}

/* --- what only the end shows --- */

/* Nothing waits of what is as expected: it goes on, and a report has all of it. */
static void what_goes_straight_has_nothing_to_be_settled(void **state)
{
	struct follow *follow = go_straight(0);

	(void)state;
	pass_messages(follow, KNOWN + 2, 3);
	ft_nccl_connections_settle(follow->connections);
	assert_true(is_straight(follow));
	pass_messages(follow, KNOWN + 5, 3);
	assert_true(is_straight(follow));
	follow_keep(follow);
	assert_false(is_straight(follow));
	assert_int_equal(only_one(follow)->model.messages, KNOWN + 8);
	assert_int_equal(only_one(follow)->model.cts, KNOWN + 8);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* No clear-to-send comes behind it, and none is missing. */
static void a_write_unasked_at_the_end_is_told_once(void **state)
{
	struct follow *follow = go_straight(0);
	struct packet forged;
	uint64_t frame;

	(void)state;
	pass_acknowledgments(follow);
	forged = data_of(follow, KNOWN + 2, SHORT, 0);
	forged.va += UINT64_C(1) << 30;
	frame = pass(follow, &forged);
	assert_false(is_straight(follow));
	assert_int_equal(follow->found_count, 0);
	ft_nccl_connections_settle(follow->connections);
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, FT_NCCL_WRITE_UNASKED);
	assert_int_equal(follow->found[0].frame, frame);
	ft_nccl_connections_settle(follow->connections);
	follow_keep(follow);
	assert_int_equal(follow->found_count, 1);
	follow_stop(follow);
}

/* The clear-to-send that asked for it may be what is missing. */
static void a_write_unasked_is_not_told_where_packets_are_missing(void **state)
{
	struct follow *follow = go_straight(0);
	struct packet forged;

	(void)state;
	pass_acknowledgments(follow);
	forged = data_of(follow, KNOWN + 2, SHORT, 0);
	forged.va += UINT64_C(1) << 30;
	pass(follow, &forged);
	ft_nccl_connections_set_lossy(follow->connections, true);
	ft_nccl_connections_settle(follow->connections);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_go_where_the_last_of_their_number_went),
		cmocka_unit_test(numbers_of_frames_have_more_than_32_bits),
		cmocka_unit_test(messages_stretch_across_the_32_bits),
		cmocka_unit_test(what_is_found_beyond_has_its_whole_number),
		cmocka_unit_test(the_last_message_answered_makes_room_for_those_that_wait),
		cmocka_unit_test(a_late_set_up_tells_how_many_slots_there_are),
		cmocka_unit_test(messages_that_wait_outlast_a_late_set_up),
		cmocka_unit_test(a_write_under_way_outlasts_a_late_set_up),
		cmocka_unit_test(a_clear_to_send_in_the_first_slot_again_is_found),
		cmocka_unit_test(four_gigabytes_are_counted),
		cmocka_unit_test(what_goes_straight_has_nothing_to_be_settled),
		cmocka_unit_test(a_write_unasked_at_the_end_is_told_once),
		cmocka_unit_test(a_write_unasked_is_not_told_where_packets_are_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
