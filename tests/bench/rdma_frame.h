#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "site.h"

/* One frame of a reliable connection, RoCEv2 over IPv4 or native InfiniBand, with right checksums and ICRC. */

enum {
	FRAME_HEADERS_MAX = 14 + 20 + 8 + 12 + 16 + 4, /* an AETH, or an immediate */
	PAYLOAD_MAX = 4096,
	FRAME_MAX = FRAME_HEADERS_MAX + PAYLOAD_MAX + 4,
	MIRROR_HEADERS = 14 + 20 + 8 + 8,
	OVERLAY_HEADERS = 14 + 20 + 8 + 8,
	FIRST_QP = 256,
};

enum opcode {
	WRITE_FIRST = 0x06,
	WRITE_MIDDLE = 0x07,
	WRITE_LAST = 0x08,
	WRITE_LAST_IMM = 0x09,
	WRITE_ONLY = 0x0a,
	WRITE_ONLY_IMM = 0x0b,
	READ_REQUEST = 0x0c,
	READ_FIRST = 0x0d,
	READ_MIDDLE = 0x0e,
	READ_LAST = 0x0f,
	READ_ONLY = 0x10,
	ACKNOWLEDGE = 0x11,
};

/* Where a packet comes from and goes to. */
struct ends {
	uint32_t from, to; /* nodes */
	uint32_t partition;
	uint32_t dest_qp;
	uint16_t port; /* UDP source port */
	bool native;   /* by LIDs alone, as within a subnet, without a VCRC */
};

struct packet {
	enum opcode opcode;
	bool ack_request;
	uint32_t psn;
	uint64_t va; /* RETH, and what follows */
	uint32_t rkey;
	uint32_t length;
	uint32_t msn;           /* AETH */
	uint32_t immediate;     /* ImmDt, its first byte on the wire uppermost */
	uint32_t ip_id;         /* its lower 16 bits: a counter of the sending queue pair; RoCE */
	const uint8_t *payload; /* opcodes without one leave it out */
	uint32_t payload_size;  /* a multiple of 4 */
	bool marked;            /* for congestion */
	bool stamped;           /* the PSN stands in the payload's first four bytes */
};

/*
 * Of half-connection `flow`: 2n and 2n + 1 are the two directions of connection n, which joins two nodes of one
 * partition.
 */
struct ends ends_of(const struct site *site, uint32_t flow);

/* The bytes of a packet, whole; returns their number. */
uint32_t rdma_frame(const struct ends *ends, const struct packet *packet, uint8_t frame[FRAME_MAX]);

/*
 * `size` bytes of a frame as a switch sends them on, number `number` of its session: Ethernet, IPv4, GRE with a sequence
 * number, ERSPAN II. Returns how many there are.
 */
uint32_t mirrored_frame(const uint8_t *frame, uint32_t size, uint32_t number,
			uint8_t mirrored[MIRROR_HEADERS + FRAME_MAX]);

/*
 * A whole frame as a leaf sends it through a fabric that is an overlay: Ethernet, IPv4, UDP, VXLAN, a network for each
 * partition. Returns how many bytes there are.
 */
uint32_t overlay_frame(const struct ends *ends, const uint8_t *frame, uint32_t size,
		       uint8_t carried[OVERLAY_HEADERS + FRAME_MAX]);

/* Invented, but the same in every run. */
uint64_t mixed(uint64_t x);
