#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <decode/opcode.h>
#include <decode/psn.h>

#include "floods.h"
#include "suspects_parts.h"

/*
 * CNPs in the name of a connection's receiver (docs/findings.md): one for each marked packet, an adapter may repeat it, and
 * eight for each packet are more than any does. Expected counts are worked out by hand from that.
 */

enum {
	CNP_OPCODE = 0x81,
	CNP_BYTES = 82,
	FIRST_PSN = 5000,
	STEP_NS = 10000, /* between two packets */
	START_NS = 1000000000,
	MOST_ACTS = 8,
	CONNECTIONS = FT_FLOODS + 1,
};

/* What passes on one connection. The receiver of its data sends CNPs; the rest moves the halves on, as the tracker does. */
enum act {
	END,
	CNPS,     /* so many, 10 us apart */
	AT_ONCE,  /* so many, in one tick of the clock that stamps them */
	DATA,     /* so many packets, with as many PSNs */
	AGAIN,    /* data that passed before */
	ASKED,    /* READs of the receiver, whose answers, so many packets, the mirror lost */
	UNSEEN,   /* data that the mirror lost, before some that passed */
	ANSWERED, /* ACK of all data but the last so many */
	BEYOND,   /* ACK of so many packets of data that were not seen */
	PAUSE,    /* of so many ms */
	READ,     /* the half's last request is a READ of unknown length */
};

struct told {
	uint32_t floods;
	uint64_t cnps; /* of the first one, in all */
	uint32_t then, packets;
};

static const struct row {
	const char *says;
	struct {
		enum act act;
		uint32_t count;
	} acts[MOST_ACTS];
	struct told told;
} rows[] = {
	{ "fifteen packets, more than eight CNPs each",
	  { { DATA, 15 }, { CNPS, 128 }, { ANSWERED, 0 }, { CNPS, 1 } },
	  { 1, 129, 129, 15 } },
	{ "one, which had passed before them",
	  { { DATA, 1 }, { ANSWERED, 1 }, { CNPS, 128 }, { ANSWERED, 0 }, { CNPS, 1 } },
	  { 1, 129, 129, 1 } },
	{ "as many as eight each are no flood",
	  { { DATA, 17 }, { CNPS, 128 }, { ANSWERED, 0 }, { CNPS, 1 } },
	  { 0 } },
	{ "packets that the PSNs prove count, though the mirror lost them",
	  { { CNPS, 1 }, { UNSEEN, 16 }, { DATA, 1 }, { CNPS, 127 }, { ANSWERED, 0 }, { CNPS, 1 } },
	  { 0 } },
	{ "likewise those that only the ACK proves",
	  { { DATA, 1 }, { CNPS, 128 }, { BEYOND, 16 }, { CNPS, 1 } },
	  { 0 } },
	{ "packets sent again count, too",
	  { { DATA, 1 }, { CNPS, 1 }, { AGAIN, 17 }, { CNPS, 127 }, { ANSWERED, 0 }, { CNPS, 1 } },
	  { 0 } },
	{ "and answers to what the receiver asked for",
	  { { DATA, 1 }, { CNPS, 128 }, { ASKED, 16 }, { ANSWERED, 0 }, { CNPS, 1 } },
	  { 0 } },
	{ "fewer than a flood",
	  { { DATA, 1 }, { CNPS, 127 }, { ANSWERED, 0 }, { CNPS, 0 } },
	  { 0 } },
	{ "nothing was answered since: nobody knows how much passed",
	  { { DATA, 2 }, { CNPS, 300 } },
	  { 0 } },
	{ "spread over more than the time",
	  { { DATA, 3 },
	    { CNPS, 100 },
	    { PAUSE, 101 },
	    { CNPS, 100 },
	    { ANSWERED, 0 },
	    { CNPS, 1 } },
	  { 0 } },
	{ "behind a READ, whose answer may have any length",
	  { { DATA, 3 }, { READ, 0 }, { CNPS, 128 }, { ANSWERED, 0 }, { CNPS, 1 } },
	  { 0 } },
	{ "all in one tick of a coarse clock, the first of them included",
	  { { DATA, 15 }, { AT_ONCE, 129 }, { ANSWERED, 0 }, { CNPS, 1 } },
	  { 1, 130, 130, 15 } },
	{ "two stretches are one flood, told by the first",
	  { { DATA, 10 },
	    { CNPS, 128 },
	    { ANSWERED, 1 },
	    { CNPS, 1 },
	    { DATA, 2 },
	    { CNPS, 140 },
	    { ANSWERED, 0 },
	    { CNPS, 1 } },
	  { 1, 129 + 141, 129, 10 } },
};

