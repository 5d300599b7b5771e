#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Half-connections: what one side sent to one queue pair. Memory is reserved once, for `capacity`
 * records, and touched only as records come into use; nothing is allocated per frame. A full
 * table evicts an idle record and counts it.
 */

/* Hashed and compared as bytes: no padding. */
struct ft_flow_key {
	uint8_t src[16],
		dst[16];  /* IP (IPv4 in ::ffff:0:0/96) or GID; LIDs in the last two bytes */
	uint32_t dest_qp; /* 24-bit */
	uint32_t vni;     /* 24-bit; FT_FLOW_NO_VNI outside overlays */
	uint16_t base;    /* P_Key without the membership bit, or FT_FLOW_ANY_BASE */
	uint16_t vlan;    /* 0: untagged */
	uint32_t by_lid;  /* 1: src and dst hold LIDs */
};
static_assert(sizeof(struct ft_flow_key) == 48, "padding would be hashed");

#define FT_FLOW_NO_VNI   UINT32_MAX
#define FT_FLOW_ANY_BASE UINT16_MAX /* the first record of a half-connection, whatever its P_Key */
#define FT_FLOW_NO_BASE  UINT16_MAX /* first_base: none seen since the connection was set up */

#define FT_FLOW_JUDGED_BY 28

/* The first line is what every frame reads or writes. */
struct ft_flow {
	_Alignas(64) struct ft_flow_key key;
	uint64_t last_ns; /* time of the newest frame */
	uint64_t packets;

	/* the caller's, second line */
	uint64_t verdict;  /* its number; 0: nothing to report */
	uint64_t bad_icrc; /* packets whose ICRC was wrong */
	uint32_t epoch;    /* of the map, in which the verdict holds */
	uint32_t cell;     /* where the frames are added up; UINT32_MAX: not known yet */
	uint8_t judged_by
		[FT_FLOW_JUDGED_BY]; /* what it was reached from, besides this key; zero: none yet */
	uint32_t bad_icrc_finding;   /* UINT32_MAX: none */
	uint16_t first_base;         /* of the half-connection; FT_FLOW_NO_BASE */
};
static_assert(sizeof(struct ft_flow) == 128, "two cache lines");

struct ft_flow_table;

struct ft_flow_table_stats {
	uint32_t capacity, used;
	uint64_t created, evicted;
	uint64_t bytes; /* address space reserved */
};

/* 0, -EINVAL (capacity 0 or above 2^28) or -ENOMEM. `seed` decides who collides with whom, never a result. */
int ft_flow_table_create(struct ft_flow_table **table, uint32_t capacity, uint64_t seed);
void ft_flow_table_destroy(struct ft_flow_table *table); /* NULL is fine */

/* Of a key, for the calls below; differs from table to table with the seed. */
uint32_t ft_flow_hash(const struct ft_flow_table *table, const struct ft_flow_key *key);

/* Hint that the record of this hash is wanted soon: first the index slot, later the record itself. */
void ft_flow_prefetch_slot(const struct ft_flow_table *table, uint32_t hash);
void ft_flow_prefetch_record(const struct ft_flow_table *table, uint32_t hash);

/* The record, or NULL. Pointers stay good until the next ft_flow_find_or_create(). */
struct ft_flow *ft_flow_find(struct ft_flow_table *table, const struct ft_flow_key *key,
			     uint32_t hash);

/* The record, made (all zero but for key, last_ns and what says "none") if it was not there. */
struct ft_flow *ft_flow_find_or_create(struct ft_flow_table *table, const struct ft_flow_key *key,
				       uint32_t hash, uint64_t ts_ns);

/* Every record in order of creation slot; false from `visit` stops. */
void ft_flow_each(const struct ft_flow_table *table,
		  bool (*visit)(void *context, const struct ft_flow *flow), void *context);

struct ft_flow_table_stats ft_flow_table_stats(const struct ft_flow_table *table);
