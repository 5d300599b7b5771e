#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

/* Of cmocka's state a wire on which nothing has passed; what it holds is released. */
int set_up(void **state);
int tear_down(void **state);

/* The half-connection to a queue pair of the other host, created if it is new. */
struct ft_flow *flow_of(struct wire *wire, bool from_b, uint32_t dest_qp);

/* A's request number `nth` of its connection to queue pair 17 of B, as a healthy sender makes it. */
struct ft_observed request(uint32_t nth);

/* Send a packet 10 us after the last one; `what`: FT_STEP_*. The rules that it breaks. */
uint32_t send_as(struct wire *wire, bool from_b, struct ft_observed observed, uint32_t what);
uint32_t a_sends(struct wire *wire, struct ft_observed observed, uint32_t what);

/* Requests 0 .. count - 1, none of which may be held against their sender. */
void talk(struct wire *wire, uint32_t count);

/* A's datagram number `nth` from its queue pair 80 to queue pair 17 of B. */
struct ft_observed datagram(uint32_t nth);
uint32_t send_datagram(struct wire *wire, struct ft_observed observed);

enum { SETTLED = 20 }; /* so many, and the look of their sender is known */

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
