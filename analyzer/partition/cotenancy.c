/* Tenants that must not share a leaf, and do: section 8 of the verdict rules. */
#include <partition/check.h>

#include "tenants.h"

struct pair {
	const struct ft_map *map;
	uint32_t leaf, a, b; /* a names b, or b names a */
	int64_t from_ns, to_ns;
	struct ft_cotenancy found;
	bool any;
};

static bool owns(const struct ft_map *map, uint32_t port, uint32_t tenant, int64_t ts_ns)
{
	struct ft_tenants owners = ft_tenants_owning(map, port, 0, ts_ns);
	struct ft_segment_place place = ft_place_of_endpoint(map, port);
	struct ft_tenants listed = ft_tenants_listing(map, &place, ts_ns);

	return (owners.kind != FT_NOBODY && ft_tenants_hold(&owners, tenant)) ||
	       ft_tenants_hold(&listed, tenant);
}

/* A port of one tenant that is not the other's as well; FT_NONE: none. */
static uint32_t port_of(const struct pair *pair, uint32_t tenant, uint32_t other, int64_t ts_ns)
{
	const struct ft_lists *ports = &pair->map->leaf_ports;

	for (uint32_t i = ports->starts[pair->leaf]; i < ports->starts[pair->leaf + 1]; i++)
		if (owns(pair->map, ports->items[i], tenant, ts_ns) &&
		    !owns(pair->map, ports->items[i], other, ts_ns))
			return ports->items[i];
	return FT_NONE;
}

static void look(struct pair *pair, int64_t ts_ns)
{
	uint32_t a, b;

	if (ts_ns < pair->from_ns || ts_ns > pair->to_ns ||
	    (pair->any && ts_ns >= pair->found.at_ns))
		return;
	a = port_of(pair, pair->a, pair->b, ts_ns);
	b = a == FT_NONE ? FT_NONE : port_of(pair, pair->b, pair->a, ts_ns);
	if (b == FT_NONE)
		return;
	pair->any = true;
	pair->found = (struct ft_cotenancy){ .tenant_a = pair->a,
					     .tenant_b = pair->b,
					     .leaf = pair->map->leaves.keys[pair->leaf],
					     .port_a = a,
					     .port_b = b,
					     .at_ns = ts_ns };
}

/* A conflict begins when a listing begins, or when one ends that made a port someone else's. */
static bool look_at_ends(void *with, const struct ft_compiled_interval *span)
{
	look(with, span->from_ns);
	look(with, span->to_ns);
	return false;
}

static bool visit_claims(const struct ft_map *map, uint32_t port, ft_span_visit *visit, void *with)
{
	static const struct ft_segment_tags untagged = { 0 };
	struct ft_segment_place place = ft_place_of_endpoint(map, port);

	return ft_endpoint_spans(map, port, visit, with) ||
	       ft_place_spans(map, &place, &untagged, visit, with);
}

static bool is_of_tenant(void *with, const struct ft_compiled_interval *span)
{
	return span->tenant == *(const uint32_t *)with;
}

static bool is_listed(const struct ft_map *map, uint32_t port, uint32_t tenant)
{
	return visit_claims(map, port, is_of_tenant, &tenant);
}

static void examine(struct pair *pair)
{
	const struct ft_map *map = pair->map;
	const struct ft_lists *ports = &map->leaf_ports;

	look(pair, pair->from_ns);
	for (uint32_t i = ports->starts[pair->leaf]; i < ports->starts[pair->leaf + 1]; i++)
		if (is_listed(map, ports->items[i], pair->a) ||
		    is_listed(map, ports->items[i], pair->b))
			visit_claims(map, ports->items[i], look_at_ends, pair);
}

static bool names(const struct ft_tenant *tenant, uint32_t other)
{
	for (size_t i = 0; i < tenant->apart_count; i++)
		if (tenant->apart[i] == other)
			return true;
	return false;
}

struct listing {
	const struct ft_map *map;
	uint32_t leaf, index; /* of the port, in leaf_ports */
	unsigned position;    /* of the listing, among the port's */
	int64_t from_ns, to_ns;
	struct ft_cotenancy *found;
	size_t room, count;
};

static bool is_listed_before(const struct listing *listing, uint32_t end, uint32_t tenant)
{
	const struct ft_lists *ports = &listing->map->leaf_ports;

	for (uint32_t i = ports->starts[listing->leaf]; i < end; i++)
		if (is_listed(listing->map, ports->items[i], tenant))
			return true;
	return false;
}

static void try_pair(struct listing *listing, uint32_t tenant, uint32_t other)
{
	const struct ft_tenant *tenants = listing->map->declared->tenants;
	struct pair pair = { .map = listing->map,
			     .leaf = listing->leaf,
			     .a = tenant < other ? tenant : other,
			     .b = tenant < other ? other : tenant,
			     .from_ns = listing->from_ns,
			     .to_ns = listing->to_ns };

	if (tenant == other || tenants[tenant].class == FT_SHARED ||
	    tenants[other].class == FT_SHARED ||
	    (tenant > other && names(&tenants[other], tenant)) ||
	    !is_listed_before(listing, listing->map->leaf_ports.starts[listing->leaf + 1], other))
		return;
	examine(&pair);
	if (!pair.any)
		return;
	if (listing->count < listing->room)
		listing->found[listing->count] = pair.found;
	listing->count++;
}

struct first {
	uint32_t tenant;
	unsigned position; /* of the listing found, in the order of visit_claims() */
};

static bool is_first(void *with, const struct ft_compiled_interval *span)
{
	struct first *first = with;

	first->position++;
	return span->tenant == first->tenant;
}

/* A tenant that names others is looked at once per leaf: at its first listing on its first port. */
static bool try_tenant(void *with, const struct ft_compiled_interval *span)
{
	struct listing *listing = with;
	const struct ft_map *map = listing->map;
	struct first first = { .tenant = span->tenant };
	const struct ft_tenant *tenant;

	listing->position++;
	if (span->tenant == FT_NONE || map->declared->tenants[span->tenant].apart_count == 0)
		return false;
	visit_claims(map, map->leaf_ports.items[listing->index], is_first, &first);
	if (first.position != listing->position ||
	    is_listed_before(listing, listing->index, span->tenant))
		return false;
	tenant = &map->declared->tenants[span->tenant];
	for (size_t i = 0; i < tenant->apart_count; i++)
		try_pair(listing, span->tenant, tenant->apart[i]);
	return false;
}

static void try_leaf(struct listing *listing)
{
	const struct ft_lists *ports = &listing->map->leaf_ports;

	for (listing->index = ports->starts[listing->leaf];
	     listing->index < ports->starts[listing->leaf + 1]; listing->index++) {
		listing->position = 0;
		visit_claims(listing->map, ports->items[listing->index], try_tenant, listing);
	}
}

size_t ft_check_cotenancy(const struct ft_map *map, int64_t from_ns, int64_t to_ns,
			  struct ft_cotenancy *found, size_t room)
{
	struct listing listing = {
		.map = map, .from_ns = from_ns, .to_ns = to_ns, .found = found, .room = room
	};

	for (listing.leaf = 0; listing.leaf < map->leaves.count; listing.leaf++)
		try_leaf(&listing);
	return listing.count;
}
