#pragma once

#include <assert.h>
#include <stddef.h>

#include <decode/psn.h>
#include <flow/pool.h>
#include <nccl/model.h>
#include <nccl/seen.h>

/*
 * The messages of late of one connection: what each clear-to-send asked for, and what each queue pair carried of the
 * answer. Message k has place k modulo `slots`; whoever comes later takes it, and what was there is handed on to be kept.
 */
enum {
	FT_NCCL_RING_LEAST = 16, /* places; powers of two */
	FT_NCCL_RING_MOST = 64,
	FT_NCCL_TRANSFER_START = 32, /* bytes */
};

/* Clear-to-sends of a connection that wait for their data at a time, at most. */
enum { FT_NCCL_ASKED_AHEAD = 8 };

/* A write, as its first packet had it. */
struct ft_nccl_begun {
	uint64_t va, frame, ts_ns; /* frame 0: none */
	uint32_t length, psn;
};

/* What one queue pair carried of a message. */
struct ft_nccl_share {
	uint64_t bytes;
	uint32_t packets;
	uint32_t from, to; /* PSNs: of the first packet seen, of the last one expected so far */
	bool used;
	bool begun;       /* `from` is where it began */
	bool searched;    /* it was found by where it goes alone */
	bool ended;       /* its immediate was seen */
	bool apart;       /* its beginning was missed, but the message before was over */
	bool counted;     /* on this queue pair it was .. */
	uint8_t requests; /* written to, bits */
	uint32_t turn;    /* .. the message of this number, from 0 */
	uint32_t immdt;
	uint64_t imm_frame;
	struct ft_nccl_begun first, last; /* writes; the first if `begun` */
};
static_assert(sizeof(struct ft_nccl_share) == 112,
	      "of each message there is one for each queue pair");

/* What is asked of one after the other is at the start: at most one cache line of each is looked at for that. */
struct ft_nccl_transfer {
	_Alignas(FT_NCCL_TRANSFER_START) bool used; /* the place is */
	bool has_cts;
	bool partial;   /* several requests, and what they asked for cannot be read */
	bool doubtful;  /* what carried data of it may have been another one, or forged */
	bool adrift;    /* .. another message's, and nobody knows whose number it has */
	bool guessed;   /* messages were not counted when its data came */
	bool undecided; /* more than one way of taking turns is left, and they disagree: turns.h */
	bool bare;      /* the immediate came in a zero-length write of its own */
	struct ft_nccl_message message; /* its requests and parts are filled in when it is kept */
	bool sized;                     /* the requests' lengths are what the sizes write says */
	bool parted; /* some of its data may be listed by itself, and was counted */
	/* writes behind its first one that nobody was seen to ask for, each in the request of its place; UINT8_MAX: too many */
	uint8_t more;
	uint32_t immdt;
	uint64_t written; /* bytes, all requests */
	/* of those, beyond `written`, that the connection counts: what was missed */
	uint64_t missed;
	uint32_t cts_psn; /* if it has one */
};
static_assert(offsetof(struct ft_nccl_transfer, message.first_frame) == FT_NCCL_TRANSFER_START,
	      "its number and clear-to-send are at the start");

struct ft_nccl_ring {
	struct ft_pool *pool; /* that all of it is from */
	struct ft_nccl_transfer *transfers;
	struct ft_nccl_request *requests; /* `request_room` of each */
	struct ft_nccl_share *shares;     /* `share_room` of each, by lane */
	/* bits 1 << place: a message has begun there; all others are not used, and their requests are zero */
	uint64_t begun;
	/* likewise: its shares are zero, as nobody had that memory before */
	uint64_t unshared;
	uint64_t told;  /* messages before this one may have made room, with their number */
	uint32_t slots; /* 0: nothing yet */
	uint8_t request_room, share_room;
};

/* All that a queue pair carries of a message was seen. */
static inline bool ft_nccl_share_is_whole(const struct ft_nccl_share *share)
{
	return share->used && share->begun && share->ended &&
	       share->packets == ft_psn_since(share->to, share->from) + 1;
}

static inline bool ft_nccl_is_doubted(const struct ft_nccl_transfer *transfer)
{
	return transfer->doubtful || transfer->adrift;
}

static inline struct ft_nccl_begun ft_nccl_begun_by(const struct ft_nccl_seen *seen)
{
	return (struct ft_nccl_begun){ seen->va, seen->frame, seen->ts_ns, seen->length,
				       seen->psn };
}

