#include "follow_play.h"

#include <string.h>

#include "followed.h"

/* What is not NCCL: rings of other libraries, and writes that only look like clear-to-sends. */

static void writes_to_one_address_are_no_connection(void **state)
{
	struct follow *follow = follow_start('E');
	struct packet packet = cts_of(follow, 0);

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		packet.psn = i;
		memset(packet.bytes, (int)i, sizeof packet.bytes);
		follow_packet(follow, &packet);
	}
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, 0);
	assert_int_equal(follow->kept.message_count, 0);
	follow_stop(follow);
}

/* A ring of another library: on a grid, but nothing answers with immediates. */
static void a_ring_alone_is_no_connection(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		struct packet packet = cts_of(follow, i);

		packet.psn = i;
		memset(packet.bytes, 0xa5, sizeof packet.bytes);
		follow_packet(follow, &packet);
	}
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, 0);
	follow_stop(follow);
}

/* As encrypted bytes are: any, and others each time. */
static void encrypt(struct packet *packet, uint32_t seed)
{
	uint32_t value = seed * UINT32_C(2654435761) + 1;

	for (size_t i = 0; i < sizeof packet->bytes; i++) {
		value = value * 1664525 + 1013904223;
		packet->bytes[i] = (uint8_t)(value >> 24);
	}
}

/* A clear-to-send that cannot be read, and what answers it. */
static void ask_unread(struct follow *follow, uint32_t psn, uint64_t va)
{
	struct packet packet = cts_of(follow, 0);

	packet.psn = psn;
	packet.va = va;
	encrypt(&packet, psn);
	follow_packet(follow, &packet);
	answer(follow, psn, 500 + psn % 7 * 100);
}

/* The queue pairs of a connection that ended may be another one's: its ring is elsewhere, and PSNs begin anew. */
static void a_connection_is_not_given_up_for_the_next_one(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		ask_unread(follow, i, FIFO_AT + UINT64_C(512) * i);
	follow->data_psn = 0;
	for (uint32_t i = 0; i < 7; i++)
		ask_unread(follow, i, FIFO_AT + (1 << 20) + UINT64_C(512) * i);
	for (uint32_t i = 1 << 22; i < (1 << 22) + 20; i++)
		ask_unread(follow, i, FIFO_AT + (1 << 20) + UINT64_C(512) * (i % 256 + 1));
	follow_keep(follow);
	assert_true(follow->kept.connection_count >= 1);
	assert_true(follow->kept.connections[0]->cts >= 40);
	follow_stop(follow);
}

/* Lengths alone do where payload is cut off or encrypted, until the ring wraps where no FIFO does. */
static void a_ring_of_another_size_is_no_connection(void **state)
{
	static const struct row {
		uint32_t captured, slots;
		size_t connections;
	} rows[] = { { 0, 256, 1 }, { 4, 256, 1 },  { 64, 256, 1 }, { 64, 64, 1 },
		     { 0, 100, 0 }, { 64, 100, 0 }, { 64, 300, 0 } };

	(void)state;
	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
		struct follow *follow = follow_start('E');

		for (uint32_t i = 0; i < 600; i++) {
			struct packet packet = cts_of(follow, 0);

			packet.psn = i;
			packet.va = FIFO_AT + UINT64_C(512) * (i % rows[row].slots);
			packet.captured = rows[row].captured;
			encrypt(&packet, i);
			follow_packet(follow, &packet);
			answer(follow, i, 500 + i % 7 * 100);
		}
		follow_keep(follow);
		assert_int_equal(follow->kept.connection_count, rows[row].connections);
		follow_stop(follow);
	}
}

/* Two tenants' overlays may have the same addresses, and all numbers and keys alike. */
static void overlays_are_worlds_of_their_own(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	for (uint64_t k = 0; k < 20; k++) {
		uint32_t cts_psn = follow->cts_psn, data_psn = follow->data_psn;

		follow->vni = 201;
		converse(follow, k, 1);
		follow->vni = 202;
		follow->cts_psn = cts_psn;
		follow->data_psn = data_psn;
		converse(follow, k, 1);
	}
	follow_keep(follow);
	assert_int_equal(follow->found_count, 0);
	assert_int_equal(follow->kept.connection_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(follow->kept.connections[i]->messages, 20);
		assert_int_equal(follow->kept.connections[i]->net_count, 1);
		assert_int_equal(follow->kept.connections[i]->nets[0], FT_NCCL_NET_VNI | (201 + i));
	}
	follow_stop(follow);
}

static void each_vlan_that_it_was_seen_in_is_kept(void **state)
{
	static const uint16_t vlans[] = { 0, 30, 0, 20, 30 };
	struct follow *follow = follow_start('E');

	(void)state;
	for (uint64_t k = 0; k < sizeof vlans / sizeof *vlans; k++) {
		follow->vlan = vlans[k];
		converse(follow, k, 1);
	}
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, 1);
	assert_int_equal(follow->kept.connections[0]->net_count, 2);
	assert_int_equal(follow->kept.connections[0]->nets[0], 30);
	assert_int_equal(follow->kept.connections[0]->nets[1], 20);
	follow_stop(follow);
}

