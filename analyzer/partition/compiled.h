#pragma once

#include <partition/map.h>

#include "index.h"

/*
 * Inside of the compiled map.
 *
 * A *holder* is whatever a member line can name: a port, an address or prefix, a GUID, LID or MAC
 * that no port owns, a host, a keyword. A member line gives its holder a *grant*; what an endpoint
 * may do is the sum of the grants of all holders that stand for it (ft_holders_next()). Holders are
 * numbered: ports | own members | addresses without a port || addresses of ports | hosts | keywords,
 * and those before the double bar are the endpoints.
 */

#define FT_UNICAST_LIDS 0xc000u

enum ft_keyword {
	FT_KEYWORD_ALL,
	FT_KEYWORD_CAS,
	FT_KEYWORD_SWITCHES,
	FT_KEYWORD_ROUTERS,
	FT_KEYWORD_SELF,
	FT_KEYWORDS
};

/* Partition intervals and segment intervals, each in file order and so by time within their owner. */
struct ft_compiled_interval {
	int64_t from_ns, to_ns;
	uint32_t of;            /* index of the partition or segment */
	uint32_t tenant;        /* FT_NONE: none */
	bool tagged, addressed; /* segments: has VLANs or VNIs; has any other member */
	const struct ft_interval *source;
};

/* Lists by number: items[starts[n] .. starts[n + 1]). */
struct ft_lists {
	uint32_t *starts;
	uint32_t *items;
};

struct ft_grant {
	uint32_t span;   /* index of the partition interval */
	uint32_t member; /* index of the line in it */
};

struct ft_claim { /* a grant as a sign of ownership; by class and tenant within a holder */
	uint32_t tenant, span;
};

struct ft_port_links {
	uint32_t host, leaf;   /* FT_NONE: none */
	uint32_t address, gid; /* index of the address; FT_NONE: none */
	uint32_t next;         /* next port with the same address */
	uint8_t mac[6];
	bool has_mac; /* by which it is found: no port before it has the same */
};

/*
 * What one partition interval makes of an endpoint, worked out when the map is compiled, so that an
 * ordinary frame's verdict need not walk the holders of its ends. An endpoint with more than
 * FT_LISTINGS_MAX of them has none: its holders are asked.
 */
#define FT_LISTINGS_MAX 128
struct ft_listing {
	uint32_t span;      /* ascending within an endpoint */
	uint8_t membership; /* as ft_map_granted() has it */
	bool owned; /* in force it makes its tenant, a customer, the endpoint's only owner for the base */
};

struct ft_map {
	const struct ft_declared *declared;

	struct ft_numbers guids, macs; /* -> endpoint */
	struct ft_numbers vnis;        /* -> list in vni_slots */
	struct ft_names hosts, leaves;
	struct ft_nets addresses;
	uint32_t *lids; /* [FT_UNICAST_LIDS] -> endpoint + 1; 0: none */

	struct ft_port_links *ports;
	const struct ft_member **own_members;     /* the first line that named it */
	const struct ft_member **address_members; /* by address; NULL: only ports named it */
	uint32_t *address_holder, *address_port, *address_parent; /* by address */
	uint32_t *holder_address;                                 /* by holder - first_address */
	uint32_t port_count, own_count, first_address, endpoint_count, first_host, first_keyword,
		holder_count;

	uint32_t *partition_of_base;        /* [0x8000] -> partition + 1; 0: none */
	uint32_t *next_of_base;             /* by partition: another one with the same base */
	uint32_t *first_span;               /* by partition, and one more */
	struct ft_compiled_interval *spans; /* of partitions */
	uint32_t *grant_starts;             /* by holder, and one more */
	struct ft_grant *grants;
	struct ft_claim *claims;  /* parallel to grants, other order */
	uint32_t *listing_starts; /* by endpoint, and one more */
	struct ft_listing *listings;

	struct ft_compiled_interval *slots; /* of segments */
	uint32_t slot_count;
	struct ft_lists holder_slots; /* slots by holder, ascending */
	struct ft_lists vlan_slots, vni_slots;
	uint32_t *untagged_slots; /* slots without tags, ascending */
	uint32_t untagged_count;

	struct ft_lists leaf_ports;
	int64_t *epochs; /* ascending instants at which an epoch begins; epoch 0 is before them */
	size_t epoch_count; /* of instants */
};

/* What an endpoint is known by, most specific first within each of its names. */
struct ft_holders {
	const struct ft_map *map;
	uint32_t endpoint, at;
	uint8_t stage;
};
#define FT_EXPLICIT 129 /* specificity: above any prefix; a prefix has its bits; keywords 0 */
struct ft_holder {
	uint32_t index;
	unsigned specificity;
	bool everyone; /* ALL and the like: membership, but not ownership */
};
void ft_holders_begin(struct ft_holders *walk, const struct ft_map *map, uint32_t endpoint);
bool ft_holders_next(struct ft_holders *walk, struct ft_holder *holder);

/* The first partition of a base; FT_NONE: none. */
static inline uint32_t ft_map_of_base(const struct ft_map *map, uint16_t base)
{
	return map->partition_of_base[base] - 1;
}

static inline bool ft_span_holds(const struct ft_compiled_interval *span, int64_t ts_ns)
{
	return ts_ns >= span->from_ns && (ts_ns < span->to_ns || span->to_ns == FT_TIME_MAX);
}

/* The interval of a partition that is in force; FT_NONE: none. */
uint32_t ft_map_span(const struct ft_map *map, uint32_t partition, int64_t ts_ns);

/* The endpoint of a declared address: its first port, or the address itself. */
static inline uint32_t ft_map_at_address(const struct ft_map *map, uint32_t address)
{
	uint32_t port = map->address_port[address];

	return port != FT_NONE ? port : map->address_holder[address];
}

/* Membership of an endpoint in one interval of a partition; *line is the member that decided. */
unsigned ft_map_granted(const struct ft_map *map, uint32_t endpoint, uint32_t span,
			const struct ft_member **line);

/* The same, kept: NULL if the endpoint is no member then, or has too many intervals to be kept. */
const struct ft_listing *ft_map_listing(const struct ft_map *map, uint32_t endpoint, uint32_t span);

/* Of the grants that an endpoint has in one interval, the one that decides; starts as all zeros. */
struct ft_best {
	const struct ft_member *line;
	unsigned specificity;
	uint32_t order;
	enum ft_membership membership;
};
void ft_best_take(struct ft_best *best, const struct ft_map *map, const struct ft_holder *holder,
		  const struct ft_grant *grant);

/* The first partition from `from` on that ever lists the endpoint; FT_NONE: none. */
uint32_t ft_map_next_partition(const struct ft_map *map, uint32_t endpoint, uint32_t from);

/* The first grant of a holder in an interval or a later one. */
uint32_t ft_grant_from(const struct ft_map *map, uint32_t holder, uint32_t span);

/* Parts of ft_map_compile(): 0 or -ENOMEM; what they took is freed with the map. */
int ft_compile_names(struct ft_map *map, uint32_t **targets);
int ft_compile_grants(struct ft_map *map, const uint32_t *targets);
int ft_compile_listings(struct ft_map *map);
int ft_compile_segments(struct ft_map *map, const uint32_t *targets);
int ft_compile_epochs(struct ft_map *map);

/* An array of `count` elements, never NULL for want of elements. */
void *ft_map_array(size_t count, size_t size);
/* Turn counts[0..count) (count + 1 elements) into starts. */
void ft_lists_start(uint32_t *counts, size_t count);
