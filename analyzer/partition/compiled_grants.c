/* Who is in which partition, who owns what, and when that changes. */
#include "compiled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_spans(struct ft_map *map)
{
	const struct ft_declared *declared = map->declared;
	uint32_t count = 0;

	map->first_span = ft_map_array(declared->partition_count + 1, sizeof *map->first_span);
	if (map->first_span == NULL)
		return -ENOMEM;
	for (size_t p = 0; p < declared->partition_count; p++) {
		map->first_span[p] = count;
		count += (uint32_t)declared->partitions[p].interval_count;
	}
	map->first_span[declared->partition_count] = count;
	map->spans = ft_map_array(count, sizeof *map->spans);
	if (map->spans == NULL)
		return -ENOMEM;
	for (uint32_t p = 0; p < declared->partition_count; p++)
		for (uint32_t s = map->first_span[p]; s < map->first_span[p + 1]; s++) {
			const struct ft_interval *interval =
				&declared->partitions[p].intervals[s - map->first_span[p]];

			map->spans[s] = (struct ft_compiled_interval){
				.from_ns = interval->from_ns,
				.to_ns = interval->to_ns,
				.of = p,
				.tenant = declared->partitions[p].tenant,
				.source = interval
			};
		}
	return 0;
}

/* Partitions of one base are chained in file order. */
static int index_bases(struct ft_map *map)
{
	size_t count = map->declared->partition_count;

	map->partition_of_base = ft_map_array(0x8000, sizeof *map->partition_of_base);
	map->next_of_base = ft_map_array(count, sizeof *map->next_of_base);
	if (map->partition_of_base == NULL || map->next_of_base == NULL)
		return -ENOMEM;
	for (uint32_t p = (uint32_t)count; p-- > 0;) {
		uint16_t base = map->declared->partitions[p].base & 0x7fff;

		map->next_of_base[p] = ft_map_of_base(map, base);
		map->partition_of_base[base] = p + 1;
	}
	return 0;
}

/* Grants of a holder come in the order of partitions, intervals and lines, so they are sorted. */
static int fill_grants(struct ft_map *map, const uint32_t *targets)
{
	uint32_t span_count = map->first_span[map->declared->partition_count], next = 0;
	uint32_t *ends;

	map->grant_starts = ft_map_array((size_t)map->holder_count + 1, sizeof *map->grant_starts);
	if (map->grant_starts == NULL)
		return -ENOMEM;
	for (uint32_t s = 0; s < span_count; s++)
		for (size_t m = 0; m < map->spans[s].source->member_count; m++, next++)
			if (targets[next] != FT_NONE)
				map->grant_starts[targets[next]]++;
	ft_lists_start(map->grant_starts, map->holder_count);
	ends = ft_map_array(map->holder_count, sizeof *ends);
	map->grants = ft_map_array(map->grant_starts[map->holder_count], sizeof *map->grants);
	if (ends == NULL || map->grants == NULL) {
		free(ends);
		return -ENOMEM;
	}
	memcpy(ends, map->grant_starts, map->holder_count * sizeof *ends);
	next = 0;
	for (uint32_t s = 0; s < span_count; s++)
		for (uint32_t m = 0; m < map->spans[s].source->member_count; m++, next++)
			if (targets[next] != FT_NONE)
				map->grants[ends[targets[next]]++] = (struct ft_grant){ s, m };
	free(ends);
	return 0;
}

/* By tenant, then by interval; tenants are looked up and those of one class are walked. */
static int claim_order(const void *a, const void *b)
{
	const struct ft_claim *left = a, *right = b;

	if (left->tenant != right->tenant)
		return left->tenant < right->tenant ? -1 : 1;
	return left->span < right->span ? -1 : left->span > right->span;
}

