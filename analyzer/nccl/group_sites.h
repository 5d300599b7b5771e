#pragma once

#include <string.h>

#include <nccl/model.h>

/*
 * An address within a network: which of its names does not matter, a router leads from one to the other. Of jobs of different
 * releases each has a network of its own: group_releases.h; and so has each communicator that is told apart: group_apart.h.
 */
struct ft_nccl_spot {
	struct ft_nccl_place place;
	uint32_t net; /* 0: nobody said */
};

static inline bool ft_nccl_is_same_place(const struct ft_nccl_place *a,
					 const struct ft_nccl_place *b)
{
	return a->by_lid == b->by_lid && memcmp(a->address, b->address, sizeof a->address) == 0;
}

/* Into one that is all zero: such are compared and sorted as a whole. */
static inline void ft_nccl_copy_place(struct ft_nccl_place *to, const struct ft_nccl_place *from)
{
	memcpy(to->address, from->address, sizeof to->address);
	to->by_lid = from->by_lid;
}

/* Addresses, united into sites by parties that have several, and into components by connections. */
struct ft_nccl_sites {
	struct ft_nccl_spot *spots; /* sorted, each once */
	uint32_t *site, *component; /* by spot: of a forest, of its components */
	uint32_t *nets;             /* of each connection */
	size_t count;
};

/*
 * `life`: as ft_nccl_lives_find() tells, `part`: as ft_nccl_apart_find() does, each a network of its own; NULL: not known. 0 or
 * -ENOMEM.
 */
int ft_nccl_sites_find(struct ft_nccl_sites *sites, struct ft_nccl_connection **connections,
		       size_t count, const uint32_t *life, const uint32_t *part);
void ft_nccl_sites_free(struct ft_nccl_sites *sites);

/*
 * Where a party of connections[connection] is. FT_NCCL_NONE: the party has no address. Numbers below sites->count, the
 * same for what is united.
 */
uint32_t ft_nccl_site_of(struct ft_nccl_sites *sites, size_t connection,
			 const struct ft_nccl_party *party);
uint32_t ft_nccl_component_of(struct ft_nccl_sites *sites, uint32_t site);
