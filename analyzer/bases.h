#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <flow/table.h>

/*
 * The first P_Key base of half-connections that a full flow table had no room for, so that one which comes back is still
 * held to it: pkey.changed-on-connection. Memory is reserved once and touched when the first is kept. Of a full set the
 * one that was silent for longest goes, and is counted.
 */
struct ft_base {
	uint64_t digest;  /* of the key; 0: none */
	uint64_t last_ns; /* when it was seen last: 48 bits, above the base */
};

struct ft_bases {
	struct ft_base *sets;
	uint64_t seed, timeout_ns;
	uint64_t now_ns;  /* time of the newest half-connection; the caller's to set */
	uint32_t mask;    /* sets - 1 */
	uint64_t kept;    /* so many there ever were */
	uint64_t dropped; /* before they were silent for the timeout, for want of room */
};

/* Room for as many as the flow table has, at least. `timeout_ns`: silence after which a base no longer counts. 0 or -ENOMEM. */
int ft_bases_init(struct ft_bases *bases, uint32_t flows, uint64_t timeout_ns, uint64_t seed);
void ft_bases_free(struct ft_bases *bases);

/* The table is about to let go of a half-connection; of one that was silent for the timeout nothing is kept. */
void ft_bases_keep(struct ft_bases *bases, const struct ft_flow *flow);

/* The base that a half-connection had when it was let go of, and that is forgotten now; FT_FLOW_NO_BASE: none that counts. */
uint16_t ft_bases_take(struct ft_bases *bases, const struct ft_flow_key *key);

/* None was kept yet. */
static inline bool ft_bases_are_empty(const struct ft_bases *bases)
{
	return bases->kept == 0;
}
