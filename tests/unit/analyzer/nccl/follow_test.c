#include "follow_play.h"

#include <string.h>

/* Connections found by what they carry, and messages under loss and retransmission. */

static const struct ft_nccl_connection *only_one(const struct follow *follow)
{
	assert_int_equal(follow->kept.connection_count, 1);
	return follow->kept.connections[0];
}

static void two_clear_to_sends_are_a_connection(void **state)
{
	(void)state;
	for (const char *family = "BCDEF"; *family != '\0'; family++) {
		struct follow *follow = follow_start(*family);
		const struct ft_nccl_connection *connection;

		ask(follow, 0);
		follow_keep(follow);
		assert_int_equal(follow->kept.connection_count, 0);
		ask(follow, 1);
		follow_keep(follow);
		connection = only_one(follow);
		assert_int_equal(connection->cts, 2);
		assert_true(connection->has_family);
		assert_int_equal(ft_nccl_family_letter(connection->family), *family);
		assert_int_equal(connection->fifo.addr, FIFO_AT);
		assert_int_equal(connection->sender.qpns[0], SENDER_QP);
		assert_int_equal(connection->receiver.qpns[0], FT_NCCL_NONE);
		assert_int_equal(connection->found_by, FT_NCCL_BY_CTS);
		assert_int_equal(follow->contact_count, 1);
		follow_stop(follow);
	}
}

static void family_a_takes_three(void **state)
{
	struct follow *follow = follow_start('A');

	(void)state;
	ask(follow, 0);
	ask(follow, 1);
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, 0);
	ask(follow, 2);
	follow_keep(follow);
	assert_int_equal(only_one(follow)->cts, 3);
	follow_stop(follow);
}

static void messages_are_asked_for_and_answered(void **state)
{
	struct follow *follow = follow_start('F');
	const struct ft_nccl_message *message;
	uint64_t asked, last;

	(void)state;
	converse(follow, 0, 4);
	asked = ask(follow, 4);
	last = answer(follow, 4, 5000);
	follow_keep(follow);
	message = follow_message(follow, 4);
	assert_int_equal(message->cts_frame, asked);
	assert_int_equal(message->first_frame, asked + 1);
	assert_int_equal(message->last_frame, last);
	assert_int_equal(message->packets, 5);
	assert_true(message->completed);
	assert_memory_equal(message->imm, "\0\0\x13\x88", 4);
	assert_int_equal(message->request_count, 1);
	assert_int_equal(message->requests[0].offered, OFFERED);
	assert_int_equal(message->requests[0].written, 5000);
	assert_int_equal(message->requests[0].va, buffer_of(4));
	assert_int_equal(message->requests[0].tag, TAG);
	assert_int_equal(message->parts[0].bytes, 5000);
	assert_int_equal(only_one(follow)->imm_order, FT_NCCL_ORDER_BIG);
	assert_int_equal(only_one(follow)->imm_content, FT_NCCL_IMM_LENGTH);
	assert_int_equal(only_one(follow)->receiver.qpns[0], RECEIVER_QP);
	follow_stop(follow);
}

/* Also those before the second clear-to-send, by which the connection was found. */
static void the_first_message_is_not_lost(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	ask(follow, 0);
	answer(follow, 0, 3000);
	ask(follow, 1);
	follow_keep(follow);
	assert_int_equal(follow_message(follow, 0)->first_frame, 2);
	assert_int_equal(follow_message(follow, 0)->last_frame, 4);
	assert_true(follow_message(follow, 0)->completed);
	assert_int_equal(follow_message(follow, 1)->first_frame, 0);
	follow_stop(follow);
}

