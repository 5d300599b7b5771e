#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <partition/check.h>

#include "suspects.h"

#define R(name) (1u << FT_RULE_SPOOF_##name)

enum {
	SEND_ONLY = 0x04,
	WRITE_ONLY = 0x0a,
	WRITE_MIDDLE = 0x07,
	READ_REQUEST = 0x0c,
	COMPARE_SWAP = 0x13,
	ACKNOWLEDGE = 0x11,
	UD_SEND_ONLY = 0x64,
	CNP = 0x81,
	ACCESS_ERROR = 0x62,
	FIRST_PSN = 1000,
	START_NS = 1000000000,
	US = 1000,
	MS = 1000000,
};

/* Two hosts, A and B, with everything that watches them. */
struct wire {
	struct ft_flow_table *table;
	struct ft_suspects *suspects;
	struct ft_suspicion suspicion; /* of the packet sent last */
	uint64_t now_ns, frame;
};

static int set_up(void **state)
{
	static struct wire wire;

	wire = (struct wire){ .now_ns = START_NS };
	assert_int_equal(ft_flow_table_create(&wire.table, 1024, 7), 0);
	assert_int_equal(ft_suspects_create(&wire.suspects, wire.table), 0);
	*state = &wire;
	return 0;
}

static int tear_down(void **state)
{
	struct wire *wire = *state;

	ft_suspects_destroy(wire->suspects);
	ft_flow_table_destroy(wire->table);
	return 0;
}

static struct ft_flow *flow_of(struct wire *wire, bool from_b, uint32_t dest_qp)
{
	struct ft_flow_key key = {
		.dest_qp = dest_qp,
		.vni = FT_FLOW_NO_VNI,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
	};

	key.src[15] = from_b ? 2 : 1;
	key.dst[15] = from_b ? 1 : 2;
	return ft_flow_find_or_create(wire->table, &key, ft_flow_hash(wire->table, &key),
				      wire->now_ns);
}

/* A's request number `nth` of its connection to queue pair 17 of B, as a healthy sender makes it. */
static struct ft_observed request(uint32_t nth)
{
	return (struct ft_observed){
		.has = FT_OBSERVED_BTH | FT_OBSERVED_ETH | FT_OBSERVED_IP | FT_OBSERVED_IPV4 |
		       FT_OBSERVED_UDP | FT_OBSERVED_PAYLOAD | FT_OBSERVED_CONTENT |
		       FT_OBSERVED_WHOLE,
		.pair = 99,
		.content = 0x10000001u * (nth + 1),
		.payload = 64,
		.psn = (FIRST_PSN + nth) & 0xffffff,
		.dest_qp = 17,
		.pkey = 0xffff,
		.sport = 50000,
		.ip_id = (uint16_t)(300 + nth),
		.smac = { 2, 0, 0, 0, 0, 1 },
		.opcode = SEND_ONLY,
		.ttl = 64,
		.dscp = 26,
	};
}

static uint32_t send_as(struct wire *wire, bool from_b, struct ft_observed observed, uint32_t what)
{
	struct ft_flow *flow = flow_of(wire, from_b, observed.dest_qp);
	struct ft_step step = { .what = what };

	wire->now_ns += 10 * US;
	observed.ts_ns = wire->now_ns;
	observed.frame = ++wire->frame;
	if (flow->packets == 0) {
		step.what |= FT_STEP_RESTART;
		flow->first_base = observed.pkey & 0x7fff;
		flow->half.service = observed.opcode >> 5;
	}
	ft_suspects_step(wire->suspects, flow, &observed, &step, &wire->suspicion);
	flow->packets++;
	flow->last_ns = observed.ts_ns;
	return wire->suspicion.rules;
}

/* The rules that the packet breaks. */
static uint32_t send(struct wire *wire, struct ft_observed observed, uint32_t what)
{
	return send_as(wire, false, observed, what);
}

/* Requests 0 .. count - 1, none of which may be held against their sender. */
static void talk(struct wire *wire, uint32_t count)
{
	for (uint32_t nth = 0; nth < count; nth++)
		assert_int_equal(send(wire, request(nth), FT_STEP_NEW), 0);
}

enum { SETTLED = 20 };

static void another_request_under_a_psn_that_passed_is_a_conflict(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.opcode = WRITE_ONLY;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	assert_int_equal(wire->suspicion.strange, FT_STRANGE_CONTENT);
	assert_false(wire->suspicion.grave);
}

static void the_same_request_again_is_a_retransmission(void **state)
{
	struct wire *wire = *state;
	struct ft_observed again;

	talk(wire, SETTLED);
	for (uint32_t nth = SETTLED - 5; nth < SETTLED; nth++) {
		again = request(nth);
		again.has |= FT_OBSERVED_ACK_REQUEST;
		again.ip_id = (uint16_t)(400 + nth);
		assert_int_equal(send(wire, again, FT_STEP_RETRANSMITTED), 0);
	}
}

static void another_payload_alone_is_worth_a_note(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.payload = 32;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), R(PAYLOAD_CHANGED));
}

static void another_address_is_another_request(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.va = 0x1000;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

/* Digests that differ in few of their bits or in many: a request is told from any other that passed of late. */
static void no_change_is_too_small(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t i = 0; i < 4000; i++) {
		struct ft_observed own = request(SETTLED + i), other = own;
		uint32_t change = i < 32 ? 1u << i : i * 0x9e3779b1u;
		bool payload = i % 2 == 0;

		other.content ^= change;
		other.va = payload ? 0 : change;
		assert_int_equal(send(wire, own, FT_STEP_NEW), 0);
		assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED),
				 payload ? R(PAYLOAD_CHANGED) : R(PSN_CONFLICT));
		assert_int_equal(wire->suspicion.passed, wire->frame - 1);
	}
}

/* Of a sender that sends `ahead` requests more, and then one under the PSN of one of those, which is `back` before the last. */
static uint32_t send_another(struct wire *wire, uint32_t ahead, uint32_t back, uint64_t pause_ns)
{
	struct ft_observed other = request(SETTLED + ahead - back);

	tear_down((void **)&wire);
	set_up((void **)&wire);
	talk(wire, SETTLED + ahead);
	wire->now_ns += pause_ns;
	other.opcode = WRITE_ONLY;
	return send(wire, other, FT_STEP_RETRANSMITTED);
}

static void a_conflict_is_seen_among_the_frames_of_late(void **state)
{
	struct wire *wire = *state;

	for (uint32_t back = 1; back < 1100; back += back < 10 ? 1 : 107)
		assert_int_equal(send_another(wire, 1200, back, 0),
				 back <= FT_SUSPECTS_PASSAGES ? R(PSN_CONFLICT) : 0);
	assert_int_equal(send_another(wire, 1200, 100, 11 * MS), 0); /* may be another connection */
}

