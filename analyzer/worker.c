#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

#include "congestion.h"

enum {
	TOGETHER = 16, /* packets that take a step towards what they need of memory together .. */
	STEPS = 3, /* .. of which there are so many; others take theirs meanwhile, so none waits */
	IN_THE_CACHE =
		2048, /* records: so many, and what lies beside them, stay in the second-level cache */
};

static int create_followers(struct ft_worker *worker)
{
	const struct ft_engine_config *config = worker->config;
	struct ft_tracker_config tracker = FT_TRACKER_DEFAULTS;
	struct ft_copies_config copies = FT_COPIES_DEFAULTS;
	int error;

	tracker.flow_timeout_ns = config->flow_timeout_ns;
	tracker.seed = config->seed;
	copies.window_ns = config->copy_window_ns;
	copies.seed = config->seed;
	error = ft_flow_table_create(&worker->flows, config->flows, config->seed);
	if (error == 0)
		error = ft_tracker_create(&worker->tracker, &tracker, worker->flows, &worker->loss);
	if (error == 0)
		error = ft_copies_create(&worker->copies, &copies);
	if (error == 0)
		error = ft_connections_create(&worker->connections, config->seed);
	if (error == 0 && config->details)
		error = ft_details_create(&worker->details, config->flows);
	return error;
}

static int create_judges(struct ft_worker *worker)
{
	uint32_t tenants =
		worker->map == NULL ? 0 : (uint32_t)ft_map_declared(worker->map)->tenant_count;
	int error = ft_tally_init(&worker->tally, tenants, worker->config->seed);

	if (error == 0 && worker->map != NULL)
		error = ft_judge_create(&worker->judge, worker->map, worker->config->seed);
	if (error == 0 && worker->judge != NULL && worker->config->details)
		ft_judge_tell_all(worker->judge); /* they show whose half-connections they are */
	if (error == 0 && worker->judge != NULL)
		worker->epoch = ft_judge_epoch(worker->judge);
	if (error == 0 && worker->map != NULL)
		error = ft_suspects_create(&worker->suspects, worker->flows);
	return error;
}

static void forget(void *context, struct ft_flow *flow)
{
	struct ft_worker *worker = context;

	ft_tracker_forget(worker->tracker, flow);
	if (worker->details != NULL)
		ft_details_clear(worker->details, ft_flow_number(worker->flows, flow));
}

int ft_worker_create(struct ft_worker **worker, const struct ft_engine_config *config,
		     const struct ft_map *map)
{
	struct ft_worker *made = calloc(1, sizeof *made);
	int error;

	if (made == NULL)
		return -ENOMEM;
	made->config = config;
	made->map = map;
	made->quiet = map != NULL && !config->details;
	made->map_changes = map != NULL && ft_map_epoch_count(map) > 1;
	ft_loss_init(&made->loss);
	error = create_followers(made);
	if (error == 0)
		error = create_judges(made);
	if (error == 0)
		error = ft_batch_init(&made->batch, FT_WORKER_FRAMES);
	if (error != 0) {
		ft_worker_destroy(made);
		return error;
	}
	ft_flow_on_evict(made->flows, forget, made);
	if (!config->details) /* which are shown to the end, as long as there is room */
		ft_flow_expire_after(made->flows, config->flow_timeout_ns);
	*worker = made;
	return 0;
}

void ft_worker_destroy(struct ft_worker *worker)
{
	if (worker == NULL)
		return;
	ft_batch_free(&worker->batch);
	ft_suspects_destroy(worker->suspects);
	ft_judge_destroy(worker->next_judge);
	ft_judge_destroy(worker->judge);
	ft_tally_free(&worker->tally);
	ft_details_destroy(worker->details);
	ft_connections_destroy(worker->connections);
	ft_copies_destroy(worker->copies);
	ft_tracker_destroy(worker->tracker);
	ft_flow_table_destroy(worker->flows);
	free(worker);
}

void ft_worker_tell_all(struct ft_worker *worker)
{
	worker->tells_all = true;
	worker->quiet = false;
	if (worker->judge != NULL)
		ft_judge_tell_all(worker->judge);
}

