#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <decode/opcode.h>
#include <flow/paired.h>

#include "pairs.h"
#include "pairs_evidence.h"

/*
 * Host 1 and host 2 talk; half "there" goes from 1 to 2, "back" from 2 to 1. What the tracker would
 * do with a half's state before and after asking for its other half is done here by hand.
 */
enum { SEED = 12345, CAPACITY = 1 << 17, THERE = 1, BACK = 2, RULE = 0xc000 };

struct wire {
	struct ft_flow_table *table;
	struct ft_pairs *pairs;
	uint64_t frames;
	uint64_t now_ns;
};

static void evicted(void *context, struct ft_flow *flow)
{
	ft_pairs_leave(context, flow);
}

static struct wire wire_of(uint32_t capacity, uint64_t seed)
{
	struct wire wire = { 0 };

	assert_int_equal(ft_flow_table_create(&wire.table, capacity, seed), 0);
	assert_int_equal(ft_pairs_create(&wire.pairs, wire.table, seed), 0);
	ft_flow_on_evict(wire.table, evicted, wire.pairs);
	return wire;
}

static void cut(struct wire *wire)
{
	ft_pairs_destroy(wire->pairs);
	ft_flow_table_destroy(wire->table);
}

static struct ft_flow_key half_key(uint8_t from, uint32_t dest_qp)
{
	struct ft_flow_key key = {
		.dest_qp = dest_qp,
		.vni = FT_FLOW_NO_VNI,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
	};

	key.src[15] = from;
	key.dst[15] = from == THERE ? BACK : THERE;
	return key;
}

/* A packet of a half, from its point of view. */
struct packet {
	uint8_t from;
	uint32_t dest_qp;
	uint16_t sport; /* 0: no UDP header */
	uint32_t psn;
	uint8_t service;
	uint32_t src_qp; /* UD */
};

static struct ft_flow *take_packet(struct wire *wire, const struct packet *packet,
				   struct ft_observed *observed)
{
	struct ft_flow_key key = half_key(packet->from, packet->dest_qp);
	struct ft_flow *flow;

	wire->frames++;
	flow = ft_flow_find_or_create(wire->table, &key, ft_flow_hash(wire->table, &key),
				      wire->now_ns);
	flow->last_ns = wire->now_ns;
	*observed = (struct ft_observed){
		.ts_ns = wire->now_ns,
		.has = FT_OBSERVED_BTH | (packet->sport != 0 ? FT_OBSERVED_UDP : 0) |
		       (packet->service == FT_UD ? FT_OBSERVED_DETH : 0),
		.frame = wire->frames,
		.sport = packet->sport,
		.psn = packet->psn,
		.dest_qp = packet->dest_qp,
		.src_qp = packet->src_qp,
	};
	if (flow->half.service == UINT8_MAX) {
		flow->half.service = packet->service;
		ft_pairs_enter(wire->pairs, flow, observed);
	}
	return flow;
}

static struct ft_flow *ask(struct wire *wire, struct packet packet)
{
	struct ft_observed observed;
	struct ft_flow *flow = take_packet(wire, &packet, &observed);

	flow->half.next_psn = (packet.psn + 1) & 0xffffff;
	ft_pairs_request(wire->pairs, flow);
	return flow;
}

static struct ft_flow *answer(struct wire *wire, struct packet packet)
{
	struct ft_observed observed;
	struct ft_flow *flow = take_packet(wire, &packet, &observed);
	struct ft_flow *asker = ft_pairs_answer(wire->pairs, flow, &observed);

	assert_ptr_equal(asker, flow->peer == 0 ? NULL : ft_flow_at(wire->table, flow->peer));
	flow->half.answered = packet.psn;
	return flow;
}

static void assert_paired(const struct wire *wire, const struct ft_flow *one,
			  const struct ft_flow *other, enum ft_paired_by by)
{
	assert_int_equal(one->peer, ft_flow_number(wire->table, other));
	assert_int_equal(other->peer, ft_flow_number(wire->table, one));
	assert_int_equal(one->half.paired_by, by);
	assert_int_equal(other->half.paired_by, by);
	assert_int_equal(one->half.pair_bits, other->half.pair_bits);
}

static void assert_alone(const struct ft_flow *flow)
{
	assert_int_equal(flow->peer, 0);
	assert_int_equal(flow->half.paired_by, FT_PAIRED_NOT);
	assert_true(ft_paired_certainty(&flow->half) == 0);
}

