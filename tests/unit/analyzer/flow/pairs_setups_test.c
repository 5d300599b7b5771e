#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairs_wire.h"

/* Halves that a set-up names. */

static void a_setup_pairs_halves_that_come_later(void **state)
{
	struct wire *wire = *state;
	struct ft_flow_key there = wire_key(THERE, 20), back = wire_key(BACK, 10);
	struct ft_flow *one, *other;

	ft_pairs_learn(wire->pairs, &there, &back, FT_PAIRED_CM);
	one = wire_ask(wire, (struct packet){ THERE, 20, 0, .psn = 5 });
	assert_alone(one);
	other = wire_ask(wire, (struct packet){ BACK, 10, 0, .psn = 9 });
	assert_paired(wire, one, other, FT_PAIRED_CM);
	assert_true(ft_paired_certainty(&one->half) == 1);
}

static void a_setup_corrects_what_evidence_said(void **state)
{
	struct wire *wire = *state;
	struct ft_flow_key there = wire_key(THERE, 20), back = wire_key(BACK, 11);
	struct ft_flow *one, *wrong, *right;

	one = wire_ask(wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	wrong = wire_answer(wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	right = wire_ask(wire, (struct packet){ BACK, 11, 0, .psn = 9 });
	assert_paired(wire, one, wrong, FT_PAIRED_TRANSPORT);
	ft_pairs_learn(wire->pairs, &there, &back, FT_PAIRED_NCCL);
	assert_paired(wire, one, right, FT_PAIRED_NCCL);
	assert_alone(wrong);
}

static void a_setup_known_late_joins_halves_that_are_alone(void **state)
{
	struct wire *wire = *state;
	struct ft_flow *one = wire_ask(wire, (struct packet){ THERE, 20, 0, .psn = 5 });
	struct ft_flow *other = wire_ask(wire, (struct packet){ BACK, 10, 0, .psn = 9 });

	assert_alone(one);
	assert_true(ft_pairs_confirm(wire->pairs, one, other, FT_PAIRED_NCCL));
	assert_paired(wire, one, other, FT_PAIRED_NCCL);
	assert_true(ft_paired_certainty(&other->half) == 1);
	assert_false(ft_pairs_confirm(wire->pairs, other, one, FT_PAIRED_NCCL));
	assert_paired(wire, one, other, FT_PAIRED_NCCL);
}

static void a_setup_known_late_makes_a_pair_sure(void **state)
{
	struct wire *wire = *state;
	struct ft_flow *one, *other;

	one = wire_ask(wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	other = wire_answer(wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_paired(wire, one, other, FT_PAIRED_TRANSPORT);
	assert_false(ft_pairs_confirm(wire->pairs, one, other, FT_PAIRED_NCCL));
	assert_paired(wire, one, other, FT_PAIRED_NCCL);
	assert_false(ft_pairs_confirm(wire->pairs, one, other, FT_PAIRED_CM));
	assert_false(ft_pairs_confirm(wire->pairs, one, other, FT_PAIRED_NCCL));
	assert_paired(wire, one, other, FT_PAIRED_CM);
}

static void a_setup_known_late_leaves_what_answers_prove(void **state)
{
	struct wire *wire = *state;
	struct ft_flow *one, *other, *third;

	one = wire_ask(wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	other = wire_answer(wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	third = wire_ask(wire, (struct packet){ BACK, 11, 0, .psn = 9 });
	assert_false(ft_pairs_confirm(wire->pairs, one, third, FT_PAIRED_NCCL));
	assert_false(ft_pairs_confirm(wire->pairs, third, one, FT_PAIRED_NCCL));
	assert_paired(wire, one, other, FT_PAIRED_TRANSPORT);
	assert_alone(third);
}

static void a_setup_known_late_corrects_what_a_port_said(void **state)
{
	struct wire *wire = *state;
	struct ft_flow *one, *wrong, *right;

	for (uint32_t psn = 0; psn < 40; psn++) {
		one = wire_ask(wire, (struct packet){ THERE, 20, RULE + 5, .psn = psn });
		wrong = wire_ask(wire, (struct packet){ BACK, 10, RULE + 5, .psn = 9000 + psn });
	}
	right = wire_ask(wire, (struct packet){ BACK, 11, RULE + 7, .psn = 9 });
	assert_paired(wire, one, wrong, FT_PAIRED_SOURCE_PORT);
	assert_true(ft_pairs_confirm(wire->pairs, one, right, FT_PAIRED_NCCL));
	assert_paired(wire, one, right, FT_PAIRED_NCCL);
	assert_alone(wrong);
}

/* As one that only got CNPs. */
static void a_setup_known_late_leaves_halves_that_never_entered(void **state)
{
	struct wire *wire = *state;
	struct ft_flow_key key = wire_key(BACK, 10);
	struct ft_flow *one = wire_ask(wire, (struct packet){ THERE, 20, 0, .psn = 5 });
	struct ft_flow *other =
		ft_flow_find_or_create(wire->table, &key, ft_flow_hash(wire->table, &key), 1);

	assert_false(ft_pairs_confirm(wire->pairs, one, other, FT_PAIRED_NCCL));
	assert_false(ft_pairs_confirm(wire->pairs, other, one, FT_PAIRED_NCCL));
	assert_alone(one);
	assert_alone(other);
}

static void the_newest_setup_of_a_queue_pair_counts(void **state)
{
	struct wire *wire = *state;
	struct ft_flow_key there = wire_key(THERE, 20), back = wire_key(BACK, 10);
	struct ft_flow_key later = wire_key(BACK, 11);
	struct ft_flow *one, *former, *latter;

	ft_pairs_learn(wire->pairs, &there, &back, FT_PAIRED_CM);
	ft_pairs_learn(wire->pairs, &there, &later, FT_PAIRED_CM);
	one = wire_ask(wire, (struct packet){ THERE, 20, 0, .psn = 5 });
	latter = wire_ask(wire, (struct packet){ BACK, 11, 0, .psn = 9 });
	former = wire_ask(wire, (struct packet){ BACK, 10, 0, .psn = 9 });
	assert_alone(former);
	assert_paired(wire, one, latter, FT_PAIRED_CM);
}

/* Numbers of queue pairs come again, for other connections. */
static void a_setup_that_was_used_is_over_with_its_half(void **state)
{
	struct wire *wire = *state;
	struct ft_flow_key there = wire_key(THERE, 20), back = wire_key(BACK, 10);
	struct ft_flow *one, *other;

	ft_pairs_learn(wire->pairs, &there, &back, FT_PAIRED_CM);
	one = wire_ask(wire, (struct packet){ THERE, 20, 0, .psn = 5 });
	other = wire_ask(wire, (struct packet){ BACK, 10, 0, .psn = 9 });
	assert_paired(wire, one, other, FT_PAIRED_CM);
	ft_flow_renew(wire->table, one, wire->now_ns);
	ft_flow_renew(wire->table, other, wire->now_ns);
	one = wire_ask(wire, (struct packet){ THERE, 20, 0, .psn = 700000 });
	other = wire_ask(wire, (struct packet){ BACK, 10, 0, .psn = 3 });
	assert_alone(one);
	assert_alone(other);
}

static void the_oldest_setups_make_room_for_new_ones(void **state)
{
	struct wire wire = wire_open(64, SEED);
	struct ft_flow_key there, back;
	struct ft_flow *one, *other;

	(void)state;
	for (uint32_t i = 0; i <= FT_PAIRS_SETUPS; i++) {
		there = wire_key(THERE, 100000 + i);
		back = wire_key(BACK, 200000 + i);
		ft_pairs_learn(wire.pairs, &there, &back, FT_PAIRED_CM);
	}
	one = wire_ask(&wire, (struct packet){ THERE, 100000, 0, .psn = 5 });
	other = wire_ask(&wire, (struct packet){ BACK, 200000, 0, .psn = 9 });
	assert_alone(one);
	assert_alone(other);
	for (uint32_t i = 1; i <= FT_PAIRS_SETUPS; i += FT_PAIRS_SETUPS - 1) {
		one = wire_ask(&wire, (struct packet){ THERE, 100000 + i, 0, .psn = 5 });
		other = wire_ask(&wire, (struct packet){ BACK, 200000 + i, 0, .psn = 9 });
		assert_paired(&wire, one, other, FT_PAIRED_CM);
	}
	wire_cut(&wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WIRE_TEST(a_setup_pairs_halves_that_come_later),
		WIRE_TEST(a_setup_corrects_what_evidence_said),
		WIRE_TEST(a_setup_known_late_joins_halves_that_are_alone),
		WIRE_TEST(a_setup_known_late_makes_a_pair_sure),
		WIRE_TEST(a_setup_known_late_leaves_what_answers_prove),
		WIRE_TEST(a_setup_known_late_corrects_what_a_port_said),
		WIRE_TEST(a_setup_known_late_leaves_halves_that_never_entered),
		WIRE_TEST(the_newest_setup_of_a_queue_pair_counts),
		WIRE_TEST(a_setup_that_was_used_is_over_with_its_half),
		cmocka_unit_test(the_oldest_setups_make_room_for_new_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
