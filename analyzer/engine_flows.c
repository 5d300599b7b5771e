#include <engine/flows.h>

#include <errno.h>

#include "engine_parts.h"
#include "flow_report.h"

/* Halves of the worker whose queue pairs a set-up over TCP named. Both are the same worker's. */
static void pair_halves(struct ft_worker *worker, const struct ft_framed *framed)
{
	uint32_t used = ft_flow_table_stats(worker->flows).used;

	for (uint32_t number = 1; number <= used; number++) {
		const struct ft_flow *flow = ft_flow_at(worker->flows, number);
		struct ft_flow_key key = flow->key, back;

		if (key.base != FT_FLOW_ANY_BASE ||
		    !ft_framed_back(framed, &key, flow->vlan, &back))
			continue;
		key.vlan = back.vlan = flow->vlan;
		ft_tracker_confirm(worker->tracker, &key, &back, FT_PAIRED_NCCL);
	}
}

/* *framed is NULL if NCCL was not followed. */
static int follow_nccl(struct ft_engine *engine, struct ft_framed **framed)
{
	const struct ft_nccl_report *nccl;
	int error;

	*framed = NULL;
	if (engine->config.nccl != FT_ENGINE_NCCL_ALL)
		return 0;
	ft_framing_judge_communicators(engine->framing, engine->framing->source);
	nccl = ft_engine_nccl(engine);
	if (nccl == NULL)
		return -ENOMEM;
	error = ft_framed_create(framed, nccl, engine->config.seed);
	if (error != 0 || !ft_framed_has_setups(*framed))
		return error;
	for (unsigned i = 0; i < engine->config.workers; i++)
		pair_halves(engine->workers[i], *framed);
	return 0;
}

static int list(const struct ft_engine *engine, struct ft_flow_report **report)
{
	struct ft_flow_share shares[FT_ENGINE_WORKERS_MAX];

	for (unsigned i = 0; i < engine->config.workers; i++)
		shares[i] = (struct ft_flow_share){
			.flows = engine->workers[i]->flows,
			.details = engine->workers[i]->details,
			.tracker = engine->workers[i]->tracker,
			.expired = engine->workers[i]->expired +
				   ft_flow_table_stats(engine->workers[i]->flows).expired,
		};
	return ft_flow_report_create(report, shares, engine->config.workers, engine->map,
				     engine->config.flows);
}

int ft_engine_flows(struct ft_engine *engine, const struct ft_flow_choice *choice,
		    struct ft_flow_report **report)
{
	struct ft_flow_report *made;
	struct ft_framed *framed;
	int error = follow_nccl(engine, &framed);

	if (error != 0)
		return error;
	error = list(engine, &made);
	if (error != 0) {
		ft_framed_destroy(framed);
		return error;
	}
	ft_flow_report_take_framed(made, framed, engine->framing);
	error = ft_flow_report_choose(made, choice);
	if (error != 0)
		ft_flow_report_destroy(made);
	else
		*report = made;
	return error;
}
