#pragma once

#include <engine/engine.h>
#include <flow/copies.h>
#include <flow/detail.h>
#include <flow/loss.h>
#include <flow/table.h>
#include <flow/tracker.h>
#include <nccl/follower.h>

#include "bases.h"
#include "block.h"
#include "connections.h"
#include "firsts.h"
#include "floods.h"
#include "gone_by.h"
#include "judge.h"
#include "suspects.h"
#include "tally.h"
#include "watched_pairs.h"
#include "watched_slots.h"

/*
 * One of the engines that share the frames: the half-connections of its address pairs, and all that is
 * followed, judged and counted of them. Workers have nothing in common but the map.
 */
enum { FT_WORKER_FRAMES = 64 }; /* of a batch: their packets stay in the first-level cache */

struct ft_worker {
	const struct ft_engine_config *config;
	const struct ft_map *map; /* NULL: nothing is judged */
	struct ft_flow_table *flows;
	struct ft_tracker *tracker;
	struct ft_details *details; /* NULL: not asked for */
	struct ft_copies *copies;
	struct ft_connections *connections;
	struct ft_suspects *suspects; /* with a map */
	struct ft_firsts firsts;      /* likewise */
	struct ft_floods floods;      /* likewise */
	struct ft_gone_by gone_by;    /* frames, with a map and where evidence is written */
	struct ft_bases bases;        /* likewise */
	struct ft_judge *judge;       /* with a map */
	const struct ft_judge_epoch *epoch;
	const struct ft_map *next_map; /* prepared, not yet entered; NULL: none */
	struct ft_judge *next_judge;
	struct ft_loss_evidence loss;
	struct ft_tally tally;
	struct ft_batch batch; /* what it works on */
	uint32_t place;        /* of the item at work, among 64 */
	uint64_t expired;      /* half-connections that fell silent and began anew */
	bool map_changes;      /* with time */
	bool map_is_far;       /* it pays to fetch from memory what it will be asked */
	bool quiet;            /* frames of which there is nothing to tell are only counted */
	bool tells_all;        /* every item's verdict is kept */
	bool watches;          /* for NCCL: items are chosen for its follower .. */
	const struct ft_nccl_way *way; /* .. which looks there for them soon; NULL: it does not */
	struct ft_watched_pairs watched;
	struct ft_watched_slots slots; /* likewise, before it is known */
};

/* 0, -ENOMEM or -EINVAL. The configuration and the map must outlive it. */
int ft_worker_create(struct ft_worker **worker, const struct ft_engine_config *config,
		     const struct ft_map *map);
void ft_worker_destroy(struct ft_worker *worker); /* NULL is fine */

/*
 * A map to come: what it needs is made. 0; or -ENOMEM and all as before. Then ft_worker_enter_map() goes over to it,
 * between two runs; `exceptions`: the new indices of those noted so far.
 */
int ft_worker_prepare_map(struct ft_worker *worker, const struct ft_map *map, uint64_t seed);
void ft_worker_enter_map(struct ft_worker *worker, const uint32_t *exceptions);

/* From now on every item's verdict is kept, for an observer. */
void ft_worker_tell_all(struct ft_worker *worker);

/* Judge, follow and count the packets in its batch, which are of its address pairs, in order. */
void ft_worker_run(struct ft_worker *worker);
