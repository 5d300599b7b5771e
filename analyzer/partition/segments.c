/* Tenants of an address by the segments that hold it. */
#include "sets.h"

/* Of a port that has no IP address its GID, which is one. */
static uint32_t address_of(const struct ft_port_links *port)
{
	return port->address != FT_NONE ? port->address : port->gid;
}

struct ft_segment_place ft_place_of_endpoint(const struct ft_map *map, uint32_t endpoint)
{
	struct ft_segment_place place = { FT_NONE, FT_NONE };

	if (endpoint < map->port_count)
		place = (struct ft_segment_place){ address_of(&map->ports[endpoint]), endpoint };
	else if (endpoint >= map->first_address)
		place.ip_at = map->holder_address[endpoint - map->first_address];
	else
		place.mac_at = endpoint;
	return place;
}

static struct ft_segment_tags list(const struct ft_lists *lists, uint32_t at)
{
	return (struct ft_segment_tags){ lists->items + lists->starts[at],
					 lists->starts[at + 1] - lists->starts[at] };
}

/* In an overlay the VNI counts, else the VLAN. */
struct ft_segment_tags ft_tags_of(const struct ft_map *map, bool has_vni, uint32_t vni,
				  uint16_t vlan)
{
	uint32_t at = has_vni ? ft_numbers_find(&map->vnis, vni) : vlan;

	if (at == FT_NONE || (!has_vni && vlan > 0xfff))
		return (struct ft_segment_tags){ 0 };
	return list(has_vni ? &map->vni_slots : &map->vlan_slots, at);
}

static bool lists_slot(const uint32_t *slots, uint32_t count, uint32_t slot)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (slots[middle] < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && slots[low] == slot;
}

/* ---- levels: the lists of slots that hold an address, most specific first ---- */

struct walk {
	const struct ft_map *map;
	const struct ft_segment_tags *tags; /* NULL: whatever the tags */
	bool any_time;
	int64_t ts_ns;
	ft_span_visit *visit;
	void *with;
};

static bool visit_slot(const struct walk *walk, uint32_t slot)
{
	const struct ft_compiled_interval *span = &walk->map->slots[slot];

	return (walk->any_time || ft_span_holds(span, walk->ts_ns)) &&
	       walk->visit(walk->with, span);
}

static bool visit_fitting(const struct walk *walk, const struct ft_segment_tags *holding)
{
	for (uint32_t i = 0; i < holding->count; i++)
		if ((!walk->map->slots[holding->slots[i]].tagged ||
		     lists_slot(walk->tags->slots, walk->tags->count, holding->slots[i])) &&
		    visit_slot(walk, holding->slots[i]))
			return true;
	return false;
}

static bool visit_holding(const struct walk *walk, const uint32_t *slots, uint32_t count,
			  const struct ft_segment_tags *holding)
{
	for (uint32_t i = 0; i < count; i++)
		if (lists_slot(holding->slots, holding->count, slots[i]) &&
		    visit_slot(walk, slots[i]))
			return true;
	return false;
}

/* Slots of a holder whose tags fit: the shorter side is walked, the other one searched. */
static bool visit_holder(const struct walk *walk, uint32_t holder)
{
	const struct ft_map *map = walk->map;
	struct ft_segment_tags holding = list(&map->holder_slots, holder);

	if (walk->tags == NULL) {
		for (uint32_t i = 0; i < holding.count; i++)
			if (visit_slot(walk, holding.slots[i]))
				return true;
		return false;
	}
	if (holding.count <= walk->tags->count + map->untagged_count)
		return visit_fitting(walk, &holding);
	return visit_holding(walk, walk->tags->slots, walk->tags->count, &holding) ||
	       visit_holding(walk, map->untagged_slots, map->untagged_count, &holding);
}

static bool visit_host(const struct walk *walk, uint32_t port)
{
	uint32_t host = walk->map->ports[port].host;

	return host != FT_NONE && visit_holder(walk, walk->map->first_host + host);
}

static bool visit_address(const struct walk *walk, uint32_t address)
{
	const struct ft_map *map = walk->map;
	uint32_t port = map->address_port[address];

	if (visit_holder(walk, map->address_holder[address]))
		return true;
	for (; port != FT_NONE;
	     port = map->ports[port].address == address ? map->ports[port].next : FT_NONE)
		if (visit_host(walk, port))
			return true;
	return false;
}

/* Segments without addresses hold every address, but only where their tags are seen. */
static bool visit_everything(const struct walk *walk)
{
	const struct ft_map *map = walk->map;

	if (walk->tags == NULL)
		return false;
	for (uint32_t i = 0; i < walk->tags->count; i++)
		if (!map->slots[walk->tags->slots[i]].addressed &&
		    visit_slot(walk, walk->tags->slots[i]))
			return true;
	for (uint32_t i = 0; i < map->untagged_count; i++)
		if (!map->slots[map->untagged_slots[i]].addressed &&
		    visit_slot(walk, map->untagged_slots[i]))
			return true;
	return false;
}

static bool visit_level(const struct walk *walk, const struct ft_level *level)
{
	switch (level->kind) {
	case FT_LEVEL_ADDRESS:
		return visit_address(walk, level->at);
	case FT_LEVEL_MAC:
		return visit_holder(walk, level->at) ||
		       (level->at < walk->map->port_count && visit_host(walk, level->at));
	case FT_LEVEL_ALL:
		return visit_holder(walk, walk->map->first_keyword + FT_KEYWORD_ALL);
	case FT_LEVEL_EVERYTHING:
		return visit_everything(walk);
	default:
		return false;
	}
}

