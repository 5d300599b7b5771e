#include <engine/flows.h>

#include "engine_parts.h"
#include "flow_report.h"

int ft_engine_flows(const struct ft_engine *engine, const struct ft_flow_choice *choice,
		    struct ft_flow_report **report)
{
	struct ft_flow_share shares[FT_ENGINE_WORKERS_MAX];
	struct ft_flow_report *made;
	int error;

	for (unsigned i = 0; i < engine->config.workers; i++)
		shares[i] = (struct ft_flow_share){
			.flows = engine->workers[i]->flows,
			.details = engine->workers[i]->details,
			.tracker = engine->workers[i]->tracker,
			.expired = engine->workers[i]->expired +
				   ft_flow_table_stats(engine->workers[i]->flows).expired,
		};
	error = ft_flow_report_create(&made, shares, engine->config.workers, engine->map,
				      engine->config.flows);
	if (error != 0)
		return error;
	error = ft_flow_report_choose(made, choice);
	if (error != 0)
		ft_flow_report_destroy(made);
	else
		*report = made;
	return error;
}
