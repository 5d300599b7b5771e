#pragma once

#include <assert.h>

#include <flow/observed.h>
#include <flow/spread.h>
#include <flow/tracker.h>

/*
 * What only the flow table's document shows of a half-connection: kept beside the records, by record
 * number, and only if asked for (`fabtap flows`). Reserved once for as many records as the table has,
 * and touched only as records come into use.
 */
struct ft_details;

/* RC has 25 opcodes, and its half-connection sees CNPs. */
enum { FT_DETAIL_OPCODES = 26, FT_DETAIL_NAKS = 5 };

#define FT_DETAIL_NOBODY UINT32_MAX /* no such endpoint or tenant */

struct ft_detail {
	uint64_t first_frame; /* number of the first frame; 0: none yet */
	uint64_t first_ns;    /* FT_TS_UNKNOWN: it has no time */
	uint64_t last_ns;     /* of the newest one with a time; FT_TS_UNKNOWN: none has */
	uint64_t payload_bytes;
	uint64_t retransmitted; /* had passed here before */
	uint64_t fabric_lost;   /* asked for again, and first seen when sent again */
	uint64_t reordered, copies, mirror_lost;
	uint64_t ce_marked, cnps, acks;      /* seen in this direction */
	uint64_t messages[FT_MESSAGE_KINDS]; /* completed; asked for in this direction */
	uint32_t naks[FT_DETAIL_NAKS];       /* by code */
	uint32_t rnr_naks;
	uint32_t gaps_open; /* PSNs missing and given up, by whom is not known; up to UINT32_MAX */
	uint32_t psn_first, psn_last;      /* FT_PSN_NONE: no BTH was wholly readable */
	uint32_t rules;                    /* of all its frames, bit per enum ft_rule */
	uint32_t src_endpoint, src_tenant; /* indices in the map; FT_DETAIL_NOBODY */
	uint32_t dst_endpoint, dst_tenant;
	uint32_t opcode_packets[FT_DETAIL_OPCODES]; /* a slot that is full goes on in another */
	uint16_t pkey; /* all 16 bits as first seen, of a cut BTH, too */
	uint16_t vlan; /* of the first frame; 0: untagged */
	uint8_t opcode_count : 7;
	uint8_t doubts_pkey : 1; /* 1: the packets that it could be seen of have wrong ICRCs */
	uint8_t judged : 1;      /* 1: a frame of it was judged, and decided */
	uint8_t placed : 1; /* 1: endpoints and tenants are those of its first frame with a verdict */
	uint8_t has_pkey : 1;
	uint8_t cut : 1;     /* 1: a packet's BTH was cut behind its queue pair .. */
	uint8_t service : 3; /* .. the transport of the first such, enum ft_service */
	uint8_t aside : 1; /* 1: ft_details_unclaimed() or ft_details_withheld() has something of it */
	uint8_t opcodes[FT_DETAIL_OPCODES]; /* in order of first packet */
	struct ft_spread sizes;             /* of messages */
	struct ft_spread rtts;              /* ns, from a request to its answer sent here */
};
static_assert(sizeof(struct ft_detail) <= 576, "nine cache lines");

/* READs and atomics that a half-connection answered before it was known which one had asked for them. */
struct ft_unclaimed {
	uint64_t messages[FT_MESSAGE_KINDS];
	struct ft_spread sizes;
};
static_assert(sizeof(struct ft_unclaimed) <= 160, "docs/architecture.md has it");

/* Packets that passed before or, if their queue pair was set up anew, did not; and the messages that they then completed. */
struct ft_withheld {
	uint64_t packets;
	struct ft_unclaimed completed;
};
static_assert(sizeof(struct ft_withheld) <= 168, "docs/architecture.md has it");

/* 0, -EINVAL (capacity 0) or -ENOMEM. `capacity`: of the flow table. */
int ft_details_create(struct ft_details **details, uint32_t capacity);

/* Frees all of it; what ft_details_of() gave goes with it. NULL is fine. */
void ft_details_destroy(struct ft_details *details);

/* The record's; `number` from 1 to the capacity. It stays where it is; all zero before its first packet. */
struct ft_detail *ft_details_of(const struct ft_details *details, uint32_t number);

/* The record holds another half-connection from now on. */
void ft_details_clear(struct ft_details *details, uint32_t number);

/*
 * Count a packet of record `number`. `copy`: the mirror made it; then only that is counted. `step` is
 * what the tracker said of the packet; not read for DestQP 0 and 1, whose datagrams are messages. What
 * it proved of other records (messages asked for there, packets lost there) is counted with those.
 */
void ft_details_count(struct ft_details *details, uint32_t number,
		      const struct ft_observed *observed, const struct ft_step *step, bool copy);

/* Whether a packet completed what nobody known had asked for. */
static inline bool ft_step_is_unclaimed(const struct ft_step *step)
{
	return (step->what & FT_STEP_MESSAGE) != 0 && step->message_flow == 0;
}

/* Keep what such a packet of record `number` completed: it counts with the half that turns out to be the other one. */
void ft_details_keep(struct ft_details *details, uint32_t number, const struct ft_step *step);

/* All of it that the record has; NULL: nothing. */
const struct ft_unclaimed *ft_details_unclaimed(const struct ft_details *details, uint32_t number);

/* What such packets of record `number` were: sent again, or new. */
void ft_details_tell(struct ft_details *details, uint32_t number, bool again);

/* Packets of which it is not told yet, and will not be where nothing more is seen, whether they passed before. */
uint64_t ft_details_withheld(const struct ft_details *details, uint32_t number);

/* `doubtful`: the packet's ICRC is wrong. The first that is not stands. */
static inline void ft_detail_note_pkey(struct ft_detail *detail, uint16_t pkey, bool doubtful)
{
	if (detail->has_pkey && (!detail->doubts_pkey || doubtful))
		return;
	detail->pkey = pkey;
	detail->has_pkey = 1;
	detail->doubts_pkey = doubtful;
}

/* A packet whose BTH was cut behind its P_Key and queue pair; `service`: its transport. */
static inline void ft_detail_note_cut(struct ft_detail *detail, uint16_t pkey, uint8_t service)
{
	ft_detail_note_pkey(detail, pkey, false);
	if (!detail->cut)
		detail->service = service & 7u;
	detail->cut = 1;
}

/* What the map said of a packet of record `number`; `decided`: it was judged and not left undecided. */
static inline void ft_detail_judge(struct ft_detail *detail, uint32_t rules, bool decided)
{
	detail->rules |= rules;
	if (decided)
		detail->judged = 1;
}

/* Who the ends are: of the first frame that has a verdict, later ones change nothing. */
static inline void ft_detail_place(struct ft_detail *detail, const uint32_t src[2],
				   const uint32_t dst[2])
{
	if (detail->placed)
		return;
	detail->placed = 1;
	detail->src_endpoint = src[0];
	detail->src_tenant = src[1];
	detail->dst_endpoint = dst[0];
	detail->dst_tenant = dst[1];
}

/* The map is another one: its tenants have the same indices, its endpoints not; who the ends are is asked anew. */
static inline void ft_detail_displace(struct ft_detail *detail)
{
	detail->placed = 0;
	detail->src_endpoint = detail->dst_endpoint = FT_DETAIL_NOBODY;
}
