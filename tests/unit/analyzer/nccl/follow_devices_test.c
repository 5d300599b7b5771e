#include "follow_play.h"

#include <string.h>

/* Connections over several devices and queue pairs whose set-up was not seen, by the specification's section 2.4. */

enum { PART = 640, MESSAGES = 40, DEVICES_MOST = 4, LANES_MOST = 16 };

struct shape {
	uint32_t devices, sets;
	bool split;
	uint32_t ahead; /* clear-to-sends, of the data that is sent */
};

struct talk {
	struct follow *follow;
	struct shape shape;
	uint32_t cts_psns[DEVICES_MOST], data_psns[LANES_MOST];
};

static uint32_t lanes_of(const struct talk *talk)
{
	return talk->shape.devices * talk->shape.sets;
}

static uint8_t sender_of(uint32_t device)
{
	return (uint8_t)(device == 0 ? SENDER : 10 + device);
}

static uint8_t receiver_of(uint32_t device)
{
	return (uint8_t)(device == 0 ? RECEIVER : 20 + device);
}

static uint32_t sender_qp(uint32_t lane)
{
	return 0x1111 + 0x357 * lane;
}

static uint32_t receiver_qp(uint32_t lane)
{
	return 0x2345 + 0x1b3 * (LANES_MOST - lane);
}

/* Section 2.3: what Linux makes of both numbers. */
static uint16_t port_of(uint32_t lane)
{
	uint64_t product = (uint64_t)sender_qp(lane) * receiver_qp(lane);

	product ^= product >> 20;
	product ^= product >> 40;
	product &= 0xfffff;
	return (uint16_t)(0xc000 + ((product & 0x3fff) ^ product >> 14));
}

/* The sender acknowledges the newest clear-to-send of a device. */
static void acknowledge_cts(const struct talk *talk, uint32_t device)
{
	follow_packet(talk->follow, &(struct packet){
					    .from = sender_of(device),
					    .to = receiver_of(device),
					    .opcode = 0x11,
					    .qpn = receiver_qp(device),
					    .sport = port_of(device),
					    .psn = talk->cts_psns[device] - 1,
				    });
}

static void ask_next(struct talk *talk, uint64_t k)
{
	struct packet packet = cts_of(talk->follow, k);
	uint32_t device = (uint32_t)(k % talk->shape.devices);

	packet.from = receiver_of(device);
	packet.to = sender_of(device);
	packet.qpn = sender_qp(device);
	packet.sport = port_of(device);
	packet.rkey += device;
	packet.psn = talk->cts_psns[device]++;
	for (uint32_t i = 1; i < talk->shape.devices; i++) {
		memcpy(packet.bytes + 16 + 4 * i, packet.bytes + 16, 4);
		packet.bytes[16 + 4 * i] = (uint8_t)(packet.bytes[16] + i);
	}
	follow_packet(talk->follow, &packet);
	acknowledge_cts(talk, device);
}

static void write_part(struct talk *talk, uint64_t k, uint32_t lane, uint32_t part, uint32_t parts)
{
	uint32_t device = lane % talk->shape.devices;
	struct packet packet = data_of(talk->follow, k, PART, 0);

	packet.from = sender_of(device);
	packet.to = receiver_of(device);
	packet.qpn = receiver_qp(lane);
	packet.sport = port_of(lane);
	packet.psn = talk->data_psns[lane]++;
	packet.va += UINT64_C(640) * part;
	packet.rkey += device;
	packet.immdt = PART * parts;
	follow_packet(talk->follow, &packet);
	follow_packet(talk->follow, &(struct packet){
					    .from = receiver_of(device),
					    .to = sender_of(device),
					    .opcode = 0x11,
					    .qpn = sender_qp(lane),
					    .sport = port_of(lane),
					    .psn = packet.psn,
				    });
}

/* Number of parts. */
static uint32_t answer_next(struct talk *talk, uint64_t k)
{
	uint32_t parts = talk->shape.split ? lanes_of(talk) : talk->shape.devices;

	for (uint32_t part = 0; part < parts; part++)
		write_part(talk, k, (uint32_t)((k * parts + part) % lanes_of(talk)), part, parts);
	return parts;
}

static void has_all_queue_pairs(const struct talk *talk)
{
	const struct ft_nccl_connection *model = talk->follow->kept.connections[0];

	assert_int_equal(model->devices, talk->shape.devices);
	assert_int_equal(model->qps_per_device, talk->shape.sets);
	assert_int_equal(model->qp_count, lanes_of(talk));
	for (uint32_t lane = 0; lane < lanes_of(talk); lane++) {
		uint32_t device = lane % talk->shape.devices;

		assert_int_equal(model->sender.qpns[lane], sender_qp(lane));
		assert_int_equal(model->receiver.qpns[lane], receiver_qp(lane));
		assert_int_equal(model->sender.qp_device[lane], device);
		assert_int_equal(model->receiver.places[device].address[15], receiver_of(device));
	}
}

