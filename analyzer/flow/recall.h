#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <flow/hash.h>

/*
 * The last so many things by the order they came, found by a 64-bit key. A ring of entries; an index
 * of heads, each the newest entry of a chain through the ring. Looking for what is not there touches
 * one line, of the index. What is found does not depend on the seed: a chain is followed to its end,
 * or for FT_RECALL_STEPS, which only entries of one key can fill.
 *
 * Where only entries of the newest time matter (keep_ns), the ring and its index use no more of their
 * memory than those need, so that they stay in the cache, and give back the rest: see ft_recall_refit().
 */
enum { FT_RECALL_STEPS = 16 };

struct ft_recalled {
	uint64_t key;
	uint64_t ts_ns; /* FT_RECALL_FREE: no entry */
	uint32_t older; /* the next of its chain: number of an entry, which may be gone */
	union {
		struct {
			uint32_t rules, hop;
			uint16_t vlan;
			uint8_t copies; /* met so far, up to 255 */
			bool marked;    /* one of them, or it, met congestion */
		} frame;
		struct { /* one side gave the other a reason to send again from `psn` on */
			uint32_t psn, frame;
			uint32_t again; /* PSN of the last packet that was */
		} ask;
		struct { /* answers to requests from `psn` on that had passed before */
			uint32_t psn, frame; /* of the first of them */
			uint32_t answers;    /* that are to come */
		} due;
		struct {               /* a packet that was sent again */
			uint8_t first; /* what the one that passed first was: again.c */
			bool oftener;  /* it passed more often than is counted */
		} again;
		struct {                 /* what is sent to a queue pair */
			uint16_t newest; /* IPv4 identification */
			uint8_t same,
				others; /* lately: packets with that of the one before, and with another */
		} ident;
		struct { /* of an address pair, by direction */
			uint16_t originals[2], copies[2];
			uint8_t most[2]; /* copies of one original */
		} pair;
	};
};
static_assert(sizeof(struct ft_recalled) == 32, "two in a cache line");

#define FT_RECALL_FREE UINT64_MAX

struct ft_recall_head {
	uint32_t newest; /* number of an entry, which may be gone */
	uint32_t tags;   /* of the newest three of its chain, gone or not, the newest lowest */
};

/*
 * Fields of ft_recall_head.tags. A tag is some bits of the key's hash, the lowest of them 1; 0 is none.
 * Each new one moves the others up: that bit of the third then says that the chain was longer.
 */
enum {
	FT_RECALL_TAG_BITS = 10,
	FT_RECALL_TAG = (1 << FT_RECALL_TAG_BITS) - 1,
	FT_RECALL_LOWEST = 1 << 2 * FT_RECALL_TAG_BITS | 1 << FT_RECALL_TAG_BITS | 1,
	FT_RECALL_HIGHEST = FT_RECALL_LOWEST << (FT_RECALL_TAG_BITS - 1),
	FT_RECALL_LONGER = 1 << 3 * FT_RECALL_TAG_BITS,
};

/* Entries are numbered as they are added, from one more than the ring holds: 0 is one that is gone. The numbers wrap. */
struct ft_recall {
	struct ft_recall_head *heads;
	struct ft_recalled *ring;
	uint64_t seed[2];
	uint32_t entries;      /* most that the ring holds */
	uint32_t ring_mask;    /* of the places in use: a power of two, less one */
	uint32_t shift;        /* 64 less the bits of the index */
	uint32_t next;         /* number of the next entry */
	uint32_t stepped_back; /* newest entry when something met was of a time before it */
	uint64_t slack_ns;     /* time may step back by so much */
	uint64_t keep_ns;      /* what is no older is not pushed out, if there is room .. */
	uint64_t spare_ns;     /* .. and what is older by more than this is a sign of too much */
};

/* `entries`: a power of two, 2^8 .. 2^24. 0 or -ENOMEM. */
int ft_recall_init(struct ft_recall *recall, uint32_t entries, uint64_t seed);
void ft_recall_free(struct ft_recall *recall);

/*
 * From now on only entries that are at most so much older or newer than what comes are looked for: the
 * ring may be as small as keeps them, with half as much to spare for times that step back. Call
 * ft_recall_fits() before each entry.
 */
void ft_recall_keep(struct ft_recall *recall, uint64_t window_ns);

static inline uint64_t ft_recall_hash(const struct ft_recall *recall, uint64_t key)
{
	return ft_mix(key ^ recall->seed[0], recall->seed[1]);
}

