#include "framing_rules.h"

#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>
#include <flow/hash.h>

enum { SLOTS_FIRST = 64 };

static uint32_t *slot_of(const struct ft_framing_marks *marks, const struct ft_flow_key *key)
{
	uint32_t at = (uint32_t)ft_hash(key, sizeof *key, marks->seed) & marks->mask;

	while (marks->slots[at] != 0 &&
	       memcmp(&marks->items[marks->slots[at] - 1].key, key, sizeof *key) != 0)
		at = (at + 1) & marks->mask;
	return &marks->slots[at];
}

/* Twice the slots, and half as many marks. */
static void grow(struct ft_framing_marks *marks)
{
	uint32_t slots = marks->slots == NULL ? SLOTS_FIRST : 2 * (marks->mask + 1);
	struct ft_framing_mark *items = reallocarray(marks->items, slots / 2, sizeof *marks->items);

	free(marks->slots);
	marks->slots = calloc(slots, sizeof *marks->slots);
	if (items == NULL || marks->slots == NULL)
		ft_no_memory();
	marks->items = items;
	marks->mask = slots - 1;
	for (uint32_t i = 0; i < marks->count; i++)
		*slot_of(marks, &items[i].key) = i + 1;
}

static void put_address(uint8_t to[16], const uint8_t from[16], bool by_lid)
{
	memcpy(to, from, 16);
	if (by_lid)
		ft_flow_put_lid(to, ft_nccl_lid(from));
}

static struct ft_flow_key key_of(const struct ft_nccl_found *found)
{
	struct ft_flow_key key = {
		.dest_qp = found->dest_qp,
		.vni = found->ends.vni,
		.base = found->pkey & 0x7fff,
		.vlan = found->vlan,
		.by_lid = found->ends.by_lid,
	};

	put_address(key.src, found->ends.src, key.by_lid != 0);
	put_address(key.dst, found->ends.dst, key.by_lid != 0);
	return key;
}

void ft_framing_marks_add(struct ft_framing_marks *marks, const struct ft_nccl_found *found,
			  enum ft_rule rule, bool sure)
{
	const struct ft_flow_key key = key_of(found);
	const uint8_t bit = ft_framing_rule_bit(rule);
	struct ft_framing_told *told;
	uint32_t *slot;

	if (marks->slots == NULL || marks->count == (marks->mask + 1) / 2)
		grow(marks);
	slot = slot_of(marks, &key);
	if (*slot == 0) {
		marks->items[marks->count++] = (struct ft_framing_mark){ .key = key };
		*slot = marks->count;
	}
	told = &marks->items[*slot - 1].told;
	told->rules |= bit;
	if (sure)
		told->violated |= bit;
}

struct ft_framing_told ft_framing_marks_of(const struct ft_framing_marks *marks,
					   const struct ft_flow *flow)
{
	const struct ft_framing_told none = { 0 };
	struct ft_flow_key key = flow->key;
	uint32_t slot;

	if (marks->count == 0)
		return none;
	if (key.base == FT_FLOW_ANY_BASE)
		key.base = flow->base;
	if (key.vlan == FT_FLOW_ANY_VLAN)
		key.vlan = flow->vlan;
	slot = *slot_of(marks, &key);
	return slot == 0 ? none : marks->items[slot - 1].told;
}

void ft_framing_marks_free(struct ft_framing_marks *marks)
{
	free(marks->items);
	free(marks->slots);
}
