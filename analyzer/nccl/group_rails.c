#include "group_rails.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_forest.h"

/* A site that a set-up names the host of. */
struct naming {
	uint32_t component;
	struct ft_nccl_place name;
	uint32_t site;
};

struct finder {
	struct ft_nccl_rails *rails;
	struct ft_nccl_sites *sites;
	const uint32_t *before;
	struct ft_nccl_connection **connections;
	size_t count;
	struct naming *namings; /* by component and name */
	size_t naming_count;
	uint32_t *host;             /* by site: the first one of its host */
	uint32_t *numbers;          /* by that site: its end's; FT_NCCL_NONE: none yet */
	uint32_t *numbers_of_rails; /* by component */
	bool *is_named;             /* by site */
	bool *named;                /* by component: its hosts are */
	bool *several;              /* by component: rails were joined */
};

static int compare(const void *a, const void *b)
{
	const struct naming *left = a, *right = b;
	int order;

	if (left->component != right->component)
		return left->component < right->component ? -1 : 1;
	order = memcmp(left->name.address, right->name.address, sizeof left->name.address);
	if (order != 0)
		return order;
	if (left->name.by_lid != right->name.by_lid)
		return left->name.by_lid ? 1 : -1;
	return (left->site > right->site) - (left->site < right->site);
}

static void name(struct finder *finder, uint32_t site, const struct ft_nccl_place *by)
{
	const uint32_t component = ft_nccl_component_of(finder->sites, site);

	finder->namings[finder->naming_count++] = (struct naming){ component, *by, site };
	finder->is_named[site] = finder->named[component] = true;
}

static bool same_host(const struct naming *a, const struct naming *b)
{
	return a->component == b->component && ft_nccl_is_same_place(&a->name, &b->name);
}

/* Set-ups within a host, as of several guests behind one address, tell nothing apart. */
static void find_hosts(struct finder *finder)
{
	for (size_t i = 0; i < finder->count; i++) {
		const struct ft_nccl_connection *connection = finder->connections[i];
		const uint32_t from = ft_nccl_site_of(finder->sites, i, &connection->sender);
		const uint32_t to = ft_nccl_site_of(finder->sites, i, &connection->receiver);

		if (!connection->has_tcp || from == FT_NCCL_NONE || to == FT_NCCL_NONE ||
		    ft_nccl_is_same_place(&connection->connecting, &connection->listening))
			continue;
		name(finder, from, &connection->connecting);
		name(finder, to, &connection->listening);
	}
	if (finder->naming_count > 0)
		qsort(finder->namings, finder->naming_count, sizeof *finder->namings, compare);
	for (uint32_t i = 0; i < finder->sites->count; i++)
		finder->host[i] = i;
	for (size_t i = 1; i < finder->naming_count; i++)
		if (same_host(&finder->namings[i - 1], &finder->namings[i]))
			ft_nccl_unite(finder->host, finder->namings[i - 1].site,
				      finder->namings[i].site);
}

/* Where rails were joined, names of some sites would leave the others beside them. */
static void forget_some(struct finder *finder)
{
	struct ft_nccl_sites *sites = finder->sites;

	for (uint32_t i = 0; i < sites->count; i++) {
		const uint32_t component = ft_nccl_component_of(sites, i);

		finder->several[component] |= finder->before[i] != finder->before[component];
	}
	for (uint32_t i = 0; i < sites->count; i++) {
		const uint32_t component = ft_nccl_component_of(sites, i);

		if (!finder->is_named[i] && finder->several[component])
			finder->named[component] = false;
	}
}

/* The next number, for what has none yet. */
static uint32_t number_of(uint32_t *number, uint32_t *next)
{
	if (*number == FT_NCCL_NONE)
		*number = (*next)++;
	return *number;
}

