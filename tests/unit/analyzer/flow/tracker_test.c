#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flow/tracker.h>

/*
 * Scripts of one connection: A asks queue pair 2 of B, B answers (or asks) queue pair 1 of A. Each
 * packet says what it is to be taken for; each script what it comes to.
 */

enum {
	FIRST = 0x00,
	MIDDLE = 0x01,
	LAST = 0x02,
	SEND = 0x04,
	WRITE_FIRST = 0x06,
	WRITE_LAST = 0x08,
	READ = 0x0c,
	RESP_FIRST = 0x0d,
	RESP_MIDDLE = 0x0e,
	RESP_LAST = 0x0f,
	RESP_ONLY = 0x10,
	ACK = 0x11,
	ATOMIC_ACK = 0x12,
	FETCH_ADD = 0x14,
	UC_SEND = 0x24,
	UD_SEND = 0x64,
	CNP = 0x81,
};
enum { NAK_SEQUENCE = 0x60, NAK_ACCESS = 0x62, RNR = 0x21, MTU = 1024 };
enum { US = 1000, MS = 1000000 };

enum {
	NEW = FT_STEP_NEW,
	GAP = FT_STEP_NEW | FT_STEP_GAP,
	BEGIN = FT_STEP_NEW | FT_STEP_RESTART,
	AGAIN = FT_STEP_RETRANSMITTED,
	BEHIND = FT_STEP_RETRANSMITTED | FT_STEP_BEHIND,
	LATE = FT_STEP_REORDERED,
	LATE_ACKED = FT_STEP_REORDERED | FT_STEP_BEHIND,
	FABRIC = FT_STEP_FABRIC_LOST,
	OUTSIDE = FT_STEP_OUTSIDE,
	ANSWERS = FT_STEP_ANSWER | FT_STEP_ACK,
	REFUSES = FT_STEP_ANSWER | FT_STEP_NAK,
	NOT_READY = FT_STEP_ANSWER | FT_STEP_RNR,
	RESPONDS = FT_STEP_ANSWER | FT_STEP_NEW,
	RESPONDS_GAP = FT_STEP_ANSWER | FT_STEP_NEW | FT_STEP_GAP,
	RESPONDS_AGAIN = FT_STEP_ANSWER | FT_STEP_RETRANSMITTED,
	RESPONDS_LATE = FT_STEP_ANSWER | FT_STEP_REORDERED,
	RESPONDS_FABRIC = FT_STEP_ANSWER | FT_STEP_FABRIC_LOST,
	ASTRAY = FT_STEP_ANSWER | FT_STEP_ACK | FT_STEP_OUTSIDE | FT_STEP_UNASKED,
};

struct packet {
	char from; /* 'A', 'B'; 0: the script ends */
	uint8_t opcode;
	uint32_t psn;
	uint32_t wanted;   /* of what is compared */
	uint32_t more;     /* syndrome of an ACKNOWLEDGE, length of a READ or WRITE */
	uint32_t after_us; /* since the packet before; 0: 10 */
	uint32_t repeat;   /* so many more like it, PSN by PSN */
};

struct script {
	const char *sentence;
	bool met; /* set-up named the halves */
	struct packet packets[24];
	struct ft_tracker_totals wanted;
	uint32_t messages[FT_MESSAGE_KINDS], bytes; /* completed; all their bytes */
	uint32_t uncertain;
};

#define A(op, at, what, ...)                                                                       \
	{                                                                                          \
		.from = 'A', .opcode = op, .psn = at, .wanted = what, __VA_ARGS__                  \
	}
#define B(op, at, what, ...)                                                                       \
	{                                                                                          \
		.from = 'B', .opcode = op, .psn = at, .wanted = what, __VA_ARGS__                  \
	}

