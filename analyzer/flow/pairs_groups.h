#pragma once

#include <assert.h>
#include <string.h>

#include <flow/reserve.h>
#include <flow/table.h>

/*
 * Half-connections that may belong together, in groups: by the two addresses and the source port that
 * both directions share, or by source and destination for those that share no port. An index of buckets
 * leads to them: a bucket is a list of record numbers, the newest first, in an array beside the records,
 * and holds every half of its groups. Who walks it compares ports and addresses.
 */
enum ft_place {
	FT_PLACE_NONE, /* not entered */
	FT_PLACE_PORT, /* in the group of its source port */
	FT_PLACE_WAY,  /* in the group of its source and destination */
	FT_PLACE_DATAGRAM,
	FT_PLACE_DORMANT, /* silent for long: in no group until it sends again */
	FT_PLACE_ASIDE,   /* looks for nothing: paired, or of a kind that has no other half */
};

struct ft_group_member {
	uint32_t next; /* record number, 0: none. Datagrams: source QP of the first packet */
	uint32_t prev; /* likewise; or FT_MEMBER_FIRST and the bucket of which it is the first */
	uint16_t port; /* UDP source port of the first packet; 0: none */
	uint8_t wait;  /* packets until the next search */
	uint8_t level : 4; /* searches so far; the waits double with it */
	uint8_t place : 3; /* enum ft_place */
	uint8_t fits : 1;  /* the newest search met a half that may be the other one */
};
static_assert(sizeof(struct ft_group_member) == 12, "one for every record");

#define FT_MEMBER_FIRST UINT32_C(0x80000000) /* above every record number */

enum { FT_GROUPS_WAYS_BITS = 10, FT_MEMBER_LEVEL_LAST = 8 };

struct ft_groups {
	struct ft_flow *records;         /* of the table */
	struct ft_group_member *members; /* by record number less 1 */
	struct ft_growth growth;         /* of the members */
	uint32_t *firsts;                /* of the buckets: record numbers; 0: empty */
	uint64_t seed;
	uint32_t capacity; /* records; and buckets, once so many wait */
	uint32_t buckets;  /* in use: while few wait, so few that they stay in the cache */
	uint32_t waiting;  /* halves in all groups */
	/* those by way, added up by a few bits of their addresses: mostly there are none to look for */
	uint32_t ways[1 << FT_GROUPS_WAYS_BITS];
};

/* 0 or -ENOMEM. */
int ft_groups_create(struct ft_groups **groups, struct ft_flow_table *table, uint64_t seed);
void ft_groups_destroy(struct ft_groups *groups); /* NULL is fine */

/* Whether it is in a group: looks for its other half, and can be found. */
static inline bool ft_member_looks(const struct ft_group_member *member)
{
	return member->place == FT_PLACE_PORT || member->place == FT_PLACE_WAY;
}

/* Whether it is time for a half to look for its other one; the waits double. */
static inline bool ft_member_is_due(struct ft_group_member *member)
{
	if (!ft_member_looks(member))
		return false;
	if (member->wait != 0) {
		member->wait--;
		return false;
	}
	member->wait = (uint8_t)((1u << member->level) - 1);
	if (member->level < FT_MEMBER_LEVEL_LAST)
		member->level = (member->level + 1) & 15;
	return true;
}

/*
 * As if it were new. Of one that is, both are read and not written: they were written just now, each by itself, and would be
 * waited for if they were read as one.
 */
static inline void ft_member_look_at_once(struct ft_group_member *member)
{
	if (member->wait != 0)
		member->wait = 0;
	if (member->level != 0)
		member->level = 0;
}

static inline uint32_t ft_groups_number(const struct ft_groups *groups, const struct ft_flow *flow)
{
	return (uint32_t)(flow - groups->records) + 1;
}

static inline struct ft_flow *ft_groups_flow(const struct ft_groups *groups, uint32_t number)
{
	return &groups->records[number - 1];
}

/* Of a record, or of its number. */
static inline struct ft_group_member *ft_groups_at(const struct ft_groups *groups, uint32_t number)
{
	return &groups->members[number - 1];
}

static inline struct ft_group_member *ft_groups_member(const struct ft_groups *groups,
						       const struct ft_flow *flow)
{
	return &groups->members[flow - groups->records];
}

/* Of a record that may be new: its member is about to be written. */
static inline struct ft_group_member *ft_groups_new_member(struct ft_groups *groups,
							   const struct ft_flow *flow)
{
	ft_growth_upto(&groups->growth, ft_groups_number(groups, flow) * sizeof *groups->members);
	return ft_groups_member(groups, flow);
}

/* How many halves are in groups by way, of all addresses that look alike; the same for both directions. */
static inline uint32_t *ft_groups_ways(struct ft_groups *groups, const struct ft_flow_key *key)
{
	uint64_t src, dst;

	memcpy(&src, key->src + 8, sizeof src);
	memcpy(&dst, key->dst + 8, sizeof dst);
	return &groups->ways[(src ^ dst) * 0x9e3779b97f4a7c15u >> (64 - FT_GROUPS_WAYS_BITS)];
}

/* Put the half into the group of its port or way; it must be in none. member->port must be set. */
void ft_groups_join(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place);

/* Take it out, if it is in one; then its place is `place`. */
void ft_groups_part(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place);

/* First of the bucket with the halves of this port in either direction; 0: none. */
uint32_t ft_groups_of_port(const struct ft_groups *groups, const struct ft_flow_key *key,
			   uint16_t port);

/* First of the bucket with those that go the opposite way and share no port; 0: none. */
uint32_t ft_groups_facing(const struct ft_groups *groups, const struct ft_flow_key *key);
