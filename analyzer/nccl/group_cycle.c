#include "group_cycle.h"

#include <errno.h>
#include <stdlib.h>

int ft_nccl_cycle_create(struct ft_nccl_cycle *cycle, size_t sites)
{
	cycle->next = calloc(sites + 1, sizeof *cycle->next);
	cycle->previous = calloc(sites + 1, sizeof *cycle->previous);
	return cycle->next != NULL && cycle->previous != NULL ? 0 : -ENOMEM;
}

void ft_nccl_cycle_free(struct ft_nccl_cycle *cycle)
{
	free(cycle->next);
	free(cycle->previous);
	*cycle = (struct ft_nccl_cycle){ 0 };
}

void ft_nccl_cycle_begin(struct ft_nccl_cycle *cycle, const uint32_t *sites, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cycle->next[sites[i]] = cycle->previous[sites[i]] = UINT32_MAX;
	cycle->forks = false;
}

void ft_nccl_cycle_add(struct ft_nccl_cycle *cycle, uint32_t from, uint32_t to)
{
	cycle->forks |= (cycle->next[from] != UINT32_MAX && cycle->next[from] != to) ||
			(cycle->previous[to] != UINT32_MAX && cycle->previous[to] != from);
	cycle->next[from] = to;
	cycle->previous[to] = from;
}

bool ft_nccl_cycle_is_closed(const struct ft_nccl_cycle *cycle, const uint32_t *sites, size_t count)
{
	uint32_t at = sites[0];

	for (size_t i = 0; i < count; i++)
		if (cycle->next[sites[i]] == UINT32_MAX)
			return false;
	for (size_t i = 1; i < count; i++) {
		at = cycle->next[at];
		if (at == UINT32_MAX || at == sites[0])
			return false;
	}
	return !cycle->forks && cycle->next[at] == sites[0];
}
