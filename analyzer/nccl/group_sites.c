#include "group_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_forest.h"
#include "group_nets.h"
#include "group_releases.h"

static int compare_places(const struct ft_nccl_place *left, const struct ft_nccl_place *right)
{
	int order = memcmp(left->address, right->address, sizeof left->address);

	return order != 0 ? order : (int)left->by_lid - (int)right->by_lid;
}

/* One address's spots stand next to each other, that of no known network first. */
static int compare(const void *a, const void *b)
{
	const struct ft_nccl_spot *left = a, *right = b;
	int order = compare_places(&left->place, &right->place);

	return order != 0 ? order : (left->net > right->net) - (left->net < right->net);
}

static size_t add(struct ft_nccl_sites *sites, size_t at, const struct ft_nccl_party *party,
		  uint32_t net)
{
	for (size_t i = 0; i < party->place_count; i++)
		sites->spots[at++] = (struct ft_nccl_spot){ party->places[i], net };
	return at;
}

static void sort(struct ft_nccl_sites *sites, size_t filled)
{
	if (filled > 0)
		qsort(sites->spots, filled, sizeof *sites->spots, compare);
	for (size_t i = 0; i < filled; i++)
		if (i == 0 || compare(&sites->spots[i], &sites->spots[sites->count - 1]) != 0)
			sites->spots[sites->count++] = sites->spots[i];
}

static uint32_t spot_number(const struct ft_nccl_sites *sites, const struct ft_nccl_place *place,
			    uint32_t net)
{
	const struct ft_nccl_spot spot = { *place, net };
	const struct ft_nccl_spot *found =
		bsearch(&spot, sites->spots, sites->count, sizeof *sites->spots, compare);

	return (uint32_t)(found - sites->spots);
}

static void unite_party(struct ft_nccl_sites *sites, const struct ft_nccl_party *party,
			uint32_t net)
{
	for (size_t i = 1; i < party->place_count; i++)
		ft_nccl_unite(sites->site, spot_number(sites, &party->places[0], net),
			      spot_number(sites, &party->places[i], net));
}

static void unite_ends(struct ft_nccl_sites *sites, size_t at,
		       const struct ft_nccl_connection *connection)
{
	uint32_t from = ft_nccl_site_of(sites, at, &connection->sender);
	uint32_t to = ft_nccl_site_of(sites, at, &connection->receiver);

	if (from != FT_NCCL_NONE && to != FT_NCCL_NONE)
		ft_nccl_unite(sites->component, from, to);
}

static int reserve(struct ft_nccl_sites *sites, struct ft_nccl_connection **connections,
		   size_t count)
{
	size_t spots = 0;

	for (size_t i = 0; i < count; i++)
		spots += (size_t)connections[i]->sender.place_count +
			 connections[i]->receiver.place_count;
	sites->spots = calloc(spots + 1, sizeof *sites->spots);
	sites->site = calloc(spots + 1, sizeof *sites->site);
	sites->component = calloc(spots + 1, sizeof *sites->component);
	sites->nets = calloc(count + 1, sizeof *sites->nets);
	return sites->spots != NULL && sites->site != NULL && sites->component != NULL &&
			       sites->nets != NULL
		       ? 0
		       : -ENOMEM;
}

static void arrange(struct ft_nccl_sites *sites, struct ft_nccl_connection **connections,
		    size_t count)
{
	size_t filled = 0;

	sites->count = 0;
	for (size_t i = 0; i < count; i++) {
		filled = add(sites, filled, &connections[i]->sender, sites->nets[i]);
		filled = add(sites, filled, &connections[i]->receiver, sites->nets[i]);
	}
	sort(sites, filled);
	for (uint32_t i = 0; i < sites->count; i++)
		sites->site[i] = i;
	for (size_t i = 0; i < count; i++) {
		unite_party(sites, &connections[i]->sender, sites->nets[i]);
		unite_party(sites, &connections[i]->receiver, sites->nets[i]);
	}
	memcpy(sites->component, sites->site, sites->count * sizeof *sites->site);
	for (size_t i = 0; i < count; i++)
		unite_ends(sites, i, connections[i]);
}

/*
 * Mirrors of one side of a port show no tags: such connections are of the network that knows their addresses, all that hang
 * together taken together. `known`: by component; 0: none knows them, FT_NCCL_NONE: several do.
 */
static void ask_around(struct ft_nccl_sites *sites, uint32_t *known)
{
	for (uint32_t i = 0; i + 1 < sites->count; i++) {
		const struct ft_nccl_spot *spot = &sites->spots[i];
		uint32_t *net;

		if (spot->net != 0)
			continue;
		net = &known[ft_nccl_component_of(sites, sites->site[i])];
		for (size_t j = i + 1;
		     j < sites->count && compare_places(&sites->spots[j].place, &spot->place) == 0;
		     j++)
			*net = *net == 0 || *net == sites->spots[j].net ? sites->spots[j].net
									: FT_NCCL_NONE;
	}
}

static int settle_nets(struct ft_nccl_sites *sites, struct ft_nccl_connection **connections,
		       size_t count)
{
	uint32_t *known = calloc(sites->count + 1, sizeof *known);

	if (known == NULL)
		return -ENOMEM;
	ask_around(sites, known);
	for (size_t i = 0; i < count; i++) {
		uint32_t site = ft_nccl_site_of(sites, i, &connections[i]->sender);
		uint32_t net = site != FT_NCCL_NONE ? known[ft_nccl_component_of(sites, site)] : 0;

		if (sites->nets[i] == 0 && net != FT_NCCL_NONE)
			sites->nets[i] = net;
	}
	free(known);
	return 0;
}

static void part_nets(struct ft_nccl_sites *sites, const uint32_t *part, size_t count)
{
	uint32_t parts = 0;

	for (size_t i = 0; i < count; i++)
		parts = part[i] > parts ? part[i] : parts;
	for (size_t i = 0; i < count; i++)
		sites->nets[i] = sites->nets[i] * (parts + 1) + part[i];
}

int ft_nccl_sites_find(struct ft_nccl_sites *sites, struct ft_nccl_connection **connections,
		       size_t count, const uint32_t *life, const uint32_t *part)
{
	int error = reserve(sites, connections, count);

	if (error == 0)
		error = ft_nccl_nets_find(sites->nets, connections, count);
	if (error != 0)
		return error;
	arrange(sites, connections, count);
	error = settle_nets(sites, connections, count);
	if (error == 0)
		error = ft_nccl_releases_part(sites->nets, connections, count);
	if (error == 0)
		part_nets(sites, life, count);
	if (error == 0 && part != NULL)
		part_nets(sites, part, count);
	if (error == 0)
		arrange(sites, connections, count);
	return error;
}

void ft_nccl_sites_free(struct ft_nccl_sites *sites)
{
	free(sites->spots);
	free(sites->nets);
	free(sites->site);
	free(sites->component);
}

uint32_t ft_nccl_site_of(struct ft_nccl_sites *sites, size_t connection,
			 const struct ft_nccl_party *party)
{
	if (party->place_count == 0)
		return FT_NCCL_NONE;
	return ft_nccl_root_of(sites->site,
			       spot_number(sites, &party->places[0], sites->nets[connection]));
}

uint32_t ft_nccl_component_of(struct ft_nccl_sites *sites, uint32_t site)
{
	return ft_nccl_root_of(sites->component, site);
}
