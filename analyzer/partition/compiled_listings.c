/* What every partition interval makes of every endpoint, but for endpoints with very many of them. */
#include "compiled.h"

#include <errno.h>
#include <stdlib.h>

/* The listings of one endpoint while its holders are walked. */
struct gathering {
	struct {
		uint32_t span;
		bool explicit; /* not only by ALL and the like */
		struct ft_best best;
	} items[FT_LISTINGS_MAX];
	unsigned count;
};

/* The place of an interval, ascending; false: no room for another one. */
static bool place_of(struct gathering *gathering, uint32_t span, unsigned *place)
{
	unsigned at = gathering->count;

	while (at > 0 && gathering->items[at - 1].span > span)
		at--;
	*place = at - (at > 0 && gathering->items[at - 1].span == span);
	if (*place < at)
		return true;
	if (gathering->count == FT_LISTINGS_MAX)
		return false;
	for (unsigned i = gathering->count++; i > at; i--)
		gathering->items[i] = gathering->items[i - 1];
	gathering->items[at].span = span;
	gathering->items[at].explicit = false;
	gathering->items[at].best = (struct ft_best){ 0 };
	return true;
}

static bool gather(struct gathering *gathering, const struct ft_map *map, uint32_t endpoint)
{
	struct ft_holders walk;
	struct ft_holder holder;

	gathering->count = 0;
	ft_holders_begin(&walk, map, endpoint);
	while (ft_holders_next(&walk, &holder)) {
		uint32_t end = map->grant_starts[holder.index + 1];

		for (uint32_t g = map->grant_starts[holder.index]; g < end; g++) {
			unsigned place;

			if (!place_of(gathering, map->grants[g].span, &place))
				return false;
			gathering->items[place].explicit |= !holder.everyone;
			ft_best_take(&gathering->items[place].best, map, &holder, &map->grants[g]);
		}
	}
	return true;
}

/* With a second partition of the base there might be a second owner; only customers own what they list as limited. */
static bool makes_owner(const struct ft_map *map, uint32_t span)
{
	const struct ft_declared *declared = map->declared;
	uint32_t partition = map->spans[span].of, tenant = map->spans[span].tenant;
	uint16_t base = declared->partitions[partition].base & 0x7fff;

	return declared->verdict != FT_MAP_FAIL_OPEN && tenant != FT_NONE &&
	       declared->tenants[tenant].class == FT_CUSTOMER &&
	       ft_map_of_base(map, base) == partition && map->next_of_base[partition] == FT_NONE;
}

static int make_room(struct ft_map *map, size_t needed, size_t *room)
{
	struct ft_listing *larger;

	if (needed <= *room)
		return 0;
	*room = 2 * needed;
	larger = realloc(map->listings, *room * sizeof *larger);
	if (larger == NULL)
		return -ENOMEM;
	map->listings = larger;
	return 0;
}

static void keep(struct ft_map *map, const struct gathering *gathering, uint32_t at)
{
	for (unsigned i = 0; i < gathering->count; i++)
		map->listings[at + i] = (struct ft_listing){
			.span = gathering->items[i].span,
			.membership = (uint8_t)gathering->items[i].best.membership,
			.owned = gathering->items[i].explicit &&
				 makes_owner(map, gathering->items[i].span),
		};
}

int ft_compile_listings(struct ft_map *map)
{
	struct gathering gathering;
	size_t room = map->grant_starts[map->holder_count] / 2 + FT_LISTINGS_MAX;
	uint32_t count = 0;

	map->listing_starts =
		ft_map_array((size_t)map->endpoint_count + 1, sizeof *map->listing_starts);
	map->listings = ft_map_array(room, sizeof *map->listings);
	if (map->listing_starts == NULL || map->listings == NULL)
		return -ENOMEM;
	for (uint32_t e = 0; e < map->endpoint_count; e++) {
		map->listing_starts[e] = count;
		if (!gather(&gathering, map, e))
			continue;
		if (make_room(map, (size_t)count + gathering.count, &room) != 0)
			return -ENOMEM;
		keep(map, &gathering, count);
		count += gathering.count;
	}
	map->listing_starts[map->endpoint_count] = count;
	return 0;
}

/* Mostly there are few, and those in a row. */
const struct ft_listing *ft_map_listing(const struct ft_map *map, uint32_t endpoint, uint32_t span)
{
	uint32_t at = map->listing_starts[endpoint], end = map->listing_starts[endpoint + 1];

	while (at < end && map->listings[at].span < span)
		at++;
	return at < end && map->listings[at].span == span ? &map->listings[at] : NULL;
}
