#pragma once

#include <capture/frame.h>
#include <decode/packet.h>
#include <engine/frame_key.h>
#include <flow/table.h>
#include <partition/check.h>

/*
 * Judging frames: the map's verdict on what a frame is, reached once per half-connection and map
 * epoch and kept in the flow record, plus the rules that look back at the half-connection.
 */

#define FT_JUDGED_FINDINGS 8 /* most rules a frame can break at once */

/* A verdict and what the accounts hang on it, shared by every frame with the same key in one epoch. */
struct ft_judged {
	struct ft_check_key key;
	uint32_t epoch;
	uint64_t number; /* from 1; flow records hold it */
	struct ft_verdict verdict;
	uint32_t cell; /* of the totals; FT_NONE until first counted */
	bool exception_noted;
	uint8_t finding_count;
	uint8_t finding_rules[FT_JUDGED_FINDINGS];
	uint32_t findings[FT_JUDGED_FINDINGS];
};

struct ft_judgement {
	enum ft_frame_kind kind;
	uint32_t rules; /* violations and notes, bit per enum ft_rule */
	bool undecided, grace;
	bool permitted; /* a crossing that an exception of the map permits */
	bool untimed;   /* undecided because the map changes with time and the frame has none */
	struct ft_judged
		*judged; /* NULL: nothing of the frame could be looked up, or `cell` says it all */
	uint32_t cell;   /* of the totals, if the flow's frames break no rule; else FT_NONE */
	struct ft_flow *flow; /* NULL: no half-connection known */
};

/* What a frame needs looked up: filled before the look-ups, so that they can be prefetched. */
struct ft_lookup {
	enum ft_frame_kind kind;
	bool has_flow, connected; /* connected: RC, UC, RD or XRC between ordinary queue pairs */
	uint32_t hash;
	uint32_t setup_qpn; /* queue pair that this CM message sets up at its sender; 0: none */
	struct ft_flow_key flow;
	struct ft_check_key key;
};

struct ft_judge;

/* `map` must outlive it. 0, -EINVAL or -ENOMEM. */
int ft_judge_create(struct ft_judge **judge, const struct ft_map *map, uint32_t flows,
		    uint64_t flow_timeout_ns, uint64_t seed);
void ft_judge_destroy(struct ft_judge *judge);

/*
 * Three steps before the judging, each for a whole batch of packets: what the one stored has arrived
 * in the cache, and is no longer on its way to memory, when the next one reads it. `frame`: the
 * `captured` bytes that the packet was decoded from.
 */
void ft_judge_prepare(const struct ft_packet *packet, const uint8_t *frame, uint32_t captured,
		      struct ft_lookup *lookup);
void ft_judge_locate(const struct ft_judge *judge, struct ft_lookup *lookup);
void ft_judge_prefetch(const struct ft_judge *judge, const struct ft_lookup *lookup);

/* Pointers in *judgement stay good until the next call. `ts_ns` since 1970, or FT_TS_UNKNOWN. */
void ft_judge_frame(struct ft_judge *judge, const struct ft_lookup *lookup, uint64_t ts_ns,
		    struct ft_judgement *judgement);

/* From now on `judged` is never left out, at some cost per frame: for who wants to show every verdict. */
void ft_judge_tell_all(struct ft_judge *judge);

struct ft_flow_table *ft_judge_flows(struct ft_judge *judge);
