#include "follow_play.h"

/*
 * Whose answers acknowledgments to a queue pair are that no clear-to-send went to: of many connections between two hosts,
 * whose two queue pairs take turns, found by what they carry. All have one source port; PSNs are far apart.
 */
enum {
	CONNECTIONS = 100,
	LENGTH = 640,
	BEFORE = 12,
	MORE = 20,
	QPS_EACH = 4,
	FIRST_QP = 0x400,
	PSNS_EACH = 1000
};

#define APART (UINT64_C(1) << 32) /* bytes, from the memory of one connection to the next one's */

/* Queue pairs: the sender's two, and the receiver's two. */
static uint32_t qp_of(uint32_t number, uint8_t host, uint64_t k)
{
	return FIRST_QP + QPS_EACH * number + (host == RECEIVER ? 2 : 0) + (uint32_t)(k % 2);
}

static void ask_by(struct follow *follow, uint32_t number, uint64_t k)
{
	struct packet packet = clear_to_send('E', k, PSNS_EACH * number + (uint32_t)k);

	packet.qpn = qp_of(number, SENDER, 0);
	packet.va += number * APART;
	packet.bytes[4] = (uint8_t)(packet.bytes[4] + number); /* of the address */
	follow_packet(follow, &packet);
}

static void answer_by(struct follow *follow, uint32_t number, uint64_t k, bool acknowledged)
{
	struct packet packet = data_of(follow, k, LENGTH, 0);

	packet.qpn = qp_of(number, RECEIVER, k);
	packet.psn = PSNS_EACH * number + (uint32_t)(k / 2);
	packet.va += number * APART;
	follow_packet(follow, &packet);
	if (acknowledged)
		follow_packet(follow, &(struct packet){
					      .from = RECEIVER,
					      .to = SENDER,
					      .opcode = 0x11,
					      .qpn = qp_of(number, SENDER, k),
					      .psn = packet.psn,
				      });
}

/* Messages `from` and on, of each connection. */
static void pass_messages(struct follow *follow, uint64_t from, uint64_t count, bool acknowledged)
{
	for (uint64_t k = from; k < from + count; k++) {
		for (uint32_t i = 0; i < CONNECTIONS; i++) {
			ask_by(follow, i, k);
			answer_by(follow, i, k, acknowledged);
		}
	}
}

static void answers_are_found_however_many_lanes_wait_for_them(void **state)
{
	const struct ft_nccl_config config = { .connections = CONNECTIONS, .findings = FOUND_MAX };
	struct follow *follow = follow_start_with('E', &config);

	(void)state;
	pass_messages(follow, 0, BEFORE, false);
	pass_messages(follow, BEFORE, MORE, true);
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, CONNECTIONS);
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		const struct ft_nccl_connection *model = follow->kept.connections[i];

		assert_int_equal(model->qp_count, 2);
		for (uint64_t lane = 0; lane < 2; lane++) {
			assert_int_equal(model->sender.qpns[lane], qp_of(i, SENDER, lane));
			assert_int_equal(model->receiver.qpns[lane], qp_of(i, RECEIVER, lane));
		}
	}
	follow_stop(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_found_however_many_lanes_wait_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
