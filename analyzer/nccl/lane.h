#pragma once

#include <assert.h>
#include <stddef.h>

#include <nccl/seen.h>

#include "psns.h"

/* Where a queue pair of a followed connection is: PSNs, the message under way, and what waits for its sequence to go on. */

/* An ACK: so many requests were complete by this PSN. */
struct ft_nccl_counted {
	bool known;
	uint32_t psn, msn;
};

/*
 * Messages that were kept, with data: of a number, and of none; those of both that ended; and such as are not listed, as their first
 * packet was missed. See tally.h.
 */
struct ft_nccl_tally {
	uint64_t numbered, others, ended, unlisted;
};

/* Numbers of messages that one lane had a part of: if others take turns with it, they are as far apart as there are. */
struct ft_nccl_strides {
	bool known;
	uint64_t last; /* a number */
	uint64_t step; /* all are multiples of it apart; 0: there was one */
};

/* Orphans in a row: see orphan_rows.h. */
struct ft_nccl_orphan_row {
	uint32_t psn, count;
	uint32_t immdt;        /* that the last of them has, in frame `imm_frame` */
	bool tallied;          /* as a message that is not listed */
	uint64_t imm_frame;    /* 0: none of them has one */
	uint64_t frame, ts_ns; /* of the one that came first */
};

enum { FT_NCCL_ORPHAN_ROWS = 4 };

enum { FT_NCCL_LANE_LINE = 64 /* bytes: a cache line */ };

/*
 * A pair of queue pairs; its number is its position in the connection's lists. What each packet of data asks for is in one cache
 * line, with the beginning of its sequence; what nearly each one of either direction does is in the one before.
 */
struct ft_nccl_lane {
	_Alignas(FT_NCCL_LANE_LINE) struct ft_nccl_tally tally; /* that it had a part of */
	bool told;        /* it was told that nobody asked for the early one */
	bool early_known; /* whichever way queue pairs take turns, it is of message `early_k` .. */
	bool early_open;  /* .. or not known of which: it has turn `early_turn` on the queue pair */
	bool early_begins; /* .. right behind the end of the message before .. */
	bool calm;         /* .. and nothing was lost or out of order for a while before it */
	bool early_waits;  /* its clear-to-send has come: for the next message alone */
	bool blurred; /* what overtook PSN `bound_at` may have passed before the lane was known */
	uint32_t bound_at; /* the first that counts */
	uint32_t tallied;  /* messages of rows that are not remembered any more */
	/* orphans in sequence, orphans.h: the first, and where the hole before it began */
	uint32_t orphan_from, orphan_hole;
	bool orphan_exact; /* `exact` was set before them */
	bool skipping; /* a clear-to-send behind `cts_k` had the next PSN, but skipped numbers: cts.c */
	uint8_t strays; /* by_grid: so many PSNs before the next clear-to-send were of none */
	bool succeeded; /* a write that may be a later connection's: successor.h .. */
	uint32_t succeeded_to;                /* .. up to this PSN */
	struct ft_nccl_counted counted_ahead; /* of data, that is to pass yet: msn.h */

	struct ft_nccl_acked cts_acked;
	uint64_t cts_k;   /* of the last clear-to-send here .. */
	uint8_t refused;  /* writes since that were none, each of which may have taken a PSN */
	uint8_t cts_step; /* .. and from one to the next without a hole; 0: not known */
	uint8_t orphan_row_count;
	bool asked; /* clear-to-sends were seen */
	bool placed; /* a message that was seen to be asked for before it came has begun here, with data */
	bool anchored;        /* `next` is where its data began, none of which was left out */
	bool voted;           /* its sender's end is known by the PSNs of answers alone */
	bool counted;         /* it was followed from its first packet on, without a hole: */
	uint32_t turns;       /* messages that began here */
	uint16_t udp_sport;   /* of its packets, as first seen */
	uint16_t noted;       /* evidence told, bits 1 << enum ft_nccl_evidence */
	uint64_t begun_frame; /* of the last message here; 0: a hole came since */
	/* so many packets were not taken for data of it when they came, while this PSN was the next */
	uint32_t left_out, left_out_at;
	uint32_t left_out_to; /* .. up to this PSN */
	/* of the clear-to-send that skipped numbers; by_grid: of the last write that was refused */
	uint32_t skipping_psn;
	uint32_t early_turn;
	/* by these ways of taking turns what asked for the early one did so elsewhere */
	uint64_t early_wrong;

