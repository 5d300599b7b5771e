#include "lonely.h"

#include <errno.h>
#include <string.h>

#include <flow/reserve.h>

int ft_lonely_init(struct ft_lonely *lonely, uint32_t pairs, uint64_t seed)
{
	uint32_t places = 2;

	while (places / 2 < pairs)
		places *= 2;
	*lonely = (struct ft_lonely){ .places = places, .seed = seed };
	lonely->pairs = ft_reserve(places * sizeof *lonely->pairs);
	return lonely->pairs == NULL ? -ENOMEM : 0;
}

void ft_lonely_free(struct ft_lonely *lonely)
{
	ft_release(lonely->pairs, lonely->places * sizeof *lonely->pairs);
}

/* The same both ways; `upward`: which of the two this one is. */
static uint64_t digest_of(const struct ft_lonely *lonely, const struct ft_flow_key *key,
			  bool *upward)
{
	struct {
		uint8_t low[16], high[16];
		uint32_t vni, by_lid;
	} pair = { .vni = key->vni, .by_lid = key->by_lid };

	*upward = memcmp(key->src, key->dst, sizeof key->src) < 0;
	memcpy(pair.low, *upward ? key->src : key->dst, sizeof pair.low);
	memcpy(pair.high, *upward ? key->dst : key->src, sizeof pair.high);
	return ft_hash(&pair, sizeof pair, lonely->seed) | 1;
}

/* Where it is, or would be. */
static uint32_t place_of(const struct ft_lonely *lonely, uint64_t digest)
{
	uint32_t mask = lonely->places - 1, at = (uint32_t)(digest >> 32) & mask;

	while (lonely->pairs[at].digest != 0 && lonely->pairs[at].digest != digest)
		at = (at + 1) & mask;
	return at;
}

/* NULL: there is no room for it. */
static struct ft_lonely_pair *pair_of(struct ft_lonely *lonely, uint64_t digest)
{
	uint32_t at = place_of(lonely, digest);

	if (lonely->pairs[at].digest == 0) {
		if (lonely->used == lonely->places / 2)
			return NULL;
		lonely->used++;
		lonely->pairs[at].digest = digest;
	}
	return &lonely->pairs[at];
}

static void add(struct ft_lonely *lonely, uint64_t digest, const uint32_t halves[2])
{
	struct ft_lonely_pair *pair = pair_of(lonely, digest);

	for (unsigned way = 0; way < 2; way++) {
		if (pair == NULL)
			lonely->one_sided += halves[way];
		else
			pair->halves[way] += halves[way];
	}
}

void ft_lonely_add(struct ft_lonely *lonely, const struct ft_flow *flow, bool unlike)
{
	uint32_t halves[2] = { 0 };
	bool upward;
	uint64_t digest = digest_of(lonely, &flow->key, &upward);

	if (unlike) {
		lonely->one_sided++;
		return;
	}
	halves[upward] = 1;
	add(lonely, digest, halves);
}

uint32_t ft_lonely_halves(const struct ft_lonely *lonely, const struct ft_flow_key *key)
{
	bool upward;
	uint64_t digest = digest_of(lonely, key, &upward);

	return lonely->pairs[place_of(lonely, digest)].halves[upward];
}

void ft_lonely_merge(struct ft_lonely *lonely, const struct ft_lonely *from)
{
	uint32_t left = from->used;

	lonely->one_sided += from->one_sided;
	for (const struct ft_lonely_pair *pair = from->pairs; left != 0; pair++) {
		if (pair->digest == 0)
			continue;
		add(lonely, pair->digest, pair->halves);
		left--;
	}
}

struct ft_lonely_sum ft_lonely_sum(const struct ft_lonely *lonely)
{
	struct ft_lonely_sum sum = { .one_sided = lonely->one_sided };
	uint32_t left = lonely->used;

	for (const struct ft_lonely_pair *pair = lonely->pairs; left != 0; pair++) {
		uint32_t more = pair->halves[0], fewer = pair->halves[1];

		if (pair->digest == 0)
			continue;
		if (fewer > more) {
			more = pair->halves[1];
			fewer = pair->halves[0];
		}
		sum.one_sided += more - fewer;
		sum.unpaired += 2 * (uint64_t)fewer;
		left--;
	}
	return sum;
}
