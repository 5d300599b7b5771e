#include "group_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct ft_nccl_place *left = a, *right = b;
	int order = memcmp(left->address, right->address, sizeof left->address);

	return order != 0 ? order : (int)left->by_lid - (int)right->by_lid;
}

static size_t add(struct ft_nccl_sites *sites, size_t at, const struct ft_nccl_party *party)
{
	for (size_t i = 0; i < party->place_count; i++)
		sites->places[at++] = party->places[i];
	return at;
}

static void sort(struct ft_nccl_sites *sites, size_t filled)
{
	if (filled > 0)
		qsort(sites->places, filled, sizeof *sites->places, compare);
	for (size_t i = 0; i < filled; i++)
		if (i == 0 || compare(&sites->places[i], &sites->places[sites->count - 1]) != 0)
			sites->places[sites->count++] = sites->places[i];
}

/* The root of a tree; the way there is halved. */
static uint32_t root_of(uint32_t *parents, uint32_t at)
{
	while (parents[at] != at) {
		parents[at] = parents[parents[at]];
		at = parents[at];
	}
	return at;
}

static void unite(uint32_t *parents, uint32_t a, uint32_t b)
{
	a = root_of(parents, a);
	b = root_of(parents, b);
	parents[a > b ? a : b] = a > b ? b : a;
}

static uint32_t place_number(const struct ft_nccl_sites *sites, const struct ft_nccl_place *place)
{
	const struct ft_nccl_place *found =
		bsearch(place, sites->places, sites->count, sizeof *sites->places, compare);

	return (uint32_t)(found - sites->places);
}

static void unite_party(struct ft_nccl_sites *sites, const struct ft_nccl_party *party)
{
	for (size_t i = 1; i < party->place_count; i++)
		unite(sites->site, place_number(sites, &party->places[0]),
		      place_number(sites, &party->places[i]));
}

static void unite_ends(struct ft_nccl_sites *sites, const struct ft_nccl_connection *connection)
{
	uint32_t from = ft_nccl_site_of(sites, &connection->sender);
	uint32_t to = ft_nccl_site_of(sites, &connection->receiver);

	if (from != FT_NCCL_NONE && to != FT_NCCL_NONE)
		unite(sites->component, from, to);
}

static int reserve(struct ft_nccl_sites *sites, struct ft_nccl_connection **connections,
		   size_t count, size_t *places)
{
	*places = 0;
	for (size_t i = 0; i < count; i++)
		*places += (size_t)connections[i]->sender.place_count +
			   connections[i]->receiver.place_count;
	sites->places = calloc(*places + 1, sizeof *sites->places);
	sites->site = calloc(*places + 1, sizeof *sites->site);
	sites->component = calloc(*places + 1, sizeof *sites->component);
	return sites->places != NULL && sites->site != NULL && sites->component != NULL ? 0
											: -ENOMEM;
}

int ft_nccl_sites_find(struct ft_nccl_sites *sites, struct ft_nccl_connection **connections,
		       size_t count)
{
	size_t places, filled = 0;
	int error = reserve(sites, connections, count, &places);

	if (error != 0)
		return error;
	for (size_t i = 0; i < count; i++) {
		filled = add(sites, filled, &connections[i]->sender);
		filled = add(sites, filled, &connections[i]->receiver);
	}
	sort(sites, filled);
	for (uint32_t i = 0; i < sites->count; i++)
		sites->site[i] = i;
	for (size_t i = 0; i < count; i++) {
		unite_party(sites, &connections[i]->sender);
		unite_party(sites, &connections[i]->receiver);
	}
	memcpy(sites->component, sites->site, sites->count * sizeof *sites->site);
	for (size_t i = 0; i < count; i++)
		unite_ends(sites, connections[i]);
	return 0;
}

void ft_nccl_sites_free(struct ft_nccl_sites *sites)
{
	free(sites->places);
	free(sites->site);
	free(sites->component);
}

uint32_t ft_nccl_site_of(struct ft_nccl_sites *sites, const struct ft_nccl_party *party)
{
	if (party->place_count == 0)
		return FT_NCCL_NONE;
	return root_of(sites->site, place_number(sites, &party->places[0]));
}

uint32_t ft_nccl_component_of(struct ft_nccl_sites *sites, uint32_t site)
{
	return root_of(sites->component, site);
}