static int fill_claims(struct ft_map *map)
{
	map->claims = ft_map_array(map->grant_starts[map->holder_count], sizeof *map->claims);
	if (map->claims == NULL)
		return -ENOMEM;
	for (uint32_t h = 0; h < map->holder_count; h++) {
		uint32_t start = map->grant_starts[h], end = map->grant_starts[h + 1];
		bool sorted = true;

		for (uint32_t g = start; g < end; g++) {
			uint32_t span = map->grants[g].span;

			map->claims[g] = (struct ft_claim){ map->spans[span].tenant, span };
			sorted &= g == start ||
				  claim_order(&map->claims[g - 1], &map->claims[g]) <= 0;
		}
		if (!sorted)
			qsort(map->claims + start, end - start, sizeof *map->claims, claim_order);
	}
	return 0;
}

int ft_compile_grants(struct ft_map *map, const uint32_t *targets)
{
	int error = make_spans(map);

	if (error == 0)
		error = index_bases(map);
	if (error == 0)
		error = fill_grants(map, targets);
	return error == 0 ? fill_claims(map) : error;
}

/* ---- look-up ---- */

uint32_t ft_map_span(const struct ft_map *map, uint32_t partition, int64_t ts_ns)
{
	uint32_t low = map->first_span[partition], high = map->first_span[partition + 1];

	while (low < high) { /* the first that begins later */
		uint32_t middle = low + (high - low) / 2;

		if (map->spans[middle].from_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == map->first_span[partition] || !ft_span_holds(&map->spans[low - 1], ts_ns))
		return FT_NONE;
	return low - 1;
}

uint32_t ft_grant_from(const struct ft_map *map, uint32_t holder, uint32_t span)
{
	uint32_t low = map->grant_starts[holder], high = map->grant_starts[holder + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (map->grants[middle].span < span)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* OpenSM: the later line. tapmap: the more specific one, and of equals the fuller. */
static bool is_better(const struct ft_best *best, const struct ft_map *map,
		      const struct ft_holder *holder, uint32_t order, enum ft_membership membership)
{
	if (best->line == NULL)
		return true;
	if (map->declared->last_rule_wins)
		return order > best->order;
	if (holder->specificity != best->specificity)
		return holder->specificity > best->specificity;
	return membership > best->membership;
}

void ft_best_take(struct ft_best *best, const struct ft_map *map, const struct ft_holder *holder,
		  const struct ft_grant *grant)
{
	const struct ft_member *line = &map->spans[grant->span].source->members[grant->member];

	if (is_better(best, map, holder, grant->member, line->membership))
		*best = (struct ft_best){ line, holder->specificity, grant->member,
					  line->membership };
}

unsigned ft_map_granted(const struct ft_map *map, uint32_t endpoint, uint32_t span,
			const struct ft_member **line)
{
	struct ft_best best = { 0 };
	struct ft_holders walk;
	struct ft_holder holder;

	ft_holders_begin(&walk, map, endpoint);
	while (ft_holders_next(&walk, &holder)) {
		uint32_t end = map->grant_starts[holder.index + 1];

		for (uint32_t g = ft_grant_from(map, holder.index, span);
		     g < end && map->grants[g].span == span; g++)
			ft_best_take(&best, map, &holder, &map->grants[g]);
	}
	if (line != NULL)
		*line = best.line;
	return best.membership;
}

unsigned ft_map_membership(const struct ft_map *map, uint32_t endpoint, uint16_t base,
			   int64_t ts_ns, struct ft_origin *origin)
{
	unsigned fullest = 0;

	for (uint32_t p = ft_map_of_base(map, base & 0x7fff); p != FT_NONE;
	     p = map->next_of_base[p]) {
		uint32_t span = ft_map_span(map, p, ts_ns);
		const struct ft_member *line = NULL;
		unsigned membership =
			span == FT_NONE ? 0 : ft_map_granted(map, endpoint, span, &line);

		if (membership > fullest) {
			fullest = membership;
			if (origin != NULL)
				*origin = line->origin;
		}
	}
	return fullest;
}
