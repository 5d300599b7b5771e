/* Which ends a frame has: section 2 of the verdict rules. */
#include "case.h"

#include <string.h>

#define GID_LOCAL           0xfe80000000000000u
#define MULTICAST_LID_FIRST 0xc000
#define MULTICAST_LID_LAST  0xfffe

static bool is_group_address(const uint8_t address[16])
{
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(address, ipv4, sizeof ipv4) == 0)
		return address[12] >> 4 == 0xe;
	return address[0] == 0xff;
}

static bool is_group(const struct ft_check_key *key)
{
	if (key->native)
		return key->dlid >= MULTICAST_LID_FIRST && key->dlid <= MULTICAST_LID_LAST;
	return key->has_gids && is_group_address(key->dst);
}

static bool is_local(const struct ft_declared *declared, struct ft_net_prefix gid)
{
	return gid.high == GID_LOCAL ||
	       (declared->has_subnet_prefix && gid.high == declared->subnet_prefix);
}

/* By the whole GID, else by the GUID in its low half, else by a prefix. */
static uint32_t find_gid(const struct ft_map *map, const uint8_t gid[16], bool local)
{
	struct ft_net_prefix net = ft_net_of(gid, 128);
	uint32_t exact = ft_nets_find(&map->addresses, net), guid;

	if (exact != FT_NONE)
		return ft_map_find_address(map, gid);
	guid = ft_map_find_guid(map, net.low);
	/* a port that has a LID here is not beyond a router */
	if (guid != FT_NONE &&
	    (local || guid >= map->port_count || !map->declared->ports[guid].has_lid))
		return guid;
	return ft_map_find_address(map, gid);
}

static bool is_port(const struct ft_map *map, uint32_t endpoint)
{
	return endpoint < map->port_count;
}

/* Section 2, native; also finds LID and local GID that belong to two ports. */
static uint32_t native_end(struct ft_case *frame, uint16_t lid, const uint8_t gid[16])
{
	const struct ft_map *map = frame->map;
	uint32_t by_lid = ft_map_find_lid(map, lid), by_gid;
	bool local;

	if (!frame->key->has_gids || frame->key->qp_kind == 0)
		return by_lid;
	local = is_local(map->declared, ft_net_of(gid, 128)) || is_group_address(gid);
	by_gid = find_gid(map, gid, local);
	if (!local || by_lid == FT_NONE)
		return by_gid;
	if (is_port(map, by_lid) && is_port(map, by_gid) && by_lid != by_gid) {
		frame->spoofed = true;
		frame->spoof_origin = map->declared->ports[by_gid].origin;
	}
	return by_lid;
}

/* Nearly always the MAC is that of the port that has the address. */
static uint32_t find_mac(const struct ft_map *map, uint32_t by_address, const uint8_t mac[6])
{
	if (is_port(map, by_address) && map->ports[by_address].has_mac &&
	    memcmp(map->ports[by_address].mac, mac, sizeof map->ports[by_address].mac) == 0)
		return by_address;
	return ft_map_find_mac(map, mac);
}

/* The MAC is looked up if nobody declares the address, or if it is wanted besides. */
static uint32_t roce_end(const struct ft_case *frame, const uint8_t ip[16], const uint8_t mac[6],
			 bool wants_mac, struct ft_segment_place *place)
{
	const struct ft_map *map = frame->map;
	uint32_t found = FT_NONE;

	if (frame->key->has_gids)
		place->ip_at = ft_nets_match_address(&map->addresses, ip);
	if (place->ip_at != FT_NONE)
		found = ft_map_at_address(map, place->ip_at);
	if (frame->key->has_macs && (wants_mac || found == FT_NONE))
		place->mac_at = find_mac(map, found, mac);
	return found != FT_NONE ? found : place->mac_at;
}

/* Is the address declared for hosts, and for none that the MAC belongs to? */
static bool is_other_host(const struct ft_map *map, uint32_t address, uint32_t mac_port)
{
	uint32_t host = map->ports[mac_port].host, port = map->address_port[address];
	bool hosted = false;

	for (; port != FT_NONE;
	     port = map->ports[port].address == address ? map->ports[port].next : FT_NONE) {
		if (map->ports[port].host == host)
			return false;
		hosted |= map->ports[port].host != FT_NONE;
	}
	return hosted;
}

static void compare_hosts(struct ft_case *frame)
{
	const struct ft_map *map = frame->map;
	uint32_t address = frame->from.ip_at, port = frame->from.mac_at;

	if (!is_port(map, port) || map->ports[port].host == FT_NONE || address == FT_NONE)
		return;
	frame->spoofed = is_other_host(map, address, port);
	if (frame->spoofed)
		frame->spoof_origin = map->declared->ports[port].origin;
}

static void find_ends(struct ft_case *frame)
{
	const struct ft_check_key *key = frame->key;
	const struct ft_map *map = frame->map;

	frame->group = is_group(key);
	if (key->native) {
		frame->src = native_end(frame, key->slid, key->src);
		if (!frame->group)
			frame->dst = native_end(frame, key->dlid, key->dst);
		return;
	}
	frame->src = roce_end(frame, key->src, key->smac, true, &frame->from);
	frame->dst = roce_end(frame, key->dst, key->dmac, frame->by_segment, &frame->to);
	if (frame->group)
		frame->dst = FT_NONE;
	compare_hosts(frame);
	if (frame->by_segment)
		frame->tags = ft_tags_of(map, key->has_vni, key->vni, key->vlan);
}

bool ft_check_judges_pkey(const struct ft_map *map, const struct ft_check_key *key)
{
	const struct ft_declared *declared = map->declared;

	if (key->native || declared->segment_count == 0)
		return true;
	return (key->pkey & 0x7fff) != FT_PKEY_DEFAULT && declared->partition_count != 0;
}

bool ft_check_follows_pkey(const struct ft_map *map, const struct ft_check_key *key)
{
	/* RC, UC, RD, XRC */
	static const unsigned connected = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 5;

	return (key->known & (FT_NEED_PKEY | FT_NEED_DEST_QP)) ==
		       (FT_NEED_PKEY | FT_NEED_DEST_QP) &&
	       key->qp_kind == 2 && (connected >> (key->service & 7) & 1) != 0 &&
	       ft_check_judges_pkey(map, key);
}

void ft_case_open(struct ft_case *frame, const struct ft_map *map, const struct ft_check_key *key)
{
	*frame = (struct ft_case){
		.map = map,
		.key = key,
		.src = FT_NONE,
		.dst = FT_NONE,
		.from = { FT_NONE, FT_NONE },
		.to = { FT_NONE, FT_NONE },
		.spoof_origin = { .file = FT_NONE },
	};
	if ((key->known & FT_NEED_PKEY) != 0)
		frame->base = key->pkey & 0x7fff;
	frame->by_segment = !key->native && map->declared->segment_count != 0;
	frame->by_pkey = ft_check_judges_pkey(map, key);
	frame->everyone = frame->base == FT_PKEY_DEFAULT && key->qp_kind == 1 &&
			  ft_map_of_base(map, FT_PKEY_DEFAULT) == FT_NONE;
	if ((key->known & FT_NEED_ADDRESSES) != 0)
		find_ends(frame);
}
