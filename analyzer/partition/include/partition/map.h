#pragma once

#include <partition/declared.h>

/*
 * The compiled map: look-ups whose cost does not depend on the number of tenants, partitions or
 * endpoints. Built once from a declared map, then const; any number of threads may read it.
 * It keeps a reference to `declared`, which must outlive it.
 */
struct ft_map;

/* 0 or -ENOMEM. */
int ft_map_compile(struct ft_map **map, const struct ft_declared *declared);

/* Frees the map, not the declared one. NULL is fine. */
void ft_map_destroy(struct ft_map *map);

/* What it was compiled from, for what indices stand for. */
const struct ft_declared *ft_map_declared(const struct ft_map *map);

/*
 * Epochs: stretches of time in which every judgement is constant (boundaries are all interval ends
 * and those plus the grace). Epoch 0 begins at FT_TIME_MIN.
 */
size_t ft_map_epoch_count(const struct ft_map *map);

/* The epoch of an instant, below the count, and its half-open bounds; FT_TIME_MIN and FT_TIME_MAX at the ends. */
uint32_t ft_map_epoch(const struct ft_map *map, int64_t ts_ns, int64_t *from_ns, int64_t *to_ns);

/*
 * An endpoint is an index: FT_NONE is "not declared". Endpoints are declared ports and the members
 * that name an address of their own; prefixes are endpoints too.
 */
struct ft_endpoint_name {
	const char *host; /* NULL: not declared by a host name */
	struct ft_origin origin;
};

/* `endpoint` must be below ft_map_endpoint_count(); it is not checked. */
struct ft_endpoint_name ft_map_endpoint(const struct ft_map *map, uint32_t endpoint);

/* Declared ports come first, with the indices that they have in `declared`. */
size_t ft_map_endpoint_count(const struct ft_map *map);

/*
 * The endpoint by one address; FT_NONE if nobody declares it, which holds for the next three, too. LIDs: any of the
 * 2^lmc that a port has; 0 and multicast ones are nobody's.
 */
uint32_t ft_map_find_lid(const struct ft_map *map, uint16_t lid);

/* The GUID of a port, in host byte order; not that of a node. */
uint32_t ft_map_find_guid(const struct ft_map *map, uint64_t guid);

/*
 * IP address or GID, wire order, IPv4 in ::ffff:0:0/96: who has just this one, else the longest prefix. The GUID in a
 * GID is not looked for.
 */
uint32_t ft_map_find_address(const struct ft_map *map, const uint8_t address[16]);

/* Of several ports that declare one MAC, the first. */
uint32_t ft_map_find_mac(const struct ft_map *map, const uint8_t mac[6]);

/* One P_Key table entry of an endpoint at an instant, as the fabric would hold it. */
struct ft_entry {
	uint16_t base;
	enum ft_membership membership;
	uint32_t partition;      /* index into declared->partitions */
	struct ft_origin origin; /* of the member that decided */
};

/* Entries in partition order; returns how many there are, of which at most `room` were written. */
size_t ft_map_entries(const struct ft_map *map, uint32_t endpoint, int64_t ts_ns,
		      struct ft_entry *entries, size_t room);

/*
 * Membership of an endpoint in the partitions of `base` (its membership bit is not looked at), the fullest of several:
 * 0 not a member, else enum ft_membership and *origin (may be NULL), the line that says so.
 */
unsigned ft_map_membership(const struct ft_map *map, uint32_t endpoint, uint16_t base,
			   int64_t ts_ns, struct ft_origin *origin);

/*
 * Owners of an endpoint, each once; as ft_map_entries(). By partitions as docs/verdict-rules.md,
 * section 3, says, before narrowing; if they name none, the tenants of the segments that list its address.
 */
size_t ft_map_owners(const struct ft_map *map, uint32_t endpoint, int64_t ts_ns, uint32_t *tenants,
		     size_t room);

/* The answer to whether two endpoints may talk. */
struct ft_talk {
	bool allowed; /* they share a base that at least one holds as full, and no tenant rule forbids it */
	bool grace;    /* not allowed, but excused by the grace of an interval that just ended */
	uint16_t base; /* by this one; 0 if none */
	const char *exception; /* id that permits the crossing; NULL: none needed or none there */
	char because[640];     /* a few words, never empty: has room for two names of 255 bytes */
};

/*
 * May the first endpoint send data (RC, with the P_Key that it holds) to the second at this instant: over any base
 * that the first has, the default one last, then by the tenants that segments give the two where no VLAN or VNI is
 * looked at. FT_NONE is an endpoint that may not.
 */
void ft_map_may_talk(const struct ft_map *map, uint32_t a, uint32_t b, int64_t ts_ns,
		     struct ft_talk *talk);

/*
 * The same; or in some VLAN or VNI of a segment that lists either address, where it may be another tenant's. `because`
 * names it then. Segments that list tags alone, and so any address there, are not asked.
 */
void ft_map_may_talk_tagged(const struct ft_map *map, uint32_t a, uint32_t b, int64_t ts_ns,
			    struct ft_talk *talk);