struct world {
	struct ft_flow_table *table;
	struct ft_floods floods;
	struct ft_flow *data, *back; /* what the CNPs are about; what they come on */
	uint64_t now_ns, frame;
};

static struct ft_flow *flow_of(struct world *world, uint8_t from, uint8_t to, uint32_t dest_qp)
{
	struct ft_flow_key key = {
		.dest_qp = dest_qp,
		.vni = FT_FLOW_NO_VNI,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
	};
	struct ft_flow *flow;

	key.src[15] = from;
	key.dst[15] = to;
	flow = ft_flow_find_or_create(world->table, &key, ft_flow_hash(world->table, &key),
				      world->now_ns);
	flow->half.service = FT_RC;
	return flow;
}

/* Another connection, from now on the one that acts. */
static void connect(struct world *world, uint8_t number)
{
	world->data = flow_of(world, number, 200, 17);
	world->back = flow_of(world, 200, number, 18);
	world->data->peer = ft_flow_number(world->table, world->back);
	world->back->peer = ft_flow_number(world->table, world->data);
	world->data->half.next_psn = world->back->half.next_psn = FIRST_PSN;
	world->data->half.acked = world->back->half.acked = FIRST_PSN - 1;
}

static struct world *begin(void)
{
	static struct world world;

	world = (struct world){ .now_ns = START_NS };
	assert_int_equal(ft_flow_table_create(&world.table, 1024, 7), 0);
	assert_int_equal(ft_floods_init(&world.floods), 0);
	connect(&world, 1);
	return &world;
}

static void finish(struct world *world)
{
	ft_floods_free(&world->floods);
	ft_flow_table_destroy(world->table);
}

static void send_cnp(struct world *world, struct ft_observed cnp, uint64_t after_ns)
{
	static const uint8_t bytes[CNP_BYTES];
	struct ft_frame frame = { .bytes = bytes, .captured = CNP_BYTES, .wire = CNP_BYTES };

	world->now_ns += after_ns;
	cnp.opcode = CNP_OPCODE;
	cnp.frame = frame.number = ++world->frame;
	cnp.ts_ns = frame.ts_ns = world->now_ns;
	ft_floods_see(&world->floods, world->table, world->back, &cnp, &frame);
}

static void act(struct world *world, enum act what, uint32_t count)
{
	struct ft_half *half = &world->data->half;

	switch (what) {
	case CNPS:
		for (uint32_t i = 0; i < count; i++)
			send_cnp(world, (struct ft_observed){ 0 }, STEP_NS);
		break;
	case AT_ONCE:
		for (uint32_t i = 0; i < count; i++)
			send_cnp(world, (struct ft_observed){ 0 }, 0);
		break;
	case DATA:
		world->data->packets += count;
		half->next_psn = ft_psn_add(half->next_psn, count);
		break;
	case AGAIN:
		world->data->packets += count;
		break;
	case ASKED:
		world->back->half.next_psn = ft_psn_add(world->back->half.next_psn, count);
		break;
	case UNSEEN:
		half->next_psn = ft_psn_add(half->next_psn, count);
		break;
	case ANSWERED:
		half->acked = (half->next_psn - 1 - count) & 0xffffff;
		break;
	case BEYOND:
		half->acked = ft_psn_add(half->next_psn - 1, count);
		break;
	case PAUSE:
		world->now_ns += UINT64_C(1000000) * count;
		break;
	case READ:
		half->flags |= FT_HALF_SPAN_UNKNOWN;
		break;
	case END:
		break;
	}
}

static struct told told_of(const struct world *world)
{
	const struct ft_flood *first = &world->floods.items[0];

	return (struct told){ world->floods.count, first->cnps, first->then, first->packets };
}

static bool row_holds(const struct row *row)
{
	struct world *world = begin();
	struct told told;

	for (unsigned i = 0; i < MOST_ACTS; i++)
		act(world, row->acts[i].act, row->acts[i].count);
	told = told_of(world);
	finish(world);
	if (told.floods == row->told.floods && told.cnps == row->told.cnps &&
	    told.then == row->told.then && told.packets == row->told.packets)
		return true;
	print_error("%s: %u floods, %u CNPs, %u then, for %u packets\n", row->says,
		    (unsigned)told.floods, (unsigned)told.cnps, (unsigned)told.then,
		    (unsigned)told.packets);
	return false;
}

static void test_counts(void **state)
{
	bool all = true;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		all = row_holds(&rows[i]) && all;
	assert_true(all);
}

