#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <flow/half.h>
#include <flow/hash.h>

/*
 * Half-connections: what one side sent to one queue pair. Memory is reserved once, for `capacity`
 * records, and touched only as records come into use; nothing is allocated per frame. A full
 * table evicts an idle record and counts it; one that is silent for long enough may expire before.
 */

/* Hashed and compared as bytes: no padding. */
struct ft_flow_key {
	uint8_t src[16],
		dst[16];  /* IP (IPv4 in ::ffff:0:0/96) or GID; LIDs in the last two bytes */
	uint32_t dest_qp; /* 24-bit */
	uint32_t vni;     /* 24-bit; FT_FLOW_NO_VNI outside overlays */
	uint16_t base;    /* P_Key without the membership bit, or FT_FLOW_ANY_BASE */
	uint16_t vlan;    /* 0: untagged; or FT_FLOW_ANY_VLAN */
	uint32_t by_lid;  /* 1: src and dst hold LIDs */
};
static_assert(sizeof(struct ft_flow_key) == 48, "padding would be hashed");

/* Where a LID stands in an address: as the machine holds it. */
enum { FT_FLOW_LID_AT = 14 };

static inline uint16_t ft_flow_lid(const uint8_t address[16])
{
	uint16_t lid;

	memcpy(&lid, address + FT_FLOW_LID_AT, sizeof lid);
	return lid;
}

static inline void ft_flow_put_lid(uint8_t address[16], uint16_t lid)
{
	memcpy(address + FT_FLOW_LID_AT, &lid, sizeof lid);
}

#define FT_FLOW_NO_VNI   UINT32_MAX
#define FT_FLOW_ANY_BASE UINT16_MAX /* the first record of a half-connection, whatever its P_Key */
#define FT_FLOW_ANY_VLAN UINT16_MAX /* likewise: of the VLAN first seen, and others it is seen in */
#define FT_FLOW_NO_BASE  UINT16_MAX /* first_base: none seen since the connection was set up */

/* What a connection shows of its sender, learnt from the first packets; analyzer/suspects.h. */
struct ft_sender_look {
	uint8_t smac[6];
	uint16_t sport, ip_id;
	uint8_t ttl, dscp;
	uint8_t learnt;  /* packets that agreed, up to 255; 0: nothing yet */
	uint8_t style;   /* of its IP identifications, and more: analyzer/suspects_parts.h */
	uint16_t copies; /* of its packets, by the mirror as it seems; up to 65535 */
};
static_assert(sizeof(struct ft_sender_look) == 16, "no room to waste");

enum { FT_FLOW_MOMENT_SHIFT = 20 }; /* ns to moments */

/*
 * What is known of other VLANs than the first, at the side of that number: a router or a port changes it on the way, and
 * two tenants may use the same addresses and queue pairs in two.
 */
enum ft_flow_elsewhere {
	FT_FLOW_VLAN = 0x0fff,    /* this one: */
	FT_FLOW_SEEN = 1 << 12,   /* the half-connection's own packets were seen in it */
	FT_FLOW_COPIED = 1 << 13, /* copies of them were */
	/* another half-connection has the same addresses and queue pair */
	FT_FLOW_SHARED = 1 << 15,
};

/* Three cache lines: who and when; the judge's and the accounts'; the transport's. */
struct ft_flow {
	_Alignas(64) struct ft_flow_key key;
	uint64_t last_ns; /* time of the newest frame */
	uint64_t packets; /* like bytes: without copies */

	uint64_t bytes;   /* on the wire */
	uint32_t verdict; /* its number; 0: nothing to report */
	uint32_t opened;  /* whoever steps the tracker keeps it: flow/opening.h */
	/* digest of what it was reached from besides this key, and of the epoch, and two bits: analyzer/judge.h; 0: none yet */
	uint64_t judged_by;
	uint32_t cell;      /* where the frames are added up; UINT32_MAX: not known yet */
	uint16_t bad_icrc;  /* packets whose ICRC was wrong; up to 65535 */
	uint16_t elsewhere; /* enum ft_flow_elsewhere */
	uint32_t peer;      /* record number of the other half of the connection; 0: not known */
	/* moment when its newest request passed; whoever steps the tracker keeps it */
	uint32_t asked;
	uint16_t first_base; /* of the connection, by its set-up; FT_FLOW_NO_BASE */
	uint16_t base, vlan; /* of the frames that are counted here, if the key leaves them open */
	uint16_t watched;    /* for NCCL: analyzer/watch.h */
	struct ft_sender_look look;