static const struct script scripts[] = {
	{ "requests in order, one acknowledgement for several of them",
	  true,
	  { A(FIRST, 0xfffffe, BEGIN), A(MIDDLE, 0xffffff, NEW), A(LAST, 0, NEW), A(SEND, 1, NEW),
	    B(ACK, 1, ANSWERS) },
	  .wanted = { .acks = 1, .paired = 1 },
	  .messages = { [FT_MESSAGE_SEND] = 2 },
	  .bytes = 3 * MTU + MTU },
	{ "a WRITE is as long as its RETH says",
	  true,
	  { A(WRITE_FIRST, 7, BEGIN, .more = 1500), A(WRITE_LAST, 8, NEW) },
	  .wanted = { .paired = 0 },
	  .messages = { [FT_MESSAGE_WRITE] = 1 },
	  .bytes = 1500 },
	{ "what was answered for and never passed, the mirror lost",
	  true,
	  { A(SEND, 10, BEGIN), A(SEND, 13, GAP), B(ACK, 13, ANSWERS) },
	  .wanted = { .acks = 1, .mirror_lost = 2, .lost_by_gap = 2, .paired = 1 },
	  .messages = { 2 },
	  .bytes = 2 * MTU },
	{ "what nobody answered for stays open",
	  true,
	  { A(SEND, 10, BEGIN), B(ACK, 10, ANSWERS), A(SEND, 13, GAP) },
	  .wanted = { .acks = 1, .gaps_open = 2, .paired = 1 },
	  .messages = { 2 },
	  .bytes = 2 * MTU,
	  .uncertain = 2 },
	{ "an answer ahead of every request shows what is missing at the end",
	  true,
	  { A(SEND, 10, BEGIN), B(ACK, 12, ANSWERS) },
	  .wanted = { .acks = 1, .mirror_lost = 2, .lost_by_ack = 2, .paired = 1 },
	  .messages = { 1 },
	  .bytes = MTU },
	{ "answers seen before their requests are no loss",
	  true,
	  { A(SEND, 10, BEGIN), B(ACK, 12, ANSWERS), A(SEND, 11, NEW), A(SEND, 12, NEW) },
	  .wanted = { .acks = 1, .paired = 1 },
	  .messages = { 3 },
	  .bytes = 3 * MTU },
	{ "late but once: reordered, even when the answer was faster",
	  true,
	  { A(SEND, 10, BEGIN), A(SEND, 12, GAP), A(SEND, 11, LATE), A(SEND, 14, GAP),
	    B(ACK, 14, ANSWERS), A(SEND, 13, LATE_ACKED) },
	  .wanted = { .acks = 1, .reordered = 2, .paired = 1 },
	  .messages = { 5 },
	  .bytes = 5 * MTU },
	{ "asked for again by a NAK: lost in the fabric, and what follows is sent again",
	  true,
	  { A(SEND, 10, BEGIN), A(SEND, 12, GAP), B(ACK, 11, REFUSES, .more = NAK_SEQUENCE),
	    A(SEND, 13, NEW), A(SEND, 11, FABRIC), A(SEND, 12, AGAIN), A(SEND, 13, AGAIN),
	    B(ACK, 13, ANSWERS) },
	  .wanted = { .acks = 1, .naks = 1, .fabric_lost = 1, .retransmitted = 2, .paired = 1 },
	  .messages = { 4 },
	  .bytes = 4 * MTU },
	{ "sent again after a time-out: lost in the fabric",
	  true,
	  { A(SEND, 10, BEGIN), A(SEND, 12, GAP), A(SEND, 11, FABRIC, .after_us = 70 * MS / US),
	    A(SEND, 12, AGAIN) },
	  .wanted = { .fabric_lost = 1, .retransmitted = 1 },
	  .messages = { 3 },
	  .bytes = 3 * MTU },
	{ "the receiver was not ready: sent again, nothing lost",
	  true,
	  { A(SEND, 10, BEGIN), B(ACK, 10, NOT_READY, .more = RNR), A(SEND, 10, AGAIN),
	    B(ACK, 10, ANSWERS), A(SEND, 10, BEHIND) },
	  .wanted = { .acks = 1, .rnr_naks = 1, .retransmitted = 2, .paired = 1 },
	  .messages = { 1 },
	  .bytes = MTU },
	{ "a READ takes as many PSNs as its responses",
	  true,
	  { A(FIRST, 20, BEGIN), A(LAST, 21, NEW), A(READ, 22, NEW, .more = 3 * MTU),
	    B(RESP_FIRST, 22, RESPONDS), B(RESP_MIDDLE, 23, RESPONDS), B(RESP_LAST, 24, RESPONDS),
	    A(SEND, 25, NEW) },
	  .wanted = { .paired = 1 },
	  .messages = { [FT_MESSAGE_SEND] = 2, [FT_MESSAGE_READ] = 1 },
	  .bytes = 2 * MTU + 3 * MTU + MTU },
	{ "the first response tells how many PSNs the READ takes",
	  true,
	  { A(READ, 22, BEGIN, .more = 3 * MTU), B(RESP_FIRST, 22, RESPONDS), A(SEND, 25, NEW),
	    B(RESP_LAST, 24, RESPONDS_GAP) },
	  .wanted = { .mirror_lost = 1, .lost_by_ack = 1, .paired = 1 },
	  .messages = { [FT_MESSAGE_SEND] = 1, [FT_MESSAGE_READ] = 1 },
	  .bytes = MTU + 3 * MTU },
	{ "the next request tells how many PSNs the READ takes",
	  true,
	  { A(READ, 22, BEGIN, .more = 8 * MTU), A(READ, 30, NEW, .more = 8 * MTU),
	    A(READ, 38, NEW, .more = 8 * MTU) },
	  .wanted = { .acks = 0 },
	  .messages = { 0 } },
	{ "a whole train of responses lost: as many packets as the READ announced",
	  true,
	  { A(FIRST, 20, BEGIN), A(LAST, 21, NEW), A(READ, 22, NEW, .more = 5 * MTU),
	    A(SEND, 27, NEW), B(ACK, 27, ANSWERS) },
	  .wanted = { .acks = 1, .mirror_lost = 5, .lost_by_ack = 5, .paired = 1 },
	  .messages = { 2 },
	  .bytes = 3 * MTU },
	{ "a READ that the mirror lost is one packet, not as many as its responses",
	  true,
	  { A(SEND, 21, BEGIN), B(RESP_FIRST, 22, RESPONDS), B(RESP_MIDDLE, 23, RESPONDS),
	    B(RESP_LAST, 24, RESPONDS), A(SEND, 25, NEW), B(ACK, 25, ANSWERS) },
	  .wanted = { .acks = 1, .mirror_lost = 1, .lost_by_ack = 1, .paired = 1 },
	  .messages = { [FT_MESSAGE_SEND] = 2, [FT_MESSAGE_READ] = 1 },
	  .bytes = 2 * MTU + 3 * MTU },
	{ "a READ seen after its response is not lost",
	  true,
	  { A(FIRST, 20, BEGIN), A(LAST, 21, NEW), B(RESP_FIRST, 22, RESPONDS),
	    A(READ, 22, LATE_ACKED, .more = 2 * MTU), B(RESP_LAST, 23, RESPONDS),
	    A(SEND, 24, NEW) },
	  .wanted = { .reordered = 1, .paired = 1 },
	  .messages = { [FT_MESSAGE_SEND] = 2, [FT_MESSAGE_READ] = 1 },
	  .bytes = 2 * MTU + 2 * MTU + MTU },
	{ "responses that the fabric lost are asked for again",
	  true,
	  { A(FIRST, 20, BEGIN), A(LAST, 21, NEW), A(READ, 22, NEW, .more = 4 * MTU),
	    B(RESP_FIRST, 22, RESPONDS), B(RESP_MIDDLE, 24, RESPONDS_GAP),
	    B(RESP_LAST, 25, RESPONDS), A(READ, 23, BEHIND, .more = 3 * MTU),
	    B(RESP_FIRST, 23, RESPONDS_FABRIC), B(RESP_MIDDLE, 24, RESPONDS_AGAIN),
	    B(RESP_LAST, 25, RESPONDS_AGAIN) },
	  .wanted = { .fabric_lost = 1, .retransmitted = 3, .paired = 1 },
	  .messages = { [FT_MESSAGE_SEND] = 1, [FT_MESSAGE_READ] = 1 },
	  .bytes = 2 * MTU + 4 * MTU },
	{ "its only response tells that a READ took one PSN",
	  true,
	  { A(READ, 22, BEGIN, .more = MTU), B(RESP_ONLY, 22, RESPONDS), A(SEND, 24, GAP),
	    B(ACK, 24, ANSWERS) },
	  .wanted = { .acks = 1, .mirror_lost = 1, .lost_by_gap = 1, .paired = 1 },
	  .messages = { [FT_MESSAGE_SEND] = 1, [FT_MESSAGE_READ] = 1 },
	  .bytes = MTU + MTU },
	{ "a late first response does not stretch its READ",
	  true,
	  { A(READ, 22, BEGIN, .more = 5 * MTU), B(RESP_MIDDLE, 23, RESPONDS),
	    B(RESP_MIDDLE, 24, RESPONDS), B(RESP_FIRST, 22, RESPONDS_LATE),
	    B(RESP_MIDDLE, 25, RESPONDS), B(RESP_LAST, 26, RESPONDS), A(SEND, 27, NEW) },
	  .wanted = { .reordered = 1, .paired = 1 },
	  .messages = { [FT_MESSAGE_SEND] = 1, [FT_MESSAGE_READ] = 1 },
	  .bytes = MTU + 5 * MTU },
	{ "responses seen alone may overtake each other",
	  false,
	  { B(RESP_FIRST, 22, RESPONDS), B(RESP_MIDDLE, 25, RESPONDS_GAP),
	    B(RESP_MIDDLE, 23, RESPONDS_LATE), B(RESP_MIDDLE, 24, RESPONDS_LATE),
	    B(RESP_LAST, 26, RESPONDS) },
	  .wanted = { .reordered = 2, .one_sided = 1 },
	  .messages = { [FT_MESSAGE_READ] = 1 },
	  .bytes = 5 * MTU },
	{ "responses may overtake each other",
	  true,
	  { A(FIRST, 20, BEGIN), A(LAST, 21, NEW), A(READ, 22, NEW, .more = 3 * MTU),
	    B(RESP_FIRST, 22, RESPONDS), B(RESP_LAST, 24, RESPONDS_GAP),
	    B(RESP_MIDDLE, 23, RESPONDS_LATE) },
	  .wanted = { .reordered = 1, .paired = 1 },
	  .messages = { [FT_MESSAGE_SEND] = 1, [FT_MESSAGE_READ] = 1 },
	  .bytes = 2 * MTU + 3 * MTU },
	{ "an atomic is complete with its answer",
	  true,
	  { A(FETCH_ADD, 5, BEGIN), B(ATOMIC_ACK, 5, RESPONDS) },
	  .wanted = { .paired = 1 },
	  .messages = { [FT_MESSAGE_ATOMIC] = 1 },
	  .bytes = MTU },
	{ "an atomic's answer that an acknowledgement overtook was lost",
	  true,
	  { A(FETCH_ADD, 5, BEGIN), A(SEND, 6, NEW), B(ACK, 6, ANSWERS) },
	  .wanted = { .acks = 1, .mirror_lost = 1, .lost_by_ack = 1, .paired = 1 },
	  .messages = { 1 },
	  .bytes = MTU },
	{ "a READ that was refused has no responses to lose",
	  true,
	  { A(FIRST, 20, BEGIN), A(LAST, 21, NEW), A(READ, 22, NEW, .more = 4 * MTU),
	    B(ACK, 22, REFUSES, .more = NAK_ACCESS) },
	  .wanted = { .naks = 1, .paired = 1 },
	  .messages = { 1 },
	  .bytes = 2 * MTU },
	{ "one packet far outside changes nothing",
	  true,
	  { A(SEND, 10, BEGIN), A(SEND, 5000000, OUTSIDE), A(SEND, 11, NEW),
	    A(SEND, 5000001, OUTSIDE), A(SEND, 12, NEW) },
	  .wanted = { .one_sided = 1 },
	  .messages = { 3 },
	  .bytes = 3 * MTU },
	{ "the third in a row is another sequence",
	  true,
	  { A(SEND, 10, BEGIN), A(SEND, 5000000, OUTSIDE), A(SEND, 5000001, OUTSIDE),
	    A(SEND, 5000002, BEGIN), A(SEND, 5000003, NEW) },
	  .wanted = { .one_sided = 1 },
	  .messages = { 3 },
	  .bytes = 3 * MTU },
	{ "another sequence is adopted when its receiver answers for it",
	  true,
	  { A(SEND, 10, BEGIN), B(ACK, 10, ANSWERS), A(SEND, 5000000, OUTSIDE),
	    B(ACK, 5000000, ANSWERS), A(SEND, 5000001, NEW) },
	  .wanted = { .acks = 2, .paired = 1 },
	  .messages = { 2 },
	  .bytes = 2 * MTU },
	{ "an answer for what was never near",
	  true,
	  { A(SEND, 10, BEGIN), B(ACK, 10, ANSWERS), B(ACK, 5000000, ASTRAY) },
	  .wanted = { .acks = 2, .paired = 1 },
	  .messages = { 1 },
	  .bytes = MTU },
	{ "silence of minutes: PSNs are taken as they come",
	  true,
	  { A(SEND, 10, BEGIN), A(SEND, 400, BEGIN, .after_us = 301 * (MS / US) * 1000),
	    A(SEND, 401, NEW) },
	  .wanted = { .acks = 0 },
	  .messages = { 3 },
	  .bytes = 3 * MTU },
	{ "alone: a hole that the sender went on from was delivered",
	  false,
	  { A(SEND, 10, BEGIN), A(SEND, 12, GAP), A(SEND, 13, NEW, .after_us = 20, .repeat = 80) },
	  .wanted = { .mirror_lost = 1, .lost_by_gap = 1, .one_sided = 1 },
	  .messages = { 83 },
	  .bytes = 83 * MTU },
	{ "alone: a hole with little beyond it stays open",
	  false,
	  { A(SEND, 10, BEGIN), A(SEND, 12, GAP), A(SEND, 13, NEW, .after_us = 20, .repeat = 40) },
	  .wanted = { .gaps_open = 1, .one_sided = 1 },
	  .messages = { 43 },
	  .bytes = 43 * MTU,
	  .uncertain = 1 },
	{ "UC: who lost it cannot be told",
	  false,
	  { A(UC_SEND, 10, BEGIN), A(UC_SEND, 12, GAP),
	    A(UC_SEND, 13, NEW, .after_us = 20, .repeat = 100) },
	  .wanted = { .gaps_open = 1 },
	  .messages = { 103 },
	  .bytes = 103 * MTU,
	  .uncertain = 1 },
	{ "UD: PSNs mean nothing",
	  false,
	  { A(UD_SEND, 10, BEGIN), A(UD_SEND, 900, NEW), A(UD_SEND, 20, NEW) },
	  .wanted = { .acks = 0 },
	  .messages = { 3 },
	  .bytes = 3 * MTU },
	{ "CNPs belong to no sequence",
	  true,
	  { A(SEND, 10, BEGIN), B(CNP, 0, FT_STEP_CNP), B(ACK, 10, ANSWERS), A(SEND, 11, NEW) },
	  .wanted = { .acks = 1, .cnps = 1, .paired = 1 },
	  .messages = { 2 },
	  .bytes = 2 * MTU },
};

