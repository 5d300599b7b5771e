#include "strangers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>
#include <flow/reserve.h>

#include "grid.h"

enum { BUCKET = 4, WORD_BITS = 64, LOOKS = 8 };
static_assert(FT_NCCL_STRANGERS < UINT16_MAX, "a place plus 1 has 16 bits");
static_assert(FT_NCCL_STRANGERS % (WORD_BITS * WORD_BITS) == 0, "words of bits are full");
static_assert(WORD_BITS % BUCKET == 0, "a bucket is in one word");

struct key {
	uint8_t dst[16];
	uint32_t qpn, vni;
};

void ft_nccl_strangers_free(struct ft_nccl_stranger_table *table)
{
	const struct ft_nccl_stranger *stranger;
	uint32_t at = 0;

	while ((stranger = ft_nccl_stranger_logged(table, &at)) != NULL)
		ft_nccl_log_destroy(stranger->log);
	while (table->free != NULL) {
		struct ft_nccl_log *next = table->free->free;

		ft_nccl_log_destroy(table->free);
		table->free = next;
	}
	free(table->strangers);
	table->strangers = NULL;
}

/* The first place of its bucket. */
static uint32_t bucket_of(const struct ft_nccl_stranger_table *table,
			  const struct ft_nccl_seen *seen)
{
	struct key key = { .qpn = seen->dest_qp, .vni = seen->ends.vni };

	memcpy(key.dst, seen->ends.dst, sizeof key.dst);
	return (ft_hash(&key, sizeof key, table->seed) & (FT_NCCL_STRANGERS / BUCKET - 1)) * BUCKET;
}

/* Places of the bucket that somebody is or was in: bits from the first on. */
static unsigned met_in(const struct ft_nccl_stranger_table *table, uint32_t bucket)
{
	return table->met[bucket / WORD_BITS] >> bucket % WORD_BITS & ((1u << BUCKET) - 1);
}

static bool is_it(const struct ft_nccl_stranger *stranger, const struct ft_nccl_seen *seen)
{
	return stranger->used && stranger->qpn == seen->dest_qp &&
	       stranger->vni == seen->ends.vni && stranger->by_lid == (seen->ends.by_lid != 0) &&
	       memcmp(stranger->dst, seen->ends.dst, sizeof stranger->dst) == 0 &&
	       memcmp(stranger->src, seen->ends.src, sizeof stranger->src) == 0;
}

static uint16_t chain_of(const struct ft_nccl_stranger_table *table,
			 const struct ft_nccl_stranger *stranger)
{
	return (ft_hash(stranger->src, sizeof stranger->src, table->seed) ^
		ft_hash(stranger->dst, sizeof stranger->dst, table->seed)) %
	       FT_NCCL_STRANGER_CHAINS;
}

static struct ft_nccl_stranger *at_place(const struct ft_nccl_stranger_table *table, uint16_t place)
{
	return place != 0 ? &table->strangers[place - 1] : NULL;
}

static void link_in(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger)
{
	const uint16_t chain = chain_of(table, stranger);
	const uint16_t place = (uint16_t)(stranger - table->strangers + 1);
	struct ft_nccl_stranger *next = at_place(table, table->first[chain]);

	stranger->before = 0;
	stranger->next = table->first[chain];
	table->first[chain] = place;
	if (next != NULL)
		next->before = place;
}

static void link_out(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger)
{
	struct ft_nccl_stranger *before = at_place(table, stranger->before);
	struct ft_nccl_stranger *next = at_place(table, stranger->next);

	if (before != NULL)
		before->next = stranger->next;
	else
		table->first[chain_of(table, stranger)] = stranger->next;
	if (next != NULL)
		next->before = stranger->before;
}

static void mark(struct ft_nccl_stranger_table *table, const struct ft_nccl_stranger *stranger,
		 bool logged)
{
	size_t number = (size_t)(stranger - table->strangers), word = number / WORD_BITS;
	uint64_t bit = UINT64_C(1) << number % WORD_BITS;

	if (logged)
		table->logged[word] |= bit;
	else
		table->logged[word] &= ~bit;
	bit = UINT64_C(1) << word % WORD_BITS;
	if (table->logged[word] != 0)
		table->some[word / WORD_BITS] |= bit;
	else
		table->some[word / WORD_BITS] &= ~bit;
}

