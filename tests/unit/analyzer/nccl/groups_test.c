#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "groups_fixture.h"

/* Who is in a communicator, in which ring and on which channel. */

static void is_rank(const struct ft_nccl_party *party, int32_t rank)
{
	assert_true(party->has_rank);
	assert_int_equal(party->rank, rank);
}

static void a_sender_is_named_by_what_he_is_sent(void **state)
{
	const struct ft_nccl_communicator *row;

	(void)state;
	play_connect(&play, 1, 2);
	play_send(&play, 0, 7, 100);
	play_groups(&play, &groups);
	is_rank(&play.rows[0].sender, 7);
	assert_false(play.rows[0].receiver.has_rank);
	assert_int_equal(play.rows[0].channel, FT_NCCL_NONE);
	assert_int_equal(groups.communicator_count, 1);
	row = &groups.communicators[0];
	assert_int_equal(row->member_count, 2);
	assert_true(row->members[0].has_rank);
	assert_int_equal(row->members[0].rank, 7);
	assert_int_equal(row->members[0].places[0].address[15], 1);
	assert_false(row->members[1].has_rank);
	assert_int_equal(row->members[1].places[0].address[15], 2);
	assert_null(row->ring);
	assert_int_equal(row->channel_count, 1);
	assert_int_equal(row->channels[0].channel, FT_NCCL_NONE);
	assert_int_equal(row->channels[0].connections[0], 100);
}

static void a_ring_is_told_in_the_order_of_ranks(void **state)
{
	static const uint32_t order[] = { 0, 2, 1 };
	const struct ft_nccl_communicator *row;

	(void)state;
	/* hosts 1, 2, 3 are ranks 0, 2, 1: 0 sends to 2, 2 to 1, 1 to 0 */
	play_ring(&play, 3);
	play_send(&play, 0, 0, 100);
	play_send(&play, 1, 2, 100);
	play_send(&play, 2, 1, 100);
	play_groups(&play, &groups);
	row = &groups.communicators[0];
	assert_int_equal(row->member_count, 3);
	for (int32_t i = 0; i < 3; i++)
		assert_int_equal(row->members[i].rank, i);
	assert_non_null(row->ring);
	for (size_t i = 0; i < 3; i++) {
		/* position in members is the rank here */
		assert_int_equal(row->ring[i], order[i]);
		assert_int_equal(play.rows[i].channel, 0);
	}
	is_rank(&play.rows[0].receiver, 2);
	is_rank(&play.rows[2].receiver, 0);
}

/* Each of these hosts may have several ranks. */
static void a_ring_without_ranks_may_be_of_hosts(void **state)
{
	(void)state;
	play_ring(&play, 3);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicators[0].member_count, 3);
	assert_null(groups.communicators[0].ring);
	assert_false(play.rows[0].sender.has_rank);
}

