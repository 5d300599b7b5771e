/* Tenants of an endpoint by the partitions that list it. */
#include "sets.h"

static const struct ft_tenant *tenant_of(const struct ft_map *map, uint32_t index)
{
	return &map->declared->tenants[index];
}

/*
 * Does this claim make its tenant an owner of the given class now? Shared and management tenants
 * own what they list as full member.
 */
static bool is_owner(const struct ft_tenants *set, const struct ft_claim *claim,
		     enum ft_tenant_class class)
{
	if (claim->tenant == FT_NONE || tenant_of(set->map, claim->tenant)->class != class ||
	    !ft_span_holds(&set->map->spans[claim->span], set->ts_ns))
		return false;
	return class == FT_CUSTOMER ||
	       (ft_map_granted(set->map, set->endpoint, claim->span, NULL) & FT_FULL) != 0;
}

static uint32_t claim_from(const struct ft_map *map, uint32_t holder, uint32_t tenant)
{
	uint32_t low = map->grant_starts[holder], high = map->grant_starts[holder + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (map->claims[middle].tenant < tenant)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The claim by which a tenant owns the endpoint now, if not through the holder `before`; NULL: none. */
static const struct ft_claim *claim_before(const struct ft_tenants *set, uint32_t tenant,
					   uint32_t before)
{
	const struct ft_map *map = set->map;
	struct ft_holders walk;
	struct ft_holder holder;

	ft_holders_begin(&walk, map, set->endpoint);
	while (ft_holders_next(&walk, &holder) && holder.index != before) {
		uint32_t end = map->grant_starts[holder.index + 1];

		for (uint32_t c = holder.everyone ? end : claim_from(map, holder.index, tenant);
		     c < end && map->claims[c].tenant == tenant; c++)
			if (is_owner(set, &map->claims[c], set->class))
				return &map->claims[c];
	}
	return NULL;
}

static const struct ft_claim *claim_of(const struct ft_tenants *set, uint32_t tenant)
{
	return claim_before(set, tenant, FT_NONE);
}

/* Each owner once: claims are in the order of tenants, and what an earlier holder said is left out. */
bool ft_owners_visit(const struct ft_tenants *set, ft_tenant_visit *visit, void *with)
{
	const struct ft_map *map = set->map;
	struct ft_holders walk;
	struct ft_holder holder;
	bool first = true; /* which no earlier holder can have named */

	ft_holders_begin(&walk, map, set->endpoint);
	while (ft_holders_next(&walk, &holder)) {
		uint32_t end = map->grant_starts[holder.index + 1], last = FT_NONE;

		for (uint32_t c = map->grant_starts[holder.index]; !holder.everyone && c < end;
		     c++) {
			const struct ft_claim *claim = &map->claims[c];

			if (claim->tenant == last || !is_owner(set, claim, set->class))
				continue;
			last = claim->tenant;
			if ((first || claim_before(set, last, holder.index) == NULL) &&
			    visit(with, last))
				return true;
			first = false;
		}
	}
	return false;
}

bool ft_owners_hold(const struct ft_tenants *set, uint32_t tenant)
{
	return tenant_of(set->map, tenant)->class == set->class && claim_of(set, tenant) != NULL;
}

static bool is_any(void *with, uint32_t tenant)
{
	(void)with;
	(void)tenant;
	return true;
}

/* If exactly one tenant of the base's partitions is among the owners, the endpoint acts for it. */
static void narrow(struct ft_tenants *set, uint16_t base)
{
	const struct ft_map *map = set->map;
	uint32_t found = FT_NONE;

	for (uint32_t p = ft_map_of_base(map, base & 0x7fff); p != FT_NONE;
	     p = map->next_of_base[p]) {
		uint32_t tenant = map->declared->partitions[p].tenant;

		if (tenant == FT_NONE || tenant == found || !ft_owners_hold(set, tenant))
			continue;
		if (found != FT_NONE)
			return;
		found = tenant;
	}
	if (found == FT_NONE)
		return;
	set->kind = FT_ONE;
	set->tenant = found;
}

struct ft_tenants ft_tenants_owning(const struct ft_map *map, uint32_t endpoint, uint16_t base,
				    int64_t ts_ns)
{
	static const enum ft_tenant_class classes[] = { FT_CUSTOMER, FT_SHARED, FT_MANAGEMENT };
	struct ft_tenants set = {
		.map = map, .ts_ns = ts_ns, .kind = FT_NOBODY, .endpoint = endpoint
	};

	if (endpoint == FT_NONE || map->declared->verdict == FT_MAP_FAIL_OPEN)
		return set;
	for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++) {
		set.class = classes[i];
		if (!ft_owners_visit(&set, is_any, NULL))
			continue;
		set.kind = FT_OWNERS;
		if (base != 0)
			narrow(&set, base);
		return set;
	}
	return set;
}

struct ft_tenants ft_tenants_of_group(const struct ft_map *map, uint16_t base)
{
	struct ft_tenants set = { .map = map,
				  .kind = FT_OF_BASE,
				  .partition = ft_map_of_base(map, base & 0x7fff) };

	if (!ft_base_visit(&set, is_any, NULL))
		set.kind = FT_NOBODY;
	return set;
}

bool ft_base_visit(const struct ft_tenants *set, ft_tenant_visit *visit, void *with)
{
	const struct ft_map *map = set->map;

	for (uint32_t p = set->partition; p != FT_NONE; p = map->next_of_base[p])
		if (map->declared->partitions[p].tenant != FT_NONE &&
		    visit(with, map->declared->partitions[p].tenant))
			return true;
	return false;
}

static bool keep_tenant(void *with, uint32_t tenant)
{
	*(uint32_t *)with = tenant;
	return true;
}

/* The member line by which the first (or the only) tenant owns the endpoint. */
struct ft_origin ft_owners_origin(const struct ft_tenants *set)
{
	const struct ft_map *map = set->map;
	struct ft_tenants owners = *set;
	const struct ft_claim *claim;
	const struct ft_member *line = NULL;
	uint32_t tenant = set->tenant;

	owners.kind = FT_OWNERS;
	if (set->kind == FT_OWNERS)
		ft_owners_visit(set, keep_tenant, &tenant);
	claim = claim_of(&owners, tenant);
	if (claim != NULL)
		ft_map_granted(map, set->endpoint, claim->span, &line);
	return line != NULL ? line->origin : (struct ft_origin){ .file = FT_NONE };
}

bool ft_endpoint_spans(const struct ft_map *map, uint32_t endpoint, ft_span_visit *visit,
		       void *with)
{
	struct ft_holders walk;
	struct ft_holder holder;

	ft_holders_begin(&walk, map, endpoint);
	while (ft_holders_next(&walk, &holder)) {
		uint32_t end = map->grant_starts[holder.index + 1];

		for (uint32_t g = map->grant_starts[holder.index]; g < end; g++)
			if (visit(with, &map->spans[map->grants[g].span]))
				return true;
	}
	return false;
}

/* ---- the public question ---- */

struct owner_list {
	const struct ft_tenants *set;
	uint32_t *tenants;
	size_t room, count, position;
};

struct first {
	uint32_t tenant;
	size_t position;
};

static bool is_first(void *with, uint32_t tenant)
{
	struct first *first = with;

	first->position++;
	return tenant == first->tenant;
}

/* Several segments of a tenant may list an address; partitions name each owner once as it is. */
static bool add_owner(void *with, uint32_t tenant)
{
	struct owner_list *list = with;
	struct first first = { .tenant = tenant };

	list->position++;
	if (list->set->kind != FT_OWNERS) {
		ft_tenants_visit(list->set, is_first, &first);
		if (first.position != list->position)
			return false;
	}
	if (list->count < list->room)
		list->tenants[list->count] = tenant;
	list->count++;
	return false;
}

size_t ft_map_owners(const struct ft_map *map, uint32_t endpoint, int64_t ts_ns, uint32_t *tenants,
		     size_t room)
{
	struct ft_tenants set = ft_tenants_owning(map, endpoint, 0, ts_ns);
	struct owner_list list = { .set = &set, .tenants = tenants, .room = room };

	if (set.kind == FT_NOBODY && endpoint != FT_NONE) {
		struct ft_segment_place place = ft_place_of_endpoint(map, endpoint);

		set = ft_tenants_listing(map, &place, ts_ns);
	}
	ft_tenants_visit(&set, add_owner, &list);
	return list.count;
}
