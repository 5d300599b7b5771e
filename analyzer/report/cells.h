#pragma once

#include <stdbool.h>

#include "table.h"

/* Cells that several tables have. */

void ft_count_cell(struct ft_table *table, uint64_t count); /* 0: "." */
void ft_bytes_cell(struct ft_table *table, uint64_t bytes);

/* "gpu01 (red)"; `tenant` NULL: none. */
void ft_end_cell(struct ft_table *table, const char *name, const char *tenant);

/* "0x8001 vlan 100 vni 5001": what there is of them, "-" for no P_Key. */
struct ft_net {
	bool has_pkey, has_vlan, has_vni;
	uint16_t pkey, vlan;
	uint32_t vni;
};
void ft_net_cell(struct ft_table *table, struct ft_net net);