static void a_request_ahead_of_its_turn_is_compared_with_the_one_that_comes(void **state)
{
	struct wire *wire = *state;
	struct ft_observed forged = request(SETTLED + 40);

	talk(wire, SETTLED);
	forged.opcode = WRITE_ONLY;
	assert_int_equal(send(wire, forged, FT_STEP_NEW | FT_STEP_GAP), 0);
	for (uint32_t nth = SETTLED; nth < SETTLED + 40; nth++)
		assert_int_equal(send(wire, request(nth), FT_STEP_REORDERED), 0);
	assert_int_equal(send(wire, request(SETTLED + 40), FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	assert_int_equal(send(wire, request(SETTLED + 41), FT_STEP_NEW), 0);
}

/* Requests of which the one before last is a READ of ten packets from PSN `psn`; the path MTU is 1024. */
static struct ft_observed talk_of_a_read(struct wire *wire)
{
	struct ft_observed read = request(SETTLED), next = request(SETTLED + 10);
	struct ft_flow *flow = flow_of(wire, false, 17);

	talk(wire, SETTLED);
	flow->half.mtu = 1024;
	flow->half.next_psn = (next.psn + 1) & 0xffffff;
	read.opcode = READ_REQUEST;
	read.payload = 0;
	read.va = 0x10000;
	read.rkey = 77;
	read.length = 10 * 1024;
	assert_int_equal(send(wire, read, FT_STEP_NEW), 0);
	assert_int_equal(send(wire, next, FT_STEP_NEW), 0);
	return read;
}

static void a_read_may_be_asked_again_in_part(void **state)
{
	static const uint32_t parts[][2] = { { 0, 1 }, { 0, 4 }, { 3, 1 }, { 3, 7 }, { 0, 10 } };
	struct wire *wire = *state;
	struct ft_observed read = talk_of_a_read(wire);

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		struct ft_observed part = read;

		part.psn += parts[i][0];
		part.va += (uint64_t)parts[i][0] * 1024;
		part.length = parts[i][1] * 1024;
		part.content += (uint32_t)i << 12;
		assert_int_equal(send(wire, part, FT_STEP_RETRANSMITTED), 0);
	}
}

static void also_if_nothing_came_after_it(void **state)
{
	struct wire *wire = *state;
	struct ft_flow *flow = flow_of(wire, false, 17);
	struct ft_observed read = talk_of_a_read(wire), part;

	read.psn += 20;
	flow->half.next_psn = (read.psn + 10) & 0xffffff;
	assert_int_equal(send(wire, read, FT_STEP_NEW), 0);
	for (uint32_t length = 1; length <= 7; length += 3) {
		part = read;
		part.psn += 3;
		part.va += 3 * 1024;
		part.length = length * 1024;
		part.content += length << 12;
		assert_int_equal(send(wire, part, FT_STEP_RETRANSMITTED), 0);
	}
	assert_int_equal(send(wire, read, FT_STEP_RETRANSMITTED), 0);
}

/* What the queue pair sent in another life, set up anew as the tracker says or as a pause lets suspect, says nothing of it. */
static void also_where_another_life_had_its_psns(void **state)
{
	static const uint32_t begins[] = { FT_STEP_NEW | FT_STEP_RESTART, FT_STEP_RETRANSMITTED };
	struct wire *wire = *state;

	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
		struct ft_observed part;

		tear_down(state);
		set_up(state);
		wire = *state;
		talk(wire, 2 * SETTLED);
		wire->now_ns += 200 * MS;
		assert_int_equal(send(wire, request(2 * SETTLED - 1), begins[i]), 0);
		part = talk_of_a_read(wire);
		part.psn += 3;
		part.va += 3 * 1024;
		part.length = 7 * 1024;
		assert_int_equal(send(wire, part, FT_STEP_RETRANSMITTED), 0);
	}
}

static void a_read_of_more_than_was_asked_for_is_another(void **state)
{
	struct wire *wire = *state;
	struct ft_observed more = talk_of_a_read(wire);

	more.length += 1024;
	more.content ^= 0x5a5a5a5a;
	assert_int_equal(send(wire, more, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

static void so_is_one_of_another_address_or_key(void **state)
{
	for (unsigned which = 0; which < 2; which++) {
		struct ft_observed other;
		struct wire *wire;

		tear_down(state);
		set_up(state);
		wire = *state;
		other = talk_of_a_read(wire);
		other.length = 1024;
		other.content ^= 0x5a5a5a5a;
		if (which == 0)
			other.va += 1024;
		else
			other.rkey++;
		assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	}
}

static void operands_of_an_atomic_do_not_change(void **state)
{
	struct wire *wire = *state;
	struct ft_observed swap = request(SETTLED);

	talk(wire, SETTLED);
	swap.opcode = COMPARE_SWAP;
	swap.payload = 0;
	swap.va = 0x1000;
	assert_int_equal(send(wire, swap, FT_STEP_NEW), 0);
	swap.content ^= 0x5a5a5a5a;
	assert_int_equal(send(wire, swap, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

static void what_was_cut_differently_is_not_compared(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.has &= ~(uint32_t)FT_OBSERVED_WHOLE;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), 0);
}

static void a_conflict_across_the_wrap_is_seen(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(0);

	for (uint32_t nth = 0; nth < SETTLED; nth++) {
		other = request(nth);
		other.psn = (0xffffff - SETTLED + 3 + nth) & 0xffffff;
		assert_int_equal(send(wire, other, FT_STEP_NEW), 0);
	}
	other = request(SETTLED - 4);
	other.psn = 0xffffff;
	other.opcode = WRITE_ONLY;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

static void a_connection_set_up_anew_repeats_psns(void **state)
{
	struct wire *wire = *state;

	for (uint32_t length = 1; length < 2 * SETTLED; length++) {
		struct ft_flow *flow = flow_of(wire, false, 17);

		flow->packets = 0; /* the first of these connections is the first of the flow */
		talk(wire, length);
		wire->now_ns += 11 * MS;
		for (uint32_t nth = 0; nth < length + 3; nth++) {
			struct ft_observed other = request(nth);

			other.opcode = WRITE_ONLY;
			other.content = ~other.content;
			assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), 0);
		}
	}
}

static void nor_does_one_that_passed_the_end_of_the_last(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other;

	talk(wire, SETTLED);
	wire->now_ns += 50 * MS;
	for (uint32_t nth = 0; nth <= SETTLED; nth++) {
		other = request(nth);
		other.opcode = WRITE_ONLY;
		assert_int_equal(send(wire, other, FT_STEP_NEW), 0);
	}
	other = request(SETTLED - 2);
	other.opcode = WRITE_ONLY;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), 0);
}

static void after_a_pause_only_the_last_request_is_compared(void **state)
{
	struct wire *wire = *state;

	for (uint32_t back = 1; back <= 3; back++) {
		struct ft_observed other = request(SETTLED - back);

		tear_down(state);
		set_up(state);
		talk(wire, SETTLED);
		wire->now_ns += 50 * MS;
		other.opcode = WRITE_ONLY;
		assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED),
				 back == 1 ? R(PSN_CONFLICT) : 0);
	}
}