/* A P_Key base or VLAN that is not the half-connection's first one. */
__attribute__((noinline)) static struct ft_flow *part_of(struct ft_worker *worker,
							 const struct ft_item *item)
{
	struct ft_flow_key key = item->flow_key;

	key.base = item->base;
	key.vlan = item->vlan;
	return ft_flow_find_or_create(worker->flows, &key, ft_flow_hash(worker->flows, &key),
				      item->ts_ns);
}

/* At first, or after silence: what comes now is what the half-connection uses. */
__attribute__((noinline)) static void begin(struct ft_worker *worker, struct ft_flow *flow,
					    const struct ft_item *item)
{
	worker->expired += flow->base != FT_FLOW_NO_BASE;
	flow->first_base = FT_FLOW_NO_BASE;
	flow->base = item->base;
	flow->vlan = item->vlan;
}

/* A frame whose fields, or whose place in time, cannot be trusted teaches nothing. */
static bool is_trusted(const struct ft_worker *worker, const struct ft_item *item)
{
	return item->kind == FT_FRAME_JUDGED &&
	       (item->frame->ts_ns != FT_TS_UNKNOWN || !worker->map_changes);
}

/* What find_records() has to look at twice: a new half-connection, another P_Key or VLAN, a frame without trust. */
__attribute__((noinline)) static void sort_out(struct ft_worker *worker, const struct ft_item *item,
					       bool silent, struct ft_records *records)
{
	struct ft_flow *flow = records->whole;

	if (!is_trusted(worker, item))
		return;
	if (flow->base == FT_FLOW_NO_BASE || silent)
		begin(worker, flow, item);
	if (item->connected && flow->first_base == FT_FLOW_NO_BASE)
		flow->first_base = item->base;
	records->changed = item->connected && flow->first_base != item->base;
	if ((flow->base == item->base && flow->vlan == item->vlan) ||
	    item->flow_key.base != FT_FLOW_ANY_BASE)
		return;
	records->part = part_of(worker, item);
	if (memcmp(&flow->key, &item->flow_key, sizeof flow->key) != 0)
		records->whole = records->part; /* a table so small that one pushed the other out */
}

static void find_records(struct ft_worker *worker, const struct ft_item *item,
			 struct ft_records *records)
{
	uint32_t number =
		item->record != 0 ? item->record : ft_flow_peek(worker->flows, item->hash);
	struct ft_flow *flow = ft_flow_confirm(worker->flows, number, &item->flow_key);
	bool silent;

	if (flow == NULL)
		flow = ft_flow_find_or_create(worker->flows, &item->flow_key, item->hash,
					      item->ts_ns);
	records->whole = records->part = flow;
	records->changed = false;
	silent = item->ts_ns > flow->last_ns &&
		 item->ts_ns - flow->last_ns > worker->config->flow_timeout_ns;
	if (silent || flow->base != item->base || flow->vlan != item->vlan ||
	    flow->first_base != item->base)
		sort_out(worker, item, silent, records);
}

/* A connection set up anew may use another P_Key on the same queue pair. */
__attribute__((noinline)) static void follow_setup(struct ft_worker *worker,
						   const struct ft_item *item)
{
	struct ft_flow_key key = item->flow_key;
	struct ft_flow *flow;

	memcpy(key.src, item->flow_key.dst, sizeof key.src);
	memcpy(key.dst, item->flow_key.src, sizeof key.dst);
	key.dest_qp = item->setup.qpn;
	key.base = FT_FLOW_ANY_BASE;
	key.vlan = FT_FLOW_ANY_VLAN;
	flow = ft_flow_find(worker->flows, &key, ft_flow_hash(worker->flows, &key));
	if (flow != NULL)
		flow->first_base = FT_FLOW_NO_BASE;
	ft_connections_see(worker->connections, &item->setup, &item->flow_key, item->frame->ts_ns,
			   worker->tracker);
}

/* What comes to light about one packet. */
struct ft_conclusion {
	struct ft_records records;
	struct ft_judged *judged;
	struct ft_step step;
	struct ft_suspicion suspicion;
};

/* What the connection does: messages, losses, a second sender. */
static void follow(struct ft_worker *worker, struct ft_item *item, struct ft_conclusion *conclusion)
{
	struct ft_flow *flow = conclusion->records.whole;

	ft_tracker_step(worker->tracker, flow, &item->observed, &conclusion->step);
	if (worker->suspects == NULL)
		return;
	ft_suspects_step(worker->suspects, flow, &item->observed, &conclusion->step,
			 &conclusion->suspicion);
	if (conclusion->suspicion.rules == 0)
		return;
	item->rules |= conclusion->suspicion.rules;
	if (conclusion->judged == NULL && !item->untimed)
		conclusion->judged = ft_judge_look_up(worker->judge, item);
}

