#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "connections.h"

/*
 * A connection by hand: the sender is 10.0.0.1 with queue pair 17, the receiver 10.0.0.2 with 18. Message k is asked for by
 * a clear-to-send as the specification lays it out (section 3.1), of one MiB in one of eight buffers, and answered in
 * packets of 1024 bytes.
 */
enum {
	SENDER = 1,
	RECEIVER = 2,
	STRANGER = 3,
	SENDER_QP = 17,
	RECEIVER_QP = 18,
	FIFO_KEY = 0x201b44,
	DATA_KEY = 0x18a3c5,
	OFFERED = 1 << 20,
	MTU = 1024,
	FOUND_MAX = 16,
	TAG = 3
};
#define FIFO_AT   UINT64_C(0x00007f10a0002000)
#define BUFFER_AT UINT64_C(0x00007f3a5c530000)

struct follow {
	struct ft_nccl_qps *qps;
	struct ft_nccl_connections *connections;
	struct ft_nccl_kept kept; /* by follow_end() */
	struct ft_nccl_found found[FOUND_MAX];
	unsigned found_count, contact_count;
	uint64_t frame;
	uint32_t cts_psn, data_psn; /* next ones */
	char family;
	uint32_t vni;  /* of packets from now on; 0: none */
	uint16_t vlan; /* likewise */
};

struct follow *follow_start(char family);
struct follow *follow_start_with(char family, const struct ft_nccl_config *config);
void follow_stop(struct follow *follow);

/* What is kept so far: follow->kept. */
void follow_keep(struct follow *follow);
const struct ft_nccl_message *follow_message(const struct follow *follow, uint64_t k);

/* Any packet; returns its frame. */
struct packet {
	uint8_t from, to, opcode;
	uint32_t qpn, psn;
	uint64_t va;
	uint32_t rkey, length, immdt;
	uint8_t bytes[512];
	uint32_t captured, payload;
	uint16_t sport; /* 0: that of all others */
};
uint64_t follow_packet(struct follow *follow, const struct packet *packet);

uint64_t buffer_of(uint64_t k);

/* The clear-to-send of message k; it can be changed before it is shown. */
struct packet cts_of(const struct follow *follow, uint64_t k);
uint64_t ask(struct follow *follow, uint64_t k);

/* A packet of message k's data, of `length` bytes in all, with the immediate big-endian; `at`: which packet. */
struct packet data_of(const struct follow *follow, uint64_t k, uint32_t length, uint32_t at);
uint32_t packets_in(uint32_t length);

/* All packets of message k but those in `missing`, bits; returns the frame of the last shown. */
uint64_t answer_without(struct follow *follow, uint64_t k, uint32_t length, uint64_t missing);
uint64_t answer(struct follow *follow, uint64_t k, uint32_t length);

/* So many messages, asked for and answered in turn, each of another length. */
void converse(struct follow *follow, uint64_t from, uint64_t count);
