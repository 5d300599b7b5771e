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
	LENGTH_OF_ALL = 3000, /* of a message over two queue pairs .. */
	HALF = 1536,          /* .. of which the first one has so much: section 2.4 */
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

/* What the immediates of a drill are. */
enum immediates { NUMBER_LITTLE, NUMBER, LENGTH, IMMEDIATES };

/* How a drill's messages use its two queue pairs, and how many are asked for ahead. */
enum sharing { HALVES, HALVES_AHEAD, TURNS, TURNS_AHEAD, SHARINGS };
enum { AHEAD = 3, FAILS_AT = 20, BACK_AT = 40, DRILL_END = 60 };

/* A connection over two queue pairs, and whose each frame of data is. */
struct drill {
	struct follow *follow;
	enum immediates immediates;
	enum sharing sharing;
	unsigned fails; /* this queue pair does */
	uint64_t asked; /* so many messages were */
	uint32_t psns[2];
	uint64_t ks[1024]; /* by frame */
};

static uint32_t immediate_of(const struct drill *drill, uint64_t k)
{
	if (drill->immediates == LENGTH)
		return LENGTH_OF_ALL;
	return drill->immediates == NUMBER ? (uint32_t)k : (uint32_t)k << 24;
}

/* A part of message k on a queue pair. */
static void part(struct drill *drill, unsigned lane, uint64_t k, uint32_t at, uint32_t length)
{
	for (uint32_t sent = 0; sent < length; sent += MTU) {
		const bool is_last = length - sent <= MTU;
		const struct packet packet = {
			.from = SENDER,
			.to = RECEIVER,
			.opcode = is_last     ? 0x09
				  : sent == 0 ? 0x06
					      : 0x07,
			.qpn = RECEIVER_QP + 2 * lane,
			.psn = drill->psns[lane]++,
			.va = buffer_of(k) + at,
			.rkey = DATA_KEY,
			.length = length,
			.immdt = immediate_of(drill, k),
			.payload = is_last ? length - sent : MTU,
		};
		struct ft_nccl_shown told;

		assert_true(shown(drill->follow, &packet, &told));
		assert_true(!told.has_k || told.k == k);
		assert_true(drill->follow->frame < sizeof drill->ks / sizeof drill->ks[0]);
		drill->ks[drill->follow->frame] = k;
	}
}

static bool has_halves(const struct drill *drill)
{
	return drill->sharing <= HALVES_AHEAD;
}

/* The message's parts by the rule, or what is left of it over the other queue pair; `parts`: bits. */
static void send(struct drill *drill, uint64_t k, unsigned parts, bool has_failed)
{
	const bool is_turns = !has_halves(drill);

	for (unsigned i = 0; i < (is_turns ? 1 : 2); i++) {
		unsigned lane = is_turns ? k % 2 : i;
		uint32_t at = i == 0 ? 0 : HALF, end = i == 0 && !is_turns ? HALF : LENGTH_OF_ALL;

		if (has_failed)
			lane = 1 - drill->fails;
		if ((parts >> i & 1) != 0)
			part(drill, lane, k, at, end - at);
	}
}

static void ask_to(struct drill *drill, uint64_t k)
{
	const bool is_ahead = drill->sharing == HALVES_AHEAD || drill->sharing == TURNS_AHEAD;
	uint64_t end = k + 1 + (is_ahead ? AHEAD : 0);

	for (; drill->asked < end && drill->asked < DRILL_END; drill->asked++)
		ask(drill->follow, drill->asked);
}

static void send_from(struct drill *drill, uint64_t from, uint64_t to, bool has_failed)
{
	for (uint64_t k = from; k < to; k++) {
		ask_to(drill, k);
		send(drill, k, 3, has_failed);
	}
}

/* What happens when a port fails, bits. */
enum {
	FIRST_PASSED = 1 << 0,  /* the first part of the message behind it did, before that */
	SECOND_PASSED = 1 << 1, /* so did the second one */
	WAS_PROBED = 1 << 2,
	HAS_PASSED =
		1 << 3,   /* the receiver has what passed of that message: it is not sent again */
	HAS_ALL = 1 << 4, /* nor is the message before */
	IS_BACK = 1 << 5, /* all goes by the rule again, later */
	HOWS = 1 << 6,
};

/* Which parts of message k go over the queue pair that fails. */
static unsigned lost_parts(const struct drill *drill, uint64_t k)
{
	if (has_halves(drill))
		return 1u << drill->fails;
	return k % 2 == drill->fails ? 1 : 0;
}

static void fail_over(struct drill *drill, unsigned how)
{
	const struct packet probe = probe_of(FAILS_AT);
	const unsigned passed = how & (FIRST_PASSED | SECOND_PASSED);
	unsigned heard = passed;

	if ((how & HAS_PASSED) == 0)
		heard &= ~lost_parts(drill, FAILS_AT + 1);
	send_from(drill, 0, FAILS_AT + 1, false);
	ask_to(drill, FAILS_AT + 1);
	send(drill, FAILS_AT + 1, passed, false);
	if ((how & WAS_PROBED) != 0)
		follow_packet(drill->follow, &probe);
	if ((how & HAS_ALL) == 0)
		send(drill, FAILS_AT, lost_parts(drill, FAILS_AT), true);
	send(drill, FAILS_AT + 1, ~heard, true);
	send_from(drill, FAILS_AT + 2, (how & IS_BACK) != 0 ? BACK_AT : DRILL_END, true);
	if ((how & IS_BACK) != 0)
		send_from(drill, BACK_AT, DRILL_END, false);
}

/* What has a number is that message's, from its first frame to its last; how many of those behind the return have one. */
static unsigned numbered_and_right(const struct drill *drill)
{
	const struct ft_nccl_kept *kept = &drill->follow->kept;
	unsigned count = 0;

	for (size_t i = 0; i < kept->message_count; i++) {
		const struct ft_nccl_message *message = &kept->messages[i];

		if (!message->has_k || message->first_frame == 0)
			continue;
		assert_int_equal(drill->ks[message->first_frame], message->k);
		assert_int_equal(drill->ks[message->last_frame], message->k);
		count += message->k >= BACK_AT;
	}
	return count;
}

/* Immediates tell when both queue pairs have their own parts again; it is known by then that messages are halved. */
static unsigned numbered_again(const struct drill *drill, unsigned how)
{
	const bool tells = drill->immediates == NUMBER && has_halves(drill);

	return tells && (how & IS_BACK) != 0 ? DRILL_END - BACK_AT - 1 : 0;
}

static void what_goes_elsewhere_has_no_wrong_number_and_is_no_fault(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HOWS * IMMEDIATES * SHARINGS * 2; i++) {
		unsigned how = i % HOWS, rest = i / HOWS;
		struct drill drill = {
			.follow = start_with(2, PROBE_QP, 0),
			.immediates = rest % IMMEDIATES,
			.sharing = rest / IMMEDIATES % SHARINGS,
			.fails = rest / IMMEDIATES / SHARINGS,
		};

		fail_over(&drill, how);
		assert_int_equal(failover_of(drill.follow)->probes, (how & WAS_PROBED) != 0);
		assert_int_equal(drill.follow->found_count, 0);
		assert_int_equal(numbered_and_right(&drill), numbered_again(&drill, how));
		follow_stop(drill.follow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_up_tells_whether_ports_may_fail),
		cmocka_unit_test(a_probe_names_the_message),
		cmocka_unit_test(other_reads_are_no_probes),
		cmocka_unit_test(what_goes_elsewhere_has_no_wrong_number_and_is_no_fault),
		cmocka_unit_test(recovery_is_asked_for_answered_and_confirmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