static void what_is_long_ago_is_not_compared(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	wire->now_ns += UINT64_C(11000000000);
	other.opcode = WRITE_ONLY;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), 0);
}

static void what_follows_a_long_silence_is_compared_again(void **state)
{
	const uint32_t high = 0x900000;
	struct wire *wire = *state;
	struct ft_observed other = request(0);

	for (uint32_t nth = 0; nth < SETTLED + 3; nth++) {
		other = request(nth);
		other.psn = high + nth;
		if (nth == SETTLED)
			wire->now_ns += UINT64_C(11000000000);
		assert_int_equal(send(wire, other, FT_STEP_NEW), 0);
	}
	other.opcode = WRITE_ONLY;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
}

static void a_read_of_many_psns_does_not_stand_for_older_ones(void **state)
{
	struct wire *wire = *state;
	struct ft_observed later = request(SETTLED - 2 + 4096);

	talk(wire, SETTLED);
	later.opcode = WRITE_ONLY;
	assert_int_equal(send(wire, request(SETTLED + 8192), FT_STEP_NEW), 0);
	assert_int_equal(send(wire, later, FT_STEP_REORDERED), 0);
}

static void another_payload_after_one_of_another_look_is_grave_unless_sent_again(void **state)
{
	static const struct {
		uint64_t pause_ns;
		uint8_t half_flags;
		uint32_t rules;
	} cases[] = {
		{ 0, 0, R(PSN_CONFLICT) },
		{ 0, FT_HALF_NAKED, R(PAYLOAD_CHANGED) },
		{ 67 * MS, 0, R(PAYLOAD_CHANGED) },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_observed other = request(SETTLED);
		struct wire *wire;

		tear_down(state);
		set_up(state);
		wire = *state;
		talk(wire, SETTLED);
		other.content ^= 0x5a5a5a5a;
		other.sport = 50009;
		other.ttl = 62;
		assert_int_equal(send(wire, other, FT_STEP_NEW), R(SENDER_VARIES));
		wire->now_ns += cases[i].pause_ns;
		flow_of(wire, false, 17)->half.flags = cases[i].half_flags;
		assert_int_equal(send(wire, request(SETTLED), FT_STEP_RETRANSMITTED),
				 cases[i].rules);
	}
}

static void memory_that_changed_may_take_another_path(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.sport = 50009;
	other.ttl = 62;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED),
			 R(SENDER_VARIES) | R(PAYLOAD_CHANGED));
}

static void a_resent_payload_seen_behind_a_router_is_worth_a_note(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	other.ttl = 63;
	other.smac[5] = 9;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED), R(PAYLOAD_CHANGED));
}

static void a_conflict_from_another_looking_sender_is_grave(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);

	talk(wire, SETTLED);
	other.opcode = WRITE_ONLY;
	other.sport = 4791;
	other.ttl = 63;
	other.smac[5] = 9;
	assert_int_equal(send(wire, other, FT_STEP_RETRANSMITTED) & R(PSN_CONFLICT),
			 R(PSN_CONFLICT));
	assert_true(wire->suspicion.grave);
}

static void the_own_packet_after_an_injected_one_is_not_blamed(void **state)
{
	struct wire *wire = *state;
	struct ft_observed injected = request(SETTLED);

	talk(wire, SETTLED);
	injected.opcode = WRITE_ONLY;
	injected.ttl = 128;
	injected.sport = 4791;
	assert_int_equal(send(wire, injected, FT_STEP_NEW), R(SENDER_CHANGED));
	assert_int_equal(send(wire, request(SETTLED), FT_STEP_RETRANSMITTED), 0);
	assert_int_equal(send(wire, request(SETTLED + 1), FT_STEP_NEW), 0);
}

