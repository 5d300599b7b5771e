#include "keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

enum { SLOTS_LEAST = 256 };

struct place {
	uint8_t address[16];
	uint32_t rkey, zero;
};

void ft_nccl_keys_free(struct ft_nccl_keys *keys)
{
	free(keys->keys);
	keys->keys = NULL;
	keys->slots = keys->used = 0;
}

static size_t home_of(const struct ft_nccl_keys *keys, const uint8_t address[16], uint32_t rkey)
{
	struct place place = { .rkey = rkey };

	memcpy(place.address, address, sizeof place.address);
	return ft_hash(&place, sizeof place, keys->seed) & (keys->slots - 1);
}

static size_t find(const struct ft_nccl_keys *keys, const struct ft_nccl_key *key)
{
	size_t at = home_of(keys, key->address, key->rkey);

	while (keys->keys[at].connection != FT_NCCL_NONE &&
	       memcmp(&keys->keys[at], key, sizeof *key) != 0)
		at = (at + 1) & (keys->slots - 1);
	return at;
}

/* The end of a row, at which none that began before it goes on. */
static size_t first_free(const struct ft_nccl_keys *keys)
{
	size_t at = 0;

	while (at < keys->slots && keys->keys[at].connection != FT_NCCL_NONE)
		at++;
	return at;
}

/* Those of one address and key stay in the order in which they came: from a free slot on, all around. */
static int grow(struct ft_nccl_keys *keys)
{
	const size_t from = first_free(keys);
	struct ft_nccl_keys grown = *keys;

	grown.slots = keys->slots != 0 ? 2 * keys->slots : SLOTS_LEAST;
	grown.keys = malloc(grown.slots * sizeof *grown.keys);
	if (grown.keys == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < grown.slots; i++)
		grown.keys[i].connection = FT_NCCL_NONE;
	for (size_t i = 0; i < keys->slots; i++) {
		const struct ft_nccl_key *key = &keys->keys[(from + i) & (keys->slots - 1)];

		if (key->connection != FT_NCCL_NONE)
			grown.keys[find(&grown, key)] = *key;
	}
	free(keys->keys);
	*keys = grown;
	return 0;
}

int ft_nccl_keys_put(struct ft_nccl_keys *keys, const struct ft_nccl_key *key)
{
	size_t at;

	if (2 * (keys->used + 1) > keys->slots) {
		int error = grow(keys);

		if (error != 0)
			return error;
	}
	at = find(keys, key);
	if (keys->keys[at].connection == FT_NCCL_NONE) {
		keys->keys[at] = *key;
		keys->used++;
	}
	return 0;
}

/* Close the gap, so that whoever was put behind it is still found. */
void ft_nccl_keys_remove(struct ft_nccl_keys *keys, const struct ft_nccl_key *key)
{
	size_t mask = keys->slots - 1, hole;

	if (keys->slots == 0)
		return;
	hole = find(keys, key);
	if (keys->keys[hole].connection == FT_NCCL_NONE)
		return;
	for (size_t at = (hole + 1) & mask; keys->keys[at].connection != FT_NCCL_NONE;
	     at = (at + 1) & mask) {
		size_t home = home_of(keys, keys->keys[at].address, keys->keys[at].rkey);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			keys->keys[hole] = keys->keys[at];
			hole = at;
		}
	}
	keys->keys[hole].connection = FT_NCCL_NONE;
	keys->used--;
}

uint32_t ft_nccl_keys_next(const struct ft_nccl_keys *keys, const uint8_t address[16],
			   uint32_t rkey, size_t *at)
{
	if (keys->slots == 0)
		return FT_NCCL_NONE;
	*at = *at == SIZE_MAX ? home_of(keys, address, rkey) : (*at + 1) & (keys->slots - 1);
	for (; keys->keys[*at].connection != FT_NCCL_NONE; *at = (*at + 1) & (keys->slots - 1)) {
		const struct ft_nccl_key *key = &keys->keys[*at];

		if (key->rkey == rkey && memcmp(key->address, address, sizeof key->address) == 0)
			return key->connection;
	}
	return FT_NCCL_NONE;
}
