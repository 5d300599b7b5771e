#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "groups_fixture.h"

/*
 * Hosts of two ranks each, which are told by addresses 1 .. and ranks 2h and 2h + 1. On each channel the first one has the
 * parent and the lower child, the second one the upper child and that of the root (NCCL's balanced tree). Edges are those of
 * section 7.3 of its wire format, by hand, children first.
 */
enum { STEP = 524288, LL_STEP = 65536 };

struct edge {
	uint8_t child, parent; /* hosts, from 0 */
	int32_t up, down;      /* ranks that send */
};

/* Of four hosts: node 0 is the root of the first tree, node 3 that of the second one, its mirror. */
static const struct edge of_four[2][3] = {
	{ { 1, 2, 2, 4 }, { 3, 2, 6, 5 }, { 2, 0, 4, 1 } },
	{ { 2, 1, 4, 2 }, { 0, 1, 0, 3 }, { 1, 3, 2, 7 } },
};
static const struct edge of_two[2][1] = { { { 1, 0, 2, 1 } }, { { 0, 1, 0, 3 } } };

/* A tree's connections, up and down of each edge; the number of the first one. */
static uint32_t connect(const struct edge *edges, uint32_t count)
{
	const uint32_t at = play.count;

	for (uint32_t i = 0; i < count; i++) {
		play_connect(&play, (uint8_t)(edges[i].child + 1), (uint8_t)(edges[i].parent + 1));
		play_connect(&play, (uint8_t)(edges[i].parent + 1), (uint8_t)(edges[i].child + 1));
	}
	return at;
}

/* A chunk over a tree: sums go up from the leaves, and the result comes back. */
static void reduce(const struct edge *edges, uint32_t count, uint32_t at, uint64_t bytes)
{
	struct ft_nccl_message *up[3], *down[3];

	for (uint32_t i = 0; i < count; i++) {
		up[i] = play_ask(&play, at + 2 * i, edges[i].up);
		down[i] = play_ask(&play, at + 2 * i + 1, edges[i].down);
	}
	for (uint32_t i = 0; i < count; i++)
		play_answer(&play, up[i], bytes);
	for (uint32_t i = count; i-- > 0;)
		play_answer(&play, down[i], bytes);
}

/* One set-up for each connection, between hosts 201 .. */
static void set_up_all(void)
{
	for (uint32_t i = 0; i < play.count; i++) {
		struct ft_nccl_connection *row = &play.rows[i];

		row->has_tcp = true;
		row->connecting.address[15] = (uint8_t)(200 + row->sender.places[0].address[15]);
		row->listening.address[15] = (uint8_t)(200 + row->receiver.places[0].address[15]);
		row->tcp_frames[0] = row->tcp_frames[1] = i + 1;
	}
}

static void reduce_over_four(uint32_t times)
{
	const uint32_t first = connect(of_four[0], 3), second = connect(of_four[1], 3);

	play.offered = STEP;
	for (uint32_t i = 0; i < times; i++) {
		reduce(of_four[0], 3, first, 1000 + i);
		reduce(of_four[1], 3, second, 2000 + i);
	}
}

static void are_all_reduces(size_t count, uint64_t bytes, uint64_t more)
{
	assert_int_equal(groups.collective_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct ft_nccl_collective *row = &groups.collectives[i];

		assert_string_equal(row->collective != NULL ? row->collective : "none",
				    "AllReduce");
		assert_string_equal(row->algorithm != NULL ? row->algorithm : "none", "TREE");
		assert_int_equal(row->ranks, 0);
		assert_int_equal(row->message_bytes, bytes > 0 ? bytes + i * more : 0);
	}
}

static int32_t rank_of(uint32_t member)
{
	return groups.communicators[0].members[member].rank;
}

static void the_first_trees_channel_goes_up_and_down(void **state)
{
	(void)state;
	reduce_over_four(1);
	play.count = 6; /* the second tree's channel is not there */
	play.message_count = 6;
	play_groups(&play, &groups);
	assert_int_equal(groups.communicator_count, 1);
	assert_null(groups.communicators[0].ring);
	are_all_reduces(1, 0, 0); /* other ports may have had a part */
}

static void trees_are_those_of_hosts_in_the_order_of_ranks(void **state)
{
	const struct ft_nccl_communicator *row;

	(void)state;
	reduce_over_four(4);
	set_up_all();
	play_groups(&play, &groups);
	row = &groups.communicators[0];
	assert_int_equal(groups.communicator_count, 1);
	assert_int_equal(row->member_count, 8);
	assert_int_equal(row->tree_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct ft_nccl_tree *tree = &row->trees[i];
		const struct edge *last = &of_four[i][2]; /* the root's */

		assert_true(tree->of_hosts);
		assert_int_equal(tree->number, i);
		assert_int_equal(tree->channels, 1);
		assert_int_equal(tree->edge_count, 3);
		assert_int_equal(rank_of(tree->root), last->down);
		for (size_t j = 0; j < 3; j++) {
			const struct ft_nccl_tree_edge *edge = &tree->edges[j];
			size_t k = 0;

			while (k < 3 && of_four[i][k].up != rank_of(edge->child))
				k++;
			assert_true(k < 3);
			assert_int_equal(rank_of(edge->parent), of_four[i][k].down);
			assert_int_equal(edge->up[0], 100 + 6 * i + 2 * k);
			assert_int_equal(edge->down[0], 100 + 6 * i + 2 * k + 1);
			/* host 2 in the one tree, and host 1 in the other, is below the root, and above the others */
			assert_int_equal(edge->above, j == 1 ? FT_NCCL_NONE : 1);
		}
	}
}