/* A flood, whose CNPs look like this. */
static void flood(struct world *world, struct ft_observed cnp)
{
	act(world, DATA, 2);
	for (uint32_t i = 0; i < FT_FLOOD_CNPS; i++)
		send_cnp(world, cnp, STEP_NS);
	act(world, ANSWERED, 0);
	send_cnp(world, cnp, STEP_NS);
}

static void test_says_which_frame_showed_it(void **state)
{
	struct world *world = begin();
	const struct ft_flood *told = world->floods.items;

	(void)state;
	flood(world, (struct ft_observed){ .pkey = 0xffff, .vlan = 7 });
	assert_int_equal(world->floods.count, 1);
	assert_memory_equal(&told->key, &world->back->key, sizeof told->key);
	assert_int_equal(told->first.frame, FT_FLOOD_CNPS + 1);
	assert_int_equal(told->first.ts_ns, START_NS + (FT_FLOOD_CNPS + 1) * STEP_NS);
	assert_int_equal(told->first.opcode, CNP_OPCODE);
	assert_int_equal(told->first.pkey, 0xffff);
	assert_int_equal(told->first.vlan, 7);
	assert_int_equal(told->frame.frame.captured, CNP_BYTES);
	assert_int_equal(told->within_ns, FT_FLOOD_CNPS * STEP_NS);
	assert_int_equal(told->last_ns, told->first.ts_ns);
	assert_int_equal(told->bytes, (FT_FLOOD_CNPS + 1) * CNP_BYTES);
	finish(world);
}

/* Nobody's peer, another service, no time: nothing can be said. */
static void test_leaves_out_what_it_cannot_tell(void **state)
{
	struct world *world = begin();
	const struct ft_frame frame = { 0 };
	const struct ft_observed cnp = { .opcode = CNP_OPCODE, .ts_ns = FT_TS_UNKNOWN };

	(void)state;
	world->back->half.service = FT_UC;
	flood(world, (struct ft_observed){ 0 });
	world->back->half.service = FT_RC;
	world->back->peer = 0;
	flood(world, (struct ft_observed){ 0 });
	world->back->peer = ft_flow_number(world->table, world->data);
	for (uint32_t i = 0; i < 2 * FT_FLOOD_CNPS; i++) {
		act(world, ANSWERED, i % 2);
		ft_floods_see(&world->floods, world->table, world->back, &cnp, &frame);
	}
	assert_int_equal(world->floods.count, 0);
	finish(world);
}

/* The receiver's other packets came from this card, and no router was on their way. */
static void learn_card(struct ft_flow *back, uint8_t card, uint8_t ttl)
{
	back->look = (struct ft_sender_look){
		.smac = { 2, 0, 0, 0, 0, card },
		.ttl = ttl,
		.learnt = FT_SUSPECTS_LEARNT,
		.style = FT_LOOK_MET,
	};
}

static bool is_foreign(uint8_t card, uint8_t ttl, uint8_t usual_ttl, uint32_t has)
{
	struct world *world = begin();
	bool foreign;

	learn_card(world->back, 1, usual_ttl);
	flood(world,
	      (struct ft_observed){ .has = has, .smac = { 2, 0, 0, 0, 0, card }, .ttl = ttl });
	assert_int_equal(world->floods.count, 1);
	foreign = world->floods.items[0].foreign;
	finish(world);
	return foreign;
}

static void test_tells_the_card_of_another(void **state)
{
	(void)state;
	assert_true(is_foreign(9, 64, 64, FT_OBSERVED_ETH));
	assert_true(is_foreign(9, 255, 64, FT_OBSERVED_ETH));
	assert_false(is_foreign(1, 64, 64, FT_OBSERVED_ETH)); /* the same card */
	assert_false(is_foreign(9, 63, 64, FT_OBSERVED_ETH)); /* a router's MAC address */
	assert_false(is_foreign(9, 64, 63, FT_OBSERVED_ETH));
	assert_false(is_foreign(9, 64, 64, 0)); /* none was seen */
}

static void test_tells_of_the_first_ones(void **state)
{
	struct world *world = begin();

	(void)state;
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		connect(world, (uint8_t)(i + 1));
		flood(world, (struct ft_observed){ 0 });
	}
	assert_int_equal(world->floods.count, FT_FLOODS);
	for (unsigned i = 0; i < FT_FLOODS; i++)
		assert_int_equal(world->floods.items[i].key.dst[15], i + 1);
	finish(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_says_which_frame_showed_it),
		cmocka_unit_test(test_leaves_out_what_it_cannot_tell),
		cmocka_unit_test(test_tells_the_card_of_another),
		cmocka_unit_test(test_tells_of_the_first_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
