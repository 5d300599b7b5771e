#include <engine/engine.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "judge.h"
#include "summary.h"

/*
 * source -> decode -> look-up -> judge -> account -> observer, a batch at a time: each frame is decoded
 * where the source left it in the cache, and the flow records of a batch come from memory together.
 */
enum { BATCH = 16, RULE_NAMES = 16 };

struct item {
	struct ft_packet packet;
	struct ft_lookup lookup;
};

struct ft_engine {
	struct ft_engine_config config;
	const struct ft_map *map;   /* NULL: decode only */
	struct ft_judge *judge;     /* with a map */
	struct ft_account account;  /* with a map */
	struct ft_summary *summary; /* with a map */
	ft_engine_observer *observer;
	void *observer_context;
	struct item items[BATCH];
};

int ft_engine_create(struct ft_engine **engine, const struct ft_engine_config *config,
		     const struct ft_map *map)
{
	struct ft_engine *made = malloc(sizeof *made);
	int error = 0;

	if (made == NULL)
		return -ENOMEM;
	*made = (struct ft_engine){ .config = *config, .map = map };
	if (map == NULL)
		goto done;
	error = ft_judge_create(&made->judge, map, config->flows, config->flow_timeout_ns,
				config->seed);
	if (error != 0)
		goto free_engine;
	error = ft_account_init(&made->account, map, config->findings, config->seed);
	if (error != 0)
		goto destroy_judge;
	error = ft_summary_create(&made->summary);
	if (error != 0)
		goto free_account;
done:
	*engine = made;
	return 0;

free_account:
	ft_account_free(&made->account);
destroy_judge:
	ft_judge_destroy(made->judge);
free_engine:
	free(made);
	return error;
}

void ft_engine_destroy(struct ft_engine *engine)
{
	if (engine == NULL)
		return;
	if (engine->map != NULL) {
		ft_summary_destroy(engine->summary);
		ft_account_free(&engine->account);
		ft_judge_destroy(engine->judge);
	}
	free(engine);
}

void ft_engine_keep_evidence(struct ft_engine *engine, struct ft_pcapng_writer *writer)
{
	engine->account.writer = writer;
}

void ft_engine_observe(struct ft_engine *engine, ft_engine_observer *observer, void *context)
{
	engine->observer = observer;
	engine->observer_context = context;
	if (engine->map != NULL)
		ft_judge_tell_all(engine->judge);
}

static struct ft_decode_input input_of(const struct ft_frame *frame)
{
	return (struct ft_decode_input){
		.bytes = frame->bytes,
		.captured = frame->captured,
		.wire = frame->original,
		.link_type = frame->link_type,
		.fcs_bytes = frame->fcs_bytes,
		.ts_ns = frame->ts_ns,
	};
}

static const char *tenant_name(const struct ft_engine *engine, uint32_t tenant)
{
	return tenant == FT_NONE ? "unknown" : ft_map_declared(engine->map)->tenants[tenant].name;
}

static const char *undecided_reason(const struct ft_judgement *judgement)
{
	if (!judgement->undecided)
		return NULL;
	if (judgement->untimed)
		return "no_timestamp";
	if (judgement->kind == FT_FRAME_BAD_ICRC)
		return "bad_icrc";
	return judgement->kind == FT_FRAME_BROKEN ? "malformed" : "truncated";
}

/* The judgement in words, for the observer. `names` holds RULE_NAMES rules and as many notes. */
static void describe(const struct ft_engine *engine, const struct ft_judgement *judgement,
		     const char *names[2 * RULE_NAMES], struct ft_frame_verdict *verdict)
{
	const struct ft_judged *judged = judgement->judged;

	*verdict = (struct ft_frame_verdict){
		.rules = names,
		.notes = names + RULE_NAMES,
		.from = "unknown",
		.to = "unknown",
		.undecided = undecided_reason(judgement),
		.grace = judgement->grace,
		.judged = judgement->kind == FT_FRAME_JUDGED && !judgement->undecided,
	};
	for (unsigned rule = 0; rule < FT_RULES; rule++) {
		const struct ft_rule_text *text = ft_rule_text(rule);

		if ((judgement->rules >> rule & 1) == 0 || rule == FT_RULE_TENANT_GRACE)
			continue;
		if (text->violation && verdict->rule_count < RULE_NAMES)
			names[verdict->rule_count++] = text->name;
		else if (!text->violation && verdict->note_count < RULE_NAMES)
			names[RULE_NAMES + verdict->note_count++] = text->name;
	}
	if (judged == NULL)
		return;
	verdict->from = tenant_name(engine, judged->verdict.src.tenant);
	verdict->to = tenant_name(engine, judged->verdict.dst.tenant);
	if (judgement->permitted)
		verdict->exception =
			ft_map_declared(engine->map)->exceptions[judged->verdict.exception].id;
}

