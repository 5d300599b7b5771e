#pragma once

#include <assert.h>

#include <nccl/follower.h>

/*
 * Which connection packets to an address and queue pair belong to. A queue pair of an overlay is told by the overlay's
 * number from the first packet on; before, that of its set-up is likely, but any will do: TCP may have a network of its own.
 * So may set-ups in two VLANs be of one queue pair in each; packets in one of these VLANs tell.
 */
enum ft_nccl_role { FT_NCCL_AT_SENDER, FT_NCCL_AT_RECEIVER }; /* whose queue pair it is, of data */

struct ft_nccl_end {
	/* as they follow each other in struct ft_flow_key, too */
	uint8_t address[16];
	uint32_t qpn;
	uint32_t vni; /* as in struct ft_nccl_ends */

	uint32_t told_vni;   /* that of its set-up; without one the same */
	uint32_t connection; /* id */
	uint8_t lane;
	uint8_t role; /* enum ft_nccl_role */
	bool by_lid, used;
	uint16_t told_vlan; /* that of its set-up, plus 1; 0: without one */
	bool any_vni;       /* no packet was seen yet: `vni` is the set-up's */
	bool unsure; /* may be stack bytes of an old release: whoever is sure takes the place */
};

static_assert(sizeof(struct ft_nccl_end) <= 44, "many to a page");

struct ft_nccl_end_table {
	struct ft_nccl_end *ends;
	size_t slots, used; /* slots: a power of two, or 0 */
	uint64_t seed;
	uint64_t changes; /* so far */
};

void ft_nccl_ends_free(struct ft_nccl_end_table *table);

/* The one that `end` takes the place of when it is put in. NULL: none. */
struct ft_nccl_end *ft_nccl_ends_rival(const struct ft_nccl_end_table *table,
				       const struct ft_nccl_end *end);

/* One of its name that was set up in another VLAN; NULL: none. */
const struct ft_nccl_end *ft_nccl_ends_elsewhere(const struct ft_nccl_end_table *table,
						 const struct ft_nccl_end *end);

/* A connection's own; NULL: it has lost it. */
struct ft_nccl_end *ft_nccl_ends_own(const struct ft_nccl_end_table *table,
				     const struct ft_nccl_place *place, uint32_t qpn,
				     uint32_t connection);

/* The end a packet was sent to, if it is in this overlay. */
struct ft_nccl_end *ft_nccl_ends_of(const struct ft_nccl_end_table *table,
				    const struct ft_nccl_seen *seen, uint32_t vni);

/* The same for a packet in no overlay. */
const struct ft_nccl_end *ft_nccl_ends_glimpse(const struct ft_nccl_end_table *table,
					       const struct ft_flow_key *key, uint16_t vlan);

/* Put in; its rival is replaced. 0 or -ENOMEM. Pointers to ends do not outlive it. */
int ft_nccl_ends_put(struct ft_nccl_end_table *table, const struct ft_nccl_end *end);

void ft_nccl_ends_remove(struct ft_nccl_end_table *table, struct ft_nccl_end *end);
