#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracker_world.h"

/* What passes again, as evidence of what passed before and was not seen. */

static struct ft_loss_bin total(const struct world *world)
{
	struct ft_loss_bin sum = { 0 };

	for (uint32_t i = 0; i < world->evidence->used; i++) {
		sum.spaces += world->evidence->bins[i].spaces;
		sum.silent += world->evidence->bins[i].silent;
		sum.again += world->evidence->bins[i].again;
	}
	return sum;
}

/* 11 and 12 are sent again: nobody has seen 11 before. */
static void go_back(struct world *world)
{
	world_send(world,
		   &(struct packet){ .from = 'B', .opcode = ACK, .psn = 11, .more = NAK_SEQUENCE });
	world_send(world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 11 });
	world_send(world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 12 });
}

static void what_passes_again_is_counted_by_how_often(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, true);
	world_send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 10 });
	world_send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 12 });
	assert_int_equal(total(&world).spaces, 1);
	go_back(&world);
	assert_int_equal(total(&world).again, 1);
	assert_int_equal(world.evidence->twice, 1);
	assert_int_equal(world.evidence->filled, 1);
	go_back(&world);
	assert_int_equal(total(&world).spaces, 1);
	assert_int_equal(total(&world).again, 1);
	assert_int_equal(world.evidence->twice, 0);
	assert_int_equal(world.evidence->filled, 0);
	world_close(&world);
}

/* A READ for the rest of another one was never sent before; a response that came before was. */
static void a_read_for_the_rest_is_another_read(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, true);
	world_send(&world, &(struct packet){ .from = 'A', .opcode = FIRST, .psn = 10 });
	world_send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 11 });
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 3 * MTU });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 12 });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_LAST, .psn = 14 });
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 13, .more = 2 * MTU });
	assert_int_equal(total(&world).again, 0);
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 13 });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_LAST, .psn = 14 });
	assert_int_equal(world.evidence->filled, 1);
	assert_int_equal(world.evidence->twice, 1);
	assert_int_equal(total(&world).again, 1);
	world_close(&world);
}

/* Its responses were all seen, and lost behind the tap: none was sent before with the PSN of the rest either. */
static void a_read_for_the_rest_of_what_was_answered_is_another_read(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, true);
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 3 * MTU });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 12 });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_MIDDLE, .psn = 13 });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_LAST, .psn = 14 });
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 13, .more = 2 * MTU });
	assert_int_equal(total(&world).again, 0);
	assert_int_equal(world.evidence->twice, 0);
	world_close(&world);
}

/* One that nothing was seen to answer, and one behind a write that is sent again with it, were sent before. */
static void a_whole_read_is_sent_again(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, true);
	world_send(&world, &(struct packet){ .from = 'A', .opcode = FIRST, .psn = 10 });
	world_send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 11 });
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 2 * MTU });
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 2 * MTU });
	assert_int_equal(total(&world).again, 1);
	assert_int_equal(world.evidence->twice, 1);
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 12 });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_LAST, .psn = 13 });
	world_send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 14, .more = MTU });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_ONLY, .psn = 14 });
	world_send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 11 });
	world_send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 14, .more = MTU });
	assert_int_equal(total(&world).again, 3);
	assert_int_equal(world.evidence->twice, 3);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_passes_again_is_counted_by_how_often),
		cmocka_unit_test(a_read_for_the_rest_is_another_read),
		cmocka_unit_test(a_read_for_the_rest_of_what_was_answered_is_another_read),
		cmocka_unit_test(a_whole_read_is_sent_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