__attribute__((noinline)) static int observe(const struct ft_engine *engine,
					     const struct ft_account_item *item, unsigned sub)
{
	const char *names[2 * RULE_NAMES];
	struct ft_frame_verdict verdict;
	struct ft_frame_view view = {
		.frame = item->frame,
		.input = ft_source_input(item->source, item->frame->input)->name,
		.packet = item->packet,
		.sub = sub,
	};

	if (item->judgement != NULL) {
		describe(engine, item->judgement, names, &verdict);
		view.verdict = &verdict;
	}
	return engine->observer(engine->observer_context, &view);
}

/* Judge a decoded packet, add it up and show it. */
static int finish(struct ft_engine *engine, const struct ft_source *source,
		  const struct ft_frame *frame, const struct item *item, unsigned sub)
{
	struct ft_judgement judgement;
	struct ft_account_item accounted = {
		.frame = frame,
		.source = source,
		.packet = &item->packet,
		.key = &item->lookup.key,
		.first = sub == 0,
	};
	int error = 0;

	if (engine->map != NULL) {
		ft_judge_frame(engine->judge, &item->lookup, frame->ts_ns, &judgement);
		accounted.judgement = &judgement;
		error = ft_account_add(&engine->account, &accounted);
	}
	if (error != 0 || engine->observer == NULL)
		return error;
	return observe(engine, &accounted, sub);
}

/* Each step for all packets before the next one: none of them waits for what it needs. */
static void look_up(const struct ft_engine *engine, const struct ft_frame *frames,
		    struct item *items, int count)
{
	if (engine->map == NULL)
		return;
	for (int i = 0; i < count; i++)
		ft_judge_prepare(&items[i].packet, frames[i].bytes, frames[i].captured,
				 &items[i].lookup);
	for (int i = 0; i < count; i++)
		ft_judge_locate(engine->judge, &items[i].lookup);
	for (int i = 0; i < count; i++)
		ft_judge_prefetch(engine->judge, &items[i].lookup);
}

/* The second and later packets of a frame: sFlow datagrams only. */
static int finish_rest(struct ft_engine *engine, const struct ft_source *source,
		       const struct ft_frame *frame, struct item *item, struct ft_decode_rest *rest)
{
	struct ft_decode_input bytes = input_of(frame);
	bool more = true;
	int error = 0;

	while (more && error == 0) {
		more = ft_decode_more(&engine->config.decode, &bytes, &item->packet, rest);
		look_up(engine, frame, item, 1);
		error = finish(engine, source, frame, item, rest->sub);
	}
	return error;
}

static int run_batch(struct ft_engine *engine, const struct ft_source *source,
		     const struct ft_frame *frames, int count)
{
	struct ft_decode_rest rest;
	bool more = false;
	int decoded = 0, error = 0;

	/* a frame with several packets ends the batch: their state is kept once */
	while (decoded < count && !more) {
		struct ft_decode_input bytes = input_of(&frames[decoded]);

		more = ft_decode(&engine->config.decode, &bytes, &engine->items[decoded].packet,
				 &rest);
		decoded++;
	}
	look_up(engine, frames, engine->items, decoded);
	for (int i = 0; i < decoded && error == 0; i++) {
		error = finish(engine, source, &frames[i], &engine->items[i], 0);
		if (error == 0 && more && i == decoded - 1)
			error = finish_rest(engine, source, &frames[i], &engine->items[i], &rest);
	}
	return error != 0 ? error : decoded;
}

int ft_engine_step(struct ft_engine *engine, struct ft_source *source, int most)
{
	struct ft_frame frames[BATCH];
	int count = ft_source_next(source, frames, most < BATCH ? most : BATCH);
	int done = 0;

	while (done < count) {
		int decoded = run_batch(engine, source, frames + done, count - done);

		if (decoded < 0)
			return decoded;
		done += decoded;
	}
	return count;
}

const struct ft_report *ft_engine_report(struct ft_engine *engine, const struct ft_source *source)
{
	return ft_summary_make(engine->summary, &engine->account, ft_judge_flows(engine->judge),
			       source, engine->config.min_coverage);
}
