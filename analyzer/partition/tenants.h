#pragma once

#include "compiled.h"

/*
 * Sets of tenants, worked out while they are walked: a set may be large (a storage port of
 * thousands of tenants) and nothing is allocated.
 */

/* An address as segments see it, and the tags of the frame it is in. */
struct ft_segment_place {
	uint32_t ip_at;  /* longest declared prefix that holds the IP; FT_NONE */
	uint32_t mac_at; /* endpoint of the MAC; FT_NONE */
};
struct ft_segment_tags { /* segments that list the frame's VLAN or VNI, ascending */
	const uint32_t *slots;
	uint32_t count;
};
/* As if the endpoint sent from its own address. */
struct ft_segment_place ft_place_of_endpoint(const struct ft_map *map, uint32_t endpoint);
struct ft_segment_tags ft_tags_of(const struct ft_map *map, bool has_vni, uint32_t vni,
				  uint16_t vlan);

/* Where a segment holds an address: from exact to everything. */
struct ft_level {
	enum {
		FT_LEVEL_NONE,
		FT_LEVEL_ADDRESS,
		FT_LEVEL_MAC,
		FT_LEVEL_ALL,
		FT_LEVEL_EVERYTHING
	} kind;
	uint32_t at; /* address or endpoint */
};

struct ft_tenants {
	const struct ft_map *map;
	int64_t ts_ns;
	enum { FT_NOBODY, FT_ONE, FT_OWNERS, FT_OF_BASE, FT_HERE, FT_ELSEWHERE } kind;
	uint32_t tenant;               /* FT_ONE */
	uint32_t endpoint;             /* FT_OWNERS, and FT_ONE that was narrowed from them */
	uint32_t partition;            /* FT_OF_BASE: the first of its partitions */
	enum ft_tenant_class class;    /* FT_OWNERS: all are of this class */
	struct ft_segment_place place; /* segments */
	struct ft_segment_tags tags;
	struct ft_level level;
};

/* Owners of an endpoint, narrowed to the tenant of `base` if it is one of them; base 0: not narrowed. */
struct ft_tenants ft_tenants_owning(const struct ft_map *map, uint32_t endpoint, uint16_t base,
				    int64_t ts_ns);
struct ft_tenants ft_tenants_of_group(const struct ft_map *map, uint16_t base);
/* The sets of segments: here, else elsewhere. */
struct ft_tenants ft_tenants_at(const struct ft_map *map, const struct ft_segment_place *place,
				const struct ft_segment_tags *tags, int64_t ts_ns);

/* Who lists the place by an address, whatever the tags: of whom it is when no frame is in question. */
struct ft_tenants ft_tenants_listing(const struct ft_map *map, const struct ft_segment_place *place,
				     int64_t ts_ns);

/* The tenant of ft_tenants_at() if the place is at home there with this one alone, else FT_NONE. */
uint32_t ft_tenant_at_home(const struct ft_map *map, const struct ft_segment_place *place,
			   const struct ft_segment_tags *tags, int64_t ts_ns);

/* Calls visit for each tenant, some more than once, until it returns true; returns whether it did. */
typedef bool ft_tenant_visit(void *with, uint32_t tenant);
bool ft_tenants_visit(const struct ft_tenants *set, ft_tenant_visit *visit, void *with);
bool ft_tenants_hold(const struct ft_tenants *set, uint32_t tenant);
bool ft_tenants_meet(const struct ft_tenants *a, const struct ft_tenants *b);
uint32_t ft_tenants_single(const struct ft_tenants *set); /* FT_NONE: none or several */

/* Every interval, at any time, that could make a difference to a set: its ends are when the set changes. */
typedef bool ft_span_visit(void *with, const struct ft_compiled_interval *span);
bool ft_endpoint_spans(const struct ft_map *map, uint32_t endpoint, ft_span_visit *visit,
		       void *with);
bool ft_place_spans(const struct ft_map *map, const struct ft_segment_place *place,
		    const struct ft_segment_tags *tags, ft_span_visit *visit, void *with);

/* A line of the map that gives the end a tenant of the set; file FT_NONE: none. */
struct ft_origin ft_tenants_origin(const struct ft_tenants *set);