static struct ft_level first_level(const struct ft_segment_place *place)
{
	return (struct ft_level){ FT_LEVEL_ADDRESS, place->ip_at };
}

static bool next_level(const struct ft_map *map, const struct ft_segment_place *place,
		       struct ft_level *level)
{
	if (level->kind == FT_LEVEL_ADDRESS && level->at != FT_NONE)
		level->at = map->address_parent[level->at];
	if (level->kind == FT_LEVEL_ADDRESS && level->at != FT_NONE)
		return true;
	level->kind++;
	if (level->kind == FT_LEVEL_MAC && place->mac_at == FT_NONE)
		level->kind++;
	level->at = place->mac_at;
	return level->kind <= FT_LEVEL_EVERYTHING;
}

/* Visit the levels in turn, all of them or until one of them was visited to the end. */
static bool visit_levels(const struct walk *walk, const struct ft_segment_place *place,
			 struct ft_level *level)
{
	*level = first_level(place);
	if (level->at != FT_NONE && visit_level(walk, level))
		return true;
	while (next_level(walk->map, place, level))
		if (visit_level(walk, level))
			return true;
	return false;
}

/* ---- sets ---- */

static bool is_there(void *with, const struct ft_compiled_interval *span)
{
	(void)with;
	return span->tenant != FT_NONE;
}

struct ft_tenants ft_tenants_at(const struct ft_map *map, const struct ft_segment_place *place,
				const struct ft_segment_tags *tags, int64_t ts_ns)
{
	struct ft_tenants set = { .map = map, .ts_ns = ts_ns, .place = *place, .tags = *tags };
	struct walk here = { .map = map, .tags = tags, .ts_ns = ts_ns, .visit = is_there };

	if (!visit_levels(&here, place, &set.level))
		return ft_tenants_listing(map, place, ts_ns);
	set.kind = FT_HERE;
	return set;
}

struct ft_tenants ft_tenants_listing(const struct ft_map *map, const struct ft_segment_place *place,
				     int64_t ts_ns)
{
	struct ft_tenants set = { .map = map, .ts_ns = ts_ns, .place = *place };
	struct walk elsewhere = { .map = map, .ts_ns = ts_ns, .visit = is_there };

	set.kind = visit_levels(&elsewhere, place, &set.level) ? FT_ELSEWHERE : FT_NOBODY;
	return set;
}

static bool is_another(void *with, const struct ft_compiled_interval *span)
{
	uint32_t *only = with;

	if (span->tenant == FT_NONE)
		return false;
	if (*only == FT_NONE)
		*only = span->tenant;
	return *only != span->tenant;
}

uint32_t ft_tenant_at_home(const struct ft_map *map, const struct ft_segment_place *place,
			   const struct ft_segment_tags *tags, int64_t ts_ns)
{
	uint32_t only = FT_NONE;
	const struct walk walk = {
		.map = map, .tags = tags, .ts_ns = ts_ns, .visit = is_another, .with = &only
	};
	struct ft_level level = first_level(place);

	do {
		if ((level.kind != FT_LEVEL_ADDRESS || level.at != FT_NONE) &&
		    visit_level(&walk, &level))
			return FT_NONE;
	} while (only == FT_NONE && next_level(map, place, &level));
	return only;
}

struct tenant_walk {
	ft_tenant_visit *visit;
	void *with;
};

static bool visit_tenant(void *with, const struct ft_compiled_interval *span)
{
	struct tenant_walk *walk = with;

	return span->tenant != FT_NONE && walk->visit(walk->with, span->tenant);
}

bool ft_slots_visit(const struct ft_tenants *set, ft_tenant_visit *visit, void *with)
{
	struct tenant_walk tenants = { visit, with };
	struct walk walk = { .map = set->map,
			     .tags = set->kind == FT_HERE ? &set->tags : NULL,
			     .ts_ns = set->ts_ns,
			     .visit = visit_tenant,
			     .with = &tenants };

	return visit_level(&walk, &set->level);
}

static bool keep_origin(void *with, const struct ft_compiled_interval *span)
{
	*(struct ft_origin *)with = span->source->origin;
	return span->tenant != FT_NONE;
}

struct ft_origin ft_slots_origin(const struct ft_tenants *set)
{
	struct ft_origin origin = { .file = FT_NONE };
	struct walk walk = { .map = set->map,
			     .tags = set->kind == FT_HERE ? &set->tags : NULL,
			     .ts_ns = set->ts_ns,
			     .visit = keep_origin,
			     .with = &origin };

	visit_level(&walk, &set->level);
	return origin;
}

/* What is listed by address matters wherever it is seen; what is listed by tag alone, in its tags. */
bool ft_place_spans(const struct ft_map *map, const struct ft_segment_place *place,
		    const struct ft_segment_tags *tags, ft_span_visit *visit, void *with)
{
	struct walk walk = { .map = map, .any_time = true, .visit = visit, .with = with };
	struct walk tagged = {
		.map = map, .tags = tags, .any_time = true, .visit = visit, .with = with
	};
	struct ft_level level;

	return visit_levels(&walk, place, &level) || visit_everything(&tagged);
}