static struct packet at_psn(struct packet packet, uint32_t further)
{
	packet.psn = (packet.psn + further) & 0xffffff;
	return packet;
}

static void an_answer_finds_the_only_half_that_asked(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other, *stranger;

	(void)state;
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	stranger = ask(&wire, (struct packet){ THERE, 21, 0, .psn = 0x123456 });
	other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	assert_int_equal(other->half.pair_bits, 24);
	assert_true(ft_paired_certainty(&one->half) > 1 - 1e-7);
	assert_true(ft_paired_certainty(&one->half) < 1);
	assert_alone(stranger);
	cut(&wire);
}

static void an_answer_to_what_nobody_asked_pairs_nothing(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	for (uint32_t i = 0; i < 200; i++)
		other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x100000 + i });
	assert_alone(one);
	assert_alone(other);
	cut(&wire);
}

static void answers_far_behind_need_more_than_one(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	one->half.next_psn = 0x900100;
	other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_alone(one);
	other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900001 });
	other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900002 });
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	cut(&wire);
}

/* Four queue pairs that all begin at PSN 0 and go on together. */
static void halves_in_step_are_told_apart_by_their_ports(void **state)
{
	enum { HALVES = 4 };
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *there[HALVES], *back[HALVES];

	(void)state;
	for (uint32_t psn = 0; psn < 20; psn++) {
		for (uint32_t i = 0; i < HALVES; i++)
			there[i] = ask(&wire, (struct packet){ THERE, 20 + i, (uint16_t)(RULE + i),
							       .psn = psn });
		for (uint32_t i = HALVES; i-- > 0;)
			back[i] = answer(&wire, (struct packet){ BACK, 10 + i, (uint16_t)(RULE + i),
								 .psn = psn });
	}
	for (uint32_t i = 0; i < HALVES; i++)
		assert_paired(&wire, there[i], back[i], FT_PAIRED_TRANSPORT);
	cut(&wire);
}

static void halves_in_step_without_ports_are_not_guessed_between(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *there[2], *back[2];

	(void)state;
	for (uint32_t psn = 0x500000; psn < 0x500000 + 1000; psn++) {
		for (uint32_t i = 0; i < 2; i++)
			there[i] = ask(&wire, (struct packet){ THERE, 20 + i, 0, .psn = psn });
		for (uint32_t i = 0; i < 2; i++)
			back[i] = answer(&wire, (struct packet){ BACK, 10 + i, 0, .psn = psn });
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_alone(there[i]);
		assert_alone(back[i]);
	}
	cut(&wire);
}

/* The second request of each pair comes after the first was answered: now and then only one can have asked. */
static void halves_nearly_in_step_are_told_apart_in_time(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *there[2], *back[2];

	(void)state;
	for (uint32_t psn = 0x500000; psn < 0x500000 + 100; psn++) {
		for (uint32_t i = 0; i < 2; i++) {
			there[i] = ask(&wire, (struct packet){ THERE, 20 + i, 0, .psn = psn });
			back[i] = answer(&wire, (struct packet){ BACK, 10 + i, 0, .psn = psn });
		}
	}
	for (uint32_t i = 0; i < 2; i++)
		assert_paired(&wire, there[i], back[i], FT_PAIRED_TRANSPORT);
	cut(&wire);
}

/*
 * Of three connections that began at one PSN, two move alike; in view are one half of each of those, which
 * are no pair, and one half of the third, `apart` PSNs ahead.
 */
static void assert_not_taken_for_one_out_of_view(uint32_t first, uint32_t apart)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *there, *other, *back;

	for (uint32_t psn = first; psn < first + 2000; psn++) {
		there = ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		other = ask(&wire, (struct packet){ THERE, 22, 0, .psn = psn + apart });
		back = answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
		assert_alone(there);
		assert_alone(other);
		assert_alone(back);
	}
	/* Of the third the other half comes into view: as many each way. */
	for (uint32_t psn = first + 2000; psn < first + 4000; psn++) {
		ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		other = ask(&wire, (struct packet){ THERE, 22, 0, .psn = psn + apart });
		back = answer(&wire, (struct packet){ BACK, 12, 0, .psn = psn + apart });
		answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
	}
	assert_paired(&wire, other, back, FT_PAIRED_TRANSPORT);
	cut(&wire);
}