static void numbers_go_on_when_slots_and_psns_wrap(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	follow->cts_psn = 0xffff00;
	follow->data_psn = 0xffff80;
	converse(follow, 1000, 8);
	acknowledge_both(follow);
	converse(follow, 1008, 592);
	follow_keep(follow);
	assert_int_equal(follow->kept.message_count, 600);
	for (uint64_t k = 1000; k < 1600; k++)
		assert_true(follow_message(follow, k)->completed);
	assert_int_equal(only_one(follow)->fifo.addr, FIFO_AT);
	assert_int_equal(only_one(follow)->fifo.slots, 256);
	assert_int_equal(only_one(follow)->missing_packets, 0);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

static void a_clear_to_send_missed_parks_its_data(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	converse(follow, 0, 5);
	follow->cts_psn++;
	answer(follow, 5, 4000);
	converse(follow, 6, 5);
	follow_keep(follow);
	assert_int_equal(follow_message(follow, 5)->cts_frame, 0);
	assert_int_equal(follow_message(follow, 5)->requests[0].written, 4000);
	assert_false(follow_message(follow, 5)->requests[0].has_offered);
	assert_true(follow_message(follow, 10)->completed);
	assert_int_equal(only_one(follow)->missing_packets, 1);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* What the specification (section 15) says of a connection's bytes: they are those of its messages. */
static void counts_all_that_was_written(const struct follow *follow)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < follow->kept.message_count; i++)
		sum += follow->kept.messages[i].requests[0].written;
	assert_int_equal(only_one(follow)->payload_bytes, sum);
}

/* A clear-to-send of family C for three requests (section 3.1), each in a buffer of its own. */
static void ask_for_three(struct follow *follow, uint64_t k)
{
	struct packet packet = cts_of(follow, k);

	packet.bytes[16] = 3;
	for (uint32_t i = 1; i < 3; i++) {
		memcpy(packet.bytes + 32 * i, packet.bytes, 32);
		packet.bytes[32 * i + 3] = (uint8_t)(packet.bytes[3] + i);
	}
	packet.length = packet.captured = packet.payload = 3 * 32;
	follow->cts_psn++;
	follow_packet(follow, &packet);
}

/* As 2.13 to 2.19 answer it (section 3.3): a write for each, empty ones too, then nothing with the bits of those that are not. */
static struct packet part_of_three(const struct follow *follow, uint64_t k, const uint32_t *lengths,
				   uint32_t immdt, uint32_t i)
{
	struct packet packet = data_of(follow, k, i < 3 ? lengths[i] : 0, 0);

	packet.opcode = i < 3 ? 0x0a : 0x0b;
	packet.psn += i;
	packet.va = i < 3 ? packet.va + ((uint64_t)i << 24) : 0;
	packet.rkey = i < 3 ? packet.rkey : 0;
	packet.immdt = i < 3 ? 0 : immdt;
	return packet;
}

static void answer_three(struct follow *follow, uint64_t k, const uint32_t *lengths, uint32_t immdt,
			 uint32_t missing)
{
	for (uint32_t i = 0; i < 4; i++) {
		struct packet packet = part_of_three(follow, k, lengths, immdt, i);

		if (i != missing)
			follow_packet(follow, &packet);
	}
	follow->data_psn += 4;
}

