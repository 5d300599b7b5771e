#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include <flow/tracker.h>

#include "tracker_scripts.h"

/* Connections of one request each: which are whole, and which lack their other half. */

enum { CONNECTIONS = 40 };

struct world {
	struct ft_flow_table *table;
	struct ft_tracker *tracker;
	struct ft_loss_evidence *evidence;
	uint64_t ts_ns, frame;
};

static void open_world(struct world *world)
{
	struct ft_tracker_config config = FT_TRACKER_DEFAULTS;

	*world = (struct world){ .ts_ns = 1700000000000000000u, .frame = FT_LOSS_FIRST_FRAMES };
	world->evidence = calloc(1, sizeof *world->evidence);
	assert_non_null(world->evidence);
	assert_int_equal(ft_flow_table_create(&world->table, 4 * CONNECTIONS, 1), 0);
	assert_int_equal(ft_tracker_create(&world->tracker, &config, world->table, world->evidence),
			 0);
}

static void close_world(struct world *world)
{
	ft_tracker_destroy(world->tracker);
	ft_flow_table_destroy(world->table);
	free(world->evidence);
}

/* What passes of a connection: asked by A or by B, whose queue pairs are its number, and that and 1000. */
struct connection {
	char asker;
	uint32_t number, psn;
};

static void send(struct world *world, const struct connection *of, bool answers, uint8_t opcode,
		 uint32_t behind, bool damaged)
{
	char from = answers == (of->asker == 'A') ? 'B' : 'A';
	struct ft_flow_key key = { .dest_qp = of->number + (from == 'A' ? 1000u : 2000u),
				   .vni = FT_FLOW_NO_VNI,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN };
	struct ft_observed observed = {
		.ts_ns = world->ts_ns += 10 * US,
		.frame = ++world->frame,
		.has = FT_OBSERVED_BTH | FT_OBSERVED_PAYLOAD | FT_OBSERVED_AETH | FT_OBSERVED_RETH |
		       FT_OBSERVED_ACK_REQUEST,
		.opcode = opcode,
		.psn = of->psn + behind,
		.payload = opcode == READ || opcode == ACK ? 0 : MTU,
		.length = opcode == READ ? 3 * MTU : 1,
	};
	struct ft_step step;
	struct ft_flow *flow;

	key.src[15] = (uint8_t)from;
	key.dst[15] = from == 'A' ? 'B' : 'A';
	flow = ft_flow_find_or_create(world->table, &key, ft_flow_hash(world->table, &key),
				      observed.ts_ns);
	if (damaged) {
		ft_tracker_see_damaged(world->tracker, flow, &observed);
		flow->bad_icrc++;
		return;
	}
	ft_tracker_step(world->tracker, flow, &observed, &step);
	flow->packets++;
	flow->last_ns = observed.ts_ns;
}

/*
 * Of each connection: r its request, a its ACK, R a READ, 1 2 3 responses to it, d its request damaged, u a request of UC. Another
 * round of them has the next PSNs.
 */
static void send_part(struct world *world, const struct connection *of, char part)
{
	const char *parts = "raR123du";
	const uint8_t opcodes[] = { SEND,        ACK,       READ, RESP_FIRST,
				    RESP_MIDDLE, RESP_LAST, SEND, UC_SEND };
	const uint32_t behind[] = { 0, 0, 0, 0, 1, 2, 0, 0 };

	for (unsigned i = 0; parts[i] != '\0'; i++)
		if (parts[i] == part)
			send(world, of, i == 1 || (i >= 3 && i <= 5), opcodes[i], behind[i],
			     part == 'd');
}

static const struct {
	const char *sentence;
	const char *each;   /* parts of every connection .. */
	const char *fourth; /* .. but for every fourth .. */
	bool alike;         /* .. all from one PSN on */
	bool one_way;       /* what B sends is not in view */
	uint64_t exchanges, exchanges_alike, unasked, apart, unmet, hidden, sided, faced;
} rows[] = {
	{ "every request has its answer", "ra", "ra", .exchanges = 40 },
	{ "an answer shows that its request is missing", "ra", "a", .exchanges = 30,
	  .unasked = 10 },
	{ "an answer may be missing, or there is none", "ra", "r", .exchanges = 30, .unmet = 10 },
	{ "where one direction is in view all is alone", "ra", "ra", .one_way = true, .apart = 20,
	  .unmet = 20 },
	{ "a READ is answered by any of its responses", "R123", "R23", .exchanges = 40 },
	{ "a Last shows the READ that is missing", "R123", "3", .exchanges = 30, .unasked = 10 },
	{ "halves that are all alike belong together as far as can be told", "ra", "ra",
	  .alike = true, .exchanges_alike = 40 },
	{ "a damaged request is here", "ra", "da", .exchanges = 30, .unasked = 10, .hidden = 10 },
	{ "many responses show one READ", "R123", "12+23", .exchanges = 30, .unasked = 10 },
	{ "longer ones are of one direction", "ra", "a+a+a+a+", .exchanges = 30, .sided = 10 },
	{ "or of both", "ra+ra+ra+ra+", "ra", .exchanges = 10, .faced = 30 },
	{ "nobody answers on unreliable connections", "u", "u", .alike = false },
};

static void send_connections(struct world *world, size_t row)
{
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		struct connection of = { i % 8 < 4 ? 'A' : 'B', i,
					 rows[row].alike ? 0 : 300000 + 70000 * i };

		for (const char *part = i % 4 == 0 ? rows[row].fourth : rows[row].each;
		     *part != '\0'; part++) {
			bool asks = *part == 'r' || *part == 'R' || *part == 'u' || *part == 'd';

			of.psn += *part == '+';
			if (!rows[row].one_way || asks == (of.asker == 'A'))
				send_part(world, &of, *part);
		}
	}
}

static void what_shows_of_connections_of_one_request(void **state)
{
	(void)state;
	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
		struct ft_loss_evidence *told;
		uint64_t exchanges = 0, unasked = 0, apart = 0;
		struct world world;

		open_world(&world);
		send_connections(&world, row);
		told = world.evidence;
		ft_tracker_totals(world.tracker, told);
		for (uint32_t i = 0; i < told->used; i++) {
			exchanges += told->bins[i].exchanges;
			unasked += told->bins[i].missing[FT_LOSS_UNASKED];
			apart += told->bins[i].missing[FT_LOSS_UNASKED_APART];
		}
		if (exchanges != rows[row].exchanges ||
		    told->exchanges_alike != rows[row].exchanges_alike ||
		    unasked != rows[row].unasked || apart != rows[row].apart ||
		    told->unmet_requests != rows[row].unmet || told->hidden != rows[row].hidden ||
		    told->sided != rows[row].sided || told->faced != rows[row].faced)
			fail_msg("%s: %u exchanges, %u alike, %u unasked, %u apart, %u unmet, %u "
				 "hidden, %u sided, %u faced",
				 rows[row].sentence, (unsigned)exchanges,
				 (unsigned)told->exchanges_alike, (unsigned)unasked,
				 (unsigned)apart, (unsigned)told->unmet_requests,
				 (unsigned)told->hidden, (unsigned)told->sided,
				 (unsigned)told->faced);
		close_world(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_shows_of_connections_of_one_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
