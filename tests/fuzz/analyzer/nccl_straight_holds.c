/*
 * Packets that may go straight tell the follower what they would tell it the general way: of a connection that is known,
 * clear-to-sends and data as they should be, spoilt ones among them, everything that is found and remembered is the same.
 */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include "../holds.h"

#include "followed.h"
#include "packet_play.h"

enum {
	SLOT = 512, /* of family E */
	KNOWN = 10, /* messages until it is known */
	KNOWN_OF_SEVERAL = 24,
	FOUND = 64
};

/* One of the two followers. */
struct way {
	struct ft_nccl_qps *qps;
	struct ft_nccl_connections *connections;
	struct ft_nccl_found found[FOUND];
	unsigned found_count;
};

enum stage { IDLE, WRITING, WRITTEN };

enum { LANES = 4 /* at most */ };

/* Half-connections that have a number of their own at a time. */
enum { NUMBERED = 12, NUMBERS_APART = FT_NCCL_HINTS /* two that share their place in the table */ };

struct numbers {
	struct {
		uint8_t from;
		bool in_overlay;
		uint32_t qpn;
	} of[NUMBERED];
	uint32_t count, since;
};

/* What is under way on a queue pair. */
struct lane {
	uint64_t next; /* message; UINT64_MAX: others take its turns */
	uint32_t psn, length, whole;
	uint64_t va;
	enum stage stage;
};

/* Where messages are asked for: so many places, so far apart, and how many of them wait for their data, at most. */
struct places {
	uint64_t at, apart;
	unsigned count, waiting;
};

static const struct places layouts[] = {
	{ BUFFER_AT, OFFERED, BUFFERS, BUFFERS },
	{ BUFFER_AT, OFFERED, 3, BUFFERS },                     /* some wait in one place */
	{ UINT64_C(0x7f3affb00000), OFFERED, 2 * BUFFERS, 12 }, /* the upper half changes */
	{ BUFFER_AT, OFFERED / 2, 2 * BUFFERS, 12 },            /* they overlap */
	{ BUFFER_AT, OFFERED, 2 * BUFFERS, 12 },
	{ BUFFER_AT, OFFERED, 1000, BUFFERS },
	{ BUFFER_AT, OFFERED, 5, 4 },
	{ BUFFER_AT, OFFERED, BUFFERS, 4 },
};

struct world {
	struct way straight, general;
	const struct places *places;
	bool adaptive, split, set_up, by_lid;
	uint8_t slots_bits, lane_count;
	uint8_t in_use;        /* lanes that take turns now */
	uint64_t frame, asked; /* messages */
	uint32_t cts_psn;
	struct lane lanes[LANES];
	uint8_t spoil; /* enum spoilt: of the next packet */
	struct numbers numbers;
};

static void found(void *context, const struct ft_nccl_found *what)
{
	struct way *way = context;

	if (way->found_count < FOUND)
		way->found[way->found_count++] = *what;
}

/* Its half-connection's own, as long as `since` stays; where there is none left all of them are given anew. */
static uint32_t number_of(struct numbers *numbers, const struct packet *packet)
{
	uint32_t at = 0;

	while (at < numbers->count &&
	       (numbers->of[at].from != packet->from || numbers->of[at].qpn != packet->qpn ||
		numbers->of[at].in_overlay != packet->in_overlay))
		at++;
	if (at == NUMBERED) {
		numbers->since++;
		numbers->count = at = 0;
	}
	if (at == numbers->count) {
		numbers->of[at].from = packet->from;
		numbers->of[at].qpn = packet->qpn;
		numbers->of[at].in_overlay = packet->in_overlay;
		numbers->count++;
	}
	return at / 2 + at % 2 * NUMBERS_APART;
}

static void show(struct world *world, const struct packet *packet)
{
	const struct ft_nccl_seen seen = seen_of(packet, ++world->frame);
	const struct ft_nccl_way way = ft_nccl_connections_way(world->straight.connections);
	bool is_alone = world->numbers.since != 0;
	uint32_t number = is_alone ? number_of(&world->numbers, packet)
				   : seen.dest_qp & 1; /* many are alike */

	if (is_alone && (uint32_t)world->frame == 0)
		world->numbers.since++; /* the upper half of its number is another one */
	ft_nccl_connections_see(world->general.connections, &seen, NULL);
	ft_nccl_prefetch(&way, number);
	if (!goes_straight(world->straight.connections, &seen, number, world->numbers.since))
		ft_nccl_connections_see(world->straight.connections, &seen, NULL);
}

/* --- what may be wrong with one --- */

