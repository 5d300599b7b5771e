#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracker_world.h"

/* Halves that meet by what answers: how sure that is, and what of the answers before counts. */

enum { FAR_ON = 0x900000 }; /* a PSN that no two halves agree in by having begun at 0 */

/* Of the half that this side sends. */
static int bits_of(const struct world *world, char from)
{
	const struct ft_flow_key key = world_key(from);
	const struct ft_flow *flow =
		ft_flow_find(world->table, &key, ft_flow_hash(world->table, &key));

	assert_non_null(flow);
	return flow->half.pair_bits;
}

static void each_answer_makes_a_pair_surer(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, false);
	for (unsigned answers = 1; answers <= 12; answers++) {
		int bits = 24 + 4 * ((int)answers - 1), sure = 60;

		world_ask(&world, FAR_ON + answers, FAR_ON + answers);
		assert_int_equal(bits_of(&world, 'A'), bits < sure ? bits : sure);
		assert_int_equal(bits_of(&world, 'B'), bits < sure ? bits : sure);
	}
	world_close(&world);
}

/* A READ of two packets, of a half whose path MTU is known, is answered; the next one is acknowledged. */
static void an_ack_for_a_read_takes_away_from_a_young_pair(void **state)
{
	static const struct packet packets[] = {
		{ .from = 'A', .opcode = FIRST, .psn = FAR_ON + 1 },
		{ .from = 'A', .opcode = LAST, .psn = FAR_ON + 2 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 3, .more = 2 * MTU },
		{ .from = 'B', .opcode = RESP_FIRST, .psn = FAR_ON + 3 },
		{ .from = 'B', .opcode = RESP_LAST, .psn = FAR_ON + 4 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 5, .more = 2 * MTU },
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, false);
	world_ask(&world, FAR_ON, FAR_ON);
	for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++)
		world_send(&world, &packets[i]);
	assert_int_equal(bits_of(&world, 'A'), 24 + 4);
	world_send(&world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = FAR_ON + 5 });
	assert_int_equal(bits_of(&world, 'A'), 24 + 4 + 4 - 16);
	assert_int_equal(bits_of(&world, 'B'), 24 + 4 + 4 - 16);
	world_close(&world);
}

/* Had it been lost, the responses to the next READ would have told whose they are, and none to this one would be missing. */
static void the_response_that_tells_whose_it_is_would_not_show(void **state)
{
	static const struct packet packets[] = {
		{ .from = 'A', .opcode = FIRST, .psn = FAR_ON + 1 },
		{ .from = 'A', .opcode = LAST, .psn = FAR_ON + 2 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 3, .more = 2 * MTU },
		{ .from = 'B', .opcode = RESP_FIRST, .psn = FAR_ON + 3 },
		{ .from = 'B', .opcode = RESP_LAST, .psn = FAR_ON + 4 },
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, false);
	world_send_all(&world, packets, sizeof packets / sizeof packets[0]);
	assert_int_equal(world.evidence->replies, 1);
	assert_int_equal(world.evidence->answers_seen, 1);
	world_close(&world);
}

/* But where it is all that was answered the next one would show that it is missing. */
static void the_first_answer_would_show_if_it_is_whole(void **state)
{
	static const struct packet packets[] = {
		{ .from = 'A', .opcode = FETCH_ADD, .psn = FAR_ON + 1 },
		{ .from = 'A', .opcode = FETCH_ADD, .psn = FAR_ON + 2 },
		{ .from = 'B', .opcode = ATOMIC_ACK, .psn = FAR_ON + 2, .after_us = 10 },
		{ .from = 'A', .opcode = FETCH_ADD, .psn = FAR_ON + 3, .after_us = 2 * MS / US },
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, false);
	world_send_all(&world, packets, sizeof packets / sizeof packets[0]);
	assert_int_equal(world.evidence->answers_seen, 1);
	assert_int_equal(ft_tracker_totals(world.tracker, NULL).mirror_lost, 1);
	world_close(&world);
}

/*
 * The First and the Last response to a READ are lost, and whose the Middle is is not known. The rate of the others stands for both;
 * the Last is not due any more when the next READ tells.
 */
static void what_was_answered_before_the_halves_met_is_not_due(void **state)
{
	static const struct packet packets[] = {
		{ .from = 'A', .opcode = FIRST, .psn = FAR_ON + 1 },
		{ .from = 'A', .opcode = LAST, .psn = FAR_ON + 2 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 3, .more = 3 * MTU },
		{ .from = 'B', .opcode = RESP_MIDDLE, .psn = FAR_ON + 4 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 6, .more = 2 * MTU },
		{ .from = 'B', .opcode = RESP_FIRST, .psn = FAR_ON + 6 },
		{ .from = 'B', .opcode = RESP_LAST, .psn = FAR_ON + 7 },
		{ .from = 'A', .opcode = SEND, .psn = FAR_ON + 8, .after_us = 2 * MS / US },
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, false);
	world_send_all(&world, packets, sizeof packets / sizeof packets[0]);
	assert_int_equal(world.evidence->replies, 1); /* the Middle */
	assert_int_equal(world.evidence->answers_seen, 2);
	assert_int_equal(ft_tracker_totals(world.tracker, NULL).mirror_lost, 0);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answer_makes_a_pair_surer),
		cmocka_unit_test(an_ack_for_a_read_takes_away_from_a_young_pair),
		cmocka_unit_test(the_response_that_tells_whose_it_is_would_not_show),
		cmocka_unit_test(the_first_answer_would_show_if_it_is_whole),
		cmocka_unit_test(what_was_answered_before_the_halves_met_is_not_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
