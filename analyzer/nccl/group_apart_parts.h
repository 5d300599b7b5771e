#pragma once

#include "group_apart.h"
#include "group_cycle.h"
#include "group_rhythm.h"
#include "group_sites.h"
#include "group_spells.h"

/* What is busy at the same times: connections of a channel, or of several. */
struct ft_nccl_cluster {
	uint32_t component;
	const uint32_t *at; /* places of its connections */
	size_t count;
	const uint32_t *sites; /* sorted */
	size_t site_count;
	bool is_ring, are_sends, renumbered;
	bool has_slices;    /* the first connection carries some */
	bool shared, named; /* a ring: group_strands.h */
	bool tangled;       /* several communicators' */
	bool alone;         /* another ring may be a channel of the same communicator */
	uint32_t set;       /* if it is shared */
	uint32_t part;
};

/* A connection at a site. */
struct ft_nccl_cluster_end {
	uint32_t site, at;
};

struct ft_nccl_apart_finder {
	const struct ft_nccl_apart_input *input;
	struct ft_nccl_sites sites;
	const struct ft_nccl_tag *tags;
	struct ft_nccl_rhythms rhythms;
	struct ft_nccl_spells spells;
	struct ft_nccl_cycle cycle;
	uint32_t *from, *to; /* sites, by place */
	bool *sends;         /* by place: offers are those of sends alone */
	uint32_t *root;      /* by place: a forest of clusters */
	uint32_t *order;     /* places, by cluster */
	uint32_t *site_room;
	struct ft_nccl_cluster_end *ends;
	struct ft_nccl_cluster *clusters;
	size_t count;
	uint32_t parts;
};

/*
 * Sorted by component. Needs room, rhythms and what is by place of the connection. Where a site has more than a thousand, which
 * no host has that computes, none: each would have to be compared with each.
 */
void ft_nccl_clusters_list(struct ft_nccl_apart_finder *finder);

/* Whether its connections that carry slices, as only those of rings do, lead once through all its sites: in finder->cycle. */
bool ft_nccl_clusters_go_around(struct ft_nccl_apart_finder *finder,
				const struct ft_nccl_cluster *cluster);

/* Whether all over which something passed does, whatever it carries. */
bool ft_nccl_clusters_lead_around(struct ft_nccl_apart_finder *finder,
				  const struct ft_nccl_cluster *cluster);

/* Two connections: at the same times, with as many messages; where it is not known how many, with such as are alike. */
bool ft_nccl_are_busy_alike(const struct ft_nccl_apart_finder *finder, uint32_t a, uint32_t b);

bool ft_nccl_cluster_has_site(const struct ft_nccl_cluster *cluster, uint32_t site);