#undef A
#undef B

struct world {
	struct ft_flow_table *table;
	struct ft_tracker *tracker;
	struct ft_loss_evidence *evidence;
	uint64_t ts_ns, frame, bytes;
	uint64_t messages[FT_MESSAGE_KINDS];
};

static struct ft_flow_key key_of(char from)
{
	struct ft_flow_key key = { .dest_qp = from == 'A' ? 2 : 1,
				   .vni = FT_FLOW_NO_VNI,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN };

	key.src[15] = (uint8_t)from;
	key.dst[15] = from == 'A' ? 'B' : 'A';
	return key;
}

static void open_world(struct world *world, bool met)
{
	struct ft_tracker_config config = FT_TRACKER_DEFAULTS;
	struct ft_flow_key there = key_of('A'), back = key_of('B');

	world->evidence = calloc(1, sizeof *world->evidence);
	assert_non_null(world->evidence);
	ft_loss_init(world->evidence);
	assert_int_equal(ft_flow_table_create(&world->table, 16, 1), 0);
	assert_int_equal(ft_tracker_create(&world->tracker, &config, world->table, world->evidence),
			 0);
	if (met)
		ft_tracker_pair(world->tracker, &there, &back, FT_PAIRED_CM);
}

static void close_world(struct world *world)
{
	ft_tracker_destroy(world->tracker);
	ft_flow_table_destroy(world->table);
	free(world->evidence);
}

