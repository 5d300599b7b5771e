/* P_Key table entries of an endpoint. */
#include "compiled.h"

uint32_t ft_map_next_partition(const struct ft_map *map, uint32_t endpoint, uint32_t from)
{
	uint32_t next = FT_NONE;
	struct ft_holders walk;
	struct ft_holder holder;

	if (from >= map->declared->partition_count)
		return FT_NONE;
	ft_holders_begin(&walk, map, endpoint);
	while (ft_holders_next(&walk, &holder)) {
		uint32_t at = ft_grant_from(map, holder.index, map->first_span[from]);

		if (at < map->grant_starts[holder.index + 1] &&
		    map->spans[map->grants[at].span].of < next)
			next = map->spans[map->grants[at].span].of;
	}
	return next;
}

static bool entry_of(const struct ft_map *map, uint32_t endpoint, uint32_t span,
		     struct ft_entry *entry)
{
	const struct ft_member *line = NULL;
	unsigned membership = span == FT_NONE ? 0 : ft_map_granted(map, endpoint, span, &line);

	if (membership == 0)
		return false;
	*entry = (struct ft_entry){ .base = map->declared->partitions[map->spans[span].of].base,
				    .membership = membership,
				    .partition = map->spans[span].of,
				    .origin = line->origin };
	return true;
}

size_t ft_map_entries(const struct ft_map *map, uint32_t endpoint, int64_t ts_ns,
		      struct ft_entry *entries, size_t room)
{
	size_t count = 0;

	for (uint32_t p = ft_map_next_partition(map, endpoint, 0); p != FT_NONE;
	     p = ft_map_next_partition(map, endpoint, p + 1)) {
		struct ft_entry entry;

		if (!entry_of(map, endpoint, ft_map_span(map, p, ts_ns), &entry))
			continue;
		if (count < room)
			entries[count] = entry;
		count++;
	}
	return count;
}