/*
 * Clear-to-sends of three messages are missed. What is none, with one of their PSNs or one that is to come, was not sent by the
 * connection; but long after all else it may be another job's, whose set-up and first packets were missed, too.
 */
static void a_job_that_begins_unseen_is_no_fault(void **state)
{
	enum {
		BEFORE = 12,
		MISSED = 3,
		AFTER = 20,
		SOON = 10,
		LONG = 1000001 /* frames, a microsecond each */
	};
	static const struct {
		int32_t psn; /* from the one that comes next on */
		uint64_t pause;
		unsigned found;
	} rows[] = {
		{ -AFTER - 1, SOON, 1 }, { -AFTER - 1, LONG, 0 }, { 5, SOON, 1 },
		{ 5, LONG, 0 },          { 0, LONG, 1 }, /* the receiver takes it */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct follow *follow = follow_start('E');
		struct packet packet;

		converse(follow, 0, BEFORE);
		for (uint64_t k = BEFORE; k < BEFORE + MISSED; k++, follow->cts_psn++)
			answer(follow, k, 4000);
		converse(follow, BEFORE + MISSED, AFTER);
		acknowledge_both(follow);
		follow->family = 'F';
		packet = cts_of(follow, 0);
		packet.va += 0x10000000;
		packet.psn = follow->cts_psn + (uint32_t)rows[i].psn;
		follow->frame += rows[i].pause;
		follow_packet(follow, &packet);
		follow->family = 'E';
		converse(follow, BEFORE + MISSED + AFTER, AFTER);
		follow_keep(follow);
		assert_int_equal(follow->found_count, rows[i].found);
		follow_stop(follow);
	}
}

/* Its data goes the way that clear-to-sends went, and one of its packets has the PSN of the next one. */
static void a_job_that_has_both_ends_soon_is_no_fault(void **state)
{
	enum { BEFORE = 12, PACKETS = 3 };
	struct follow *follow = follow_start('E');
	struct packet packet = { .from = STRANGER,
				 .to = RECEIVER,
				 .opcode = 0x0a,
				 .qpn = RECEIVER_QP,
				 .va = BUFFER_AT + 0x10000000,
				 .rkey = DATA_KEY + 1,
				 .length = 64 };

	(void)state;
	converse(follow, 0, BEFORE);
	acknowledge_both(follow);
	follow_packet(follow, &packet);
	packet.from = RECEIVER;
	packet.to = SENDER;
	packet.qpn = SENDER_QP;
	packet.length = PACKETS * MTU;
	packet.psn = follow->cts_psn - PACKETS + 1;
	for (unsigned i = 0; i < PACKETS; i++, packet.psn++) {
		packet.opcode = (uint8_t)(0x06 + i);
		follow_packet(follow, &packet);
	}
	follow_keep(follow);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

static uint32_t count_remembered(const struct follow *follow)
{
	uint32_t count = 0;

	for (uint32_t at = 0;
	     ft_nccl_stranger_logged(&follow->connections->strangers, &at) != NULL;)
		count++;
	return count;
}

/* docs/nccl.md: of so many queue pairs that are nobody's what is written to them is remembered; a connection is found still. */
static void few_of_many_others_are_remembered_at_a_time(void **state)
{
	enum { OTHERS = 4000, MESSAGES = 12 };
	static const struct {
		bool audits;
		uint32_t remembered;
	} cases[] = { { false, 2048 }, { true, 512 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct ft_nccl_config config = { .connections = 4,
						       .findings = FOUND_MAX,
						       .messages = 64,
						       .ends_only = cases[i].audits };
		struct follow *follow = follow_start_with('E', &config);

		for (uint32_t at = 0; at < OTHERS; at++) {
			struct packet packet = data_of(follow, 0, 64, 0);

			packet.qpn = 1000 + at;
			packet.rkey = at;
			packet.va += UINT64_C(1) << 40;
			packet.opcode = 0x0a;
			packet.length = packet.payload = MTU;
			follow_packet(follow, &packet);
			assert_true(count_remembered(follow) <= cases[i].remembered);
		}
		assert_int_equal(count_remembered(follow), cases[i].remembered);
		converse(follow, 0, MESSAGES);
		follow_keep(follow);
		assert_int_equal(follow->kept.connection_count, 1);
		/* no log was left for what the first one wrote before there was a connection */
		assert_int_equal(follow->kept.connections[0]->messages_told, MESSAGES - 1);
		assert_true(count_remembered(follow) <= cases[i].remembered);
		follow_stop(follow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_to_one_address_are_no_connection),
		cmocka_unit_test(a_ring_alone_is_no_connection),
		cmocka_unit_test(a_connection_is_not_given_up_for_the_next_one),
		cmocka_unit_test(a_ring_of_another_size_is_no_connection),
		cmocka_unit_test(overlays_are_worlds_of_their_own),
		cmocka_unit_test(each_vlan_that_it_was_seen_in_is_kept),
		cmocka_unit_test(a_job_that_begins_unseen_is_no_fault),
		cmocka_unit_test(a_job_that_has_both_ends_soon_is_no_fault),
		cmocka_unit_test(few_of_many_others_are_remembered_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