static struct ft_observed observe(struct world *world, const struct packet *packet)
{
	world->ts_ns += (packet->after_us == 0 ? 10u : packet->after_us) * (uint64_t)US;
	return (struct ft_observed){
		.ts_ns = world->ts_ns,
		.frame = ++world->frame,
		.has = FT_OBSERVED_BTH | FT_OBSERVED_PAYLOAD | FT_OBSERVED_AETH |
		       (packet->more != 0 ? FT_OBSERVED_RETH : 0u),
		.opcode = packet->opcode,
		.psn = packet->psn,
		.payload = packet->opcode == READ || packet->opcode == ACK ? 0 : MTU,
		.length = packet->more,
		.syndrome = (uint8_t)packet->more,
	};
}

static struct ft_step send(struct world *world, const struct packet *packet)
{
	struct ft_observed observed = observe(world, packet);
	struct ft_flow_key key = key_of(packet->from);
	struct ft_flow *flow = ft_flow_find_or_create(
		world->table, &key, ft_flow_hash(world->table, &key), observed.ts_ns);
	struct ft_step step;

	ft_tracker_step(world->tracker, flow, &observed, &step);
	flow->packets++;
	flow->last_ns = observed.ts_ns;
	if (step.what & FT_STEP_MESSAGE) {
		world->messages[step.message_kind]++;
		world->bytes += step.message_bytes;
	}
	return step;
}

