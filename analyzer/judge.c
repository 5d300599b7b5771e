#include "judge.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

#include "homes.h"

enum {
	VERDICTS = 1 << 14, /* with something to report, kept at once: the oldest makes room */
	VERDICT_SLOTS = 4 * VERDICTS,
	CLEAN_VERDICTS = 1 << 8, /* with nothing to report: so few that they stay in the cache */
};

#define NO_EPOCH UINT32_MAX

struct ft_judge {
	const struct ft_map *map;
	uint64_t seed;

	struct ft_judge_epoch epoch;
	struct ft_homes homes;

	/*
	 * Verdicts by key and epoch, a cache. One with nothing to report has a place of its own, which it
	 * loses to the next that has the same. Of the others, a slot holds the number of the verdict that
	 * was put there last, which is found by that while the ring holds it.
	 */
	struct ft_judged *clean;
	struct ft_judged *verdicts;
	uint32_t *slots;      /* 0: empty */
	uint32_t last_number; /* begins anew behind its end: then none is kept of that number */
	bool tells_all;
};

int ft_judge_create(struct ft_judge **judge, const struct ft_map *map, uint64_t seed)
{
	struct ft_judge *made = calloc(1, sizeof *made);
	int error;

	if (made == NULL)
		return -ENOMEM;
	*made = (struct ft_judge){
		.map = map,
		.seed = seed,
		.epoch = { .from_ns = FT_TIME_MAX, .to_ns = FT_TIME_MIN }, /* none yet */
		.clean = calloc(CLEAN_VERDICTS, sizeof *made->clean),
		.verdicts = calloc(VERDICTS, sizeof *made->verdicts),
		.slots = calloc(VERDICT_SLOTS, sizeof *made->slots),
	};
	error = ft_homes_init(&made->homes, map, seed);
	if (error != 0 || made->clean == NULL || made->verdicts == NULL || made->slots == NULL) {
		ft_judge_destroy(made);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < CLEAN_VERDICTS; i++)
		made->clean[i].epoch = NO_EPOCH;
	*judge = made;
	return 0;
}

