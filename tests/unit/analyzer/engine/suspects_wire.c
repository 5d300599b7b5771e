#include "suspects_wire.h"

int set_up(void **state)
{
	static struct wire wire;

	wire = (struct wire){ .now_ns = START_NS };
	assert_int_equal(ft_flow_table_create(&wire.table, 1024, 7), 0);
	assert_int_equal(ft_suspects_create(&wire.suspects, wire.table), 0);
	*state = &wire;
	return 0;
}

int tear_down(void **state)
{
	struct wire *wire = *state;

	ft_suspects_destroy(wire->suspects);
	ft_flow_table_destroy(wire->table);
	return 0;
}

struct ft_flow *flow_of(struct wire *wire, bool from_b, uint32_t dest_qp)
{
	struct ft_flow_key key = {
		.dest_qp = dest_qp,
		.vni = FT_FLOW_NO_VNI,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
	};

	key.src[15] = from_b ? 2 : 1;
	key.dst[15] = from_b ? 1 : 2;
	return ft_flow_find_or_create(wire->table, &key, ft_flow_hash(wire->table, &key),
				      wire->now_ns);
}

struct ft_observed request(uint32_t nth)
{
	return (struct ft_observed){
		.has = FT_OBSERVED_BTH | FT_OBSERVED_ETH | FT_OBSERVED_IP | FT_OBSERVED_IPV4 |
		       FT_OBSERVED_UDP | FT_OBSERVED_PAYLOAD | FT_OBSERVED_CONTENT |
		       FT_OBSERVED_WHOLE,
		.pair = 99,
		.content = 0x10000001u * (nth + 1),
		.payload = 64,
		.psn = (FIRST_PSN + nth) & 0xffffff,
		.dest_qp = 17,
		.pkey = 0xffff,
		.sport = 50000,
		.ip_id = (uint16_t)(300 + nth),
		.smac = { 2, 0, 0, 0, 0, 1 },
		.opcode = SEND_ONLY,
		.ttl = 64,
		.dscp = 26,
	};
}

uint32_t send_as(struct wire *wire, bool from_b, struct ft_observed observed, uint32_t what)
{
	struct ft_flow *flow = flow_of(wire, from_b, observed.dest_qp);
	struct ft_step step = { .what = what };

	wire->now_ns += 10 * US;
	observed.ts_ns = wire->now_ns;
	observed.frame = ++wire->frame;
	if (flow->packets == 0) {
		step.what |= FT_STEP_RESTART;
		flow->first_base = observed.pkey & 0x7fff;
		flow->half.service = observed.opcode >> 5;
	}
	ft_suspects_step(wire->suspects, flow, &observed, &step, &wire->suspicion);
	flow->packets++;
	flow->last_ns = observed.ts_ns;
	return wire->suspicion.rules;
}

uint32_t a_sends(struct wire *wire, struct ft_observed observed, uint32_t what)
{
	return send_as(wire, false, observed, what);
}

void talk(struct wire *wire, uint32_t count)
{
	for (uint32_t nth = 0; nth < count; nth++)
		assert_int_equal(a_sends(wire, request(nth), FT_STEP_NEW), 0);
}

struct ft_observed datagram(uint32_t nth)
{
	struct ft_observed observed = request(nth);

	observed.opcode = UD_SEND_ONLY;
	observed.has |= FT_OBSERVED_DETH;
	observed.src_qp = 80;
	observed.qkey = 0x11111111;
	return observed;
}

uint32_t send_datagram(struct wire *wire, struct ft_observed observed)
{
	return a_sends(wire, observed, FT_STEP_NEW);
}