static void a_half_in_step_with_one_out_of_view_is_not_taken_for_it(void **state)
{
	(void)state;
	assert_not_taken_for_one_out_of_view(0, 5);
	assert_not_taken_for_one_out_of_view(0, 300);
	assert_not_taken_for_one_out_of_view(0x500000, 300);
}

/* Both directions ask in the same PSNs over the same port, so nothing but the port is in common. */
static void one_whose_requests_come_after_the_answers_is_not_the_one_that_asked(void **state)
{
	/* the right half waits for its answer, under a port of its own, where nothing finds it */
	const struct packet right = { THERE, 0x1022, RULE + 0x123, 0xffff00, .service = FT_RC };
	const struct packet other = { THERE, 0x1028, RULE + 0x456, 0xfffef0, .service = FT_RC };
	const struct packet replies = { BACK, 0x22, RULE + 0x789, 0xffff00, .service = FT_RC };
	struct wire wire = wire_of(CAPACITY, SEED);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		ask(&wire, at_psn(right, i));
	answer(&wire, replies);
	answer(&wire, at_psn(replies, 1));
	for (uint32_t i = 0; i < 8; i++)
		ask(&wire, at_psn(other, i));
	for (uint32_t i = 2; i < 5; i++)
		assert_alone(answer(&wire, at_psn(replies, i)));
	cut(&wire);
}

static void another_port_by_the_rule_speaks_against(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = ask(&wire, (struct packet){ THERE, 20, RULE + 1, .psn = 0 });
	other = answer(&wire, (struct packet){ BACK, 10, RULE + 2, .psn = 0 });
	assert_alone(one);
	assert_alone(other);
	cut(&wire);
}

static void a_half_with_another_port_is_found_after_a_while(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	for (uint32_t psn = 0x800000; psn < 0x800000 + 500; psn++) {
		one = ask(&wire, (struct packet){ THERE, 20, RULE + 1, .psn = psn });
		other = answer(&wire, (struct packet){ BACK, 10, RULE + 2, .psn = psn });
	}
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	cut(&wire);
}

/* Some adapters send from a port that is their own queue pair's number. */
static void ports_that_name_queue_pairs_tell_halves_in_step_apart(void **state)
{
	enum { HALVES = 3 };
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *there[HALVES], *back[HALVES];

	(void)state;
	for (uint32_t psn = 0; psn < 1000; psn++) {
		for (uint32_t i = 0; i < HALVES; i++)
			there[i] = ask(&wire, (struct packet){ THERE, 120 + i, (uint16_t)(110 + i),
							       .psn = psn });
		for (uint32_t i = HALVES; i-- > 0;)
			back[i] = answer(&wire, (struct packet){ BACK, 110 + i, (uint16_t)(120 + i),
								 .psn = psn });
	}
	for (uint32_t i = 0; i < HALVES; i++)
		assert_paired(&wire, there[i], back[i], FT_PAIRED_TRANSPORT);
	cut(&wire);
}

static void a_pair_that_is_contradicted_falls_apart(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	for (uint32_t i = 0; i < 3; i++)
		answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x100000 + i });
	assert_alone(one);
	assert_alone(other);
	cut(&wire);
}

static void answers_to_a_half_whose_requests_were_not_seen_contradict_nothing(void **state)
{
	const struct packet request = { THERE, 11, .psn = 0x123456, .service = FT_XRC };
	const struct packet response = { BACK, 22, .psn = 0x123456, .service = FT_XRC };
	/* what the first half answers to the other one's READs, of which the mirror lost the first */
	const struct packet other_way = { THERE, 11, .psn = 0xe50000, .service = FT_XRC };
	struct wire wire = wire_of(CAPACITY, SEED);

	(void)state;
	ask(&wire, request);
	answer(&wire, response);
	for (uint32_t i = 0; i < 4; i++)
		answer(&wire, at_psn(other_way, 20 * i));
	assert_paired(&wire, ask(&wire, at_psn(request, 1)), answer(&wire, at_psn(response, 1)),
		      FT_PAIRED_TRANSPORT);
	cut(&wire);
}

static void agreement_makes_a_pair_sure_and_contradiction_unsure(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	for (uint32_t psn = 0x900000; psn < 0x900000 + 100; psn++) {
		one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = psn });
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
	cut(&wire);
}

