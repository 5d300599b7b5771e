#include "pairs_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <flow/hash.h>

/* Buckets while no more halves wait than that: 64 KiB. Those that are answered at once stay below it. */
enum { FEW = 1 << 14 };

static size_t members_bytes(const struct ft_groups *groups)
{
	return (size_t)groups->capacity * sizeof *groups->members;
}

static size_t firsts_bytes(const struct ft_groups *groups)
{
	return (size_t)groups->capacity * sizeof *groups->firsts;
}

uint64_t ft_groups_bytes(const struct ft_groups *groups)
{
	return sizeof *groups + members_bytes(groups) + firsts_bytes(groups);
}

static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
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
	made->members = reserve(members_bytes(made));
	if (made->members == NULL)
		goto free_groups;
	madvise(made->members, members_bytes(made), MADV_HUGEPAGE); /* as for the flow table */
	made->firsts = reserve(firsts_bytes(made));
	if (made->firsts == NULL)
		goto unmap_members;
	*groups = made;
	return 0;

unmap_members:
	munmap(made->members, members_bytes(made));
free_groups:
	free(made);
	return -ENOMEM;
}

void ft_groups_destroy(struct ft_groups *groups)
{
	if (groups == NULL)
		return;
	munmap(groups->firsts, firsts_bytes(groups));
	munmap(groups->members, members_bytes(groups));
	free(groups);
}

struct ft_flow_key ft_flow_key_turned(const struct ft_flow_key *key)
{
	struct ft_flow_key turned = *key;

	memcpy(turned.src, key->dst, sizeof turned.src);
	memcpy(turned.dst, key->src, sizeof turned.dst);
	return turned;
}

/* --- where a group is --- */

enum { BY_WAY = 1 << 16, KIND_BITS = 17 }; /* kinds below are source ports */

/* Any order will do, but one. */
static bool is_above(const uint8_t one[16], const uint8_t other[16])
{
	uint64_t a[2], b[2];

	memcpy(a, one, sizeof a);
	memcpy(b, other, sizeof b);
	return a[0] != b[0] ? a[0] > b[0] : a[1] > b[1];
}

/* Whoever sends chooses addresses and ports: none of them may undo what another one does to the hash. */
static uint32_t bucket_of(const struct ft_groups *groups, const struct ft_flow_key *key, bool turn,
			  uint32_t kind)
{
	uint64_t rest = (uint64_t)key->vni << KIND_BITS | kind | (uint64_t)key->by_lid << 63;
	uint64_t hash = ft_hash(turn ? key->dst : key->src, sizeof key->src, groups->seed);

	hash = ft_hash(turn ? key->src : key->dst, sizeof key->dst, hash);
	hash = ft_mix(hash ^ rest, groups->seed | 1);
	return (uint32_t)((hash >> 32) * groups->buckets >> 32);
}

static uint32_t bucket_of_port(const struct ft_groups *groups, const struct ft_flow_key *key,
			       uint16_t port)
{
	return bucket_of(groups, key, is_above(key->src, key->dst), port);
}

/* The same for both directions. */
static uint32_t *ways_of(struct ft_groups *groups, const struct ft_flow_key *key)
{
	uint64_t src, dst;

	memcpy(&src, key->src + 8, sizeof src);
	memcpy(&dst, key->dst + 8, sizeof dst);
	return &groups->ways[(src ^ dst) * 0x9e3779b97f4a7c15u >> (64 - FT_GROUPS_WAYS_BITS)];
}

/* --- joining and parting --- */

static void put_first(struct ft_groups *groups, uint32_t number, uint32_t bucket)
{
	struct ft_member *member = ft_groups_at(groups, number);
	uint32_t *first = &groups->firsts[bucket];

	if (*first != 0)
		ft_groups_at(groups, *first)->prev = number;
	member->next = *first;
	member->prev = FT_MEMBER_FIRST | bucket;
	*first = number;
}

static void put_in(struct ft_groups *groups, uint32_t number)
{
	const struct ft_member *member = ft_groups_at(groups, number);
	const struct ft_flow_key *key = &ft_groups_flow(groups, number)->key;

	put_first(groups, number,
		  member->place == FT_PLACE_PORT ? bucket_of_port(groups, key, member->port)
						 : bucket_of(groups, key, false, BY_WAY));
}

/* From few buckets to as many as there are records, once. The oldest go in first, as they did before. */
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
	groups->buckets = groups->capacity;
	madvise(groups->firsts, firsts_bytes(groups), MADV_HUGEPAGE);
	for (uint32_t at = oldest; at != 0; at = following) {
		following = ft_groups_at(groups, at)->next;
		put_in(groups, at);
	}
}

void ft_groups_join(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place)
{
	struct ft_member *member = ft_groups_member(groups, flow);

	assert(!ft_member_looks(member));
	member->place = place & 15;
	if (place == FT_PLACE_WAY)
		++*ways_of(groups, &flow->key);
	if (groups->waiting++ == groups->buckets && groups->buckets < groups->capacity)
		spread_out(groups);
	put_in(groups, ft_groups_number(groups, flow));
}

void ft_groups_part(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place)
{
	struct ft_member *member = ft_groups_member(groups, flow);

	if (!ft_member_looks(member))
		return;
	if (member->next != 0)
		ft_groups_at(groups, member->next)->prev = member->prev;
	if (member->prev & FT_MEMBER_FIRST)
		groups->firsts[member->prev & ~FT_MEMBER_FIRST] = member->next;
	else
		ft_groups_at(groups, member->prev)->next = member->next;
	if (member->place == FT_PLACE_WAY)
		--*ways_of(groups, &flow->key);
	groups->waiting--;
	member->next = member->prev = 0;
	member->place = place & 15;
}

/* --- who is there --- */

uint32_t ft_groups_of_port(const struct ft_groups *groups, const struct ft_flow_key *key,
			   uint16_t port)
{
	return groups->firsts[bucket_of_port(groups, key, port)];
}

uint32_t ft_groups_facing(struct ft_groups *groups, const struct ft_flow_key *key)
{
	return *ways_of(groups, key) == 0 ? 0
					  : groups->firsts[bucket_of(groups, key, true, BY_WAY)];
}