/* What only the flow table's document shows. */
static void note_details(struct ft_worker *worker, const struct ft_item *item,
			 const struct ft_conclusion *conclusion)
{
	const struct ft_judged *judged = conclusion->judged;
	const struct ft_flow *part = conclusion->records.part;
	const struct ft_step nothing = { 0 };
	const struct ft_step *step = item->followed ? &conclusion->step : &nothing;
	uint32_t number = ft_flow_number(worker->flows, part);
	struct ft_detail *detail = ft_details_of(worker->details, number);

	ft_details_count(worker->details, number, &item->observed, step, false);
	ft_detail_judge(detail, item->rules, item->kind == FT_FRAME_JUDGED && !item->undecided);
	if (judged != NULL)
		ft_detail_place(
			detail,
			(uint32_t[]){ judged->verdict.src.endpoint, judged->verdict.src.tenant },
			(uint32_t[]){ judged->verdict.dst.endpoint, judged->verdict.dst.tenant });
}

static void count_records(const struct ft_item *item, const struct ft_records *records)
{
	struct ft_flow *part = records->part;
	uint64_t ts_ns = item->ts_ns;

	part->packets++;
	part->bytes += item->frame->wire;
	if (ts_ns > part->last_ns)
		part->last_ns = ts_ns;
	if (part != records->whole && ts_ns > records->whole->last_ns)
		records->whole->last_ns = ts_ns;
	if (item->kind == FT_FRAME_BAD_ICRC)
		part->bad_icrc++;
}

/* For the accounts that come after: only items with something to tell. */
__attribute__((noinline)) static void keep_more(const struct ft_worker *worker,
						struct ft_item_more *more,
						const struct ft_judged *judged,
						const struct ft_flow *part)
{
	more->suspicion = (struct ft_suspicion){ 0 };
	more->has_verdict = judged != NULL;
	if (judged != NULL)
		more->verdict = judged->verdict;
	more->flow =
		part == NULL ? 0 : ft_hash(&part->key, sizeof part->key, worker->config->seed) | 1;
}

__attribute__((noinline)) static void leave_copy(struct ft_worker *worker, struct ft_item *item,
						 const struct ft_records *records)
{
	item->copy = true;
	if (item->sub == 0) {
		worker->tally.duplicates++;
		worker->tally.duplicate_bytes += item->frame->wire;
	}
	if (worker->details != NULL && records->part != NULL)
		ft_details_count(worker->details, ft_flow_number(worker->flows, records->part),
				 &item->observed, NULL, true);
}

/* All that the rest of the frames have, each of it seldom. */
__attribute__((noinline)) static void finish_unusual(struct ft_worker *worker, struct ft_item *item,
						     const struct ft_conclusion *conclusion)
{
	struct ft_item_more *more = &worker->batch.more[item - worker->batch.items];
	const struct ft_judged *judged = conclusion->judged;
	struct ft_flow *part = conclusion->records.part;

	ft_tally_count(&worker->tally, item, conclusion->judged, part);
	if (!item->copy && part != NULL && worker->details != NULL)
		note_details(worker, item, conclusion);
	if (item->rules != 0 || worker->tells_all)
		keep_more(worker, more, judged, part);
	if (conclusion->suspicion.rules != 0)
		more->suspicion = conclusion->suspicion;
	if (item->gap)
		more->gap = conclusion->step.gap;
	if (item->setup.kind != FT_SETUP_NONE && !item->copy)
		follow_setup(worker, item);
}