enum spoilt {
	NOTHING,
	LOST,
	TWICE,
	AHEAD_OF_TURN,
	BEHIND,
	ELSEWHERE,
	OTHER_KEY,
	OTHER_IMMEDIATE,
	LONGER,
	OTHER_HOST,
	OTHER_QP,
	OTHER_ENTRY,
	CUT,
	MORE_ENTRIES,
	IN_OVERLAY, /* somebody else's, with the same addresses */
	SPOILT
};

static void spoil(struct world *world, struct packet *packet)
{
	packet->psn += world->spoil == AHEAD_OF_TURN ? 1 : world->spoil == BEHIND ? -1u : 0;
	packet->va += world->spoil == ELSEWHERE ? 64 : 0;
	packet->rkey ^= world->spoil == OTHER_KEY ? 1 : 0;
	packet->immdt ^= world->spoil == OTHER_IMMEDIATE ? 4 : 0;
	packet->length += world->spoil == LONGER ? 4 : 0;
	packet->from = world->spoil == OTHER_HOST ? STRANGER : packet->from;
	packet->qpn += world->spoil == OTHER_QP ? 7 : 0;
	packet->in_overlay = world->spoil == IN_OVERLAY && !world->by_lid;
	packet->captured -= world->spoil == CUT && packet->captured > 20 ? 20 : 0;
	packet->bytes[9] ^= world->spoil == OTHER_ENTRY ? 1 : 0;
	if (world->spoil == MORE_ENTRIES && packet->opcode == 0x0a)
		packet->length = packet->payload = packet->captured = 2 * packet->captured;
}

static void pass(struct world *world, struct packet packet)
{
	uint8_t spoilt = world->spoil;

	packet.by_lid = world->by_lid;
	spoil(world, &packet);
	world->spoil = NOTHING;
	if (spoilt == LOST)
		return;
	show(world, &packet);
	if (spoilt == TWICE)
		show(world, &packet);
}

/* --- the conversation --- */

static uint64_t place_of(const struct world *world, uint64_t k)
{
	return world->places->at + k % world->places->count * world->places->apart;
}

static void ask(struct world *world)
{
	uint64_t k = world->asked++;
	uint64_t slots = UINT64_C(8) << world->slots_bits;
	struct packet packet = clear_to_send('E', k, world->cts_psn++);

	packet.va = FIFO_AT + k % slots * SLOT;
	for (unsigned i = 0; i < 8; i++)
		packet.bytes[i] = (uint8_t)(place_of(world, k) >> 8 * i);
	pass(world, packet);
}

/* Nothing is under way: from here on so many of the queue pairs have the messages. */
static void share_out(struct world *world, unsigned count)
{
	world->in_use = (uint8_t)count;
	for (unsigned i = 0; i < world->lane_count; i++)
		world->lanes[i].next = world->split ? world->asked
				       : i < count  ? world->asked + i
						    : UINT64_MAX;
}

/* The first message that some queue pair has not brought yet. */
static uint64_t answered(const struct world *world)
{
	uint64_t least = world->lanes[0].next;

	for (unsigned i = 1; i < world->lane_count; i++)
		least = world->lanes[i].next < least ? world->lanes[i].next : least;
	return least;
}

static void send_data(struct world *world, unsigned at, uint8_t opcode, uint32_t psn, bool bare)
{
	const struct lane *lane = &world->lanes[at];

	pass(world, (struct packet){ .from = SENDER,
				     .to = RECEIVER,
				     .opcode = opcode,
				     .qpn = RECEIVER_QP + 2 * at,
				     .psn = psn,
				     .va = bare ? 0 : lane->va,
				     .rkey = bare ? 0 : DATA_KEY,
				     .length = bare ? 0 : lane->length,
				     .payload = bare             ? 0
						: opcode == 0x06 ? MTU
								 : 4,
				     .immdt = lane->whole });
}

/* Of a message that all share, parts are alike: the number of packets is told by the message. */
static void begin(struct world *world, unsigned at, uint8_t choice)
{
	struct lane *lane = &world->lanes[at];
	uint64_t k = lane->next;
	uint32_t packets = 2 + (world->split ? (uint32_t)k % 5 : choice & 15);
	bool is_short = world->split ? k % 4 == 3 : (choice & 7) == 0;

	lane->length = is_short ? 4 : (packets - 1) * MTU + (world->split ? MTU : 4);
	if (world->split && is_short)
		lane->length = 128;
	lane->whole = lane->length * (world->split ? world->lane_count : 1);
	lane->va = place_of(world, k) + (world->split ? at * lane->length : 0);
	if (is_short) {
		send_data(world, at, 0x0b, lane->psn++, false);
		lane->next += world->split ? 1 : world->in_use;
		return;
	}
	send_data(world, at, 0x06, lane->psn, false);
	lane->psn += packets - 1;
	lane->stage = WRITING;
}

