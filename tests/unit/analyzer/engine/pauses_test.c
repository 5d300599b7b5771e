#include "maps.h"

#include <string.h>

#include <capture/frame.h>

#include "pauses.h"

/*
 * A quantum is 512 bit times: 5.12 ns at 100 Gbit/s, 1.28 ns at 400. At 100 Gbit/s 1000 quanta are 5120 ns,
 * the most there is, 65 535, are 335 539.2 ns.
 */
enum { RED, BLUE };
enum { PAUSE = 0x0001, PFC = 0x0101, MOST_FRAMES = 4 };

static const struct ft_declared pod = {
	.is_roce = true,
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 1, 0, 1), ROCE_PORT("r2", 10, 1, 0, 2),
	      ROCE_PORT("b1", 10, 2, 0, 1)),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r1"), FULL("r2")) },
		   { .base = 2, .tenant = BLUE, ALWAYS(FULL("b1")) }),
};

#define R1                                                                                         \
	{                                                                                          \
		2, 0, 10, 1, 0, 1                                                                  \
	}
#define R2                                                                                         \
	{                                                                                          \
		2, 0, 10, 1, 0, 2                                                                  \
	}
#define B1                                                                                         \
	{                                                                                          \
		2, 0, 10, 2, 0, 1                                                                  \
	}
#define NOBODY                                                                                     \
	{                                                                                          \
		2, 9, 9, 9, 9, 9                                                                   \
	}

/* Frames at nanoseconds after 2026-11-21T00:00:00Z, and for how long red and blue held others up. */
static const struct row {
	const char *says;
	double link_gbps;
	struct frame {
		uint8_t mac[6];
		uint64_t ns;
		uint16_t opcode, enable;
		uint16_t quanta[8];
	} frames[MOST_FRAMES];
	uint64_t red_ns, blue_ns;
} rows[] = {
	{ "no frame", 100, { { { 0 } } }, 0, 0 },
	{ "a pause runs out", 100, { { R1, 0, PAUSE, 0, { 1000 } } }, 5120, 0 },
	{ "four times as fast, a quarter as long",
	  400,
	  { { R1, 0, PAUSE, 0, { 1000 } } },
	  1280,
	  0 },
	{ "the longest", 100, { { B1, 0, PAUSE, 0, { 65535 } } }, 0, 335539 },
	{ "no quanta end it",
	  100,
	  { { R1, 0, PAUSE, 0, { 1000 } }, { R1, 3000, PAUSE, 0, { 0 } } },
	  3000,
	  0 },
	{ "no quanta when it was over anyway",
	  100,
	  { { R1, 0, PAUSE, 0, { 1000 } }, { R1, 9000, PAUSE, 0, { 0 } } },
	  5120,
	  0 },
	{ "a newer frame goes on from itself",
	  100,
	  { { R1, 0, PAUSE, 0, { 1000 } }, { R1, 4000, PAUSE, 0, { 1000 } } },
	  4000 + 5120,
	  0 },
	{ "two that do not touch add up",
	  100,
	  { { R1, 0, PAUSE, 0, { 1000 } }, { R1, 50000, PAUSE, 0, { 500 } } },
	  5120 + 2560,
	  0 },
	{ "of several priorities the longest",
	  100,
	  { { R1, 0, PFC, 0x0b, { 100, 1000, 60000, 300 } } },
	  5120,
	  0 },
	{ "quanta of a priority that is not named mean nothing",
	  100,
	  { { R1, 0, PFC, 0x80, { 9, 9, 9, 9, 9, 9, 9, 200 } } },
	  1024,
	  0 },
	{ "a priority is not ended by a frame about another one",
	  100,
	  { { R1, 0, PFC, 0x08, { 0, 0, 0, 1000 } }, { R1, 2000, PFC, 0x20, { 0 } } },
	  5120,
	  0 },
	{ "a priority that ends leaves the others paused",
	  100,
	  { { R1, 0, PFC, 0x28, { 0, 0, 0, 2000, 0, 1000 } }, { R1, 2000, PFC, 0x08, { 0 } } },
	  5120,
	  0 },
	{ "time in which two priorities are paused counts once",
	  100,
	  { { R1, 0, PFC, 0x08, { 0, 0, 0, 1000 } },
	    { R1, 2000, PFC, 0x20, { 0, 0, 0, 0, 0, 1000 } } },
	  2000 + 5120,
	  0 },
	{ "a frame that names all ends every pause",
	  100,
	  { { R1, 0, PFC, 0x28, { 0, 0, 0, 1000, 0, 1000 } }, { R1, 2000, PAUSE, 0, { 0 } } },
	  2000,
	  0 },
	{ "PFC that names none", 100, { { R1, 0, PFC, 0, { 1000 } } }, 0, 0 },
	{ "two adapters of a tenant add up, each by itself",
	  100,
	  { { R1, 0, PAUSE, 0, { 1000 } }, { R2, 1000, PAUSE, 0, { 1000 } } },
	  10240,
	  0 },
	{ "the tenant whose adapter sent it",
	  100,
	  { { B1, 0, PAUSE, 0, { 1000 } }, { R1, 0, PAUSE, 0, { 500 } } },
	  2560,
	  5120 },
	{ "nobody's adapter", 100, { { NOBODY, 0, PAUSE, 0, { 1000 } } }, 0, 0 },
	{ "another control frame", 100, { { R1, 0, 0x0002, 0xff, { 1000 } } }, 0, 0 },
	{ "a link of unknown speed", 0, { { R1, 0, PAUSE, 0, { 1000 } } }, UINT64_MAX, UINT64_MAX },
};