/* Connections one after the other: from, to, and up to two networks that their packets were seen in. */
static void addresses_are_unique_within_a_network_only(void **state)
{
	static const struct row {
		size_t communicators, count;
		struct {
			uint8_t from, to;
			uint32_t nets[2];
		} links[4];
	} rows[] = {
		/* one VLAN; two; an overlay with the number of a VLAN */
		{ 1, 2, { { 1, 2, { 201 } }, { 2, 1, { 201 } } } },
		{ 2, 2, { { 1, 2, { 201 } }, { 2, 1, { 202 } } } },
		{ 2, 2, { { 1, 2, { 201 } }, { 2, 1, { FT_NCCL_NET_VNI | 201 } } } },
		/* seen without tags, too: before a switch added them, or behind one that took them off */
		{ 1, 2, { { 1, 2, { 201 } }, { 2, 1, { 0 } } } },
		{ 1, 3, { { 3, 4, { 0 } }, { 2, 3, { 0 } }, { 1, 2, { 201 } } } },
		{ 3, 3, { { 1, 2, { 201 } }, { 1, 2, { 202 } }, { 1, 2, { 0 } } } },
		/* a router between the hosts */
		{ 1, 3, { { 1, 2, { 10, 20 } }, { 2, 3, { 20, 30 } }, { 3, 1, { 10, 30 } } } },
		{ 1, 3, { { 1, 2, { 10 } }, { 2, 3, { 30 } }, { 3, 1, { 10, 30 } } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		play_begin(&play);
		for (size_t j = 0; j < rows[i].count; j++) {
			struct ft_nccl_connection *row =
				play_connect(&play, rows[i].links[j].from, rows[i].links[j].to);

			memcpy(row->nets, rows[i].links[j].nets, sizeof rows[i].links[j].nets);
			row->net_count = (uint8_t)((row->nets[0] != 0) + (row->nets[1] != 0));
		}
		play_groups(&play, &groups);
		if (groups.communicator_count != rows[i].communicators)
			fail_msg("row %zu: %zu", i, groups.communicator_count);
		ft_nccl_groups_free(&groups);
	}
	play_begin(&play);
	play_groups(&play, &groups);
}

/* All processes of rings of so many, one ring after the other. */
static void name_all(uint32_t ranks)
{
	for (uint32_t i = 0; i < play.count; i++)
		play_send(&play, i, (int32_t)(i % ranks), 500);
}

/* Rings of two on the same hosts, one after the other, with the first and last release that each may be of; 0: not known. */
static void jobs_of_different_releases_are_apart(void **state)
{
	static const struct row {
		size_t communicators;
		int32_t releases[2][2];
	} rows[] = {
		{ 1, { { 22703, 22809 }, { 22703, 22809 } } },
		{ 2, { { 22101, 22105 }, { 22703, 22809 } } },
		{ 2, { { 22703, 22809 }, { 22101, 22105 } } },
		/* what both may be, and where one may be any */
		{ 1, { { 22403, 22809 }, { 22809, 22809 } } },
		{ 1, { { 22101, 22105 }, { 0, 0 } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		play_begin(&play);
		play_ring(&play, 2);
		play_ring(&play, 2);
		for (size_t j = 0; j < 4; j++) {
			play.rows[j].has_family = rows[i].releases[j / 2][0] != 0;
			play.rows[j].version_first = rows[i].releases[j / 2][0];
			play.rows[j].version_last = rows[i].releases[j / 2][1];
		}
		name_all(2);
		play_groups(&play, &groups);
		if (groups.communicator_count != rows[i].communicators)
			fail_msg("row %zu: %zu", i, groups.communicator_count);
		/* in one job the second ring is its second channel */
		assert_int_equal(play.rows[0].channel, 0);
		assert_int_equal(play.rows[2].channel, rows[i].communicators == 1 ? 1 : 0);
		ft_nccl_groups_free(&groups);
	}
	play_begin(&play);
	play_groups(&play, &groups);
}

static void a_connection_more_or_less_breaks_the_ring(void **state)
{
	(void)state;
	play_ring(&play, 4);
	play_connect(&play, 1, 3);
	play_groups(&play, &groups);
	assert_null(groups.communicators[0].ring);
	ft_nccl_groups_free(&groups);
	play_begin(&play);
	play_ring(&play, 4);
	play.count--;
	play_groups(&play, &groups);
	assert_null(groups.communicators[0].ring);
	ft_nccl_groups_free(&groups);
	/* two rings that meet in one host */
	play_begin(&play);
	play_ring(&play, 2);
	play_connect(&play, 1, 3);
	play_connect(&play, 3, 1);
	play_groups(&play, &groups);
	assert_null(groups.communicators[0].ring);
}

static void channels_follow_the_order_of_queue_pairs(void **state)
{
	const struct ft_nccl_communicator *row;

	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	name_all(3);
	play_groups(&play, &groups);
	row = &groups.communicators[0];
	assert_int_equal(row->channel_count, 2);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(play.rows[i].channel, i / 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(row->channels[0].connections[i], 100 + i);
		assert_int_equal(row->channels[1].connections[i], 103 + i);
	}
	assert_int_equal(row->connection_count, 6);
}

/* Nobody knows whether there are more processes, with channels at other ports of these hosts. */
static void channels_of_no_known_ranks_have_no_numbers(void **state)
{
	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	play_groups(&play, &groups);
	assert_null(groups.communicators[0].ring);
	assert_int_equal(groups.communicators[0].channel_count, 2);
	assert_int_equal(groups.communicators[0].channels[1].channel, FT_NCCL_NONE);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(play.rows[i].channel, FT_NCCL_NONE);
}

static void channels_that_the_two_sides_order_differently_are_not_known(void **state)
{
	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	play.rows[0].receiver.qpns[0] = 99;
	play_groups(&play, &groups);
	assert_null(groups.communicators[0].ring);
	assert_int_equal(groups.communicators[0].channel_count, 1);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(play.rows[i].channel, FT_NCCL_NONE);
	ft_nccl_groups_free(&groups);
	/* unless all set-ups were seen: they have an order */
	name_all(3);
	for (uint32_t i = 0; i < 6; i++) {
		play.rows[i].has_tcp = true;
		play.rows[i].tcp_frames[0] = 10 + i;
	}
	play_groups(&play, &groups);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(play.rows[i].channel, i / 3);
}

static void neighbours_with_one_connection_more_leave_channels_unknown(void **state)
{
	(void)state;
	play_ring(&play, 3);
	play_connect(&play, 1, 2);
	play_groups(&play, &groups);
	assert_null(groups.communicators[0].ring);
	assert_int_equal(play.rows[0].channel, FT_NCCL_NONE);
}

static void devices_merged_into_one_are_one_process(void **state)
{
	struct ft_nccl_connection *there;

	(void)state;
	there = play_connect(&play, 1, 2);
	there->sender.places[1] = there->sender.places[0];
	there->sender.places[1].address[14] = 1;
	there->sender.place_count = 2;
	play_connect(&play, 2, 1);
	play_send(&play, 0, 0, 100);
	play_send(&play, 1, 1, 100);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicators[0].member_count, 2);
	assert_int_equal(groups.communicators[0].members[0].place_count, 2);
	assert_int_equal(groups.communicators[0].members[0].places[1].address[14], 1);
	assert_non_null(groups.communicators[0].ring);
}

/* As the set-ups say, which are of one host. */
static void a_rank_with_two_addresses_is_one_process(void **state)
{
	(void)state;
	play_connect(&play, 1, 9)->has_tcp = true;
	play_connect(&play, 2, 9)->has_tcp = true;
	play_send(&play, 0, 4, 100);
	play_send(&play, 1, 4, 100);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicators[0].member_count, 2);
	assert_int_equal(groups.communicators[0].members[0].rank, 4);
	assert_int_equal(groups.communicators[0].members[0].place_count, 2);
}

/* Each may be of another communicator: cards of one process send to different ones of another. */
static void a_rank_at_two_addresses_that_send_to_one_may_be_two(void **state)
{
	const struct ft_nccl_connection *one = play_connect(&play, 1, 9);
	const struct ft_nccl_connection *other = play_connect(&play, 2, 9);

	(void)state;
	play_send(&play, 0, 4, 100);
	play_send(&play, 1, 4, 100);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicators[0].member_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_false(groups.communicators[0].members[i].has_rank);
		assert_int_equal(groups.communicators[0].members[i].place_count, 1);
	}
	assert_true(one->sender.has_rank && other->sender.has_rank);
	assert_int_equal(one->sender.rank, 4);
	assert_int_equal(other->sender.rank, 4);
}

static void at_an_address_of_two_ranks_nobody_knows_who_receives(void **state)
{
	(void)state;
	play_connect(&play, 1, 9);
	play_connect(&play, 1, 9);
	play_connect(&play, 9, 1);
	play_send(&play, 0, 4, 100);
	play_send(&play, 1, 5, 100);
	play_send(&play, 2, 6, 100);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicators[0].member_count, 3);
	is_rank(&play.rows[0].sender, 4);
	is_rank(&play.rows[1].sender, 5);
	/* hosts have several, so it may be another one than 6 */
	assert_false(play.rows[0].receiver.has_rank);
	assert_false(play.rows[2].receiver.has_rank);
	assert_null(groups.communicators[0].ring);
}

