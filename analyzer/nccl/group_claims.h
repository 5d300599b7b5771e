#pragma once

#include <nccl/model.h>

/* Somebody at a site: a rank, or whoever is there. */
struct ft_nccl_claim {
	uint32_t component; /* in order of first connection */
	uint32_t site;
	uint32_t
		seen; /* the lower the earlier; of a rank: place of a connection that it sends on */
	int32_t rank;
	bool has_rank, doubted;
	bool parted; /* perhaps several processes have this rank, each in a communicator of its own */
};

static inline bool ft_nccl_is_same_rank(const struct ft_nccl_claim *a,
					const struct ft_nccl_claim *b)
{
	return a->component == b->component && a->rank == b->rank;
}

/*
 * Ranks, sorted by component, rank and site, each once: those at several sites of which one has other ranks, too, or that send
 * to one address, are `parted`, unless set-ups name one host. `room`: by site, all 0.
 */
void ft_nccl_claims_part(struct ft_nccl_claim *claims, size_t count,
			 struct ft_nccl_connection *const *connections, uint32_t *room);

/*
 * Ranks, sorted by component, rank and site, each once. Each communicator may number its own: where a rank is told at two
 * hosts, or by both ends of a connection (`doubted`), several do so in its component. Then none is a process, and all of them
 * are doubted. `renumbered`: by component; true if that is known, and afterwards if it is found.
 */
void ft_nccl_claims_doubt(struct ft_nccl_claim *claims, size_t count,
			  struct ft_nccl_connection *const *connections, bool *renumbered);
