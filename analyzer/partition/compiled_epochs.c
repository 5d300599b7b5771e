/* The instants at which a judgement may change. */
#include "compiled.h"

#include <errno.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

static size_t sorted_and_unique(int64_t *instants, size_t count)
{
	size_t kept = 0;

	qsort(instants, count, sizeof *instants, by_time);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || instants[kept - 1] != instants[i])
			instants[kept++] = instants[i];
	return kept;
}

/* Intervals of one map mostly share their ends, so a change is compared with the latest ones first. */
static void add_change(struct ft_map *map, int64_t at_ns)
{
	size_t latest = map->epoch_count < 4 ? 0 : map->epoch_count - 4;

	if (at_ns == FT_TIME_MIN || at_ns == FT_TIME_MAX)
		return;
	for (size_t i = latest; i < map->epoch_count; i++)
		if (map->epochs[i] == at_ns)
			return;
	map->epochs[map->epoch_count++] = at_ns;
}

static void add_changes(struct ft_map *map, const struct ft_compiled_interval *spans, size_t count)
{
	for (size_t s = 0; s < count; s++) {
		add_change(map, spans[s].from_ns);
		add_change(map, spans[s].to_ns);
	}
}

/* A change is felt once more when its grace is over. */
static void add_grace(struct ft_map *map)
{
	size_t changes = map->epoch_count;
	int64_t grace = map->declared->grace_ns, sum;

	for (size_t i = 0; i < changes && grace > 0; i++)
		if (!__builtin_add_overflow(map->epochs[i], grace, &sum))
			map->epochs[map->epoch_count++] = sum;
}

int ft_compile_epochs(struct ft_map *map)
{
	size_t spans = map->first_span[map->declared->partition_count];
	int64_t *shorter;

	map->epochs = ft_map_array(4 * (spans + map->slot_count), sizeof *map->epochs);
	if (map->epochs == NULL)
		return -ENOMEM;
	add_changes(map, map->spans, spans);
	add_changes(map, map->slots, map->slot_count);
	map->epoch_count = sorted_and_unique(map->epochs, map->epoch_count);
	add_grace(map);
	map->epoch_count = sorted_and_unique(map->epochs, map->epoch_count);
	shorter = realloc(map->epochs,
			  (map->epoch_count != 0 ? map->epoch_count : 1) * sizeof *map->epochs);
	if (shorter != NULL)
		map->epochs = shorter;
	return 0;
}

size_t ft_map_epoch_count(const struct ft_map *map)
{
	return map->epoch_count + 1;
}

uint32_t ft_map_epoch(const struct ft_map *map, int64_t ts_ns, int64_t *from_ns, int64_t *to_ns)
{
	size_t low = 0, high = map->epoch_count;

	while (low < high) { /* the first change after ts_ns */
		size_t middle = low + (high - low) / 2;

		if (map->epochs[middle] <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	*from_ns = low == 0 ? FT_TIME_MIN : map->epochs[low - 1];
	*to_ns = low == map->epoch_count ? FT_TIME_MAX : map->epochs[low];
	return (uint32_t)low;
}
