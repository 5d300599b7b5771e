#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "groups_fixture.h"

/* Which communicators connections at the same ports are of. */

enum { SLICE = 1048576, STEPS = 8 };

static const uint64_t slices[STEPS] = { 32768, 0, 32768, 0, 32768, 0, 32768, 0 };

/* Operations of a ring, so many messages of each member. */
static void go_round(uint32_t first, uint32_t ranks, uint32_t messages, unsigned times)
{
	play.offered = SLICE;
	for (unsigned i = 0; i < times; i++)
		play_step(&play, first, ranks, slices, messages);
}

/* Both ways, with ranks of their own: 0 and 1. */
static uint32_t connect_two(uint8_t one, uint8_t other)
{
	const uint32_t first = play.count;

	play_connect(&play, one, other);
	play_connect(&play, other, one);
	return first;
}

static size_t connections_of(uint32_t communicator)
{
	return groups.communicators[communicator].connection_count;
}

static void a_ring_through_some_of_the_hosts_is_of_another_communicator(void **state)
{
	uint32_t two;

	(void)state;
	play_ring(&play, 4);
	two = connect_two(1, 2);
	go_round(0, 4, 8, 2);
	go_round(two, 2, 4, 2);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 2);
	assert_int_equal(connections_of(0), 4);
	assert_int_equal(connections_of(1), 2);
	for (size_t i = 0; i < 2; i++)
		assert_non_null(groups.communicators[i].ring);
}

/* One message of each member more or less, each time: they are not busy alike, and never at the same time. */
static void rings_that_take_turns_are_of_two(void **state)
{
	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	for (unsigned i = 0; i < 3; i++) {
		go_round(0, 3, 8, 1);
		go_round(3, 3, 4, 1);
	}
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(connections_of((uint32_t)i), 3);
		assert_int_equal(groups.communicators[i].channel_count, 1);
	}
}

static void rings_that_work_together_are_channels(void **state)
{
	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	for (unsigned i = 0; i < 3; i++) {
		const uint64_t frame = play.frame;

		go_round(0, 3, 8, 1);
		play.frame = frame + 1;
		go_round(3, 3, 8, 1);
	}
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 1);
	assert_int_equal(groups.communicators[0].channel_count, 2);
}

/* Of all messages one in so many: nothing of it was seen. */
static void lose_one_in(uint32_t every)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < play.message_count; i++)
		if (i % every != every - 1)
			play.messages[kept++] = play.messages[i];
	play.message_count = kept;
}

/* At the same time, rings of three: other data, as many members. */
static void go_round_together(const uint64_t *one, const uint64_t *other, uint32_t messages)
{
	const uint64_t frame = play.frame;

	play.offered = SLICE;
	play_step(&play, 0, 3, one, STEPS);
	play.frame = frame + 1;
	play_step(&play, 3, 3, other, messages);
}

/* How many messages an operation has is not known of most then. */
static void rings_that_do_other_things_are_of_two_where_messages_are_missing(void **state)
{
	static const uint64_t longer[STEPS] = { 65536, 60000, 65536, 60000,
						65536, 60000, 65536, 60000 };
	static const uint64_t shorter[STEPS] = { 32768, 32768, 32768, 32768,
						 32768, 32768, 32768, 32768 };

	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	for (unsigned i = 0; i < 8; i++)
		go_round_together(shorter, longer, STEPS - 2);
	lose_one_in(7);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(connections_of(i), 3);
}

static void rings_that_do_the_same_are_channels_where_messages_are_missing(void **state)
{
	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	for (unsigned i = 0; i < 8; i++)
		go_round_together(slices, slices, STEPS);
	lose_one_in(7);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 1);
	assert_int_equal(groups.communicators[0].channel_count, 2);
}

static void sends_beside_a_ring_are_apart(void **state)
{
	(void)state;
	play_ring(&play, 3);
	play_connect(&play, 1, 2);
	play_connect(&play, 3, 2);
	go_round(0, 3, 8, 2);
	play.offered = 131072;
	play_send(&play, 3, 0, 131072);
	play_send(&play, 4, 2, 1000);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 2);
	assert_non_null(groups.communicators[0].ring);
	assert_null(groups.communicators[1].ring);
	assert_int_equal(connections_of(1), 2);
}

/* Without a ring of slices nothing shows that there are several. */
static void sends_alone_are_one(void **state)
{
	(void)state;
	play_connect(&play, 1, 2);
	play_connect(&play, 2, 3);
	play.offered = 131072;
	play_send(&play, 0, 0, 131072);
	play.offered = 65536;
	play.protocol = FT_NCCL_LL;
	play_send(&play, 1, 1, 65536);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 1);
}

static void set_up(uint32_t connection, uint8_t host)
{
	play.rows[connection].has_tcp = true;
	play.rows[connection].connecting.address[15] = host;
	play.rows[connection].listening.address[15] = 250;
}

/* Rank 1 sends from hosts 1 and 3: each of two communicators has one. */
static void a_rank_of_two_hosts_is_no_process(void **state)
{
	(void)state;
	play_connect(&play, 1, 2);
	play_connect(&play, 3, 2);
	set_up(0, 101);
	set_up(1, 103);
	play_send(&play, 0, 1, 100);
	play_send(&play, 0, 1, 100);
	play_send(&play, 1, 1, 100);
	play_send(&play, 1, 1, 100);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 1);
	assert_int_equal(groups.communicators[0].member_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_false(groups.communicators[0].members[i].has_rank);
		assert_int_equal(groups.communicators[0].members[i].place_count, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_through_some_of_the_hosts_is_of_another_communicator),
		cmocka_unit_test(rings_that_take_turns_are_of_two),
		cmocka_unit_test(rings_that_work_together_are_channels),
		cmocka_unit_test(rings_that_do_other_things_are_of_two_where_messages_are_missing),
		cmocka_unit_test(rings_that_do_the_same_are_channels_where_messages_are_missing),
		cmocka_unit_test(sends_beside_a_ring_are_apart),
		cmocka_unit_test(sends_alone_are_one),
		cmocka_unit_test(a_rank_of_two_hosts_is_no_process),
	};

	return play_tests(tests, sizeof tests / sizeof *tests);
}