static inline struct ft_recall_head *ft_recall_head(const struct ft_recall *recall, uint64_t hash)
{
	return &recall->heads[hash >> recall->shift];
}

static inline bool ft_recall_holds(const struct ft_recall *recall, uint32_t number)
{
	return recall->next - 1 - number <= recall->ring_mask;
}

static inline struct ft_recalled *ft_recall_at(const struct ft_recall *recall, uint32_t number)
{
	return &recall->ring[number & recall->ring_mask];
}

/* The number of an entry that is held. */
static inline uint32_t ft_recall_number(const struct ft_recall *recall,
					const struct ft_recalled *entry)
{
	uint32_t newest = recall->next - 1;

	return newest - ((newest - (uint32_t)(entry - recall->ring)) & recall->ring_mask);
}

/* False: the next entry would push out one that is to be kept, or the ring may be too large. */
static inline bool ft_recall_fits(const struct ft_recall *recall, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - ft_recall_at(recall, recall->next)->ts_ns;

	return age_ns - recall->keep_ns <= recall->spare_ns;
}

/*
 * Where it does not fit: use twice the places, or no more than needed. Entries keep their numbers, and
 * those no older than keep_ns are kept. The ring begins with all of its places, and gives any up only
 * after it was filled in the order of time; when time steps back behind all entries, it takes all
 * places again. True: what ft_recall_place() said before no longer holds.
 */
__attribute__((noinline)) bool ft_recall_refit(struct ft_recall *recall, uint64_t now_ns);

/* Something of this time was met that does not become an entry: it shows the order of time too. */
void ft_recall_met(struct ft_recall *recall, uint64_t now_ns);

/* Where a key belongs. */
struct ft_recall_place {
	struct ft_recall_head *head;
	uint32_t tag;
	uint32_t tags; /* of entries of this key, or others; 0: of none */
};

/* `hash`: ft_recall_hash() of the key. */
static inline struct ft_recall_place ft_recall_place_of(const struct ft_recall *recall,
							uint64_t hash)
{
	struct ft_recall_head *head = ft_recall_head(recall, hash);

	uint32_t held = ft_recall_holds(recall, head->newest);
	uint32_t tags = head->tags & (0 - held); /* no branch: one in four is, in no order */

	return (struct ft_recall_place){ head, ((uint32_t)hash & FT_RECALL_TAG) | 1, tags };
}

static inline struct ft_recall_place ft_recall_place(const struct ft_recall *recall, uint64_t key)
{
	return ft_recall_place_of(recall, ft_recall_hash(recall, key));
}

/* False: there is none with the key. True: there may be. */
static inline bool ft_recall_may_have(const struct ft_recall_place *place)
{
	uint32_t other = place->tags ^ place->tag * FT_RECALL_LOWEST;
	uint32_t same = (other - FT_RECALL_LOWEST) & ~other & FT_RECALL_HIGHEST; /* fields of 0 */

	return (same | (other & FT_RECALL_LONGER)) != 0;
}

/* A new entry; the caller fills in all but `key` and `older`. */
static inline struct ft_recalled *ft_recall_add_at(struct ft_recall *recall, uint64_t key,
						   const struct ft_recall_place *place)
{
	struct ft_recalled *entry = ft_recall_at(recall, recall->next);

	entry->key = key;
	entry->older = place->head->newest;
	place->head->newest = recall->next++;
	place->head->tags = place->tags << FT_RECALL_TAG_BITS | place->tag;
	return entry;
}

static inline struct ft_recalled *ft_recall_add(struct ft_recall *recall, uint64_t key)
{
	struct ft_recall_place place = ft_recall_place(recall, key);

	return ft_recall_add_at(recall, key, &place);
}

/* Entries of one key, the newest first: call ft_recall_next() until it returns NULL. */
struct ft_recall_walk {
	const struct ft_recall *recall;
	uint64_t key;
	uint32_t older;
	unsigned steps;
};

static inline struct ft_recall_walk ft_recall_walk(const struct ft_recall *recall, uint64_t key)
{
	uint64_t hash = ft_recall_hash(recall, key);

	return (struct ft_recall_walk){ recall, key, ft_recall_head(recall, hash)->newest, 0 };
}

static inline struct ft_recalled *ft_recall_next(struct ft_recall_walk *walk)
{
	while (ft_recall_holds(walk->recall, walk->older) && walk->steps++ < FT_RECALL_STEPS) {
		struct ft_recalled *entry = ft_recall_at(walk->recall, walk->older);

		walk->older = entry->older;
		if (entry->key == walk->key)
			return entry;
	}
	return NULL;
}