static void nor_after_two_of_them(void **state)
{
	struct wire *wire = *state;
	struct ft_observed injected = request(SETTLED);

	talk(wire, SETTLED);
	injected.opcode = WRITE_ONLY;
	injected.sport = 4791;
	injected.ttl = 62;
	assert_int_equal(send(wire, injected, FT_STEP_NEW), R(SENDER_VARIES));
	injected.va = 0x1000;
	assert_int_equal(send(wire, injected, FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	assert_int_equal(send(wire, request(SETTLED), FT_STEP_RETRANSMITTED), 0);
}

static void the_own_packet_shows_the_conflict_if_nothing_else_did(void **state)
{
	struct wire *wire = *state;
	struct ft_observed injected = request(SETTLED);

	talk(wire, SETTLED);
	injected.opcode = WRITE_ONLY;
	injected.sport = 4791;
	injected.ttl = 62;
	assert_int_equal(send(wire, injected, FT_STEP_NEW), R(SENDER_VARIES));
	assert_int_equal(send(wire, request(SETTLED), FT_STEP_RETRANSMITTED), R(PSN_CONFLICT));
	assert_true(wire->suspicion.grave);
}

static void a_sender_is_another_one_if_no_path_explains_it(void **state)
{
	static const struct {
		const char *why;
		uint8_t ttl, dscp, mac;
		uint16_t sport, ip_id;
		uint32_t what, rules;
	} cases[] = {
		{ "as before", 64, 26, 1, 50000, 321, FT_STEP_NEW, 0 },
		{ "a router sent it on", 63, 26, 7, 50000, 321, FT_STEP_NEW, 0 },
		{ "and changed its class", 63, 0, 7, 50000, 321, FT_STEP_NEW, 0 },
		{ "sprayed", 64, 26, 1, 50001, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "another path", 62, 26, 7, 50001, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "another class", 64, 0, 1, 50000, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "the next hop's spare", 64, 26, 7, 50000, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "a longer path", 61, 26, 1, 50000, 321, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "another counter alone", 64, 26, 1, 50000, 40000, FT_STEP_NEW, 0 },
		{ "a counter that went on", 62, 26, 1, 50001, 700, FT_STEP_NEW, R(SENDER_VARIES) },
		{ "another counter as well", 62, 26, 1, 50001, 40000, FT_STEP_NEW,
		  R(SENDER_CHANGED) },
		{ "a TTL of another system", 128, 26, 1, 50000, 321, FT_STEP_NEW,
		  R(SENDER_VARIES) },
		{ "and another port", 128, 26, 1, 50001, 321, FT_STEP_NEW, R(SENDER_CHANGED) },
		{ "and another MAC", 255, 26, 7, 50000, 321, FT_STEP_NEW, R(SENDER_CHANGED) },
		{ "and a PSN far off", 128, 26, 1, 50000, 321, FT_STEP_OUTSIDE,
		  R(SENDER_CHANGED) | R(PSN_WINDOW) },
		{ "a PSN far off alone", 64, 26, 1, 50000, 321, FT_STEP_OUTSIDE, R(PSN_WINDOW) },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_observed odd = request(SETTLED);
		uint32_t rules;

		tear_down(state);
		set_up(state);
		talk(*state, SETTLED);
		odd.ttl = cases[i].ttl;
		odd.dscp = cases[i].dscp;
		odd.smac[5] = cases[i].mac;
		odd.sport = cases[i].sport;
		odd.ip_id = cases[i].ip_id;
		rules = send(*state, odd, cases[i].what);
		if (rules != cases[i].rules)
			fail_msg("%s: rules %x", cases[i].why, rules);
	}
}

static void another_ttl_is_seen_where_the_identification_wraps(void **state)
{
	struct wire *wire = *state;
	struct ft_observed seen = request(0);

	for (uint32_t nth = 0; nth <= SETTLED; nth++) {
		seen = request(nth);
		seen.ip_id = (uint16_t)(nth - SETTLED); /* 0 at last */
		seen.ttl = nth == SETTLED ? 65 : 64;
		assert_int_equal(send(wire, seen, FT_STEP_NEW),
				 nth == SETTLED ? R(SENDER_VARIES) : 0);
	}
}

static void two_viewpoints_of_one_sender_are_one_sender(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t nth = SETTLED; nth < 2000; nth++) {
		struct ft_observed seen = request(nth);

		if (nth * 2654435761u >> 30 == 0) { /* the other copy was lost by the mirror */
			seen.ttl = 63;
			seen.smac[5] = 7;
		}
		assert_int_equal(send(wire, seen, FT_STEP_NEW), 0);
	}
}

static void a_sprayed_connection_is_at_most_worth_a_note(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 5000; nth++) {
		uint32_t path = (nth * 2654435761u >> 20) % 4;
		struct ft_observed seen = request(nth);

		seen.sport = (uint16_t)(50000 + path);
		seen.ttl = (uint8_t)(64 - path);
		seen.smac[5] = (uint8_t)path;
		assert_int_equal(send(wire, seen, FT_STEP_NEW) & ~R(SENDER_VARIES), 0);
	}
}

static void a_new_look_that_stays_is_the_look(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t nth = SETTLED; nth < 3 * SETTLED; nth++) {
		struct ft_observed seen = request(nth);
		uint32_t rules;

		seen.sport = 50009;
		rules = send(wire, seen, FT_STEP_NEW);
		assert_int_equal(rules, nth < SETTLED + 3 ? R(SENDER_VARIES) : 0);
	}
}

static struct ft_observed forged_request(uint32_t nth)
{
	struct ft_observed forged = request(nth);

	forged.smac[5] = 66;
	forged.ttl = 128;
	forged.sport = 50001;
	forged.ip_id = 40000;
	return forged;
}

static void a_search_for_the_psn_is_not_the_look(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t i = 0; i < 3 * SETTLED; i++)
		assert_int_equal(send(wire, forged_request(0x100000 + i), FT_STEP_OUTSIDE),
				 R(SENDER_CHANGED) | R(PSN_WINDOW));
	for (uint32_t nth = SETTLED; nth < 2 * SETTLED; nth++)
		assert_int_equal(send(wire, request(nth), FT_STEP_NEW), 0);
}

static void nor_are_a_few_of_another_system(void **state)
{
	struct wire *wire = *state;

	talk(wire, SETTLED);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(send(wire, forged_request(SETTLED + i), FT_STEP_NEW),
				 R(SENDER_CHANGED));
	assert_int_equal(send(wire, request(SETTLED + 6), FT_STEP_NEW), 0);
}

