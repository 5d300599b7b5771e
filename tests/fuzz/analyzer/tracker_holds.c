#include "../holds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <lives.h>
#include <moved.h>
#include <tracker_parts.h>

/*
 * Whatever is sent over a few connections: what the tracker says of single packets adds up to its
 * totals and to the loss evidence, its lists stay whole, and nothing is kept beyond the pool.
 */

enum { CONNECTIONS = 3, CAPACITY = 5, SPANS = 24, PACKET = 6 };

struct world {
	struct ft_flow_table *table;
	struct ft_tracker *tracker;
	struct ft_loss_evidence *evidence;
	uint64_t frame, ts_ns;
	uint64_t lost, answers_lost; /* by steps */
	uint64_t unsaid;             /* settled by evictions and set-ups: in no step */
	uint32_t held;               /* spans, at the end */
	uint32_t psn[2 * CONNECTIONS];
};

static const uint8_t opcodes[] = {
	0x00, 0x01, 0x02, 0x04, 0x06, 0x07, 0x08, 0x0a, /* SEND, WRITE */
	0x0c, 0x0c, 0x0d, 0x0e, 0x0f, 0x10,             /* READ and responses */
	0x11, 0x11, 0x11, 0x12, 0x13, 0x1c, 0x1d,       /* ACKNOWLEDGE, atomics, FLUSH */
	0x20, 0x21, 0x22, 0x2a,                         /* UC */
	0x44, 0x64, 0x81, 0xa4, 0xac, 0xb1, 0xc5,       /* RD, UD, CNP, XRC, unknown */
};

static const uint32_t lengths[] = { 0, 1, 256, 300, 1024, 4096, 20000, UINT32_MAX };
static const uint8_t syndromes[] = { 0x00, 0x1f, 0x20, 0x60, 0x61, 0x62, 0x63, 0x40 };

/* Settled, what is kept until all engines' are together as well. */
static uint64_t settled_lost(const struct world *world)
{
	const struct ft_moved_holes *moved = world->tracker->moved;
	uint64_t lost = world->tracker->totals.mirror_lost;

	for (uint32_t i = 0; i < moved->count; i++)
		lost += moved->all[i].outcome.lost;
	return lost;
}

static void evicted(void *context, struct ft_flow *flow)
{
	struct world *world = context;
	uint64_t before = settled_lost(world);

	ft_tracker_forget(world->tracker, flow);
	world->unsaid += settled_lost(world) - before;
}

static void set_up(struct world *world, const struct ft_flow_key *there,
		   const struct ft_flow_key *back)
{
	uint64_t before = settled_lost(world);

	ft_tracker_pair(world->tracker, there, back, FT_PAIRED_CM);
	world->unsaid += settled_lost(world) - before;
}

static void open_world(struct world *world)
{
	struct ft_tracker_config config = FT_TRACKER_DEFAULTS;

	config.spans = SPANS;
	world->evidence = calloc(1, sizeof *world->evidence);
	assert(world->evidence != NULL);
	ft_loss_init(world->evidence);
	assert(ft_flow_table_create(&world->table, CAPACITY, 1) == 0);
	assert(ft_tracker_create(&world->tracker, &config, world->table, world->evidence) == 0);
	ft_flow_on_evict(world->table, evicted, world);
}

static void close_world(struct world *world)
{
	ft_tracker_destroy(world->tracker);
	ft_flow_table_destroy(world->table);
	free(world->evidence);
}

static struct ft_flow_key key_of(unsigned half)
{
	struct ft_flow_key key = { .dest_qp = 16 + half,
				   .vni = FT_FLOW_NO_VNI,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN };

	key.src[15] = (uint8_t)(1 + (half & 1));
	key.dst[15] = (uint8_t)(2 - (half & 1));
	return key;
}