static void show(struct ft_pauses *pauses, const struct frame *frame)
{
	struct ft_packet packet = { .has = FT_HAS_ETH | FT_HAS_MACCTRL };

	memcpy(packet.smac, frame->mac, sizeof packet.smac);
	packet.macctrl.opcode = frame->opcode;
	packet.macctrl.enable = frame->enable;
	packet.macctrl.quanta_count = frame->opcode == PAUSE ? 1 : 8;
	memcpy(packet.macctrl.quanta, frame->quanta, sizeof packet.macctrl.quanta);
	ft_pauses_see(pauses, &packet,
		      frame->ns == FT_TS_UNKNOWN ? FT_TS_UNKNOWN
						 : UINT64_C(1795219200000000000) + frame->ns);
}

static bool row_holds(const struct ft_map *map, const struct row *row)
{
	struct ft_pauses pauses;
	uint64_t red_ns, blue_ns;

	assert_int_equal(ft_pauses_init(&pauses, map, row->link_gbps), 0);
	for (unsigned i = 0; i < MOST_FRAMES && row->frames[i].opcode != 0; i++)
		show(&pauses, &row->frames[i]);
	red_ns = ft_pauses_ns(&pauses, RED);
	blue_ns = ft_pauses_ns(&pauses, BLUE);
	ft_pauses_free(&pauses);
	if (red_ns == row->red_ns && blue_ns == row->blue_ns)
		return true;
	print_error("%s: red %ju ns, blue %ju ns\n", row->says, (uintmax_t)red_ns,
		    (uintmax_t)blue_ns);
	return false;
}

static void pauses_are_held_against_who_could_not_take_more(void **state)
{
	struct ft_map *map = compiled(&pod);
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		wrong += !row_holds(map, &rows[i]);
	ft_map_destroy(map);
	assert_int_equal(wrong, 0);
}

static void a_frame_without_time_pauses_nothing(void **state)
{
	struct ft_map *map = compiled(&pod);
	struct ft_pauses pauses;

	(void)state;
	assert_int_equal(ft_pauses_init(&pauses, map, 100), 0);
	show(&pauses, &(struct frame){ R1, FT_TS_UNKNOWN, PAUSE, 0, { 1000 } });
	assert_int_equal(ft_pauses_ns(&pauses, RED), 0);
	ft_pauses_free(&pauses);
	ft_map_destroy(map);
}

/* Segments list subnets: whose an adapter is, its port's address tells. */
static const struct ft_declared by_subnet = {
	.is_roce = true,
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 1, 0, 1), ROCE_PORT("b1", 10, 2, 0, 1),
	      { .host = "mute", .has_mac = true, .mac = R2 }),
	SEGMENTS({ .name = "r", .tenant = RED, ALWAYS(NET(10, 1, 0, 0, 24)) },
		 { .name = "b", .tenant = BLUE, ALWAYS(NET(10, 2, 0, 0, 24)) }),
};

static void an_adapter_is_its_ports_tenants_by_the_address_of_that(void **state)
{
	struct ft_map *map = compiled(&by_subnet);
	struct ft_pauses pauses;

	(void)state;
	assert_int_equal(ft_pauses_init(&pauses, map, 100), 0);
	show(&pauses, &(struct frame){ R1, 0, PAUSE, 0, { 1000 } });
	show(&pauses, &(struct frame){ B1, 0, PAUSE, 0, { 500 } });
	show(&pauses, &(struct frame){ R2, 0, PAUSE, 0, { 7 } }); /* of a port without an address */
	assert_int_equal(ft_pauses_ns(&pauses, RED), 5120);
	assert_int_equal(ft_pauses_ns(&pauses, BLUE), 2560);
	ft_pauses_free(&pauses);
	ft_map_destroy(map);
}

