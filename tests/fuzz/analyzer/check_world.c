#include "check_world.h"

#include <stdlib.h>
#include <string.h>

unsigned draw(struct world *world, unsigned below)
{
	if (world->left == 0)
		return 0;
	world->left--;
	return *world->bytes++ % below;
}

/* Few values of everything, so that the parts of a map and a frame meet. */
static uint16_t draw_lid(struct world *world)
{
	static const uint16_t lids[] = { 1, 2, 3, 4, 5, 6, 9, 0xbfff, 0xc000, 0xffff };

	return lids[draw(world, 10)];
}

static void draw_address(struct world *world, uint8_t address[16])
{
	memset(address, 0, 16);
	switch (draw(world, 4)) {
	case 0: /* IPv4 */
		memcpy(address, (uint8_t[16]){ [10] = 0xff, 0xff, 10 }, 16);
		break;
	case 1: /* local GID */
		memcpy(address, (uint8_t[16]){ 0xfe, 0x80 }, 16);
		break;
	case 2: /* remote GID */
		memcpy(address, (uint8_t[16]){ 0xfd, 0x80 }, 16);
		break;
	default: /* a group */
		memcpy(address, (uint8_t[16]){ 0xff, 0x02 }, 16);
	}
	address[15] = (uint8_t)draw(world, 6);
}

static uint16_t draw_base(struct world *world)
{
	static const uint16_t bases[] = { 1, 2, 3, 0x7fff };

	return bases[draw(world, 4)];
}

static const char *draw_host(struct world *world)
{
	static const char *const hosts[] = { "a", "b", "c", NULL };

	return hosts[draw(world, 4)];
}

static void draw_port(struct world *world, struct ft_port *port)
{
	unsigned has = draw(world, 256);

	port->host = draw_host(world);
	port->kind = draw(world, 3);
	port->has_guid = has & 1;
	port->has_lid = has & 2;
	port->has_gid = has & 4;
	port->has_ip = has & 8;
	port->has_mac = has & 16;
	port->is_sm = has & 32;
	port->guid = draw(world, 6);
	port->lid = draw_lid(world);
	port->lmc = (uint8_t)draw(world, 8);
	draw_address(world, port->gid.address);
	port->gid.bits = 128;
	draw_address(world, port->ip.address);
	port->ip.bits = draw(world, 4) == 0 ? 112 : 128;
	port->mac[5] = (uint8_t)draw(world, 4);
	port->leaf = draw(world, 2) == 0 ? "leaf1" : NULL;
}

static void draw_member(struct world *world, bool of_segment, struct ft_member *member)
{
	static const uint8_t lengths[] = { 0, 8, 96, 112, 120, 128, 128 };

	member->kind = draw(world, of_segment ? FT_MEMBER_VNI + 1 : FT_MEMBER_MAC + 1);
	member->membership = 1 + draw(world, 3);
	member->host = draw_host(world);
	member->guid = draw(world, 6);
	draw_address(world, member->prefix.address);
	member->prefix.bits = lengths[draw(world, sizeof lengths)];
	member->is_gid = member->prefix.bits == 128 && draw(world, 2) == 0;
	member->mac[5] = (uint8_t)draw(world, 4);
	member->number = draw(world, 3) == 0 ? draw_lid(world) : draw(world, 4);
}

static size_t draw_intervals(struct world *world, unsigned row, bool of_segment)
{
	size_t count = draw(world, INTERVALS + 1);
	int64_t at = draw(world, 2) == 0 ? FT_TIME_MIN : (int64_t)draw(world, 8) * SECOND;

	for (size_t i = 0; i < count; i++) {
		struct ft_interval *interval = &world->intervals[row][i];

		interval->from_ns = at;
		at = (at == FT_TIME_MIN ? 0 : at) + (1 + (int64_t)draw(world, 6)) * SECOND;
		interval->to_ns = i + 1 == count && draw(world, 2) == 0 ? FT_TIME_MAX : at;
		at += (int64_t)draw(world, 3) * SECOND;
		interval->members = world->members[row][i];
		interval->member_count = draw(world, MEMBERS + 1);
		for (size_t m = 0; m < interval->member_count; m++)
			draw_member(world, of_segment, &world->members[row][i][m]);
	}
	return count;
}

