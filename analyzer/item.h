#pragma once

#include <capture/frame.h>
#include <decode/decode.h>
#include <engine/frame_key.h>
#include <flow/observed.h>
#include <flow/table.h>
#include <partition/check.h>

#include "connection_setup.h"
#include "suspects.h"

/*
 * A packet on its way through the engine, without the packet: what was decoded of it, then what the
 * worker made of it. Frames have one, sFlow datagrams several.
 */
struct ft_item {
	const struct ft_frame *frame;
	uint64_t ts_ns;      /* the frame's; 0: it has none */
	uint64_t judged_by;  /* digest of what of the key flow_key does not have */
	uint16_t pkey, vlan; /* as in the key, like base and known below */
	uint16_t base;
	uint16_t sub; /* 0: the frame's first packet, which places the frame in the totals */

	/* decoded */
	uint8_t truncated; /* enum ft_truncated */
	uint8_t known;     /* enum ft_needs */
	uint8_t kind;      /* enum ft_frame_kind */
	bool has_flow;     /* flow_key is filled */
	bool pause;        /* a pause frame, and the frame's only packet */
	bool connected;    /* RC, UC, RD or XRC between ordinary queue pairs */
	bool followed;     /* of an ordinary queue pair, and to be trusted: the tracker sees it */
	bool usual;        /* `key` is not filled: the rest says what it would be */
	uint32_t record;   /* of the flow table, that most likely is its; 0: none yet */
	uint32_t hash;     /* of flow_key */
	uint32_t dest_qp;  /* with FT_NEED_DEST_QP in `known` */
	struct ft_flow_key flow_key;
	struct ft_observed observed;

	/* judged and followed */
	bool quiet;        /* nothing to tell, no mark, no CNP: one more of its kind */
	uint32_t rules;    /* violations and notes, bit per enum ft_rule */
	uint32_t from, to; /* tenant pair; FT_NONE: unknown */
	bool gap;          /* packets were proved lost by the mirror: ft_item_more.gap */
	bool copy;         /* made by the mirror: counted as that and nothing else */
	bool undecided, grace, untimed;
	bool permitted; /* a crossing that an exception of the map permits */

	/* seldom touched, but for the kind of set-up */
	struct ft_connection_setup setup;
	struct ft_check_key key; /* ft_item_key() */
};

/* What only frames with something to tell have, beside their items. */
struct ft_item_more {
	struct ft_verdict verdict;
	bool has_verdict;
	struct ft_step_gap gap;
	uint64_t flow; /* digest of the flow's key; 0: none */
	struct ft_suspicion suspicion;
};

/* What to judge the packet by. */
void ft_item_key(const struct ft_item *item, struct ft_check_key *key);

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
