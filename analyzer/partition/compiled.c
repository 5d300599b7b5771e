/* The compiled map as a whole; its parts are compiled_*.c. */
#include "compiled.h"

#include <errno.h>
#include <stdlib.h>

void *ft_map_array(size_t count, size_t size)
{
	return calloc(count != 0 ? count : 1, size);
}

void ft_lists_start(uint32_t *counts, size_t count)
{
	uint32_t sum = 0;

	for (size_t i = 0; i <= count; i++) {
		uint32_t own = counts[i];

		counts[i] = sum;
		sum += own;
	}
}

static size_t partition_members(const struct ft_declared *declared)
{
	size_t count = 0;

	for (size_t p = 0; p < declared->partition_count; p++)
		for (size_t i = 0; i < declared->partitions[p].interval_count; i++)
			count += declared->partitions[p].intervals[i].member_count;
	return count;
}

static int list_leaves(struct ft_map *map)
{
	uint32_t count = map->leaves.count;

	map->leaf_ports.starts = ft_map_array((size_t)count + 1, sizeof(uint32_t));
	map->leaf_ports.items = ft_map_array(map->port_count, sizeof(uint32_t));
	if (map->leaf_ports.starts == NULL || map->leaf_ports.items == NULL)
		return -ENOMEM;
	for (uint32_t port = 0; port < map->port_count; port++)
		if (map->ports[port].leaf != FT_NONE)
			map->leaf_ports.starts[map->ports[port].leaf]++;
	ft_lists_start(map->leaf_ports.starts, count);
	for (uint32_t port = 0; port < map->port_count; port++) /* moves every start to its end */
		if (map->ports[port].leaf != FT_NONE)
			map->leaf_ports.items[map->leaf_ports.starts[map->ports[port].leaf]++] =
				port;
	for (uint32_t leaf = count; leaf > 0; leaf--)
		map->leaf_ports.starts[leaf] = map->leaf_ports.starts[leaf - 1];
	map->leaf_ports.starts[0] = 0;
	return 0;
}

int ft_map_compile(struct ft_map **map, const struct ft_declared *declared)
{
	struct ft_map *made = calloc(1, sizeof *made);
	uint32_t *targets = NULL;
	int error;

	if (made == NULL)
		return -ENOMEM;
	made->declared = declared;
	error = ft_compile_names(made, &targets);
	if (error == 0)
		error = ft_compile_grants(made, targets);
	if (error == 0)
		error = ft_compile_listings(made);
	if (error == 0)
		error = ft_compile_segments(made, targets + partition_members(declared));
	if (error == 0)
		error = ft_compile_epochs(made);
	if (error == 0)
		error = list_leaves(made);
	free(targets);
	if (error == 0)
		*map = made;
	else
		ft_map_destroy(made);
	return error;
}

static void free_lists(struct ft_lists *lists)
{
	free(lists->starts);
	free(lists->items);
}

void ft_map_destroy(struct ft_map *map)
{
	if (map == NULL)
		return;
	ft_numbers_destroy(&map->guids);
	ft_numbers_destroy(&map->macs);
	ft_numbers_destroy(&map->vnis);
	ft_names_destroy(&map->hosts);
	ft_names_destroy(&map->leaves);
	ft_nets_destroy(&map->addresses);
	free_lists(&map->holder_slots);
	free_lists(&map->vlan_slots);
	free_lists(&map->vni_slots);
	free_lists(&map->leaf_ports);
	free(map->lids);
	free(map->ports);
	free(map->own_members);
	free(map->address_members);
	free(map->address_holder);
	free(map->address_port);
	free(map->address_parent);
	free(map->holder_address);
	free(map->partition_of_base);
	free(map->next_of_base);
	free(map->first_span);
	free(map->spans);
	free(map->grant_starts);
	free(map->grants);
	free(map->claims);
	free(map->listing_starts);
	free(map->listings);
	free(map->slots);
	free(map->untagged_slots);
	free(map->epochs);
	free(map);
}

const struct ft_declared *ft_map_declared(const struct ft_map *map)
{
	return map->declared;
}

size_t ft_map_endpoint_count(const struct ft_map *map)
{
	return map->endpoint_count;
}

struct ft_endpoint_name ft_map_endpoint(const struct ft_map *map, uint32_t endpoint)
{
	const struct ft_member *member;

	if (endpoint < map->port_count)
		return (struct ft_endpoint_name){ map->declared->ports[endpoint].host,
						  map->declared->ports[endpoint].origin };
	if (endpoint < map->first_address)
		member = map->own_members[endpoint - map->port_count];
	else
		member = map->address_members[map->holder_address[endpoint - map->first_address]];
	return (struct ft_endpoint_name){ NULL, member->origin };
}
