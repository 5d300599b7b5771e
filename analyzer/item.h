#pragma once

#include <capture/frame.h>
#include <control/connection_setup.h>
#include <decode/decode.h>
#include <engine/frame_key.h>
#include <flow/observed.h>
#include <flow/table.h>
#include <partition/check.h>

#include "suspects.h"

/* Whether the follower of NCCL is to see a packet. */
enum ft_framing_interest {
	FT_FRAMING_NONE,
	FT_FRAMING_STRANGE, /* only once there is NCCL in the capture: its queue pair has nothing to do with it so far */
	FT_FRAMING_SHOWN,
	FT_FRAMING_AHEAD, /* shown, though nothing tells yet whether there is NCCL: it may be what begins */
	FT_FRAMING_INTEREST = 3, /* these bits, and one of the next two at most: */
	/* its VLAN has a half-connection of its own with these addresses and this queue pair */
	FT_FRAMING_APART = 4,
	FT_FRAMING_DOUBTED = 8, /* it may have one */
	/* with FT_FRAMING_SHOWN: the packet goes on as its half-connection did, whatever the map says */
	FT_FRAMING_STEADY = 16,
};

/*
 * A packet on its way through the engine, without the packet: what was decoded of it, then what the
 * worker made of it. Frames have one, sFlow datagrams several.
 */
struct ft_item {
	const struct ft_frame *frame;
	uint64_t judged_by; /* digest of what of the check key flow_key does not have */
	uint64_t copies_at; /* ft_copies_prefetch() */
	uint32_t hash;      /* of flow_key */
	/* of the flow table: most likely its, and surely once the worker took it; 0: none yet */
	uint32_t record;

	/* decoded */
	uint8_t known;  /* enum ft_needs */
	uint8_t kind;   /* enum ft_frame_kind */
	bool has_flow;  /* flow_key is filled */
	bool pause;     /* a pause frame, and the frame's only packet */
	bool connected; /* RC, UC, RD or XRC between ordinary queue pairs */
	bool followed;  /* of an ordinary queue pair, and to be trusted: the tracker sees it */
	bool usual;     /* nothing is filled behind `to`: the rest says what it would be */
	bool sets_up;   /* a connection: `setup` is filled */
	struct ft_flow_key flow_key;
	struct ft_observed observed;
	uint16_t sub;      /* 0: the frame's first packet, which places the frame in the totals */
	uint16_t bth_at;   /* usual: offset of its BTH in the frame; else 0 */
	uint8_t truncated; /* enum ft_truncated */

	/* judged and followed; up to `rules` in one piece, which is cleared at once */
	bool quiet; /* nothing to tell, no mark, no notice: one more of its kind */
	bool gap;   /* packets were proved lost by the mirror: ft_item_more.gap */
	bool anew;  /* answers in a sequence begun anew: ft_item_more.half, next_psn */
	bool copy;  /* made by the mirror: counted as that and nothing else .. */
	bool marks; /* .. but for congestion that its original had not met yet */
	bool undecided, grace, untimed;
	bool permitted;    /* a crossing that an exception of the map permits */
	uint8_t framing;   /* enum ft_framing_interest, bits */
	uint32_t rules;    /* violations and notes, bit per enum ft_rule */
	uint32_t from, to; /* tenant pair; FT_NONE: unknown */

	/* seldom touched */
	uint32_t dest_qp; /* with FT_NEED_DEST_QP in `known`; ft_item_dest_qp() */
	/* by sFlow: one of so many; 0: it is no sample. ft_item_unsampled() .. */
	uint32_t sampled_of;
	/* .. then bytes on the wire that it was sampled from; ft_item_wire() */
	uint32_t sampled_wire;
	uint8_t unopened;        /* enum ft_unopened, of FT_FRAME_NOT_RDMA */
	struct ft_check_key key; /* ft_item_key() */
	struct ft_connection_setup setup;
};

/* What only frames with something to tell have, beside their items. */
struct ft_item_more {
	struct ft_verdict verdict;
	bool has_verdict;
	uint64_t subject;    /* of findings about it: ft_subject_digest() */
	uint16_t first_base; /* before another P_Key base came; FT_FLOW_NO_BASE: none did */
	struct ft_step_gap gap;
	uint64_t flow;     /* digest of the key of a flow with a wrong ICRC; 0: none */
	uint64_t half;     /* of the half-connection whose sequence is in question */
	uint32_t next_psn; /* .. which goes on with this, with `anew` */
	struct ft_suspicion suspicion;
	/* the other of two requests that differ; NULL: none, or not kept */
	const struct ft_cut_frame *passed;
};

/* What to judge the packet by. */
void ft_item_key(const struct ft_item *item, struct ft_check_key *key);

/* Parts of it, and the DestQP; what is not known is 0. */
static inline uint16_t ft_item_pkey(const struct ft_item *item)
{
	return item->usual ? item->observed.pkey : item->key.pkey;
}

static inline uint16_t ft_item_vlan(const struct ft_item *item)
{
	return item->usual ? item->observed.vlan : item->key.vlan;
}

static inline uint32_t ft_item_dest_qp(const struct ft_item *item)
{
	return item->usual ? item->observed.dest_qp : item->dest_qp;
}

/* Bytes on the wire: of its frame, or what it was sampled from. */
static inline uint32_t ft_item_wire(const struct ft_item *item)
{
	return !item->usual && item->sampled_of != 0 ? item->sampled_wire : item->frame->wire;
}

/* Whatever a map says: it is broken, damaged, or cut before what tells its half-connection. */
static inline bool ft_item_is_undecidable(const struct ft_item *item)
{
	if (item->has_flow)
		return item->kind == FT_FRAME_BAD_ICRC;
	return item->kind != FT_FRAME_NOT_RDMA && item->kind != FT_FRAME_NEVER_JUDGED;
}

/* Its BTH was cut, and shows no PSN. */
static inline bool ft_item_is_cut(const struct ft_item *item)
{
	return !item->usual && item->kind != FT_FRAME_NOT_RDMA &&
	       (item->observed.has & FT_OBSERVED_BTH) == 0;
}

/* Packets that a sample stands for, but for itself. */
static inline uint32_t ft_item_unsampled(const struct ft_item *item)
{
	return !item->usual && item->sampled_of > 1 ? item->sampled_of - 1 : 0;
}

/* The packet again, for the few who want all of it: decodes the frame anew. */
void ft_item_decode(const struct ft_item *item, const struct ft_decode_config *config,
		    struct ft_packet *packet);

static inline struct ft_decode_input ft_decode_input_of(const struct ft_frame *frame)
{
	return (struct ft_decode_input){
		.bytes = frame->bytes,
		.captured = frame->captured,
		.wire = frame->original,
		.link_type = frame->link_type,
		.fcs_bytes = frame->fcs_bytes,
		.ts_ns = frame->ts_ns,
	};
}
