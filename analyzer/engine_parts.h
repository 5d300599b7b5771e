#pragma once

#include <engine/engine.h>

#include "account.h"
#include "crew.h"
#include "framing.h"
#include "worker.h"

/* What the engine is made of, for the files that make its report. */
struct ft_engine {
	struct ft_engine_config config;
	const struct ft_map *map;      /* NULL: nothing is judged */
	const struct ft_map **earlier; /* maps in force before, the first one first */
	size_t earlier_count;
	struct ft_worker *workers[FT_CREW_MOST];
	struct ft_crew crew;
	struct ft_account account;
	struct ft_framing *framing; /* NULL: not followed */
	struct ft_summary *summary;
	ft_engine_observer *observer;
	void *observer_context;
};

/* As reports name it; FT_NONE: "unknown". */
static inline const char *ft_engine_tenant(const struct ft_engine *engine, uint32_t tenant)
{
	return tenant == FT_NONE ? "unknown" : ft_map_declared(engine->map)->tenants[tenant].name;
}

/* Show a packet to the observer. */
int ft_engine_show(const struct ft_engine *engine, const struct ft_source *source,
		   const struct ft_item *item, const struct ft_item_more *more);