static void answers_and_notices_may_look_otherwise(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(0), notice = request(0);

	talk(wire, SETTLED);
	answer.opcode = ACKNOWLEDGE;
	answer.dscp = 48;
	answer.sport = 1;
	answer.ip_id = 0;
	assert_int_equal(send(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
	notice.opcode = CNP;
	notice.ttl = 255;
	notice.sport = 0;
	assert_int_equal(send(wire, notice, FT_STEP_CNP), 0);
}

static struct ft_observed forged_answer(uint32_t nth)
{
	struct ft_observed forged = request(nth);

	forged.opcode = ACKNOWLEDGE;
	forged.smac[5] = 66;
	forged.ttl = 128;
	forged.ip_id = 40000;
	return forged;
}

static void an_answer_from_another_machine_is_seen_among_requests(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(SETTLED);

	talk(wire, SETTLED);
	assert_int_equal(send(wire, forged_answer(0), FT_STEP_ANSWER | FT_STEP_ACK),
			 R(SENDER_CHANGED));
	assert_int_equal(wire->suspicion.strange,
			 FT_STRANGE_MAC | FT_STRANGE_TTL | FT_STRANGE_IP_ID);
	assert_int_equal(send(wire, forged_answer(0), FT_STEP_ANSWER | FT_STEP_NAK),
			 R(SENDER_CHANGED));
	assert_int_equal(send(wire, request(SETTLED), FT_STEP_NEW), 0);
	answer.opcode = ACKNOWLEDGE;
	assert_int_equal(send(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
}

static void an_answer_by_another_path_is_none(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = forged_answer(0);

	talk(wire, SETTLED);
	answer.ttl = 63;
	answer.sport = 1;
	for (unsigned i = 0; i < SETTLED; i++)
		assert_int_equal(send(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
}

/* Many in a row settle what the next answer has, and not what the next request has, which may come another way. */
static void answers_may_be_counted_apart(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(0), next = request(SETTLED);

	talk(wire, SETTLED);
	answer.opcode = ACKNOWLEDGE;
	for (uint32_t nth = 0; nth < SETTLED; nth++) {
		answer.ip_id = (uint16_t)(40000 + nth);
		assert_int_equal(send(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
	}
	next.smac[5] = 9;
	next.ttl = 62;
	assert_true((send(wire, next, FT_STEP_NEW) & R(SENDER_CHANGED)) == 0);
}

static void answers_in_the_count_of_requests_leave_it_settled(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(SETTLED), other = request(SETTLED);

	talk(wire, SETTLED);
	answer.opcode = ACKNOWLEDGE;
	assert_int_equal(send(wire, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
	other.ip_id = 40000;
	other.smac[5] = 9;
	other.ttl = 62;
	assert_int_equal(send(wire, other, FT_STEP_NEW), R(SENDER_CHANGED));
}

static void who_always_answers_so_is_no_other(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 3 * SETTLED; nth++) {
		assert_int_equal(send(wire, request(nth), FT_STEP_NEW), 0);
		assert_int_equal(send(wire, forged_answer(nth), FT_STEP_ANSWER | FT_STEP_ACK), 0);
	}
}

static void many_senders_may_talk_to_a_datagram_queue_pair(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 4 * SETTLED; nth++) {
		struct ft_observed seen = request(nth / 2);

		seen.opcode = UD_SEND_ONLY;
		seen.content = nth;
		seen.ttl = nth % 16 == 15 ? 255 : 64;
		seen.sport = (uint16_t)(nth % 16 == 15);
		assert_int_equal(send(wire, seen, FT_STEP_NEW), 0);
	}
}

/* A's datagram number `nth` from its queue pair 80 to queue pair 17 of B. */
static struct ft_observed datagram(uint32_t nth)
{
	struct ft_observed observed = request(nth);

	observed.opcode = UD_SEND_ONLY;
	observed.has |= FT_OBSERVED_DETH;
	observed.src_qp = 80;
	observed.qkey = 0x11111111;
	return observed;
}

/* `count` datagrams, each with the first of so many Q_Keys in turn, `gap_ns` apart; how many broke a rule. */
static unsigned guess(struct wire *wire, uint32_t count, uint32_t qkeys, uint64_t gap_ns,
		      uint32_t dest_qp)
{
	unsigned found = 0;

	for (uint32_t nth = 0; nth < count; nth++) {
		struct ft_observed seen = datagram(nth);

		seen.dest_qp = dest_qp;
		seen.qkey = nth % qkeys;
		found += send(wire, seen, FT_STEP_NEW) == R(QKEY_GUESSES);
		wire->now_ns += gap_ns;
	}
	return found;
}

static void a_queue_pair_has_one_qkey(void **state)
{
	struct wire *wire = *state;

	assert_int_equal(guess(wire, 100, 100, 1 * MS, 17), 97);
	assert_int_equal(guess(wire, 100, 3, 1 * MS, 18), 0);
	assert_int_equal(guess(wire, 100, 100, UINT64_C(11000000000), 19), 0);
	assert_int_equal(guess(wire, 100, 100, 1 * MS, 0xffffff), 0);
}

static void the_fourth_qkey_is_told_whatever_passes_between(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 40; nth++) {
		struct ft_observed seen = datagram(nth);

		seen.qkey = nth % 10 == 9 ? nth : 0x11111111;
		assert_int_equal(send(wire, seen, FT_STEP_NEW),
				 nth < 29 || nth % 10 != 9 ? 0 : R(QKEY_GUESSES));
		wire->now_ns += UINT64_C(900000000);
	}
	assert_int_equal(wire->suspicion.qkeys, 5);
}

/* The number of a queue pair may be that of another one later, which has messages of its own. */
static void a_queue_pair_of_datagrams_may_become_one_of_a_connection(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 3 * SETTLED; nth++) {
		struct ft_observed seen = datagram(nth);

		seen.qkey = 1u << 24 | nth % 3;
		assert_int_equal(send(wire, seen, FT_STEP_NEW), 0);
	}
	talk(wire, SETTLED);
}

static uint32_t send_datagram(struct wire *wire, struct ft_observed observed)
{
	return send(wire, observed, FT_STEP_NEW);
}

/* Datagrams 0 .. count - 1, a third of whose PSNs went elsewhere. */
static void send_datagrams(struct wire *wire, uint32_t count)
{
	for (uint32_t nth = 0; nth < count; nth++) {
		struct ft_observed own = datagram(nth);

		own.psn = (FIRST_PSN + nth * 3 / 2) & 0xffffff;
		assert_int_equal(send_datagram(wire, own), 0);
	}
}

/* The one after those. */
static struct ft_observed next_datagram(uint32_t count)
{
	struct ft_observed own = datagram(count);

	own.psn = (FIRST_PSN + count * 3 / 2) & 0xffffff;
	return own;
}

/* Each row: what is odd about a datagram in the midst of a sender's, and what is held against it. */
static void a_datagram_of_another_sender_is_told(void **state)
{
	static const struct {
		const char *what;
		uint32_t psns_ahead;
		uint32_t ids_ahead;
		uint8_t mac, ttl;
		uint16_t port, pkey;
		uint32_t has_not; /* enum ft_observed_has */
		uint32_t rules;
	} rows[] = {
		{ "the sender's", 0, 0, 1, 64, 50000, 0xffff, 0, 0 },
		{ "counted elsewhere", 900, 40, 1, 64, 50000, 0xffff, 0, 0 },
		{ "another handle of the sender", 0, 0, 1, 255, 40000, 0xffff, 0, 0 },
		{ "behind a router", 0, 0, 9, 63, 50000, 0xffff, 0, 0 },
		{ "behind another router", 0, 0, 9, 62, 50000, 0xffff, 0, 0 },
		{ "the card was changed", 0, 0, 9, 64, 50000, 0xffff, 0, 0 },
		{ "another PSN", 5000000, 0, 1, 64, 50000, 0xffff, 0, R(PSN_WINDOW) },
		{ "another PSN and port", 5000000, 0, 1, 64, 40000, 0xffff, 0, R(PSN_WINDOW) },
		{ "another card and PSN", 5000000, 0, 9, 64, 50000, 0xffff, 0, R(SENDER_CHANGED) },
		{ "another card and counter", 0, 20000, 9, 64, 50000, 0xffff, 0,
		  R(SENDER_CHANGED) },
		{ "another card and system", 0, 0, 9, 255, 50000, 0xffff, 0, R(SENDER_CHANGED) },
		{ "another system and PSN", 5000000, 0, 1, 128, 50000, 0xffff, 0,
		  R(SENDER_CHANGED) },
		{ "another P_Key and PSN", 5000000, 0, 1, 64, 50000, 0x8005, 0, R(SENDER_CHANGED) },
		{ "both counters", 5000000, 20000, 1, 64, 50000, 0xffff, 0, R(PSN_WINDOW) },
		{ "both counters and the port", 5000000, 20000, 1, 64, 40000, 0xffff, 0,
		  R(SENDER_CHANGED) },
		{ "both counters behind a router", 5000000, 20000, 9, 62, 50000, 0xffff, 0,
		  R(SENDER_CHANGED) },
		{ "another PSN behind a router", 5000000, 0, 9, 63, 50000, 0xffff, 0,
		  R(PSN_WINDOW) },
		{ "another card and PSN, RoCEv1", 5000000, 0, 9, 1, 0, 0xffff,
		  FT_OBSERVED_IP | FT_OBSERVED_IPV4 | FT_OBSERVED_UDP, R(SENDER_CHANGED) },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct wire *wire = *state;
		struct ft_observed other;

		tear_down(state);
		set_up(state);
		send_datagrams(wire, 2 * SETTLED);
		other = next_datagram(2 * SETTLED);
		other.psn = (other.psn + rows[i].psns_ahead) & 0xffffff;
		other.ip_id = (uint16_t)(other.ip_id + rows[i].ids_ahead);
		other.smac[5] = rows[i].mac;
		other.ttl = rows[i].ttl;
		other.sport = rows[i].port;
		other.pkey = rows[i].pkey;
		other.has &= ~rows[i].has_not;
		if (send_datagram(wire, other) != rows[i].rules)
			fail_msg("%s", rows[i].what);
		other = next_datagram(2 * SETTLED + 1);
		other.psn = (other.psn + (rows[i].psns_ahead == 900 ? 900 : 0)) & 0xffffff;
		assert_int_equal(send_datagram(wire, other), 0);
	}
}

static void datagrams_come_under_one_psn_once(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other;

	send_datagrams(wire, SETTLED);
	other = next_datagram(SETTLED - 1);
	assert_int_equal(send_datagram(wire, other), 0); /* a copy that came late */
	other.content ^= 1;
	assert_int_equal(send_datagram(wire, other), R(PSN_CONFLICT));
	assert_int_equal(wire->suspicion.passed, wire->frame - 1);
	assert_false(wire->suspicion.grave);
	other.src_qp = 81; /* another queue pair of the same host */
	assert_int_equal(send_datagram(wire, other), 0);
	other = next_datagram(SETTLED);
	other.smac[5] = 9;
	assert_int_equal(send_datagram(wire, other), 0);
	other = next_datagram(SETTLED);
	other.content ^= 1;
	assert_int_equal(send_datagram(wire, other), R(PSN_CONFLICT));
	assert_true(wire->suspicion.grave);
}

static void a_queue_pair_may_have_another_life_after_a_pause(void **state)
{
	struct wire *wire = *state;

	for (uint32_t life = 0; life < 8; life++) {
		for (uint32_t nth = 0; nth < SETTLED; nth++) {
			struct ft_observed own = datagram(nth);

			own.psn = ((life % 2 == 0 ? 7000000u : 100u) + nth) & 0xffffff;
			own.ip_id = (uint16_t)(life * 9000 + nth);
			own.ttl = life % 2 == 0 ? 64 : 255;
			own.sport = (uint16_t)(50000 + life);
			own.pkey = (uint16_t)(0x8001 + life);
			own.content += life;
			assert_int_equal(send_datagram(wire, own), 0);
		}
		wire->now_ns += 11 * MS;
	}
}

/* Also after a pause, when the sender went on behind the first one. */
static void two_counters_in_turn_are_two_senders(void **state)
{
	struct wire *wire = *state;

	send_datagrams(wire, SETTLED);
	for (uint32_t turn = 0; turn < 4; turn++) {
		struct ft_observed other = datagram(turn);

		wire->now_ns += 20 * MS;
		other.psn = 9000000 + turn;
		assert_int_equal(send_datagram(wire, other), turn == 0 ? 0 : R(PSN_WINDOW));
		wire->now_ns += 20 * MS;
		assert_int_equal(send_datagram(wire, next_datagram(SETTLED + turn)), 0);
	}
}

static void a_mirror_that_lags_shows_the_sender_twice(void **state)
{
	struct wire *wire = *state;
	enum { LAG = 60 };

	for (uint32_t nth = 0; nth < 400; nth++) {
		struct ft_observed late = next_datagram(nth - LAG);

		assert_int_equal(send_datagram(wire, next_datagram(nth)), 0);
		wire->now_ns += 500 * US;
		late.ttl = 63;
		late.smac[5] = 9;
		if (nth >= 2 * LAG)
			assert_int_equal(send_datagram(wire, late), 0);
	}
}

static struct ft_observed refusal(uint32_t nth, uint32_t dest_qp)
{
	struct ft_observed nak = request(nth);

	nak.opcode = ACKNOWLEDGE;
	nak.dest_qp = dest_qp;
	nak.syndrome = ACCESS_ERROR;
	nak.has |= FT_OBSERVED_AETH;
	return nak;
}

enum { REFUSED = FT_STEP_ANSWER | FT_STEP_NAK };

static void the_third_access_error_in_ten_seconds_is_a_burst(void **state)
{
	struct wire *wire = *state;

	assert_int_equal(send_as(wire, true, refusal(1, 5), REFUSED), 0);
	wire->now_ns += UINT64_C(9000000000);
	assert_int_equal(send_as(wire, true, refusal(2, 5), REFUSED), 0);
	assert_int_equal(send_as(wire, true, refusal(3, 5), REFUSED), R(ACCESS_ERRORS));
	assert_int_equal(wire->suspicion.count, 3);
	assert_int_equal(send_as(wire, true, refusal(4, 5), REFUSED), R(ACCESS_ERRORS));
	assert_int_equal(wire->suspicion.count, 4);
}

static void slow_access_errors_are_no_burst(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 9; nth++) {
		assert_int_equal(send_as(wire, true, refusal(nth, 5), REFUSED), 0);
		wire->now_ns += UINT64_C(5500000000);
	}
}

static void one_access_error_said_again_is_one(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 9; nth++)
		assert_int_equal(send_as(wire, true, refusal(4, 5), REFUSED), 0);
}

static void a_job_that_ends_under_its_peers_is_no_burst(void **state)
{
	struct wire *wire = *state;

	for (uint32_t qp = 20; qp < 40; qp++)
		for (uint32_t nth = 0; nth < SETTLED; nth++) {
			struct ft_observed seen = request(nth);

			seen.dest_qp = qp;
			assert_int_equal(send(wire, seen, FT_STEP_NEW), 0);
		}
	for (uint32_t qp = 20; qp < 40; qp++) {
		struct ft_flow *flow = flow_of(wire, true, 100 + qp);

		flow->peer = ft_flow_number(wire->table, flow_of(wire, false, qp));
		assert_int_equal(send_as(wire, true, refusal(SETTLED, 100 + qp), REFUSED), 0);
	}
}

static void errors_on_one_fresh_connection_after_the_other_are_a_burst(void **state)
{
	struct wire *wire = *state;
	uint32_t rules = 0;

	for (uint32_t qp = 20; qp < 23; qp++) {
		struct ft_observed probe = request(qp);
		struct ft_flow *flow;

		probe.dest_qp = qp;
		send(wire, probe, FT_STEP_NEW);
		flow = flow_of(wire, true, 100 + qp);
		flow->peer = ft_flow_number(wire->table, flow_of(wire, false, qp));
		rules = send_as(wire, true, refusal(qp, 100 + qp), REFUSED);
	}
	assert_int_equal(rules, R(ACCESS_ERRORS));
}

/* `count` first requests to as many queue pairs, `gap_ns` apart; how many broke a rule. */
static unsigned search(struct wire *wire, uint32_t count, uint64_t gap_ns, uint8_t opcode,
		       unsigned requests)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct ft_observed probe = request(0);

		probe.dest_qp = 100 + i;
		probe.opcode = opcode;
		for (unsigned nth = 0; nth < requests; nth++, probe.psn++)
			found += send(wire, probe, FT_STEP_NEW) == R(QP_SCAN);
		wire->now_ns += gap_ns;
	}
	return found;
}

static void unanswered_requests_to_many_queue_pairs_are_a_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_true(search(wire, 200, 1 * MS, SEND_ONLY, 1) > 0);
	assert_true(wire->suspicion.count >= 32);
}

/* It shows when a first request comes after they all waited from count to count, which need not be. */
static void a_search_at_once_shows_when_it_goes_on(void **state)
{
	struct wire *wire = *state;
	struct ft_observed next = request(0);

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search(wire, 200, 10 * US, SEND_ONLY, 1), 0);
	wire->now_ns += 6 * MS;
	assert_int_equal(send(wire, request(0), FT_STEP_NEW), 0);
	wire->now_ns += 6 * MS;
	next.dest_qp = 18;
	assert_int_equal(send(wire, next, FT_STEP_NEW), R(QP_SCAN));
	assert_int_equal(wire->suspicion.count, 202);
	wire->now_ns += 1000 * MS;
	next.dest_qp = 19;
	assert_int_equal(send(wire, next, FT_STEP_NEW), 0);
}

