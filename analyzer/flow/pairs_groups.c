#include "pairs_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>
#include <flow/reserve.h>

/*
 * Buckets in use, until more halves wait than that: 16 KiB, 64 KiB, or as many as there are records.
 * Halves that are answered soon do not need more than the first. A step takes 4 ms at most.
 */
enum { FEW = 1 << 12, SOME = 1 << 14 };

static size_t members_bytes(const struct ft_groups *groups)
{
	return (size_t)groups->capacity * sizeof *groups->members;
}

static size_t firsts_bytes(const struct ft_groups *groups)
{
	return (size_t)groups->capacity * sizeof *groups->firsts;
}

int ft_groups_create(struct ft_groups **groups, struct ft_flow_table *table, uint64_t seed)
{
	struct ft_groups *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	made->records = ft_flow_at(table, 1);
	made->seed = seed;
	made->capacity = ft_flow_table_stats(table).capacity;
	made->buckets = made->capacity < FEW ? made->capacity : FEW;
	if (ft_growth_reserve(&made->growth, members_bytes(made)) != 0)
		goto free_groups;
	made->members = (struct ft_group_member *)(void *)made->growth.memory;
	made->firsts = ft_reserve(firsts_bytes(made));
	if (made->firsts == NULL)
		goto release_members;
	*groups = made;
	return 0;

release_members:
	ft_growth_release(&made->growth);
free_groups:
	free(made);
	return -ENOMEM;
}

void ft_groups_destroy(struct ft_groups *groups)
{
	if (groups == NULL)
		return;
	ft_release(groups->firsts, firsts_bytes(groups));
	ft_growth_release(&groups->growth);
	free(groups);
}

/* --- where a group is --- */

static inline uint64_t hash_of(const struct ft_groups *groups, const uint8_t address[16])
{
	return ft_hash(address, 16, groups->seed);
}

/* Ports and overlays are chosen by whoever sends: mixed in last, they undo nothing of the addresses. */
static inline uint32_t bucket_of(const struct ft_groups *groups, const struct ft_flow_key *key,
				 uint64_t addresses, uint16_t port)
{
	uint64_t rest = (uint64_t)key->by_lid << 63 | (uint64_t)key->vni << 16 | port;
	uint64_t hash = ft_mix(addresses ^ rest, groups->seed | 1);

	return (uint32_t)((hash >> 32) * groups->buckets >> 32);
}

/* The same for both directions. */
static inline uint32_t bucket_of_port(const struct ft_groups *groups, const struct ft_flow_key *key,
				      uint16_t port)
{
	uint64_t addresses = hash_of(groups, key->src) + hash_of(groups, key->dst);

	return bucket_of(groups, key, addresses, port);
}

static inline uint32_t bucket_of_way(const struct ft_groups *groups, const struct ft_flow_key *key,
				     const uint8_t src[16], const uint8_t dst[16])
{
	uint64_t addresses = hash_of(groups, src) ^ hash_of(groups, dst) >> 1;

	return bucket_of(groups, key, addresses, 0);
}

/* --- joining and parting --- */

static inline void put_in(struct ft_groups *groups, struct ft_group_member *member,
			  const struct ft_flow_key *key)
{
	uint32_t number = (uint32_t)(member - groups->members) + 1;
	uint32_t bucket = member->place == FT_PLACE_PORT
				  ? bucket_of_port(groups, key, member->port)
				  : bucket_of_way(groups, key, key->src, key->dst);
	uint32_t *first = &groups->firsts[bucket], next = *first;

	if (next != 0)
		ft_groups_at(groups, next)->prev = number;
	member->next = next;
	member->prev = FT_MEMBER_FIRST | bucket;
	*first = number;
}

/* Over more buckets. The oldest go in first, as they did before. */
__attribute__((noinline)) static void spread_out(struct ft_groups *groups)
{
	uint32_t oldest = 0, following;

	for (uint32_t bucket = 0; bucket < groups->buckets; bucket++) {
		for (uint32_t at = groups->firsts[bucket]; at != 0; at = following) {
			following = ft_groups_at(groups, at)->next;
			ft_groups_at(groups, at)->next = oldest;
			oldest = at;
		}
		groups->firsts[bucket] = 0;
	}
	groups->buckets =
		groups->buckets < SOME && SOME < groups->capacity ? SOME : groups->capacity;
	for (uint32_t at = oldest; at != 0; at = following) {
		following = ft_groups_at(groups, at)->next;
		put_in(groups, ft_groups_at(groups, at), &ft_groups_flow(groups, at)->key);
	}
}

void ft_groups_join(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place)
{
	struct ft_group_member *member = ft_groups_member(groups, flow);

	assert(!ft_member_looks(member));
	member->place = place & 7;
	if (place == FT_PLACE_WAY)
		++*ft_groups_ways(groups, &flow->key);
	if (groups->waiting++ == groups->buckets && groups->buckets < groups->capacity)
		spread_out(groups);
	put_in(groups, member, &flow->key);
}

void ft_groups_part(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place)
{
	struct ft_group_member *member = ft_groups_member(groups, flow);

	if (!ft_member_looks(member))
		return;
	if (member->next != 0)
		ft_groups_at(groups, member->next)->prev = member->prev;
	if (member->prev & FT_MEMBER_FIRST)
		groups->firsts[member->prev & ~FT_MEMBER_FIRST] = member->next;
	else
		ft_groups_at(groups, member->prev)->next = member->next;
	if (member->place == FT_PLACE_WAY)
		--*ft_groups_ways(groups, &flow->key);
	groups->waiting--;
	member->next = member->prev = 0;
	member->place = place & 7;
}

/* --- who is there --- */

uint32_t ft_groups_of_port(const struct ft_groups *groups, const struct ft_flow_key *key,
			   uint16_t port)
{
	return groups->firsts[bucket_of_port(groups, key, port)];
}

uint32_t ft_groups_facing(const struct ft_groups *groups, const struct ft_flow_key *key)
{
	return groups->firsts[bucket_of_way(groups, key, key->dst, key->src)];
}
