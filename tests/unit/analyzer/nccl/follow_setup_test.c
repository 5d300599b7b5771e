#include "follow_play.h"

#include <string.h>

/* Connections whose set-up over TCP was read. */

static const struct ft_nccl_connection *only_one(const struct follow *follow)
{
	assert_int_equal(follow->kept.connection_count, 1);
	return follow->kept.connections[0];
}

static void set_up_with(struct follow *follow, uint64_t fifo, uint32_t metadata_bytes)
{
	const struct set_up set_up = {
		.metadata_bytes = metadata_bytes,
		.fifo = fifo,
		.vni = follow->vni != 0 ? follow->vni : UINT32_MAX,
		.frames = { follow->frame + 1, follow->frame + 9 },
	};

	follow->frame += 9;
	follow->cts_psn = follow->data_psn = 0;
	learn_set_up(follow->connections, &set_up);
}

static void set_up(struct follow *follow, uint64_t fifo)
{
	set_up_with(follow, fifo, 3576); /* 2.24 and 2.25 */
}

static void a_set_up_tells_all_at_once(void **state)
{
	struct follow *follow = follow_start('E');
	const struct ft_nccl_connection *connection;

	(void)state;
	set_up(follow, FIFO_AT);
	follow_keep(follow);
	connection = only_one(follow);
	assert_int_equal(connection->found_by, FT_NCCL_BY_METADATA);
	assert_int_equal(connection->sender.qpns[0], SENDER_QP);
	assert_int_equal(connection->receiver.qpns[0], RECEIVER_QP);
	assert_int_equal(connection->fifo.addr, FIFO_AT);
	assert_int_equal(connection->fifo.slots, 256);
	assert_int_equal(connection->sizes.addr, 0x1000);
	assert_int_equal(connection->sizes.slot_bytes, 32);
	assert_int_equal(connection->version_first, 22403);
	assert_int_equal(connection->version_last, 22501);
	ask(follow, 0);
	answer(follow, 0, 3000);
	follow_keep(follow);
	assert_true(follow_message(follow, 0)->completed);
	follow_stop(follow);
}

/* 552 bytes of metadata: of family B, with 8 slots, or C, with 64. The first clear-to-send tells, whichever it is. */
static void a_family_may_be_known_late(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 100; first += 9) {
		struct follow *follow = follow_start('B');
		const struct ft_nccl_connection *connection;

		set_up_with(follow, FIFO_AT, 552);
		follow->cts_psn = (uint32_t)first;
		follow->data_psn = (uint32_t)first * 4;
		converse(follow, first, 5);
		follow_keep(follow);
		connection = only_one(follow);
		assert_int_equal(connection->found_by, FT_NCCL_BY_METADATA);
		assert_true(connection->has_family);
		assert_int_equal(connection->family, FT_NCCL_B);
		assert_int_equal(connection->fifo.slots, 8);
		assert_int_equal(connection->cts, 5);
		assert_int_equal(connection->messages, 5);
		assert_int_equal(follow->found_count, 0);
		follow_stop(follow);
	}
}

/* Queue pairs are numbered anew when a process starts again. */
static void another_set_up_is_another_connection(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	set_up(follow, FIFO_AT);
	converse(follow, 0, 20);
	set_up(follow, FIFO_AT);
	converse(follow, 0, 3);
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, 2);
	assert_int_equal(follow->kept.connections[0]->messages, 20);
	assert_int_equal(follow->kept.connections[1]->messages, 3);
	assert_int_equal(follow->kept.connections[1]->retransmitted_data, 0);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* Tenants of two overlays may have the same addresses, queue pairs and numbers. */
static void set_ups_in_two_overlays_are_two_connections(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	follow->vni = 202;
	set_up(follow, FIFO_AT);
	follow->vni = 201;
	set_up(follow, FIFO_AT);
	converse(follow, 0, 20);
	follow->vni = 202;
	follow->cts_psn = follow->data_psn = 0;
	converse(follow, 0, 3);
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, 2);
	assert_int_equal(follow->kept.connections[0]->messages, 3);
	assert_int_equal(follow->kept.connections[1]->messages, 20);
	assert_int_equal(follow->kept.connections[1]->retransmitted_data, 0);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* TCP may go another way than RDMA: its overlay is none of RDMA's. */
static void a_set_up_in_another_overlay_will_do(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	follow->vni = 9;
	set_up(follow, FIFO_AT);
	follow->vni = 201;
	converse(follow, 0, 20);
	follow->vni = 9;
	set_up(follow, FIFO_AT);
	follow->vni = 201;
	converse(follow, 0, 3);
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, 2);
	assert_int_equal(follow->kept.connections[0]->messages, 20);
	assert_int_equal(follow->kept.connections[1]->messages, 3);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* Ports were merged: what was sent first is seen last. */
static void a_set_up_may_be_seen_late(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	converse(follow, 0, 5);
	set_up(follow, FIFO_AT);
	follow_keep(follow);
	assert_int_equal(only_one(follow)->found_by, FT_NCCL_BY_METADATA);
	assert_int_equal(only_one(follow)->messages, 5);
	follow_stop(follow);
}

