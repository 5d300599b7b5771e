#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "groups_fixture.h"

/* Hosts of two ranks each: a ring has two hosts, of whose four ranks each rail shows the two that send to the other host. */

enum { HOSTS = 2, STEPS = 6, SLICES = 2, LEAST = 4096 };

/* Between addresses `first` and the one behind it, both ways; the number of the first connection. */
static uint32_t connect_rail(uint8_t first)
{
	const uint32_t at = play.count;

	play_connect(&play, first, (uint8_t)(first + 1));
	play_connect(&play, (uint8_t)(first + 1), first);
	return at;
}

/* The set-up of a rail, between hosts 201 and 202. */
static void set_up(uint32_t rail)
{
	for (uint32_t i = 0; i < HOSTS; i++) {
		struct ft_nccl_connection *row = &play.rows[rail + i];

		row->has_tcp = true;
		row->connecting.address[15] = (uint8_t)(201 + i);
		row->listening.address[15] = (uint8_t)(202 - i);
		row->tcp_frames[0] = rail + i + 1;
		row->tcp_frames[1] = rail + i + 1;
	}
}

struct rail {
	uint32_t at;
	int32_t ranks[HOSTS]; /* that send */
	uint64_t chunk, last; /* bytes of the first three chunks of a loop, and of the fourth */
};

/*
 * Section 7.2 of NCCL's wire format: the rank in place p of the ring sends chunk p-1-s in step s, so the last of the first
 * host (place 1) sends 0, 3, 2, 1, 0, 3 and the last of the second one (place 3) 2, 1, 0, 3, 2, 1.
 */
static uint64_t slice_of(const struct rail *rail, uint32_t host, uint32_t step)
{
	const uint32_t place = 2 * host + 1, chunk = (place + 4 + 4 - 1 - step) % 4;

	return (chunk == 3 ? rail->last : rail->chunk) / SLICES;
}

/* An all-reduce: all is asked for, then step by step all rails and hosts send. */
static void reduce(const struct rail *rails, uint32_t count, uint32_t steps)
{
	struct ft_nccl_message *asked[4][HOSTS][STEPS * SLICES];

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t host = 0; host < HOSTS; host++)
			for (uint32_t j = 0; j < steps * SLICES; j++)
				asked[i][host][j] =
					play_ask(&play, rails[i].at + host, rails[i].ranks[host]);
	for (uint32_t j = 0; j < steps * SLICES; j++)
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t host = 0; host < HOSTS; host++)
				play_answer(&play, asked[i][host][j],
					    slice_of(&rails[i], host, j / SLICES));
}

static void is_all_reduce(const struct ft_nccl_collective *row, uint32_t ranks, uint64_t bytes)
{
	assert_string_equal(row->collective != NULL ? row->collective : "none", "AllReduce");
	assert_string_equal(row->algorithm != NULL ? row->algorithm : "none", "RING");
	assert_int_equal(row->ranks, ranks);
	assert_int_equal(row->message_bytes, bytes);
	assert_int_equal(row->message_bytes_most, bytes);
}

/* Three chunks of 8192 bytes and one of 4096. What another rail carried nobody knows. */
static void loops_show_ranks_that_are_not_on_the_wire(void **state)
{
	const struct rail rail = { connect_rail(1), { 1, 3 }, 8192, LEAST };

	(void)state;
	reduce(&rail, 1, STEPS);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 1);
	is_all_reduce(&groups.collectives[0], 4, 0);
	assert_null(groups.communicators[0].ring);
	assert_int_equal(groups.communicators[0].channels[0].ring_count, HOSTS);
	for (size_t i = 0; i < HOSTS; i++) {
		assert_true(play.rows[i].sender.has_rank);
		assert_false(play.rows[i].receiver.has_rank);
	}
}

/* Set-ups of all there is show that there is no other rail. */
static void set_ups_show_that_this_is_all(void **state)
{
	const struct rail rail = { connect_rail(1), { 1, 3 }, 8192, LEAST };

	(void)state;
	set_up(rail.at);
	reduce(&rail, 1, STEPS);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 1);
	is_all_reduce(&groups.collectives[0], 4, 3 * 8192 + LEAST);
}