static uint32_t rail_of(struct finder *finder, uint32_t site)
{
	const uint32_t component = ft_nccl_component_of(finder->sites, site);
	const bool named = finder->named[component];
	const uint32_t rail =
		number_of(&finder->numbers_of_rails[named ? component : finder->before[site]],
			  &finder->rails->count);

	finder->rails->by_host[rail] = named;
	return rail;
}

static uint32_t end_of(struct finder *finder, uint32_t site, uint32_t rail)
{
	if (site == FT_NCCL_NONE)
		return FT_NCCL_NONE;
	return number_of(&finder->numbers[ft_nccl_root_of(finder->host, site)],
			 &finder->rails->ends[rail]);
}

static void number_all(struct finder *finder)
{
	struct ft_nccl_rails *rails = finder->rails;

	for (size_t i = 0; i < finder->count; i++) {
		const struct ft_nccl_connection *connection = finder->connections[i];
		const uint32_t from = ft_nccl_site_of(finder->sites, i, &connection->sender);
		const uint32_t to = ft_nccl_site_of(finder->sites, i, &connection->receiver);
		const uint32_t site = from != FT_NCCL_NONE ? from : to;

		if (site == FT_NCCL_NONE)
			continue;
		rails->of[i] = rail_of(finder, site);
		rails->part[i] = finder->before[site];
		rails->sender[i] = end_of(finder, from, rails->of[i]);
		rails->receiver[i] = end_of(finder, to, rails->of[i]);
	}
}

static uint32_t *no_numbers(size_t count)
{
	uint32_t *numbers = malloc((count + 1) * sizeof *numbers);

	if (numbers != NULL) /* FT_NCCL_NONE is all bits set */
		memset(numbers, 0xff, (count + 1) * sizeof *numbers);
	return numbers;
}

static int reserve(struct finder *finder)
{
	struct ft_nccl_rails *rails = finder->rails;
	const size_t sites = finder->sites->count, count = finder->count;

	rails->ends = calloc(sites + 1, sizeof *rails->ends);
	rails->by_host = calloc(sites + 1, sizeof *rails->by_host);
	rails->of = no_numbers(count);
	rails->part = no_numbers(count);
	rails->sender = no_numbers(count);
	rails->receiver = no_numbers(count);
	finder->namings = calloc(2 * count + 1, sizeof *finder->namings);
	finder->host = no_numbers(sites);
	finder->numbers = no_numbers(sites);
	finder->numbers_of_rails = no_numbers(sites);
	finder->named = calloc(sites + 1, sizeof *finder->named);
	finder->is_named = calloc(sites + 1, sizeof *finder->is_named);
	finder->several = calloc(sites + 1, sizeof *finder->several);
	return rails->ends != NULL && rails->by_host != NULL && rails->of != NULL &&
			       rails->part != NULL && rails->sender != NULL &&
			       rails->receiver != NULL && finder->namings != NULL &&
			       finder->host != NULL && finder->numbers != NULL &&
			       finder->numbers_of_rails != NULL && finder->named != NULL &&
			       finder->is_named != NULL && finder->several != NULL
		       ? 0
		       : -ENOMEM;
}

int ft_nccl_rails_find(struct ft_nccl_rails *rails, struct ft_nccl_sites *sites,
		       const uint32_t *before, struct ft_nccl_connection **connections,
		       size_t count)
{
	struct finder finder = { .rails = rails,
				 .sites = sites,
				 .before = before,
				 .connections = connections,
				 .count = count };
	const int error = reserve(&finder);

	if (error == 0) {
		find_hosts(&finder);
		forget_some(&finder);
		number_all(&finder);
	}
	free(finder.namings);
	free(finder.host);
	free(finder.numbers);
	free(finder.numbers_of_rails);
	free(finder.named);
	free(finder.is_named);
	free(finder.several);
	return error;
}

void ft_nccl_rails_free(struct ft_nccl_rails *rails)
{
	free(rails->ends);
	free(rails->by_host);
	free(rails->of);
	free(rails->part);
	free(rails->sender);
	free(rails->receiver);
	*rails = (struct ft_nccl_rails){ 0 };
}
