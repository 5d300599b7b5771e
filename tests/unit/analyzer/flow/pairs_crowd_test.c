#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairs_wire.h"

/* Many halves: what looking for one costs, and which of them count. */

/* A hundred thousand queue pairs between two hosts that nothing tells apart: looked at, not for ever. */
static void a_crowd_costs_no_more_than_the_walk(void **state)
{
	enum { CROWD = 50000 };
	struct wire wire = wire_open(CAPACITY, SEED);
	struct ft_flow *half = NULL;

	(void)state;
	for (uint32_t i = 0; i < CROWD; i++)
		wire_ask(&wire, (struct packet){ THERE, 100 + i, 0, .psn = 0x700000 });
	for (uint32_t i = 0; i < CROWD; i++)
		half = wire_answer(&wire, (struct packet){ BACK, 100 + i, 0, .psn = 0x700000 });
	assert_alone(half);
	wire_cut(&wire);
}

/* More than the index is made for at first. */
static void of_many_that_wait_each_is_found(void **state)
{
	enum { MANY = 40000, PORT = 1000 };
	struct wire wire = wire_open(CAPACITY, SEED);
	static struct ft_flow *halves[MANY];

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		halves[i] = wire_ask(&wire, (struct packet){ THERE, 100 + i, (uint16_t)(PORT + i),
							     .psn = 0x700000 });
	for (uint32_t i = 0; i < MANY; i++)
		assert_paired(
			&wire, halves[i],
			wire_answer(&wire, (struct packet){ BACK, 100 + i, (uint16_t)(PORT + i),
							    .psn = 0x700000 }),
			FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

/* Of two that could have asked none is taken. */
static void another_that_could_have_asked_is_seen_wherever_it_is(void **state)
{
	static const struct {
		const char *what;
		uint16_t port; /* of the third half */
		bool alone;    /* what is left without it */
	} cases[] = {
		{ "on the same port", RULE + 5, true },
		{ "on none", 0, true },
		{ "on another port, where nobody looks yet", RULE + 6, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct wire wire = wire_open(16, SEED);
		struct ft_flow *other;

		wire_ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = 0x900000 });
		wire_ask(&wire, (struct packet){ THERE, 21, cases[i].port, .psn = 0x900000 });
		other = wire_answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x900000 });
		if ((other->peer == 0) != cases[i].alone)
			fail_msg("%s", cases[i].what);
		wire_cut(&wire);
	}
}

static void another_that_came_later_is_seen_too(void **state)
{
	struct wire wire = wire_open(16, SEED);

	(void)state;
	wire_ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = 0x900000 });
	wire_answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x100000 });
	wire_ask(&wire, (struct packet){ THERE, 21, RULE + 5, .psn = 0x900000 });
	assert_alone(wire_answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x900000 }));
	wire_cut(&wire);
}

static void the_only_one_is_left_out_too_when_long_silent(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one;

	(void)state;
	wire_ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = 0x900000 });
	wire.now_ns = UINT64_C(3000000000);
	assert_alone(wire_answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x900000 }));
	one = wire_ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = 0x900001 });
	assert_paired(&wire, one,
		      wire_answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x900001 }),
		      FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

/* A thousand halves that nobody ever answered do not hide two that talk, and talk again themselves. */
static void halves_long_silent_are_left_out(void **state)
{
	enum { CROWD = 1000, SECOND = 1000000000 };
	struct wire wire = wire_open(2048, SEED);
	struct ft_flow *one = NULL, *other = NULL, *silent;

	(void)state;
	for (uint32_t i = 0; i < CROWD; i++)
		wire_ask(&wire, (struct packet){ THERE, 100 + i, 0, .psn = 0x700000 });
	wire.now_ns = 10 * (uint64_t)SECOND;
	for (uint32_t psn = 0x700000; psn < 0x700000 + 300; psn++) {
		one = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = psn });
	}
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	silent = wire_ask(&wire, (struct packet){ THERE, 100, 0, .psn = 0x700001 });
	other = wire_answer(&wire, (struct packet){ BACK, 11, 0, .psn = 0x700001 });
	assert_paired(&wire, silent, other, FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

/* Random traffic of ten connections, some without ports, some in step: the same pairs whatever the seed. */
static void the_seed_changes_no_pair(void **state)
{
	enum { CONNECTIONS = 10, RUNS = 4 };
	uint32_t peers[RUNS][CONNECTIONS];

	(void)state;
	for (uint64_t run = 0; run < RUNS; run++) {
		struct wire wire = wire_open(64, SEED * (run + 1));
		uint64_t random = 88172645463325252u;
		uint32_t psn[CONNECTIONS] = { 0 };

		for (int packet = 0; packet < 2000; packet++) {
			uint32_t i;
			uint16_t port;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			i = (uint32_t)(random % CONNECTIONS);
			port = i < 5 ? (uint16_t)(RULE + i) : 0;
			if (random >> 40 & 1)
				wire_ask(&wire, (struct packet){ THERE, 20 + i, port,
								 .psn = psn[i] += 1 });
			else if (psn[i] != 0)
				peers[run][i] =
					wire_answer(&wire, (struct packet){ BACK, 40 + i, port,
									    .psn = psn[i] })
						->peer;
		}
		wire_cut(&wire);
		assert_memory_equal(peers[run], peers[0], sizeof peers[0]);
	}
}

static void what_finds_nothing_looks_ever_more_seldom(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other;
	unsigned answers = 0;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	one = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	do {
		other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
		answers++;
	} while (other->peer == 0 && answers < 1000);
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	assert_in_range(answers, 16, 64);
	wire_cut(&wire);
}

/* Both sides send a long message before either answers. */
static void a_half_that_asked_much_is_found_by_its_first_answer(void **state)
{
	static const uint16_t ports[] = { 0, RULE + 5 };

	(void)state;
	for (size_t port = 0; port < sizeof ports / sizeof ports[0]; port++) {
		struct wire wire = wire_open(16, SEED);
		struct ft_flow *one = NULL, *other;

		for (uint32_t i = 0; i < 24; i++)
			wire_ask(&wire,
				 (struct packet){ BACK, 10, ports[port], .psn = 0x300000 + i });
		for (uint32_t i = 0; i < 24; i++)
			one = wire_ask(&wire, (struct packet){ THERE, 20, ports[port],
							       .psn = 0x900000 + i });
		assert_alone(one);
		other = wire_answer(&wire,
				    (struct packet){ BACK, 10, ports[port], .psn = 0x900017 });
		assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
		wire_cut(&wire);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crowd_costs_no_more_than_the_walk),
		cmocka_unit_test(of_many_that_wait_each_is_found),
		cmocka_unit_test(another_that_could_have_asked_is_seen_wherever_it_is),
		cmocka_unit_test(another_that_came_later_is_seen_too),
		cmocka_unit_test(the_only_one_is_left_out_too_when_long_silent),
		cmocka_unit_test(halves_long_silent_are_left_out),
		cmocka_unit_test(the_seed_changes_no_pair),
		cmocka_unit_test(what_finds_nothing_looks_ever_more_seldom),
		cmocka_unit_test(a_half_that_asked_much_is_found_by_its_first_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