static void draw_exception(struct world *world, unsigned index)
{
	struct ft_exception *exception = &world->exceptions[index];

	world->named[index] = draw(world, TENANTS);
	exception->id = "ex";
	exception->kind = draw(world, 3);
	exception->from_tenants = &world->named[index];
	exception->any_from = draw(world, 2) == 0;
	exception->from_count = exception->any_from ? 0 : 1;
	exception->to_tenant = draw(world, 2) == 0 ? FT_NONE : draw(world, TENANTS);
	exception->direction = draw(world, 3);
	exception->has_pkey = draw(world, 2) == 0;
	exception->base = draw_base(world);
	exception->has_classes = draw(world, 2) == 0;
	exception->classes = draw(world, 256);
	draw_address(world, exception->mgid.address);
	exception->mgid.bits = 128;
}

static void draw_map(struct world *world)
{
	static const uint32_t apart[] = { 1, 2 };
	struct ft_declared *declared = &world->declared;

	for (unsigned t = 0; t < TENANTS; t++)
		world->tenants[t] = (struct ft_tenant){ .name = "t",
							.class = draw(world, 3),
							.apart = apart,
							.apart_count = draw(world, 3) };
	declared->port_count = draw(world, PORTS + 1);
	declared->partition_count = draw(world, PARTITIONS + 1);
	declared->segment_count = draw(world, 2) * draw(world, SEGMENTS + 1);
	declared->exception_count = draw(world, EXCEPTIONS + 1);
	declared->last_rule_wins = draw(world, 2) == 0;
	declared->verdict = draw(world, 8) == 0 ? FT_MAP_FAIL_OPEN : FT_MAP_OK;
	declared->grace_ns = (int64_t)draw(world, 4) * SECOND;
	for (size_t p = 0; p < declared->port_count; p++)
		draw_port(world, &world->ports[p]);
	for (unsigned p = 0; p < declared->partition_count; p++)
		world->partitions[p] =
			(struct ft_partition){ .base = draw_base(world),
					       .tenant = draw(world, 6) == 0 ? FT_NONE
									     : draw(world, TENANTS),
					       .ipoib = draw(world, 2) == 0,
					       .intervals = world->intervals[p],
					       .interval_count = draw_intervals(world, p, false) };
	for (unsigned s = 0; s < declared->segment_count; s++)
		world->segments[s] =
			(struct ft_segment){ .tenant = draw(world, TENANTS),
					     .intervals = world->intervals[PARTITIONS + s],
					     .interval_count =
						     draw_intervals(world, PARTITIONS + s, true) };
	for (unsigned e = 0; e < declared->exception_count; e++)
		draw_exception(world, e);
	declared->tenants = world->tenants;
	declared->tenant_count = TENANTS;
	declared->ports = world->ports;
	declared->partitions = world->partitions;
	declared->segments = world->segments;
	declared->exceptions = world->exceptions;
}

static void draw_key(struct world *world, struct ft_check_key *key)
{
	unsigned has = draw(world, 256);

	memset(key, 0, sizeof *key);
	key->native = has & 1;
	key->has_gids = !key->native || (has & 2) != 0;
	key->has_macs = !key->native && (has & 4) != 0;
	key->has_vni = !key->native && (has & 8) != 0;
	key->known = (has & 16) != 0 ? 0x3f : (uint8_t)draw(world, 0x40);
	draw_address(world, key->src);
	draw_address(world, key->dst);
	key->slid = draw_lid(world);
	key->dlid = draw_lid(world);
	key->smac[5] = (uint8_t)draw(world, 4);
	key->dmac[5] = (uint8_t)draw(world, 4);
	key->pkey = (uint16_t)(draw(world, 6) == 0 ? 0 : draw_base(world) | draw(world, 2) << 15);
	key->vlan = (uint16_t)draw(world, 4);
	key->vni = draw(world, 4);
	key->qp_kind = (uint8_t)draw(world, 3);
	key->service = (uint8_t)draw(world, 8);
	key->mgmt_class = (uint8_t)draw(world, 10);
	key->qkey = draw(world, 2) == 0 ? 0x0b1b : 0;
}

struct world *world_of(const uint8_t *bytes, size_t size, struct ft_check_key *key)
{
	struct world *world = calloc(1, sizeof *world);

	assert(world != NULL);
	world->bytes = bytes;
	world->left = size;
	draw_key(world, key);
	draw_map(world);
	return world;
}
