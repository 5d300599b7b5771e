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

/* The latest interval that ended less than the grace before and had the endpoint. */
static bool lost_entry(const struct ft_map *map, uint32_t endpoint, uint32_t partition,
		       int64_t ts_ns, struct ft_entry *entry)
{
	int64_t since;

	if (__builtin_sub_overflow(ts_ns, map->declared->grace_ns, &since))
		since = FT_TIME_MIN;
	for (uint32_t s = map->first_span[partition + 1]; s-- > map->first_span[partition];)
		if (map->spans[s].to_ns <= ts_ns && map->spans[s].to_ns > since &&
		    map->spans[s].to_ns != FT_TIME_MAX && entry_of(map, endpoint, s, entry))
			return true;
	return false;
}

size_t ft_map_entries_in_grace(const struct ft_map *map, uint32_t endpoint, int64_t ts_ns,
			       struct ft_entry *entries, size_t room)
{
	size_t count = 0;

	for (uint32_t p = ft_map_next_partition(map, endpoint, 0); p != FT_NONE;
	     p = ft_map_next_partition(map, endpoint, p + 1)) {
		struct ft_entry entry;

		if (ft_map_membership(map, endpoint, map->declared->partitions[p].base, ts_ns,
				      NULL) != 0 ||
		    !lost_entry(map, endpoint, p, ts_ns, &entry))
			continue;
		if (count < room)
			entries[count] = entry;
		count++;
	}
	return count;
}
