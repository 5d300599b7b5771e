#include "strangers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>
#include <flow/reserve.h>

enum { BUCKET = 4, WORD_BITS = 64 };
static_assert(FT_NCCL_STRANGERS <= WORD_BITS * WORD_BITS, "a bit for each word of bits");

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

static struct ft_nccl_stranger *bucket_of(const struct ft_nccl_stranger_table *table,
					  const struct ft_nccl_seen *seen)
{
	struct key key = { .qpn = seen->dest_qp, .vni = seen->ends.vni };

	memcpy(key.dst, seen->ends.dst, sizeof key.dst);
	return table->strangers +
	       (ft_hash(&key, sizeof key, table->seed) & (FT_NCCL_STRANGERS / BUCKET - 1)) * BUCKET;
}

static bool is_it(const struct ft_nccl_stranger *stranger, const struct ft_nccl_seen *seen)
{
	return stranger->used && stranger->qpn == seen->dest_qp &&
	       stranger->vni == seen->ends.vni && stranger->by_lid == (seen->ends.by_lid != 0) &&
	       memcmp(stranger->dst, seen->ends.dst, sizeof stranger->dst) == 0 &&
	       memcmp(stranger->src, seen->ends.src, sizeof stranger->src) == 0;
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
	bit = UINT64_C(1) << word;
	if (table->logged[word] != 0)
		table->some |= bit;
	else
		table->some &= ~bit;
}

static void give_back(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger)
{
	if (stranger->log == NULL)
		return;
	stranger->log->free = table->free;
	table->free = stranger->log;
	stranger->log = NULL;
	mark(table, stranger, false);
}

static struct ft_nccl_stranger *meet(struct ft_nccl_stranger_table *table,
				     struct ft_nccl_stranger *stranger,
				     const struct ft_nccl_seen *seen)
{
	give_back(table, stranger);
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

struct ft_nccl_stranger *ft_nccl_stranger_of(struct ft_nccl_stranger_table *table,
					     const struct ft_nccl_seen *seen)
{
	struct ft_nccl_stranger *bucket, *idlest;

	if (table->strangers == NULL && !make(table))
		return NULL;
	table->moments++;
	bucket = idlest = bucket_of(table, seen);
	for (unsigned i = 0; i < BUCKET; i++) {
		if (is_it(&bucket[i], seen)) {
			idlest = &bucket[i];
			break;
		}
		if (!bucket[i].used || (idlest->used && table->moments - bucket[i].moment >
								table->moments - idlest->moment))
			idlest = &bucket[i];
	}
	if (!is_it(idlest, seen))
		meet(table, idlest, seen);
	idlest->moment = table->moments;
	return idlest;
}

static struct ft_nccl_log *take_log(struct ft_nccl_stranger_table *table)
{
	struct ft_nccl_log *log = table->free;

	if (log != NULL) {
		table->free = log->free;
	} else if (table->logs < FT_NCCL_STRANGER_LOGS) {
		log = ft_nccl_log_create();
		table->logs += log != NULL ? 1 : 0;
	}
	if (log != NULL) {
		ft_nccl_log_clear(log);
		log->restarts = 0;
	}
	return log;
}

void ft_nccl_stranger_keep(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger,
			   const struct ft_nccl_seen *seen)
{
	stranger->udp_sport = seen->udp_sport;
	if (stranger->log == NULL) {
		stranger->log = take_log(table);
		mark(table, stranger, stranger->log != NULL);
	}
	if (stranger->log != NULL)
		ft_nccl_log_add(stranger->log, seen);
}

struct ft_nccl_stranger *ft_nccl_stranger_logged(const struct ft_nccl_stranger_table *table,
						 uint32_t *at)
{
	while (*at < FT_NCCL_STRANGERS) {
		uint64_t word = table->logged[*at / WORD_BITS] >> *at % WORD_BITS;
		uint64_t words = table->some >> *at / WORD_BITS;

		if (word != 0) {
			*at += (uint32_t)__builtin_ctzll(word) + 1;
			return &table->strangers[*at - 1];
		}
		words &= ~UINT64_C(1); /* this one has no more */
		if (words == 0)
			return NULL;
		*at = (*at / WORD_BITS + (uint32_t)__builtin_ctzll(words)) * WORD_BITS;
	}
	return NULL;
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
	stranger->used = false;
}
