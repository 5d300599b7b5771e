/* Who is who: look-up tables of the compiled map, and the holder that each member line names. */
#include "compiled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GID_LOCAL 0xfe80000000000000u

/* A target before holders are numbered: an index and, on top, what it counts; 0: ports and own members. */
#define ADDRESS (1u << 30)
#define HOST    (2u << 30)
#define KEYWORD (3u << 30)
#define KIND    (3u << 30)

static uint64_t mac_number(const uint8_t mac[6])
{
	uint64_t number = 0;

	for (int i = 0; i < 6; i++)
		number = number << 8 | mac[i];
	return number;
}

uint32_t ft_map_find_guid(const struct ft_map *map, uint64_t guid)
{
	return ft_numbers_find(&map->guids, guid);
}

uint32_t ft_map_find_mac(const struct ft_map *map, const uint8_t mac[6])
{
	return ft_numbers_find(&map->macs, mac_number(mac));
}

uint32_t ft_map_find_lid(const struct ft_map *map, uint16_t lid)
{
	return lid < FT_UNICAST_LIDS ? map->lids[lid] - 1 : FT_NONE;
}

uint32_t ft_map_find_address(const struct ft_map *map, const uint8_t address[16])
{
	uint32_t found = ft_nets_match_address(&map->addresses, address);

	return found == FT_NONE ? FT_NONE : ft_map_at_address(map, found);
}

/* ---- members, in the order partitions, segments; interval by interval ---- */

typedef int visit_members(void *with, const struct ft_interval *interval);

static int every_interval(const struct ft_declared *declared, visit_members *visit, void *with)
{
	int error = 0;

	for (size_t p = 0; p < declared->partition_count && error == 0; p++)
		for (size_t i = 0; i < declared->partitions[p].interval_count && error == 0; i++)
			error = visit(with, &declared->partitions[p].intervals[i]);
	for (size_t s = 0; s < declared->segment_count && error == 0; s++)
		for (size_t i = 0; i < declared->segments[s].interval_count && error == 0; i++)
			error = visit(with, &declared->segments[s].intervals[i]);
	return error;
}

struct member_counts {
	size_t all, guids, lids, prefixes, macs;
};

static int count_members(void *with, const struct ft_interval *interval)
{
	struct member_counts *counts = with;

	counts->all += interval->member_count;
	for (size_t m = 0; m < interval->member_count; m++) {
		enum ft_member_kind kind = interval->members[m].kind;

		counts->guids += kind == FT_MEMBER_GUID;
		counts->lids += kind == FT_MEMBER_LID;
		counts->prefixes += kind == FT_MEMBER_PREFIX;
		counts->macs += kind == FT_MEMBER_MAC;
	}
	return 0;
}

static int make_tables(struct ft_map *map, const struct member_counts *counts)
{
	size_t ports = map->declared->port_count, addresses = 2 * ports + counts->prefixes;

	map->lids = ft_map_array(FT_UNICAST_LIDS, sizeof *map->lids);
	map->ports = ft_map_array(ports, sizeof *map->ports);
	map->own_members =
		ft_map_array(counts->guids + counts->lids + counts->macs, sizeof *map->own_members);
	map->address_members = ft_map_array(addresses, sizeof *map->address_members);
	map->address_port = ft_map_array(addresses, sizeof *map->address_port);
	if (map->lids == NULL || map->ports == NULL || map->own_members == NULL ||
	    map->address_members == NULL || map->address_port == NULL ||
	    ft_numbers_create(&map->guids, ports + counts->guids) != 0 ||
	    ft_numbers_create(&map->macs, ports + counts->macs) != 0 ||
	    ft_names_create(&map->hosts, ports) != 0 || ft_names_create(&map->leaves, ports) != 0 ||
	    ft_nets_create(&map->addresses, addresses) != 0)
		return -ENOMEM;
	map->port_count = (uint32_t)ports;
	return 0;
}

/* ---- ports ---- */

static uint32_t add_address(struct ft_map *map, const struct ft_prefix *prefix)
{
	uint32_t before = map->addresses.count;
	unsigned bits = prefix->bits <= 128 ? prefix->bits : 128;
	uint32_t index = ft_nets_insert(&map->addresses, ft_net_of(prefix->address, bits));

	if (map->addresses.count != before)
		map->address_port[index] = FT_NONE;
	return index;
}

