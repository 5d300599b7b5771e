#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

/* What is remembered of messages, and of lanes that bring them, while a connection goes straight: straight.h. */

enum {
	FT_NCCL_STRAIGHT_LINE = 64, /* bytes: a cache line, and the longest entry */
	FT_NCCL_STRAIGHT_LEAST = FT_NCCL_RING_LEAST, /* messages that there always is room for */
	FT_NCCL_STRAIGHT_LANES = 8,                  /* of a connection, at most */
};

/* Of message `next` - 1, or a lane's last: over; its write is under way; written, but for the immediate. */
enum ft_nccl_straight_stage {
	FT_NCCL_STRAIGHT_IDLE,
	FT_NCCL_STRAIGHT_WRITING,
	FT_NCCL_STRAIGHT_WRITTEN,
	/* of a connection: each lane has its own .. */
	FT_NCCL_STRAIGHT_SEVERAL,
	FT_NCCL_STRAIGHT_ROTA, /* .. and brings all of it: rota.h */
};

/* A message that was asked for, and may have come. */
struct ft_nccl_straight_message {
	uint64_t va; /* asked for, and written to */
	uint64_t first_ts_ns;
	uint32_t cts_frame, first_frame; /* lower halves of their numbers */
	uint32_t written;                /* bytes */
	uint32_t from;                   /* PSN of its first packet; with FT_NCCL_STRAIGHT_BARE */
};
static_assert(sizeof(struct ft_nccl_straight_message) == 32, "two in a cache line");

/* Its immediate came in an empty write. */
#define FT_NCCL_STRAIGHT_BARE (UINT32_C(1) << 24)

/* What one of several lanes brought of a message. */
struct ft_nccl_straight_part {
	uint64_t va;
	uint64_t ts_ns;
	uint32_t frame;  /* of its first packet, lower half */
	uint32_t length; /* bytes */
	uint32_t from;   /* PSN of its first packet */
	uint32_t imm_frame;
};

/*
 * A message that was asked for, and may have come over several lanes. Its parts follow: of those that share it each has one;
 * where lanes take turns there is one. Lanes are bits.
 */
struct ft_nccl_straight_whole {
	uint64_t va;      /* asked for */
	uint64_t written; /* bytes, all parts */
	uint32_t cts_frame;
	uint32_t immdt;  /* of all parts that ended */
	uint8_t used;    /* brought some of it, or all */
	uint8_t ended;   /* .. with the immediate */
	uint8_t waiting; /* not 0: it is not over, and its place is not free */
	/* of these, since it went straight: */
	uint8_t begun;         /* began it */
	uint8_t last;          /* brought the last packet of the write */
	uint8_t bare;          /* brought the immediate in an empty write */
	uint8_t ended_of_late; /* are in `ended` */
};
static_assert(sizeof(struct ft_nccl_straight_part) == 32 &&
		      sizeof(struct ft_nccl_straight_whole) == 32,
	      "a message that one lane brings is in one cache line");

/*
 * A message where each is brought by one lane, which writes from where it was asked for: its immediate, when it has ended, was
 * its length.
 */
struct ft_nccl_rota_message {
	union {
		uint64_t k; /* its number, as long as nobody has brought any of it */
		uint64_t ts_ns;
	};
	uint32_t va; /* lower half */
	uint32_t cts_frame, frame, imm_frame;
	uint32_t length : 29; /* written: bytes */
	uint32_t lane : 3;    /* that brings it */
	uint32_t from : 24;   /* PSN of its first packet */
	uint32_t state : 8;   /* enum ft_nccl_rota_state */
};
static_assert(sizeof(struct ft_nccl_rota_message) == 32, "two in a cache line");

enum { FT_NCCL_ROTA_LENGTH_MOST = (1 << 29) - 1 };

/* Bits. */
enum ft_nccl_rota_state {
	/* it is not over, and its place is not free; alone: nobody has brought any of it, and what goes there is of it */
	FT_NCCL_ROTA_WAITING = 1 << 0,
	FT_NCCL_ROTA_USED = 1 << 1, /* it had begun before it went straight */
	FT_NCCL_ROTA_OPEN = 1 << 2, /* what goes there may be of another one */
	/* since it went straight: begun; the last packet of the write came; the immediate; in an empty write */
	FT_NCCL_ROTA_BEGUN = 1 << 3,
	FT_NCCL_ROTA_LAST = 1 << 4,
	FT_NCCL_ROTA_ENDED = 1 << 5,
	FT_NCCL_ROTA_BARE = 1 << 6,
};

/*
 * One of several lanes. If it is in a rota it has all that data asks for besides its message, what is the same of all lanes
 * included.
 */
struct ft_nccl_straight_lane {
	_Alignas(FT_NCCL_STRAIGHT_LINE) uint32_t psn; /* of the next packet of data that is shown */
	uint32_t acked; /* newest of these PSNs; FT_NCCL_NONE: none here */
	uint64_t at;    /* its last message */
	/* since it went straight: */
	uint64_t bytes;       /* written .. */
	uint32_t begun;       /* .. messages .. */
	uint32_t by_length;   /* .. whose immediate was their length */
	uint32_t begun_frame; /* of `at`, if it began of late */
	uint32_t turns;       /* as of the connection */
	union {
		uint32_t in_a_row; /* of `begun`, next to the one before */
		struct {           /* in a rota, as of the connection */
			uint8_t stride;
			uint8_t pmtu_bits; /* FT_NCCL_ROTA_NO_PMTU: not known */
			bool big, bare;
		};
	};
	uint8_t stage; /* enum ft_nccl_straight_stage */
	uint8_t index; /* of it among the connection's */
	uint8_t bit;   /* 1 << index */
	union {
		struct {
			uint64_t first; /* message that may be next */
			/* the one under way, or that comes next if lanes take turns */
			struct ft_nccl_straight_whole *likely;
		};
		struct { /* likewise */
			uint32_t rkey, length_most;
			uint32_t va_upper; /* half, of all messages */
			uint32_t packets;  /* that are shown */
		};
	};
};
static_assert(sizeof(struct ft_nccl_straight_lane) == FT_NCCL_STRAIGHT_LINE, "one cache line");

enum { FT_NCCL_ROTA_NO_PMTU = 31 };