/* The set-up of the connection, or of another with such queue pairs, cut off. */
static void set_up_cut(struct follow *follow, uint8_t from, uint32_t qpn, uint32_t bytes)
{
	static const uint8_t prefix[16] = { [10] = 0xff, 0xff, 10 };
	struct ft_nccl_cut_exchange exchange = {
		.tcp = { .vni = follow->vni != 0 ? follow->vni : UINT32_MAX,
			 .vlan = follow->vlan,
			 .connecting_port = 40000,
			 .listening_port = 50000,
			 .frames = { follow->frame + 1, follow->frame + 9 } },
		.form = ft_nccl_form_find(bytes),
		.sender_qpn = qpn,
		.receiver_qpn = RECEIVER_QP,
	};

	memcpy(exchange.tcp.connecting.address, prefix, sizeof prefix);
	memcpy(exchange.tcp.listening.address, prefix, sizeof prefix);
	exchange.tcp.connecting.address[15] = from;
	exchange.tcp.listening.address[15] = RECEIVER;
	follow->frame += 9;
	ft_nccl_connections_learn_cut(follow->connections, &exchange);
}

static void a_cut_set_up_is_that_of_its_queue_pairs(void **state)
{
	struct follow *follow = follow_start('C');
	const struct ft_nccl_connection *connection;

	(void)state;
	set_up_cut(follow, STRANGER, SENDER_QP, 2600);
	set_up_cut(follow, SENDER, SENDER_QP + 1, 2600);
	set_up_cut(follow, SENDER, SENDER_QP, 552);
	converse(follow, 0, 5);
	follow_keep(follow);
	connection = only_one(follow);
	assert_int_equal(connection->found_by, FT_NCCL_BY_METADATA);
	assert_true(connection->has_tcp);
	assert_int_equal(connection->tcp_frames[0], 19);
	assert_int_equal(connection->fifo.slots, 64);
	assert_int_equal(connection->version_first, 21207);
	assert_int_equal(connection->version_last, 21806);
	follow_stop(follow);
}

static void a_cut_set_up_may_be_seen_late(void **state)
{
	struct follow *follow = follow_start('E');

	(void)state;
	follow->frame = 10;
	converse(follow, 0, 5);
	follow->frame = 5;
	set_up_cut(follow, SENDER, SENDER_QP, 3648);
	follow_keep(follow);
	assert_true(only_one(follow)->has_tcp);
	assert_int_equal(only_one(follow)->version_first, 22902); /* by its immediates */
	follow_stop(follow);
}

