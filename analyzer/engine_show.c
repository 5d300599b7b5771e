#include "engine_parts.h"

enum { RULE_NAMES = 16 };

static const char *undecided_reason(const struct ft_item *item)
{
	if (!item->undecided)
		return NULL;
	if (item->untimed)
		return "no_timestamp";
	if (item->kind == FT_FRAME_BAD_ICRC)
		return "bad_icrc";
	if (item->kind == FT_FRAME_UNREAD)
		return "link_type";
	return item->kind == FT_FRAME_BROKEN ? "malformed" : "truncated";
}

/* The judgement in words. `names` holds RULE_NAMES rules and as many notes. */
static void describe(const struct ft_engine *engine, const struct ft_item *item,
		     const struct ft_item_more *more, const char *names[2 * RULE_NAMES],
		     struct ft_frame_verdict *verdict)
{
	*verdict = (struct ft_frame_verdict){
		.rules = names,
		.notes = names + RULE_NAMES,
		.from = "unknown",
		.to = "unknown",
		.undecided = undecided_reason(item),
		.grace = item->grace,
		.judged = item->kind == FT_FRAME_JUDGED && !item->undecided,
	};
	for (unsigned rule = 0; rule < FT_RULES; rule++) {
		const struct ft_rule_text *text = ft_rule_text(rule);

		if ((item->rules >> rule & 1) == 0 || rule == FT_RULE_TENANT_GRACE)
			continue;
		if (text->violation && verdict->rule_count < RULE_NAMES)
			names[verdict->rule_count++] = text->name;
		else if (!text->violation && verdict->note_count < RULE_NAMES)
			names[RULE_NAMES + verdict->note_count++] = text->name;
	}
	if (!more->has_verdict)
		return;
	verdict->from = ft_engine_tenant(engine, more->verdict.src.tenant);
	verdict->to = ft_engine_tenant(engine, more->verdict.dst.tenant);
	if (item->permitted)
		verdict->exception =
			ft_map_declared(engine->map)->exceptions[more->verdict.exception].id;
}

int ft_engine_show(const struct ft_engine *engine, const struct ft_source *source,
		   const struct ft_item *item, const struct ft_item_more *more)
{
	const char *names[2 * RULE_NAMES];
	struct ft_frame_verdict verdict;
	struct ft_nccl_shown shown;
	struct ft_packet packet;
	struct ft_frame_view view = {
		.frame = item->frame,
		.input = ft_source_input(source, item->frame->input)->name,
		.packet = &packet,
		.sub = item->sub,
		.followed = engine->config.nccl == FT_ENGINE_NCCL_ALL,
	};

	ft_item_decode(item, &engine->config.decode, &packet);
	if (view.followed && ft_framing_shown(engine->framing, &shown))
		view.nccl = &shown;
	if (engine->map != NULL) {
		describe(engine, item, more, names, &verdict);
		view.verdict = &verdict;
	}
	return engine->observer(engine->observer_context, &view);
}
