#include "watched_pairs.h"

#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

enum { ROOM_LEAST = 64 };

struct pair {
	uint8_t one[16], other[16];
	uint32_t vni, by_lid;
};

void ft_watched_pairs_free(struct ft_watched_pairs *pairs)
{
	free(pairs->hashes);
	pairs->hashes = NULL;
	pairs->count = pairs->room = 0;
}

/* The same for both directions; 64 bits tell pairs apart. */
static uint64_t hash_of(const struct ft_watched_pairs *pairs, const struct ft_flow_key *key)
{
	bool in_order = memcmp(key->src, key->dst, sizeof key->src) < 0;
	struct pair pair = { .vni = key->vni, .by_lid = key->by_lid };

	memcpy(pair.one, in_order ? key->src : key->dst, sizeof pair.one);
	memcpy(pair.other, in_order ? key->dst : key->src, sizeof pair.other);
	return ft_hash(&pair, sizeof pair, pairs->seed) | 1;
}

/* Its place, or the free one where it belongs; there always is one. */
static uint64_t *place_of(const struct ft_watched_pairs *pairs, uint64_t hash)
{
	uint64_t at = hash >> 1 & (pairs->room - 1);

	while (pairs->hashes[at] != 0 && pairs->hashes[at] != hash)
		at = (at + 1) & (pairs->room - 1);
	return &pairs->hashes[at];
}

static bool make_room(struct ft_watched_pairs *pairs)
{
	struct ft_watched_pairs larger = *pairs;

	if (pairs->room != 0 && pairs->count < pairs->room / 2)
		return true;
	if (pairs->count == FT_WATCHED_PAIRS)
		return false;
	larger.room = pairs->room != 0 ? 2 * pairs->room : ROOM_LEAST;
	larger.hashes = calloc(larger.room, sizeof *larger.hashes);
	if (larger.hashes == NULL)
		return false;
	for (uint32_t i = 0; i < pairs->room; i++) {
		if (pairs->hashes[i] != 0)
			*place_of(&larger, pairs->hashes[i]) = pairs->hashes[i];
	}
	free(pairs->hashes);
	*pairs = larger;
	return true;
}

void ft_watched_pairs_add(struct ft_watched_pairs *pairs, const struct ft_flow_key *key)
{
	uint64_t hash = hash_of(pairs, key);
	uint64_t *place;

	if (!make_room(pairs))
		return;
	place = place_of(pairs, hash);
	pairs->count += *place == 0 ? 1 : 0;
	*place = hash;
}

bool ft_watched_pairs_have(const struct ft_watched_pairs *pairs, const struct ft_flow_key *key)
{
	return pairs->count != 0 && *place_of(pairs, hash_of(pairs, key)) != 0;
}
