#include "table_parts.h"

enum { EVICTION_SAMPLE = 64, SILENT_SAMPLE = 2 };
#define NO_RECORD UINT32_MAX
#define AT_ONCE   ((size_t)16 << 20) /* bytes of slots */

/* They are used in no order. Of a table for many millions, which may stay empty, most are taken as they are used. */
void ft_flow_use_all_slots(struct ft_flow_table *table)
{
	size_t bytes = table->all.bytes;

	ft_growth_upto(&table->all, bytes < AT_ONCE ? bytes : AT_ONCE);
	table->slots = (struct ft_flow_slot *)(void *)table->all.memory;
	table->slot_count = ft_flow_slots_for(table->capacity);
}

/* Slots from one to another, going forward. */
static uint32_t distance(const struct ft_flow_table *table, uint32_t from, uint32_t to)
{
	return to >= from ? to - from : to + table->slot_count - from;
}

/* Empty a slot and move those behind it that would no longer be found. */
static void remove_slot(struct ft_flow_table *table, uint32_t hole)
{
	for (uint32_t at = ft_flow_following(table, hole); table->slots[at].record != 0;
	     at = ft_flow_following(table, at)) {
		uint32_t wanted = ft_flow_home(table, table->slots[at].tag);

		if (distance(table, wanted, at) < distance(table, hole, at))
			continue;
		table->slots[hole] = table->slots[at];
		hole = at;
	}
	table->slots[hole].record = 0;
}

static void release(struct ft_flow_table *table, uint32_t record)
{
	const struct ft_flow_key *key = &table->records[record].key;

	if (table->evicted_told != NULL)
		table->evicted_told(table->evicted_context, &table->records[record]);
	remove_slot(table, ft_flow_find_slot(table, key, ft_flow_hash(table, key)));
}

/* The idlest of the records under the hand, which goes round the table. */
static uint32_t find_idlest(struct ft_flow_table *table)
{
	uint32_t idlest = table->hand;
	uint32_t sample = table->capacity < EVICTION_SAMPLE ? table->capacity : EVICTION_SAMPLE;

	for (uint32_t i = 0; i < sample; i++) {
		if (table->records[table->hand].last_ns < table->records[idlest].last_ns)
			idlest = table->hand;
		table->hand = (table->hand + 1) % table->capacity;
	}
	return idlest;
}

/*
 * One of the next records under the hand that fell silent for the timeout; NO_RECORD: none has. Of one that no frame with
 * a time was of, nobody knows.
 */
static uint32_t find_silent(struct ft_flow_table *table, uint64_t now_ns)
{
	for (unsigned i = 0; i < SILENT_SAMPLE; i++) {
		uint32_t record = table->hand++ % table->used;
		uint64_t last_ns = table->records[record].last_ns;

		table->hand %= table->used;
		if (last_ns != 0 && now_ns > last_ns && now_ns - last_ns > table->timeout_ns)
			return record;
	}
	return NO_RECORD;
}

/* From the few slots to all of them, once. */
__attribute__((noinline)) static void spread_slots(struct ft_flow_table *table)
{
	ft_flow_use_all_slots(table);
	for (uint32_t i = 0; i < ft_flow_slots_for(FT_FLOW_FEW); i++) {
		uint32_t at = ft_flow_home(table, table->few[i].tag);

		if (table->few[i].record == 0)
			continue;
		while (table->slots[at].record != 0)
			at = ft_flow_following(table, at);
		table->slots[at] = table->few[i];
	}
}

static uint32_t take_new_record(struct ft_flow_table *table)
{
	if (table->used == FT_FLOW_FEW)
		spread_slots(table);
	table->used++;
	ft_growth_upto(&table->growth, table->used * sizeof *table->records);
	return table->used - 1;
}

uint32_t ft_flow_take_record(struct ft_flow_table *table, uint64_t now_ns)
{
	bool old = table->timeout_ns != 0 && now_ns > table->first_ns &&
		   now_ns - table->first_ns > table->timeout_ns;
	uint32_t record = old ? find_silent(table, now_ns) : NO_RECORD;

	if (record != NO_RECORD) {
		table->expired++;
		release(table, record);
		return record;
	}
	if (table->used < table->capacity)
		return take_new_record(table);
	record = find_idlest(table);
	table->evicted++;
	release(table, record);
	return record;
}