/* From the middle: of one message alone nobody knows who sent it. It may be of any channel, but went over a tree. */
static void senders_of_one_message_have_no_rank(void **state)
{
	const uint32_t first = connect(of_four[0], 3), second = connect(of_four[1], 3);

	(void)state;
	play.offered = STEP;
	for (uint32_t i = 0; i < play.count; i++)
		play.k[i] = 5;
	for (uint32_t i = 0; i < 3; i++)
		reduce(of_four[0], 3, first, 1000);
	reduce(of_four[1], 3, second, 2000);
	play_groups(&play, &groups);
	assert_false(play.rows[second].sender.has_rank);
	assert_int_equal(groups.communicators[0].tree_count, 0);
	are_all_reduces(3, 0, 0); /* all use the first channel: the last one has a part of both */
}

/* A chunk that was passed on before it came in: no tree. */
static void what_goes_on_too_soon_is_no_tree(void **state)
{
	const uint32_t at = connect(of_four[0], 3);
	struct ft_nccl_message *asked[6];

	(void)state;
	play.offered = STEP;
	for (uint32_t i = 0; i < 6; i++)
		asked[i] = play_ask(&play, at + i,
				    i % 2 == 0 ? of_four[0][i / 2].up : of_four[0][i / 2].down);
	for (uint32_t i = 6; i-- > 0;)
		play_answer(&play, asked[i], 1000);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicators[0].tree_count, 0);
	for (size_t i = 0; i < groups.collective_count; i++)
		assert_null(groups.collectives[i].collective);
}

static void between_two_hosts_what_is_answered_is_a_tree(void **state)
{
	const uint32_t first = connect(of_two[0], 1), second = connect(of_two[1], 1);

	(void)state;
	play.offered = STEP;
	for (uint32_t i = 0; i < 4; i++) { /* one channel is ahead, or the other */
		reduce(of_two[i % 2], 1, i % 2 == 0 ? first : second, 1000);
		reduce(of_two[1 - i % 2], 1, i % 2 == 0 ? second : first, 1000);
	}
	set_up_all();
	play_groups(&play, &groups);
	assert_int_equal(groups.communicators[0].tree_count, 2);
	for (size_t i = 0; i < groups.collective_count; i++)
		assert_string_equal(groups.collectives[i].algorithm, "TREE");
	assert_int_equal(groups.communicators[0].channel_count, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(rank_of(groups.communicators[0].trees[i].root), of_two[i][0].down);
}

/* Where one channel is always ahead, which connections are of one nobody knows. */
static void between_two_hosts_order_alone_may_fit_others(void **state)
{
	const uint32_t first = connect(of_two[0], 1), second = connect(of_two[1], 1);

	(void)state;
	play.offered = STEP;
	for (uint32_t i = 0; i < 4; i++) {
		reduce(of_two[0], 1, first, 1000);
		reduce(of_two[1], 1, second, 1000);
	}
	set_up_all();
	play_groups(&play, &groups);
	assert_int_equal(groups.communicators[0].tree_count, 0);
	assert_int_equal(groups.communicators[0].channel_count, 1);
	for (size_t i = 0; i < groups.collective_count; i++)
		assert_string_equal(groups.collectives[i].algorithm, "TREE");
}

/* Lines are taken as a ring takes them, too. Nobody knows how many ranks there are. */
static void lines_between_two_hosts_show_no_ranks(void **state)
{
	const uint32_t first = connect(of_two[0], 1), second = connect(of_two[1], 1);

	(void)state;
	play.offered = LL_STEP;
	play.protocol = FT_NCCL_LL;
	for (uint32_t i = 0; i < 4; i++) {
		reduce(of_two[0], 1, first, 1024);
		reduce(of_two[1], 1, second, 1024);
	}
	play_groups(&play, &groups);
	for (size_t i = 0; i < groups.collective_count; i++) {
		assert_int_equal(groups.collectives[i].ranks, 0);
		assert_null(groups.collectives[i].algorithm);
		assert_int_equal(groups.collectives[i].message_bytes_most, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_trees_channel_goes_up_and_down),
		cmocka_unit_test(trees_are_those_of_hosts_in_the_order_of_ranks),
		cmocka_unit_test(senders_of_one_message_have_no_rank),
		cmocka_unit_test(what_goes_on_too_soon_is_no_tree),
		cmocka_unit_test(between_two_hosts_what_is_answered_is_a_tree),
		cmocka_unit_test(between_two_hosts_order_alone_may_fit_others),
		cmocka_unit_test(lines_between_two_hosts_show_no_ranks),
	};

	return play_tests(tests, sizeof tests / sizeof *tests);
}