static void run(struct world *world, const struct script *script)
{
	for (const struct packet *packet = script->packets; packet->from != 0; packet++) {
		struct packet next = *packet;

		for (uint32_t i = 0; i <= packet->repeat; i++, next.psn++) {
			uint32_t what = send(world, &next).what;
			uint32_t shown = what & ~(uint32_t)FT_STEP_MESSAGE;

			if (packet->from == 'B') /* its first packet begins it */
				shown &= ~(uint32_t)FT_STEP_RESTART;
			if (shown != packet->wanted)
				fail_msg("%s: PSN %u is 0x%x, wanted 0x%x", script->sentence,
					 next.psn, shown, packet->wanted);
		}
	}
}

static void check_totals(const struct world *world, const struct script *script)
{
	struct ft_tracker_totals totals = ft_tracker_totals(world->tracker, NULL);
	const uint64_t *seen = (const uint64_t *)&totals;
	const uint64_t *wanted = (const uint64_t *)&script->wanted;

	/* whether the halves meet is the business of pairing: set-up, and both seen */
	for (size_t i = 0; i < sizeof totals / sizeof *seen; i++)
		if (seen[i] != wanted[i])
			fail_msg("%s: total %u is %u, wanted %u", script->sentence, (unsigned)i,
				 (unsigned)seen[i], (unsigned)wanted[i]);
}

