#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <flow/table.h>
#include <nccl/follower.h>
#include <partition/check.h>

/*
 * Which half-connections NCCL's framing found something wrong with, for the table that lists them: marked as findings
 * are made, looked up by where they go, in which VLAN, overlay and P_Key.
 */

enum { FT_FRAMING_RULES = FT_RULE_NCCL_CROSSES_TENANTS + 1 - FT_RULES };

/* Bits: an enum ft_rule less FT_RULES. */
struct ft_framing_told {
	uint8_t rules;
	uint8_t violated; /* of these, those that are sure enough to be a violation */
};
static_assert(FT_FRAMING_RULES <= 8, "rules are bits of a byte");

static inline uint8_t ft_framing_rule_bit(enum ft_rule rule)
{
	return (uint8_t)(1u << ((unsigned)rule - FT_RULES));
}

struct ft_framing_mark {
	struct ft_flow_key key; /* base and VLAN are the frame's */
	struct ft_framing_told told;
};

/* All zero: none yet, and hash tables without a seed. */
struct ft_framing_marks {
	struct ft_framing_mark *items;
	uint32_t *slots; /* of a mark plus 1; 0: free */
	uint32_t count, mask;
	uint64_t seed;
};

/* The frame's half-connection breaks it. No more than there are findings told; ends the program when memory ends. */
void ft_framing_marks_add(struct ft_framing_marks *marks, const struct ft_nccl_found *found,
			  enum ft_rule rule, bool sure);

/* Of a record's frames; nothing: no rules. */
struct ft_framing_told ft_framing_marks_of(const struct ft_framing_marks *marks,
					   const struct ft_flow *flow);

void ft_framing_marks_free(struct ft_framing_marks *marks);
