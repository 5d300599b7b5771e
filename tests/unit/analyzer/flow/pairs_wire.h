#pragma once

#include <decode/opcode.h>
#include <flow/paired.h>

#include "pairs.h"

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

/* A packet of a half, from its point of view. */
struct packet {
	uint8_t from;
	uint32_t dest_qp;
	uint16_t sport; /* 0: no UDP header */
	uint32_t psn;
	uint8_t service;
	uint32_t src_qp; /* UD */
};

/* Room for so many halves; cut it in the end. */
struct wire wire_open(uint32_t capacity, uint64_t seed);
void wire_cut(struct wire *wire);

/* A test whose state is a wire with room for 16, cut behind it. */
#define WIRE_TEST(test) cmocka_unit_test_setup_teardown(test, wire_set_up, wire_tear_down)
int wire_set_up(void **state);
int wire_tear_down(void **state);

struct ft_flow_key wire_key(uint8_t from, uint32_t dest_qp);

/* The record of a packet's half, which enters with its first one; *observed: what the packet shows. */
struct ft_flow *wire_take(struct wire *wire, const struct packet *packet,
			  struct ft_observed *observed);

/* A request, and an answer, of a half: its record. */
struct ft_flow *wire_ask(struct wire *wire, struct packet packet);
struct ft_flow *wire_answer(struct wire *wire, struct packet packet);

/* The same packet so many PSNs later. */
struct packet at_psn(struct packet packet, uint32_t further);

void assert_paired(const struct wire *wire, const struct ft_flow *one, const struct ft_flow *other,
		   enum ft_paired_by by);
void assert_alone(const struct ft_flow *flow);
