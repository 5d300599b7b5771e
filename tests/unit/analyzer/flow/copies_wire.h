#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <decode/opcode.h>
#include <flow/copies.h>

#define SECOND UINT64_C(1000000000)
#define US     UINT64_C(1000)

enum {
	WRITE_MIDDLE = 0x07,
	READ_REQUEST = 0x0c,
	READ_RESPONSE_ONLY = 0x10,
	ACKNOWLEDGE = 0x11,
	CNP = 0x81,
	NAK_SEQUENCE = 0x60,
	RNR = 0x25,
	PAIR = 4711,
	OTHER_PAIR = 815,
	HOP = 0xabcdef40, /* MAC addresses abcdef, time to live 64 */
};

/* The default configuration but for the room, in frames, and the seed. Asserts on failure. */
struct ft_copies *copies_with(uint32_t entries, uint64_t seed);
struct ft_copies *copies_made(void);

/* A test whose state is such a one, made before it and destroyed behind it. */
#define COPIES_TEST(test) cmocka_unit_test_setup_teardown(test, copies_set_up, copies_tear_down)
int copies_set_up(void **state);
int copies_tear_down(void **state);

/* A RoCEv2 packet from the lower address, so many microseconds on; the same opcode and PSN are the same bytes. */
struct ft_observed packet(uint8_t opcode, uint32_t psn, uint64_t us);

/* From the higher address. */
struct ft_observed answer(uint8_t opcode, uint8_t syndrome, uint32_t psn, uint64_t us);

enum ft_copy_verdict check(struct ft_copies *copies, struct ft_observed observed);