/* Many connections of a job begin together; that a count falls among them is nobody's fault. */
static void what_began_just_before_a_count_is_no_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	send(wire, request(0), FT_STEP_NEW);
	wire->now_ns += 3 * MS + 500 * US;
	assert_int_equal(search(wire, 300, 10 * US, SEND_ONLY, 1), 0);
}

/* A datagram to each of `count` queue pairs of B, 1 ms apart, which may send something before or behind; how many broke a rule. */
static unsigned search_by_datagrams(struct wire *wire, uint32_t count, bool before, bool behind,
				    unsigned datagrams)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct ft_observed probe = datagram(i), answer = datagram(i);

		probe.dest_qp = answer.src_qp = 100 + i;
		answer.dest_qp = probe.src_qp;
		answer.vlan = 7;
		if (before)
			assert_int_equal(send_as(wire, true, answer, FT_STEP_NEW), 0);
		for (unsigned nth = 0; nth < datagrams; nth++, probe.psn += count)
			found += send_datagram(wire, probe) == R(QP_SCAN);
		if (behind)
			assert_int_equal(send_as(wire, true, answer, FT_STEP_NEW), 0);
		wire->now_ns += 1 * MS;
	}
	return found;
}

static void datagrams_to_queue_pairs_that_send_nothing_are_a_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, datagram(0), FT_STEP_NEW);
	assert_true(search_by_datagrams(wire, 200, false, false, 1) > 150);
	assert_true(wire->suspicion.count >= 32);
}

