#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairs_evidence.h"
#include "pairs_wire.h"

/* Halves that answers join, and part again. */

static void an_answer_finds_the_only_half_that_asked(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other, *stranger;

	(void)state;
	one = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	stranger = wire_ask(&wire, (struct packet){ THERE, 21, 0, .psn = 0x123456 });
	other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	assert_int_equal(other->half.pair_bits, 24);
	assert_true(ft_paired_certainty(&one->half) > 1 - 1e-7);
	assert_true(ft_paired_certainty(&one->half) < 1);
	assert_alone(stranger);
	wire_cut(&wire);
}

static void an_answer_to_what_nobody_asked_pairs_nothing(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	for (uint32_t i = 0; i < 200; i++)
		other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x100000 + i });
	assert_alone(one);
	assert_alone(other);
	wire_cut(&wire);
}

static void answers_far_behind_need_more_than_one(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	one->half.next_psn = 0x900100;
	other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_alone(one);
	other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900001 });
	other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900002 });
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

/* Four queue pairs that all begin at PSN 0 and go on together. */
static void halves_in_step_are_told_apart_by_their_ports(void **state)
{
	enum { HALVES = 4 };
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *there[HALVES], *back[HALVES];

	(void)state;
	for (uint32_t psn = 0; psn < 20; psn++) {
		for (uint32_t i = 0; i < HALVES; i++)
			there[i] = wire_ask(
				&wire,
				(struct packet){ THERE, 20 + i, (uint16_t)(RULE + i), .psn = psn });
		for (uint32_t i = HALVES; i-- > 0;)
			back[i] = wire_answer(
				&wire,
				(struct packet){ BACK, 10 + i, (uint16_t)(RULE + i), .psn = psn });
	}
	for (uint32_t i = 0; i < HALVES; i++)
		assert_paired(&wire, there[i], back[i], FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

static void halves_in_step_without_ports_are_not_guessed_between(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *there[2], *back[2];

	(void)state;
	for (uint32_t psn = 0x500000; psn < 0x500000 + 1000; psn++) {
		for (uint32_t i = 0; i < 2; i++)
			there[i] = wire_ask(&wire, (struct packet){ THERE, 20 + i, 0, .psn = psn });
		for (uint32_t i = 0; i < 2; i++)
			back[i] =
				wire_answer(&wire, (struct packet){ BACK, 10 + i, 0, .psn = psn });
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_alone(there[i]);
		assert_alone(back[i]);
	}
	wire_cut(&wire);
}

/* The second request of each pair comes after the first was answered: now and then only one can have asked. */
static void halves_nearly_in_step_are_told_apart_in_time(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *there[2], *back[2];

	(void)state;
	for (uint32_t psn = 0x500000; psn < 0x500000 + 100; psn++) {
		for (uint32_t i = 0; i < 2; i++) {
			there[i] = wire_ask(&wire, (struct packet){ THERE, 20 + i, 0, .psn = psn });
			back[i] =
				wire_answer(&wire, (struct packet){ BACK, 10 + i, 0, .psn = psn });
		}
	}
	for (uint32_t i = 0; i < 2; i++)
		assert_paired(&wire, there[i], back[i], FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

/*
 * Of three connections that began at one PSN, two move alike; in view are one half of each of those, which
 * are no pair, and one half of the third, `apart` PSNs ahead.
 */
static void assert_not_taken_for_one_out_of_view(uint32_t first, uint32_t apart)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *there, *other = NULL, *back = NULL;

	for (uint32_t psn = first; psn < first + 2000; psn++) {
		there = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		other = wire_ask(&wire, (struct packet){ THERE, 22, 0, .psn = psn + apart });
		back = wire_answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
		assert_alone(there);
		assert_alone(other);
		assert_alone(back);
	}
	/* Of the third the other half comes into view: as many each way. */
	for (uint32_t psn = first + 2000; psn < first + 4000; psn++) {
		wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		other = wire_ask(&wire, (struct packet){ THERE, 22, 0, .psn = psn + apart });
		back = wire_answer(&wire, (struct packet){ BACK, 12, 0, .psn = psn + apart });
		wire_answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
	}
	assert_paired(&wire, other, back, FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

static void a_half_in_step_with_one_out_of_view_is_not_taken_for_it(void **state)
{
	(void)state;
	assert_not_taken_for_one_out_of_view(0, 5);
	assert_not_taken_for_one_out_of_view(0, 300);
	assert_not_taken_for_one_out_of_view(0x500000, 300);
}

static void a_pair_that_is_contradicted_falls_apart(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	for (uint32_t i = 0; i < 3; i++)
		wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x100000 + i });
	assert_alone(one);
	assert_alone(other);
	wire_cut(&wire);
}

static void answers_to_a_half_whose_requests_were_not_seen_contradict_nothing(void **state)
{
	const struct packet request = { THERE, 11, .psn = 0x123456, .service = FT_XRC };
	const struct packet response = { BACK, 22, .psn = 0x123456, .service = FT_XRC };
	/* what the first half answers to the other one's READs, of which the mirror lost the first */
	const struct packet other_way = { THERE, 11, .psn = 0xe50000, .service = FT_XRC };
	struct wire wire = wire_open(CAPACITY, SEED);

	(void)state;
	wire_ask(&wire, request);
	wire_answer(&wire, response);
	for (uint32_t i = 0; i < 4; i++)
		wire_answer(&wire, at_psn(other_way, 20 * i));
	assert_paired(&wire, wire_ask(&wire, at_psn(request, 1)),
		      wire_answer(&wire, at_psn(response, 1)), FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

static void agreement_makes_a_pair_sure_and_contradiction_unsure(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	for (uint32_t psn = 0x900000; psn < 0x900000 + 100; psn++) {
		one = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = psn });
	}
	assert_int_equal(other->half.pair_bits, FT_PAIR_SURE);
	assert_false(ft_pairs_unsure(other));
	for (int i = 0; i < 6; i++) {
		ft_pairs_contradict(wire.pairs, other, FT_EVIDENCE_OUTSIDE);
		assert_true(ft_pairs_unsure(other));
		assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	}
	ft_pairs_contradict(wire.pairs, other, FT_EVIDENCE_OUTSIDE);
	assert_alone(one);
	assert_alone(other);
	wire_cut(&wire);
}

/* From PSN 0 both go on alike for a while; then, by turns, one is ahead of the other. */
static void a_young_pair_of_which_one_runs_ahead_falls_apart(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *there, *back;

	(void)state;
	for (uint32_t psn = 0; psn < 20; psn++) {
		there = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		back = wire_answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
	}
	assert_paired(&wire, there, back, FT_PAIRED_TRANSPORT);
	for (uint32_t psn = 20; back->peer != 0 && psn < 200; psn += 4) {
		wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		for (uint32_t i = 0; i < 4; i++)
			back = wire_answer(&wire,
					   (struct packet){ BACK, 11, 0, .psn = psn - 1 + i });
	}
	assert_alone(there);
	assert_alone(back);
	wire_cut(&wire);
}

static void a_young_pair_stays_while_many_requests_wait_for_answers(void **state)
{
	enum {
		WAITING = 40
	}; /* as in a long message whose first packets are acknowledged while it is sent */
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *there, *back;

	(void)state;
	for (uint32_t psn = 0; psn < 20; psn++) {
		wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		wire_answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
	}
	for (uint32_t psn = 20; psn < 20 + WAITING; psn++)
		wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
	for (uint32_t psn = 20; psn < 100; psn++) {
		there = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn + WAITING });
		back = wire_answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
		assert_paired(&wire, there, back, FT_PAIRED_TRANSPORT);
	}
	wire_cut(&wire);
}

static void an_evicted_half_leaves_its_peer_alone(void **state)
{
	struct wire wire = wire_open(2, SEED);
	struct ft_flow *other;

	(void)state;
	wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_int_not_equal(other->peer, 0);
	other->last_ns = 1000;
	wire_ask(&wire, (struct packet){ THERE, 99, 0, .psn = 7 });
	assert_alone(other);
	wire_cut(&wire);
}

static void other_addresses_and_overlays_are_not_compared(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow_key key = wire_key(THERE, 20);
	struct ft_observed observed = { .has = FT_OBSERVED_BTH, .psn = 0x900000 };
	struct ft_flow *other, *halves[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		key = wire_key(THERE, 20);
		key.src[0] = i == 0;
		key.vni = i == 1 ? 77 : FT_FLOW_NO_VNI;
		key.by_lid = i == 2;
		halves[i] =
			ft_flow_find_or_create(wire.table, &key, ft_flow_hash(wire.table, &key), 0);
		halves[i]->half.service = FT_RC;
		halves[i]->half.next_psn = 0x900001;
		ft_pairs_enter(wire.pairs, halves[i], &observed);
	}
	other = wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_alone(other);
	for (int i = 0; i < 3; i++)
		assert_alone(halves[i]);
	wire_cut(&wire);
}

static void datagrams_that_name_each_other_are_a_pair(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other, *third;

	(void)state;
	one = wire_ask(&wire, (struct packet){ THERE, 20, RULE, .psn = 0, .service = FT_UD,
					       .src_qp = 10 });
	third = wire_ask(
		&wire, (struct packet){ BACK, 11, RULE, .psn = 0, .service = FT_UD, .src_qp = 20 });
	assert_alone(one);
	other = wire_ask(
		&wire, (struct packet){ BACK, 10, RULE, .psn = 0, .service = FT_UD, .src_qp = 20 });
	assert_paired(&wire, one, other, FT_PAIRED_UD_SOURCE_QP);
	assert_alone(third);
	assert_true(ft_paired_certainty(&one->half) < 1);
	wire_cut(&wire);
}

static void datagrams_of_which_one_names_a_third_are_none(void **state)
{
	struct wire wire = wire_open(16, SEED);

	(void)state;
	wire_ask(&wire,
		 (struct packet){ THERE, 20, RULE, .psn = 0, .service = FT_UD, .src_qp = 10 });
	assert_alone(wire_ask(&wire, (struct packet){ BACK, 10, RULE, .psn = 0, .service = FT_UD,
						      .src_qp = 21 }));
	wire_cut(&wire);
}

/* Bits by IBA's PSN arithmetic, in which ffffff comes before 0. */
static void evidence_falls_with_distance(void **state)
{
	static const struct {
		const char *what;
		uint32_t next_psn, psn;
		bool holes, reading;
		int bits;
	} cases[] = {
		{ "the newest request", 0x800001, 0x800000, .bits = 24 },
		{ "one before it", 0x800001, 0x7fffff, .bits = 23 },
		{ "255 before it", 0x8000ff, 0x7fffff, .bits = 16 },
		{ "across the wrap", 3, 0xfffffe, .bits = 21 },
		{ "too far back", 0x820000, 0x800000, .bits = -8 },
		{ "one ahead", 0x800000, 0x800000, .bits = 24 - 1 - 12 },
		{ "one ahead of a half with holes", 0x800000, 0x800000, .holes = true,
		  .bits = 24 - 1 - 2 },
		{ "far ahead", 0x800000, 0x802000, .bits = -8 },
		{ "in the middle of a READ", 0x800000, 0x800002, .reading = true, .bits = 22 },
		{ "beyond the end of a READ", 0x800000, 0x800009, .reading = true,
		  .bits = 24 - 4 - 12 },
		{ "at PSN 0, where many begin", 1, 0, .bits = 4 },
		{ "near PSN 0", 16, 15, .bits = 8 },
		{ "no request yet", FT_PSN_NONE, 0x800000, .bits = -8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_half asker = {
			.next_psn = cases[i].next_psn,
			.spans = cases[i].holes,
			.flags = cases[i].reading ? FT_HALF_SPAN_UNKNOWN : 0,
			.message_bytes = cases[i].reading ? 1024 : 0,
		};

		if (ft_pair_evidence(&asker, cases[i].psn) != cases[i].bits)
			fail_msg("%s: %d bits, not %d", cases[i].what,
				 ft_pair_evidence(&asker, cases[i].psn), cases[i].bits);
	}
}

static void another_pkey_speaks_against(void **state)
{
	struct wire wire = wire_open(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = wire_ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	one->first_base = 1;
	other = wire_ask(&wire, (struct packet){ BACK, 10, 0, .psn = 5 });
	other->first_base = 2;
	wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_alone(one);
	other->first_base = 1;
	for (int i = 0; i < 3; i++)
		wire_answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	wire_cut(&wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_finds_the_only_half_that_asked),
		cmocka_unit_test(an_answer_to_what_nobody_asked_pairs_nothing),
		cmocka_unit_test(answers_far_behind_need_more_than_one),
		cmocka_unit_test(halves_in_step_are_told_apart_by_their_ports),
		cmocka_unit_test(halves_in_step_without_ports_are_not_guessed_between),
		cmocka_unit_test(halves_nearly_in_step_are_told_apart_in_time),
		cmocka_unit_test(a_half_in_step_with_one_out_of_view_is_not_taken_for_it),
		cmocka_unit_test(a_pair_that_is_contradicted_falls_apart),
		cmocka_unit_test(answers_to_a_half_whose_requests_were_not_seen_contradict_nothing),
		cmocka_unit_test(agreement_makes_a_pair_sure_and_contradiction_unsure),
		cmocka_unit_test(a_young_pair_of_which_one_runs_ahead_falls_apart),
		cmocka_unit_test(a_young_pair_stays_while_many_requests_wait_for_answers),
		cmocka_unit_test(an_evicted_half_leaves_its_peer_alone),
		cmocka_unit_test(other_addresses_and_overlays_are_not_compared),
		cmocka_unit_test(datagrams_that_name_each_other_are_a_pair),
		cmocka_unit_test(datagrams_of_which_one_names_a_third_are_none),
		cmocka_unit_test(evidence_falls_with_distance),
		cmocka_unit_test(another_pkey_speaks_against),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
