#include "judge.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <decode/opcode.h>
#include <flow/hash.h>

#include "connection_setup.h"

enum {
	/*
	 * Kept at once, the oldest makes room. Verdicts with nothing to report are soon done with, and so
	 * many that they have a small part to themselves, which stays in the cache.
	 */
	VERDICTS = 1 << 14,
	CLEAN_VERDICTS = 1 << 11,
	VERDICT_SLOTS = 4 * VERDICTS,
};

struct ft_judge {
	const struct ft_map *map;
	struct ft_flow_table *flows;
	uint64_t flow_timeout_ns, seed;

	/* the stretch of time in which the map does not change */
	int64_t epoch_from_ns, epoch_to_ns;
	uint32_t epoch;

	/*
	 * Verdicts by key and epoch. A cache: a slot holds the number of the verdict that was put there
	 * last, and a verdict is found by its number while the ring holds it.
	 */
	struct ft_judged *verdicts;
	uint64_t *slots;              /* 0: empty */
	uint64_t last_turn, turns[2]; /* turns: of verdicts with something to report, and without */
	bool tells_all;
};

int ft_judge_create(struct ft_judge **judge, const struct ft_map *map, uint32_t flows,
		    uint64_t flow_timeout_ns, uint64_t seed)
{
	struct ft_judge *made = calloc(1, sizeof *made);
	int error = -ENOMEM;

	if (made == NULL)
		return error;
	*made = (struct ft_judge){
		.map = map,
		.flow_timeout_ns = flow_timeout_ns,
		.seed = seed,
		.epoch_from_ns = FT_TIME_MAX, /* no epoch yet */
		.epoch_to_ns = FT_TIME_MIN,
	};
	made->verdicts = calloc(VERDICTS, sizeof *made->verdicts);
	if (made->verdicts == NULL)
		goto free_judge;
	made->slots = calloc(VERDICT_SLOTS, sizeof *made->slots);
	if (made->slots == NULL)
		goto free_verdicts;
	error = ft_flow_table_create(&made->flows, flows, seed);
	if (error != 0)
		goto free_slots;
	*judge = made;
	return 0;

free_slots:
	free(made->slots);
free_verdicts:
	free(made->verdicts);
free_judge:
	free(made);
	return error;
}

void ft_judge_destroy(struct ft_judge *judge)
{
	if (judge == NULL)
		return;
	ft_flow_table_destroy(judge->flows);
	free(judge->slots);
	free(judge->verdicts);
	free(judge);
}

void ft_judge_tell_all(struct ft_judge *judge)
{
	judge->tells_all = true;
}

struct ft_flow_table *ft_judge_flows(struct ft_judge *judge)
{
	return judge->flows;
}

static bool is_connected(const struct ft_packet *packet)
{
	enum ft_service service = ft_opcode_service(packet->opcode);

	return packet->dest_qp >= 2 &&
	       (service == FT_RC || service == FT_UC || service == FT_RD || service == FT_XRC);
}

static void key_of_flow(uint32_t dest_qp, bool connected, const struct ft_check_key *key,
			struct ft_flow_key *flow)
{
	*flow = (struct ft_flow_key){
		.dest_qp = dest_qp,
		.vni = key->has_vni ? key->vni : FT_FLOW_NO_VNI,
		.base = connected ? FT_FLOW_ANY_BASE : key->pkey & 0x7fff,
		.vlan = key->vlan,
		.by_lid = !key->has_gids,
	};
	if (key->has_gids) {
		memcpy(flow->src, key->src, sizeof flow->src);
		memcpy(flow->dst, key->dst, sizeof flow->dst);
	} else {
		memcpy(flow->src + 14, &key->slid, sizeof key->slid);
		memcpy(flow->dst + 14, &key->dlid, sizeof key->dlid);
	}
}

void ft_judge_prepare(const struct ft_packet *packet, const uint8_t *frame, uint32_t captured,
		      struct ft_lookup *lookup)
{
	const unsigned needed = FT_NEED_ADDRESSES | FT_NEED_PKEY | FT_NEED_DEST_QP;