static void give_back(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger)
{
	if (stranger->log == NULL)
		return;
	stranger->log->free = table->free;
	table->free = stranger->log;
	stranger->log = NULL;
	mark(table, stranger, false);
	link_out(table, stranger);
}

static struct ft_nccl_stranger *meet(struct ft_nccl_stranger_table *table,
				     struct ft_nccl_stranger *stranger,
				     const struct ft_nccl_seen *seen)
{
	give_back(table, stranger);
	table->used += stranger->used ? 0 : 1;
	*stranger = (struct ft_nccl_stranger){
		.qpn = seen->dest_qp,
		.vni = seen->ends.vni,
		.used = true,
		.by_lid = seen->ends.by_lid != 0,
	};
	memcpy(stranger->src, seen->ends.src, sizeof stranger->src);
	memcpy(stranger->dst, seen->ends.dst, sizeof stranger->dst);
	return stranger;
}

/* It is used in no order: all pages of it at once. */
static bool make(struct ft_nccl_stranger_table *table)
{
	table->strangers = calloc(FT_NCCL_STRANGERS, sizeof *table->strangers);
	if (table->strangers != NULL)
		ft_reserve_fill(table->strangers, FT_NCCL_STRANGERS * sizeof *table->strangers);
	return table->strangers != NULL;
}

/* For longer than it takes to hear of all, twice. */
static bool is_silent(const struct ft_nccl_stranger_table *table,
		      const struct ft_nccl_stranger *stranger)
{
	return table->kept - stranger->kept > 2 * table->used;
}

/* What would be lost with it. */
static unsigned worth(const struct ft_nccl_stranger_table *table,
		      const struct ft_nccl_stranger *stranger)
{
	if (!stranger->used)
		return 0;
	if (stranger->log == NULL || is_silent(table, stranger))
		return 1;
	return stranger->asked ? 3 : 2;
}

/* Before the other one. */
static bool makes_room(const struct ft_nccl_stranger_table *table,
		       const struct ft_nccl_stranger *stranger,
		       const struct ft_nccl_stranger *other)
{
	const unsigned mine = worth(table, stranger), others = worth(table, other);

	if (mine != others)
		return mine < others;
	return table->moments - stranger->moment > table->moments - other->moment;
}

/* Whose place in the bucket somebody new gets: before all others one that nobody was in yet. */
static struct ft_nccl_stranger *place_in(struct ft_nccl_stranger_table *table, uint32_t bucket)
{
	struct ft_nccl_stranger *strangers = &table->strangers[bucket], *place = strangers;
	const unsigned met = met_in(table, bucket);

	if (met != (1u << BUCKET) - 1) {
		const uint32_t at = bucket + (uint32_t)__builtin_ctz(~met);

		table->met[at / WORD_BITS] |= UINT64_C(1) << at % WORD_BITS;
		return &table->strangers[at];
	}
	for (unsigned i = 1; i < BUCKET; i++)
		if (makes_room(table, &strangers[i], place))
			place = &strangers[i];
	return place;
}

static struct ft_nccl_stranger *find(const struct ft_nccl_stranger_table *table, uint32_t bucket,
				     const struct ft_nccl_seen *seen)
{
	for (unsigned left = met_in(table, bucket); left != 0; left &= left - 1) {
		struct ft_nccl_stranger *stranger =
			&table->strangers[bucket + (uint32_t)__builtin_ctz(left)];

		if (is_it(stranger, seen))
			return stranger;
	}
	return NULL;
}

struct ft_nccl_stranger *ft_nccl_stranger_of(struct ft_nccl_stranger_table *table,
					     const struct ft_nccl_seen *seen)
{
	struct ft_nccl_stranger *found;
	uint32_t bucket;

	if (table->strangers == NULL && !make(table))
		return NULL;
	table->moments++;
	bucket = bucket_of(table, seen);
	found = find(table, bucket, seen);
	if (found == NULL)
		found = meet(table, place_in(table, bucket), seen);
	found->moment = table->moments;
	return found;
}

