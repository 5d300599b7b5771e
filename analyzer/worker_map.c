#include "worker.h"

#include <errno.h>

#include <flow/detail.h>

/* Going over from one map to another between two runs. What was counted stays; every verdict is reached anew. */

int ft_worker_prepare_map(struct ft_worker *worker, const struct ft_map *map, uint64_t seed)
{
	uint32_t before = (uint32_t)ft_map_declared(worker->map)->tenant_count;
	uint32_t tenants = (uint32_t)ft_map_declared(map)->tenant_count;
	int error = ft_totals_grow(&worker->tally.totals, before, tenants);

	ft_judge_destroy(worker->next_judge);
	worker->next_judge = NULL;
	if (error == 0)
		error = ft_judge_create(&worker->next_judge, map, seed);
	worker->next_map = error == 0 ? map : NULL;
	return error;
}

/* Names of the map before. */
static bool forget_place(void *context, const struct ft_flow *flow)
{
	const struct ft_worker *worker = context;

	ft_detail_displace(ft_details_of(worker->details, ft_flow_number(worker->flows, flow)));
	return true;
}

void ft_worker_enter_map(struct ft_worker *worker, const uint32_t *exceptions)
{
	ft_judge_destroy(worker->judge);
	worker->judge = worker->next_judge;
	worker->map = worker->next_map;
	worker->next_judge = NULL;
	worker->next_map = NULL;
	worker->epoch = ft_judge_epoch(worker->judge);
	worker->map_changes = ft_map_epoch_count(worker->map) > 1;
	worker->map_is_far = ft_check_is_far(worker->map);
	if (worker->tells_all || worker->details != NULL)
		ft_judge_tell_all(worker->judge);
	ft_totals_move_exceptions(&worker->tally.totals, exceptions);
	if (worker->details != NULL)
		ft_flow_each(worker->flows, forget_place, worker);
}