/* The pod with another tenant, whose is r2. */
static const struct ft_declared grown = {
	.is_roce = true,
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER },
		{ .name = "green", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 1, 0, 1), ROCE_PORT("r2", 10, 1, 0, 2),
	      ROCE_PORT("b1", 10, 2, 0, 1)),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r1")) },
		   { .base = 2, .tenant = BLUE, ALWAYS(FULL("b1")) },
		   { .base = 3, .tenant = 2, ALWAYS(FULL("r2")) }),
};

static void a_tenant_of_a_new_map_begins_with_nothing(void **state)
{
	enum { GREEN = 2 };
	struct ft_map *map = compiled(&pod), *next = compiled(&grown);
	struct ft_pauses pauses;

	(void)state;
	assert_int_equal(ft_pauses_init(&pauses, map, 100), 0);
	show(&pauses, &(struct frame){ R2, 0, PAUSE, 0, { 1000 } });
	assert_int_equal(ft_pauses_change_map(&pauses, next), 0);
	assert_int_equal(ft_pauses_ns(&pauses, RED), 5120);
	assert_int_equal(ft_pauses_ns(&pauses, GREEN), 0);
	show(&pauses, &(struct frame){ R2, 9000, PAUSE, 0, { 500 } });
	assert_int_equal(ft_pauses_ns(&pauses, RED), 5120);
	assert_int_equal(ft_pauses_ns(&pauses, GREEN), 2560);
	ft_pauses_free(&pauses);
	ft_map_destroy(next);
	ft_map_destroy(map);
}

/* r2 is red's for a second, and blue's from then on. */
static const struct ft_declared lent = {
	.is_roce = true,
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r2", 10, 1, 0, 2)),
	PARTITIONS(
		{ .base = 1, .tenant = RED, INTERVALS(DURING(1795219000, 1795219201, FULL("r2"))) },
		{ .base = 2,
		  .tenant = BLUE,
		  INTERVALS(DURING(1795219201, 1795220000, FULL("r2"))) }),
};

static void an_adapter_is_whose_it_is_at_the_time(void **state)
{
	enum { SECOND = 1000000000 };
	struct ft_map *map = compiled(&lent);
	struct ft_pauses pauses;

	(void)state;
	assert_int_equal(ft_pauses_init(&pauses, map, 100), 0);
	show(&pauses, &(struct frame){ R2, 0, PAUSE, 0, { 1000 } });
	show(&pauses, &(struct frame){ R2, 20000, PAUSE, 0, { 1000 } });
	show(&pauses, &(struct frame){ R2, SECOND, PAUSE, 0, { 500 } });
	show(&pauses, &(struct frame){ R2, SECOND + 9000, PAUSE, 0, { 500 } });
	assert_int_equal(ft_pauses_ns(&pauses, RED), 2 * 5120);
	assert_int_equal(ft_pauses_ns(&pauses, BLUE), 2 * 2560);
	ft_pauses_free(&pauses);
	ft_map_destroy(map);
}

/* Forged source addresses take up the places; those that had one keep it. */
static void more_adapters_than_places_are_not_counted(void **state)
{
	enum { ADAPTERS = 5000 };
	struct ft_map *map = compiled(&pod);
	struct ft_pauses pauses;

	(void)state;
	assert_int_equal(ft_pauses_init(&pauses, map, 100), 0);
	show(&pauses, &(struct frame){ R1, 0, PAUSE, 0, { 1000 } });
	for (unsigned i = 0; i < ADAPTERS; i++) {
		struct frame forged = { NOBODY, 10000 + i, PAUSE, 0, { 1000 } };

		forged.mac[4] = (uint8_t)(i >> 8);
		forged.mac[5] = (uint8_t)i;
		show(&pauses, &forged);
	}
	show(&pauses, &(struct frame){ B1, 20000, PAUSE, 0, { 1000 } });
	show(&pauses, &(struct frame){ R1, 30000, PAUSE, 0, { 1000 } });
	assert_int_equal(ft_pauses_ns(&pauses, RED), 10240);
	assert_int_equal(ft_pauses_ns(&pauses, BLUE), 0);
	ft_pauses_free(&pauses);
	ft_map_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_are_held_against_who_could_not_take_more),
		cmocka_unit_test(a_frame_without_time_pauses_nothing),
		cmocka_unit_test(an_adapter_is_its_ports_tenants_by_the_address_of_that),
		cmocka_unit_test(a_tenant_of_a_new_map_begins_with_nothing),
		cmocka_unit_test(an_adapter_is_whose_it_is_at_the_time),
		cmocka_unit_test(more_adapters_than_places_are_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