/* Its first write, with a RETH. */
static inline void ft_nccl_share_begin(struct ft_nccl_share *share, const struct ft_nccl_seen *seen)
{
	share->first = ft_nccl_begun_by(seen);
}

/* The four bytes as on the wire. */
static inline void ft_nccl_put_immediate(uint8_t imm[4], uint32_t immdt)
{
	for (unsigned i = 0; i < 4; i++)
		imm[i] = (uint8_t)(immdt >> (24 - 8 * i));
}

/* A first copy of one of the message's packets was in this frame. */
static inline void ft_nccl_message_reach(struct ft_nccl_message *message, uint64_t frame,
					 uint64_t ts_ns)
{
	if (message->first_frame == 0 || frame < message->first_frame) {
		message->first_frame = frame;
		message->first_ts_ns = ts_ns;
	}
	if (frame >= message->last_frame) {
		message->last_frame = frame;
		message->last_ts_ns = ts_ns;
	}
}

/* Whatever message has it; the ring has room for some. */
static inline struct ft_nccl_transfer *ft_nccl_ring_place(const struct ft_nccl_ring *ring,
							  uint64_t k)
{
	return &ring->transfers[k & (ring->slots - 1)];
}

/* Message k, or NULL. */
static inline struct ft_nccl_transfer *ft_nccl_ring_find(const struct ft_nccl_ring *ring,
							 uint64_t k)
{
	struct ft_nccl_transfer *transfer;

	if (ring->slots == 0)
		return NULL;
	transfer = ft_nccl_ring_place(ring, k);
	return transfer->used && transfer->message.k == k ? transfer : NULL;
}

/* The message in k's place, if it is another one: to be kept before k takes it. NULL: none. */
static inline struct ft_nccl_transfer *ft_nccl_ring_holder(const struct ft_nccl_ring *ring,
							   uint64_t k)
{
	struct ft_nccl_transfer *transfer;

	if (ring->slots == 0)
		return NULL;
	transfer = ft_nccl_ring_place(ring, k);
	return transfer->used && transfer->message.k != k ? transfer : NULL;
}

/* The first of the places in `left`, some of `begun`. */
static inline struct ft_nccl_transfer *ft_nccl_ring_first(const struct ft_nccl_ring *ring,
							  uint64_t left)
{
	return &ring->transfers[__builtin_ctzll(left)];
}

/* Its requests, and what lanes carried of it. */
static inline struct ft_nccl_request *ft_nccl_ring_requests(const struct ft_nccl_ring *ring,
							    const struct ft_nccl_transfer *transfer)
{
	return ring->requests + (size_t)(transfer - ring->transfers) * ring->request_room;
}

static inline struct ft_nccl_share *ft_nccl_ring_shares(const struct ft_nccl_ring *ring,
							const struct ft_nccl_transfer *transfer)
{
	return ring->shares + (size_t)(transfer - ring->transfers) * ring->share_room;
}

void ft_nccl_ring_free(struct ft_nccl_ring *ring);

/* Bytes of all its requests, as far as they are known. */
uint64_t ft_nccl_ring_sum(const struct ft_nccl_ring *ring, const struct ft_nccl_transfer *transfer);

/* After how many messages a buffer is offered again, at least; 0: not known, and always so with several requests at a time. */
uint64_t ft_nccl_ring_period(const struct ft_nccl_ring *ring);

/* Another message has asked for the same place, or the message's own clear-to-send is not there. */
bool ft_nccl_ring_recurs(const struct ft_nccl_ring *ring, const struct ft_nccl_transfer *transfer);

/* How far apart buffers of different messages begin, at least; UINT64_MAX: there is one. */
uint64_t ft_nccl_ring_spacing(const struct ft_nccl_ring *ring);

/*
 * Room for so many requests and lanes of a message, and for `slots` messages: what is there moves. Pointers into the
 * ring end here. 0 or -ENOMEM: then it is as before.
 */
int ft_nccl_ring_fit(struct ft_nccl_ring *ring, uint32_t slots, uint32_t requests, uint32_t lanes);

/* Message k, new and empty. Its place must be free. */
struct ft_nccl_transfer *ft_nccl_ring_begin(struct ft_nccl_ring *ring, uint64_t k);

/* As if it had carried no data: what asked for it stays, and if nothing did, its place is free. */
void ft_nccl_ring_ask_again(struct ft_nccl_ring *ring, struct ft_nccl_transfer *transfer);