/* From PSN 0 both go on alike for a while; then, by turns, one is ahead of the other. */
static void a_young_pair_of_which_one_runs_ahead_falls_apart(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *there, *back;

	(void)state;
	for (uint32_t psn = 0; psn < 20; psn++) {
		there = ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		back = answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
	}
	assert_paired(&wire, there, back, FT_PAIRED_TRANSPORT);
	for (uint32_t psn = 20; back->peer != 0 && psn < 200; psn += 4) {
		ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		for (uint32_t i = 0; i < 4; i++)
			back = answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn - 1 + i });
	}
	assert_alone(there);
	assert_alone(back);
	cut(&wire);
}

static void a_young_pair_stays_while_many_requests_wait_for_answers(void **state)
{
	enum {
		WAITING = 40
	}; /* as in a long message whose first packets are acknowledged while it is sent */
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *there, *back;

	(void)state;
	for (uint32_t psn = 0; psn < 20; psn++) {
		ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
	}
	for (uint32_t psn = 20; psn < 20 + WAITING; psn++)
		ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
	for (uint32_t psn = 20; psn < 100; psn++) {
		there = ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn + WAITING });
		back = answer(&wire, (struct packet){ BACK, 11, 0, .psn = psn });
		assert_paired(&wire, there, back, FT_PAIRED_TRANSPORT);
	}
	cut(&wire);
}

static void an_evicted_half_leaves_its_peer_alone(void **state)
{
	struct wire wire = wire_of(2, SEED);
	struct ft_flow *other;

	(void)state;
	ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_int_not_equal(other->peer, 0);
	other->last_ns = 1000;
	ask(&wire, (struct packet){ THERE, 99, 0, .psn = 7 });
	assert_alone(other);
	cut(&wire);
}

static void other_addresses_and_overlays_are_not_compared(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow_key key = half_key(THERE, 20);
	struct ft_observed observed = { .has = FT_OBSERVED_BTH, .psn = 0x900000 };
	struct ft_flow *other, *halves[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		key = half_key(THERE, 20);
		key.src[0] = i == 0;
		key.vni = i == 1 ? 77 : FT_FLOW_NO_VNI;
		key.by_lid = i == 2;
		halves[i] =
			ft_flow_find_or_create(wire.table, &key, ft_flow_hash(wire.table, &key), 0);
		halves[i]->half.service = FT_RC;
		halves[i]->half.next_psn = 0x900001;
		ft_pairs_enter(wire.pairs, halves[i], &observed);
	}
	other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_alone(other);
	for (int i = 0; i < 3; i++)
		assert_alone(halves[i]);
	cut(&wire);
}

static void datagrams_that_name_each_other_are_a_pair(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other, *third;

	(void)state;
	one = ask(&wire,
		  (struct packet){ THERE, 20, RULE, .psn = 0, .service = FT_UD, .src_qp = 10 });
	third = ask(&wire,
		    (struct packet){ BACK, 11, RULE, .psn = 0, .service = FT_UD, .src_qp = 20 });
	assert_alone(one);
	other = ask(&wire,
		    (struct packet){ BACK, 10, RULE, .psn = 0, .service = FT_UD, .src_qp = 20 });
	assert_paired(&wire, one, other, FT_PAIRED_UD_SOURCE_QP);
	assert_alone(third);
	assert_true(ft_paired_certainty(&one->half) < 1);
	cut(&wire);
}

static void datagrams_of_which_one_names_a_third_are_none(void **state)
{
	struct wire wire = wire_of(16, SEED);

	(void)state;
	ask(&wire, (struct packet){ THERE, 20, RULE, .psn = 0, .service = FT_UD, .src_qp = 10 });
	assert_alone(ask(&wire, (struct packet){ BACK, 10, RULE, .psn = 0, .service = FT_UD,
						 .src_qp = 21 }));
	cut(&wire);
}

static void a_setup_pairs_halves_that_come_later(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow_key there = half_key(THERE, 20), back = half_key(BACK, 10);
	struct ft_flow *one, *other;

	(void)state;
	ft_pairs_learn(wire.pairs, &there, &back, FT_PAIRED_CM);
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 5 });
	assert_alone(one);
	other = ask(&wire, (struct packet){ BACK, 10, 0, .psn = 9 });
	assert_paired(&wire, one, other, FT_PAIRED_CM);
	assert_true(ft_paired_certainty(&one->half) == 1);
	cut(&wire);
}