static void check_messages(const struct world *world, const struct script *script)
{
	for (unsigned kind = 0; kind < FT_MESSAGE_KINDS; kind++)
		if (world->messages[kind] != script->messages[kind])
			fail_msg("%s: %u messages of kind %u", script->sentence,
				 (unsigned)world->messages[kind], kind);
	if (world->bytes != script->bytes)
		fail_msg("%s: %u bytes in messages", script->sentence, (unsigned)world->bytes);
}

static void check_evidence(struct world *world, const struct script *script)
{
	uint64_t holes = 0, told = 0;

	ft_tracker_totals(world->tracker, world->evidence);
	for (uint32_t i = 0; i < world->evidence->used; i++) {
		holes += world->evidence->bins[i].holes;
		told += world->evidence->bins[i].spaces + world->evidence->bins[i].silent;
	}
	assert_int_equal(holes, script->wanted.mirror_lost);
	assert_int_equal(told, world->frame);
	assert_int_equal(world->evidence->uncertain, script->uncertain);
}

static void every_script_is_read_as_it_was_meant(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
		struct world world = { .ts_ns = 1700000000000000000u };

		open_world(&world, scripts[i].met);
		run(&world, &scripts[i]);
		check_totals(&world, &scripts[i]);
		check_messages(&world, &scripts[i]);
		check_evidence(&world, &scripts[i]);
		close_world(&world);
	}
}

