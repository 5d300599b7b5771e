#include <engine/engine.h>

#include <errno.h>
#include <stdlib.h>

#include <engine/no_memory.h>

#include "account.h"
#include "crew.h"
#include "engine_parts.h"
#include "summary.h"
#include "worker.h"

static int create_workers(struct ft_engine *engine)
{
	const struct ft_engine_config *config = &engine->config;
	int error = 0;

	for (unsigned i = 0; i < config->workers && error == 0; i++) {
		error = ft_worker_create(&engine->workers[i], config, engine->map);
		if (error == 0 && config->nccl == FT_ENGINE_NCCL_ALL)
			ft_worker_tell_all(engine->workers[i]);
	}
	return error;
}

int ft_engine_create(struct ft_engine **engine, const struct ft_engine_config *config,
		     const struct ft_map *map)
{
	struct ft_engine *made;
	int error = 0;

	if (config->workers == 0 || config->workers > FT_CREW_MOST)
		return -EINVAL;
	made = calloc(1, sizeof *made);
	if (made == NULL)
		return -ENOMEM;
	made->config = *config;
	made->map = map;
	if (config->nccl == FT_ENGINE_NCCL_ALL)
		made->config.details = true; /* or workers without a map do nothing */
	error = create_workers(made);
	if (error == 0)
		error = ft_crew_init(&made->crew, made->workers, config->workers);
	if (error == 0)
		error = ft_account_init(&made->account, &made->config, map);
	if (error == 0 && config->nccl != FT_ENGINE_NCCL_OFF)
		error = ft_framing_create(&made->framing, &made->config, map);
	if (error == 0 && made->framing != NULL)
		made->workers[0]->way = ft_framing_way(made->framing);
	if (error == 0)
		error = ft_summary_create(&made->summary);
	if (error != 0) {
		ft_engine_destroy(made);
		return error;
	}
	*engine = made;
	return 0;
}

void ft_engine_destroy(struct ft_engine *engine)
{
	if (engine == NULL)
		return;
	ft_summary_destroy(engine->summary);
	ft_framing_destroy(engine->framing);
	ft_account_free(&engine->account);
	ft_crew_free(&engine->crew);
	for (unsigned i = 0; i < engine->config.workers; i++)
		ft_worker_destroy(engine->workers[i]);
	free(engine->earlier);
	free(engine);
}

void ft_engine_keep_evidence(struct ft_engine *engine, struct ft_pcapng_writer *writer)
{
	engine->account.writer = writer;
	if (engine->framing != NULL)
		ft_framing_keep_evidence(engine->framing, writer);
	for (unsigned i = 0; writer != NULL && i < engine->config.workers; i++)
		if (ft_firsts_keep_frames(&engine->workers[i]->firsts) != 0 ||
		    ft_gone_by_init(&engine->workers[i]->gone_by) != 0)
			ft_no_memory();
}

void ft_engine_observe(struct ft_engine *engine, ft_engine_observer *observer, void *context)
{
	engine->observer = observer;
	engine->observer_context = context;
	if (engine->framing != NULL)
		ft_framing_show_all(engine->framing);
	for (unsigned i = 0; i < engine->config.workers; i++)
		ft_worker_tell_all(engine->workers[i]);
}

/* `seen`: its frame already was. */
static int account_for_item(struct ft_engine *engine, const struct ft_source *source,
			    const struct ft_item *item, const struct ft_item_more *more, bool seen)
{
	int error = seen ? ft_account_tell(&engine->account, source, item, more)
			 : ft_account_add(&engine->account, source, item, more);

	if (error == 0 && engine->framing != NULL &&
	    (item->framing != FT_FRAMING_NONE || engine->config.nccl == FT_ENGINE_NCCL_ALL))
		error = ft_framing_see(engine->framing, source, item);
	if (error == 0 && engine->observer != NULL)
		error = ft_engine_show(engine, source, item, more);
	return error;
}

/* Half-connections whose records went to others. */
static uint64_t reused_by(const struct ft_worker *worker)
{
	const struct ft_flow_table_stats stats = ft_flow_table_stats(worker->flows);

	return stats.evicted + stats.expired;
}

/* Up to which packet those from `from` on are quiet, and accounted for; `seen`: their frames already were. */
static unsigned pass_quiet(struct ft_engine *engine, const struct ft_batch *batch, unsigned from,
			   bool seen)
{
	if (seen && batch->loud == 0)
		return batch->count;
	if (!seen)
		return from +
		       ft_account_quiet(&engine->account, &batch->items[from], batch->count - from);
	while (from < batch->count && batch->items[from].quiet)
		from++;
	return from;
}