static void a_setup_corrects_what_evidence_said(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow_key there = half_key(THERE, 20), back = half_key(BACK, 11);
	struct ft_flow *one, *wrong, *right;

	(void)state;
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	wrong = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	right = ask(&wire, (struct packet){ BACK, 11, 0, .psn = 9 });
	assert_paired(&wire, one, wrong, FT_PAIRED_TRANSPORT);
	ft_pairs_learn(wire.pairs, &there, &back, FT_PAIRED_NCCL);
	assert_paired(&wire, one, right, FT_PAIRED_NCCL);
	assert_alone(wrong);
	cut(&wire);
}

static void a_setup_known_late_joins_halves_that_are_alone(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 5 });
	struct ft_flow *other = ask(&wire, (struct packet){ BACK, 10, 0, .psn = 9 });

	(void)state;
	assert_alone(one);
	assert_true(ft_pairs_confirm(wire.pairs, one, other, FT_PAIRED_NCCL));
	assert_paired(&wire, one, other, FT_PAIRED_NCCL);
	assert_true(ft_paired_certainty(&other->half) == 1);
	assert_false(ft_pairs_confirm(wire.pairs, other, one, FT_PAIRED_NCCL));
	assert_paired(&wire, one, other, FT_PAIRED_NCCL);
	cut(&wire);
}

static void a_setup_known_late_makes_a_pair_sure(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	assert_false(ft_pairs_confirm(wire.pairs, one, other, FT_PAIRED_NCCL));
	assert_paired(&wire, one, other, FT_PAIRED_NCCL);
	assert_false(ft_pairs_confirm(wire.pairs, one, other, FT_PAIRED_CM));
	assert_false(ft_pairs_confirm(wire.pairs, one, other, FT_PAIRED_NCCL));
	assert_paired(&wire, one, other, FT_PAIRED_CM);
	cut(&wire);
}

static void a_setup_known_late_leaves_what_answers_prove(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other, *third;

	(void)state;
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	third = ask(&wire, (struct packet){ BACK, 11, 0, .psn = 9 });
	assert_false(ft_pairs_confirm(wire.pairs, one, third, FT_PAIRED_NCCL));
	assert_false(ft_pairs_confirm(wire.pairs, third, one, FT_PAIRED_NCCL));
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	assert_alone(third);
	cut(&wire);
}

static void a_setup_known_late_corrects_what_a_port_said(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *wrong, *right;

	(void)state;
	for (uint32_t psn = 0; psn < 40; psn++) {
		one = ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = psn });
		wrong = ask(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 9000 + psn });
	}
	right = ask(&wire, (struct packet){ BACK, 11, RULE + 7, .psn = 9 });
	assert_paired(&wire, one, wrong, FT_PAIRED_SOURCE_PORT);
	assert_true(ft_pairs_confirm(wire.pairs, one, right, FT_PAIRED_NCCL));
	assert_paired(&wire, one, right, FT_PAIRED_NCCL);
	assert_alone(wrong);
	cut(&wire);
}

/* As one that only got CNPs. */
static void a_setup_known_late_leaves_halves_that_never_entered(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow_key key = half_key(BACK, 10);
	struct ft_flow *one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 5 });
	struct ft_flow *other =
		ft_flow_find_or_create(wire.table, &key, ft_flow_hash(wire.table, &key), 1);

	(void)state;
	assert_false(ft_pairs_confirm(wire.pairs, one, other, FT_PAIRED_NCCL));
	assert_false(ft_pairs_confirm(wire.pairs, other, one, FT_PAIRED_NCCL));
	assert_alone(one);
	assert_alone(other);
	cut(&wire);
}

static void the_newest_setup_of_a_queue_pair_counts(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow_key there = half_key(THERE, 20), back = half_key(BACK, 10);
	struct ft_flow_key later = half_key(BACK, 11);
	struct ft_flow *one, *former, *latter;

	(void)state;
	ft_pairs_learn(wire.pairs, &there, &back, FT_PAIRED_CM);
	ft_pairs_learn(wire.pairs, &there, &later, FT_PAIRED_CM);
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 5 });
	latter = ask(&wire, (struct packet){ BACK, 11, 0, .psn = 9 });
	former = ask(&wire, (struct packet){ BACK, 10, 0, .psn = 9 });
	assert_alone(former);
	assert_paired(&wire, one, latter, FT_PAIRED_CM);
	cut(&wire);
}