/* Nothing is decided before late packets had time to come; then the packet that decides says so. */
static void a_loss_is_told_once_and_late(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	uint32_t told = 0, at = 0;
	struct ft_flow_key key = key_of('A');
	const struct ft_flow *flow;

	(void)state;
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 10 });
	send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 13 });
	send(&world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = 13 });
	flow = ft_flow_find(world.table, &key, ft_flow_hash(world.table, &key));
	assert_int_equal(ft_tracker_unsettled(world.tracker, flow).mirror_lost, 2);
	for (uint32_t psn = 14; psn < 300; psn++) {
		struct ft_step step = send(
			&world, &(struct packet){
					.from = 'A', .opcode = SEND, .psn = psn, .after_us = 30 });

		if (step.mirror_lost != 0)
			at = psn;
		told += step.mirror_lost;
		assert_true(step.mirror_lost == 0 ||
			    step.lost_flow == ft_flow_number(world.table, flow));
	}
	assert_int_equal(told, 2);
	assert_in_range(at, 13 + 63, 13 + 66);
	assert_int_equal(ft_tracker_unsettled(world.tracker, flow).mirror_lost, 0);
	close_world(&world);
}

static void the_time_from_request_to_answer_is_measured(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 10 });
	assert_int_equal(send(&world,
			      &(struct packet){
				      .from = 'B', .opcode = ATOMIC_ACK, .psn = 10, .after_us = 7 })
				 .rtt_ns,
			 7 * US);
	/* sent again: which of the two was answered is not known */
	send(&world, &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 11 });
	send(&world,
	     &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 11, .after_us = 5000 });
	assert_int_equal(send(&world,
			      &(struct packet){
				      .from = 'B', .opcode = ATOMIC_ACK, .psn = 11, .after_us = 7 })
				 .rtt_ns,
			 0);
	close_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_script_is_read_as_it_was_meant),
		cmocka_unit_test(a_loss_is_told_once_and_late),
		cmocka_unit_test(the_time_from_request_to_answer_is_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
