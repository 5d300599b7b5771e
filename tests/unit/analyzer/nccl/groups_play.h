#pragma once

#include <nccl/model.h>

#include "groups.h"

/*
 * Connections and messages made by hand, in the order of the frames that the play counts. A host is the last byte of its
 * address; a member of a ring sends to the next.
 */
enum { PLAY_CONNECTIONS = 32, PLAY_MESSAGES = 512 };

struct play {
	struct ft_nccl_connection rows[PLAY_CONNECTIONS], *connections[PLAY_CONNECTIONS];
	uint32_t count;
	struct ft_nccl_message messages[PLAY_MESSAGES];
	struct ft_nccl_request requests[PLAY_MESSAGES];
	uint32_t message_count;
	uint64_t k[PLAY_CONNECTIONS];   /* next of each connection */
	uint64_t frame;                 /* the last one */
	enum ft_nccl_protocol protocol; /* of what is sent from now on */
	uint64_t offered;
};

void play_begin(struct play *play);

/* Its id is 100 and its place; QPNs go up with the places. */
struct ft_nccl_connection *play_connect(struct play *play, uint8_t from, uint8_t to);
/* Every member of hosts 1..ranks to the next, tags from 0. */
void play_ring(struct play *play, uint8_t ranks);

/* A clear-to-send with a tag, and what answers it: at once, or by play_answer() later. */
struct ft_nccl_message *play_ask(struct play *play, uint32_t connection, int32_t tag);
void play_answer(struct play *play, struct ft_nccl_message *message, uint64_t bytes);
void play_send(struct play *play, uint32_t connection, int32_t tag, uint64_t bytes);

/* What members of a ring of `ranks` from connection `first` on send in one operation: `count` sizes, the same for all. */
void play_step(struct play *play, uint32_t first, uint32_t ranks, const uint64_t *bytes,
	       uint32_t count);

/* In order of first frame, as groups want them. Free with ft_nccl_groups_free(). */
void play_groups(struct play *play, struct ft_nccl_groups *groups);
