#pragma once

#include <flow/reserve.h>
#include <flow/table.h>

/*
 * An index of 8-byte slots (tag, record number) in front of dense records: a probe touches one
 * line of the index and, when the tag matches, the record. Linear probing, removal by shifting back.
 * The home slot is the top of the 32-bit tag, so an entry can be moved without reading its record.
 * The first few records have a small index of their own, which stays in the cache.
 */
struct ft_flow_slot {
	uint32_t tag;
	uint32_t record; /* from 1; 0: empty */
};

struct ft_flow_table {
	struct ft_flow_slot *slots; /* in use: `few` .. */
	struct ft_flow_slot *few;   /* .. until there are more records than it has room for; then */
	struct ft_growth all;       /* .. all slots */
	struct ft_flow *records;
	struct ft_growth growth; /* of the records */
	uint64_t seed;
	uint64_t created, evicted;
	uint32_t capacity, used, hand;
	uint32_t slot_count; /* in use */
	uint64_t timeout_ns,
		first_ns; /* timeout 0: records never expire; first: when the table was new */
	uint64_t expired;
	ft_flow_evicted *evicted_told;
	void *evicted_context;
};

enum { FT_FLOW_FEW = 1 << 12 }; /* records that the small index has room for */

/* For so many records. */
static inline uint32_t ft_flow_slots_for(uint32_t records)
{
	return records + records / 2 + 2;
}

static inline size_t ft_flow_slots_bytes(uint32_t records)
{
	return ft_flow_slots_for(records) * sizeof(struct ft_flow_slot);
}

/* --- looking for a key --- */

static inline uint32_t ft_flow_home(const struct ft_flow_table *table, uint32_t hash)
{
	return (uint32_t)((uint64_t)hash * table->slot_count >> 32);
}

static inline uint32_t ft_flow_following(const struct ft_flow_table *table, uint32_t slot)
{
	return slot + 1 == table->slot_count ? 0 : slot + 1;
}

/* Of 16 bytes: half as many instructions as word by word. */
typedef uint64_t ft_flow_piece __attribute__((vector_size(16)));

/* One after the other, each with variables of its own: an array of them would be kept in memory. */
static inline ft_flow_piece ft_flow_differing(const struct ft_flow_key *a,
					      const struct ft_flow_key *b, unsigned number)
{
	ft_flow_piece one, other;

	memcpy(&one, (const uint8_t *)a + number * sizeof one, sizeof one);
	memcpy(&other, (const uint8_t *)b + number * sizeof other, sizeof other);
	return one ^ other;
}

static inline bool ft_flow_is_key(const struct ft_flow_key *a, const struct ft_flow_key *b)
{
	static_assert(sizeof *a == 3 * sizeof(ft_flow_piece), "all of it");
	ft_flow_piece differs = ft_flow_differing(a, b, 0) | ft_flow_differing(a, b, 1) |
				ft_flow_differing(a, b, 2);

	return (differs[0] | differs[1]) == 0;
}

/* The slot that holds the key, or the empty one where it belongs. */
static inline uint32_t ft_flow_find_slot(const struct ft_flow_table *table,
					 const struct ft_flow_key *key, uint32_t hash)
{
	uint32_t at = ft_flow_home(table, hash);

	for (; table->slots[at].record != 0; at = ft_flow_following(table, at)) {
		const struct ft_flow_slot *slot = &table->slots[at];

		if (slot->tag == hash && ft_flow_is_key(&table->records[slot->record - 1].key, key))
			break;
	}
	return at;
}

/* --- making room: table_room.c --- */

/* All slots are in use from now on, instead of the few; nothing is in them yet. */
void ft_flow_use_all_slots(struct ft_flow_table *table);

/*
 * A record to hold a new key, by its index: of one that fell silent, never used, or of the idlest. Slots have moved if
 * table->used is what it was before, or table->slots another.
 */
uint32_t ft_flow_take_record(struct ft_flow_table *table, uint64_t now_ns);
