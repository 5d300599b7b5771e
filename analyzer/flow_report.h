#pragma once

#include <engine/flows.h>

#include "flow_row.h"
#include "framed.h"
#include "framing.h"

/*
 * All half-connections of the engines' shares, in order of their ids. The records may not change until
 * it is destroyed. `map` NULL: there is none. `capacity`: records asked for. 0 or -ENOMEM.
 */
int ft_flow_report_create(struct ft_flow_report **report, const struct ft_flow_share *shares,
			  size_t share_count, const struct ft_map *map, uint64_t capacity);

/* Rows say from now on what NCCL's framing does. `framed` is the report's then; NULL: nothing. */
void ft_flow_report_take_framed(struct ft_flow_report *report, struct ft_framed *framed,
				const struct ft_framing *framing);

/* List only what is chosen, in its order; connections with a half that is listed. 0 or -ENOMEM. */
int ft_flow_report_choose(struct ft_flow_report *report, const struct ft_flow_choice *choice);
