#include "pairs_setups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

/* Two ends to a set-up: end 2n and end 2n + 1 are the halves of one. */
struct end {
	struct ft_flow_key key;
	uint32_t next; /* of the bucket's list, plus 1; 0: the last */
	uint32_t by;   /* enum ft_paired_by; 0: the place is free */
};

struct ft_setups {
	struct end *ends;
	uint32_t *buckets; /* as many as ends: the first end plus 1 */
	uint64_t seed;
	uint32_t capacity; /* set-ups */
	uint32_t oldest;   /* where the next one goes */
	uint32_t used;
};

int ft_setups_create(struct ft_setups **setups, uint32_t capacity, uint64_t seed)
{
	struct ft_setups *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	made->seed = seed;
	made->capacity = capacity;
	made->ends = calloc(2 * (size_t)capacity, sizeof *made->ends);
	if (made->ends == NULL)
		goto free_setups;
	made->buckets = calloc(2 * (size_t)capacity, sizeof *made->buckets);
	if (made->buckets == NULL)
		goto free_ends;
	*setups = made;
	return 0;

free_ends:
	free(made->ends);
free_setups:
	free(made);
	return -ENOMEM;
}

void ft_setups_destroy(struct ft_setups *setups)
{
	if (setups == NULL)
		return;
	free(setups->buckets);
	free(setups->ends);
	free(setups);
}

static uint32_t *bucket_of(const struct ft_setups *setups, const struct ft_flow_key *key)
{
	uint64_t hash = ft_hash(key, sizeof *key, setups->seed);

	return &setups->buckets[hash & (2 * setups->capacity - 1)];
}

/* What points at the end with this key; *of it is 0 if there is none. */
static uint32_t *link_to(const struct ft_setups *setups, const struct ft_flow_key *key)
{
	uint32_t *link = bucket_of(setups, key);

	while (*link != 0 && memcmp(&setups->ends[*link - 1].key, key, sizeof *key) != 0)
		link = &setups->ends[*link - 1].next;
	return link;
}

static void put(struct ft_setups *setups, uint32_t at, const struct ft_flow_key *key,
		enum ft_paired_by by)
{
	uint32_t *bucket = bucket_of(setups, key);

	setups->ends[at] = (struct end){ .key = *key, .next = *bucket, .by = by };
	*bucket = at + 1;
}

static void take_out(struct ft_setups *setups, uint32_t at)
{
	uint32_t *link = link_to(setups, &setups->ends[at].key);

	*link = setups->ends[at].next;
	setups->ends[at].by = 0;
}

static void free_place(struct ft_setups *setups, uint32_t at)
{
	if (setups->ends[at].by == 0)
		return;
	take_out(setups, at);
	take_out(setups, at ^ 1);
	setups->used--;
}

bool ft_setups_are_none(const struct ft_setups *setups)
{
	return setups->used == 0;
}

void ft_setups_drop(struct ft_setups *setups, const struct ft_flow_key *key)
{
	uint32_t end = setups->used == 0 ? 0 : *link_to(setups, key);

	if (end != 0)
		free_place(setups, end - 1);
}

void ft_setups_add(struct ft_setups *setups, const struct ft_flow_key *there,
		   const struct ft_flow_key *back, enum ft_paired_by by)
{
	uint32_t at = 2 * setups->oldest;

	if (memcmp(there, back, sizeof *there) == 0)
		return;
	ft_setups_drop(setups, there);
	ft_setups_drop(setups, back);
	free_place(setups, at);
	put(setups, at, there, by);
	put(setups, at + 1, back, by);
	setups->oldest = (setups->oldest + 1) & (setups->capacity - 1);
	setups->used++;
}

const struct ft_flow_key *ft_setups_find(const struct ft_setups *setups,
					 const struct ft_flow_key *key, enum ft_paired_by *by)
{
	uint32_t end = setups->used == 0 ? 0 : *link_to(setups, key);

	if (end == 0)
		return NULL;
	*by = setups->ends[end - 1].by;
	return &setups->ends[(end - 1) ^ 1].key;
}