static void add_lids(struct ft_map *map, uint32_t endpoint, uint32_t lid, unsigned lmc)
{
	for (uint32_t end = lid + (1u << (lmc & 7)); lid < end && lid < FT_UNICAST_LIDS; lid++)
		if (lid != 0 && map->lids[lid] == 0)
			map->lids[lid] = endpoint + 1;
}

static void add_port(struct ft_map *map, uint32_t index)
{
	const struct ft_port *port = &map->declared->ports[index];
	struct ft_port_links *links = &map->ports[index];

	*links =
		(struct ft_port_links){ FT_NONE, FT_NONE, FT_NONE, FT_NONE, FT_NONE, { 0 }, false };
	if (port->has_guid)
		ft_numbers_insert(&map->guids, port->guid, index);
	memcpy(links->mac, port->mac, sizeof links->mac);
	if (port->has_mac)
		links->has_mac =
			ft_numbers_insert(&map->macs, mac_number(port->mac), index) == index;
	if (port->has_lid)
		add_lids(map, index, port->lid, port->lmc);
	if (port->host != NULL)
		links->host = ft_names_insert(&map->hosts, port->host);
	if (port->leaf != NULL)
		links->leaf = ft_names_insert(&map->leaves, port->leaf);
	if (port->has_ip)
		links->address = add_address(map, &port->ip);
	if (port->has_gid)
		links->gid = add_address(map, &port->gid);
}

/* Ports of one address are chained in file order, so they are linked from the last to the first. */
static void add_ports(struct ft_map *map)
{
	for (uint32_t index = 0; index < map->port_count; index++)
		add_port(map, index);
	for (uint32_t index = map->port_count; index-- > 0;) {
		struct ft_port_links *links = &map->ports[index];

		if (links->address != FT_NONE) {
			links->next = map->address_port[links->address];
			map->address_port[links->address] = index;
		}
	}
	for (uint32_t index = 0; index < map->port_count; index++) {
		uint32_t gid = map->ports[index].gid;

		if (gid != FT_NONE && map->address_port[gid] == FT_NONE)
			map->address_port[gid] = index;
	}
}

/* ---- member lines ---- */

static uint32_t own(struct ft_map *map, const struct ft_member *member)
{
	map->own_members[map->own_count] = member;
	return map->port_count + map->own_count++;
}

static uint32_t name_guid(struct ft_map *map, const struct ft_member *member)
{
	uint32_t known = ft_numbers_find(&map->guids, member->guid);

	return known != FT_NONE ? known
				: ft_numbers_insert(&map->guids, member->guid, own(map, member));
}

static uint32_t name_mac(struct ft_map *map, const struct ft_member *member)
{
	uint64_t mac = mac_number(member->mac);
	uint32_t known = ft_numbers_find(&map->macs, mac);

	return known != FT_NONE ? known : ft_numbers_insert(&map->macs, mac, own(map, member));
}

static uint32_t name_lid(struct ft_map *map, const struct ft_member *member)
{
	if (member->number == 0 || member->number >= FT_UNICAST_LIDS)
		return FT_NONE;
	if (map->lids[member->number] == 0)
		map->lids[member->number] = own(map, member) + 1;
	return map->lids[member->number] - 1;
}

/* A GID of this subnet is its port's, even if the port is declared by GUID alone. */
static uint32_t name_prefix(struct ft_map *map, const struct ft_member *member)
{
	struct ft_net_prefix net = ft_net_of(member->prefix.address, 128);
	uint32_t known = ft_nets_find(&map->addresses, net), address;
	bool local = net.high == GID_LOCAL ||
		     (map->declared->has_subnet_prefix && net.high == map->declared->subnet_prefix);

	if (member->is_gid && local && (known == FT_NONE || map->address_port[known] == FT_NONE) &&
	    ft_numbers_find(&map->guids, net.low) < map->port_count)
		return ft_numbers_find(&map->guids, net.low);
	known = map->addresses.count;
	address = add_address(map, &member->prefix);
	if (address == known)
		map->address_members[address] = member;
	return ADDRESS | address;
}