void ft_judge_destroy(struct ft_judge *judge)
{
	if (judge == NULL)
		return;
	ft_homes_free(&judge->homes);
	free(judge->slots);
	free(judge->verdicts);
	free(judge->clean);
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

static struct ft_judged *numbered(const struct ft_judge *judge, uint32_t number)
{
	struct ft_judged *judged = &judge->verdicts[number % VERDICTS];

	return judged->number == number && number != 0 ? judged : NULL;
}

static bool has_nothing_to_report(const struct ft_verdict *verdict)
{
	return verdict->rules == 0 && !verdict->undecided && !verdict->grace &&
	       verdict->exception == FT_NONE;
}

/* What a frame is judged by. */
struct question {
	struct ft_check_key key;
	uint64_t hash; /* of the key */
	int64_t ts_ns;
};

static bool answers(const struct ft_judged *judged, const struct question *question, uint32_t epoch)
{
	return judged->hash == question->hash && judged->epoch == epoch &&
	       memcmp(&judged->key, &question->key, sizeof judged->key) == 0;
}

/* The verdict in the current epoch, if it is kept. */
static struct ft_judged *find(const struct ft_judge *judge, const struct question *question)
{
	struct ft_judged *judged = &judge->clean[question->hash % CLEAN_VERDICTS];

	if (answers(judged, question, judge->epoch.number))
		return judged;
	if (judge->last_number == 0)
		return NULL;
	judged = numbered(judge, judge->slots[question->hash % VERDICT_SLOTS]);
	return judged != NULL && answers(judged, question, judge->epoch.number) ? judged : NULL;
}

/* A place for a verdict, with its number. */
static struct ft_judged *make_room(struct ft_judge *judge, uint64_t hash, bool clean)
{
	struct ft_judged *judged = &judge->clean[hash % CLEAN_VERDICTS];

	if (clean)
		return judged;
	if (++judge->last_number == 0)
		judge->last_number = 1;
	judged = &judge->verdicts[judge->last_number % VERDICTS];
	judged->number = judge->last_number;
	judge->slots[hash % VERDICT_SLOTS] = judge->last_number;
	return judged;
}

static struct ft_judged *work_out(struct ft_judge *judge, const struct question *question)
{
	struct ft_verdict verdict;
	struct ft_judged *judged;

	ft_check(judge->map, &question->key, question->ts_ns, &verdict);
	judged = make_room(judge, question->hash, has_nothing_to_report(&verdict));
	judged->key = question->key;
	judged->hash = question->hash;
	judged->epoch = judge->epoch.number;
	judged->verdict = verdict;
	judged->subject = 0;
	judged->cell = FT_NONE;
	judged->exception_noted = false;
	return judged;
}

/* Of the key; what an item with a flow has already is as good. */
static uint64_t hash_of(const struct ft_judge *judge, const struct ft_item *item,
			const struct ft_check_key *key)
{
	const struct ft_observed *observed = &item->observed;

	if (!item->has_flow)
		return ft_hash(key, sizeof *key, judge->seed);
	return ft_mix(observed->pair ^ (observed->has & FT_OBSERVED_UPWARD) ^ judge->seed,
		      item->judged_by);
}

/* The verdict in the current epoch, kept or worked out. */
__attribute__((noinline)) static struct ft_judged *verdict_of(struct ft_judge *judge,
							      const struct ft_item *item)
{
	struct question question = { .ts_ns = instant(item->frame->ts_ns) };
	struct ft_judged *judged;

	ft_item_key(item, &question.key);
	question.hash = hash_of(judge, item, &question.key);
	judged = find(judge, &question);
	return judged != NULL ? judged : work_out(judge, &question);
}

/*
 * The verdict of a flow, kept in its record; NULL if it has nothing to report and its frames are
 * added up in flow->cell.
 */
static struct ft_judged *verdict_of_flow(struct ft_judge *judge, struct ft_flow *flow,
					 const struct ft_item *item, bool needed)
{
	uint64_t settled = ft_judged_settled(&judge->epoch, item);
	bool known = (flow->judged_by | FT_JUDGED_SETTLED) == settled;
	struct ft_judged *judged = NULL;

	if (known && flow->verdict == 0 && flow->cell != FT_NONE && !needed)
		return NULL;
	if (known)
		judged = numbered(judge, flow->verdict);
	if (judged != NULL)
		return judged;
	judged = verdict_of(judge, item);
	flow->judged_by = settled & ~(uint64_t)FT_JUDGED_SETTLED;
	flow->cell = FT_NONE;
	flow->verdict = judged->number;
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
	item->undecided = item->kind == FT_FRAME_BROKEN || item->kind == FT_FRAME_CUT ||
			  item->kind == FT_FRAME_UNREAD;
	enter_epoch(judge, instant(ts_ns));
	judged = records->part == NULL ? verdict_of(judge, item)
				       : verdict_of_flow(judge, records->part, item, needed);
	if (judged != NULL && item->kind == FT_FRAME_JUDGED)
		judge_by_map(judge, item, records, judged);
	return judged;
}

bool ft_judge_knows_home(struct ft_judge *judge, const struct ft_item *item, struct ft_flow *flow)
{
	uint32_t cell;

	enter_epoch(judge, instant(item->observed.ts_ns));
	cell = ft_homes_find(&judge->homes, item, judge->epoch.number);
	if (cell == FT_NONE)
		return false;
	flow->judged_by = ft_judged_settled(&judge->epoch, item) & ~(uint64_t)FT_JUDGED_SETTLED;
	flow->verdict = 0;
	flow->cell = cell;
	return true;
}

void ft_judge_prefetch_home(const struct ft_judge *judge, const struct ft_item *item)
{
	ft_homes_prefetch(&judge->homes, item);
}

void ft_judge_learn_home(struct ft_judge *judge, const struct ft_item *item,
			 const struct ft_judged *judged)
{
	if (judged->verdict.at_home)
		ft_homes_learn(&judge->homes, item, judged->epoch, judged->cell);
}

struct ft_judged *ft_judge_look_up(struct ft_judge *judge, const struct ft_item *item)
{
	enter_epoch(judge, instant(item->frame->ts_ns));
	return verdict_of(judge, item);
}
