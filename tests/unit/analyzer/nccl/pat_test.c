#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "groups_fixture.h"

/* All-gathers and reduce-scatters by PAT (docs/nccl.md), worked out by hand. */

enum { UNIT = 1000, ROUNDS = 6, RANKS_MOST = 5 };

/* In each round every rank sends one message so far on. */
struct round {
	uint8_t distance; /* 0: no more */
	uint32_t bytes;
};

struct scene {
	const char *name;
	uint8_t ranks;
	struct round rounds[ROUNDS];
	const char *collective; /* NULL: none, and no algorithm either */
	uint64_t offered;       /* 0: a step */
	uint32_t longer;        /* bytes that one message of rank 1 has more */
};

/* Of 4: block 3 goes 1 + 2, block 2 goes 2, block 1 goes 1. Of 5 also block 4 goes 4. */
static const struct scene scenes[] = {
	{ "sums of 3 go with those of 2, then 1 goes",
	  4,
	  { { 1, UNIT }, { 2, UNIT }, { 1, UNIT } },
	  .collective = "ReduceScatter" },
	{ "2 goes, then 3 with what came, and 1",
	  4,
	  { { 2, UNIT }, { 3, UNIT }, { 3, UNIT } },
	  .collective = "AllGather" },
	{ "3 and 1 share a message",
	  4,
	  { { 1, 2 * UNIT }, { 2, UNIT } },
	  .collective = "ReduceScatter" },
	{ "two chunks",
	  4,
	  { { 1, 65536 }, { 2, 65536 }, { 1, 65536 }, { 1, UNIT }, { 2, UNIT }, { 1, UNIT } },
	  .collective = "ReduceScatter" },
	{ "of five, with room for eight",
	  5,
	  { { 1, 2 * UNIT }, { 2, 2 * UNIT }, { 1, 2 * UNIT }, { 4, UNIT } },
	  .collective = "ReduceScatter" },
	{ "of three: first two on, then one on",
	  3,
	  { { 2, UNIT }, { 1, UNIT } },
	  .collective = "ReduceScatter" },
	{ "of three: first two back, then one back",
	  3,
	  { { 1, UNIT }, { 2, UNIT } },
	  .collective = "AllGather" },
	{ "2 goes before 3 came",
	  4,
	  { { 2, UNIT }, { 1, UNIT }, { 1, UNIT } },
	  .collective = NULL },
	{ "as much for all distances", 4, { { 1, UNIT }, { 2, UNIT } }, .collective = NULL },
	{ "one rank has more", 4, { { 1, UNIT }, { 2, UNIT }, { 1, UNIT } }, .longer = 8 },
	{ "room as for sends", 4, { { 1, UNIT }, { 2, UNIT }, { 1, UNIT } }, .offered = 131072 },
};
enum { SCENES = sizeof scenes / sizeof *scenes };

static uint32_t links[RANKS_MOST + 1][RANKS_MOST]; /* connections, by distance and sender */

static void connect(const struct scene *scene)
{
	for (uint8_t distance = 1; distance < scene->ranks; distance++) {
		bool used = false;

		for (size_t i = 0; i < ROUNDS; i++)
			used |= scene->rounds[i].distance == distance;
		for (uint8_t rank = 0; used && rank < scene->ranks; rank++) {
			links[distance][rank] = play.count;
			play_connect(&play, (uint8_t)(rank + 1),
				     (uint8_t)((rank + distance) % scene->ranks + 1));
		}
	}
}

/* All is asked for, then sent round by round. */
static void run(const struct scene *scene)
{
	struct ft_nccl_message *asked[ROUNDS][RANKS_MOST];

	play.offered = scene->offered != 0 ? scene->offered : 524288;
	connect(scene);
	for (size_t i = 0; i < ROUNDS && scene->rounds[i].distance != 0; i++)
		for (uint8_t rank = 0; rank < scene->ranks; rank++)
			asked[i][rank] =
				play_ask(&play, links[scene->rounds[i].distance][rank], rank);
	for (size_t i = 0; i < ROUNDS && scene->rounds[i].distance != 0; i++)
		for (uint8_t rank = 0; rank < scene->ranks; rank++)
			play_answer(&play, asked[i][rank],
				    scene->rounds[i].bytes +
					    (i == 0 && rank == 1 ? scene->longer : 0));
	play_groups(&play, &groups);
}

static uint64_t size_of(const struct scene *scene)
{
	return scene->rounds[ROUNDS - 1].distance != 0 ? 65536 + UNIT : UNIT;
}

static void each_scene_is_what_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < SCENES; i++) {
		const struct scene *scene = &scenes[i];

		print_message("%s\n", scene->name);
		play_begin(&play);
		run(scene);
		assert_int_equal(groups.communicator_count, 1);
		assert_int_equal(groups.communicators[0].distance_count != 0, scene->offered == 0);
		if (scene->collective != NULL) {
			assert_int_equal(groups.collective_count, 1);
			assert_string_equal(groups.collectives[0].collective, scene->collective);
			assert_string_equal(groups.collectives[0].algorithm, "PAT");
			assert_int_equal(groups.collectives[0].message_bytes, size_of(scene));
			assert_int_equal(groups.collectives[0].channels, 1);
			assert_int_equal(groups.collectives[0].messages, play.message_count);
		}
		for (size_t j = 0; scene->collective == NULL && j < groups.collective_count; j++)
			assert_null(groups.collectives[j].algorithm);
		ft_nccl_groups_free(&groups);
	}
}

static void distances_and_channels_are_in_order(void **state)
{
	static const uint32_t distances[] = { 1, 2, 4 };
	const struct ft_nccl_communicator *row;

	(void)state;
	play_begin(&play);
	run(&scenes[4]);
	row = &groups.communicators[0];
	assert_int_equal(row->distance_count, 3);
	assert_int_equal(row->channel_count, 1);
	assert_int_equal(row->channels[0].ring_count, 5);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(row->distances[i].ranks, distances[i]);
		assert_int_equal(row->distances[i].channels, 1);
		for (size_t rank = 0; rank < 5; rank++)
			assert_int_equal(row->channels[0].connections[5 * i + rank],
					 100 + links[distances[i]][rank]);
	}
	for (uint32_t rank = 0; rank < 5; rank++)
		assert_int_equal(row->ring[rank], rank);
	ft_nccl_groups_free(&groups);
}

/* Lines of LL between three, each to the next and to the one before: two rings, one the other way round. */
static void rings_both_ways_are_none(void **state)
{
	const struct scene scene = { "both ways", 3, { { 1, 640 }, { 2, 640 } }, NULL, 65536, 0 };

	(void)state;
	play_begin(&play);
	play.protocol = FT_NCCL_LL;
	run(&scene);
	assert_int_equal(groups.communicators[0].distance_count, 0);
	ft_nccl_groups_free(&groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_both_ways_are_none),
		cmocka_unit_test(each_scene_is_what_it_is),
		cmocka_unit_test(distances_and_channels_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
