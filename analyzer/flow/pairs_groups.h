#pragma once

#include <assert.h>

#include <flow/table.h>

/*
 * Half-connections that may belong together, in groups: by the two addresses and the source port that
 * both directions share, or by source and destination for those that share no port. A group is a list
 * of record numbers, the newest first, in an array beside the records; an index finds its head.
 */
struct ft_groups;

enum ft_place {
	FT_PLACE_NONE, /* not entered */
	FT_PLACE_PORT, /* in the group of its source port */
	FT_PLACE_WAY,  /* in the group of its source and destination */
	FT_PLACE_DATAGRAM,
	FT_PLACE_DORMANT, /* silent for long: in no group until it sends again */
	FT_PLACE_ASIDE,   /* looks for nothing: paired, or of a kind that has no other half */
};

struct ft_member {
	uint32_t next,
		prev; /* record numbers, 0: none. Datagrams: source QP of the first packet in `next` */
	uint16_t port;     /* UDP source port of the first packet; 0: none */
	uint8_t wait;      /* packets until the next search */
	uint8_t level : 4; /* searches so far; the waits double with it */
	uint8_t place : 4; /* enum ft_place */
};
static_assert(sizeof(struct ft_member) == 12, "one for every record");

/* 0 or -ENOMEM. */
int ft_groups_create(struct ft_groups **groups, struct ft_flow_table *table, uint64_t seed);
void ft_groups_destroy(struct ft_groups *groups); /* NULL is fine */

/* Whether it is in a group: looks for its other half, and can be found. */
static inline bool ft_member_looks(const struct ft_member *member)
{
	return member->place == FT_PLACE_PORT || member->place == FT_PLACE_WAY;
}

/* Of a record, or of its number. */
struct ft_member *ft_groups_member(const struct ft_groups *groups, const struct ft_flow *flow);
struct ft_member *ft_groups_at(const struct ft_groups *groups, uint32_t number);

/* Put the half into the group of its port or way; it must be in none. member->port must be set. */
void ft_groups_join(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place);

/* Take it out, if it is in one; then its place is `place`. */
void ft_groups_part(struct ft_groups *groups, struct ft_flow *flow, enum ft_place place);

/* First of the halves with this port in either direction, or of those that go the opposite way; 0: none. */
uint32_t ft_groups_of_port(const struct ft_groups *groups, const struct ft_flow_key *key,
			   uint16_t port);
uint32_t ft_groups_facing(const struct ft_groups *groups, const struct ft_flow_key *key);

/* The key of what comes back the other way, but for the queue pair. */
struct ft_flow_key ft_flow_key_turned(const struct ft_flow_key *key);

uint64_t ft_groups_bytes(const struct ft_groups *groups);
