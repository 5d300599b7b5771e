#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "followed.h"
#include "packet_play.h"

/*
 * A connection as the follower has it inside, for tests of single steps: set up, read and counted from its first packet
 * on, over so many queue pairs of one device, none of which takes turns.
 */
enum { INNER_FOUND = 8 };

struct inner {
	struct ft_nccl_qps *qps;
	struct ft_nccl_connections *connections;
	struct ft_nccl_followed *followed;
	struct ft_nccl_found found[INNER_FOUND];
	unsigned found_count;
	uint64_t held[INNER_FOUND]; /* frames */
	unsigned held_count;
};

struct inner *inner_open(uint8_t lanes);
void inner_close(struct inner *inner);

/* Another connection of the same follower, like the first. */
struct ft_nccl_followed *inner_follow(struct inner *inner, uint8_t lanes);

/* `seen` arrives on a lane: the next of its sequence. */
struct ft_nccl_moment inner_moment(struct inner *inner, uint8_t lane,
				   const struct ft_nccl_seen *seen);

/* Message k, asked for in that frame: one request of OFFERED bytes at buffer_of(k). */
struct ft_nccl_transfer *inner_asked(struct inner *inner, uint64_t k, uint64_t frame);

/* A write to message k's buffer, in this frame. */
struct ft_nccl_seen inner_write(uint8_t opcode, uint64_t k, uint32_t length, uint64_t frame);

struct ft_nccl_share *inner_share(struct inner *inner, const struct ft_nccl_transfer *transfer,
				  uint8_t lane);
struct ft_nccl_request *inner_request(struct inner *inner, const struct ft_nccl_transfer *transfer);

enum { INNER_ASKED = 10, INNER_CARRIED = 20, INNER_NOW = 50 }; /* frames */

/* Message k, asked for, and the queue pair carried these PSNs of it. */
struct ft_nccl_transfer *inner_carried(struct inner *inner, uint64_t k, uint8_t lane, uint32_t from,
				       uint32_t to, bool ended);

/* A packet of 64 bytes, or the first of three, comes late, to message k's buffer. */
void inner_late(struct inner *inner, uint8_t lane, uint8_t opcode, uint64_t k, uint32_t psn);