static void answer(struct world *world, unsigned at, uint8_t choice)
{
	struct lane *lane = &world->lanes[at];
	bool alone = world->adaptive && lane->whole > 8192;

	if (lane->stage == IDLE) {
		begin(world, at, choice);
		return;
	}
	if (lane->stage == WRITTEN)
		send_data(world, at, 0x0b, lane->psn++, true);
	else
		send_data(world, at, alone ? 0x08 : 0x09, lane->psn++, false);
	lane->stage = lane->stage == WRITING && alone ? WRITTEN : IDLE;
	if (lane->stage == IDLE)
		lane->next += world->split ? 1 : world->in_use;
}

static void acknowledge(struct world *world, unsigned at, bool data)
{
	uint32_t psn = data ? world->lanes[at].psn : world->cts_psn;

	pass(world, (struct packet){ .from = data ? RECEIVER : SENDER,
				     .to = data ? SENDER : RECEIVER,
				     .opcode = 0x11,
				     .qpn = (data ? SENDER_QP : RECEIVER_QP) + 2 * at,
				     .psn = psn - 1 });
}

/* --- the two are the same --- */

static void are_same_shares(const struct ft_nccl_share *a, const struct ft_nccl_share *b)
{
	assert(a->used == b->used && a->begun == b->begun && a->ended == b->ended);
	assert(a->bytes == b->bytes && a->first.va == b->first.va && a->packets == b->packets);
	assert(a->from == b->from && a->to == b->to && a->immdt == b->immdt);
	assert(a->requests == b->requests);
}

/* What only several lanes have a use for. */
static void are_same_parts(const struct ft_nccl_ring *a, const struct ft_nccl_ring *b)
{
	assert(a->share_room == b->share_room);
	for (uint32_t i = 0; i < a->slots * a->share_room; i++) {
		const struct ft_nccl_share *one = &a->shares[i], *other = &b->shares[i];

		if (!a->transfers[i / a->share_room].used)
			continue;
		are_same_shares(one, other);
		assert(one->searched == other->searched && one->counted == other->counted);
		assert(one->turn == other->turn && one->last.frame == other->last.frame);
		assert(one->imm_frame == other->imm_frame);
	}
}

static void are_same_requests(const struct ft_nccl_request *a, const struct ft_nccl_request *b)
{
	assert(a->va == b->va && a->offered == b->offered && a->written == b->written);
	assert(a->has_offered == b->has_offered && a->has_written == b->has_written);
	assert(a->has_tag == b->has_tag && a->tag == b->tag && a->rkey_count == b->rkey_count);
	assert(memcmp(a->rkeys, b->rkeys, sizeof a->rkeys) == 0);
}

static void are_same_messages(const struct ft_nccl_ring *a, const struct ft_nccl_ring *b)
{
	assert(a->slots == b->slots);
	for (uint32_t i = 0; i < a->slots; i++) {
		const struct ft_nccl_transfer *one = &a->transfers[i], *other = &b->transfers[i];

		assert(one->used == other->used);
		if (!one->used)
			continue;
		assert(one->has_cts == other->has_cts && one->doubtful == other->doubtful);
		assert(one->bare == other->bare && one->written == other->written);
		assert(one->immdt == other->immdt && one->message.k == other->message.k);
		assert(one->message.has_k == other->message.has_k);
		assert(one->message.has_imm == other->message.has_imm);
		assert(one->message.cts_frame == other->message.cts_frame);
		assert(one->message.first_frame == other->message.first_frame);
		assert(one->message.packets == other->message.packets);
		assert(one->message.request_count == other->message.request_count);
		are_same_requests(ft_nccl_ring_requests(a, one), ft_nccl_ring_requests(b, other));
		are_same_shares(ft_nccl_ring_shares(a, one), ft_nccl_ring_shares(b, other));
	}
}

