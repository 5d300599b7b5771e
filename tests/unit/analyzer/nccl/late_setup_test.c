#include "follow_play.h"

#include "followed.h"

/* Set-ups over TCP that are read behind what they set up, as where ports are merged. */

enum { ASKED = 5 };

static void it_is_that_of_the_connection_with_its_queue_pairs_and_memory(void **state)
{
	static const struct {
		const char *what;
		uint32_t packets, told; /* overlays; 0: none */
		uint64_t fifo;
		bool is_its;
	} rows[] = {
		{ "in no overlay", 0, UINT32_MAX, FIFO_AT, true },
		{ "in the same overlay", 7, 7, FIFO_AT, true },
		{ "TCP in an overlay, packets in none", 0, 7, FIFO_AT, true },
		{ "packets in an overlay, TCP in none", 7, UINT32_MAX, FIFO_AT, true },
		{ "in another overlay: TCP has its own", 7, 8, FIFO_AT, true },
		{ "with other memory", 0, UINT32_MAX, FIFO_AT + 0x10000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start('E');

		follow->vni = rows[i].packets;
		converse(follow, 0, ASKED);
		follow_set_up(follow, rows[i].fifo, 1, rows[i].told);
		follow_keep(follow);
		if (follow->kept.connections[0]->has_tcp != rows[i].is_its)
			fail_msg("%s", rows[i].what);
		if (rows[i].is_its) {
			const struct ft_nccl_connection *connection = follow_kept(follow, 0, 1);

			assert_int_equal(connection->found_by, FT_NCCL_BY_METADATA);
			assert_true(connection->is_set_up);
			assert_int_equal(connection->messages, ASKED);
			assert_int_equal(connection->cts, ASKED);
			assert_int_equal(connection->tcp_frames[1], connection->tcp_frames[0] + 8);
			assert_int_equal(connection->sizes.addr, 0x1000);
		}
		follow_stop(follow);
	}
}

/* Tenants may have the same addresses, queue pairs and memory in two overlays: the set-up's own one counts first. */
static void of_two_overlays_it_is_in_its_own(void **state)
{
	(void)state;
	for (uint32_t told = 7; told <= 8; told++) {
		struct follow *follow = follow_start('E');

		for (follow->vni = 7; follow->vni <= 8; follow->vni++) {
			follow->cts_psn = follow->data_psn = 0;
			converse(follow, 0, ASKED);
		}
		follow_set_up(follow, FIFO_AT, 1, told);
		for (size_t i = 0; i < 2; i++) {
			const struct ft_nccl_connection *connection = follow_kept(follow, i, 2);

			assert_int_equal(connection->nets[0], FT_NCCL_NET_VNI | (7 + i));
			assert_int_equal(connection->has_tcp, told == 7 + i);
		}
		follow_stop(follow);
	}
}

static void a_connection_is_set_up_once(void **state)
{
	struct follow *follow = follow_start('E');
	uint64_t frame;

	(void)state;
	converse(follow, 0, ASKED);
	follow_set_up(follow, FIFO_AT, 1, UINT32_MAX);
	frame = follow->frame;
	follow_set_up(follow, FIFO_AT, 1, UINT32_MAX);
	follow->cts_psn = follow->data_psn = 0;
	converse(follow, 0, 3);
	assert_int_equal(follow_kept(follow, 0, 2)->messages, ASKED);
	assert_int_equal(follow_kept(follow, 0, 2)->tcp_frames[1], frame);
	assert_int_equal(follow_kept(follow, 1, 2)->messages, 3);
	assert_int_equal(follow_kept(follow, 1, 2)->tcp_frames[1], frame + 9);
	follow_stop(follow);
}

/* Two queue pairs, of which the first alone was met: the second one's data is expected from PSN 0 on. */
static void queue_pairs_that_were_not_met_are_its_own(void **state)
{
	struct follow *follow = follow_start('E');
	const struct ft_nccl_connection *connection;
	struct packet packet;

	(void)state;
	converse(follow, 0, ASKED);
	follow_set_up(follow, FIFO_AT, 2, UINT32_MAX);
	connection = follow_kept(follow, 0, 1);
	assert_int_equal(connection->qp_count, 2);
	assert_int_equal(connection->sender.qpns[0], SENDER_QP);
	assert_int_equal(connection->sender.qpns[1], SENDER_QP + 2);
	assert_int_equal(connection->receiver.qpns[0], RECEIVER_QP);
	assert_int_equal(connection->receiver.qpns[1], RECEIVER_QP + 2);
	assert_int_equal(connection->missing_packets, 0);
	ask(follow, ASKED);
	packet = data_of(follow, ASKED, 64, 0);
	packet.qpn = RECEIVER_QP + 2;
	packet.psn = 4; /* four were missed */
	follow_packet(follow, &packet);
	connection = follow_kept(follow, 0, 1);
	assert_int_equal(connection->missing_packets, 4);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

/* It names other queue pairs than those that were met, or which are met is a guess: nothing is claimed for it. */
static void what_does_not_fit_is_only_told(void **state)
{
	static const struct {
		const char *what;
		bool by_grid;
		uint32_t sender, receiver;
		uint8_t lanes;
	} rows[] = {
		{ "as they were met", false, SENDER_QP, RECEIVER_QP, 2 },
		{ "the receiver's was not met", false, SENDER_QP, FT_NCCL_NONE, 2 },
		{ "clear-to-sends cannot be read", true, SENDER_QP, RECEIVER_QP, 1 },
		{ "another one of the sender", false, SENDER_QP + 2, RECEIVER_QP, 1 },
		{ "another one of the receiver", false, SENDER_QP, RECEIVER_QP + 2, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start('E');
		struct ft_nccl_followed *followed;

		converse(follow, 0, ASKED);
		followed = follow->connections->all[0];
		followed->by_grid = rows[i].by_grid;
		followed->model.sender.qpns[0] = rows[i].sender;
		followed->model.receiver.qpns[0] = rows[i].receiver;
		follow_set_up(follow, FIFO_AT, 2, UINT32_MAX);
		assert_int_equal(follow->connections->count, 1);
		if (followed->lane_count != rows[i].lanes ||
		    followed->told != (rows[i].lanes == 1 ? 2 : 0))
			fail_msg("%s: %u lanes, told of %u", rows[i].what, followed->lane_count,
				 followed->told);
		if (rows[i].lanes == 2) {
			assert_true(followed->lanes[1].counted && followed->lanes[1].data.known);
			assert_true(followed->lanes[1].cts.known);
			assert_int_equal(followed->ring.share_room, 2);
		}
		follow_stop(follow);
	}
}

/* What went to its second queue pair before it was known counts. */
static void packets_to_queue_pairs_that_it_names_are_caught_up_with(void **state)
{
	struct follow *follow = follow_start('E');
	const struct ft_nccl_connection *connection;

	(void)state;
	converse(follow, 0, ASKED);
	for (uint32_t i = 0; i < 3; i++) {
		struct packet packet;

		ask(follow, ASKED + i);
		packet = data_of(follow, ASKED + i, 64, 0);
		packet.qpn = RECEIVER_QP + 2;
		packet.psn = i;
		follow_packet(follow, &packet);
	}
	assert_int_equal(follow_kept(follow, 0, 1)->messages, ASKED);
	follow_set_up(follow, FIFO_AT, 2, UINT32_MAX);
	connection = follow_kept(follow, 0, 1);
	assert_int_equal(connection->messages, ASKED + 3);
	assert_int_equal(follow_message(follow, ASKED)->packets, 1);
	assert_int_equal(follow_message(follow, ASKED + 2)->packets, 1);
	assert_int_equal(connection->missing_packets, 0);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_that_of_the_connection_with_its_queue_pairs_and_memory),
		cmocka_unit_test(of_two_overlays_it_is_in_its_own),
		cmocka_unit_test(a_connection_is_set_up_once),
		cmocka_unit_test(queue_pairs_that_were_not_met_are_its_own),
		cmocka_unit_test(what_does_not_fit_is_only_told),
		cmocka_unit_test(packets_to_queue_pairs_that_it_names_are_caught_up_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
