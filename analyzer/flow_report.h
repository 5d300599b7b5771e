#pragma once

#include <flow/table.h>
#include <partition/map.h>
#include <report/flows.h>

#include <engine/flow_choice.h>
#include "flow_row.h"

/*
 * The flow table's document from the records of all engines: half-connections numbered in order of
 * their first frames, connections in order of their first half, so that it does not matter which
 * engine saw which. Keeps 28 bytes a record; rows are made when they are asked for.
 */
struct ft_flow_report;

/*
 * The records may not change until it is destroyed. `map` NULL: there is none. `capacity`: records asked
 * for. 0 or -ENOMEM.
 */
int ft_flow_report_create(struct ft_flow_report **report, const struct ft_flow_share *shares,
			  size_t share_count, const struct ft_map *map, uint64_t capacity);
void ft_flow_report_destroy(struct ft_flow_report *report); /* NULL is fine */

/* List only what is chosen, in its order; connections with a half that is listed. 0 or -ENOMEM. */
int ft_flow_report_choose(struct ft_flow_report *report, const struct ft_flow_choice *choice);

/* The model; good until the next call on the report. */
struct ft_report_flows ft_flow_report_model(const struct ft_flow_report *report,
					    const struct ft_report *about);
