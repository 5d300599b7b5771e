#pragma once

#include <flow/table.h>
#include <partition/check.h>

#include "item.h"

/*
 * Judging frames: the map's verdict on what a frame is, reached once per half-connection and map
 * epoch and kept in the flow record, plus the rules that look back at the half-connection.
 */

/* A verdict and what the counts hang on it, shared by every frame with the same key in one epoch. */
struct ft_judged {
	struct ft_check_key key;
	uint32_t epoch;
	uint64_t hash;    /* of the key, for the judge */
	uint64_t subject; /* ft_subject_digest(); 0: nobody has asked yet */
	uint32_t number;  /* from 1, flow records hold it; 0: nothing to report */
	struct ft_verdict verdict;
	uint32_t cell; /* of the totals; FT_NONE until first counted */
	bool exception_noted;
};

struct ft_judge;

/* `map` must outlive it. 0 or -ENOMEM. */
int ft_judge_create(struct ft_judge **judge, const struct ft_map *map, uint64_t seed);
void ft_judge_destroy(struct ft_judge *judge); /* NULL is fine */

/* The records of a half-connection that a frame belongs to. */
struct ft_records {
	struct ft_flow *whole; /* of the half-connection; NULL: none known */
	struct ft_flow *part;  /* of its P_Key base and VLAN: `whole` for those first seen */
	bool changed;          /* the P_Key base is not the first one .. */
	uint16_t first_base;   /* .. which was this; else not set */
	bool unsure; /* its PSN alone says that in another VLAN it is the half-connection's */
};

/*
 * Fills rules, undecided, grace, untimed and permitted of the item. Returns what the frame was judged by, good
 * until the next call; NULL if nothing of it could be looked up, or if records->part->cell says it all.
 */
struct ft_judged *ft_judge_frame(struct ft_judge *judge, struct ft_item *item,
				 const struct ft_records *records);

/*
 * A usual item whose time is known or does not matter, the first of a half-connection: true if its two ends are at home
 * in one tenant, as other half-connections showed. Then the verdict is in the record, and has nothing to report.
 */
bool ft_judge_knows_home(struct ft_judge *judge, const struct ft_item *item, struct ft_flow *flow);

/* Hint that ft_judge_knows_home() is asked about a usual item soon. */
void ft_judge_prefetch_home(const struct ft_judge *judge, const struct ft_item *item);

/* A usual item was judged by this and counted in judged->cell. */
void ft_judge_learn_home(struct ft_judge *judge, const struct ft_item *item,
			 const struct ft_judged *judged);

/* The verdict on a frame of a known half-connection, for who has something to say about it after all. */
struct ft_judged *ft_judge_look_up(struct ft_judge *judge, const struct ft_item *item);

/* A stretch of time in which the map does not change. */
struct ft_judge_epoch {
	int64_t from_ns, to_ns; /* [from, to) */
	uint32_t number;
	uint64_t salt; /* of digests that hold in it only */
};

/* The one in which the frame before was judged; lives as long as the judge. */
const struct ft_judge_epoch *ft_judge_epoch(const struct ft_judge *judge);

/* The lowest bits of ft_flow.judged_by, which are no digest. */
enum ft_judged_bits {
	FT_JUDGED = 1 << 0, /* else nothing is known */
	/* nothing to report, its cell is known, and P_Key and VLAN in the digest are the record's own */
	FT_JUDGED_SETTLED = 1 << 1,
	FT_JUDGED_BITS = FT_JUDGED | FT_JUDGED_SETTLED,
};

/* Of a settled half-connection. */
static inline uint64_t ft_judged_settled(const struct ft_judge_epoch *epoch,
					 const struct ft_item *item)
{
	return (item->judged_by ^ epoch->salt) | FT_JUDGED_BITS;
}

static inline bool ft_judge_is_now(const struct ft_judge_epoch *epoch, const struct ft_item *item)
{
	int64_t ts_ns = (int64_t)item->observed.ts_ns;

	return ts_ns >= epoch->from_ns && ts_ns < epoch->to_ns;
}

/*
 * Of usual items: true if the half-connection's verdict is known to be about this frame, too, and to have nothing to
 * report; then part->cell is known. Otherwise ask ft_judge_frame().
 */
static inline bool ft_judge_has_nothing(const struct ft_judge_epoch *epoch,
					const struct ft_item *item, const struct ft_flow *part)
{
	return (part->judged_by | FT_JUDGED_SETTLED) == ft_judged_settled(epoch, item) &&
	       part->verdict == 0 && part->cell != UINT32_MAX && ft_judge_is_now(epoch, item);
}

/*
 * Most frames: that, and the frame has the P_Key base and VLAN of the record. Only once ft_judge_settle() was told so;
 * whoever changes those of a record calls ft_judge_unsettle().
 */
static inline bool ft_judge_is_settled(const struct ft_judge_epoch *epoch,
				       const struct ft_item *item, const struct ft_flow *flow)
{
	return flow->judged_by == ft_judged_settled(epoch, item) && ft_judge_is_now(epoch, item);
}

static inline void ft_judge_settle(struct ft_flow *flow)
{
	flow->judged_by |= FT_JUDGED_SETTLED;
}

static inline void ft_judge_unsettle(struct ft_flow *flow)
{
	flow->judged_by &= ~(uint64_t)FT_JUDGED_SETTLED;
}

/* From now on the verdict is never left out, at some cost per frame: for who wants to show every verdict. */
void ft_judge_tell_all(struct ft_judge *judge);
