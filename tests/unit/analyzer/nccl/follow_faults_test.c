#include "follow_play.h"

#include <string.h>

/* One packet of the connection that does not fit, and what is told of it; and what is no fault. */

enum { BEFORE = 12, AFTER = 6 };

/* Twelve messages, then one that has been asked for. */
static struct follow *start(void)
{
	struct follow *follow = follow_start('E');

	converse(follow, 0, BEFORE);
	ask(follow, BEFORE);
	return follow;
}

/* What is wrong with it is said in these words, which are of nothing else that is. */
static void says(const struct follow *follow, const char *words)
{
	static const char *const all[] = { "under another key", "asked for up to",
					   "not to its slot" };

	for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
		assert_int_equal(strstr(follow->found[0].text, all[i]) != NULL,
				 strcmp(all[i], words) == 0);
}

/* Of message `doubted` it is not told what it came to. */
static void expect_but(struct follow *follow, enum ft_nccl_fault fault, uint64_t frame,
		       uint64_t doubted, const char *words)
{
	answer(follow, BEFORE, 4000);
	converse(follow, BEFORE + 1, AFTER);
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, fault);
	assert_int_equal(follow->found[0].frame, frame);
	assert_int_equal(follow->found[0].connection, 0);
	assert_true(follow->found[0].certainty > 0.5);
	assert_null(strstr(follow->found[0].text, "18a3c5")); /* a key */
	if (words != NULL)
		says(follow, words);
	follow_keep(follow);
	for (uint64_t k = 0; k < BEFORE + 1 + AFTER; k++)
		assert_int_equal(follow_message(follow, k)->completed, k != doubted);
	follow_stop(follow);
}

static void expect(struct follow *follow, enum ft_nccl_fault fault, uint64_t frame)
{
	expect_but(follow, fault, frame, UINT64_MAX, NULL);
}

static void expect_saying(struct follow *follow, enum ft_nccl_fault fault, uint64_t frame,
			  const char *words)
{
	expect_but(follow, fault, frame, UINT64_MAX, words);
}

