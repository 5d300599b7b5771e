#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether ways between sites, numbers below `sites`, lead once around. */
struct ft_nccl_cycle {
	uint32_t *next, *previous; /* by site; UINT32_MAX: nobody yet */
	bool forks;                /* from a site to several, or to a site from several */
};

/* 0 or -ENOMEM; free in any case. */
int ft_nccl_cycle_create(struct ft_nccl_cycle *cycle, size_t sites);
void ft_nccl_cycle_free(struct ft_nccl_cycle *cycle);

/* Without any way; all that will be are between these sites. */
void ft_nccl_cycle_begin(struct ft_nccl_cycle *cycle, const uint32_t *sites, size_t count);
void ft_nccl_cycle_add(struct ft_nccl_cycle *cycle, uint32_t from, uint32_t to);

/* All ways together are one circle through exactly these sites, of which there is one at least. */
bool ft_nccl_cycle_is_closed(const struct ft_nccl_cycle *cycle, const uint32_t *sites,
			     size_t count);
