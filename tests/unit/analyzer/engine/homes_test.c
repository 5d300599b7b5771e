#include "maps.h"

#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

#include "homes.h"
#include "judge.h"

/* Ends known to be at home spare a question to the map; whatever is said of them has to be what the map would say. */

enum { RED, GREEN, TENANTS_HERE };
enum { ASKED = 200000, SEED = 7, ADDRESSES = 6, CELL_BASE = 40 };
enum { RED_VNI = 0xffffff, GREEN_VNI = 2 };

static const struct ft_declared by_pkey = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 0, 0, 1), ROCE_PORT("r2", 10, 0, 0, 2),
	      ROCE_PORT("r3", 10, 0, 0, 3), ROCE_PORT("g1", 10, 0, 0, 4),
	      ROCE_PORT("g2", 10, 0, 0, 5)),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r1"), FULL("r2"), LIMITED("r3")) },
		   { .base = 2,
		     .tenant = GREEN,
		     INTERVALS(DURING(100, 200, FULL("g1"), FULL("g2")),
			       DURING(200, 300, FULL("g1"), FULL("r1"))) },
		   { .base = 3, .tenant = RED, ALWAYS(LIMITED("r1"), LIMITED("r2"), FULL("r3")) }),
};

static const struct ft_declared by_segment = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 0, 0, 1), ROCE_PORT("r2", 10, 0, 0, 2),
	      ROCE_PORT("g1", 10, 0, 0, 4), ROCE_PORT("g2", 10, 0, 0, 5)),
	SEGMENTS({ .tenant = RED, ALWAYS(VLAN(1), HOST("r1"), HOST("r2"), NET(10, 0, 0, 3, 32)) },
		 { .tenant = GREEN,
		   INTERVALS(DURING(100, 200, VLAN(2), HOST("g1"), HOST("g2")),
			     DURING(200, 300, VLAN(1), HOST("g1"), HOST("g2"))) }),
};

/* The same addresses are the tenants' own, each in its overlay. */
static const struct ft_declared by_overlay = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "green", .class = FT_CUSTOMER }),
	SEGMENTS({ .tenant = RED, ALWAYS(VNI(RED_VNI), VLAN(1), NET(10, 0, 0, 0, 24)) },
		 { .tenant = GREEN,
		   INTERVALS(DURING(100, 200, VNI(GREEN_VNI), VNI(0), NET(10, 0, 0, 0, 24)),
			     DURING(200, 300, VNI(GREEN_VNI), VLAN(2), NET(10, 0, 0, 4, 30))) }),
};

static unsigned pick(unsigned below)
{
	return (unsigned)(random() % below);
}

static void set_address(uint8_t address[16], unsigned host)
{
	const uint8_t ip[16] = IPV4(10, 0, 0, (uint8_t)host);

	memcpy(address, ip, sizeof ip);
}

static void set_mac(uint8_t mac[6], unsigned host)
{
	const uint8_t own[6] = { 2, 0, 10, 0, 0, (uint8_t)host };

	memcpy(mac, own, sizeof own);
}

/* Of an IPv6 address that ends as an IPv4 address does, and begins as a VNI stands in memory. */
static void make_ipv6(uint8_t address[16], uint32_t vni)
{
	const uint64_t prefix = vni;

	memcpy(address, &prefix, sizeof prefix);
}

static void set_addresses(struct ft_item *item, unsigned src, unsigned dst)
{
	static const uint32_t vnis[] = { FT_FLOW_NO_VNI, FT_FLOW_NO_VNI, RED_VNI, GREEN_VNI, 0, 9 };
	const unsigned count = sizeof vnis / sizeof *vnis;

	set_address(item->flow_key.src, src);
	set_address(item->flow_key.dst, dst);
	item->flow_key.vni = vnis[pick(count)];
	item->observed.has = FT_OBSERVED_IP | FT_OBSERVED_IPV4;
	if (pick(8) != 0)
		return;
	item->observed.has = FT_OBSERVED_IP;
	make_ipv6(item->flow_key.src, vnis[pick(count)]);
	make_ipv6(item->flow_key.dst, vnis[pick(count)]);
}

/* Mostly a host with its own MAC address; some have another's. */
static void make_item(struct ft_item *item, struct ft_frame *frame)
{
	static const uint16_t pkeys[] = { 0x8001, 0x8002, 0x8003, 0x0001, 0x0003, 0xffff, 0x7fff };
	unsigned src = 1 + pick(ADDRESSES), dst = 1 + pick(ADDRESSES);
	struct ft_check_key key;

	*frame = (struct ft_frame){ .ts_ns = (uint64_t)SECONDS(90 + pick(220)) };
	*item = (struct ft_item){ .frame = frame, .usual = true, .kind = FT_FRAME_JUDGED };
	item->has_flow = item->connected = item->followed = true;
	item->known = FT_NEED_ALL;
	set_addresses(item, src, dst);
	set_mac(item->observed.smac, pick(8) == 0 ? 1 + pick(ADDRESSES) : src);
	set_mac(item->observed.dmac, pick(8) == 0 ? 1 + pick(ADDRESSES) : dst);
	item->observed.ts_ns = frame->ts_ns;
	item->observed.pkey = pkeys[pick(sizeof pkeys / sizeof *pkeys)];
	item->observed.vlan = (uint16_t)pick(3);
	item->observed.dest_qp = item->flow_key.dest_qp = 9;
	ft_item_key(item, &key);
	item->judged_by = ft_hash(&key, sizeof key, SEED);
}

