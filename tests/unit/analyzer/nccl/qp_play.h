#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "queue_pairs.h"

/* Packets by hand, and what the queue pairs come to. Hosts are 10.0.0.N. */

enum opcode {
	SEND_FIRST = 0x00,
	SEND_LAST = 0x02,
	SEND = 0x04,
	SEND_IMM = 0x05,
	WRITE_FIRST = 0x06,
	WRITE_MIDDLE = 0x07,
	WRITE_LAST = 0x08,
	WRITE_LAST_IMM = 0x09,
	WRITE = 0x0a,
	WRITE_IMM = 0x0b,
	READ = 0x0c,
	READ_ANSWER = 0x10,
	ACK = 0x11,
	COMPARE_SWAP = 0x13,
	FETCH_ADD = 0x14,
	SEND_INVALIDATE = 0x17,
	UC = 0x20,
	UD_SEND = 0x64,
	XRC = 0xa0,
};

struct play {
	struct ft_nccl_qps *qps;
	uint64_t frame, ts_ns;
	uint32_t step_ns;
	uint8_t traffic_class;
	uint16_t udp_sport;
};

struct words {
	uint64_t va;
	uint32_t rkey, length; /* RETH */
	uint32_t immdt;
	uint32_t qkey, src_qp;
	uint8_t syndrome;
	uint32_t size; /* of the payload; with bytes: at least theirs */
	const uint8_t *bytes;
	uint32_t captured;
};

struct play play_start(uint32_t most);

/* A packet as the decoder would show it. What the opcode has no header for is left out. */
struct ft_nccl_qp *play_packet(struct play *play, uint8_t from, uint8_t to, uint32_t qpn,
			       uint8_t opcode, uint32_t psn, struct words words);

/* Between queue pair ASKING of host 1 and ASKED of host 2. */
enum { ASKING = 0x10, ASKED = 0x20 };

struct ft_nccl_qp *play_there(struct play *play, uint8_t opcode, uint32_t psn, struct words words);
struct ft_nccl_qp *play_back(struct play *play, uint8_t opcode, uint32_t psn, struct words words);

/* A SEND there and its ACK back, or the other way. */
void play_send(struct play *play, bool turned, uint32_t psn, const uint8_t *bytes,
	       uint32_t captured, uint32_t size);

/* CM's REQ and REP of the connection. */
void play_set_up(struct play *play, uint16_t port);

/* CM's REQ from `from` for its QPN and a port, or the REP to it. */
void play_req(struct play *play, uint8_t from, uint8_t to, uint32_t id, uint32_t qpn,
	      uint16_t port);
void play_rep(struct play *play, uint8_t from, uint8_t to, uint32_t id, uint32_t qpn);

void play_segment(struct play *play, uint8_t from, uint8_t to, uint16_t dport, const char *text,
		  uint32_t length);
void play_segment_cut(struct play *play, uint8_t from, uint8_t to, uint16_t dport, const char *text,
		      uint32_t length, uint32_t captured);

/* What the report says of a queue pair, which must be in it. */
struct ft_nccl_queue_pair play_end(const struct play *play, uint8_t host, uint32_t qpn);
bool play_has(const struct ft_nccl_queue_pair *row, const char *evidence);

#define assert_class(play, host, qpn, wanted)                                                      \
	assert_string_equal(ft_nccl_class_name(play_end(play, host, qpn).class),                   \
			    ft_nccl_class_name(wanted))

/* Both ends of it. */
void assert_both(const struct play *play, enum ft_nccl_class class);
