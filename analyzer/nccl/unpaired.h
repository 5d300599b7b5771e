#pragma once

#include <stddef.h>
#include <stdint.h>

#include <nccl/seen.h>

/*
 * Lanes that were found by their data: which queue pair of the sender the answers go to is not known yet. However many
 * there are, those that a packet may be the answer of are found by its addresses and its source port, which both
 * directions share. Where there are no ports, or few, so many are looked at for one packet, and the next ones for the next.
 */
enum { FT_NCCL_UNPAIRED_CHAINS = 1 << 12, FT_NCCL_UNPAIRED_LOOKS = 64 };

struct ft_nccl_unpaired {
	uint32_t connection;
	uint32_t qpn;  /* that answers of late went to; FT_NCCL_NONE: none did */
	uint32_t next; /* of its chain, a ring; of those given back plus 1, 0 at their end */
	uint8_t votes; /* answers of late in a row that may be its */
	uint8_t lane;
};

/* Starts as zeros, but for the seed. */
struct ft_nccl_unpaired_table {
	struct ft_nccl_unpaired *all;
	uint32_t room, used; /* of `all`: entries, and those that ever were taken */
	uint32_t free;       /* the first of those given back, plus 1; 0: none */
	uint32_t last[FT_NCCL_UNPAIRED_CHAINS]; /* of each chain, plus 1; 0: it is empty */
	uint64_t seed;
};

void ft_nccl_unpaired_free(struct ft_nccl_unpaired_table *table);

/* The chain of answers from the receiver to the sender. */
uint32_t ft_nccl_unpaired_chain(const struct ft_nccl_unpaired_table *table,
				const uint8_t receiver[16], const uint8_t sender[16],
				uint16_t port);

/* Behind all that are in the chain. 0 or -ENOMEM. Pointers to lanes do not outlive it. */
int ft_nccl_unpaired_put(struct ft_nccl_unpaired_table *table, uint32_t chain, uint32_t connection,
			 uint8_t lane);

/* A walk through a chain, from the one on that was not looked at for longest. */
struct ft_nccl_unpaired_walk {
	uint32_t chain;
	uint32_t before; /* the one before `at` */
	uint32_t at;     /* FT_NCCL_NONE: the walk is over */
	uint32_t looks;  /* that are left */
};
struct ft_nccl_unpaired_walk ft_nccl_unpaired_begin(const struct ft_nccl_unpaired_table *table,
						    uint32_t chain);

/* To the next one. */
void ft_nccl_unpaired_step(struct ft_nccl_unpaired_table *table,
			   struct ft_nccl_unpaired_walk *walk);

/* Take out the one that the walk is at, and go to the next one. */
void ft_nccl_unpaired_remove(struct ft_nccl_unpaired_table *table,
			     struct ft_nccl_unpaired_walk *walk);
