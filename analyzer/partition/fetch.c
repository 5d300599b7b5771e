/* Fetching ahead what ft_check() will ask of a large map: it is a chain of tables, each read by what the one before holds. */
#include "compiled.h"

#include <partition/check.h>

enum { FAR_PORTS = 4096 }; /* fewer, and what is asked of the map stays in the second-level cache */

/* In all that only fetches: compilers take it for something without any effect, and leave it out where it is called. */
static inline void take_effect(void)
{
	__asm__ volatile("");
}

bool ft_check_is_far(const struct ft_map *map)
{
	return map->port_count > FAR_PORTS;
}

void ft_check_fetch_names(const struct ft_map *map, const struct ft_check_ends *ends)
{
	ft_nets_fetch(&map->addresses, ends->src);
	ft_nets_fetch(&map->addresses, ends->dst);
	__builtin_prefetch(&map->partition_of_base[ends->pkey & 0x7fff]);
	take_effect();
}

/* Addresses that some frames are likely to be declared with; FT_NONE: none. */
static unsigned guess_names(const struct ft_map *map, const struct ft_check_ends *ends,
			    unsigned count, uint32_t *names)
{
	for (unsigned i = 0; i < count; i++) {
		names[2 * i] = ft_nets_guess(&map->addresses, ends[i].src);
		names[2 * i + 1] = ft_nets_guess(&map->addresses, ends[i].dst);
	}
	for (unsigned i = 0; i < 2 * count; i++)
		if (names[i] != FT_NONE)
			__builtin_prefetch(&map->address_port[names[i]]);
	return 2 * count;
}

/* What those are the addresses of, in their place. */
static void find_endpoints(const struct ft_map *map, uint32_t *names, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t endpoint =
			names[i] != FT_NONE ? ft_map_at_address(map, names[i]) : FT_NONE;

		if (endpoint < map->port_count)
			__builtin_prefetch(&map->ports[endpoint]);
		if (endpoint < map->endpoint_count)
			__builtin_prefetch(&map->listing_starts[endpoint]);
		names[i] = endpoint;
	}
}

void ft_check_fetch_rest(const struct ft_map *map, const struct ft_check_ends *ends, unsigned count)
{
	uint32_t names[2 * FT_CHECK_TOGETHER];
	unsigned name_count = guess_names(map, ends, count, names);

	for (unsigned i = 0; i < count; i++) {
		uint32_t partition = ft_map_of_base(map, ends[i].pkey & 0x7fff);

		if (partition != FT_NONE)
			__builtin_prefetch(&map->first_span[partition]);
	}
	find_endpoints(map, names, name_count);
	for (unsigned i = 0; i < name_count; i++)
		if (names[i] < map->endpoint_count)
			__builtin_prefetch(&map->listings[map->listing_starts[names[i]]]);
	for (unsigned i = 0; i < count; i++) {
		uint32_t partition = ft_map_of_base(map, ends[i].pkey & 0x7fff);

		if (partition != FT_NONE)
			__builtin_prefetch(&map->spans[map->first_span[partition]]);
	}
	take_effect();
}
