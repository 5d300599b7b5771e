#include "worker.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "worker_take.h"

enum {
	TOGETHER = 32, /* packets that take a step towards what they need of memory together .. */
	STEPS = 3, /* .. of which there are so many; others take theirs meanwhile, so none waits */
	/* records: so many, and what lies beside them, stay in the second-level cache */
	IN_THE_CACHE = 2048,
};

static_assert((int)TOGETHER <= (int)FT_CHECK_TOGETHER, "their ends are fetched together");
static_assert(64 % TOGETHER == 0 && TOGETHER < 64, "marks of a batch are in one word");

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
	if (error == 0 && worker->map != NULL)
		error = ft_firsts_init(&worker->firsts);
	if (error == 0 && worker->map != NULL)
		error = ft_floods_init(&worker->floods);
	if (error == 0 && worker->map != NULL)
		error = ft_bases_init(&worker->bases, worker->config->flows,
				      worker->config->flow_timeout_ns, worker->config->seed);
	return error;
}

static void forget(void *context, struct ft_flow *flow)
{
	struct ft_worker *worker = context;

	ft_tracker_forget(worker->tracker, flow);
	if (worker->map != NULL && flow->first_base != FT_FLOW_NO_BASE &&
	    flow->key.base == FT_FLOW_ANY_BASE)
		ft_bases_keep(&worker->bases, flow);
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
	made->watches = config->nccl == FT_ENGINE_NCCL_WATCH;
	made->watched.seed = config->seed;
	made->map_changes = map != NULL && ft_map_epoch_count(map) > 1;
	made->map_is_far = map != NULL && ft_check_is_far(map);
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
	ft_bases_free(&worker->bases);
	ft_gone_by_free(&worker->gone_by);
	ft_floods_free(&worker->floods);
	ft_firsts_free(&worker->firsts);
	ft_suspects_destroy(worker->suspects);
	ft_judge_destroy(worker->next_judge);
	ft_judge_destroy(worker->judge);
	ft_tally_free(&worker->tally);
	ft_details_destroy(worker->details);
	ft_connections_destroy(worker->connections);
	ft_copies_destroy(worker->copies);
	ft_tracker_destroy(worker->tracker);
	ft_flow_table_destroy(worker->flows);
	ft_watched_pairs_free(&worker->watched);
	free(worker);
}

void ft_worker_tell_all(struct ft_worker *worker)
{
	worker->tells_all = true;
	worker->quiet = false;
	if (worker->judge != NULL)
		ft_judge_tell_all(worker->judge);
}

/* Packets that take a step together. */
struct some {
	struct ft_item *first, *end;
};

/* Those from `from` on; from < 0, as unsigned: none. */
static inline struct some some_from(const struct ft_worker *worker, unsigned from)
{
	const struct ft_batch *batch = &worker->batch;
	unsigned left = from < batch->count ? batch->count - from : 0;
	struct ft_item *first = &batch->items[left == 0 ? 0 : from];

	return (struct some){ first, first + (left < TOGETHER ? left : TOGETHER) };
}

/* Frames come in runs: whether what it leads to was asked for with the one before it, in the same step. */
static inline bool goes_with_last(const struct ft_item *item, const struct ft_item *first)
{
	return item > first && item->hash == item[-1].hash && item[-1].has_flow;
}

/* First step: what only digest and hash lead to. */
static void fetch_first(const struct ft_worker *worker, unsigned from, bool far)
{
	const struct some some = some_from(worker, from);

	for (struct ft_item *item = some.first; item < some.end; item++)
		item->copies_at = ft_copies_prefetch(worker->copies, item->observed.digest);
	for (const struct ft_item *item = some.first; far && item < some.end; item++)
		if (item->has_flow && !goes_with_last(item, some.first))
			ft_flow_prefetch_slot(worker->flows, item->hash);
	if (!ft_tally_is_large(&worker->tally))
		return;
	for (const struct ft_item *item = some.first; item < some.end; item++)
		ft_tally_prefetch_pkey(&worker->tally, ft_item_pkey(item));
}