static void the_oldest_setups_make_room_for_new_ones(void **state)
{
	struct wire wire = wire_of(64, SEED);
	struct ft_flow_key there, back;
	struct ft_flow *one, *other;

	(void)state;
	for (uint32_t i = 0; i <= FT_PAIRS_SETUPS; i++) {
		there = half_key(THERE, 100000 + i);
		back = half_key(BACK, 200000 + i);
		ft_pairs_learn(wire.pairs, &there, &back, FT_PAIRED_CM);
	}
	one = ask(&wire, (struct packet){ THERE, 100000, 0, .psn = 5 });
	other = ask(&wire, (struct packet){ BACK, 200000, 0, .psn = 9 });
	assert_alone(one);
	assert_alone(other);
	for (uint32_t i = 1; i <= FT_PAIRS_SETUPS; i += FT_PAIRS_SETUPS - 1) {
		one = ask(&wire, (struct packet){ THERE, 100000 + i, 0, .psn = 5 });
		other = ask(&wire, (struct packet){ BACK, 200000 + i, 0, .psn = 9 });
		assert_paired(&wire, one, other, FT_PAIRED_CM);
	}
	cut(&wire);
}

static void nothing_but_a_shared_port_makes_a_less_certain_pair(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	for (uint32_t psn = 0; psn < 40; psn++) {
		one = ask(&wire,
			  (struct packet){ THERE, 20, RULE + 5, .psn = psn, .service = FT_UC });
		other = ask(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 9000 + psn,
						    .service = FT_UC });
	}
	assert_paired(&wire, one, other, FT_PAIRED_SOURCE_PORT);
	assert_true(ft_paired_certainty(&one->half) == 0.9);
	cut(&wire);
}

static void a_port_that_three_halves_share_pairs_none(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *halves[3];

	(void)state;
	for (uint32_t psn = 0; psn < 400; psn++) {
		halves[0] = ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = psn,
							.service = FT_UC });
		halves[1] = ask(
			&wire, (struct packet){ BACK, 10, RULE + 5, .psn = psn, .service = FT_UC });
		halves[2] = ask(
			&wire, (struct packet){ BACK, 11, RULE + 5, .psn = psn, .service = FT_UC });
	}
	for (int i = 0; i < 3; i++)
		assert_alone(halves[i]);
	cut(&wire);
}

/* A hundred thousand queue pairs between two hosts that nothing tells apart: looked at, not for ever. */
static void a_crowd_costs_no_more_than_the_walk(void **state)
{
	enum { CROWD = 50000 };
	struct wire wire = wire_of(CAPACITY, SEED);
	struct ft_flow *half = NULL;

	(void)state;
	for (uint32_t i = 0; i < CROWD; i++)
		ask(&wire, (struct packet){ THERE, 100 + i, 0, .psn = 0x700000 });
	for (uint32_t i = 0; i < CROWD; i++)
		half = answer(&wire, (struct packet){ BACK, 100 + i, 0, .psn = 0x700000 });
	assert_alone(half);
	cut(&wire);
}

/* More than the index is made for at first. */
static void of_many_that_wait_each_is_found(void **state)
{
	enum { MANY = 40000, PORT = 1000 };
	struct wire wire = wire_of(CAPACITY, SEED);
	static struct ft_flow *halves[MANY];

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		halves[i] = ask(&wire, (struct packet){ THERE, 100 + i, (uint16_t)(PORT + i),
							.psn = 0x700000 });
	for (uint32_t i = 0; i < MANY; i++)
		assert_paired(&wire, halves[i],
			      answer(&wire, (struct packet){ BACK, 100 + i, (uint16_t)(PORT + i),
							     .psn = 0x700000 }),
			      FT_PAIRED_TRANSPORT);
	cut(&wire);
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
		struct wire wire = wire_of(16, SEED);
		struct ft_flow *other;

		ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = 0x900000 });
		ask(&wire, (struct packet){ THERE, 21, cases[i].port, .psn = 0x900000 });
		other = answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x900000 });
		if ((other->peer == 0) != cases[i].alone)
			fail_msg("%s", cases[i].what);
		cut(&wire);
	}
}

static void another_that_came_later_is_seen_too(void **state)
{
	struct wire wire = wire_of(16, SEED);

	(void)state;
	ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = 0x900000 });
	answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x100000 });
	ask(&wire, (struct packet){ THERE, 21, RULE + 5, .psn = 0x900000 });
	assert_alone(answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x900000 }));
	cut(&wire);
}

