#pragma once

#include <capture/pcapng_writer.h>
#include <capture/source.h>
#include <engine/engine.h>
#include <nccl/follower.h>

#include "block.h"
#include "findings.h"
#include "framing_kept.h"
#include "framing_rules.h"

/*
 * NCCL's framing as the engine follows it: packets go to the follower in the order of the capture, and what it finds
 * wrong, and who talks to whom, become findings (framing_findings.c); so does who is in one communicator, in each report
 * (framing_members.c).
 */

/* What a finding says beyond its subject, of its first frame. */
struct ft_framing_note {
	double certainty;
	char text[192];
};

/* Where a connection's packets were seen: what tells tenants apart besides addresses. */
struct ft_framing_tags {
	uint16_t pkey, vlan;
	bool has_vni;
	uint32_t vni;
};

/* What is remembered of a connection. */
struct ft_framing_line {
	struct ft_framing_tags tags;
	bool crosses; /* FT_RULE_NCCL_CROSSES_TENANTS holds of it */
	struct ft_kept_frame kept[FT_KEPT_FRAMES];
};

struct ft_framing {
	struct ft_nccl_follower *follower;
	struct ft_nccl_way way; /* of the follower */
	const struct ft_decode_config *decode;
	const struct ft_map *map; /* NULL: who may talk to whom is not known */
	struct ft_findings findings;
	struct ft_framing_note *notes; /* beside findings.items */
	struct ft_framing_line *lines; /* of connections, by id */
	uint32_t line_count;
	bool marking; /* rows of half-connections are asked for */
	struct ft_framing_marks marks;
	uint32_t kept_bytes; /* of their frames */
	struct ft_held_frames held;
	struct ft_latest_frames latest;  /* where evidence is written */
	struct ft_pcapng_writer *writer; /* of evidence; NULL: none is written */
	const struct ft_source *source;  /* of the frames shown last */
	const struct ft_item *item;      /* the follower is looking at */
	uint32_t noted; /* finding that the item was the last to be noted in; FT_NONE: none */
	struct ft_packet packet; /* that one's, if it is not usual */
	bool awake;        /* there is NCCL in the capture: strangers may have to do with it */
	bool glances;      /* .. and no VLAN is apart: no more need be asked before a glance */
	bool shows;        /* ft_framing_shown() is asked of every packet */
	bool one_table;    /* of half-connections: one worker has them all */
	uint32_t renewals; /* batches in which other half-connections took records of it, and 1 */
	uint64_t reused;   /* of these records, by all batches */
	uint32_t lap;      /* upper half of the newest frame's number */
	uint32_t since; /* of quiet and steady items of the batch at hand: struct ft_nccl_glimpse */
	bool chosen;    /* it is shown only packets with one of the bits FT_FRAMING_INTEREST */
	bool has_apart;
	/* bits: VLANs with addresses and queue pairs that others have, too; that only look so: connections cross them */
	uint64_t apart[64], joined[64];
	bool has_seen;
	struct ft_nccl_seen seen; /* the packet seen last */
};

/* 0 or -ENOMEM. The configuration and the map must outlive it. */
int ft_framing_create(struct ft_framing **framing, const struct ft_engine_config *config,
		      const struct ft_map *map);
void ft_framing_destroy(struct ft_framing *framing); /* NULL is fine */

/* From now on the map is another one; the one before must live on. */
void ft_framing_change_map(struct ft_framing *framing, const struct ft_map *map);

/* The first frames of each finding are written there from now on, with its name; NULL: nowhere. */
void ft_framing_keep_evidence(struct ft_framing *framing, struct ft_pcapng_writer *writer);

/* ft_framing_shown() will be asked: no packet goes past it the short way. */
void ft_framing_show_all(struct ft_framing *framing);

/* Before items of a batch, which is not empty: of how many half-connections others took the record, this batch included. */
void ft_framing_reuse(struct ft_framing *framing, uint64_t reused, const struct ft_batch *batch);

/* Where it looks for packets by the record of their half-connection; NULL: it does not, or not by that. */
const struct ft_nccl_way *ft_framing_way(const struct ft_framing *framing);

/* Show it a packet. 0, or -ENOMEM of the writer. */
int ft_framing_see(struct ft_framing *framing, const struct ft_source *source,
		   const struct ft_item *item);

/* The same for those of a batch's items from..to, which are quiet, that it is to see. */
int ft_framing_see_quiet(struct ft_framing *framing, const struct ft_source *source,
			 const struct ft_batch *batch, unsigned from, unsigned to);

/* What the packet seen last is, while its item lives; false: nothing of NCCL's framing. After ft_framing_show_all(). */
bool ft_framing_shown(const struct ft_framing *framing, struct ft_nccl_shown *shown);

/* Findings about members of one communicator that may not talk to each other: made when a report is. */
void ft_framing_judge_communicators(struct ft_framing *framing, const struct ft_source *source);

/* Of two requests under one PSN, in these frames: one is named here, and the other one is not. */
enum ft_forged ft_framing_forged_of(const struct ft_framing *framing, uint64_t earlier,
				    uint64_t later);

/*
 * Rules `nccl.*` that hold of a half-connection, of which `connection` is NCCL's; FT_UNKNOWN: none. An engine with
 * config.details knows them.
 */
struct ft_framing_told ft_framing_told_of(const struct ft_framing *framing,
					  const struct ft_flow *flow, uint64_t connection);

/* How sure a finding is: severe only if its certainty is. */
enum { FT_FRAMING_SURE_PERCENT = 80 };
