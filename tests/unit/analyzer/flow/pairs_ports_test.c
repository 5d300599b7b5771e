#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairs_wire.h"

/* What source ports say of who belongs to whom. */

/* Both directions ask in the same PSNs over the same port, so nothing but the port is in common. */
static void one_whose_requests_come_after_the_answers_is_not_the_one_that_asked(void **state)
{
	/* the right half waits for its answer, under a port of its own, where nothing finds it */
	const struct packet right = { THERE, 0x1022, RULE + 0x123, 0xffff00, .service = FT_RC };
	const struct packet other = { THERE, 0x1028, RULE + 0x456, 0xfffef0, .service = FT_RC };
	const struct packet replies = { BACK, 0x22, RULE + 0x789, 0xffff00, .service = FT_RC };
	struct wire wire = wire_open(CAPACITY, SEED);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		wire_ask(&wire, at_psn(right, i));
	wire_answer(&wire, replies);
	wire_answer(&wire, at_psn(replies, 1));
	for (uint32_t i = 0; i < 8; i++)
		wire_ask(&wire, at_psn(other, i));
	for (uint32_t i = 2; i < 5; i++)
		assert_alone(wire_answer(&wire, at_psn(replies, i)));
	wire_cut(&wire);
}

static void another_port_by_the_rule_speaks_against(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = wire_ask(&wire, (struct packet){ THERE, 20, RULE + 1, .psn = 0 });
	other = wire_answer(&wire, (struct packet){ BACK, 10, RULE + 2, .psn = 0 });
	assert_alone(one);
	assert_alone(other);
	wire_cut(&wire);
}

static void a_half_with_another_port_is_found_after_a_while(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	for (uint32_t psn = 0x800000; psn < 0x800000 + 500; psn++) {
		one = wire_ask(&wire, (struct packet){ THERE, 20, RULE + 1, .psn = psn });
		other = wire_answer(&wire, (struct packet){ BACK, 10, RULE + 2, .psn = psn });
	}
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

/* Some adapters send from a port that is their own queue pair's number. */
static void ports_that_name_queue_pairs_tell_halves_in_step_apart(void **state)
{
	enum { HALVES = 3 };
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *there[HALVES], *back[HALVES];

	(void)state;
	for (uint32_t psn = 0; psn < 1000; psn++) {
		for (uint32_t i = 0; i < HALVES; i++)
			there[i] =
				wire_ask(&wire, (struct packet){ THERE, 120 + i,
								 (uint16_t)(110 + i), .psn = psn });
		for (uint32_t i = HALVES; i-- > 0;)
			back[i] = wire_answer(
				&wire,
				(struct packet){ BACK, 110 + i, (uint16_t)(120 + i), .psn = psn });
	}
	for (uint32_t i = 0; i < HALVES; i++)
		assert_paired(&wire, there[i], back[i], FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

static void nothing_but_a_shared_port_makes_a_less_certain_pair(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	for (uint32_t psn = 0; psn < 40; psn++) {
		one = wire_ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = psn,
						       .service = FT_UC });
		other = wire_ask(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 9000 + psn,
							 .service = FT_UC });
	}
	assert_paired(&wire, one, other, FT_PAIRED_SOURCE_PORT);
	assert_true(ft_paired_certainty(&one->half) == 0.9);
	wire_cut(&wire);
}

static void a_port_that_three_halves_share_pairs_none(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *halves[3];

	(void)state;
	for (uint32_t psn = 0; psn < 400; psn++) {
		halves[0] = wire_ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = psn,
							     .service = FT_UC });
		halves[1] = wire_ask(
			&wire, (struct packet){ BACK, 10, RULE + 5, .psn = psn, .service = FT_UC });
		halves[2] = wire_ask(
			&wire, (struct packet){ BACK, 11, RULE + 5, .psn = psn, .service = FT_UC });
	}
	for (int i = 0; i < 3; i++)
		assert_alone(halves[i]);
	wire_cut(&wire);
}

/* Queue pairs 18 and 19 at each end make the same port twice; of the first connection one side is not in view. */
static void a_port_shared_by_two_connections_is_not_enough(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other, *right;

	(void)state;
	for (uint32_t psn = 158; psn < 162; psn++) {
		one = wire_ask(&wire, (struct packet){ THERE, 19, 49494, .psn = psn });
		other = wire_answer(&wire, (struct packet){ BACK, 19, 49494, .psn = psn });
		right = wire_answer(&wire, (struct packet){ BACK, 18, 49494, .psn = psn });
	}
	assert_alone(other);
	assert_paired(&wire, one, right, FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

/* As soft-RoCE sent them: tests/data/pairs. */
static void the_rule_of_linux_gives_the_ports_that_were_seen(void **state)
{
	static const struct {
		uint32_t qp, other_qp;
		uint16_t port;
		bool fits;
	} cases[] = {
		{ 52, 18, 50088, true },
		{ 18, 52, 50088, true },
		{ 56, 20, 50272, true },
		{ 35, 58, 51182, true },
		{ 19, 18, 49494, true },
		{ 19, 19, 49494, false },
		{ 56, 21, 50272, false },
		{ 0, 0, 0xc000, true },
		{ 1, 1, 1, false },
		{ 0xabcdef, 0x123456, 0xc3c8, true }, /* worked out from the kernel's definition */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(ft_port_fits_qps(cases[i].port, cases[i].qp, cases[i].other_qp),
				 cases[i].fits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			one_whose_requests_come_after_the_answers_is_not_the_one_that_asked),
		cmocka_unit_test(another_port_by_the_rule_speaks_against),
		cmocka_unit_test(a_half_with_another_port_is_found_after_a_while),
		cmocka_unit_test(ports_that_name_queue_pairs_tell_halves_in_step_apart),
		cmocka_unit_test(nothing_but_a_shared_port_makes_a_less_certain_pair),
		cmocka_unit_test(a_port_that_three_halves_share_pairs_none),
		cmocka_unit_test(a_port_shared_by_two_connections_is_not_enough),
		cmocka_unit_test(the_rule_of_linux_gives_the_ports_that_were_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
