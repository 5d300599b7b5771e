#pragma once

#include <engine/flows.h>

#include "flow_row.h"

/*
 * All half-connections of the engines' shares, in order of their ids. The records may not change until
 * it is destroyed. `map` NULL: there is none. `capacity`: records asked for. 0 or -ENOMEM.
 */
int ft_flow_report_create(struct ft_flow_report **report, const struct ft_flow_share *shares,
			  size_t share_count, const struct ft_map *map, uint64_t capacity);

/* List only what is chosen, in its order; connections with a half that is listed. 0 or -ENOMEM. */
int ft_flow_report_choose(struct ft_flow_report *report, const struct ft_flow_choice *choice);