static void the_only_one_is_left_out_too_when_long_silent(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one;

	(void)state;
	ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = 0x900000 });
	wire.now_ns = UINT64_C(3000000000);
	assert_alone(answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x900000 }));
	one = ask(&wire, (struct packet){ THERE, 20, RULE + 5, .psn = 0x900001 });
	assert_paired(&wire, one,
		      answer(&wire, (struct packet){ BACK, 10, RULE + 5, .psn = 0x900001 }),
		      FT_PAIRED_TRANSPORT);
	cut(&wire);
}

/* A thousand halves that nobody ever answered do not hide two that talk, and talk again themselves. */
static void halves_long_silent_are_left_out(void **state)
{
	enum { CROWD = 1000, SECOND = 1000000000 };
	struct wire wire = wire_of(2048, SEED);
	struct ft_flow *one = NULL, *other = NULL, *silent;

	(void)state;
	for (uint32_t i = 0; i < CROWD; i++)
		ask(&wire, (struct packet){ THERE, 100 + i, 0, .psn = 0x700000 });
	wire.now_ns = 10 * (uint64_t)SECOND;
	for (uint32_t psn = 0x700000; psn < 0x700000 + 300; psn++) {
		one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = psn });
		other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = psn });
	}
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	silent = ask(&wire, (struct packet){ THERE, 100, 0, .psn = 0x700001 });
	other = answer(&wire, (struct packet){ BACK, 11, 0, .psn = 0x700001 });
	assert_paired(&wire, silent, other, FT_PAIRED_TRANSPORT);
	cut(&wire);
}

/* Random traffic of ten connections, some without ports, some in step: the same pairs whatever the seed. */
static void the_seed_changes_no_pair(void **state)
{
	enum { CONNECTIONS = 10, RUNS = 4 };
	uint32_t peers[RUNS][CONNECTIONS];

	(void)state;
	for (uint64_t run = 0; run < RUNS; run++) {
		struct wire wire = wire_of(64, SEED * (run + 1));
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
				ask(&wire,
				    (struct packet){ THERE, 20 + i, port, .psn = psn[i] += 1 });
			else if (psn[i] != 0)
				peers[run][i] = answer(&wire, (struct packet){ BACK, 40 + i, port,
									       .psn = psn[i] })
							->peer;
		}
		cut(&wire);
		assert_memory_equal(peers[run], peers[0], sizeof peers[0]);
	}
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
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;

	(void)state;
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	one->first_base = 1;
	other = ask(&wire, (struct packet){ BACK, 10, 0, .psn = 5 });
	other->first_base = 2;
	answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_alone(one);
	other->first_base = 1;
	for (int i = 0; i < 3; i++)
		answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	cut(&wire);
}

static void what_finds_nothing_looks_ever_more_seldom(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other;
	unsigned answers = 0;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
	one = ask(&wire, (struct packet){ THERE, 20, 0, .psn = 0x900000 });
	do {
		other = answer(&wire, (struct packet){ BACK, 10, 0, .psn = 0x900000 });
		answers++;
	} while (other->peer == 0 && answers < 1000);
	assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
	assert_in_range(answers, 16, 64);
	cut(&wire);
}

/* Both sides send a long message before either answers. */
static void a_half_that_asked_much_is_found_by_its_first_answer(void **state)
{
	static const uint16_t ports[] = { 0, RULE + 5 };

	(void)state;
	for (size_t port = 0; port < sizeof ports / sizeof ports[0]; port++) {
		struct wire wire = wire_of(16, SEED);
		struct ft_flow *one = NULL, *other;

		for (uint32_t i = 0; i < 24; i++)
			ask(&wire, (struct packet){ BACK, 10, ports[port], .psn = 0x300000 + i });
		for (uint32_t i = 0; i < 24; i++)
			one = ask(&wire,
				  (struct packet){ THERE, 20, ports[port], .psn = 0x900000 + i });
		assert_alone(one);
		other = answer(&wire, (struct packet){ BACK, 10, ports[port], .psn = 0x900017 });
		assert_paired(&wire, one, other, FT_PAIRED_TRANSPORT);
		cut(&wire);
	}
}