static void tags_that_are_no_ranks(void **state)
{
	(void)state;
	play_connect(&play, 1, 2);
	play_connect(&play, 3, 4);
	play_connect(&play, 5, 6);
	play_connect(&play, 6, 5);
	play_connect(&play, 7, 8);
	play_send(&play, 0, -1, 100);
	play_send(&play, 1, FT_NCCL_TAG_BOOTSTRAP, 100);
	play_send(&play, 2, FT_NCCL_TAG_SHARP, 100); /* of both: nobody sends to himself */
	play_send(&play, 3, FT_NCCL_TAG_SHARP, 100);
	play_send(&play, 4, 1, 100); /* of several ranks, which one process serves */
	play_send(&play, 4, 2, 100);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 4);
	for (uint32_t i = 0; i < 5; i++)
		assert_false(play.rows[i].sender.has_rank || play.rows[i].receiver.has_rank);
	assert_null(groups.communicators[2].ring);
}

/* The others may have been lost; where several ranks share a connection, they may have had other tags. */
static void one_clear_to_send_of_several_tells_no_rank(void **state)
{
	(void)state;
	play_connect(&play, 1, 2);
	play_connect(&play, 3, 4);
	play_connect(&play, 5, 6);
	play.k[0] = play.k[1] = 3;
	play_send(&play, 0, 400, 100);
	play_send(&play, 1, 400, 100);
	play_send(&play, 1, 400, 100);
	play_send(&play, 2, 400, 100);
	play_send(&play, 2, 400, 100);
	play.requests[4].has_tag = false;
	play_groups(&play, &groups);
	assert_false(play.rows[0].sender.has_rank);
	is_rank(&play.rows[1].sender, 400);
	assert_false(play.rows[2].sender.has_rank);
}

