#include "judge.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

enum {
	/*
	 * Kept at once, the oldest makes room. Verdicts with nothing to report are soon done with, and so
	 * many that they have a small part to themselves, which stays in the cache.
	 */
	VERDICTS = 1 << 14,
	CLEAN_VERDICTS = 1 << 8,
	VERDICT_SLOTS = 4 * VERDICTS,
};

struct ft_judge {
	const struct ft_map *map;
	uint64_t seed;

	struct ft_judge_epoch epoch;

	/*
	 * Verdicts by key and epoch. A cache: a slot holds the number of the verdict that was put there
	 * last, and a verdict is found by its number while the ring holds it.
	 */
	struct ft_judged *verdicts;
	uint64_t *slots;              /* 0: empty */
	uint64_t last_turn, turns[2]; /* turns: of verdicts with something to report, and without */
	bool tells_all;
};

int ft_judge_create(struct ft_judge **judge, const struct ft_map *map, uint64_t seed)
{
	struct ft_judge *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	*made = (struct ft_judge){
		.map = map,
		.seed = seed,
		.epoch = { .from_ns = FT_TIME_MAX, .to_ns = FT_TIME_MIN }, /* none yet */
		.verdicts = calloc(VERDICTS, sizeof *made->verdicts),
		.slots = calloc(VERDICT_SLOTS, sizeof *made->slots),
	};
	if (made->verdicts == NULL || made->slots == NULL) {
		ft_judge_destroy(made);
		return -ENOMEM;
	}
	*judge = made;
	return 0;
}

void ft_judge_destroy(struct ft_judge *judge)
{
	if (judge == NULL)
		return;
	free(judge->slots);
	free(judge->verdicts);
	free(judge);
}

void ft_judge_tell_all(struct ft_judge *judge)
{
	judge->tells_all = true;
}

/* Capture time as the map counts it. */
static int64_t instant(uint64_t ts_ns)
{
	return ts_ns < INT64_MAX ? (int64_t)ts_ns : INT64_MAX - 1;
}

static void enter_epoch(struct ft_judge *judge, int64_t ts_ns)
{
	struct ft_judge_epoch *epoch = &judge->epoch;

	if (ts_ns >= epoch->from_ns && ts_ns < epoch->to_ns)
		return;
	epoch->number = ft_map_epoch(judge->map, ts_ns, &epoch->from_ns, &epoch->to_ns);
	epoch->salt = ft_mix(judge->seed ^ 0x9e3779b97f4a7c15u, epoch->number + 1);
}

const struct ft_judge_epoch *ft_judge_epoch(const struct ft_judge *judge)
{
	return &judge->epoch;
}

static struct ft_judged *numbered(const struct ft_judge *judge, uint64_t number)
{
	struct ft_judged *judged = &judge->verdicts[number % VERDICTS];

	return judged->number == number && number != 0 ? judged : NULL;
}

static bool has_nothing_to_report(const struct ft_verdict *verdict)
{
	return verdict->rules == 0 && !verdict->undecided && !verdict->grace &&
	       verdict->exception == FT_NONE;
}

/* A number never used before; its remainder is the place in the ring. */
static uint64_t next_number(struct ft_judge *judge, bool clean)
{
	uint64_t turn = judge->turns[clean]++;
	uint64_t place =
		clean ? turn % CLEAN_VERDICTS : CLEAN_VERDICTS + turn % (VERDICTS - CLEAN_VERDICTS);

	return ++judge->last_turn * VERDICTS + place;
}

/* The verdict for a key in the current epoch, from the cache or worked out. */
__attribute__((noinline)) static struct ft_judged *verdict_of(struct ft_judge *judge,
							      const struct ft_check_key *key,
							      int64_t ts_ns)
{
	uint64_t hash = ft_hash(key, sizeof *key, judge->seed) + judge->epoch.number;
	uint64_t *slot = &judge->slots[hash % VERDICT_SLOTS];
	struct ft_judged *judged = numbered(judge, *slot);
	struct ft_verdict verdict;

	if (judged != NULL && judged->epoch == judge->epoch.number &&
	    memcmp(&judged->key, key, sizeof *key) == 0)
		return judged;
	ft_check(judge->map, key, ts_ns, &verdict);
	*slot = next_number(judge, has_nothing_to_report(&verdict));
	judged = &judge->verdicts[*slot % VERDICTS];
	*judged = (struct ft_judged){
		.key = *key,
		.epoch = judge->epoch.number,
		.number = *slot,
		.verdict = verdict,
		.cell = FT_NONE,
	};
	return judged;
}