static void a_write_outside_of_what_was_asked_for(void **state)
{
	static const struct {
		int64_t va;
		uint32_t key;
		const char *words;
	} cases[] = {
		{ 0x40000000, 0, "asked for up to" },     { -1, 0, "asked for up to" },
		{ OFFERED - 32, 0, "asked for up to" },   { 0, 1, "under another key" },
		{ OFFERED - 64, 1, "under another key" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct follow *follow = start();
		struct packet packet = data_of(follow, BEFORE, 64, 0);

		packet.va += (uint64_t)cases[i].va;
		packet.rkey += cases[i].key;
		expect_saying(follow, FT_NCCL_WRITE_OUTSIDE, follow_packet(follow, &packet),
			      cases[i].words);
	}
}

/* What a mirror lost in the midst of a write changes nothing in which message the next one is of. */
static void a_write_outside_soon_after_a_loss_within_a_write(void **state)
{
	static const uint64_t lost[] = { 1 << 1, 1 << 2, 3 << 2, 1 << 1 | 1 << 3 };

	(void)state;
	for (unsigned i = 0; i < sizeof lost / sizeof lost[0]; i++) {
		struct follow *follow = start();
		struct packet packet;

		answer_without(follow, BEFORE, 6000, lost[i]);
		ask(follow, BEFORE + 1);
		packet = data_of(follow, BEFORE + 1, 64, 0);
		packet.va += 0x40000000;
		follow_packet(follow, &packet);
		assert_int_equal(follow->found_count, 1);
		assert_int_equal(follow->found[0].fault, FT_NCCL_WRITE_OUTSIDE);
		assert_int_equal(follow->found[0].frame, follow->frame);
		assert_int_equal(follow->found[0].k, BEFORE + 1);
		follow_stop(follow);
	}
}

/* A PSN that has been sent, with another address. */
static void a_write_outside_dressed_as_sent_again(void **state)
{
	struct follow *follow = start();
	struct packet packet;

	(void)state;
	follow->data_psn -= 2;
	packet = data_of(follow, BEFORE - 1, 64, 0);
	follow->data_psn += 2;
	packet.va += 0x40000000;
	expect(follow, FT_NCCL_WRITE_OUTSIDE, follow_packet(follow, &packet));
}

/* All clear-to-sends are answered; told when the next one comes, and is for something else. */
static void a_write_that_nobody_asked_for(void **state)
{
	static const uint32_t ahead[] = { 0, 1000, 0x400000 };

	(void)state;
	for (unsigned i = 0; i < sizeof ahead / sizeof ahead[0]; i++) {
		struct follow *follow = follow_start('E');
		struct packet packet;
		uint64_t frame;

		converse(follow, 0, BEFORE);
		packet = data_of(follow, BEFORE, 64, 0);
		packet.va += 0x40000000;
		packet.psn += ahead[i];
		frame = follow_packet(follow, &packet);
		assert_int_equal(follow->found_count, 0);
		ask(follow, BEFORE);
		if (ahead[i] == 0) {
			expect(follow, FT_NCCL_WRITE_UNASKED, frame);
			continue;
		}
		answer(follow, BEFORE, 4000);
		converse(follow, BEFORE + 1, AFTER);
		assert_int_equal(follow->found_count, 1);
		assert_int_equal(follow->found[0].fault, FT_NCCL_WRITE_UNASKED);
		assert_int_equal(follow->found[0].frame, frame);
		follow_stop(follow);
	}
}

static void acknowledge(struct follow *follow)
{
	const struct packet of_cts = { .from = SENDER,
				       .to = RECEIVER,
				       .opcode = 0x11,
				       .qpn = RECEIVER_QP,
				       .psn = follow->cts_psn - 1 };

	follow_packet(follow, &of_cts);
}

/* No clear-to-send comes behind it: it is told unless packets are missing that might have been one. */
static void a_write_that_nobody_asked_for_at_the_end(void **state)
{
	(void)state;
	for (unsigned lossy = 0; lossy < 2; lossy++) {
		struct follow *follow = follow_start('E');
		struct packet packet;
		uint64_t frame;

		converse(follow, 0, BEFORE);
		acknowledge(follow);
		packet = data_of(follow, BEFORE, 64, 0);
		packet.va += 0x40000000;
		frame = follow_packet(follow, &packet);
		ft_nccl_connections_set_lossy(follow->connections, lossy != 0);
		follow_keep(follow);
		assert_int_equal(follow->found_count, lossy != 0 ? 0 : 1);
		if (lossy == 0) {
			assert_int_equal(follow->found[0].fault, FT_NCCL_WRITE_UNASKED);
			assert_int_equal(follow->found[0].frame, frame);
		}
		follow_stop(follow);
	}
}

/* From a tap that is far behind: by then later messages have their places. */
static void clear_to_sends_long_after_their_data_are_none(void **state)
{
	enum { LATE = 40 };
	struct follow *follow = follow_start('E');

	(void)state;
	converse(follow, 0, BEFORE);
	for (uint64_t k = BEFORE; k < BEFORE + LATE; k++)
		answer(follow, k, 4000);
	for (uint64_t k = BEFORE; k < BEFORE + LATE; k++)
		ask(follow, k);
	assert_int_equal(follow->found_count, 0);
	follow_keep(follow);
	assert_int_equal(follow->found_count, 0);
	assert_int_equal(follow->kept.connections[0]->cts, BEFORE + LATE);
	follow_stop(follow);
}

static void a_clear_to_send_in_the_wrong_place(void **state)
{
	struct follow *follow = start();
	struct packet packet = cts_of(follow, BEFORE + 1);

	(void)state;
	packet.va += 512;
	expect_saying(follow, FT_NCCL_CONTRADICTION, follow_packet(follow, &packet),
		      "not to its slot");
}

static void a_clear_to_send_with_another_key(void **state)
{
	struct follow *follow = start();
	struct packet packet = cts_of(follow, BEFORE + 1);

	(void)state;
	packet.rkey++;
	expect_saying(follow, FT_NCCL_CONTRADICTION, follow_packet(follow, &packet),
		      "under another key");
}

static void a_clear_to_send_of_another_family(void **state)
{
	struct follow *follow = start();
	struct packet packet;

	(void)state;
	follow->family = 'F';
	packet = cts_of(follow, BEFORE + 1);
	follow->family = 'E';
	expect(follow, FT_NCCL_CONTRADICTION, follow_packet(follow, &packet));
}

/* Behind the first of all, without a set-up: the next ones show that it is none. With its own PSN, or the next one's. */
static void a_clear_to_send_among_the_first(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		const bool has_own_psn = i % 2 != 0;
		struct follow *follow = follow_start('E');
		struct packet packet;
		uint64_t frame;

		ask(follow, 0);
		packet = i < 2 ? clear_to_send('F', 1, 1) : cts_of(follow, i < 4 ? 1 : 0);
		packet.rkey += i / 2 == 1 ? 1 : 0;
		frame = follow_packet(follow, &packet);
		follow->cts_psn += has_own_psn ? 1 : 0;
		answer(follow, 0, 4000);
		converse(follow, 1, BEFORE);
		acknowledge_both(follow);
		assert_int_equal(follow->found_count, 1);
		assert_int_equal(follow->found[0].fault,
				 i < 4 ? FT_NCCL_CONTRADICTION : FT_NCCL_REPLAY);
		assert_int_equal(follow->found[0].frame, frame);
		follow_stop(follow);
	}
}