static inline struct ft_check_ends ends_of(const struct ft_item *item)
{
	const struct ft_flow_key *key = &item->flow_key;

	return (struct ft_check_ends){ key->src, key->dst, item->observed.pkey };
}

/* What the first packet of a half-connection needs. */
static inline void fetch_new(const struct ft_worker *worker, const struct ft_item *item)
{
	const struct ft_check_ends ends = ends_of(item);

	if (worker->suspects != NULL)
		ft_suspects_prefetch_new(worker->suspects, &item->flow_key, &item->observed);
	if (worker->quiet && item->usual)
		ft_judge_prefetch_home(worker->judge, item);
	if (worker->map_is_far)
		ft_check_fetch_names(worker->map, &ends);
}

/* Second step: the record, or what there is instead. */
static void fetch_records(const struct ft_worker *worker, unsigned from)
{
	const struct some some = some_from(worker, from);

	for (struct ft_item *item = some.first; item < some.end; item++) {
		if (!item->has_flow)
			continue;
		if (goes_with_last(item, some.first)) {
			item->record = item[-1].record;
			continue;
		}
		item->record = ft_flow_peek(worker->flows, item->hash);
		if (item->record == 0 && item->followed)
			fetch_new(worker, item);
	}
}

/* What lies beside a record: the other half, what the suspects remember, where it is counted. */
static inline void fetch_of(const struct ft_worker *worker, const struct ft_flow *flow)
{
	ft_tracker_prefetch(worker->tracker, flow);
	if (ft_tally_is_large(&worker->tally))
		ft_tally_prefetch_cell(&worker->tally, flow->cell);
	if (worker->suspects != NULL)
		ft_suspects_prefetch(worker->suspects, flow);
}

/* Third step, to which the second one led. */
static void fetch_beside(const struct ft_worker *worker, unsigned from)
{
	const struct some some = some_from(worker, from);
	struct ft_check_ends ends[TOGETHER];
	unsigned count = 0;

	for (const struct ft_item *item = some.first; item < some.end; item++) {
		if (!item->followed || goes_with_last(item, some.first))
			continue;
		if (item->record != 0)
			fetch_of(worker, ft_flow_at(worker->flows, item->record));
		else if (worker->map_is_far)
			ends[count++] = ends_of(item);
	}
	if (count != 0)
		ft_check_fetch_rest(worker->map, ends, count);
}

static void run_items(struct ft_worker *worker, unsigned from)
{
	const struct some some = some_from(worker, from);

	worker->place = from % 64;
	for (struct ft_item *item = some.first; item < some.end; item++, worker->place++)
		ft_worker_take(worker, item);
}

/* What NCCL's follower will look at for those of them that it is to see. */
static void fetch_shown(const struct ft_worker *worker, unsigned from)
{
	const struct some some = some_from(worker, from);
	const uint64_t all = (UINT64_C(1) << (some.end - some.first)) - 1;

	if (worker->way == NULL)
		return;
	for (uint64_t marks = worker->batch.framed >> from % 64 & all; marks != 0;
	     marks &= marks - 1)
		ft_nccl_prefetch(worker->way, some.first[__builtin_ctzll(marks)].record);
}

void ft_worker_run(struct ft_worker *worker)
{
	bool far = ft_flow_table_stats(worker->flows).used > IN_THE_CACHE;

	if (worker->map == NULL && worker->details == NULL) { /* frames are only decoded */
		worker->batch.loud = worker->batch.count;
		return;
	}
	if (worker->gone_by.frames != NULL)
		ft_gone_by_add(&worker->gone_by, &worker->batch);
	for (unsigned at = 0; at < worker->batch.count + STEPS * TOGETHER; at += TOGETHER) {
		fetch_first(worker, at, far);
		fetch_records(worker, far ? at - TOGETHER : at);
		if (far)
			fetch_beside(worker, at - 2 * TOGETHER);
		run_items(worker, at - STEPS * TOGETHER);
		fetch_shown(worker, at - STEPS * TOGETHER);
	}
}
