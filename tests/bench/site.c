#include "site.h"

#include <stddef.h>
#include <string.h>

static const struct site sites[] = {
	{ "small", .tenants = 3, .partitions = 3, .members = 32, .nodes = 96,
	  .partitions_per_tenant = 1 },
	{ "wide", .tenants = 3, .partitions = 3, .members = 1024, .nodes = 3072,
	  .partitions_per_tenant = 1 },
	{ "big", .tenants = 1042, .partitions = 32000, .members = 8, .nodes = 100000,
	  .partitions_per_tenant = 12 },
	{ "native", .tenants = 3, .partitions = 3, .members = 32, .nodes = 96,
	  .partitions_per_tenant = 1, .native = true },
};

const struct site *site_find(const char *name)
{
	for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
		if (strcmp(sites[i].name, name) == 0)
			return &sites[i];
	return NULL;
}

/* Partitions that are nodes / members apart hold the same nodes. */
uint32_t site_node(const struct site *site, uint32_t partition, uint32_t member)
{
	return (partition * site->members + member) % site->nodes;
}

uint32_t site_tenant(const struct site *site, uint32_t partition)
{
	return partition % (site->nodes / site->members) / site->partitions_per_tenant;
}

uint16_t site_base(uint32_t partition)
{
	return (uint16_t)(partition + 1);
}

uint32_t site_ip(uint32_t node)
{
	return 0x0a000001u + node;
}

void site_mac(uint32_t node, uint8_t mac[6])
{
	uint32_t ip = site_ip(node);

	mac[0] = 0x02;
	mac[1] = 0;
	for (int i = 0; i < 4; i++)
		mac[2 + i] = (uint8_t)(ip >> (24 - 8 * i));
}

uint16_t site_lid(uint32_t node)
{
	return (uint16_t)(node + 1);
}

uint64_t site_guid(uint32_t node)
{
	return 0x0002c90300000000u + node;
}