	struct ft_half half;
};
static_assert(sizeof(struct ft_flow) == 192, "three cache lines");

/* The key of what comes back the other way, but for the queue pair. */
struct ft_flow_key ft_flow_key_turned(const struct ft_flow_key *key);

struct ft_flow_table;

struct ft_flow_table_stats {
	uint32_t capacity, used;
	uint64_t created, evicted, expired;
	uint64_t bytes; /* address space reserved */
};

/* 0, -EINVAL (capacity 0 or above 2^28) or -ENOMEM. `seed` decides who collides with whom, never a result. */
int ft_flow_table_create(struct ft_flow_table **table, uint32_t capacity, uint64_t seed);

/* Frees all of it, without telling of evictions; records go with it. NULL is fine. */
void ft_flow_table_destroy(struct ft_flow_table *table);

/* Of a key, for the calls below; differs with the table's seed. */
uint32_t ft_flow_hash(const struct ft_flow_table *table, const struct ft_flow_key *key);

/* An IPv4 address in ::ffff:0:0/96, as it stands in memory: where the same half of its second word is, and which it is. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { FT_FLOW_SAME_HALF = 0 };
#define FT_FLOW_IPV4 UINT32_C(0xffff0000)
#else
enum { FT_FLOW_SAME_HALF = 32 };
#define FT_FLOW_IPV4 UINT32_C(0x0000ffff)
#endif

/* Of an address as two words of memory. */
static inline bool ft_flow_is_ipv4(const uint64_t address[2])
{
	return address[0] == 0 && (uint32_t)(address[1] >> FT_FLOW_SAME_HALF) == FT_FLOW_IPV4;
}

/* Of a key's addresses and of the rest, from its DestQP on, in words. Between IPv4 addresses there is room for the rest. */
static inline uint32_t ft_flow_words_hash(const uint64_t src[2], const uint64_t dst[2],
					  const uint64_t rest[2], uint64_t seed)
{
	uint64_t hash = ft_hash_begin(sizeof(struct ft_flow_key), seed);

	if (rest[0] >> 32 == FT_FLOW_NO_VNI && ft_flow_is_ipv4(src) && ft_flow_is_ipv4(dst)) {
		hash = ft_hash_step(hash, src[1] ^ (rest[0] & UINT32_MAX) << FT_FLOW_SAME_HALF,
				    dst[1] ^ (rest[1] & UINT32_MAX) << FT_FLOW_SAME_HALF, seed);
		return (uint32_t)(hash ^ hash >> 32);
	}
	if ((src[0] | dst[0]) != 0)
		hash = ft_hash_step(hash, src[0], dst[0], seed);
	hash = ft_hash_step(hash, src[1], dst[1], seed);
	hash = ft_hash_step(hash, rest[0], rest[1], seed);
	return (uint32_t)(hash ^ hash >> 32);
}

/* The same of a key; ft_flow_hash() with the seed that is the table's. */
static inline uint32_t ft_flow_key_hash(const struct ft_flow_key *key, uint64_t seed)
{
	uint64_t src[2], dst[2];
	const uint64_t rest[2] = {
		(uint64_t)key->vni << 32 | key->dest_qp,
		(uint64_t)key->by_lid << 32 | (uint32_t)key->vlan << 16 | key->base,
	};

	memcpy(src, key->src, sizeof src);
	memcpy(dst, key->dst, sizeof dst);
	return ft_flow_words_hash(src, dst, rest, seed);
}

/* Hint that the record of this hash is wanted soon: its index slot. */
void ft_flow_prefetch_slot(const struct ft_flow_table *table, uint32_t hash);

/* The number of the record that most likely has the key; 0: none has. Only ft_flow_confirm() tells. */
uint32_t ft_flow_likely(const struct ft_flow_table *table, uint32_t hash);