static void datagrams_to_queue_pairs_that_send_or_are_used_are_none(void **state)
{
	struct wire *wire = *state;

	assert_int_equal(search_by_datagrams(wire, 400, true, false, 1), 0);
	tear_down(state);
	set_up(state);
	assert_int_equal(search_by_datagrams(wire, 400, false, true, 1), 0);
	tear_down(state);
	set_up(state);
	send_as(wire, true, datagram(0), FT_STEP_NEW);
	assert_int_equal(search_by_datagrams(wire, 400, false, false, 2), 0);
}

/* A service that answers looks alike where what it is asked is not in view. */
static void datagrams_are_no_search_where_none_of_the_other_side_is_in_view(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search_by_datagrams(wire, 2000, false, false, 1), 0);
}

static void without_the_other_direction_few_are_no_search(void **state)
{
	assert_int_equal(search(*state, 200, 1 * MS, SEND_ONLY, 1), 0);
}

static void queue_pairs_that_are_used_are_not_searched_for(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search(wire, 400, 1 * MS, SEND_ONLY, 2), 0);
}

static void queue_pairs_that_answer_are_not_searched_for(void **state)
{
	struct wire *wire = *state;

	for (uint32_t i = 0; i < 400; i++) {
		struct ft_observed first = request(0), answer = request(0);

		first.dest_qp = 100 + i;
		answer.dest_qp = 1000 + i;
		answer.opcode = ACKNOWLEDGE;
		assert_int_equal(send(wire, first, FT_STEP_NEW), 0);
		assert_int_equal(send_as(wire, true, answer, FT_STEP_ANSWER | FT_STEP_ACK), 0);
		wire->now_ns += 1 * MS;
	}
}

static void connections_joined_in_the_middle_are_no_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search(wire, 400, 1 * MS, WRITE_MIDDLE, 1), 0);
}

static void connections_joined_in_the_middle_do_not_hide_a_search(void **state)
{
	struct wire *wire = *state;
	unsigned found = 0;

	send_as(wire, true, request(0), FT_STEP_NEW);
	for (uint32_t i = 0; i < 200; i++) {
		struct ft_observed probe = request(0), joined = request(0);

		probe.dest_qp = 100 + i;
		found += send(wire, probe, FT_STEP_NEW) == R(QP_SCAN);
		joined.dest_qp = 1000 + i / 2; /* each has two */
		joined.opcode = WRITE_MIDDLE;
		joined.psn += i % 2;
		assert_int_equal(send(wire, joined, FT_STEP_NEW), 0);
		wire->now_ns += 1 * MS;
	}
	assert_true(found > 150);
}

static void connections_that_begin_together_are_no_search(void **state)
{
	struct wire *wire = *state;

	send_as(wire, true, request(0), FT_STEP_NEW);
	assert_int_equal(search(wire, 300, 0, SEND_ONLY, 1), 0);
}

static void an_unasked_answer_is_worth_a_note(void **state)
{
	struct wire *wire = *state;
	struct ft_observed answer = request(0);

	answer.opcode = ACKNOWLEDGE;
	assert_int_equal(send_as(wire, true, answer, FT_STEP_ANSWER | FT_STEP_UNASKED),
			 R(UNASKED_RESPONSE));
}

