#include "../holds.h"

#include <assert.h>
#include <string.h>

#include <decode/opcode.h>
#include <flow/paired.h>

#include "pairs.h"
#include "pairs_evidence.h"

/*
 * Whatever passes between two hosts, in a table too small for it: a peer's peer is the half itself,
 * goes the opposite way and is of the same overlay; what is not paired has no evidence kept for it;
 * and another seed finds the same pairs. Five bytes make an event.
 */

enum { CAPACITY = 12, EVENT = 5, EVENTS_MAX = 2000, QPS = 6, PORTS = 3, TWINS = 2 };

struct world {
	struct ft_flow_table *table;
	struct ft_pairs *pairs;
};

static void evicted(void *context, struct ft_flow *flow)
{
	ft_pairs_leave(context, flow);
}

static void create(struct world *world, uint64_t seed)
{
	assert(ft_flow_table_create(&world->table, CAPACITY, seed) == 0);
	assert(ft_pairs_create(&world->pairs, world->table, seed) == 0);
	ft_flow_on_evict(world->table, evicted, world->pairs);
}

static void destroy(struct world *world)
{
	ft_pairs_destroy(world->pairs);
	ft_flow_table_destroy(world->table);
}

static struct ft_flow_key key_of(unsigned from, unsigned qp)
{
	struct ft_flow_key key = {
		.dest_qp = 100 + qp % QPS,
		.vni = qp / QPS % 2 == 0 ? FT_FLOW_NO_VNI : 5,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
	};

	key.src[15] = (uint8_t)(1 + from);
	key.dst[15] = (uint8_t)(2 - from);
	return key;
}

/* The half-connection of the event, entered. */
static struct ft_flow *half_of(const struct world *world, const uint8_t *event,
			       struct ft_observed *observed)
{
	static const uint8_t services[] = {
		FT_RC, FT_RC, FT_UC, FT_UD, FT_XRC, FT_RD, FT_RC, FT_RC
	};
	struct ft_flow_key key = key_of(event[0] & 1, event[1] & 15);
	struct ft_flow *flow = ft_flow_find_or_create(
		world->table, &key, ft_flow_hash(world->table, &key), observed->ts_ns);

	flow->last_ns = observed->ts_ns;
	observed->dest_qp = key.dest_qp;
	if (flow->half.service == UINT8_MAX) {
		flow->half.service = services[event[2] >> 3 & 7];
		ft_pairs_enter(world->pairs, flow, observed);
	}
	return flow;
}

static void ask(const struct world *world, struct ft_flow *flow, uint32_t psn)
{
	flow->half.next_psn = (psn + 1) & 0xffffff;
	ft_pairs_request(world->pairs, flow);
}

static void answer(const struct world *world, struct ft_flow *flow,
		   const struct ft_observed *observed)
{
	struct ft_flow *asker = ft_pairs_answer(world->pairs, flow, observed);

	assert(asker == (flow->peer == 0 ? NULL : ft_flow_at(world->table, flow->peer)));
	flow->half.answered = observed->psn;
}

static void restart(const struct world *world, struct ft_flow *flow,
		    const struct ft_observed *observed)
{
	ft_pairs_leave(world->pairs, flow);
	assert(flow->peer == 0);
	ft_pairs_enter(world->pairs, flow, observed);
}

static void happen(const struct world *world, const uint8_t *event, uint64_t frame)
{
	static const uint16_t ports[1 << 2] = { 0, 0xc000, 0xc001, 102 };
	struct ft_observed observed = {
		.frame = frame,
		.ts_ns = frame * 300000000,
		.psn = (uint32_t)event[3] << (event[4] & 15),
		.sport = ports[event[2] & PORTS],
		.has = FT_OBSERVED_BTH | ((event[2] & PORTS) != 0 ? FT_OBSERVED_UDP : 0) |
		       (event[2] & 4 ? FT_OBSERVED_DETH : 0),
		.src_qp = 100 + event[3] % QPS,
	};
	struct ft_flow_key there = key_of(event[0] & 1, event[1] & 15);
	struct ft_flow_key back = key_of(~event[0] & 1, (event[1] >> 4 | (event[1] & 8)) & 15);

	switch (event[0] >> 1 & 7) {
	case 0:
		restart(world, half_of(world, event, &observed), &observed);
		break;
	case 1:
		back.vni = there.vni;
		ft_pairs_learn(world->pairs, &there, &back, FT_PAIRED_CM);
		break;
	case 2:
		ft_pairs_contradict(world->pairs, half_of(world, event, &observed),
				    FT_EVIDENCE_OUTSIDE);
		break;
	case 3:
	case 4:
		ask(world, half_of(world, event, &observed), observed.psn);
		break;
	default:
		answer(world, half_of(world, event, &observed), &observed);
		break;
	}
}

/* Some events many times in a row, because the waits of a search double. */
static void happen_often(const struct world *world, const uint8_t *event, uint64_t frame)
{
	for (unsigned left = event[4] >= 0xe0 ? 64 : 1; left != 0; left--)
		happen(world, event, frame);
}

static bool fits(void *context, const struct ft_flow *flow)
{
	const struct world *world = context;
	const struct ft_flow *peer;

	assert((flow->peer == 0) == (flow->half.paired_by == FT_PAIRED_NOT));
	assert((flow->peer == 0) == (flow->half.pair_bits == 0));
	assert((flow->peer == 0) == (ft_paired_certainty(&flow->half) == 0));
	if (flow->peer == 0)
		return true;
	peer = ft_flow_at(world->table, flow->peer);
	assert(peer != flow && peer->peer == ft_flow_number(world->table, flow));
	assert(peer->half.paired_by == flow->half.paired_by);
	assert(memcmp(peer->key.src, flow->key.dst, sizeof peer->key.src) == 0);
	assert(memcmp(peer->key.dst, flow->key.src, sizeof peer->key.dst) == 0);
	assert(peer->key.vni == flow->key.vni);
	return true;
}

static bool is_same(void *context, const struct ft_flow *flow)
{
	const struct world *twins = context;
	const struct ft_flow *other =
		ft_flow_at(twins[1].table, ft_flow_number(twins[0].table, flow));

	assert(memcmp(&flow->key, &other->key, sizeof flow->key) == 0);
	assert(flow->peer == other->peer);
	assert(memcmp(&flow->half, &other->half, sizeof flow->half) == 0);
	return true;
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct world twins[TWINS];

	for (unsigned twin = 0; twin < TWINS; twin++)
		create(&twins[twin], 77 + twin);
	for (size_t i = 0; i < size / EVENT && i < EVENTS_MAX; i++) {
		for (unsigned twin = 0; twin < TWINS; twin++)
			happen_often(&twins[twin], bytes + i * EVENT, i + 1);
		ft_flow_each(twins[0].table, fits, &twins[0]);
	}
	ft_flow_each(twins[0].table, is_same, twins);
	for (unsigned twin = 0; twin < TWINS; twin++)
		destroy(&twins[twin]);
}
