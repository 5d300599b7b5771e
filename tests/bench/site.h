#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The invented site that maps and traffic are made of: partitions 0 .. partitions-1, each with the same number of
 * members, which are nodes with one port each, of RoCE or of native InfiniBand. All numbers follow from the indices, so that a map and a capture
 * made by two runs of the program agree.
 */
struct site {
	const char *name;
	uint32_t tenants, partitions, members, nodes;
	uint32_t partitions_per_tenant;
	bool native; /* one subnet of InfiniBand, without an Ethernet */
};

/*
 * "small": 3 tenants with 32 nodes each; "wide": 3 tenants with 1024 nodes each, so that a million flows have as many
 * pairs of ends as in a large fabric; "big": 32 000 partitions of 8 members, 100 000 nodes; "native": "small" of
 * InfiniBand. NULL: no such site.
 */
const struct site *site_find(const char *name);

/* All partitions of a node belong to one tenant: the site declares no crossing. */
uint32_t site_node(const struct site *site, uint32_t partition, uint32_t member);
uint32_t site_tenant(const struct site *site, uint32_t partition);

uint16_t site_base(uint32_t partition); /* P_Key base, 1 .. 0x7ffe */
uint32_t site_ip(uint32_t node);        /* host byte order */
void site_mac(uint32_t node, uint8_t mac[6]);

/* Of a native site, which has no more nodes than there are LIDs. */
uint16_t site_lid(uint32_t node); /* unicast: from 1 */
uint64_t site_guid(uint32_t node);