static void a_clear_to_send_again_with_a_new_psn(void **state)
{
	struct follow *follow = start();
	struct packet packet = cts_of(follow, BEFORE - 3);

	(void)state;
	expect(follow, FT_NCCL_REPLAY, follow_packet(follow, &packet));
}

/* In the place of one that is not remembered; what is sent again is as it was. */
static void a_clear_to_send_under_the_psn_of_one_long_over(void **state)
{
	static const struct {
		unsigned further;
		bool has_other_key;
		enum ft_nccl_fault fault;
	} rows[] = {
		{ 0, false, FT_NCCL_FAULTS },
		{ 0, true, FT_NCCL_CONTRADICTION },
		{ 3, false, FT_NCCL_REPLAY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start('E');
		struct packet packet;
		uint64_t frame;

		converse(follow, 0, 40);
		acknowledge_both(follow);
		packet = clear_to_send('E', 10 + rows[i].further, 10);
		if (rows[i].has_other_key)
			packet.bytes[16] ^= 0x41;
		frame = follow_packet(follow, &packet);
		converse(follow, 40, 3);
		assert_int_equal(follow->found_count, rows[i].fault == FT_NCCL_FAULTS ? 0 : 1);
		if (rows[i].fault != FT_NCCL_FAULTS) {
			assert_int_equal(follow->found[0].fault, rows[i].fault);
			assert_int_equal(follow->found[0].frame, frame);
		}
		follow_stop(follow);
	}
}

/* Of messages to one buffer the one that had its data last is named. */
static void data_again_to_a_buffer_of_several_messages(void **state)
{
	struct follow *follow = start();
	struct packet packet = data_of(follow, BEFORE - 3, 64, 0);

	(void)state;
	follow_packet(follow, &packet);
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, FT_NCCL_REPLAY);
	assert_int_equal(follow->found[0].k, BEFORE - 3);
	follow_stop(follow);
}

static void data_again_with_a_new_psn(void **state)
{
	struct follow *follow = start();
	struct packet packet = data_of(follow, BEFORE - 3, 64, 0);

	(void)state;
	expect(follow, FT_NCCL_REPLAY, follow_packet(follow, &packet));
}

static void an_immediate_that_is_not_the_length(void **state)
{
	static const uint32_t immediates[] = { 701, 0xbc020000 }; /* 700 bytes, the other order */

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct follow *follow = start();
		struct packet packet = data_of(follow, BEFORE, 700, 0);
		uint64_t frame;

		packet.immdt = immediates[i];
		frame = follow_packet(follow, &packet);
		assert_int_equal(follow->found_count, 1);
		assert_int_equal(follow->found[0].fault, FT_NCCL_CONTRADICTION);
		assert_int_equal(follow->found[0].frame, frame);
		follow_stop(follow);
	}
}

/* Two mirror ports: the data is seen before its clear-to-send. */
static void data_before_its_clear_to_send_is_no_fault(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	converse(follow, 0, BEFORE);
	answer(follow, BEFORE, 4000);
	ask(follow, BEFORE);
	converse(follow, BEFORE + 1, AFTER);
	follow_keep(follow);
	assert_int_equal(follow->found_count, 0);
	assert_true(follow_message(follow, BEFORE)->completed);
	assert_true(follow_message(follow, BEFORE)->cts_frame >
		    follow_message(follow, BEFORE)->first_frame);
	follow_stop(follow);
}

/* Every pattern of two packets in the conversation missed. */
/* No set-up tells how many there are: the first two look as if they were all, but that no immediate is what they carry. */
static void four_queue_pairs_without_a_set_up_are_no_fault(void **state)
{
	enum { PARTS = 4, PART = 512, AHEAD = 2, MESSAGES = 10 };
	struct follow *follow = follow_start('E');
	const struct ft_nccl_connection *model;

	(void)state;
	for (uint64_t k = 0; k < AHEAD; k++)
		ask(follow, k);
	for (uint64_t k = 0; k < MESSAGES; k++) {
		for (uint32_t part = 0; part < PARTS; part++)
			follow_packet(follow, &(struct packet){
						      .from = SENDER,
						      .to = RECEIVER,
						      .opcode = 0x0b,
						      .qpn = RECEIVER_QP + part,
						      .psn = (uint32_t)k,
						      .va = buffer_of(k) + part * PART,
						      .rkey = DATA_KEY,
						      .length = PART,
						      .immdt = PARTS * PART,
						      .payload = PART,
					      });
		ask(follow, k + AHEAD);
	}
	follow_keep(follow);
	assert_int_equal(follow->found_count, 0);
	assert_int_equal(follow->kept.connection_count, 1);
	model = follow->kept.connections[0];
	assert_int_equal(model->qp_count, PARTS);
	assert_int_equal(model->split, FT_NCCL_YES);
	for (uint32_t part = 0; part < PARTS; part++)
		assert_int_equal(model->receiver.qpns[part], RECEIVER_QP + part);
	for (uint64_t k = 0; k < MESSAGES; k++) {
		assert_true(follow_message(follow, k)->completed);
		assert_int_equal(follow_message(follow, k)->requests[0].written, PARTS * PART);
	}
	follow_stop(follow);
}