/* Each range is a request where all of the message was seen, and the immediate agrees; else nobody knows how many there are. */
static void without_a_clear_to_send_each_range_is_a_request(void **state)
{
	enum { NONE = 4, MISSED = 4 };
	static const uint32_t lengths[3] = { 700, 0, 300 };
	static const struct row {
		uint32_t immdt, missing;
		bool told;
	} rows[] = {
		{ 0x05000000, NONE, true },  { 0x01000100, NONE, true }, /* of 2.12: bytes */
		{ 0x07000000, NONE, false }, { 0x05000000, 0, false },
		{ 0x05000000, 1, false },    { 0x05000000, 3, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start('C');
		const struct ft_nccl_message *message;

		for (uint64_t k = 0; k < 8; k++) {
			if (k == MISSED)
				follow->cts_psn++;
			else
				ask_for_three(follow, k);
			answer_three(follow, k, lengths, k == MISSED ? rows[i].immdt : 0x05000000,
				     k == MISSED ? rows[i].missing : NONE);
		}
		follow_keep(follow);
		for (size_t j = 0; j < follow->kept.message_count; j++)
			if (follow->kept.messages[j].cts_frame == 0)
				assert_int_equal(follow->kept.messages[j].request_count,
						 rows[i].told ? 3 : 1);
		message = rows[i].told ? follow_message(follow, MISSED) : NULL;
		for (uint32_t j = 0; message != NULL && j < 3; j++) {
			const struct ft_nccl_request *request = &message->requests[j];

			assert_true(request->has_written);
			assert_false(request->has_offered || request->has_tag);
			assert_int_equal(request->written, lengths[j]);
			assert_int_equal(request->va, buffer_of(MISSED) + ((uint64_t)j << 24));
		}
		follow_stop(follow);
	}
}

/* Of several requests, too, neighbours may change places: the first ones are of no other message. */
static void several_requests_may_be_overtaken(void **state)
{
	static const uint32_t lengths[3] = { 700, 600, 300 };

	(void)state;
	for (uint32_t later = 0; later < 2; later++) {
		struct follow *follow = follow_start('C');
		const struct ft_nccl_message *message;

		for (uint64_t k = 0; k < 5; k++) {
			ask_for_three(follow, k);
			for (uint32_t i = 0; i < 4; i++) {
				const bool is_late = k == 4 && (i == later || i == later + 1);
				const uint32_t at = is_late ? 2 * later + 1 - i : i;
				struct packet packet =
					part_of_three(follow, k, lengths, 0x07000000, at);

				follow_packet(follow, &packet);
			}
			follow->data_psn += 4;
		}
		follow_keep(follow);
		message = follow_message(follow, 4);
		assert_true(message->completed);
		assert_int_equal(message->packets, 4);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(message->requests[i].written, lengths[i]);
		follow_stop(follow);
	}
}

static void any_packet_may_be_missed(void **state)
{
	(void)state;
	for (uint32_t missed = 0; missed < 4; missed++) {
		struct follow *follow = follow_start('E');
		const struct ft_nccl_message *message;

		converse(follow, 0, 5);
		ask(follow, 5);
		answer_without(follow, 5, 4000, UINT64_C(1) << missed);
		converse(follow, 6, 5);
		follow_keep(follow);
		message = follow_message(follow, 5);
		assert_int_equal(message->packets, 3);
		assert_int_equal(message->requests[0].written, 4000);
		assert_int_equal(message->part_count, 1);
		assert_true(message->parts[0].has_bytes);
		assert_int_equal(message->parts[0].bytes, 4000);
		counts_all_that_was_written(follow);
		follow_keep(follow);
		counts_all_that_was_written(follow);
		converse(follow, 11, 100); /* out of the ring */
		follow_keep(follow);
		counts_all_that_was_written(follow);
		message = follow_message(follow, 5);
		assert_int_equal(message->parts[0].bytes, 4000);
		assert_false(message->completed);
		assert_true(follow_message(follow, 6)->completed);
		assert_true(follow_message(follow, 10)->completed);
		assert_int_equal(only_one(follow)->missing_packets, 1);
		assert_int_equal(follow->found_count, 0);
		follow_stop(follow);
	}
}

static void what_is_sent_again_counts_once(void **state)
{
	struct follow *follow = follow_start('E');
	struct packet cts;
	uint64_t last;

	(void)state;
	converse(follow, 0, 5);
	cts = cts_of(follow, 5);
	ask(follow, 5);
	follow_packet(follow, &cts);
	last = answer(follow, 5, 4000);
	follow->data_psn -= 4;
	answer(follow, 5, 4000);
	follow_keep(follow);
	assert_int_equal(only_one(follow)->retransmitted_cts, 1);
	assert_int_equal(only_one(follow)->retransmitted_data, 4);
	assert_int_equal(follow_message(follow, 5)->packets, 4);
	assert_int_equal(follow_message(follow, 5)->last_frame, last);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* The network lost one packet, the sender goes back to it. */
static void go_back_n_fills_the_hole(void **state)
{
	(void)state;
	for (uint32_t lost = 0; lost < 4; lost++) {
		struct follow *follow = follow_start('E');
		uint64_t filled = 0;

		converse(follow, 0, 5);
		ask(follow, 5);
		answer_without(follow, 5, 4000, UINT64_C(1) << lost);
		follow->data_psn -= 4;
		for (uint32_t i = lost; i < 4; i++) {
			struct packet packet = data_of(follow, 5, 4000, i);
			uint64_t frame = follow_packet(follow, &packet);

			filled = i == lost ? frame : filled;
		}
		follow->data_psn += 4;
		converse(follow, 6, 5);
		follow_keep(follow);
		assert_true(follow_message(follow, 5)->completed);
		assert_int_equal(follow_message(follow, 5)->packets, 4);
		assert_int_equal(follow_message(follow, 5)->last_frame, filled);
		assert_int_equal(only_one(follow)->retransmitted_data, 3 - lost);
		assert_int_equal(only_one(follow)->missing_packets, 0);
		assert_int_equal(follow->found_count, 0);
		follow_stop(follow);
	}
}

/* A process starts again: PSNs and numbers begin anew, in another FIFO. */
static void another_fifo_is_another_connection(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	converse(follow, 0, 20);
	follow->cts_psn = follow->data_psn = 0;
	for (uint64_t k = 0; k < 8; k++) {
		struct packet packet = cts_of(follow, k);

		packet.va += 0x1000000;
		packet.rkey++;
		follow->cts_psn++;
		follow_packet(follow, &packet);
		answer(follow, k, 3000);
	}
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, 2);
	assert_int_equal(follow->kept.connections[0]->messages, 20);
	assert_int_equal(follow->kept.connections[1]->cts, 8);
	assert_in_range(follow->kept.connections[1]->messages, 6, 8);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

static void no_more_connections_than_configured(void **state)
{
	struct ft_nccl_config config = FT_NCCL_DEFAULTS;
	struct follow *follow;

	(void)state;
	config.connections = 1;
	follow = follow_start_with('E', &config);
	converse(follow, 0, 3);
	for (uint64_t k = 0; k < 3; k++) {
		struct packet packet = cts_of(follow, k);

		packet.qpn = 99;
		packet.psn = (uint32_t)k;
		packet.va += 0x10000000;
		follow_packet(follow, &packet);
	}
	follow_keep(follow);
	assert_int_equal(only_one(follow)->sender.qpns[0], SENDER_QP);
	assert_true(follow->kept.connections_dropped >= 1);
	follow_stop(follow);
}

static void no_more_messages_than_configured(void **state)
{
	struct ft_nccl_config config = FT_NCCL_DEFAULTS;
	struct follow *follow;

	(void)state;
	config.messages = 10;
	follow = follow_start_with('E', &config);
	converse(follow, 0, 300);
	follow_keep(follow);
	assert_int_equal(only_one(follow)->messages, 300);
	assert_int_equal(follow->kept.message_count + follow->kept.messages_dropped, 300);
	assert_true(follow->kept.message_count <= 10 + 64);
	follow_stop(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_clear_to_sends_are_a_connection),
		cmocka_unit_test(family_a_takes_three),
		cmocka_unit_test(messages_are_asked_for_and_answered),
		cmocka_unit_test(the_first_message_is_not_lost),
		cmocka_unit_test(numbers_go_on_when_slots_and_psns_wrap),
		cmocka_unit_test(a_clear_to_send_missed_parks_its_data),
		cmocka_unit_test(without_a_clear_to_send_each_range_is_a_request),
		cmocka_unit_test(several_requests_may_be_overtaken),
		cmocka_unit_test(any_packet_may_be_missed),
		cmocka_unit_test(what_is_sent_again_counts_once),
		cmocka_unit_test(go_back_n_fills_the_hole),
		cmocka_unit_test(another_fifo_is_another_connection),
		cmocka_unit_test(no_more_connections_than_configured),
		cmocka_unit_test(no_more_messages_than_configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
