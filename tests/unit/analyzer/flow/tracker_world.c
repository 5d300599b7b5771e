#include "tracker_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct ft_flow_key world_key(char from)
{
	struct ft_flow_key key = { .dest_qp = from == 'A' ? 2 : 1,
				   .vni = FT_FLOW_NO_VNI,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN };

	key.src[15] = (uint8_t)from;
	key.dst[15] = from == 'A' ? 'B' : 'A';
	return key;
}

void world_open(struct world *world, uint8_t met)
{
	struct ft_tracker_config config = FT_TRACKER_DEFAULTS;
	struct ft_flow_key there = world_key('A'), back = world_key('B');

	world->evidence = calloc(1, sizeof *world->evidence);
	assert_non_null(world->evidence);
	ft_loss_init(world->evidence);
	assert_int_equal(ft_flow_table_create(&world->table, 16, 1), 0);
	assert_int_equal(ft_tracker_create(&world->tracker, &config, world->table, world->evidence),
			 0);
	if (met != false)
		ft_tracker_pair(world->tracker, &there, &back,
				met == JOINED ? FT_PAIRED_UD_SOURCE_QP : FT_PAIRED_CM);
}

void world_close(struct world *world)
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
		       (packet->more != 0 ? FT_OBSERVED_RETH : 0u) |
		       (packet->asks ? FT_OBSERVED_ACK_REQUEST : 0u),
		.opcode = packet->opcode,
		.psn = packet->psn,
		.payload = packet->opcode == READ || packet->opcode == ACK ? 0 : MTU,
		.length = packet->opcode == ACK ? packet->msn : packet->more,
		.syndrome = (uint8_t)packet->more,
	};
}

struct ft_step world_send(struct world *world, const struct packet *packet)
{
	struct ft_observed observed = observe(world, packet);
	struct ft_flow_key key = world_key(packet->from);
	struct ft_flow *flow = ft_flow_find_or_create(
		world->table, &key, ft_flow_hash(world->table, &key), observed.ts_ns);
	struct ft_step step = { 0 };

	if (packet->damaged)
		ft_tracker_see_damaged(world->tracker, flow, &observed);
	else
		ft_tracker_step(world->tracker, flow, &observed, &step);
	flow->packets++;
	flow->bad_icrc += packet->damaged;
	flow->last_ns = observed.ts_ns;
	if (step.what & FT_STEP_MESSAGE) {
		world->messages[step.message_kind]++;
		world->bytes += step.message_bytes;
	}
	return step;
}

void world_send_all(struct world *world, const struct packet *packets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		world_send(world, &packets[i]);
}

void world_ask(struct world *world, uint32_t first, uint32_t last)
{
	for (uint32_t psn = first; psn <= last; psn++)
		world_send(world, &(struct packet){
					  .from = 'A', .opcode = SEND, .psn = psn, .asks = true });
	world_send(world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = last });
}
