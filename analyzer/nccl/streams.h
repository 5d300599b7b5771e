#pragma once

#include <nccl/model.h>
#include <nccl/seen.h>

#include "half.h"

/*
 * TCP connections that are, or may turn out to be, NCCL's: a table of fixed size, found by both ends in either order. Two
 * VLANs may have the same ends: then it takes the same VLAN, or numbers that go on.
 * Windows are taken once, as address space; a page of one costs memory when it is first used.
 */
struct ft_nccl_streams;

enum ft_nccl_end { FT_NCCL_CLIENT, FT_NCCL_SERVER, FT_NCCL_ENDS };

enum ft_nccl_stream_kind {
	FT_NCCL_STREAM_NEW,       /* too little seen */
	FT_NCCL_STREAM_BARE,      /* no hello: a set-up or check-in of a release before 2.16 */
	FT_NCCL_STREAM_SETUP,     /* of an RDMA connection */
	FT_NCCL_STREAM_BOOTSTRAP, /* of a communicator */
	FT_NCCL_STREAM_RAS,
	FT_NCCL_STREAM_DONE, /* told, or unreadable: kept so that nothing is told twice */
};

/* Who talks to whom. */
struct ft_nccl_pair {
	uint8_t addresses[FT_NCCL_ENDS][16];
	uint16_t ports[FT_NCCL_ENDS];
	uint32_t vni; /* as in struct ft_nccl_ends */
};

struct ft_nccl_stream {
	struct ft_nccl_pair pair;
	uint8_t kind;   /* enum ft_nccl_stream_kind */
	bool is_told;   /* the contact was */
	bool is_joined; /* its first bytes were not captured: halves start where it was joined */
	bool is_cut;    /* not all bytes of all segments were captured */
	uint16_t vlan;  /* of the first segment */
	uint64_t magic;
	uint64_t frames[2];                       /* first, last so far */
	uint64_t ts_ns;                           /* of the last */
	uint64_t sent_frame;                      /* the last that had payload */
	struct ft_nccl_half halves[FT_NCCL_ENDS]; /* what each sends */
	uint32_t older, newer;                    /* the table's own */
};

/* 0 or -ENOMEM; `most` 0: there is never room. */
int ft_nccl_streams_create(struct ft_nccl_streams **streams, uint32_t most, uint64_t seed);
void ft_nccl_streams_destroy(struct ft_nccl_streams *streams); /* NULL is fine */

/* The connection of a segment, and which end sent it; it is the freshest then. NULL: not there. */
struct ft_nccl_stream *ft_nccl_streams_find(struct ft_nccl_streams *streams,
					    const struct ft_nccl_segment *segment,
					    enum ft_nccl_end *sender);

/* What has to be forgotten before one can be added; NULL: nothing has to, or there is no room at all. */
struct ft_nccl_stream *ft_nccl_streams_in_the_way(struct ft_nccl_streams *streams);

/* One that is not there yet. NULL: no room. */
struct ft_nccl_stream *ft_nccl_streams_add(struct ft_nccl_streams *streams,
					   const struct ft_nccl_segment *segment,
					   enum ft_nccl_end sender);
void ft_nccl_streams_forget(struct ft_nccl_streams *streams, struct ft_nccl_stream *stream);
