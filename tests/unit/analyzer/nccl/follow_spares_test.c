#include "follow_play.h"

/* Queue pairs beside those of data: what a connection does when a port fails. */

enum {
	PROBE_QP = 101, /* of the sender; the receiver's is the next */
	RECOVERY_QP = 201,
	READ_REQUEST = 0x0c,
	UC_SEND_ONLY_IMMEDIATE = 0x25,
	RECORDS_AT = 0x1000, /* as learn_set_up() has the receiver's memory */
	RECORD = 160,
	FLAGS = 32,
	PROBED = 128,
	HALF = 1500, /* of a message over two queue pairs */
};

static struct follow *start_with(uint8_t queue_pairs, uint32_t probe_qpn, uint32_t recovery_qpn)
{
	struct follow *follow = follow_start('F');
	const struct set_up set_up = {
		.queue_pairs = queue_pairs,
		.metadata_bytes = 4576, /* 2.30 */
		.fifo = FIFO_AT,
		.vni = UINT32_MAX,
		.frames = { 1, 9 },
		.probe_qpn = probe_qpn,
		.recovery_qpn = recovery_qpn,
	};

	follow->frame = 9;
	learn_set_up(follow->connections, &set_up);
	return follow;
}

static struct follow *start(uint32_t probe_qpn, uint32_t recovery_qpn)
{
	return start_with(1, probe_qpn, recovery_qpn);
}

/* What was counted so far. */
static const struct ft_nccl_failover *failover_of(struct follow *follow)
{
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, 1);
	return &follow->kept.connections[0]->failover;
}

static struct packet probe_of(uint64_t k)
{
	return (struct packet){ .from = SENDER,
				.to = RECEIVER,
				.opcode = READ_REQUEST,
				.qpn = PROBE_QP + 1,
				.va = RECORDS_AT + k % 256 * RECORD + FLAGS,
				.rkey = 7,
				.length = PROBED };
}

/* `number`: as the host stores it, little-endian. */
static struct packet recovery_of(uint8_t from, uint8_t low, uint8_t high)
{
	return (struct packet){ .from = from,
				.to = from == SENDER ? RECEIVER : SENDER,
				.opcode = UC_SEND_ONLY_IMMEDIATE,
				.qpn = RECOVERY_QP + (from == SENDER),
				.immdt = (uint32_t)low << 24 | (uint32_t)high << 16 };
}

/* Shows the packet, and what it is told to be; false: nothing. */
static bool shown(struct follow *follow, const struct packet *packet, struct ft_nccl_shown *shown)
{
	uint64_t frame = follow_packet(follow, packet);
	const struct ft_nccl_seen seen = seen_of(packet, frame);

	return ft_nccl_connections_shown(follow->connections, &seen, shown);
}

static void a_set_up_tells_whether_ports_may_fail(void **state)
{
	static const struct {
		uint32_t probe_qpn, recovery_qpn;
	} rows[] = { { 0, 0 }, { PROBE_QP, 0 }, { PROBE_QP, RECOVERY_QP } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct follow *follow = start(rows[i].probe_qpn, rows[i].recovery_qpn);
		const struct ft_nccl_failover *failover = failover_of(follow);

		assert_int_equal(failover->probes_named, rows[i].probe_qpn != 0);
		assert_int_equal(failover->recovery_named, rows[i].recovery_qpn != 0);
		assert_int_equal(failover->first_frame, 0);
		follow_stop(follow);
	}
}

static void a_probe_names_the_message(void **state)
{
	struct follow *follow = start(PROBE_QP, 0);
	struct packet probe = probe_of(3);
	struct ft_nccl_shown told;
	uint64_t first;

	(void)state;
	converse(follow, 0, 5);
	first = follow->frame + 1;
	assert_true(shown(follow, &probe, &told));
	assert_int_equal(told.role, FT_NCCL_FRAME_PROBE);
	assert_true(told.has_k);
	assert_int_equal(told.k, 3);
	probe = probe_of(200); /* nothing is remembered of it */
	assert_true(shown(follow, &probe, &told));
	assert_false(told.has_k);
	assert_int_equal(failover_of(follow)->probes, 2);
	assert_int_equal(failover_of(follow)->first_frame, first);
	assert_int_equal(failover_of(follow)->last_frame, first + 1);
	assert_int_equal(follow->kept.connections[0]->messages, 5);
	assert_int_equal(follow->found_count, 0);
	follow_stop(follow);
}