static uint32_t name_host(struct ft_map *map, const struct ft_member *member)
{
	uint32_t host = member->host == NULL ? FT_NONE : ft_names_find(&map->hosts, member->host);

	return host == FT_NONE ? FT_NONE : HOST | host;
}

static uint32_t name_keyword(struct ft_map *map, const struct ft_member *member)
{
	(void)map;
	return KEYWORD | (uint32_t)(member->kind - FT_MEMBER_ALL);
}

static uint32_t name_tag(struct ft_map *map, const struct ft_member *member)
{
	(void)map;
	(void)member;
	return FT_NONE;
}

static uint32_t (*const names[])(struct ft_map *, const struct ft_member *) = {
	[FT_MEMBER_ALL] = name_keyword,
	[FT_MEMBER_ALL_CAS] = name_keyword,
	[FT_MEMBER_ALL_SWITCHES] = name_keyword,
	[FT_MEMBER_ALL_ROUTERS] = name_keyword,
	[FT_MEMBER_SELF] = name_keyword,
	[FT_MEMBER_HOST] = name_host,
	[FT_MEMBER_GUID] = name_guid,
	[FT_MEMBER_LID] = name_lid,
	[FT_MEMBER_PREFIX] = name_prefix,
	[FT_MEMBER_MAC] = name_mac,
	[FT_MEMBER_VLAN] = name_tag,
	[FT_MEMBER_VNI] = name_tag,
};

struct naming {
	struct ft_map *map;
	uint32_t *targets;
	size_t count;
};

static int name_members(void *with, const struct ft_interval *interval)
{
	struct naming *naming = with;

	for (size_t m = 0; m < interval->member_count; m++) {
		const struct ft_member *member = &interval->members[m];

		naming->targets[naming->count++] = names[member->kind](naming->map, member);
	}
	return 0;
}

/* ---- numbers ---- */

static int number_holders(struct ft_map *map)
{
	uint32_t count = map->addresses.count, free_count = 0, next;

	map->address_holder = ft_map_array(count, sizeof *map->address_holder);
	map->holder_address = ft_map_array(count, sizeof *map->holder_address);
	map->address_parent = ft_map_array(count, sizeof *map->address_parent);
	if (map->address_holder == NULL || map->holder_address == NULL ||
	    map->address_parent == NULL)
		return -ENOMEM;
	for (uint32_t a = 0; a < count; a++)
		free_count += map->address_port[a] == FT_NONE;
	map->first_address = map->port_count + map->own_count;
	map->endpoint_count = map->first_address + free_count;
	next = map->first_address;
	for (unsigned owned = 0; owned < 2; owned++)
		for (uint32_t a = 0; a < count; a++)
			if ((map->address_port[a] != FT_NONE) == owned) {
				map->holder_address[next - map->first_address] = a;
				map->address_holder[a] = next++;
			}
	for (uint32_t a = 0; a < count; a++)
		map->address_parent[a] = ft_nets_match(&map->addresses, map->addresses.keys[a],
						       map->addresses.keys[a].bits);
	map->first_host = next;
	map->first_keyword = next + map->hosts.count;
	map->holder_count = map->first_keyword + FT_KEYWORDS;
	return 0;
}

static uint32_t holder_of(const struct ft_map *map, uint32_t target)
{
	uint32_t index = target & ~KIND;

	if (target == FT_NONE)
		return FT_NONE;
	switch (target & KIND) {
	case ADDRESS:
		return map->address_holder[index];
	case HOST:
		return map->first_host + index;
	case KEYWORD:
		return map->first_keyword + index;
	default:
		return target;
	}
}

int ft_compile_names(struct ft_map *map, uint32_t **targets)
{
	struct member_counts counts = { 0 };
	struct naming naming = { .map = map };
	int error;

	every_interval(map->declared, count_members, &counts);
	error = make_tables(map, &counts);
	naming.targets = ft_map_array(counts.all, sizeof *naming.targets);
	if (error != 0 || naming.targets == NULL)
		goto free_targets;
	add_ports(map);
	every_interval(map->declared, name_members, &naming);
	error = number_holders(map);
	if (error != 0)
		goto free_targets;
	for (size_t m = 0; m < naming.count; m++)
		naming.targets[m] = holder_of(map, naming.targets[m]);
	*targets = naming.targets;
	return 0;

free_targets:
	free(naming.targets);
	return -ENOMEM;
}