/* From who is silent, or has data. Few are looked at for one packet, and the next ones for the next. */
static void take_away(struct ft_nccl_stranger_table *table, bool for_asked)
{
	for (unsigned i = 0; i < LOOKS && table->free == NULL; i++) {
		struct ft_nccl_stranger *stranger = ft_nccl_stranger_logged(table, &table->hand);

		if (stranger == NULL) {
			table->hand = 0;
		} else if (is_silent(table, stranger) || (for_asked && !stranger->asked)) {
			give_back(table, stranger);
			stranger->unlogged = true;
		}
	}
}

static struct ft_nccl_log *take_log(struct ft_nccl_stranger_table *table, bool for_asked)
{
	struct ft_nccl_log *log;

	if (table->free == NULL && table->logs == table->most_logs)
		take_away(table, for_asked);
	log = table->free;
	if (log != NULL) {
		table->free = log->free;
	} else if (table->logs < table->most_logs) {
		log = ft_nccl_log_create();
		table->logs += log != NULL ? 1 : 0;
	}
	if (log != NULL)
		ft_nccl_log_clear(log);
	return log;
}

static void begin_log(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger)
{
	stranger->log = take_log(table, stranger->asked);
	if (stranger->log == NULL) {
		stranger->unlogged = true;
		return;
	}
	stranger->log->restarts = stranger->unlogged ? 1 : 0;
	mark(table, stranger, true);
	link_in(table, stranger);
}

void ft_nccl_stranger_keep(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger,
			   const struct ft_nccl_seen *seen)
{
	stranger->udp_sport = seen->udp_sport;
	stranger->kept = ++table->kept;
	stranger->asked = ft_nccl_may_be_on_grid(seen);
	if (stranger->log == NULL)
		begin_log(table, stranger);
	if (stranger->log != NULL)
		ft_nccl_log_add(stranger->log, seen);
}

/* The first bit from this one on that is set; `count`: there is none. */
static uint32_t next_bit(const uint64_t *words, uint32_t count, uint32_t at)
{
	while (at < count) {
		const uint64_t word = words[at / WORD_BITS] >> at % WORD_BITS;

		if (word != 0)
			return at + (uint32_t)__builtin_ctzll(word);
		at = (at / WORD_BITS + 1) * WORD_BITS;
	}
	return count;
}

struct ft_nccl_stranger *ft_nccl_stranger_logged(const struct ft_nccl_stranger_table *table,
						 uint32_t *at)
{
	const uint32_t words = FT_NCCL_STRANGERS / WORD_BITS;
	uint32_t word = *at / WORD_BITS;

	if (*at < FT_NCCL_STRANGERS && table->logged[word] >> *at % WORD_BITS == 0)
		*at = next_bit(table->some, words, word + 1) * WORD_BITS;
	if (*at >= FT_NCCL_STRANGERS)
		return NULL;
	*at = next_bit(table->logged, FT_NCCL_STRANGERS, *at) + 1;
	return &table->strangers[*at - 1];
}

struct ft_nccl_stranger *ft_nccl_stranger_between(const struct ft_nccl_stranger_table *table,
						  const struct ft_nccl_stranger *stranger,
						  const struct ft_nccl_stranger *at)
{
	return at_place(table, at != NULL ? at->next : table->first[chain_of(table, stranger)]);
}

void ft_nccl_stranger_exclude(struct ft_nccl_stranger_table *table,
			      struct ft_nccl_stranger *stranger)
{
	give_back(table, stranger);
	stranger->excluded = true;
}

void ft_nccl_stranger_forget(struct ft_nccl_stranger_table *table,
			     struct ft_nccl_stranger *stranger)
{
	give_back(table, stranger);
	table->used -= stranger->used ? 1 : 0;
	stranger->used = false;
}
