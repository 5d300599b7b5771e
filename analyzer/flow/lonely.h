#pragma once

#include <flow/table.h>

/*
 * Half-connections without a pair, counted by the two addresses they go between. Where there are some each way, as many may
 * be each other's reverse: in view, but not known which of which. What one way has more than the other lacks its reverse.
 */
struct ft_lonely_pair {
	uint64_t digest;    /* of the two addresses, in either order; 0: free */
	uint32_t halves[2]; /* by direction */
};

struct ft_lonely {
	struct ft_lonely_pair *pairs;
	uint32_t places; /* a power of two, twice as many as there may be pairs */
	uint32_t used;
	uint64_t seed;      /* of digests; changes no result */
	uint64_t one_sided; /* that no half in view fits, or of pairs for which there is no room */
};

/* Room for `pairs` pairs of addresses, at most 2^30; touched as it is used. 0 or -ENOMEM. */
int ft_lonely_init(struct ft_lonely *lonely, uint32_t pairs, uint64_t seed);
void ft_lonely_free(struct ft_lonely *lonely); /* all 0 is fine */

/* `unlike`: nothing in view has asked for what it answered. */
void ft_lonely_add(struct ft_lonely *lonely, const struct ft_flow *flow, bool unlike);

/* Add what `from` holds; both have one seed. */
void ft_lonely_merge(struct ft_lonely *lonely, const struct ft_lonely *from);

/* Halves between its addresses, the way that it goes; 0 if that is not known. */
uint32_t ft_lonely_halves(const struct ft_lonely *lonely, const struct ft_flow_key *key);

struct ft_lonely_sum {
	uint64_t one_sided; /* whose reverse is missing */
	uint64_t unpaired;  /* whose reverse may be in view, of as many each way */
};

struct ft_lonely_sum ft_lonely_sum(const struct ft_lonely *lonely);
