#pragma once

#include <stdint.h>

/* Numbers united into trees: parents[i] is i for a root, which is the least of its tree. */

/* The root of a tree; the way there is halved. */
static inline uint32_t ft_nccl_root_of(uint32_t *parents, uint32_t at)
{
	while (parents[at] != at) {
		parents[at] = parents[parents[at]];
		at = parents[at];
	}
	return at;
}

static inline void ft_nccl_unite(uint32_t *parents, uint32_t a, uint32_t b)
{
	a = ft_nccl_root_of(parents, a);
	b = ft_nccl_root_of(parents, b);
	parents[a > b ? a : b] = a > b ? b : a;
}