/* Near the half's last PSN, mostly; a request moves that on. Answers use the other half's. */
static uint32_t psn_of(struct world *world, unsigned half, uint8_t opcode, const uint8_t *bytes)
{
	uint8_t role = ft_operation(opcode)->role;
	bool request = role == FT_ROLE_REQUEST || role == FT_ROLE_QUESTION;
	uint32_t *near = &world->psn[request ? half : half ^ 1];
	uint32_t psn = *near + bytes[2] - (bytes[2] & 0x80u) * 2;

	if (bytes[0] >> 3 == 31)
		psn = (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 8;
	else if ((bytes[0] >> 3 & 3) != 0)
		psn = *near + (bytes[2] & 1);
	psn &= 0xffffff;
	if (request)
		*near = (psn + 1) & 0xffffff;
	return psn;
}

static struct ft_observed read_packet(struct world *world, unsigned half, const uint8_t *bytes)
{
	uint8_t opcode = opcodes[bytes[1] % sizeof opcodes];

	world->ts_ns += (uint64_t)bytes[5] << (bytes[5] & 31);
	return (struct ft_observed){
		.ts_ns = bytes[5] == 255 ? UINT64_MAX : world->ts_ns,
		.frame = ++world->frame,
		.has = FT_OBSERVED_BTH | FT_OBSERVED_PAYLOAD |
		       (bytes[4] & 0x80 ? 0u : FT_OBSERVED_RETH | FT_OBSERVED_AETH) |
		       (bytes[3] & 1 ? FT_OBSERVED_ACK_REQUEST : 0u),
		.opcode = opcode,
		.psn = psn_of(world, half, opcode, bytes),
		.dest_qp = 16 + half,
		.payload = lengths[bytes[4] >> 4 & 7] & 0x1fff,
		.length = lengths[bytes[4] & 7],
		.syndrome = syndromes[bytes[4] & 7],
	};
}

static void check_step(struct world *world, const struct ft_observed *observed,
		       const struct ft_step *step)
{
	const uint32_t places = FT_STEP_NEW | FT_STEP_RETRANSMITTED | FT_STEP_REORDERED |
				FT_STEP_FABRIC_LOST | FT_STEP_OUTSIDE;
	uint32_t place = step->what & places;

	assert((place & (place - 1)) == 0); /* at most one of them */
	assert((step->what & FT_STEP_GAP) == 0 || (step->what & FT_STEP_NEW) != 0);
	assert((step->mirror_lost == 0 && step->open == 0) == (step->lost_flow == 0));
	assert(step->lost_flow <= CAPACITY && step->answers_flow <= CAPACITY);
	assert(step->message_flow <= CAPACITY && step->message_kind < FT_MESSAGE_KINDS);
	assert(observed->ts_ns != UINT64_MAX || step->rtt_ns == 0);
	world->lost += step->mirror_lost;
	world->answers_lost += step->answers_lost;
}

static void take(struct world *world, const uint8_t *bytes)
{
	unsigned half = (bytes[0] & 7) % (2 * CONNECTIONS);
	struct ft_flow_key key = key_of(half), back = key_of(half ^ 1);
	struct ft_observed observed = read_packet(world, half, bytes);
	struct ft_flow *flow;
	struct ft_step step;

	if (bytes[3] == 0xfe)
		set_up(world, &key, &back);
	flow = ft_flow_find_or_create(world->table, &key, ft_flow_hash(world->table, &key),
				      observed.ts_ns);
	ft_tracker_prefetch(world->tracker, flow);
	ft_tracker_step(world->tracker, flow, &observed, &step);
	flow->packets++;
	flow->last_ns = observed.ts_ns;
	check_step(world, &observed, &step);
}

/* What spares looks at a ring is true of it: of span `number`, and of the one behind it. */
static void check_traits(const struct ft_spans *spans, const struct ft_half *half, uint32_t number)
{
	const struct ft_span *span = ft_span_at(spans, number);
	const struct ft_span *next = ft_span_at(spans, span->next);
	uint32_t kind = 1u << span->kind;
	uint32_t found = ft_spans_find(spans, half, span->from, kind);

	assert(found != 0 && ft_span_at(spans, found)->kind == span->kind);
	if (!ft_spans_are_sorted(half))
		return;
	assert(found == number);
	assert(ft_spans_find_newest(spans, half, span->from, kind) == number);
	if (span->next != half->spans)
		assert(((next->from - span->from) & 0xffffff) >= span->count);
}

/* The ring of one half is whole and within bounds; returns how many it has. */
static uint32_t check_ring(const struct ft_spans *spans, const struct ft_half *half)
{
	uint32_t number = half->spans;

	assert((number == 0) == (half->span_count == 0));
	for (unsigned i = 0; i < half->span_count; i++) {
		const struct ft_span *span = ft_span_at(spans, number);

		assert(number <= spans->used && span->from <= 0xffffff);
		assert(span->count > 0 && span->count <= FT_PSN_HALF);
		assert(ft_span_at(spans, span->next)->prev == number);
		check_traits(spans, half, number);
		number = span->next;
	}
	assert(number == half->spans);
	return half->span_count;
}

/* The life before one that is doubted keeps what it awaits. */
static uint32_t check_former(const struct world *world, const struct ft_flow *flow)
{
	const struct ft_span *doubt = ft_former_span(&world->tracker->spans, &flow->half);
	const struct ft_former *former =
		doubt == NULL ? NULL : &world->tracker->formers.all[doubt->begin];

	if (former == NULL || former->flow != ft_tracker_number(world->tracker, flow))
		return 0;
	return check_ring(&world->tracker->spans, &former->asked);
}

static bool check_spans(void *context, const struct ft_flow *flow)
{
	struct world *world = context;

	world->held += check_ring(&world->tracker->spans, &flow->half);
	world->held += check_former(world, flow);
	return true;
}

static uint32_t free_spans(const struct ft_spans *spans)
{
	uint32_t count = 0;

	for (uint32_t number = spans->free; number != 0; number = ft_span_at(spans, number)->next)
		count++;
	return count;
}

static uint64_t holes(const struct ft_loss_evidence *evidence, uint64_t *told)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < evidence->used; i++) {
		sum += evidence->bins[i].holes;
		*told += evidence->bins[i].spaces + evidence->bins[i].silent;
	}
	return sum;
}

static void check_sums(struct world *world)
{
	struct ft_tracker_totals totals = ft_tracker_totals(world->tracker, NULL);
	const struct ft_spans *spans = &world->tracker->spans;
	uint64_t told = 0;

	assert(totals.mirror_lost == totals.lost_by_gap + totals.lost_by_ack);
	assert(settled_lost(world) == world->lost + world->answers_lost + world->unsaid);
	ft_flow_each(world->table, check_spans, world);
	assert(world->held + free_spans(spans) == spans->used);
	totals = ft_tracker_totals(world->tracker, world->evidence);
	assert(totals.mirror_lost == totals.lost_by_gap + totals.lost_by_ack);
	assert(holes(world->evidence, &told) == totals.mirror_lost);
	assert(told == world->frame);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	open_world(&world);
	for (; size >= PACKET; bytes += PACKET, size -= PACKET)
		take(&world, bytes);
	check_sums(&world);
	close_world(&world);
}