static void other_reads_are_no_probes(void **state)
{
	struct follow *follow = start(PROBE_QP, RECOVERY_QP);
	struct packet packets[6];

	(void)state;
	for (size_t i = 0; i < 6; i++)
		packets[i] = probe_of(1);
	packets[0].length = PROBED - 1;
	packets[1].va -= FLAGS;                  /* the sizes before the flags */
	packets[2].va += UINT64_C(256) * RECORD; /* behind the last record */
	packets[3].from = STRANGER;
	packets[4].qpn = RECOVERY_QP + 1;
	packets[5].from = RECEIVER; /* the sender's own */
	packets[5].to = SENDER;
	packets[5].qpn = PROBE_QP;
	for (size_t i = 0; i < 6; i++) {
		struct ft_nccl_shown told;

		assert_false(shown(follow, &packets[i], &told));
	}
	assert_int_equal(failover_of(follow)->probes, 0);
	assert_int_equal(failover_of(follow)->first_frame, 0);
	follow_stop(follow);
}

static void recovery_is_asked_for_answered_and_confirmed(void **state)
{
	struct follow *follow = start(PROBE_QP, RECOVERY_QP);
	struct packet packet;
	struct ft_nccl_shown told;

	(void)state;
	for (uint8_t number = 0; number < 5; number++) {
		packet = recovery_of(SENDER, number, 0);
		assert_true(shown(follow, &packet, &told));
		assert_int_equal(told.role, FT_NCCL_FRAME_RECOVERY_ASKED);
	}
	packet = recovery_of(RECEIVER, 0x34, 0x12);
	assert_true(shown(follow, &packet, &told));
	assert_int_equal(told.role, FT_NCCL_FRAME_RECOVERY_ANSWERED);
	packet = recovery_of(SENDER, 0x34, 0x12);
	assert_true(shown(follow, &packet, &told));
	assert_int_equal(told.role, FT_NCCL_FRAME_RECOVERY_CONFIRMED);
	packet = recovery_of(STRANGER, 0x34, 0x12);
	packet.to = RECEIVER;
	packet.qpn = RECOVERY_QP + 1;
	assert_false(shown(follow, &packet, &told));
	assert_int_equal(failover_of(follow)->asked, 5);
	assert_int_equal(failover_of(follow)->answered, 1);
	assert_int_equal(failover_of(follow)->confirmed, 1);
	assert_int_equal(failover_of(follow)->probes, 0);
	follow_stop(follow);
}

/* One half of message k on a queue pair: two packets, whose immediate is a number little-endian. */
static void half(struct follow *follow, uint32_t psns[2], unsigned lane, uint64_t k, uint32_t at)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct packet packet = {
			.from = SENDER,
			.to = RECEIVER,
			.opcode = i == 0 ? 0x06 : 0x09,
			.qpn = RECEIVER_QP + 2 * lane,
			.psn = psns[lane]++,
			.va = buffer_of(k) + at,
			.rkey = DATA_KEY,
			.length = HALF,
			.immdt = (uint32_t)k << 24,
			.payload = i == 0 ? MTU : HALF - MTU,
		};

		follow_packet(follow, &packet);
	}
}

static void converse_in_halves(struct follow *follow, uint32_t psns[2], unsigned lane,
			       uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to; k++) {
		ask(follow, k);
		half(follow, psns, lane, k, 0);
		half(follow, psns, 1, k, HALF);
	}
}

static void what_is_sent_again_elsewhere_is_no_fault(void **state)
{
	(void)state;
	for (unsigned how = 0; how < 4; how++) {
		struct follow *follow = start_with(2, PROBE_QP, 0);
		const struct packet probe = probe_of(20);
		uint32_t psns[2] = { 0, 0 };

		converse_in_halves(follow, psns, 0, 0, 20);
		ask(follow, 20);
		ask(follow, 21);
		half(follow, psns, 0, 20, 0);
		half(follow, psns, 1, 20, HALF);
		if ((how & 1) != 0)
			half(follow, psns, 0, 21, 0);
		if ((how & 2) != 0)
			follow_packet(follow, &probe);
		half(follow, psns, 1, 20, 0);
		half(follow, psns, 1, 21, 0);
		half(follow, psns, 1, 21, HALF);
		converse_in_halves(follow, psns, 1, 22, 60);
		assert_int_equal(failover_of(follow)->probes, (how & 2) != 0);
		assert_int_equal(follow->found_count, 0);
		follow_stop(follow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_up_tells_whether_ports_may_fail),
		cmocka_unit_test(a_probe_names_the_message),
		cmocka_unit_test(other_reads_are_no_probes),
		cmocka_unit_test(what_is_sent_again_elsewhere_is_no_fault),
		cmocka_unit_test(recovery_is_asked_for_answered_and_confirmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
