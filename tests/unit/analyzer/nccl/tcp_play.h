#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <side_channel.h>

/* TCP connections made by hand and shown to the side channel, and what it told. */
enum { PLAY_TOLD_MAX = 64, PLAY_SEGMENTS_MAX = 256 };

struct play_exchange {
	struct ft_nccl_exchange told; /* its metadata pointers are cleared */
	struct ft_nccl_metadata sender, receiver;
};

struct play {
	struct ft_nccl_side_channel *side;
	uint64_t frame; /* of the last segment */
	unsigned exchange_count, contact_count, cut_count;
	struct ft_nccl_cut_exchange cut; /* the last one */
	struct play_exchange exchanges[PLAY_TOLD_MAX];
	struct ft_nccl_contact contacts[PLAY_TOLD_MAX];
};

void play_open(struct play *play, uint32_t streams);
void play_close(struct play *play);

/* A piece of what an end of a connection sends. */
enum play_end { PLAY_CLIENT, PLAY_SERVER };
enum play_flag { PLAY_SYN = 1, PLAY_ACK = 2, PLAY_FIN = 4, PLAY_RST = 8 };

struct play_piece {
	enum play_end from;
	unsigned flags;
	uint32_t at;           /* place in what the end sends; a SYN stands in front of 0 */
	const uint8_t *bytes;  /* NULL with size 0 */
	uint32_t size, cut;    /* bytes; of these, not captured */
	uint32_t acknowledged; /* of the other end's bytes; with PLAY_ACK */
};

/* Clients are 10.0.0.1, ports 40000 + connection; servers 10.0.0.2, 50000 + connection. Numbers wrap soon. */
void play_piece(struct play *play, unsigned connection, const struct play_piece *piece);

/* The three segments that open a connection. */
void play_open_connection(struct play *play, unsigned connection);

/* What is left of a file of tests/data/nccl, "setup-2.27.7-connecting". */
uint32_t play_load(const char *name, uint8_t *bytes, uint32_t room);