	lookup->kind = ft_frame_key(packet, frame, captured, &lookup->key);
	lookup->setup_qpn = 0;
	lookup->has_flow = (lookup->kind == FT_FRAME_JUDGED || lookup->kind == FT_FRAME_BAD_ICRC) &&
			   (lookup->key.known & needed) == needed;
	if (!lookup->has_flow)
		return;
	lookup->connected = is_connected(packet);
	lookup->setup_qpn = ft_connection_setup_qpn(packet, frame);
	key_of_flow(packet->dest_qp, lookup->connected, &lookup->key, &lookup->flow);
}

void ft_judge_locate(const struct ft_judge *judge, struct ft_lookup *lookup)
{
	if (!lookup->has_flow)
		return;
	lookup->hash = ft_flow_hash(judge->flows, &lookup->flow);
	ft_flow_prefetch_slot(judge->flows, lookup->hash);
}

void ft_judge_prefetch(const struct ft_judge *judge, const struct ft_lookup *lookup)
{
	if (lookup->has_flow)
		ft_flow_prefetch_record(judge->flows, lookup->hash);
}

/* Capture time as the map counts it. */
static int64_t instant(uint64_t ts_ns)
{
	return ts_ns < INT64_MAX ? (int64_t)ts_ns : INT64_MAX - 1;
}

static void enter_epoch(struct ft_judge *judge, int64_t ts_ns)
{
	if (ts_ns >= judge->epoch_from_ns && ts_ns < judge->epoch_to_ns)
		return;
	judge->epoch = ft_map_epoch(judge->map, ts_ns, &judge->epoch_from_ns, &judge->epoch_to_ns);
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
	uint64_t hash = ft_hash(key, sizeof *key, judge->seed) + judge->epoch;
	uint64_t *slot = &judge->slots[hash % VERDICT_SLOTS];
	struct ft_judged *judged = numbered(judge, *slot);
	struct ft_verdict verdict;

	if (judged != NULL && judged->epoch == judge->epoch &&
	    memcmp(&judged->key, key, sizeof *key) == 0)
		return judged;
	ft_check(judge->map, key, ts_ns, &verdict);
	*slot = next_number(judge, has_nothing_to_report(&verdict));
	judged = &judge->verdicts[*slot % VERDICTS];
	*judged = (struct ft_judged){
		.key = *key,
		.epoch = judge->epoch,
		.number = *slot,
		.verdict = verdict,
		.cell = FT_NONE,
	};
	return judged;
}

/* Digest of what the verdict depends on besides the flow's own key, and of the epoch; never 0. */
static uint64_t judged_by(const struct ft_judge *judge, const struct ft_check_key *key)
{
	const size_t shared = offsetof(struct ft_check_key, has_vni);

	return ft_hash((const uint8_t *)key + shared, sizeof *key - shared,
		       judge->seed + judge->epoch) |
	       1;
}

/*
 * The verdict of a flow, kept in its record; NULL if it has nothing to report and its frames are
 * added up in flow->cell.
 */
static struct ft_judged *verdict_of_flow(struct ft_judge *judge, struct ft_flow *flow,
					 const struct ft_check_key *key, bool needed, int64_t ts_ns)
{
	uint64_t rest = judged_by(judge, key);
	bool known = flow->judged_by == rest;
	struct ft_judged *judged = NULL;

	if (known && flow->verdict == 0 && flow->cell != FT_NONE && !needed)
		return NULL;
	if (known)
		judged = numbered(judge, flow->verdict);
	if (judged != NULL)
		return judged;
	judged = verdict_of(judge, key, ts_ns);
	flow->judged_by = rest;
	flow->cell = FT_NONE;
	flow->verdict = has_nothing_to_report(&judged->verdict) ? 0 : judged->number;
	return judged;
}

/*
 * The record of the frame's half-connection. A second P_Key base on the same half-connection has a
 * record of its own; *changed says that this is one.
 */