/* Quiet packets that the follower of NCCL is to see. */
static bool has_framed(const struct ft_engine *engine, const struct ft_batch *batch)
{
	return engine->framing != NULL &&
	       (batch->framed != 0 || (batch->strange != 0 && engine->framing->awake));
}

static void see_numbers(struct ft_engine *engine, const struct ft_batch *batch)
{
	for (unsigned i = 0; i < batch->count; i++)
		ft_account_number(&engine->account, &batch->items[i]);
}

/* The last step, in the order of the capture. */
static int account_for(void *context, const struct ft_source *source, const struct ft_batch *batch)
{
	struct ft_engine *engine = context;
	unsigned at = 0;
	int error = 0;
	bool seen = ft_account_at_once(&engine->account, batch);

	if (batch->mirrored)
		see_numbers(engine, batch);
	if (seen && batch->loud == 0 && !has_framed(engine, batch))
		return 0;
	if (engine->framing != NULL && batch->count != 0)
		ft_framing_reuse(engine->framing, reused_by(engine->workers[0]), batch);
	while (error == 0) {
		unsigned from = at;

		at = pass_quiet(engine, batch, from, seen);
		if (at != from && has_framed(engine, batch))
			error = ft_framing_see_quiet(engine->framing, source, batch, from, at);
		if (error != 0 || at == batch->count)
			break;
		error = account_for_item(engine, source, &batch->items[at], &batch->more[at], seen);
		at++;
	}
	return error;
}

static int account_for_packet(struct ft_engine *engine, const struct ft_source *source,
			      struct ft_share *share, uint32_t place, bool seen)
{
	const struct ft_outcome *outcome = ft_share_outcome(share, place);
	uint32_t number = ft_share_number(share, place);

	if (outcome->wants == FT_ACCOUNT_ITEM) {
		return account_for_item(engine, source, &share->batch.items[number],
					&share->batch.more[number], seen);
	}
	if (outcome->wants != FT_ACCOUNT_NOTHING && !seen)
		ft_account_frame(&engine->account, ft_share_frame(share, place), outcome->from);
	if (outcome->wants != FT_ACCOUNT_STRANGE || !engine->framing->awake)
		return 0;
	return ft_framing_see(engine->framing, source,
			      ft_share_strange(share, place, &engine->config));
}

/* There is more to a block than its frames; strangers are wanted once NCCL is about, which may begin in it. */
static bool has_more(const struct ft_engine *engine, const struct ft_share *share)
{
	enum ft_account_wants most = ft_share_most(share);

	return most == FT_ACCOUNT_ITEM || (most == FT_ACCOUNT_STRANGE && engine->framing->awake);
}

/* The same for what several workers did; if all frames are seen at once, only what has more to tell is left. */
static int account_for_share(void *context, const struct ft_source *source, struct ft_share *share)
{
	struct ft_engine *engine = context;
	unsigned count = 0;
	int error = 0;
	bool seen = ft_share_see(share, &engine->account);

	ft_share_see_numbers(share, &engine->account);
	if (!seen)
		count = ft_share_order(share, FT_ACCOUNT_FRAME);
	else if (has_more(engine, share))
		count = ft_share_order(share, FT_ACCOUNT_STRANGE);
	for (unsigned i = 0; i < count && error == 0; i++)
		error = account_for_packet(engine, source, share, share->places[i], seen);
	return error;
}

int ft_engine_run(struct ft_engine *engine, const struct ft_engine_run *run, uint64_t *frames)
{
	struct ft_crew_run work = {
		.source = run->source,
		.most = run->most,
		.account = { account_for, account_for_share, engine },
		.go_on = run->go_on,
		.go_on_context = run->context,
	};
	int error = ft_account_open(&engine->account, run->source);

	if (error == 0)
		error = ft_crew_run(&engine->crew, &work);
	*frames = engine->crew.frames_read;
	return error;
}

const struct ft_report *ft_engine_report(struct ft_engine *engine, const struct ft_source *source)
{
	return ft_summary_make(engine->summary, engine, source);
}

const struct ft_nccl_report *ft_engine_nccl(struct ft_engine *engine)
{
	if (engine->framing == NULL || engine->config.nccl != FT_ENGINE_NCCL_ALL)
		return NULL;
	return ft_nccl_follower_report(engine->framing->follower);
}