static struct ft_judged *verdict_of_item(struct ft_judge *judge, const struct ft_item *item)
{
	struct ft_check_key key;

	ft_item_key(item, &key);
	return verdict_of(judge, &key, (int64_t)item->frame->ts_ns);
}

/*
 * The verdict of a flow, kept in its record; NULL if it has nothing to report and its frames are
 * added up in flow->cell.
 */
static struct ft_judged *verdict_of_flow(struct ft_judge *judge, struct ft_flow *flow,
					 const struct ft_item *item, bool needed)
{
	uint64_t rest = (item->judged_by ^ judge->epoch.salt) | 1;
	bool known = flow->judged_by == rest;
	struct ft_judged *judged = NULL;

	if (known && flow->verdict == 0 && flow->cell != FT_NONE && !needed)
		return NULL;
	if (known)
		judged = numbered(judge, flow->verdict);
	if (judged != NULL)
		return judged;
	judged = verdict_of_item(judge, item);
	flow->judged_by = rest;
	flow->cell = FT_NONE;
	flow->verdict = has_nothing_to_report(&judged->verdict) ? 0 : judged->number;
	return judged;
}

/* One whose P_Key may not change. */
static bool is_followed(const struct ft_judge *judge, const struct ft_item *item)
{
	struct ft_check_key key;

	ft_item_key(item, &key);
	return ft_check_follows_pkey(judge->map, &key);
}

static void judge_by_map(struct ft_judge *judge, struct ft_item *item,
			 const struct ft_records *records, const struct ft_judged *judged)
{
	const struct ft_verdict *verdict = &judged->verdict;
	bool changed = records->changed && is_followed(judge, item);

	item->rules = ft_verdict_rules(verdict, changed);
	item->undecided = verdict->undecided;
	item->grace = (item->rules & 1u << FT_RULE_TENANT_GRACE) != 0;
	item->permitted = !changed && verdict->exception != FT_NONE;
}

/* No field of it can be trusted; nothing is looked up. */
static void leave_bad_icrc(struct ft_item *item)
{
	item->undecided = true;
	item->rules = 1u << FT_RULE_DECODE_BAD_ICRC;
}

struct ft_judged *ft_judge_frame(struct ft_judge *judge, struct ft_item *item,
				 const struct ft_records *records)
{
	uint64_t ts_ns = item->frame->ts_ns;
	bool needed = records->changed || judge->tells_all || item->kind != FT_FRAME_JUDGED;
	struct ft_judged *judged;

	if (item->kind == FT_FRAME_NOT_RDMA)
		return NULL;
	item->untimed = ts_ns == FT_TS_UNKNOWN && ft_map_epoch_count(judge->map) > 1;
	if (item->untimed) {
		item->undecided = item->kind != FT_FRAME_NEVER_JUDGED;
		return NULL;
	}
	if (item->kind == FT_FRAME_BAD_ICRC) {
		leave_bad_icrc(item);
		return NULL;
	}
	item->undecided = item->kind == FT_FRAME_BROKEN || item->kind == FT_FRAME_CUT;
	enter_epoch(judge, instant(ts_ns));
	judged = records->part == NULL ? verdict_of_item(judge, item)
				       : verdict_of_flow(judge, records->part, item, needed);
	if (judged != NULL && item->kind == FT_FRAME_JUDGED)
		judge_by_map(judge, item, records, judged);
	return judged;
}

struct ft_judged *ft_judge_look_up(struct ft_judge *judge, const struct ft_item *item)
{
	enter_epoch(judge, instant(item->frame->ts_ns));
	return verdict_of_item(judge, item);
}