static void a_suspicion_says_what_it_rests_on(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1);
	char text[FT_SUSPICION_TEXT], little[20];

	talk(wire, SETTLED);
	other.opcode = WRITE_ONLY;
	other.smac[5] = 9;
	other.ttl = 62;
	other.sport = 4791;
	send(wire, other, FT_STEP_RETRANSMITTED);
	ft_suspicion_text(&wire->suspicion, text, sizeof text);
	assert_string_equal(text,
			    "frame 21: source MAC 02:00:00:00:00:09 instead of "
			    "02:00:00:00:00:01, TTL 62 instead of 64, source port 4791 instead "
			    "of 50000, RC_RDMA_WRITE_ONLY with "
			    "PSN 1019, under which another request passed before, in frame 20");
	ft_suspicion_text(&wire->suspicion, little, sizeof little);
	assert_string_equal(little, "frame 21");
}

static void says(const struct wire *wire, const char *sentence)
{
	char text[FT_SUSPICION_TEXT];

	ft_suspicion_text(&wire->suspicion, text, sizeof text);
	assert_string_equal(text, sentence);
}

/* The sentences of docs/findings.md that no shipped capture shows. */
static void the_documented_sentences_are_said(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other = request(SETTLED - 1), answer = request(0);

	talk(wire, SETTLED);
	other.content ^= 0x5a5a5a5a;
	send(wire, other, FT_STEP_RETRANSMITTED);
	says(wire,
	     "frame 21: RC_SEND_ONLY with PSN 1019 again, with another payload than in frame 20");

	tear_down(state);
	set_up(state);
	answer.opcode = ACKNOWLEDGE;
	send_as(wire, true, answer, FT_STEP_ANSWER | FT_STEP_UNASKED);
	says(wire, "frame 1: RC_ACKNOWLEDGE for PSN 1000, which was not asked for");

	tear_down(state);
	set_up(state);
	send_as(wire, true, request(0), FT_STEP_NEW);
	search(wire, 85, 1 * MS, SEND_ONLY, 1);
	says(wire, "frame 86: 85 queue pairs got a first request within a second, next to none "
		   "answered");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(another_request_under_a_psn_that_passed_is_a_conflict),
		TEST(the_same_request_again_is_a_retransmission),
		TEST(another_payload_alone_is_worth_a_note),
		TEST(another_address_is_another_request),
		TEST(no_change_is_too_small),
		TEST(a_conflict_is_seen_among_the_frames_of_late),
		TEST(a_request_ahead_of_its_turn_is_compared_with_the_one_that_comes),
		TEST(a_read_may_be_asked_again_in_part),
		TEST(also_if_nothing_came_after_it),
		TEST(also_where_another_life_had_its_psns),
		TEST(a_read_of_more_than_was_asked_for_is_another),
		TEST(so_is_one_of_another_address_or_key),
		TEST(operands_of_an_atomic_do_not_change),
		TEST(what_was_cut_differently_is_not_compared),
		TEST(a_conflict_across_the_wrap_is_seen),
		TEST(a_connection_set_up_anew_repeats_psns),
		TEST(nor_does_one_that_passed_the_end_of_the_last),
		TEST(after_a_pause_only_the_last_request_is_compared),
		TEST(what_is_long_ago_is_not_compared),
		TEST(what_follows_a_long_silence_is_compared_again),
		TEST(a_read_of_many_psns_does_not_stand_for_older_ones),
		TEST(another_payload_after_one_of_another_look_is_grave_unless_sent_again),
		TEST(memory_that_changed_may_take_another_path),
		TEST(a_resent_payload_seen_behind_a_router_is_worth_a_note),
		TEST(a_conflict_from_another_looking_sender_is_grave),
		TEST(the_own_packet_after_an_injected_one_is_not_blamed),
		TEST(nor_after_two_of_them),
		TEST(the_own_packet_shows_the_conflict_if_nothing_else_did),
		TEST(a_sender_is_another_one_if_no_path_explains_it),
		TEST(another_ttl_is_seen_where_the_identification_wraps),
		TEST(two_viewpoints_of_one_sender_are_one_sender),
		TEST(a_sprayed_connection_is_at_most_worth_a_note),
		TEST(a_new_look_that_stays_is_the_look),
		TEST(a_search_for_the_psn_is_not_the_look),
		TEST(nor_are_a_few_of_another_system),
		TEST(answers_and_notices_may_look_otherwise),
		TEST(an_answer_from_another_machine_is_seen_among_requests),
		TEST(an_answer_by_another_path_is_none),
		TEST(answers_may_be_counted_apart),
		TEST(answers_in_the_count_of_requests_leave_it_settled),
		TEST(who_always_answers_so_is_no_other),
		TEST(many_senders_may_talk_to_a_datagram_queue_pair),
		TEST(a_queue_pair_has_one_qkey),
		TEST(the_fourth_qkey_is_told_whatever_passes_between),
		TEST(a_queue_pair_of_datagrams_may_become_one_of_a_connection),
		TEST(a_datagram_of_another_sender_is_told),
		TEST(datagrams_come_under_one_psn_once),
		TEST(a_queue_pair_may_have_another_life_after_a_pause),
		TEST(two_counters_in_turn_are_two_senders),
		TEST(a_mirror_that_lags_shows_the_sender_twice),
		TEST(the_third_access_error_in_ten_seconds_is_a_burst),
		TEST(slow_access_errors_are_no_burst),
		TEST(one_access_error_said_again_is_one),
		TEST(a_job_that_ends_under_its_peers_is_no_burst),
		TEST(errors_on_one_fresh_connection_after_the_other_are_a_burst),
		TEST(unanswered_requests_to_many_queue_pairs_are_a_search),
		TEST(a_search_at_once_shows_when_it_goes_on),
		TEST(what_began_just_before_a_count_is_no_search),
		TEST(datagrams_to_queue_pairs_that_send_nothing_are_a_search),
		TEST(datagrams_to_queue_pairs_that_send_or_are_used_are_none),
		TEST(datagrams_are_no_search_where_none_of_the_other_side_is_in_view),
		TEST(without_the_other_direction_few_are_no_search),
		TEST(queue_pairs_that_are_used_are_not_searched_for),
		TEST(queue_pairs_that_answer_are_not_searched_for),
		TEST(connections_joined_in_the_middle_are_no_search),
		TEST(connections_joined_in_the_middle_do_not_hide_a_search),
		TEST(connections_that_begin_together_are_no_search),
		TEST(an_unasked_answer_is_worth_a_note),
		TEST(a_suspicion_says_what_it_rests_on),
		TEST(the_documented_sentences_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