static void are_same_lanes(const struct ft_nccl_lane *a, const struct ft_nccl_lane *b)
{
	assert(a->data.next == b->data.next && a->cts.next == b->cts.next);
	assert(a->data.hole_count == b->data.hole_count && a->cts.hole_count == b->cts.hole_count);
	assert(a->next == b->next && a->at == b->at && a->cts_k == b->cts_k);
	assert(a->open == b->open && a->writing == b->writing && a->exact == b->exact);
	assert(!a->writing || a->write_end == b->write_end);
	assert(a->ended_to == b->ended_to && a->begun_frame == b->begun_frame);
	assert(a->turns == b->turns);
	assert(a->cts_acked.known == b->cts_acked.known && a->cts_acked.psn == b->cts_acked.psn);
	assert(a->has_early == b->has_early && a->has_odd == b->has_odd && a->alien == b->alien);
	assert(a->refused == b->refused && a->orphans == b->orphans);
	assert(a->data_acked.ordered == b->data_acked.ordered);
}

static void are_same_of_several(const struct ft_nccl_lane *a, const struct ft_nccl_lane *b)
{
	assert(a->slack == b->slack);
	assert(a->data_acked.known == b->data_acked.known);
	assert(a->data_acked.psn == b->data_acked.psn && a->counted == b->counted);
}

static void are_same_models(const struct ft_nccl_connection *a, const struct ft_nccl_connection *b)
{
	assert(a->cts == b->cts && a->messages == b->messages);
	assert(a->payload_bytes == b->payload_bytes);
	assert(a->retransmitted_data == b->retransmitted_data);
	assert(a->retransmitted_cts == b->retransmitted_cts && a->adaptive == b->adaptive);
	assert(a->imm_content == b->imm_content && a->imm_order == b->imm_order);
	assert(a->fifo.addr == b->fifo.addr && a->fifo.slots == b->fifo.slots);
	assert(a->family == b->family && a->version_first == b->version_first);
	assert(a->version_last == b->version_last && a->split == b->split);
}

static void are_same(const struct ft_nccl_followed *a, const struct ft_nccl_followed *b,
		     bool are_several)
{
	are_same_models(&a->model, &b->model);
	assert(a->lane_count == b->lane_count && a->retired == b->retired);
	assert(a->newest == b->newest && a->oldest == b->oldest && a->readable == b->readable);
	assert(a->in_a_row == b->in_a_row && a->by_length == b->by_length);
	assert(a->steps == b->steps && a->trouble == b->trouble && a->pmtu == b->pmtu);
	assert(a->lacking == b->lacking && a->left_out == b->left_out);
	are_same_messages(&a->ring, &b->ring);
	assert(a->numbered == b->numbered && a->overtaken == b->overtaken && a->ways == b->ways);
	for (uint8_t i = 0; i < a->lane_count; i++) {
		are_same_lanes(&a->lanes[i], &b->lanes[i]);
		if (are_several)
			are_same_of_several(&a->lanes[i], &b->lanes[i]);
	}
	if (are_several)
		are_same_parts(&a->ring, &b->ring);
}

static void are_same_findings(const struct way *a, const struct way *b)
{
	assert(a->found_count == b->found_count);
	for (unsigned i = 0; i < a->found_count; i++) {
		assert(a->found[i].fault == b->found[i].fault);
		assert(a->found[i].frame == b->found[i].frame && a->found[i].k == b->found[i].k);
		assert(a->found[i].connection == b->found[i].connection);
		assert(strcmp(a->found[i].text, b->found[i].text) == 0);
	}
}

static void compare(struct world *world)
{
	struct ft_nccl_kept straight, general;

	assert(ft_nccl_connections_keep(world->straight.connections, &straight) == 0);
	assert(ft_nccl_connections_keep(world->general.connections, &general) == 0);
	assert(straight.connection_count == general.connection_count);
	assert(world->straight.connections->count == world->general.connections->count);
	for (uint32_t i = 0; i < world->straight.connections->count; i++)
		are_same(world->straight.connections->all[i], world->general.connections->all[i],
			 world->lane_count > 1);
	are_same_findings(&world->straight, &world->general);
}

/* --- */

static void open_way(struct way *way, uint32_t queue_pairs)
{
	const struct ft_nccl_config config = { .connections = 4,
					       .queue_pairs = queue_pairs,
					       .findings = FOUND,
					       .ends_only = true,
					       .seed = 4711 };
	const struct ft_nccl_sink sink = { .found = found, .context = way };

	assert(ft_nccl_qps_create(&way->qps, queue_pairs, 4711) == 0);
	assert(ft_nccl_connections_create(&way->connections, &config, way->qps, &sink) == 0);
}

static void close_way(struct way *way)
{
	ft_nccl_connections_destroy(way->connections);
	ft_nccl_qps_destroy(way->qps);
}

/* --- what comes between packets --- */

