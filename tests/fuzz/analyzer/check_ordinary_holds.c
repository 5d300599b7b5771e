/* What the short way to a verdict promises: it says what the ladders say, or leaves the frame to them. */
#include "../holds.h"

#undef NDEBUG /* promises are kept in every build */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "check_world.h"

static bool rarely(struct world *world)
{
	return draw(world, 8) == 0;
}

/* A line that lists a port by its host or by its address, mostly as a full member. */
static void name_port(struct world *world, struct ft_member *member, const struct ft_port *port)
{
	if (rarely(world))
		return;
	member->kind = draw(world, 2) == 0 ? FT_MEMBER_HOST : FT_MEMBER_PREFIX;
	member->host = port->host;
	member->prefix = port->ip;
	member->is_gid = false;
	member->membership = rarely(world) ? FT_LIMITED : FT_FULL;
}

/* In the intervals of a partition, or of a segment: their rows come behind. */
static void list_ports(struct world *world, unsigned row, size_t intervals,
		       const struct ft_port *from, const struct ft_port *to)
{
	for (size_t i = 0; i < intervals; i++) {
		if (world->intervals[row][i].member_count < 2)
			continue;
		name_port(world, &world->members[row][i][0], from);
		name_port(world, &world->members[row][i][1], to);
	}
}

/* Mostly a customer's partition, and the only one of its base. */
static const struct ft_partition *make_partition(struct world *world)
{
	struct ft_partition *partition = &world->partitions[draw(world, PARTITIONS)];

	partition->base = rarely(world) ? FT_PKEY_DEFAULT : 5;
	if (rarely(world))
		world->partitions[draw(world, PARTITIONS)].base = 5;
	if (partition->tenant != FT_NONE && !rarely(world))
		world->tenants[partition->tenant].class = FT_CUSTOMER;
	return partition;
}

static void give_address(struct world *world, struct ft_port *port, uint8_t number)
{
	const struct ft_prefix address = { { [10] = 0xff, 0xff, 10, [15] = number }, 128 };

	port->has_lid = true;
	port->has_ip = !rarely(world);
	if (!rarely(world))
		port->ip = address;
}

/* The partition's P_Key, mostly in a map without segments. */
static void isolate_by_pkey(struct world *world, struct ft_check_key *key,
			    const struct ft_port *from, const struct ft_port *to)
{
	const struct ft_partition *partition = make_partition(world);

	world->declared.partition_count = PARTITIONS;
	world->declared.segment_count *= rarely(world);
	for (unsigned row = 0; row < PARTITIONS; row++)
		list_ports(world, row, world->partitions[row].interval_count, from, to);
	key->pkey = (uint16_t)(partition->base | draw(world, 2) << 15);
}

static void isolate_by_segment(struct world *world, struct ft_check_key *key,
			       const struct ft_port *from, const struct ft_port *to)
{
	for (unsigned row = 0; row < world->declared.segment_count; row++)
		list_ports(world, PARTITIONS + row, world->segments[row].interval_count, from, to);
	key->native = key->native && rarely(world);
	key->has_gids = 1;
	key->has_vni = key->has_vni && rarely(world);
	key->pkey = draw(world, 4) == 0 ? key->pkey : 0xffff;
}

/* Most frames are between two listed ports. */
static void make_ordinary(struct world *world, struct ft_check_key *key)
{
	struct ft_port *from = &world->ports[0], *to = &world->ports[draw(world, 2)];

	world->declared.port_count = PORTS;
	give_address(world, from, 7);
	give_address(world, to, 8);
	memcpy(key->src, from->ip.address, sizeof key->src);
	memcpy(key->dst, to->ip.address, sizeof key->dst);
	memcpy(key->smac, world->ports[draw(world, 4) == 0 ? 2 : 0].mac, sizeof key->smac);
	key->slid = from->lid;
	key->dlid = to->lid;
	key->known = rarely(world) ? key->known : 0x3f;
	key->qp_kind = draw(world, 4) == 0 ? key->qp_kind : 2;
	if (draw(world, 3) != 0)
		isolate_by_pkey(world, key, from, to);
	else
		isolate_by_segment(world, key, from, to);
}

static bool same_end(const struct ft_end *a, const struct ft_end *b)
{
	return a->endpoint == b->endpoint && a->tenant == b->tenant && a->group == b->group;
}

static bool same_origin(const struct ft_origin *a, const struct ft_origin *b)
{
	return a->file == b->file && a->line == b->line && a->path == b->path;
}

static bool same(const struct ft_verdict *a, const struct ft_verdict *b)
{
	return a->rules == b->rules && a->undecided == b->undecided && a->grace == b->grace &&
	       a->crossing_between_customers == b->crossing_between_customers &&
	       same_end(&a->src, &b->src) && same_end(&a->dst, &b->dst) &&
	       a->exception == b->exception && a->partition == b->partition && a->now == b->now &&
	       same_origin(&a->origin, &b->origin) &&
	       same_origin(&a->crossing_origin, &b->crossing_origin) &&
	       same_origin(&a->spoof_origin, &b->spoof_origin);
}

static void short_way_holds(const struct ft_map *map, const struct ft_check_key *key, int64_t ts_ns)
{
	struct ft_verdict asked, shortly, fully;
	struct ft_case frame;

	ft_case_open(&frame, map, key);
	ft_check_ladders(&frame, ts_ns, &fully);
	if (ft_check_ordinary(&frame, ts_ns, &shortly))
		assert(same(&shortly, &fully));
	ft_check(map, key, ts_ns, &asked);
	assert(same(&asked, &fully));
}

static void listings_hold(const struct ft_map *map)
{
	for (uint32_t e = 0; e < map->endpoint_count; e++)
		for (uint32_t s = 0; s < map->first_span[map->declared->partition_count]; s++) {
			const struct ft_listing *listing = ft_map_listing(map, e, s);

			assert((listing != NULL ? listing->membership : 0) ==
			       ft_map_granted(map, e, s, NULL));
		}
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_check_key key;
	struct world *world = world_of(bytes, size, &key);
	struct ft_map *map;

	make_ordinary(world, &key);
	assert(ft_map_compile(&map, &world->declared) == 0);
	listings_hold(map);
	for (int64_t half = 0; half < 40; half++)
		short_way_holds(map, &key, half * SECOND / 2);
	ft_map_destroy(map);
	free(world);
}
