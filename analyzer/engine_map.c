#include "engine_parts.h"

#include <errno.h>
#include <stdlib.h>

/* The salt of the judges differs from map to map, so that no verdict kept in a flow record is taken for a new one. */
static int prepare(struct ft_engine *engine, const struct ft_map *map)
{
	uint64_t seed = engine->config.seed + (engine->earlier_count + 1) * 0x9e3779b97f4a7c15u;
	int error = 0;

	for (unsigned i = 0; i < engine->config.workers && error == 0; i++)
		error = ft_worker_prepare_map(engine->workers[i], map, seed);
	return error;
}

/* Room for one more. */
static int make_room(struct ft_engine *engine)
{
	const struct ft_map **larger =
		reallocarray(engine->earlier, engine->earlier_count + 1, sizeof *engine->earlier);

	if (larger == NULL)
		return -ENOMEM;
	engine->earlier = larger;
	return 0;
}

int ft_engine_change_map(struct ft_engine *engine, const struct ft_map *map,
			 const struct ft_succession *succession)
{
	int error;

	if (engine->map == NULL || map == NULL)
		return -EINVAL;
	error = make_room(engine);
	if (error == 0)
		error = prepare(engine, map);
	if (error == 0)
		error = ft_account_change_map(&engine->account, map);
	if (error != 0)
		return error;
	for (unsigned i = 0; i < engine->config.workers; i++)
		ft_worker_enter_map(engine->workers[i], succession->exceptions);
	if (engine->framing != NULL)
		ft_framing_change_map(engine->framing, map);
	engine->earlier[engine->earlier_count++] = engine->map;
	engine->map = map;
	return 0;
}
