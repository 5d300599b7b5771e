#pragma once

#include <nccl/model.h>

/* Addresses, united into sites by parties that have several, and into components by connections. */
struct ft_nccl_sites {
	struct ft_nccl_place *places; /* sorted, each once */
	uint32_t *site, *component;   /* by place: of a forest, of its components */
	size_t count;
};

/* 0 or -ENOMEM. */
int ft_nccl_sites_find(struct ft_nccl_sites *sites, struct ft_nccl_connection **connections,
		       size_t count);
void ft_nccl_sites_free(struct ft_nccl_sites *sites);

/* FT_NCCL_NONE: the party has no address. Numbers below sites->count, the same for what is united. */
uint32_t ft_nccl_site_of(struct ft_nccl_sites *sites, const struct ft_nccl_party *party);
uint32_t ft_nccl_component_of(struct ft_nccl_sites *sites, uint32_t site);