/* Two devices, four queue pairs on each that take turns: which belong together is a guess, and no ground for blame. */
static void turns_of_two_devices_are_no_fault(void **state)
{
	enum { DEVICES = 2, SETS = 4, PART = 512, AHEAD = 2, MESSAGES = 24, OTHERS = 100 };
	static const uint8_t senders[] = { SENDER, 4 }, receivers[] = { RECEIVER, 5 };
	struct follow *follow = follow_start('E');
	uint32_t psns[DEVICES] = { 0 };

	(void)state;
	for (uint64_t k = 0; k < MESSAGES + AHEAD; k++) {
		struct packet cts = cts_of(follow, k);
		const unsigned to = (unsigned)(k % DEVICES);

		cts.from = receivers[to];
		cts.to = senders[to];
		cts.qpn += to * OTHERS;
		cts.rkey += to;
		cts.psn = psns[to]++;
		memcpy(cts.bytes + 20, cts.bytes + 16, 4); /* the second device's key */
		cts.bytes[20]++;
		follow_packet(follow, &cts);
		for (unsigned device = 0; k >= AHEAD && device < DEVICES; device++)
			follow_packet(follow, &(struct packet){
						      .from = senders[device],
						      .to = receivers[device],
						      .opcode = 0x0b,
						      .qpn = RECEIVER_QP + device * OTHERS +
							     (uint32_t)((k - AHEAD) % SETS),
						      .psn = (uint32_t)((k - AHEAD) / SETS),
						      .va = buffer_of(k - AHEAD) + device * PART,
						      .rkey = DATA_KEY + device,
						      .length = PART,
						      .immdt = DEVICES * PART,
						      .payload = PART,
					      });
	}
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

static void loss_is_no_fault(void **state)
{
	enum { MESSAGES = 12, PACKETS = 3, ALL = MESSAGES * (PACKETS + 1) };

	(void)state;
	for (unsigned a = 0; a < ALL; a++) {
		for (unsigned b = a; b < ALL; b++) {
			struct follow *follow = follow_start('E');
			unsigned at = 0;

			for (uint64_t k = 0; k < MESSAGES; k++) {
				if (at != a && at != b)
					ask(follow, k);
				else
					follow->cts_psn++;
				at++;
				for (uint32_t i = 0; i < PACKETS; i++, at++) {
					struct packet packet = data_of(follow, k, 3000, i);

					if (at != a && at != b)
						follow_packet(follow, &packet);
				}
				follow->data_psn += PACKETS;
			}
			follow_keep(follow);
			assert_int_equal(follow->found_count, 0);
			follow_stop(follow);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_outside_of_what_was_asked_for),
		cmocka_unit_test(a_write_outside_soon_after_a_loss_within_a_write),
		cmocka_unit_test(a_write_outside_dressed_as_sent_again),
		cmocka_unit_test(a_write_that_nobody_asked_for),
		cmocka_unit_test(a_write_that_nobody_asked_for_at_the_end),
		cmocka_unit_test(clear_to_sends_long_after_their_data_are_none),
		cmocka_unit_test(a_clear_to_send_in_the_wrong_place),
		cmocka_unit_test(a_clear_to_send_with_another_key),
		cmocka_unit_test(a_clear_to_send_of_another_family),
		cmocka_unit_test(a_clear_to_send_among_the_first),
		cmocka_unit_test(a_clear_to_send_again_with_a_new_psn),
		cmocka_unit_test(a_clear_to_send_under_the_psn_of_one_long_over),
		cmocka_unit_test(data_again_to_a_buffer_of_several_messages),
		cmocka_unit_test(data_again_with_a_new_psn),
		cmocka_unit_test(an_immediate_that_is_not_the_length),
		cmocka_unit_test(data_before_its_clear_to_send_is_no_fault),
		cmocka_unit_test(four_queue_pairs_without_a_set_up_are_no_fault),
		cmocka_unit_test(turns_of_two_devices_are_no_fault),
		cmocka_unit_test(loss_is_no_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
