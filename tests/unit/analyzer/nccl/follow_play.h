#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packet_play.h"

/* A follower that is shown a connection by hand. */
enum { FOUND_MAX = 16 };

struct follow {
	struct ft_nccl_qps *qps;
	struct ft_nccl_connections *connections;
	struct ft_nccl_kept kept; /* by follow_keep() */
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

/* What is kept so far: follow->kept. And one of its connections, which are so many. */
void follow_keep(struct follow *follow);
const struct ft_nccl_connection *follow_kept(struct follow *follow, size_t at, size_t count);
const struct ft_nccl_message *follow_message(const struct follow *follow, uint64_t k);

/* Any packet; returns its frame. */
uint64_t follow_packet(struct follow *follow, const struct packet *packet);

/* The clear-to-send of message k; it can be changed before it is shown. */
struct packet cts_of(const struct follow *follow, uint64_t k);
uint64_t ask(struct follow *follow, uint64_t k);

/* A packet of message k's data, of `length` bytes in all, with the immediate big-endian; `at`: which packet. */
struct packet data_of(const struct follow *follow, uint64_t k, uint32_t length, uint32_t at);
uint32_t packets_in(uint32_t length);

/* All packets of message k but those in `missing`, bits; returns the frame of the last shown. */
uint64_t answer_without(struct follow *follow, uint64_t k, uint32_t length, uint64_t missing);
uint64_t answer(struct follow *follow, uint64_t k, uint32_t length);

/* Each side acknowledges the newest that it had: so packets pass in order. */
void acknowledge_both(struct follow *follow);

/* So many messages, asked for and answered in turn, each of another length. */
void converse(struct follow *follow, uint64_t from, uint64_t count);

/* A connection of family E, on which so many messages have passed, in order, and one more was asked for. */
struct follow *follow_start_behind(uint64_t count);

/* The connection's set-up over TCP, of a release that names no more queue pairs than there are. */
void follow_set_up(struct follow *follow, uint64_t fifo, uint8_t queue_pairs, uint32_t vni);
