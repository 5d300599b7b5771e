#include "../holds.h"

#include <assert.h>
#include <string.h>

#include <partition/check.h>

#include "suspects.h"

/*
 * Whatever is sent: only spoof.* rules are held against it, and the sentence fits. Whatever an honest
 * sender sends, over two paths, with losses and repetitions, from a connection begun anew at
 * any PSN after a pause: no rule that makes a report `violated`.
 */

enum { CAPACITY = 3, HALVES = 5, PACKET = 5, DATAGRAM = FT_OBSERVED_DETH | FT_OBSERVED_WHOLE };

static const uint8_t opcodes[] = { 0x00, 0x04, 0x07, 0x0a, 0x0c, 0x11, 0x12, 0x13,
				   0x24, 0x44, 0x64, 0x81, 0xa4, 0xb1, 0xc5, 0x10 };

struct world {
	struct ft_flow_table *table;
	struct ft_suspects *suspects;
	uint64_t ts_ns, frame;
};

static void open_world(struct world *world)
{
	*world = (struct world){ .ts_ns = 1000000000 };
	assert(ft_flow_table_create(&world->table, CAPACITY, 1) == 0);
	assert(ft_suspects_create(&world->suspects, world->table) == 0);
}

static void close_world(struct world *world)
{
	ft_suspects_destroy(world->suspects);
	ft_flow_table_destroy(world->table);
}

/* The rules that it breaks. */
static uint32_t send(struct world *world, unsigned half, struct ft_observed *observed,
		     struct ft_step *step)
{
	struct ft_flow_key key = { .dest_qp = 16 + half / 2,
				   .vni = FT_FLOW_NO_VNI,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN };
	struct ft_suspicion suspicion;
	char text[FT_SUSPICION_TEXT];
	struct ft_flow *flow;

	key.src[15] = half & 1;
	key.dst[15] = !(half & 1);
	observed->ts_ns = world->ts_ns;
	observed->frame = ++world->frame;
	flow = ft_flow_find_or_create(world->table, &key, ft_flow_hash(world->table, &key),
				      world->ts_ns);
	if (flow->half.service == UINT8_MAX)
		flow->half.service = observed->opcode >> 5;
	ft_suspects_step(world->suspects, flow, observed, step, &suspicion);
	flow->packets++;
	flow->last_ns = observed->ts_ns;
	if (suspicion.rules == 0)
		return 0;
	ft_suspicion_text(&suspicion, text, sizeof text);
	assert(memchr(text, '\0', sizeof text) != NULL && strlen(text) > strlen("frame 1"));
	return suspicion.rules;
}

static void holds_for_anybody(const uint8_t *bytes, size_t size)
{
	uint32_t spoof = 0;
	struct world world;

	for (unsigned rule = FT_RULE_SPOOF_PSN_CONFLICT; rule <= FT_RULE_SPOOF_NAK_OUTLIVED; rule++)
		spoof |= 1u << rule;
	open_world(&world);
	for (size_t at = 0; at + PACKET <= size; at += PACKET) {
		const uint8_t *b = bytes + at;
		struct ft_observed observed = {
			.has = b[1] & 0x20 ? DATAGRAM
					   : UINT32_MAX & ~(uint32_t)FT_OBSERVED_BAD_ICRC,
			.pair = b[0] >> 6,
			.content = b[1] & 3,
			.psn = (uint32_t)b[2] * (b[1] & 0x40 ? 0xffff : 1) & 0xffffff,
			.opcode = opcodes[b[0] & 15],
			.syndrome = b[1] & 0x80 ? 0x62 : 0,
			.sport = b[3] & 1,
			.ttl = b[3] & 2 ? 64 : b[3],
			.dscp = b[3] >> 7,
			.ip_id = (uint16_t)(b[3] & 4 ? world.frame : b[3] * 257u),
			.pkey = 0xffff,
			.rkey = b[2],
			.src_qp = b[2] & 3,
		};
		struct ft_step step = { .what = (uint32_t)(b[4] | b[3] << 8) & 0x7fff };

		world.ts_ns += (uint64_t)b[4] << (b[3] & 31);
		assert((send(&world, b[0] % HALVES, &observed, &step) & ~spoof) == 0);
	}
	close_world(&world);
}

static void holds_for_an_honest_sender(const uint8_t *bytes, size_t size)
{
	uint32_t psn = 0, next = 0, life = 0;
	struct world world;

	open_world(&world);
	for (size_t at = 0; at + 2 <= size; at += 2) {
		uint8_t what = bytes[at], how_far = bytes[at + 1];
		struct ft_observed observed = { .has = UINT32_MAX, .pkey = 0xffff };
		struct ft_step step = { .what = FT_STEP_NEW };
		bool far_side = (what & 4) != 0; /* of a router */
		uint32_t broken;

		psn = next;
		if ((what & 3) == 0) /* lost on the way here */
			psn += how_far & 7;
		else if ((what & 3) == 1 && psn > how_far) /* sent again from there on */
			psn -= how_far;
		if (what == 255) { /* set up anew, where its last life began */
			psn = 0;
			life++;
			world.ts_ns += UINT64_C(50000000);
		}
		next = psn + 1;
		observed.psn = psn & 0xffffff;
		observed.opcode = psn % 3 == 0 ? 0x0a : 0x04;
		observed.va = (uint64_t)psn * 4096 + life;
		observed.content = psn * 0x01000193u ^ life << 24;
		observed.payload = psn % 5 * 16;
		observed.sport = (uint16_t)(50000 + life);
		observed.ip_id = (uint16_t)world.frame;
		observed.ttl = far_side ? 63 : 64;
		observed.smac[0] = far_side;
		world.ts_ns += 2000;
		if (world.frame == 0)
			step.what |= FT_STEP_RESTART;
		broken = send(&world, 0, &observed, &step);
		for (unsigned rule = 0; rule < FT_RULES; rule++)
			assert((broken >> rule & 1) == 0 || !ft_rule_text(rule)->violation);
	}
	close_world(&world);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	holds_for_anybody(bytes, size);
	holds_for_an_honest_sender(bytes, size);
}
