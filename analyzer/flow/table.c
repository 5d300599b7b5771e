#include <flow/table.h>

#include <flow/hash.h>
#include <flow/reserve.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * An index of 8-byte slots (tag, record number) in front of dense records: a probe touches one
 * line of the index and, when the tag matches, the record. Linear probing, removal by shifting back.
 * The home slot is the top of the 32-bit tag, so an entry can be moved without reading its record.
 * The first few records have a small index of their own, which stays in the cache.
 */
struct slot {
	uint32_t tag;
	uint32_t record; /* from 1; 0: empty */
};

struct ft_flow_table {
	struct slot *slots;   /* in use: `few` .. */
	struct slot *few;     /* .. until there are more records than it has room for; then */
	struct ft_growth all; /* .. all slots */
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

enum { EVICTION_SAMPLE = 64, SILENT_SAMPLE = 2, FEW = 1 << 12 };
enum { EACH_AHEAD = 32 }; /* records: in the next page, where processors do not look ahead */
#define NO_RECORD UINT32_MAX
#define AT_ONCE   ((size_t)16 << 20) /* bytes of slots */

/* For so many records. */
static uint32_t slots_for(uint32_t records)
{
	return records + records / 2 + 2;
}

static size_t slots_bytes(uint32_t records)
{
	return slots_for(records) * sizeof(struct slot);
}

static size_t records_bytes(const struct ft_flow_table *table)
{
	return (size_t)table->capacity * sizeof *table->records;
}

static void use_slots(struct ft_flow_table *table, void *slots, uint32_t records)
{
	table->slots = slots;
	table->slot_count = slots_for(records);
}

/* They are used in no order. Of a table for many millions, which may stay empty, most are taken as they are used. */
static void use_all_slots(struct ft_flow_table *table)
{
	size_t bytes = table->all.bytes;

	ft_growth_upto(&table->all, bytes < AT_ONCE ? bytes : AT_ONCE);
	use_slots(table, table->all.memory, table->capacity);
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
	made->few = ft_reserve(slots_bytes(FEW));
	if (made->few == NULL)
		goto free_table;
	if (ft_growth_reserve(&made->all, slots_bytes(capacity)) != 0)
		goto release_few;
	if (ft_growth_reserve(&made->growth, records_bytes(made)) != 0)
		goto release_all;
	made->records = (struct ft_flow *)(void *)made->growth.memory;
	ft_reserve_fill(made->few, slots_bytes(FEW));
	if (capacity < FEW)
		use_all_slots(made);
	else
		use_slots(made, made->few, FEW);
	*table = made;
	return 0;

release_all:
	ft_growth_release(&made->all);
release_few:
	ft_release(made->few, slots_bytes(FEW));
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
	ft_release(table->few, slots_bytes(FEW));
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

static uint32_t home(const struct ft_flow_table *table, uint32_t hash)
{
	return (uint32_t)((uint64_t)hash * table->slot_count >> 32);
}

static uint32_t following(const struct ft_flow_table *table, uint32_t slot)
{
	return slot + 1 == table->slot_count ? 0 : slot + 1;
}

void ft_flow_prefetch_slot(const struct ft_flow_table *table, uint32_t hash)
{
	__builtin_prefetch(&table->slots[home(table, hash)]);
}

uint32_t ft_flow_likely(const struct ft_flow_table *table, uint32_t hash)
{
	uint32_t at = home(table, hash);

	while (table->slots[at].record != 0 && table->slots[at].tag != hash)
		at = following(table, at);
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

/* Of 16 bytes: half as many instructions as word by word. */
typedef uint64_t piece __attribute__((vector_size(16)));

/* One after the other, each with variables of its own: an array of them would be kept in memory. */
static inline piece differing(const struct ft_flow_key *a, const struct ft_flow_key *b,
			      unsigned number)
{
	piece one, other;

	memcpy(&one, (const uint8_t *)a + number * sizeof one, sizeof one);
	memcpy(&other, (const uint8_t *)b + number * sizeof other, sizeof other);
	return one ^ other;
}

static bool is_key(const struct ft_flow_key *a, const struct ft_flow_key *b)
{
	static_assert(sizeof *a == 3 * sizeof(piece), "all of it");
	piece differs = differing(a, b, 0) | differing(a, b, 1) | differing(a, b, 2);

	return (differs[0] | differs[1]) == 0;
}

struct ft_flow *ft_flow_confirm(const struct ft_flow_table *table, uint32_t number,
				const struct ft_flow_key *key)
{
	struct ft_flow *flow = number == 0 ? NULL : &table->records[number - 1];

	return flow != NULL && is_key(&flow->key, key) ? flow : NULL;
}

/* The slot that holds the key, or the empty one where it belongs. */
static uint32_t find_slot(const struct ft_flow_table *table, const struct ft_flow_key *key,
			  uint32_t hash)
{
	uint32_t at = home(table, hash);

	for (; table->slots[at].record != 0; at = following(table, at)) {
		const struct slot *slot = &table->slots[at];

		if (slot->tag == hash && is_key(&table->records[slot->record - 1].key, key))
			break;
	}
	return at;
}

struct ft_flow *ft_flow_find(struct ft_flow_table *table, const struct ft_flow_key *key,
			     uint32_t hash)
{
	uint32_t record = table->slots[find_slot(table, key, hash)].record;

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

/* Slots from one to another, going forward. */
static uint32_t distance(const struct ft_flow_table *table, uint32_t from, uint32_t to)
{
	return to >= from ? to - from : to + table->slot_count - from;
}

/* Empty a slot and move those behind it that would no longer be found. */
static void remove_slot(struct ft_flow_table *table, uint32_t hole)
{
	for (uint32_t at = following(table, hole); table->slots[at].record != 0;
	     at = following(table, at)) {
		uint32_t wanted = home(table, table->slots[at].tag);

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
	remove_slot(table, find_slot(table, key, ft_flow_hash(table, key)));
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
	use_all_slots(table);
	for (uint32_t i = 0; i < slots_for(FEW); i++) {
		uint32_t at = home(table, table->few[i].tag);

		if (table->few[i].record == 0)
			continue;
		while (table->slots[at].record != 0)
			at = following(table, at);
		table->slots[at] = table->few[i];
	}
}

static uint32_t take_new_record(struct ft_flow_table *table)
{
	if (table->used == FEW)
		spread_slots(table);
	table->used++;
	ft_growth_upto(&table->growth, table->used * sizeof *table->records);
	return table->used - 1;
}

/* A record to hold a new key: of one that fell silent, never used, or of the idlest. */
static uint32_t take_record(struct ft_flow_table *table, uint64_t now_ns)
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
	const struct slot *slots = table->slots;
	uint32_t used = table->used, record;

	if (table->created++ == 0)
		table->first_ns = ts_ns;
	record = take_record(table, ts_ns);
	if (table->used == used || table->slots != slots) /* slots have moved */
		at = find_slot(table, key, hash);
	table->slots[at] = (struct slot){ .tag = hash, .record = record + 1 };
	return begin(table, record, key, ts_ns);
}

struct ft_flow *ft_flow_find_or_create(struct ft_flow_table *table, const struct ft_flow_key *key,
				       uint32_t hash, uint64_t ts_ns)
{
	uint32_t at = find_slot(table, key, hash);
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
		.bytes = slots_bytes(table->capacity) + records_bytes(table),
	};
}