static void is_followed(const struct shape *shape)
{
	struct talk talk = { .follow = follow_start('E'), .shape = *shape };
	uint32_t parts = 0;

	for (uint64_t k = 0; k < MESSAGES + shape->ahead; k++) {
		if (k < MESSAGES)
			ask_next(&talk, k);
		if (k >= shape->ahead)
			parts = answer_next(&talk, k - shape->ahead);
	}
	follow_keep(talk.follow);
	assert_int_equal(talk.follow->found_count, 0);
	assert_int_equal(talk.follow->kept.connection_count, 1);
	has_all_queue_pairs(&talk);
	assert_int_equal(talk.follow->kept.message_count, MESSAGES);
	for (uint64_t k = 0; k < MESSAGES; k++) {
		assert_int_equal(follow_message(talk.follow, k)->requests[0].written, parts * PART);
		assert_true(follow_message(talk.follow, k)->completed);
	}
	follow_stop(talk.follow);
}

static void devices_and_queue_pairs_are_found_by_what_they_carry(void **state)
{
	static const uint32_t aheads[] = { 0, 1, 2, 4, 7 };
	static const struct shape shapes[] = {
		{ 1, 1, false, 0 }, { 1, 2, false, 0 }, { 1, 2, true, 0 },  { 1, 4, false, 0 },
		{ 1, 4, true, 0 },  { 2, 1, false, 0 }, { 2, 2, false, 0 }, { 2, 2, true, 0 },
		{ 2, 4, false, 0 }, { 2, 4, true, 0 },  { 4, 1, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		for (size_t j = 0; j < sizeof aheads / sizeof *aheads; j++) {
			struct shape shape = shapes[i];

			shape.ahead = aheads[j];
			is_followed(&shape);
		}
	}
}

/* Which message it was of is a guess then, and nothing that is guessed is told as complete. */
static void what_nobody_was_seen_to_ask_for_is_not_complete(void **state)
{
	enum { LOST = 20 };
	static const struct shape shapes[] = {
		{ 1, 2, true, 2 }, { 1, 4, false, 2 }, { 2, 2, false, 2 }, { 2, 2, true, 2 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct talk talk = { .follow = follow_start('E'), .shape = shapes[i] };
		struct follow *follow = talk.follow;

		for (uint64_t k = 0; k < MESSAGES; k++) {
			if (k == LOST)
				talk.cts_psns[k % shapes[i].devices]++;
			else
				ask_next(&talk, k);
			if (k >= shapes[i].ahead)
				answer_next(&talk, k - shapes[i].ahead);
		}
		follow_keep(follow);
		assert_int_equal(follow->found_count, 0);
		for (size_t j = 0; j < follow->kept.message_count; j++)
			assert_true(follow->kept.messages[j].cts_frame != 0 ||
				    !follow->kept.messages[j].completed);
		assert_true(follow_message(follow, LOST - 1)->completed);
		follow_stop(follow);
	}
}

/* In the sequence of the queue pair that begins message k; returns its frame. */
static uint64_t forge(struct talk *talk, uint64_t k, uint64_t va)
{
	uint32_t parts = talk->shape.split ? lanes_of(talk) : talk->shape.devices;
	uint32_t lane = (uint32_t)(k * parts % lanes_of(talk));
	struct packet packet = data_of(talk->follow, k, 64, 0);

	packet.opcode = 0x0a;
	packet.qpn = receiver_qp(lane);
	packet.sport = port_of(lane);
	packet.psn = talk->data_psns[lane]++;
	packet.va = va;
	return follow_packet(talk->follow, &packet);
}

/*
 * Into the buffer of the message that has just been answered, where no clear-to-send asks for more: it is wrong whichever
 * queue pairs share or take turns. Into the one that the next clear-to-send asks for: that may have been overtaken.
 */
static void writes_to_where_a_message_is_over(void **state)
{
	enum { AT = 30, AHEAD = 2 };
	static const struct shape shapes[] = {
		{ 1, 2, false, AHEAD }, { 1, 2, true, AHEAD },  { 1, 4, false, AHEAD },
		{ 1, 4, true, AHEAD },  { 2, 2, false, AHEAD }, { 2, 2, true, AHEAD },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
		const bool is_next = i % 2 != 0;
		struct talk talk = { .follow = follow_start('E'), .shape = shapes[i / 2] };
		uint64_t frame = 0;

		for (uint64_t k = 0; k < MESSAGES; k++) {
			ask_next(&talk, k);
			if (k >= AHEAD)
				answer_next(&talk, k - AHEAD);
			if (k == AT)
				frame = forge(&talk, k - AHEAD,
					      buffer_of(is_next ? k + 1 : k - AHEAD) + 64);
		}
		assert_int_equal(talk.follow->found_count, is_next ? 0 : 1);
		if (!is_next) {
			assert_int_equal(talk.follow->found[0].fault, FT_NCCL_WRITE_UNASKED);
			assert_int_equal(talk.follow->found[0].frame, frame);
		}
		follow_stop(talk.follow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_and_queue_pairs_are_found_by_what_they_carry),
		cmocka_unit_test(what_nobody_was_seen_to_ask_for_is_not_complete),
		cmocka_unit_test(writes_to_where_a_message_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
