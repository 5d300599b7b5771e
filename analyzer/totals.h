#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What was on the wire, added up: every frame in exactly one tenant pair. */

struct ft_cell {
	uint32_t from, to; /* tenant index; FT_NONE is `unknown` */
	uint64_t packets, bytes, violating;
	uint64_t judged, undecided; /* of the RDMA frames among them */
	uint64_t ce_marked, cnps, rnr_naks, retransmitted;
	uint32_t *exceptions; /* ids used, ascending; indices into the declared map */
	uint32_t exception_count;
};

#define FT_PKEYS UINT32_C(65536)

struct ft_pkey_total {
	uint64_t packets, bytes;
};

/* An address that acted for a tenant. */
struct ft_seen_address {
	uint64_t digest; /* of tenant and address; 0: empty */
	uint32_t tenant;
};

struct ft_totals {
	struct ft_cell *cells;
	uint32_t *slots; /* open addressing over (from, to); 0 empty, else index + 1 */
	uint32_t cell_count, cell_room, slot_mask;
	struct ft_pkey_total *pkeys; /* one per 16-bit value */
	bool pkey_groups[256];       /* of 256 values each: any was counted; the rest is not read */
	struct ft_seen_address *seen; /* a set, open addressing */
	uint32_t seen_count, seen_mask;
	uint32_t *seen_by_tenant;
};

int ft_totals_init(struct ft_totals *totals, uint32_t tenants);
void ft_totals_free(struct ft_totals *totals);

/* From now on there are `tenants`, of which `before` were there already. 0 or -ENOMEM. */
int ft_totals_grow(struct ft_totals *totals, uint32_t before, uint32_t tenants);

/* The exceptions noted so far have other indices: to[i] for i. */
void ft_totals_move_exceptions(struct ft_totals *totals, const uint32_t *to);

/* Index of the pair's cell, made if new. Ends the program (engine/no_memory.h) when memory ends: totals may not lose a frame. */
uint32_t ft_totals_cell(struct ft_totals *totals, uint32_t from, uint32_t to);

/* Packets, bytes and judged packets of all cells; every frame is in one. */
struct ft_cell ft_totals_sum(const struct ft_totals *totals);

/* Where frames with this P_Key are counted; to be asked before the first one. */
static inline struct ft_pkey_total *ft_totals_pkey(struct ft_totals *totals, uint16_t pkey)
{
	totals->pkey_groups[pkey >> 8] = true;
	return &totals->pkeys[pkey];
}

/* The first P_Key from `from` on of which packets were counted; FT_PKEYS: none. */
uint32_t ft_totals_next_pkey(const struct ft_totals *totals, uint32_t from);

/* Add the other's; what comes out does not depend on which of them saw what. */
void ft_totals_merge(struct ft_totals *into, const struct ft_totals *from);

/* Note that a crossing in the cell of this index was permitted by the exception. */
void ft_totals_except(struct ft_totals *totals, uint32_t index, uint32_t exception);

/* Note an address that acted for a tenant; `digest` stands for the address. */
void ft_totals_see(struct ft_totals *totals, uint32_t tenant, uint64_t digest);
