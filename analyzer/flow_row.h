#pragma once

#include <flow/detail.h>
#include <flow/table.h>
#include <flow/tracker.h>
#include <partition/map.h>
#include <report/flows.h>

#include "framing_rules.h"

/* What one engine knows of its half-connections. */
struct ft_flow_share {
	struct ft_flow_table *flows;
	const struct ft_details *details;
	const struct ft_tracker *tracker;
	uint64_t expired; /* half-connections that fell silent and began anew */
};

/* Records of the table that are half-connections of their own: those that frames were counted in. */
static inline bool ft_flow_row_exists(const struct ft_flow_share *share, uint32_t number)
{
	return ft_details_of(share->details, number)->first_frame != 0;
}

/*
 * The record of the whole half-connection, which holds its transport state; for packets with another
 * P_Key or VLAN it is not their own. NULL: evicted.
 */
const struct ft_flow *ft_flow_row_whole(const struct ft_flow_share *share, uint32_t number);

/*
 * The row of record `number`, all but its id and its connection's. `map` NULL: hosts, tenants, verdict
 * and rules are unknown. Strings are the map's or static.
 */
void ft_flow_row_fill(const struct ft_flow_share *share, uint32_t number, const struct ft_map *map,
		      struct ft_report_flow *row);

/* And what NCCL's framing shows of it. */
void ft_flow_row_add(struct ft_report_flow *row, struct ft_framing_told told);
