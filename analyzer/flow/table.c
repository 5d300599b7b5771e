#include "table_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EACH_AHEAD = 32 }; /* records: in the next page, where processors do not look ahead */
static size_t records_bytes(const struct ft_flow_table *table)
{
	return (size_t)table->capacity * sizeof *table->records;
}

int ft_flow_table_create(struct ft_flow_table **table, uint32_t capacity, uint64_t seed)
{
	struct ft_flow_table *made;

	if (capacity == 0 || capacity > 1u << 28)
		return -EINVAL;
	made = calloc(1, sizeof *made);
	if (made == NULL)
		return -ENOMEM;
	made->capacity = capacity;
	made->seed = seed;
	made->few = ft_reserve(ft_flow_slots_bytes(FT_FLOW_FEW));
	if (made->few == NULL)
		goto free_table;
	if (ft_growth_reserve(&made->all, ft_flow_slots_bytes(capacity)) != 0)
		goto release_few;
	if (ft_growth_reserve(&made->growth, records_bytes(made)) != 0)
		goto release_all;
	made->records = (struct ft_flow *)(void *)made->growth.memory;
	ft_reserve_fill(made->few, ft_flow_slots_bytes(FT_FLOW_FEW));
	made->slots = made->few;
	made->slot_count = ft_flow_slots_for(FT_FLOW_FEW);
	if (capacity < FT_FLOW_FEW)
		ft_flow_use_all_slots(made);
	*table = made;
	return 0;

release_all:
	ft_growth_release(&made->all);
release_few:
	ft_release(made->few, ft_flow_slots_bytes(FT_FLOW_FEW));
free_table:
	free(made);
	return -ENOMEM;
}

void ft_flow_table_destroy(struct ft_flow_table *table)
{
	if (table == NULL)
		return;
	ft_growth_release(&table->growth);
	ft_growth_release(&table->all);
	ft_release(table->few, ft_flow_slots_bytes(FT_FLOW_FEW));
	free(table);
}

struct ft_flow_key ft_flow_key_turned(const struct ft_flow_key *key)
{
	struct ft_flow_key turned = *key;

	memcpy(turned.src, key->dst, sizeof turned.src);
	memcpy(turned.dst, key->src, sizeof turned.dst);
	return turned;
}

uint32_t ft_flow_hash(const struct ft_flow_table *table, const struct ft_flow_key *key)
{
	return ft_flow_key_hash(key, table->seed);
}

void ft_flow_prefetch_slot(const struct ft_flow_table *table, uint32_t hash)
{
	__builtin_prefetch(&table->slots[ft_flow_home(table, hash)]);
}

uint32_t ft_flow_likely(const struct ft_flow_table *table, uint32_t hash)
{
	uint32_t at = ft_flow_home(table, hash);

	while (table->slots[at].record != 0 && table->slots[at].tag != hash)
		at = ft_flow_following(table, at);
	return table->slots[at].record;
}

static inline void fetch(const struct ft_flow *flow)
{
	const char *record = (const char *)flow;

	__builtin_prefetch(record, 1);
	__builtin_prefetch(record + 64, 1);
	__builtin_prefetch(record + 128, 1);
}

uint32_t ft_flow_peek(const struct ft_flow_table *table, uint32_t hash)
{
	uint32_t number = ft_flow_likely(table, hash);

	if (number == 0)
		return 0;
	fetch(&table->records[number - 1]);
	return number;
}

struct ft_flow *ft_flow_confirm(const struct ft_flow_table *table, uint32_t number,
				const struct ft_flow_key *key)
{
	struct ft_flow *flow = number == 0 ? NULL : &table->records[number - 1];

	return flow != NULL && ft_flow_is_key(&flow->key, key) ? flow : NULL;
}

struct ft_flow *ft_flow_find(struct ft_flow_table *table, const struct ft_flow_key *key,
			     uint32_t hash)
{
	uint32_t record = table->slots[ft_flow_find_slot(table, key, hash)].record;

	return record == 0 ? NULL : &table->records[record - 1];
}

struct ft_flow *ft_flow_in_vlan(struct ft_flow_table *table, struct ft_flow *flow, uint16_t vlan)
{
	struct ft_flow_key key = flow->key;

	if (vlan == FT_FLOW_ANY_VLAN || (flow->elsewhere & FT_FLOW_SHARED) == 0 ||
	    ft_flow_is_seen_in(flow, vlan))
		return flow;
	key.vlan = vlan;
	return ft_flow_find(table, &key, ft_flow_hash(table, &key));
}

struct ft_flow *ft_flow_find_whole(struct ft_flow_table *table, const struct ft_flow_key *key,
				   uint16_t vlan)
{
	struct ft_flow_key open = *key;
	struct ft_flow *flow;

	open.base = FT_FLOW_ANY_BASE;
	open.vlan = FT_FLOW_ANY_VLAN;
	flow = ft_flow_find(table, &open, ft_flow_hash(table, &open));
	return flow == NULL ? NULL : ft_flow_in_vlan(table, flow, vlan);
}

