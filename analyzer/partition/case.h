#pragma once

#include <partition/check.h>

#include "tenants.h"

/* A frame laid against the map: all that time does not change. */
struct ft_case {
	const struct ft_map *map;
	const struct ft_check_key *key;
	uint16_t base;            /* 0 if the P_Key is not known */
	bool by_pkey, by_segment; /* which ladders apply: section 4, section 5 */
	bool everyone;     /* 0x7fff on QP1 of a map without that partition: all are members */
	bool group;        /* multicast destination */
	uint32_t src, dst; /* endpoints; FT_NONE: not declared */
	struct ft_segment_place from, to; /* RoCE */
	struct ft_segment_tags tags;      /* by_segment */
	bool spoofed;
	struct ft_origin spoof_origin; /* the port that the other address belongs to */
};
void ft_case_open(struct ft_case *frame, const struct ft_map *map, const struct ft_check_key *key);

static inline bool ft_case_knows(const struct ft_case *frame, unsigned needs)
{
	return (frame->key->known & needs) == needs;
}

/* The map's word on a frame at one instant: sections 3 to 6. */
struct ft_ruling {
	uint32_t rules; /* bit per enum ft_rule */
	bool undecided;
	bool crossing_between_customers;
	uint32_t exception; /* that permits the crossing; FT_NONE */
	struct ft_tenants src, dst;
	struct ft_origin origin; /* of the ladder's rule */
};
void ft_rule_at(const struct ft_case *frame, int64_t ts_ns, struct ft_ruling *ruling);

/* Did the map permit the frame at some instant of the grace period? */
bool ft_case_in_grace(const struct ft_case *frame, int64_t ts_ns);

/*
 * The verdict by the ladders and by time, for any frame; and the same for an ordinary one, whose ends
 * are both members of a customer's partition, or at home in one tenant's segments. False, and nothing
 * written, if the frame is not that ordinary.
 */
void ft_check_ladders(const struct ft_case *frame, int64_t ts_ns, struct ft_verdict *verdict);
bool ft_check_ordinary(const struct ft_case *frame, int64_t ts_ns, struct ft_verdict *verdict);

/* bits that are no violation */
#define FT_RULE_ALERTS                                                                             \
	(1u << FT_RULE_DECODE_PKEY_UNUSUAL | 1u << FT_RULE_TENANT_MANAGEMENT_CROSSING)

/* Three-valued: a field that decides may be missing. */
enum ft_answer { FT_NO, FT_YES, FT_MAYBE };

/* Is the DestQP 1? Where it was cut off the opcode tells: nothing but datagrams go there. */
enum ft_answer ft_case_is_management(const struct ft_case *frame);

/* The exception that permits a crossing, first in file order; FT_MAYBE if a missing field decides. */
enum ft_answer ft_except(const struct ft_case *frame, const struct ft_ruling *ruling,
			 uint32_t *exception);
/* A management exception covers 0x7fff for data; for DestQP 1 no exception lists the frame's class. */
bool ft_except_default_data(const struct ft_declared *declared);
enum ft_answer ft_except_bars_class(const struct ft_case *frame);
bool ft_tenants_have_customer(const struct ft_tenants *set);