static void rails_of_all_ranks_are_one_communicator(void **state)
{
	const struct rail rails[] = { { connect_rail(1), { 1, 3 }, 8192, 8064 },
				      { connect_rail(3), { 0, 2 }, 8192, 8192 } };

	(void)state;
	reduce(rails, 2, STEPS);
	reduce(rails, 2, STEPS);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 1);
	assert_int_equal(groups.communicators[0].member_count, 4);
	assert_int_equal(groups.communicators[0].channel_count, 2);
	assert_int_equal(groups.communicators[0].channels[0].channel, FT_NCCL_NONE);
	assert_int_equal(groups.collective_count, 2);
	is_all_reduce(&groups.collectives[0], 4, 7 * 8192 + 8064);
	assert_int_equal(groups.collectives[0].channels, 2);
}

/* Connections lead from 1 to 3, but not from them to 0 and 2. */
static void members_know_whom_connections_tie_them_to(void **state)
{
	const struct ft_nccl_member *members;

	rails_of_all_ranks_are_one_communicator(state);
	members = groups.communicators[0].members;
	assert_int_equal(members[0].tied[0], members[2].tied[0]);
	assert_int_equal(members[1].tied[0], members[3].tied[0]);
	assert_int_not_equal(members[0].tied[0], members[1].tied[0]);
}

/* Two jobs that do the same at the same time: each rail fits two others. */
static void rails_that_fit_several_are_not_joined(void **state)
{
	const struct rail rails[] = { { connect_rail(1), { 1, 3 }, 8192, LEAST },
				      { connect_rail(3), { 0, 2 }, 8192, LEAST },
				      { connect_rail(5), { 1, 3 }, 8192, LEAST },
				      { connect_rail(7), { 0, 2 }, 8192, LEAST } };

	(void)state;
	reduce(rails, 4, STEPS);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 4);
	assert_int_equal(groups.collective_count, 4);
	for (size_t i = 0; i < groups.collective_count; i++)
		is_all_reduce(&groups.collectives[i], 4, 0);
}

/* Their set-ups tell them apart. */
static void rails_of_other_hosts_are_not_joined(void **state)
{
	const struct rail rails[] = { { connect_rail(1), { 1, 3 }, 8192, LEAST },
				      { connect_rail(3), { 0, 2 }, 8192, LEAST } };

	(void)state;
	set_up(rails[0].at);
	set_up(rails[1].at);
	for (uint32_t i = 0; i < HOSTS; i++) {
		play.rows[rails[1].at + i].connecting.address[14] = 1;
		play.rows[rails[1].at + i].listening.address[14] = 1;
	}
	reduce(rails, 2, STEPS);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 2);
}

/* Loops of two ranks in two hosts: each rail is a communicator, with a ring of its own. */
static void data_parallel_groups_stay_apart(void **state)
{
	const struct rail rails[] = { { connect_rail(1), { 1, 3 }, 8192, 8192 },
				      { connect_rail(3), { 0, 2 }, 8192, 8192 } };

	(void)state;
	reduce(rails, 2, 2);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 2);
	assert_int_equal(groups.collective_count, 2);
	for (size_t i = 0; i < 2; i++) {
		is_all_reduce(&groups.collectives[i], 2, 2 * 8192);
		assert_non_null(groups.communicators[i].ring);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_show_ranks_that_are_not_on_the_wire),
		cmocka_unit_test(set_ups_show_that_this_is_all),
		cmocka_unit_test(rails_of_all_ranks_are_one_communicator),
		cmocka_unit_test(members_know_whom_connections_tie_them_to),
		cmocka_unit_test(rails_that_fit_several_are_not_joined),
		cmocka_unit_test(rails_of_other_hosts_are_not_joined),
		cmocka_unit_test(data_parallel_groups_stay_apart),
	};

	return play_tests(tests, sizeof tests / sizeof *tests);
}
