#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "item.h"

/*
 * Ends of half-connections that are known to be at home in a tenant (ft_verdict.at_home): nearly every new
 * half-connection has two of one tenant, and the map need not be asked about it. A cache of what the map answered
 * about other pairs of the same ends, in one line of memory for each.
 */

/*
 * What an end is known by: its address as it stands in memory, and its MAC address below its P_Key or VLAN. In an overlay,
 * where segments isolate, an IPv4 address has the VNI for its prefix, and the tags say so.
 */
struct ft_home_end {
	uint64_t prefix, interface, mac_and_tags;
};

struct ft_home {
	struct ft_home_end end;
	uint32_t epoch; /* of the map, in which it holds */
	/* of the totals, from the tenant to itself; the address is counted there */
	uint32_t cell : 31;
	uint32_t sends : 1; /* it holds for what comes from there, too */
};

struct ft_homes {
	struct ft_home *homes; /* two to a bucket, the one added last first */
	uint64_t seed;
	uint32_t mask;   /* of buckets */
	bool by_segment; /* the map isolates by segments, of which usual items have the VLAN */
};

/* 0 or -ENOMEM. */
int ft_homes_init(struct ft_homes *homes, const struct ft_map *map, uint64_t seed);
void ft_homes_free(struct ft_homes *homes);

/* Both ends of a usual item are looked for soon. */
void ft_homes_prefetch(const struct ft_homes *homes, const struct ft_item *item);

/* The cell of a usual item between two ends at home; FT_NONE: ask the map. */
uint32_t ft_homes_find(const struct ft_homes *homes, const struct ft_item *item, uint32_t epoch);

/* The verdict on a usual item was that its ends are at home; it is counted in this cell. */
void ft_homes_learn(struct ft_homes *homes, const struct ft_item *item, uint32_t epoch,
		    uint32_t cell);
