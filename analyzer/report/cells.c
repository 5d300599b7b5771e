#include "cells.h"

#include <inttypes.h>

#include "human.h"

void ft_count_cell(struct ft_table *table, uint64_t count)
{
	struct ft_human human;

	ft_table_format(table, "%s", count == 0 ? "." : ft_human_count(&human, count));
}

void ft_bytes_cell(struct ft_table *table, uint64_t bytes)
{
	struct ft_human human;

	ft_table_format(table, "%s", ft_human_bytes(&human, bytes));
}

void ft_end_cell(struct ft_table *table, const char *name, const char *tenant)
{
	if (tenant != NULL)
		ft_table_say(table, "%s (%s)", name, tenant);
	else
		ft_table_name(table, name);
}

void ft_net_cell(struct ft_table *table, struct ft_net net)
{
	char pkey[8] = "-", vlan[12] = "", vni[16] = "";

	if (net.has_pkey)
		snprintf(pkey, sizeof pkey, "0x%04x", net.pkey);
	if (net.has_vlan)
		snprintf(vlan, sizeof vlan, " vlan %u", net.vlan);
	if (net.has_vni)
		snprintf(vni, sizeof vni, " vni %" PRIu32, net.vni);
	ft_table_format(table, "%s%s%s", pkey, vlan, vni);
}