/* Queue pairs 18 and 19 at each end make the same port twice; of the first connection one side is not in view. */
static void a_port_shared_by_two_connections_is_not_enough(void **state)
{
	struct wire wire = wire_of(16, SEED);
	struct ft_flow *one, *other, *right;

	(void)state;
	for (uint32_t psn = 158; psn < 162; psn++) {
		one = ask(&wire, (struct packet){ THERE, 19, 49494, .psn = psn });
		other = answer(&wire, (struct packet){ BACK, 19, 49494, .psn = psn });
		right = answer(&wire, (struct packet){ BACK, 18, 49494, .psn = psn });
	}
	assert_alone(other);
	assert_paired(&wire, one, right, FT_PAIRED_TRANSPORT);
	cut(&wire);
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
		cmocka_unit_test(an_answer_finds_the_only_half_that_asked),
		cmocka_unit_test(an_answer_to_what_nobody_asked_pairs_nothing),
		cmocka_unit_test(answers_far_behind_need_more_than_one),
		cmocka_unit_test(halves_in_step_are_told_apart_by_their_ports),
		cmocka_unit_test(halves_in_step_without_ports_are_not_guessed_between),
		cmocka_unit_test(halves_nearly_in_step_are_told_apart_in_time),
		cmocka_unit_test(a_half_in_step_with_one_out_of_view_is_not_taken_for_it),
		cmocka_unit_test(
			one_whose_requests_come_after_the_answers_is_not_the_one_that_asked),
		cmocka_unit_test(another_port_by_the_rule_speaks_against),
		cmocka_unit_test(a_half_with_another_port_is_found_after_a_while),
		cmocka_unit_test(ports_that_name_queue_pairs_tell_halves_in_step_apart),
		cmocka_unit_test(a_pair_that_is_contradicted_falls_apart),
		cmocka_unit_test(answers_to_a_half_whose_requests_were_not_seen_contradict_nothing),
		cmocka_unit_test(agreement_makes_a_pair_sure_and_contradiction_unsure),
		cmocka_unit_test(a_young_pair_of_which_one_runs_ahead_falls_apart),
		cmocka_unit_test(a_young_pair_stays_while_many_requests_wait_for_answers),
		cmocka_unit_test(an_evicted_half_leaves_its_peer_alone),
		cmocka_unit_test(other_addresses_and_overlays_are_not_compared),
		cmocka_unit_test(datagrams_that_name_each_other_are_a_pair),
		cmocka_unit_test(datagrams_of_which_one_names_a_third_are_none),
		cmocka_unit_test(a_setup_pairs_halves_that_come_later),
		cmocka_unit_test(a_setup_corrects_what_evidence_said),
		cmocka_unit_test(a_setup_known_late_joins_halves_that_are_alone),
		cmocka_unit_test(a_setup_known_late_makes_a_pair_sure),
		cmocka_unit_test(a_setup_known_late_leaves_what_answers_prove),
		cmocka_unit_test(a_setup_known_late_corrects_what_a_port_said),
		cmocka_unit_test(a_setup_known_late_leaves_halves_that_never_entered),
		cmocka_unit_test(the_newest_setup_of_a_queue_pair_counts),
		cmocka_unit_test(the_oldest_setups_make_room_for_new_ones),
		cmocka_unit_test(nothing_but_a_shared_port_makes_a_less_certain_pair),
		cmocka_unit_test(a_port_that_three_halves_share_pairs_none),
		cmocka_unit_test(a_crowd_costs_no_more_than_the_walk),
		cmocka_unit_test(of_many_that_wait_each_is_found),
		cmocka_unit_test(another_that_could_have_asked_is_seen_wherever_it_is),
		cmocka_unit_test(another_that_came_later_is_seen_too),
		cmocka_unit_test(the_only_one_is_left_out_too_when_long_silent),
		cmocka_unit_test(halves_long_silent_are_left_out),
		cmocka_unit_test(the_seed_changes_no_pair),
		cmocka_unit_test(evidence_falls_with_distance),
		cmocka_unit_test(another_pkey_speaks_against),
		cmocka_unit_test(what_finds_nothing_looks_ever_more_seldom),
		cmocka_unit_test(a_half_that_asked_much_is_found_by_its_first_answer),
		cmocka_unit_test(a_port_shared_by_two_connections_is_not_enough),
		cmocka_unit_test(the_rule_of_linux_gives_the_ports_that_were_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
