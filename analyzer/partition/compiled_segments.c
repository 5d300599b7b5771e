/* Segments by address and by tag. */
#include "compiled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VLANS 4096

static int make_slots(struct ft_map *map)
{
	const struct ft_declared *declared = map->declared;
	size_t count = 0;

	for (size_t s = 0; s < declared->segment_count; s++)
		count += declared->segments[s].interval_count;
	map->slots = ft_map_array(count, sizeof *map->slots);
	map->untagged_slots = ft_map_array(count, sizeof *map->untagged_slots);
	if (map->slots == NULL || map->untagged_slots == NULL)
		return -ENOMEM;
	for (uint32_t s = 0; s < declared->segment_count; s++)
		for (size_t i = 0; i < declared->segments[s].interval_count; i++) {
			const struct ft_interval *interval = &declared->segments[s].intervals[i];
			struct ft_compiled_interval *slot = &map->slots[map->slot_count++];

			*slot = (struct ft_compiled_interval){ .from_ns = interval->from_ns,
							       .to_ns = interval->to_ns,
							       .of = s,
							       .tenant =
								       declared->segments[s].tenant,
							       .source = interval };
			for (size_t m = 0; m < interval->member_count; m++) {
				slot->tagged |= ft_member_is_tag(&interval->members[m]);
				slot->addressed |= !ft_member_is_tag(&interval->members[m]);
			}
			if (!slot->tagged)
				map->untagged_slots[map->untagged_count++] = map->slot_count - 1;
		}
	return 0;
}

/* The list that a member line puts its segment in; FT_NONE: not this kind of list. */
typedef uint32_t list_of(const struct ft_map *map, const struct ft_member *member, uint32_t target);

static uint32_t list_of_holder(const struct ft_map *map, const struct ft_member *member,
			       uint32_t target)
{
	(void)map;
	(void)member;
	return target;
}

static uint32_t list_of_vlan(const struct ft_map *map, const struct ft_member *member,
			     uint32_t target)
{
	(void)map;
	(void)target;
	return member->kind == FT_MEMBER_VLAN && member->number < VLANS ? member->number : FT_NONE;
}

static uint32_t list_of_vni(const struct ft_map *map, const struct ft_member *member,
			    uint32_t target)
{
	(void)target;
	return member->kind == FT_MEMBER_VNI ? ft_numbers_find(&map->vnis, member->number)
					     : FT_NONE;
}

/* Slots are added in ascending order, so every list is sorted. */
static int fill_lists(const struct ft_map *map, struct ft_lists *lists, size_t count, list_of *list,
		      const uint32_t *targets)
{
	uint32_t *ends = ft_map_array(count, sizeof *ends);
	size_t next = 0;

	lists->starts = ft_map_array(count + 1, sizeof *lists->starts);
	if (lists->starts == NULL || ends == NULL)
		goto free_ends;
	for (uint32_t s = 0; s < map->slot_count; s++)
		for (size_t m = 0; m < map->slots[s].source->member_count; m++, next++) {
			uint32_t at = list(map, &map->slots[s].source->members[m], targets[next]);

			if (at != FT_NONE)
				lists->starts[at]++;
		}
	ft_lists_start(lists->starts, count);
	lists->items = ft_map_array(lists->starts[count], sizeof *lists->items);
	if (lists->items == NULL)
		goto free_ends;
	memcpy(ends, lists->starts, count * sizeof *ends);
	next = 0;
	for (uint32_t s = 0; s < map->slot_count; s++)
		for (size_t m = 0; m < map->slots[s].source->member_count; m++, next++) {
			uint32_t at = list(map, &map->slots[s].source->members[m], targets[next]);

			if (at != FT_NONE)
				lists->items[ends[at]++] = s;
		}
	free(ends);
	return 0;

free_ends:
	free(ends);
	return -ENOMEM;
}

static int number_vnis(struct ft_map *map, uint32_t *count)
{
	size_t lines = 0;

	*count = 0;
	for (uint32_t s = 0; s < map->slot_count; s++)
		for (size_t m = 0; m < map->slots[s].source->member_count; m++)
			lines += map->slots[s].source->members[m].kind == FT_MEMBER_VNI;
	if (ft_numbers_create(&map->vnis, lines) != 0)
		return -ENOMEM;
	for (uint32_t s = 0; s < map->slot_count; s++)
		for (size_t m = 0; m < map->slots[s].source->member_count; m++) {
			const struct ft_member *member = &map->slots[s].source->members[m];

			if (member->kind == FT_MEMBER_VNI &&
			    ft_numbers_insert(&map->vnis, member->number, *count) == *count)
				(*count)++;
		}
	return 0;
}

int ft_compile_segments(struct ft_map *map, const uint32_t *targets)
{
	uint32_t vnis;
	int error = make_slots(map);

	if (error == 0)
		error = number_vnis(map, &vnis);
	if (error == 0)
		error = fill_lists(map, &map->holder_slots, map->holder_count, list_of_holder,
				   targets);
	if (error == 0)
		error = fill_lists(map, &map->vlan_slots, VLANS, list_of_vlan, targets);
	if (error == 0)
		error = fill_lists(map, &map->vni_slots, vnis, list_of_vni, targets);
	return error;
}
