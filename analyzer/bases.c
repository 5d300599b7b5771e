#include "bases.h"

#include <errno.h>
#include <stddef.h>

#include <flow/hash.h>
#include <flow/reserve.h>

enum { WAYS = 4, LEAST_SETS = 1 << 14, MOST_SETS = 1 << 24, BASE_BITS = 16 };

static_assert(WAYS * sizeof(struct ft_base) == 64, "a set is a cache line");

int ft_bases_init(struct ft_bases *bases, uint32_t flows, uint64_t timeout_ns, uint64_t seed)
{
	uint32_t sets = LEAST_SETS;

	while (sets < flows / WAYS && sets < MOST_SETS)
		sets *= 2;
	*bases = (struct ft_bases){ .mask = sets - 1, .timeout_ns = timeout_ns, .seed = seed };
	bases->sets = ft_reserve((size_t)sets * WAYS * sizeof *bases->sets);
	return bases->sets == NULL ? -ENOMEM : 0;
}

void ft_bases_free(struct ft_bases *bases)
{
	ft_release(bases->sets, ((size_t)bases->mask + 1) * WAYS * sizeof *bases->sets);
}

static uint64_t digest_of(const struct ft_bases *bases, const struct ft_flow_key *key)
{
	return ft_hash(key, sizeof *key, bases->seed) | 1;
}

static struct ft_base *set_of(const struct ft_bases *bases, uint64_t digest)
{
	return &bases->sets[(digest >> 32 & bases->mask) * WAYS];
}

/* Silent for so long that it may have been set up anew. */
static bool is_over(const struct ft_bases *bases, uint64_t last_ns)
{
	return last_ns < bases->now_ns && bases->now_ns - last_ns > bases->timeout_ns;
}

/* Times are kept to 65 us. */
static uint64_t last_ns(const struct ft_base *base)
{
	return base->last_ns >> BASE_BITS << BASE_BITS;
}

void ft_bases_keep(struct ft_bases *bases, const struct ft_flow *flow)
{
	uint64_t digest = digest_of(bases, &flow->key);
	struct ft_base *set = set_of(bases, digest), *oldest = set;

	if (is_over(bases, flow->last_ns))
		return;
	for (unsigned way = 0; way < WAYS; way++) {
		if (set[way].digest == digest || set[way].digest == 0) {
			oldest = &set[way];
			break;
		}
		if (set[way].last_ns < oldest->last_ns)
			oldest = &set[way];
	}
	bases->kept++;
	bases->dropped +=
		oldest->digest != 0 && oldest->digest != digest && !is_over(bases, last_ns(oldest));
	*oldest = (struct ft_base){
		.digest = digest,
		.last_ns = (flow->last_ns >> BASE_BITS << BASE_BITS) | flow->first_base,
	};
}

uint16_t ft_bases_take(struct ft_bases *bases, const struct ft_flow_key *key)
{
	uint64_t digest = digest_of(bases, key);
	struct ft_base *set = set_of(bases, digest);
	struct ft_base found;

	for (unsigned way = 0; way < WAYS; way++) {
		if (set[way].digest != digest)
			continue;
		found = set[way];
		set[way] = (struct ft_base){ 0 };
		return is_over(bases, last_ns(&found)) ? FT_FLOW_NO_BASE : (uint16_t)found.last_ns;
	}
	return FT_FLOW_NO_BASE;
}
