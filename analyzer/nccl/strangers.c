#include "strangers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

#include "grid.h"

enum { WORD_BITS = 64, LOOKS = 8, END = FT_NCCL_STRANGERS /* of those without logs: a ring */ };
static_assert(FT_NCCL_STRANGERS < UINT16_MAX, "a place plus 1 has 16 bits");
static_assert(FT_NCCL_STRANGER_LOGS < FT_NCCL_STRANGERS, "of all that are met, some have no log");
static_assert(FT_NCCL_STRANGERS % (WORD_BITS * WORD_BITS) == 0, "words of bits are full");

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

/* Where its chain begins, of all that have its hash. */
static uint16_t *home_of(struct ft_nccl_stranger_table *table, const uint8_t dst[16], uint32_t qpn,
			 uint32_t vni)
{
	struct key key = { .qpn = qpn, .vni = vni };

	memcpy(key.dst, dst, sizeof key.dst);
	return &table->homes[ft_hash(&key, sizeof key, table->seed) % FT_NCCL_STRANGERS];
}

static bool is_it(const struct ft_nccl_stranger *stranger, const struct ft_nccl_seen *seen)
{
	return stranger->qpn == seen->dest_qp && stranger->vni == seen->ends.vni &&
	       stranger->by_lid == (seen->ends.by_lid != 0) &&
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

static uint16_t number_of(const struct ft_nccl_stranger_table *table,
			  const struct ft_nccl_stranger *stranger)
{
	return (uint16_t)(stranger - table->strangers);
}

/* Of those without logs. */
static void leave_order(struct ft_nccl_stranger_table *table, uint16_t number)
{
	const struct ft_nccl_stranger_turn turn = table->order[number];

	table->order[turn.older].newer = turn.newer;
	table->order[turn.newer].older = turn.older;
}

/* As the one that was silent for the shortest time, or for the longest. */
static void enter_order(struct ft_nccl_stranger_table *table, uint16_t number, bool was_silent)
{
	const uint16_t older = was_silent ? END : table->order[END].older;
	const uint16_t newer = table->order[older].newer;

	table->order[number] = (struct ft_nccl_stranger_turn){ older, newer };
	table->order[older].newer = table->order[newer].older = number;
}

static void link_in(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger)
{
	const uint16_t chain = chain_of(table, stranger);
	const uint16_t place = (uint16_t)(number_of(table, stranger) + 1);
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

static void give_back(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger,
		      bool was_silent)
{
	if (stranger->log == NULL)
		return;
	stranger->log->free = table->free;
	table->free = stranger->log;
	stranger->log = NULL;
	mark(table, stranger, false);
	link_out(table, stranger);
	enter_order(table, number_of(table, stranger), was_silent);
}

static bool make(struct ft_nccl_stranger_table *table)
{
	table->strangers = calloc(FT_NCCL_STRANGERS, sizeof *table->strangers);
	table->order[END] = (struct ft_nccl_stranger_turn){ END, END };
	return table->strangers != NULL;
}

static struct ft_nccl_stranger *find(const struct ft_nccl_stranger_table *table, uint16_t home,
				     const struct ft_nccl_seen *seen)
{
	uint16_t place = home;

	while (place != 0 && !is_it(&table->strangers[place - 1], seen))
		place = table->behind[place - 1];
	return at_place(table, place);
}

/* It has no log, and its place is for somebody else. */
static void drop(struct ft_nccl_stranger_table *table, const struct ft_nccl_stranger *stranger)
{
	const uint16_t number = number_of(table, stranger);
	uint16_t *link = home_of(table, stranger->dst, stranger->qpn, stranger->vni);

	while (*link != number + 1)
		link = &table->behind[*link - 1];
	*link = table->behind[number];
	leave_order(table, number);
}

/* For somebody new: one that was given back, or that nobody was in yet; else that of who was silent longest without a log. */
static uint16_t take_place(struct ft_nccl_stranger_table *table)
{
	const uint16_t given = table->vacant;

	if (given != 0) {
		table->vacant = table->behind[given - 1];
	} else if (table->met == FT_NCCL_STRANGERS) {
		const uint16_t idlest = table->order[END].newer;

		drop(table, &table->strangers[idlest]);
		return idlest;
	}
	table->used++;
	return given != 0 ? (uint16_t)(given - 1) : table->met++;
}

static struct ft_nccl_stranger *meet(struct ft_nccl_stranger_table *table, uint16_t *home,
				     const struct ft_nccl_seen *seen)
{
	const uint16_t number = take_place(table);
	struct ft_nccl_stranger *stranger = &table->strangers[number];

	*stranger = (struct ft_nccl_stranger){
		.qpn = seen->dest_qp,
		.vni = seen->ends.vni,
		.used = true,
		.by_lid = seen->ends.by_lid != 0,
	};
	memcpy(stranger->src, seen->ends.src, sizeof stranger->src);
	memcpy(stranger->dst, seen->ends.dst, sizeof stranger->dst);
	table->behind[number] = *home;
	*home = (uint16_t)(number + 1);
	enter_order(table, number, false);
	return stranger;
}

struct ft_nccl_stranger *ft_nccl_stranger_of(struct ft_nccl_stranger_table *table,
					     const struct ft_nccl_seen *seen)
{
	struct ft_nccl_stranger *found;
	uint16_t *home;

	if (table->strangers == NULL && !make(table))
		return NULL;
	home = home_of(table, seen->ends.dst, seen->dest_qp, seen->ends.vni);
	found = find(table, *home, seen);
	if (found == NULL)
		return meet(table, home, seen);
	if (found->log == NULL) {
		leave_order(table, number_of(table, found));
		enter_order(table, number_of(table, found), false);
	}
	return found;
}

/* For longer than it takes to hear of all, twice. */
static bool is_silent(const struct ft_nccl_stranger_table *table,
		      const struct ft_nccl_stranger *stranger)
{
	return table->kept - stranger->kept > 2 * table->used;
}

/* From who is silent, or has data. Few are looked at for one packet, and the next ones for the next. */
static void take_away(struct ft_nccl_stranger_table *table, bool for_asked)
{
	for (unsigned i = 0; i < LOOKS && table->free == NULL; i++) {
		struct ft_nccl_stranger *stranger = ft_nccl_stranger_logged(table, &table->hand);
		const bool was_silent = stranger != NULL && is_silent(table, stranger);

		if (stranger == NULL) {
			table->hand = 0;
		} else if (was_silent || (for_asked && !stranger->asked)) {
			give_back(table, stranger, was_silent);
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
	leave_order(table, number_of(table, stranger));
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
	give_back(table, stranger, false);
	stranger->excluded = true;
}

void ft_nccl_stranger_forget(struct ft_nccl_stranger_table *table,
			     struct ft_nccl_stranger *stranger)
{
	const uint16_t number = number_of(table, stranger);

	if (!stranger->used)
		return;
	give_back(table, stranger, false);
	drop(table, stranger);
	stranger->used = false;
	table->behind[number] = table->vacant;
	table->vacant = (uint16_t)(number + 1);
	table->used--;
}
