#include "group_nets.h"

#include <errno.h>
#include <stdlib.h>

#include "group_forest.h"

struct names {
	uint32_t *at; /* sorted, each once */
	uint32_t *parents;
	size_t count;
};

static int compare(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static uint32_t number_of(const struct names *names, uint32_t net)
{
	const uint32_t *found = bsearch(&net, names->at, names->count, sizeof *names->at, compare);

	return (uint32_t)(found - names->at);
}

static void list(struct names *names, struct ft_nccl_connection *const *connections, size_t count)
{
	size_t filled = 0;

	for (size_t i = 0; i < count; i++)
		for (uint8_t j = 0; j < connections[i]->net_count; j++)
			names->at[filled++] = connections[i]->nets[j];
	if (filled > 0)
		qsort(names->at, filled, sizeof *names->at, compare);
	for (size_t i = 0; i < filled; i++)
		if (i == 0 || names->at[i] != names->at[names->count - 1])
			names->at[names->count++] = names->at[i];
	for (uint32_t i = 0; i < names->count; i++)
		names->parents[i] = i;
}

static void join(const struct names *names, const struct ft_nccl_connection *connection)
{
	for (uint8_t i = 1; i < connection->net_count; i++)
		ft_nccl_unite(names->parents, number_of(names, connection->nets[0]),
			      number_of(names, connection->nets[i]));
}

int ft_nccl_nets_find(uint32_t *nets, struct ft_nccl_connection *const *connections, size_t count)
{
	struct names names = { .at = calloc(count + 1, FT_NCCL_NETS_MAX * sizeof *names.at),
			       .parents = calloc(count + 1,
						 FT_NCCL_NETS_MAX * sizeof *names.parents) };
	int error = names.at != NULL && names.parents != NULL ? 0 : -ENOMEM;

	if (error == 0) {
		list(&names, connections, count);
		for (size_t i = 0; i < count; i++)
			join(&names, connections[i]);
		for (size_t i = 0; i < count; i++)
			nets[i] = connections[i]->net_count == 0
					  ? 0
					  : 1 + ft_nccl_root_of(
							names.parents,
							number_of(&names, connections[i]->nets[0]));
	}
	free(names.at);
	free(names.parents);
	return error;
}