static void run_item(struct ft_worker *worker, struct ft_item *item)
{
	struct ft_conclusion conclusion;
	bool known; /* the verdict, and that there is nothing to report */
	bool congested;

	conclusion.records = (struct ft_records){ 0 };
	conclusion.judged = NULL;
	conclusion.step.what = conclusion.suspicion.rules = conclusion.step.gap.lost = 0;
	item->rules = 0;
	item->copy = item->undecided = item->grace = item->untimed = item->permitted = false;
	if (item->has_flow)
		find_records(worker, item, &conclusion.records);
	known = worker->quiet && conclusion.records.part != NULL && !conclusion.records.changed &&
		ft_judge_has_nothing(worker->epoch, item, conclusion.records.part);
	if (__builtin_expect(!known, 0) && worker->judge != NULL)
		conclusion.judged = ft_judge_frame(worker->judge, item, &conclusion.records);
	if (ft_copies_check(worker->copies, &item->observed, item->rules) == FT_COPY_YES)
		leave_copy(worker, item, &conclusion.records);
	else if (item->followed)
		follow(worker, item, &conclusion);
	else if (item->kind != FT_FRAME_NOT_RDMA)
		ft_loss_silent(&worker->loss, item->observed.frame);
	item->gap = conclusion.step.gap.lost != 0;
	congested = ft_is_marked(&item->observed) || (conclusion.step.what & FT_STEP_CNP) != 0;
	item->quiet = known && (item->rules | item->sub | item->copy | item->gap | congested) == 0;
	if (item->quiet)
		ft_tally_usual(&worker->tally, item, conclusion.records.part->cell);
	else
		finish_unusual(worker, item, &conclusion);
	if (item->copy || conclusion.records.part == NULL)
		return;
	if (congested || (conclusion.step.what & FT_TALLIED_STEPS) != 0)
		ft_tally_transport(&worker->tally, item, &conclusion.step);
	count_records(item, &conclusion.records);
}

/* The end of the packets from `from` on that take a step together; from < 0, as unsigned: none do. */
static unsigned end_of(const struct ft_batch *batch, unsigned from)
{
	if (from >= batch->count)
		return from;
	return batch->count - from < TOGETHER ? batch->count : from + TOGETHER;
}

/* First step: what only digest and hash lead to. */
static void fetch_first(const struct ft_worker *worker, unsigned from, bool far)
{
	struct ft_item *items = worker->batch.items;
	unsigned end = end_of(&worker->batch, from);

	for (unsigned i = from; i < end; i++) {
		items[i].record = 0;
		ft_copies_prefetch(worker->copies, items[i].observed.digest);
	}
	for (unsigned i = from; far && i < end; i++)
		if (items[i].has_flow)
			ft_flow_prefetch_slot(worker->flows, items[i].hash);
}

/* Second step: the record, or what the first packet of a half-connection needs. */
static void fetch_records(const struct ft_worker *worker, unsigned from)
{
	unsigned end = end_of(&worker->batch, from);

	for (unsigned i = from; i < end; i++) {
		struct ft_item *item = &worker->batch.items[i];

		if (!item->has_flow)
			continue;
		item->record = ft_flow_peek(worker->flows, item->hash);
		if (item->record == 0 && item->followed && worker->suspects != NULL)
			ft_suspects_prefetch_new(worker->suspects, &item->flow_key,
						 &item->observed);
	}
}

/* Third step, what lies beside the record: the other half, and what the suspects remember. */
static void fetch_beside(const struct ft_worker *worker, unsigned from)
{
	unsigned end = end_of(&worker->batch, from);

	for (unsigned i = from; i < end; i++) {
		const struct ft_item *item = &worker->batch.items[i];
		const struct ft_flow *flow;

		if (!item->followed || item->record == 0)
			continue;
		flow = ft_flow_at(worker->flows, item->record);
		ft_tracker_prefetch(worker->tracker, flow);
		if (worker->suspects != NULL)
			ft_suspects_prefetch(worker->suspects, flow);
	}
}

static void run_items(struct ft_worker *worker, unsigned from)
{
	unsigned end = end_of(&worker->batch, from);

	for (unsigned i = from; i < end; i++)
		run_item(worker, &worker->batch.items[i]);
}

void ft_worker_run(struct ft_worker *worker)
{
	bool far = ft_flow_table_stats(worker->flows).used > IN_THE_CACHE;

	if (worker->map == NULL && worker->details == NULL)
		return; /* frames are only decoded */
	for (unsigned at = 0; at < worker->batch.count + STEPS * TOGETHER; at += TOGETHER) {
		fetch_first(worker, at, far);
		if (far) {
			fetch_records(worker, at - TOGETHER);
			fetch_beside(worker, at - 2 * TOGETHER);
		}
		run_items(worker, at - STEPS * TOGETHER);
	}
}
