/*
 * What a verdict promises, for any small map and any frame: it is the same for the same question,
 * constant within a map epoch, and what it says about other times is true at those times.
 */
#include "../holds.h"

#undef NDEBUG /* promises are kept in every build */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_world.h"

#define BIT(rule) (1u << (rule))
#define OF_TIME                                                                                    \
	(BIT(FT_RULE_PKEY_SENDER_NOT_MEMBER) | BIT(FT_RULE_PKEY_RECEIVER_NOT_MEMBER) |             \
	 BIT(FT_RULE_TENANT_UNKNOWN_ENDPOINT) | BIT(FT_RULE_TENANT_WRONG_SEGMENT))
#define ALERTS (BIT(FT_RULE_DECODE_PKEY_UNUSUAL) | BIT(FT_RULE_TENANT_MANAGEMENT_CROSSING))

static bool is_end(const struct ft_map *map, const struct ft_end *end)
{
	return (end->endpoint == FT_NONE || end->endpoint < ft_map_endpoint_count(map)) &&
	       (end->tenant == FT_NONE || end->tenant < TENANTS);
}

static bool same(const struct ft_verdict *a, const struct ft_verdict *b)
{
	return a->rules == b->rules && a->now == b->now && a->undecided == b->undecided &&
	       a->grace == b->grace && a->exception == b->exception &&
	       a->crossing_between_customers == b->crossing_between_customers &&
	       a->src.endpoint == b->src.endpoint && a->src.tenant == b->src.tenant &&
	       a->dst.endpoint == b->dst.endpoint && a->dst.tenant == b->dst.tenant &&
	       a->dst.group == b->dst.group && a->partition == b->partition;
}

/* Without any other time, at this instant. */
static bool permits(const struct ft_map *map, const struct ft_check_key *key, int64_t ts_ns,
		    struct ft_verdict *verdict)
{
	ft_check(map, key, ts_ns, verdict);
	return (verdict->now & ~ALERTS) == 0;
}

static void is_well_formed(const struct ft_map *map, const struct ft_verdict *verdict)
{
	uint32_t outside = BIT(FT_RULE_TENANT_OUTSIDE_VALIDITY);

	assert(is_end(map, &verdict->src) && is_end(map, &verdict->dst));
	assert((verdict->rules & BIT(FT_RULE_TENANT_GRACE)) == 0);
	assert((verdict->rules & outside) == 0 || (verdict->rules & OF_TIME) == 0);
	assert((verdict->rules & outside) == 0 || !verdict->grace);
	assert(((verdict->rules ^ verdict->now) & ~(outside | OF_TIME)) == 0);
	assert(verdict->exception == FT_NONE ||
	       ((verdict->now & ~ALERTS) == 0 &&
		verdict->exception < ft_map_declared(map)->exception_count));
	assert(!verdict->crossing_between_customers ||
	       (verdict->now & BIT(FT_RULE_TENANT_CROSSING)) != 0);
}

/* Walk all epochs: the verdict is constant within each, and true about the others. */
static void holds_over_time(const struct ft_map *map, const struct ft_check_key *key, int64_t ts_ns)
{
	int64_t grace = ft_map_declared(map)->grace_ns, from, to;
	bool ever = false, surely = false, recently = false;
	struct ft_verdict asked, other, last;

	ft_check(map, key, ts_ns, &asked);
	is_well_formed(map, &asked);
	for (int64_t at = FT_TIME_MIN;; at = to) {
		ft_map_epoch(map, at, &from, &to);
		assert(from == at && to > from);
		if (permits(map, key, at, &other)) {
			ever = true;
			surely |= other.src.tenant != FT_NONE && other.dst.tenant != FT_NONE;
			recently |= at <= ts_ns && to > ts_ns - grace;
		}
		if (ts_ns >= from && ts_ns < to)
			assert(same(&asked, &other));
		ft_check(map, key, to - 1, &last);
		assert(same(&last, &other));
		if (to == FT_TIME_MAX)
			break;
	}
	if ((asked.now & ~ALERTS) == 0)
		return;
	assert(asked.grace == recently);
	assert((asked.rules & BIT(FT_RULE_TENANT_OUTSIDE_VALIDITY)) == 0 || ever);
	assert(asked.grace || !surely || (asked.rules & OF_TIME) == 0);
}

static void look_ups_hold(const struct ft_map *map, const struct ft_check_key *key, int64_t ts_ns)
{
	uint32_t endpoint = ft_map_find_address(map, key->src), owners[TENANTS];
	uint16_t base = key->pkey & 0x7fff;
	struct ft_entry entries[PARTITIONS];
	struct ft_cotenancy found[1];
	struct ft_talk talk;
	size_t count = ft_map_entries(map, endpoint, ts_ns, entries, PARTITIONS);
	unsigned membership = 0;

	assert(count <= PARTITIONS &&
	       ft_map_owners(map, endpoint, ts_ns, owners, TENANTS) <= TENANTS);
	for (size_t i = 0; i < count; i++)
		if (entries[i].base == base && entries[i].membership > membership)
			membership = entries[i].membership;
	assert(ft_map_membership(map, endpoint, base, ts_ns, NULL) == membership);
	ft_map_may_talk(map, endpoint, ft_map_find_lid(map, key->slid), ts_ns, &talk);
	assert(!(talk.allowed && talk.grace) && talk.because[0] != '\0');
	ft_check_cotenancy(map, 0, ts_ns, found, 1);
}

/* What is fetched ahead is read in part: never beyond what there is. */
static void fetching_holds(const struct ft_map *map, const struct ft_check_key *key)
{
	const struct ft_check_ends ends[] = {
		{ key->src, key->dst, key->pkey },
		{ key->dst, key->src, 0xffff },
		{ key->src, key->src, 0 },
	};
	const unsigned count = sizeof ends / sizeof *ends;

	for (unsigned i = 0; i < count; i++)
		ft_check_fetch_names(map, &ends[i]);
	ft_check_fetch_rest(map, ends, count);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_check_key key;
	struct world *world = world_of(bytes, size, &key);
	struct ft_map *map;

	assert(ft_map_compile(&map, &world->declared) == 0);
	fetching_holds(map, &key);
	for (int64_t half = 0; half < 40; half += 11) {
		holds_over_time(map, &key, half * SECOND / 2);
		look_ups_hold(map, &key, half * SECOND / 2);
	}
	ft_map_destroy(map);
	free(world);
}