static struct ft_flow *flow_of(struct ft_judge *judge, const struct ft_lookup *lookup,
			       uint64_t ts_ns, bool *changed)
{
	uint16_t base = lookup->key.pkey & 0x7fff;
	struct ft_flow *flow =
		ft_flow_find_or_create(judge->flows, &lookup->flow, lookup->hash, ts_ns);
	bool silent = ts_ns > flow->last_ns && ts_ns - flow->last_ns > judge->flow_timeout_ns;
	struct ft_flow_key other;

	if (ts_ns > flow->last_ns)
		flow->last_ns = ts_ns;
	if (!lookup->connected)
		return flow;
	if (flow->first_base == FT_FLOW_NO_BASE || silent)
		flow->first_base = base;
	if (flow->first_base == base)
		return flow;
	*changed = true;
	other = lookup->flow;
	other.base = base;
	return ft_flow_find_or_create(judge->flows, &other, ft_flow_hash(judge->flows, &other),
				      ts_ns);
}

/* A connection set up anew may use another P_Key on the same queue pair. */
__attribute__((noinline)) static void follow_setup(struct ft_judge *judge,
						   const struct ft_lookup *lookup)
{
	struct ft_flow_key key = lookup->flow;
	struct ft_flow *flow;

	memcpy(key.src, lookup->flow.dst, sizeof key.src);
	memcpy(key.dst, lookup->flow.src, sizeof key.dst);
	key.dest_qp = lookup->setup_qpn;
	key.base = FT_FLOW_ANY_BASE;
	flow = ft_flow_find(judge->flows, &key, ft_flow_hash(judge->flows, &key));
	if (flow != NULL)
		flow->first_base = FT_FLOW_NO_BASE;
}

static void judge_by_map(struct ft_judge *judge, const struct ft_lookup *lookup, uint64_t ts_ns,
			 struct ft_judgement *judgement)
{
	bool changed = false;
	const struct ft_verdict *verdict;

	if (lookup->has_flow) {
		judgement->flow = flow_of(judge, lookup, ts_ns, &changed);
		judgement->judged = verdict_of_flow(judge, judgement->flow, &lookup->key,
						    changed || judge->tells_all, (int64_t)ts_ns);
	} else {
		judgement->judged = verdict_of(judge, &lookup->key, (int64_t)ts_ns);
	}
	if (judgement->judged == NULL) {
		judgement->cell = judgement->flow->cell;
		return;
	}
	if (lookup->kind != FT_FRAME_JUDGED)
		return;
	verdict = &judgement->judged->verdict;
	changed = changed && ft_check_follows_pkey(judge->map, &lookup->key);
	judgement->rules = ft_verdict_rules(verdict, changed);
	judgement->undecided = verdict->undecided;
	judgement->grace = (judgement->rules & 1u << FT_RULE_TENANT_GRACE) != 0;
	judgement->permitted = !changed && verdict->exception != FT_NONE;
}

__attribute__((noinline)) static void count_bad_icrc(struct ft_judge *judge,
						     const struct ft_lookup *lookup, uint64_t ts_ns,
						     struct ft_judgement *judgement)
{
	judgement->undecided = true;
	judgement->rules = 1u << FT_RULE_DECODE_BAD_ICRC;
	if (!lookup->has_flow)
		return;
	judgement->flow = ft_flow_find_or_create(judge->flows, &lookup->flow, lookup->hash, ts_ns);
	judgement->flow->bad_icrc++;
}

void ft_judge_frame(struct ft_judge *judge, const struct ft_lookup *lookup, uint64_t ts_ns,
		    struct ft_judgement *judgement)
{
	*judgement = (struct ft_judgement){ .kind = lookup->kind, .cell = FT_NONE };
	if (lookup->kind == FT_FRAME_NOT_RDMA)
		return;
	judgement->untimed = ts_ns == FT_TS_UNKNOWN && ft_map_epoch_count(judge->map) > 1;
	if (judgement->untimed) {
		judgement->undecided = lookup->kind != FT_FRAME_NEVER_JUDGED;
		return;
	}
	if (lookup->kind == FT_FRAME_BAD_ICRC) {
		count_bad_icrc(judge, lookup, ts_ns, judgement);
	} else {
		judgement->undecided =
			lookup->kind == FT_FRAME_BROKEN || lookup->kind == FT_FRAME_CUT;
		enter_epoch(judge, instant(ts_ns));
		judge_by_map(judge, lookup, ts_ns, judgement);
		if (lookup->setup_qpn != 0)
			follow_setup(judge, lookup);
	}
	if (judgement->flow != NULL)
		judgement->flow->packets++;
}