/* That of the only other rank at the address is not told of it either. */
static void one_clear_to_send_of_another_rank_contradicts(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		play_connect(&play, 1, 2);
	play_connect(&play, 2, 1);
	play.k[1] = play.k[2] = 3;
	play_send(&play, 0, 0, 100);
	play_send(&play, 0, 0, 100);
	play_send(&play, 1, 5, 100);
	play_send(&play, 2, 0, 100);
	play_send(&play, 3, 1, 100);
	play_groups(&play, &groups);
	is_rank(&play.rows[0].sender, 0);
	assert_false(play.rows[1].sender.has_rank);
	is_rank(&play.rows[2].sender, 0);
	is_rank(&play.rows[3].sender, 1);
}

static void requests_cut_away_may_be_of_other_ranks(void **state)
{
	struct ft_nccl_message *message;
	struct ft_nccl_request two[2][2] = { { { .has_tag = true, .tag = 8 } },
					     { { .has_tag = true, .tag = 8 } } };

	(void)state;
	play_connect(&play, 1, 2);
	for (int i = 0; i < 2; i++) {
		message = play_ask(&play, 0, 8);
		message->requests = two[i];
		message->request_count = 2;
	}
	play_groups(&play, &groups);
	assert_false(play.rows[0].sender.has_rank);
	two[0][1] = two[1][1] = two[0][0];
	ft_nccl_groups_free(&groups);
	play_groups(&play, &groups);
	is_rank(&play.rows[0].sender, 8);
}

static void a_rank_of_that_number_is_one(void **state)
{
	(void)state;
	play_connect(&play, 1, 2);
	play_connect(&play, 2, 1);
	play_send(&play, 0, FT_NCCL_TAG_SHARP, 100);
	play_send(&play, 1, 104, 100);
	play_groups(&play, &groups);
	is_rank(&play.rows[0].sender, FT_NCCL_TAG_SHARP);
}

static void what_no_connection_ties_together_is_apart(void **state)
{
	(void)state;
	play_connect(&play, 1, 2);
	play_connect(&play, 3, 4);
	play_connect(&play, 2, 1);
	play_send(&play, 0, 0, 100);
	play_send(&play, 1, 0, 100);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 2);
	assert_int_equal(groups.communicators[0].connection_count, 2);
	assert_int_equal(groups.communicators[0].connections[1], 102);
	assert_int_equal(groups.communicators[1].connections[0], 101);
	assert_int_equal(groups.communicators[1].members[0].places[0].address[15], 3);
}

static void an_end_without_an_address_is_nobody(void **state)
{
	(void)state;
	play_connect(&play, 1, 2)->receiver.place_count = 0;
	play_connect(&play, 1, 2)->sender.place_count = 0;
	play_connect(&play, 1, 2)->sender.place_count = 0;
	play.rows[2].receiver.place_count = 0;
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(groups.communicators[i].connection_count, 1);
		assert_int_equal(groups.communicators[i].connections[0], 100 + i);
		assert_int_equal(groups.communicators[i].member_count, 1);
		assert_null(groups.communicators[i].ring);
	}
}

static void nothing_is_no_group(void **state)
{
	(void)state;
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 0);
	assert_int_equal(groups.collective_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sender_is_named_by_what_he_is_sent),
		cmocka_unit_test(a_ring_is_told_in_the_order_of_ranks),
		cmocka_unit_test(a_ring_without_ranks_may_be_of_hosts),
		cmocka_unit_test(addresses_are_unique_within_a_network_only),
		cmocka_unit_test(jobs_of_different_releases_are_apart),
		cmocka_unit_test(a_connection_more_or_less_breaks_the_ring),
		cmocka_unit_test(channels_follow_the_order_of_queue_pairs),
		cmocka_unit_test(channels_of_no_known_ranks_have_no_numbers),
		cmocka_unit_test(channels_that_the_two_sides_order_differently_are_not_known),
		cmocka_unit_test(neighbours_with_one_connection_more_leave_channels_unknown),
		cmocka_unit_test(devices_merged_into_one_are_one_process),
		cmocka_unit_test(a_rank_with_two_addresses_is_one_process),
		cmocka_unit_test(a_rank_at_two_addresses_that_send_to_one_may_be_two),
		cmocka_unit_test(at_an_address_of_two_ranks_nobody_knows_who_receives),
		cmocka_unit_test(tags_that_are_no_ranks),
		cmocka_unit_test(one_clear_to_send_of_several_tells_no_rank),
		cmocka_unit_test(one_clear_to_send_of_another_rank_contradicts),
		cmocka_unit_test(requests_cut_away_may_be_of_other_ranks),
		cmocka_unit_test(a_rank_of_that_number_is_one),
		cmocka_unit_test(what_no_connection_ties_together_is_apart),
		cmocka_unit_test(an_end_without_an_address_is_nobody),
		cmocka_unit_test(nothing_is_no_group),
	};

	return play_tests(tests, sizeof tests / sizeof *tests);
}
