#include "keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ft_key {
	const void *bytes; /* NULL: a free slot */
	uint32_t length, number;
	uint64_t hash;
};

/* FNV-1a, with its high bits mixed into the low ones that choose the slot. */
static uint64_t hash_of(const void *key, size_t length)
{
	const uint8_t *bytes = key;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

/* The key's slot, or the free one where it belongs. */
static struct ft_key *slot_of(const struct ft_keys *keys, const void *key, size_t length,
			      uint64_t hash)
{
	size_t mask = keys->room - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct ft_key *slot = &keys->slots[i];

		if (slot->bytes == NULL || (slot->hash == hash && slot->length == length &&
					    memcmp(slot->bytes, key, length) == 0))
			return slot;
	}
}

uint32_t ft_keys_find(const struct ft_keys *keys, const void *key, size_t length)
{
	const struct ft_key *slot;

	if (keys->count == 0)
		return UINT32_MAX;
	slot = slot_of(keys, key, length, hash_of(key, length));
	return slot->bytes != NULL ? slot->number : UINT32_MAX;
}

static int grow(struct ft_keys *keys)
{
	struct ft_keys larger = { .room = keys->room != 0 ? 2 * keys->room : 64,
				  .count = keys->count };

	larger.slots = calloc(larger.room, sizeof *larger.slots);
	if (larger.slots == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < keys->room; i++) {
		const struct ft_key *old = &keys->slots[i];

		if (old->bytes != NULL)
			*slot_of(&larger, old->bytes, old->length, old->hash) = *old;
	}
	free(keys->slots);
	*keys = larger;
	return 0;
}

int ft_keys_insert(struct ft_keys *keys, const void *key, size_t length, uint32_t number)
{
	uint64_t hash = hash_of(key, length);

	if (2 * keys->count >= keys->room && grow(keys) != 0)
		return -ENOMEM;
	*slot_of(keys, key, length, hash) = (struct ft_key){ key, (uint32_t)length, number, hash };
	keys->count++;
	return 0;
}

void ft_keys_set(struct ft_keys *keys, const void *key, size_t length, uint32_t number)
{
	slot_of(keys, key, length, hash_of(key, length))->number = number;
}

void ft_keys_release(struct ft_keys *keys)
{
	free(keys->slots);
	*keys = (struct ft_keys){ 0 };
}