/* The same with the slot in the cache; the record is on its way there from now on. */
uint32_t ft_flow_peek(const struct ft_flow_table *table, uint32_t hash);

/* The record of this number (0: none) if it has this key, else NULL. */
struct ft_flow *ft_flow_confirm(const struct ft_flow_table *table, uint32_t number,
				const struct ft_flow_key *key);

/* The record, or NULL. Pointers stay good until the next ft_flow_find_or_create(). */
struct ft_flow *ft_flow_find(struct ft_flow_table *table, const struct ft_flow_key *key,
			     uint32_t hash);

/* Whether packets of the half-connection were seen in this VLAN. */
static inline bool ft_flow_is_seen_in(const struct ft_flow *flow, uint16_t vlan)
{
	return flow->vlan == vlan ||
	       (flow->elsewhere & (FT_FLOW_VLAN | FT_FLOW_SEEN)) == (FT_FLOW_SEEN | vlan);
}

/* Whether two halves may be one connection, as far as VLANs tell: a router may change them, unless others use them. */
static inline bool ft_flow_may_share_vlan(const struct ft_flow *one, const struct ft_flow *other)
{
	return ((one->elsewhere | other->elsewhere) & FT_FLOW_SHARED) == 0 ||
	       ft_flow_is_seen_in(one, other->vlan) || ft_flow_is_seen_in(other, one->vlan);
}

/*
 * `flow` has a key that leaves the VLAN open. Where several half-connections have its addresses and queue pair, the one
 * in this VLAN (FT_FLOW_ANY_VLAN: itself), or NULL.
 */
struct ft_flow *ft_flow_in_vlan(struct ft_flow_table *table, struct ft_flow *flow, uint16_t vlan);

/* The record of a half-connection in a VLAN (or FT_FLOW_ANY_VLAN), whatever base and VLAN the key has; or NULL. */
struct ft_flow *ft_flow_find_whole(struct ft_flow_table *table, const struct ft_flow_key *key,
				   uint16_t vlan);

/* The record, made (all zero but for key, last_ns and what says "none") if it was not there. */
struct ft_flow *ft_flow_find_or_create(struct ft_flow_table *table, const struct ft_flow_key *key,
				       uint32_t hash, uint64_t ts_ns);

/* Of a record of the table, from 1: what another record may hold on to. It is used again after an eviction. */
uint32_t ft_flow_number(const struct ft_flow_table *table, const struct ft_flow *flow);

/*
 * The record of this number, 1 .. capacity, which is not checked; records stand in order of their numbers and never
 * move. Those up to the table's `used` hold a half-connection, the others are all zero.
 */
struct ft_flow *ft_flow_at(const struct ft_flow_table *table, uint32_t number);

/*
 * From now on records that were silent for so long (0: never) make room for new half-connections before
 * unused memory is taken, so that a long run does not grow with the half-connections that come and go.
 */
void ft_flow_expire_after(struct ft_flow_table *table, uint64_t timeout_ns);

/*
 * A half-connection that comes back after so long: the record expires now, unless it did before, and begins anew in its place. So
 * it makes no difference whether another half-connection took the room in between.
 */
void ft_flow_renew(struct ft_flow_table *table, struct ft_flow *flow, uint64_t ts_ns);

/*
 * Told of a record that is about to be evicted or to expire, as it still is; records may be looked up meanwhile, but
 * none made.
 */
typedef void ft_flow_evicted(void *context, struct ft_flow *flow);

/* Whom to tell from now on, instead of whoever was told so far; NULL: nobody. */
void ft_flow_on_evict(struct ft_flow_table *table, ft_flow_evicted *evicted, void *context);

/* Every record in order of its number; false from `visit` stops. */
void ft_flow_each(const struct ft_flow_table *table,
		  bool (*visit)(void *context, const struct ft_flow *flow), void *context);

/* Likewise those with so many packets at least; of the others only the first line is read. */
void ft_flow_each_busy(const struct ft_flow_table *table, uint64_t packets,
		       bool (*visit)(void *context, const struct ft_flow *flow), void *context);

/* As of now. `used` never falls: a record that made room is at once another's. `created` counts those, too. */
struct ft_flow_table_stats ft_flow_table_stats(const struct ft_flow_table *table);
