#include "pairs_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void evicted(void *context, struct ft_flow *flow)
{
	ft_pairs_leave(context, flow);
}

struct wire wire_open(uint32_t capacity, uint64_t seed)
{
	struct wire wire = { 0 };

	assert_int_equal(ft_flow_table_create(&wire.table, capacity, seed), 0);
	assert_int_equal(ft_pairs_create(&wire.pairs, wire.table, seed), 0);
	ft_flow_on_evict(wire.table, evicted, wire.pairs);
	return wire;
}

void wire_cut(struct wire *wire)
{
	ft_pairs_destroy(wire->pairs);
	ft_flow_table_destroy(wire->table);
}

int wire_set_up(void **state)
{
	struct wire *wire = malloc(sizeof *wire);

	assert_non_null(wire);
	*wire = wire_open(16, SEED);
	*state = wire;
	return 0;
}

int wire_tear_down(void **state)
{
	wire_cut(*state);
	free(*state);
	return 0;
}

struct ft_flow_key wire_key(uint8_t from, uint32_t dest_qp)
{
	struct ft_flow_key key = {
		.dest_qp = dest_qp,
		.vni = FT_FLOW_NO_VNI,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
	};

	key.src[15] = from;
	key.dst[15] = from == THERE ? BACK : THERE;
	return key;
}

struct ft_flow *wire_take(struct wire *wire, const struct packet *packet,
			  struct ft_observed *observed)
{
	struct ft_flow_key key = wire_key(packet->from, packet->dest_qp);
	struct ft_flow *flow;

	wire->frames++;
	flow = ft_flow_find_or_create(wire->table, &key, ft_flow_hash(wire->table, &key),
				      wire->now_ns);
	flow->last_ns = wire->now_ns;
	*observed = (struct ft_observed){
		.ts_ns = wire->now_ns,
		.has = FT_OBSERVED_BTH | (packet->sport != 0 ? FT_OBSERVED_UDP : 0) |
		       (packet->service == FT_UD ? FT_OBSERVED_DETH : 0),
		.frame = wire->frames,
		.sport = packet->sport,
		.psn = packet->psn,
		.dest_qp = packet->dest_qp,
		.src_qp = packet->src_qp,
	};
	if (flow->half.service == UINT8_MAX) {
		flow->half.service = packet->service;
		ft_pairs_enter(wire->pairs, flow, observed);
	}
	return flow;
}

struct ft_flow *wire_ask(struct wire *wire, struct packet packet)
{
	struct ft_observed observed;
	struct ft_flow *flow = wire_take(wire, &packet, &observed);

	flow->half.next_psn = (packet.psn + 1) & 0xffffff;
	ft_pairs_request(wire->pairs, flow);
	return flow;
}

struct ft_flow *wire_answer(struct wire *wire, struct packet packet)
{
	struct ft_observed observed;
	struct ft_flow *flow = wire_take(wire, &packet, &observed);
	struct ft_flow *asker = ft_pairs_answer(wire->pairs, flow, &observed);

	assert_ptr_equal(asker, flow->peer == 0 ? NULL : ft_flow_at(wire->table, flow->peer));
	flow->half.answered = packet.psn;
	return flow;
}

void assert_paired(const struct wire *wire, const struct ft_flow *one, const struct ft_flow *other,
		   enum ft_paired_by by)
{
	assert_int_equal(one->peer, ft_flow_number(wire->table, other));
	assert_int_equal(other->peer, ft_flow_number(wire->table, one));
	assert_int_equal(one->half.paired_by, by);
	assert_int_equal(other->half.paired_by, by);
	assert_int_equal(one->half.pair_bits, other->half.pair_bits);
}

void assert_alone(const struct ft_flow *flow)
{
	assert_int_equal(flow->peer, 0);
	assert_int_equal(flow->half.paired_by, FT_PAIRED_NOT);
	assert_true(ft_paired_certainty(&flow->half) == 0);
}

struct packet at_psn(struct packet packet, uint32_t further)
{
	packet.psn = (packet.psn + further) & 0xffffff;
	return packet;
}