/* One tenant's traffic of which there is nothing to say; TENANTS_HERE: any other. */
static unsigned tenant_by_map(const struct ft_map *map, const struct ft_item *item)
{
	struct ft_check_key key;
	struct ft_verdict verdict;

	ft_item_key(item, &key);
	ft_check(map, &key, (int64_t)item->frame->ts_ns, &verdict);
	return verdict.rules == 0 && !verdict.undecided && !verdict.grace &&
			       verdict.exception == FT_NONE &&
			       verdict.src.tenant == verdict.dst.tenant
		       ? verdict.src.tenant
		       : TENANTS_HERE;
}

/* As a worker does; true: the ends were known. */
static bool ask(struct ft_judge *judge, const struct ft_map *map)
{
	const struct ft_records none = { 0 };
	struct ft_flow flow = { 0 };
	struct ft_frame frame;
	struct ft_item item;
	struct ft_judged *judged;

	make_item(&item, &frame);
	if (ft_judge_knows_home(judge, &item, &flow)) {
		assert_int_equal(flow.cell, CELL_BASE + tenant_by_map(map, &item));
		assert_true(ft_judge_has_nothing(ft_judge_epoch(judge), &item, &flow));
		return true;
	}
	judged = ft_judge_frame(judge, &item, &none);
	assert_non_null(judged);
	judged->cell = CELL_BASE + judged->verdict.src.tenant;
	ft_judge_learn_home(judge, &item, judged);
	return false;
}

static void ask_often(const struct ft_declared *declared)
{
	struct ft_map *map = compiled(declared);
	struct ft_judge *judge;
	unsigned known = 0;

	srandom(SEED);
	assert_int_equal(ft_judge_create(&judge, map, SEED), 0);
	for (unsigned i = 0; i < ASKED; i++)
		known += ask(judge, map);
	assert_in_range(known, ASKED / 200, ASKED);
	ft_judge_destroy(judge);
	ft_map_destroy(map);
}

static void ends_in_partitions_are_judged_as_by_the_map(void **state)
{
	(void)state;
	ask_often(&by_pkey);
}

static void ends_in_segments_are_judged_as_by_the_map(void **state)
{
	(void)state;
	ask_often(&by_segment);
}

static void ends_in_overlays_are_judged_as_by_the_map(void **state)
{
	(void)state;
	ask_often(&by_overlay);
}

enum { MANY = 3000, CELL = 5, EPOCH = 1 };

static struct ft_port many_port(unsigned number)
{
	return (struct ft_port)ROCE_PORT("many", 10, 0, (uint8_t)(number >> 8), (uint8_t)number);
}

/* What one of the many sends to another. */
static void make_many_item(struct ft_item *item, unsigned src, unsigned dst)
{
	const struct ft_port from = many_port(src), to = many_port(dst);

	*item = (struct ft_item){ .usual = true, .flow_key.vni = FT_FLOW_NO_VNI };
	memcpy(item->flow_key.src, from.ip.address, sizeof item->flow_key.src);
	memcpy(item->flow_key.dst, to.ip.address, sizeof item->flow_key.dst);
	memcpy(item->observed.smac, from.mac, sizeof from.mac);
	memcpy(item->observed.dmac, to.mac, sizeof to.mac);
	item->observed.pkey = 0x8001;
}

/* Three in a bucket push each other out: with eight places for each end there are hardly any. */
static void nearly_all_ends_that_a_map_names_stay_known(void **state)
{
	static struct ft_port ports[MANY];
	const struct ft_declared declared = {
		TENANTS({ .name = "red", .class = FT_CUSTOMER }),
		.ports = ports,
		.port_count = MANY,
		PARTITIONS({ .base = 1, .tenant = 0, ALWAYS(EVERYONE(FT_FULL)) }),
	};
	struct ft_map *map;
	struct ft_homes homes;
	struct ft_item item;
	unsigned unknown = 0;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		ports[i] = many_port(i);
	map = compiled(&declared);
	assert_int_equal(ft_homes_init(&homes, map, SEED), 0);
	for (unsigned i = 0; i < MANY; i++) {
		make_many_item(&item, i, (i + 1) % MANY);
		ft_homes_learn(&homes, &item, EPOCH, CELL);
	}
	for (unsigned i = 0; i < MANY; i++) {
		make_many_item(&item, i, (i * 7 + 11) % MANY);
		unknown += ft_homes_find(&homes, &item, EPOCH) != CELL;
	}
	assert_true(unknown < MANY * 3 / 100);
	ft_homes_free(&homes);
	ft_map_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearly_all_ends_that_a_map_names_stay_known),
		cmocka_unit_test(ends_in_partitions_are_judged_as_by_the_map),
		cmocka_unit_test(ends_in_segments_are_judged_as_by_the_map),
		cmocka_unit_test(ends_in_overlays_are_judged_as_by_the_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
