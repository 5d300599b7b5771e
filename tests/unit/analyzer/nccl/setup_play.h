#pragma once

#include "tcp_play.h"

/* Real set-ups of five setup_releases (tests/data/nccl), cut into pieces and sent over connection 0. */
enum {
	SETUP_STREAM_MAX = 5000,
	SETUP_READY = 4,
	SETUP_PIECES_MAX = 64,
	SETUP_MSS = 1448,
	SETUP_RELEASES = 5
};

/* What the programs knew: first queue pair and memory of both sides. */
struct setup_release {
	const char *name;
	uint32_t sender_qpn, receiver_qpn;
	uint64_t fifo;
	uint32_t bytes; /* metadata */
	uint64_t magic;
};

/* 2.10.3, 2.19.3, 2.21.5, 2.27.7, 2.30.7 */
extern const struct setup_release setup_releases[SETUP_RELEASES];

/* What both ends send, and the pieces of it to be sent. */
struct setup {
	const struct setup_release *release;
	uint8_t bytes[2][SETUP_STREAM_MAX];
	uint32_t size[2];
	struct play_piece pieces[SETUP_PIECES_MAX];
	unsigned count;
};

void setup_load(struct setup *setup, const struct setup_release *release);

void setup_add(struct setup *setup, enum play_end from, uint32_t at, uint32_t size);

/* Hello (so many bytes in the first piece) and list, metadata, answer, ready word. */
void setup_add_all(struct setup *setup, uint32_t hello, uint32_t most);

void setup_send(struct play *play, const struct setup *setup);

/* Opens a play with room for one connection, and sends all but the ready word. */
void setup_send_unready(struct play *play, struct setup *setup,
			const struct setup_release *release);

/* Told exactly once, and as it is; frames of TCP. */
bool setup_is_told(const struct play *play, const struct setup *setup, uint64_t first,
		   uint64_t last);
bool setup_is_contact(const struct play *play, const struct setup *setup, uint64_t frame);