	_Alignas(FT_NCCL_LANE_LINE) uint64_t at; /* the message under way, or the last */
	uint64_t next; /* the next message here is this one or a later one: */
	/* unless `exact` is set, by so much at most; none is more than FT_NCCL_SLACK_MOST */
	uint32_t slack;
	uint32_t write_end; /* PSN */
	uint32_t ended_to;  /* PSN behind the last immediate; 0 also before the first packet */
	uint32_t alien_to;  /* PSN that a write ends with which is none of the connection's .. */
	uint32_t orphans;   /* in sequence: orphans.h */
	struct ft_nccl_acked data_acked;
	bool carried; /* data was seen */
	bool open;    /* message `at` lacks its immediate here */
	bool writing; /* a write of it is under way, until PSN `write_end` */
	bool exact;   /* no hole since the last message */
	bool alien;   /* .. and is under way */
	/* a write out of sequence that nobody asked for: the next packet tells which of both is right */
	bool has_odd;
	bool has_early; /* one before its clear-to-send: see faults.h */
	bool has_leapt; /* a write that left a hole: leap.h */
	/* most of the rest is seldom touched */
	struct ft_nccl_psns data, cts; /* of requests to the receiver, to the sender .. */
	struct ft_nccl_psns data_before, cts_before; /* .. and of before these: passed.h */
	struct ft_nccl_seen odd, early, leapt;       /* without payload */
	uint32_t leapt_first, leapt_from; /* the hole began there, and is filled up to here */
	uint64_t early_step, early_k;     /* when that came, and of which message it is */
	uint64_t skipping_k;              /* the number of the clear-to-send that skipped some */
	/* orphans, these and those that came late, oldest first; whatever from `orphan_row_count` on */
	struct ft_nccl_orphan_row orphan_rows[FT_NCCL_ORPHAN_ROWS];
};
static_assert(offsetof(struct ft_nccl_lane, data.holes) ==
		      offsetof(struct ft_nccl_lane, at) + FT_NCCL_LANE_LINE,
	      "what data asks for is in one cache line");

/* A lane of which nothing was seen yet; it may be whatever, unless it is known to be zero. */
void ft_nccl_lane_begin(struct ft_nccl_lane *lane, bool is_zero);

/* It goes on in another place. */
void ft_nccl_lane_move(struct ft_nccl_lane *to, const struct ft_nccl_lane *from);

/* What came before its clear-to-send, if anything did, waits no more. */
static inline void ft_nccl_drop_early(struct ft_nccl_lane *lane)
{
	lane->has_early = lane->early_waits = false;
}

/* A packet was seen, but is not taken: none of the connection's, or its time has not come. */
static inline void ft_nccl_leave_out(struct ft_nccl_lane *lane, uint32_t psn)
{
	if (lane->left_out == 0 || lane->left_out_at != lane->data.next) {
		lane->left_out = 0;
		lane->left_out_at = lane->data.next;
		lane->left_out_to = ft_psn_add(lane->data.next, UINT32_MAX);
	}
	if (ft_psn_distance(psn, lane->left_out_to) <= 0)
		return;
	lane->left_out_to = psn;
	lane->left_out++;
}

/* Of a lane of which is not known where it is: more than is remembered. */
#define FT_NCCL_SLACK_MOST 4096

static inline void ft_nccl_loosen(struct ft_nccl_lane *lane, uint64_t messages)
{
	lane->slack = messages < FT_NCCL_SLACK_MOST - lane->slack ? lane->slack + (uint32_t)messages
								  : FT_NCCL_SLACK_MOST;
}