/* Queue pairs of later processes, of two devices behind one TCP address, in another network, of another family. */
static void a_cut_set_up_that_may_be_of_another_is_left(void **state)
{
	static const struct {
		const char *sentence;
		bool before, again, tagged;
		uint32_t vni, bytes;
	} rows[] = {
		{ "two set-ups that fit", true, true, false, 0, 3648 },
		{ "a set-up after the connection began", false, false, false, 0, 3648 },
		{ "in an overlay", true, false, false, 7, 3648 },
		{ "of another VLAN", true, false, true, 0, 3648 },
		{ "of another family", true, false, false, 0, 4576 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start('E');

		follow->vni = rows[i].vni;
		follow->vlan = rows[i].tagged ? 5 : 0;
		for (unsigned j = 0; rows[i].before && j < (rows[i].again ? 2 : 1); j++)
			set_up_cut(follow, SENDER, SENDER_QP, rows[i].bytes);
		follow->vni = 0;
		follow->vlan = rows[i].tagged ? 6 : 0;
		converse(follow, 0, 5);
		if (!rows[i].before)
			set_up_cut(follow, SENDER, SENDER_QP, rows[i].bytes);
		follow_keep(follow);
		if (only_one(follow)->has_tcp || only_one(follow)->found_by != FT_NCCL_BY_CTS)
			fail_msg("%s", rows[i].sentence);
		follow_stop(follow);
	}
}

/* The first one shows at once how the connection has them: what was told of it is held against the set-up. */
static void a_first_clear_to_send_that_the_set_up_contradicts(void **state)
{
	static const struct {
		int64_t ahead;
		uint32_t key;
		const char *text;
	} rows[] = {
		{ 0, 1,
		  "a clear-to-send for message 0 goes to 0x7f10a0002000 under another key than the "
		  "FIFO's" },
		{ 512, 1,
		  "a clear-to-send for message 0 goes to 0x7f10a0002200 under another key than the "
		  "FIFO's" },
		{ 512, 0,
		  "a clear-to-send for message 0 goes to 0x7f10a0002200, not to its slot of the "
		  "FIFO at 0x7f10a0002000" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start('E');
		struct packet first;

		set_up(follow, FIFO_AT);
		first = cts_of(follow, 0);
		first.va += (uint64_t)rows[i].ahead;
		first.rkey += rows[i].key;
		follow_packet(follow, &first);
		converse(follow, 0, 3);
		assert_int_equal(follow->found_count, 1);
		assert_int_equal(follow->found[0].fault, FT_NCCL_CONTRADICTION);
		assert_string_equal(follow->found[0].text, rows[i].text);
		follow_stop(follow);
	}
}

/* Its numbers are forged: what its hosts send on others is theirs. Once its own are in use, others' writes to the FIFO are told. */
static void queue_pairs_that_a_set_up_does_not_name(void **state)
{
	static const struct {
		unsigned own; /* clear-to-sends before those of another queue pair */
		uint8_t from;
		unsigned told;
	} cases[] = {
		{ 0, RECEIVER, 0 },
		{ 2, RECEIVER, 1 },
		{ 0, STRANGER, 1 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct follow *follow = follow_start('E');
		struct packet packet;
		uint64_t frame = 0;

		learn_set_up(follow->connections,
			     &(struct set_up){ .metadata_bytes = 3648, .fifo = FIFO_AT });
		converse(follow, 0, cases[i].own);
		packet = cts_of(follow, cases[i].own);
		packet.from = cases[i].from;
		packet.qpn = SENDER_QP + 40;
		frame = follow_packet(follow, &packet);
		assert_int_equal(follow->found_count, cases[i].told);
		if (cases[i].told != 0) {
			assert_int_equal(follow->found[0].fault, FT_NCCL_SECOND_WRITER);
			assert_int_equal(follow->found[0].frame, frame);
		}
		follow_stop(follow);
	}
}

/* One of two queue pairs' shares of message k, or what goes to another one there. */
static uint64_t show_share(struct follow *follow, uint64_t k, uint32_t qpn, uint32_t share)
{
	enum { SHARE = 512, SHARES = 2 };
	const struct packet packet = {
		.from = SENDER,
		.to = RECEIVER,
		.opcode = 0x0b,
		.qpn = qpn,
		.psn = (uint32_t)k,
		.va = buffer_of(k) + (uint64_t)share * SHARE,
		.rkey = DATA_KEY,
		.length = SHARE,
		.immdt = SHARES * SHARE,
		.payload = SHARE,
	};

	return follow_packet(follow, &packet);
}

/*
 * Likewise where two queue pairs share messages. What comes before data on both may be one's of them, which is named wrong; it is
 * none if both have theirs.
 */
static void one_of_two_queue_pairs_that_a_set_up_does_not_name(void **state)
{
	enum { OTHER = RECEIVER_QP + 40, SECOND = RECEIVER_QP + 2, MESSAGES = 6 };
	static const struct {
		uint32_t second;         /* what has the second shares */
		uint32_t metadata_bytes; /* 2.27 names those that there are; 2.24 may name more */
		bool is_late;            /* the other one writes behind both shares */
		unsigned told;
	} cases[] = {
		{ SECOND, 3648, false, 1 }, { SECOND, 3648, true, 1 }, { OTHER, 3648, false, 0 },
		{ SECOND, 3576, false, 1 }, { SECOND, 3576, true, 1 }, { OTHER, 3576, false, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct follow *follow = follow_start('E');
		uint64_t frame = 0;

		learn_set_up(follow->connections,
			     &(struct set_up){ .queue_pairs = 2,
					       .metadata_bytes = cases[i].metadata_bytes,
					       .fifo = FIFO_AT });
		ask(follow, 0);
		show_share(follow, 0, RECEIVER_QP, 0);
		if (!cases[i].is_late && cases[i].told != 0)
			frame = show_share(follow, 0, OTHER, 0);
		assert_int_equal(follow->found_count, 0);
		show_share(follow, 0, cases[i].second, 1);
		if (cases[i].is_late)
			frame = show_share(follow, 0, OTHER, 0);
		for (uint64_t k = 1; k < MESSAGES; k++) {
			ask(follow, k);
			show_share(follow, k, RECEIVER_QP, 0);
			show_share(follow, k, cases[i].second, 1);
		}
		follow_keep(follow);
		assert_int_equal(follow->found_count, cases[i].told);
		if (cases[i].told != 0) {
			assert_int_equal(follow->found[0].fault, FT_NCCL_SECOND_WRITER);
			assert_int_equal(follow->found[0].frame, frame);
		}
		follow_stop(follow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_up_tells_all_at_once),
		cmocka_unit_test(a_family_may_be_known_late),
		cmocka_unit_test(another_set_up_is_another_connection),
		cmocka_unit_test(set_ups_in_two_overlays_are_two_connections),
		cmocka_unit_test(a_set_up_in_another_overlay_will_do),
		cmocka_unit_test(a_set_up_may_be_seen_late),
		cmocka_unit_test(a_cut_set_up_is_that_of_its_queue_pairs),
		cmocka_unit_test(a_cut_set_up_may_be_seen_late),
		cmocka_unit_test(a_cut_set_up_that_may_be_of_another_is_left),
		cmocka_unit_test(a_first_clear_to_send_that_the_set_up_contradicts),
		cmocka_unit_test(queue_pairs_that_a_set_up_does_not_name),
		cmocka_unit_test(one_of_two_queue_pairs_that_a_set_up_does_not_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