/* The connection's set-up is read late, whether or not its FIFO has as many slots. */
static void set_up(struct world *world)
{
	const struct set_up set_up = {
		.metadata_bytes = 3576, /* 2.24 and 2.25, of 256 slots */
		.fifo = FIFO_AT,
		.queue_pairs = world->lane_count,
		.vni = UINT32_MAX,
		.frames = { world->frame + 1, world->frame + 2 },
	};

	world->set_up = true;
	world->frame += 2;
	learn_set_up(world->general.connections, &set_up);
	learn_set_up(world->straight.connections, &set_up);
}

/* Two frames more, and their numbers have another upper half. */
static void skip_frames(struct world *world)
{
	if ((uint32_t)world->frame < UINT32_MAX - 2)
		world->frame = (world->frame | UINT32_MAX) - 2;
}

/* Who had a number has another one. */
static void number_anew(struct world *world)
{
	if (world->numbers.since == 0)
		return;
	world->numbers.since++;
	world->numbers.count = 0;
}

/* From this queue pair on the first that has something to bring. */
static unsigned lane_with_data(const struct world *world, unsigned at)
{
	at %= world->lane_count;
	while (world->lanes[at].stage == IDLE && world->lanes[at].next >= world->asked)
		at = (at + 1) % world->lane_count;
	return at;
}

static void step(struct world *world, uint8_t byte)
{
	uint64_t done = answered(world);
	bool may_ask = world->asked - done < world->places->waiting;

	if (byte >= 0xf0)
		world->spoil = (uint8_t)((byte & 15) % SPOILT);
	else if (byte == 0xef)
		compare(world);
	else if (byte == 0xee)
		skip_frames(world);
	else if (byte == 0xed && !world->set_up && !world->by_lid)
		set_up(world);
	else if (byte == 0xec)
		number_anew(world);
	else if (byte >= 0xe8 && done == world->asked)
		share_out(world, 1 + (byte & 3u) % world->lane_count);
	else if (byte >= 0xe0)
		acknowledge(world, (byte & 1) != 0 ? (byte >> 1 & 7u) % world->lane_count : 0,
			    (byte & 1) != 0);
	else if (may_ask && (byte < 0x60 || world->asked == done))
		ask(world);
	else
		answer(world, lane_with_data(world, byte >> 4), byte);
}

static bool is_straight(const struct world *world)
{
	return world->straight.connections->all[0]->straight->is_on;
}

/* Of a FIFO whose slots were seen to begin anew, they may do so as often as they like. */
static void go_round(struct world *world)
{
	for (uint8_t i = 0; i < 4 * KNOWN; i++) {
		step(world, i % 2 == 0 ? 0x00 : 0x69);
		assert(is_straight(world));
	}
}

/* A message asked for, and brought by whoever has it. */
static void converse(struct world *world)
{
	ask(world);
	while (answered(world) < world->asked)
		answer(world, lane_with_data(world, 0), 0x69);
}

static void get_known(struct world *world)
{
	for (unsigned i = 0; i < (world->lane_count == 1 ? KNOWN : KNOWN_OF_SEVERAL); i++)
		converse(world);
	acknowledge(world, 0, false);
	for (unsigned i = 0; i < world->lane_count; i++)
		acknowledge(world, i, true);
	converse(world);
	assert(is_straight(world));
}

/* The first byte tells of one queue pair, the second how many there are, what they do, and where. */
static void begin_world(struct world *world, uint8_t first, uint8_t second)
{
	static const uint8_t counts[] = { 1, 1, 2, 4 };
	uint8_t slots_bits = first >> 1 & 7;

	*world = (struct world){ .adaptive = (first & 1) != 0,
				 .split = (second & 4) != 0,
				 .lane_count = counts[second & 3],
				 .places = &layouts[second >> 6 | (first >> 7) << 2],
				 .slots_bits = slots_bits < 6 ? slots_bits : 5,
				 .cts_psn = first >> 4 == 0 ? 0xfffff0 : 0,
				 .numbers.since = (second & 32) != 0 ? 1 : 0 };
	share_out(world, world->lane_count);
	open_way(&world->straight, 0);
	open_way(&world->general, 16); /* whose queue pairs are kept never goes straight */
	world->by_lid = (second & 24) == 16;
	if (world->lane_count > 1 && (second & 8) != 0) {
		world->cts_psn = 0;
		world->slots_bits = 5;
		set_up(world);
	}
	get_known(world);
	if (world->slots_bits == 0 && world->lane_count == 1)
		go_round(world);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	static struct world world;

	if (size < 2)
		return;
	begin_world(&world, bytes[0], bytes[1]);
	for (size_t i = 2; i < size; i++)
		step(&world, bytes[i]);
	compare(&world);
	close_way(&world.straight);
	close_way(&world.general);
}