/* A half-connection of which nothing was seen yet. */
static struct ft_flow *begin(struct ft_flow_table *table, uint32_t record,
			     const struct ft_flow_key *key, uint64_t ts_ns)
{
	struct ft_flow *flow = &table->records[record];

	*flow = (struct ft_flow){
		.key = *key,
		.last_ns = ts_ns,
		.cell = UINT32_MAX,
		.first_base = FT_FLOW_NO_BASE,
		.base = FT_FLOW_NO_BASE,
		.half = {
			.next_psn = FT_PSN_NONE,
			.acked = FT_PSN_NONE,
			.answered = FT_PSN_NONE,
			.answer_next = FT_PSN_NONE,
			.nak_psn = FT_PSN_NONE,
			.message_psn = FT_PSN_NONE,
			.asked_psn = FT_PSN_NONE,
			.service = UINT8_MAX,
		},
	};
	return flow;
}

/* Kept apart from the look-up, which every frame does. `at`: where the key was not found. */
__attribute__((noinline)) static struct ft_flow *create_at(struct ft_flow_table *table, uint32_t at,
							   const struct ft_flow_key *key,
							   uint32_t hash, uint64_t ts_ns)
{
	const struct ft_flow_slot *slots = table->slots;
	uint32_t used = table->used, record;

	if (table->created++ == 0)
		table->first_ns = ts_ns;
	record = ft_flow_take_record(table, ts_ns);
	if (table->used == used || table->slots != slots) /* slots have moved */
		at = ft_flow_find_slot(table, key, hash);
	table->slots[at] = (struct ft_flow_slot){ .tag = hash, .record = record + 1 };
	return begin(table, record, key, ts_ns);
}

struct ft_flow *ft_flow_find_or_create(struct ft_flow_table *table, const struct ft_flow_key *key,
				       uint32_t hash, uint64_t ts_ns)
{
	uint32_t at = ft_flow_find_slot(table, key, hash);
	uint32_t record = table->slots[at].record;

	return record != 0 ? &table->records[record - 1] : create_at(table, at, key, hash, ts_ns);
}

void ft_flow_renew(struct ft_flow_table *table, struct ft_flow *flow, uint64_t ts_ns)
{
	const struct ft_flow_key key = flow->key;

	if (table->evicted_told != NULL)
		table->evicted_told(table->evicted_context, flow);
	table->created++;
	table->expired++;
	begin(table, (uint32_t)(flow - table->records), &key, ts_ns);
}

uint32_t ft_flow_number(const struct ft_flow_table *table, const struct ft_flow *flow)
{
	return (uint32_t)(flow - table->records) + 1;
}

struct ft_flow *ft_flow_at(const struct ft_flow_table *table, uint32_t number)
{
	return &table->records[number - 1];
}

void ft_flow_expire_after(struct ft_flow_table *table, uint64_t timeout_ns)
{
	table->timeout_ns = timeout_ns;
}

void ft_flow_on_evict(struct ft_flow_table *table, ft_flow_evicted *evicted, void *context)
{
	table->evicted_told = evicted;
	table->evicted_context = context;
}

void ft_flow_each(const struct ft_flow_table *table,
		  bool (*visit)(void *context, const struct ft_flow *flow), void *context)
{
	for (uint32_t i = 0; i < table->used; i++) {
		if (i + EACH_AHEAD < table->used)
			fetch(&table->records[i + EACH_AHEAD]);
		if (!visit(context, &table->records[i]))
			return;
	}
}

/* What comes next, and whether it is busy, is known by the time that all of it would be wanted. */
static inline void fetch_busy(const struct ft_flow_table *table, uint32_t i, uint64_t packets)
{
	if (i + 2 * EACH_AHEAD < table->used)
		__builtin_prefetch(&table->records[i + 2 * EACH_AHEAD]);
	if (i + EACH_AHEAD < table->used && table->records[i + EACH_AHEAD].packets >= packets)
		fetch(&table->records[i + EACH_AHEAD]);
}

void ft_flow_each_busy(const struct ft_flow_table *table, uint64_t packets,
		       bool (*visit)(void *context, const struct ft_flow *flow), void *context)
{
	for (uint32_t i = 0; i < table->used; i++) {
		fetch_busy(table, i, packets);
		if (table->records[i].packets >= packets && !visit(context, &table->records[i]))
			return;
	}
}

struct ft_flow_table_stats ft_flow_table_stats(const struct ft_flow_table *table)
{
	return (struct ft_flow_table_stats){
		.capacity = table->capacity,
		.used = table->used,
		.created = table->created,
		.evicted = table->evicted,
		.expired = table->expired,
		.bytes = ft_flow_slots_bytes(table->capacity) + records_bytes(table),
	};
}
