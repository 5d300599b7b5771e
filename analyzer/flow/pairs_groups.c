#include "pairs_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <flow/hash.h>

/*
 * The index works as that of the flow table: linear probing, removal by shifting back, the home slot
 * is the top of the tag. Two groups whose tags agree become one list: whoever walks it compares addresses.
 */
struct slot {
	uint32_t tag;
	uint32_t head; /* record number; 0: empty */
};

struct ft_groups {
	struct ft_flow_table *table;
	struct ft_member *members; /* by record number less 1 */
	struct slot *slots;
	uint64_t seed;
	uint32_t capacity, slot_mask;
	unsigned slot_shift; /* 32 less the bits of the mask */
};

/* Hashed as bytes: no padding. */
struct group_key {
	uint8_t one[16], other[16];
	uint32_t vni, by_lid, port, spare;
};
static_assert(sizeof(struct group_key) == 48, "padding would be hashed");

#define NO_PORT UINT32_MAX /* a group by way */

static size_t members_bytes(const struct ft_groups *groups)
{
	return (size_t)groups->capacity * sizeof *groups->members;
}

static size_t slots_bytes(const struct ft_groups *groups)
{
	return ((size_t)groups->slot_mask + 1) * sizeof *groups->slots;
}

uint64_t ft_groups_bytes(const struct ft_groups *groups)
{
	return sizeof *groups + members_bytes(groups) + slots_bytes(groups);
}

static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_HUGEPAGE); /* a hint, as for the flow table */
	return memory;
}

int ft_groups_create(struct ft_groups **groups, struct ft_flow_table *table, uint64_t seed)
{
	struct ft_groups *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	made->table = table;
	made->seed = seed;
	made->capacity = ft_flow_table_stats(table).capacity;
	made->slot_shift = 28;
	while (1u << (32 - made->slot_shift) < made->capacity + made->capacity / 2)
		made->slot_shift--;
	made->slot_mask = (1u << (32 - made->slot_shift)) - 1;
	made->members = reserve(members_bytes(made));
	if (made->members == NULL)
		goto free_groups;
	made->slots = reserve(slots_bytes(made));
	if (made->slots == NULL)
		goto unmap_members;
	*groups = made;
	return 0;

unmap_members:
	munmap(made->members, members_bytes(made));
free_groups:
	free(made);
	return -ENOMEM;
}

void ft_groups_destroy(struct ft_groups *groups)
{
	if (groups == NULL)
		return;
	munmap(groups->slots, slots_bytes(groups));
	munmap(groups->members, members_bytes(groups));
	free(groups);
}

struct ft_member *ft_groups_at(const struct ft_groups *groups, uint32_t number)
{
	return &groups->members[number - 1];
}

struct ft_member *ft_groups_member(const struct ft_groups *groups, const struct ft_flow *flow)
{
	return ft_groups_at(groups, ft_flow_number(groups->table, flow));
}

struct ft_flow_key ft_flow_key_turned(const struct ft_flow_key *key)
{
	struct ft_flow_key turned = *key;

	memcpy(turned.src, key->dst, sizeof turned.src);
	memcpy(turned.dst, key->src, sizeof turned.dst);
	return turned;
}

static uint32_t tag_of(const struct ft_groups *groups, const struct group_key *key)
{
	uint64_t hash = ft_hash(key, sizeof *key, groups->seed);

	return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t tag_of_port(const struct ft_groups *groups, const struct ft_flow_key *key,
			    uint16_t port)
{
	bool turn = memcmp(key->src, key->dst, sizeof key->src) > 0;
	struct group_key group = { .vni = key->vni, .by_lid = key->by_lid, .port = port };

	memcpy(group.one, turn ? key->dst : key->src, sizeof group.one);
	memcpy(group.other, turn ? key->src : key->dst, sizeof group.other);
	return tag_of(groups, &group);
}

static uint32_t tag_of_way(const struct ft_groups *groups, const uint8_t src[16],
			   const uint8_t dst[16], const struct ft_flow_key *key)
{
	struct group_key group = { .vni = key->vni, .by_lid = key->by_lid, .port = NO_PORT };

	memcpy(group.one, src, sizeof group.one);
	memcpy(group.other, dst, sizeof group.other);
	return tag_of(groups, &group);
}

static uint32_t home(const struct ft_groups *groups, uint32_t tag)
{
	return tag >> groups->slot_shift;
}

static uint32_t following(const struct ft_groups *groups, uint32_t slot)
{
	return (slot + 1) & groups->slot_mask;
}

/* The slot of the tag, or the empty one where it belongs. */
static uint32_t find_slot(const struct ft_groups *groups, uint32_t tag)
{
	uint32_t at = home(groups, tag);

	while (groups->slots[at].head != 0 && groups->slots[at].tag != tag)
		at = following(groups, at);
	return at;
}

/* Empty a slot and move those behind it that would no longer be found. */
static void remove_slot(struct ft_groups *groups, uint32_t hole)
{
	uint32_t mask = groups->slot_mask;

	for (uint32_t at = following(groups, hole); groups->slots[at].head != 0;
	     at = following(groups, at)) {
		uint32_t wanted = home(groups, groups->slots[at].tag);

		if (((at - wanted) & mask) < ((at - hole) & mask))
			continue;
		groups->slots[hole] = groups->slots[at];
		hole = at;
	}
	groups->slots[hole].head = 0;
}

static uint32_t tag_of_member(const struct ft_groups *groups, const struct ft_flow *flow,
			      const struct ft_member *member)
{
	if (member->place == FT_PLACE_PORT)
		return tag_of_port(groups, &flow->key, member->port);
	return tag_of_way(groups, flow->key.src, flow->key.dst, &flow->key);
}

void ft_groups_join(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place)
{
	uint32_t number = ft_flow_number(groups->table, flow);
	struct ft_member *member = ft_groups_at(groups, number);
	struct slot *slot;
	uint32_t tag;

	assert(!ft_member_looks(member));
	member->place = place & 15;
	tag = tag_of_member(groups, flow, member);
	slot = &groups->slots[find_slot(groups, tag)];
	member->next = slot->head;
	member->prev = 0;
	if (slot->head != 0)
		ft_groups_at(groups, slot->head)->prev = number;
	*slot = (struct slot){ .tag = tag, .head = number };
}

void ft_groups_part(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place)
{
	struct ft_member *member = ft_groups_member(groups, flow);
	uint32_t at;

	if (!ft_member_looks(member))
		return;
	if (member->next != 0)
		ft_groups_at(groups, member->next)->prev = member->prev;
	if (member->prev != 0) {
		ft_groups_at(groups, member->prev)->next = member->next;
	} else {
		at = find_slot(groups, tag_of_member(groups, flow, member));
		groups->slots[at].head = member->next;
		if (member->next == 0)
			remove_slot(groups, at);
	}
	member->next = member->prev = 0;
	member->place = place & 15;
}

uint32_t ft_groups_of_port(const struct ft_groups *groups, const struct ft_flow_key *key,
			   uint16_t port)
{
	return groups->slots[find_slot(groups, tag_of_port(groups, key, port))].head;
}

uint32_t ft_groups_facing(const struct ft_groups *groups, const struct ft_flow_key *key)
{
	return groups->slots[find_slot(groups, tag_of_way(groups, key->dst, key->src, key))].head;
}
