#pragma once

#include "group_claims.h"
#include "group_members.h"
#include "group_sites.h"

struct ft_nccl_members_finder {
	struct ft_nccl_members *members;
	struct ft_nccl_connection **connections;
	size_t connection_count;
	const struct ft_nccl_apart *apart;
	struct ft_nccl_sites sites;
	const struct ft_nccl_tag *tags;
	const uint32_t *before;        /* by site: its component before any were joined */
	uint32_t *numbers;             /* of components, by root */
	uint32_t *ranks_at;            /* by site: how many */
	uint32_t *claims_at;           /* by site: likewise, whether they are processes or not */
	bool *renumbered;              /* by component: several number their own ranks */
	bool *varied;                  /* by component: tags differ */
	uint32_t *member_at;           /* by site: FT_NCCL_NONE unless it is one */
	struct ft_nccl_claim *claims;  /* each rank at each of its sites, sorted */
	struct ft_nccl_claim *persons; /* one for each member, sorted */
	size_t claim_count, person_count;
};

/* Ranks first, by rank, and of one rank by site; the others in the order in which they were seen. */
int ft_nccl_claims_compare(const void *a, const void *b);

uint32_t ft_nccl_members_component(struct ft_nccl_members_finder *finder,
				   uint32_t site); /* its number */

/* Each rank that is a process is a person, and has a claim at each of its sites; fills `ranks_at`. */
void ft_nccl_members_settle_ranks(struct ft_nccl_members_finder *finder);
