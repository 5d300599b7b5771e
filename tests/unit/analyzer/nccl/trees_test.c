#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "group_tree_shape.h"
#include "groups_fixture.h"

/* Trees that connections form (docs/nccl.md), worked out by hand. */

enum { NODES = 8, NO = -1 /* parent */ };

static int begin(void **state)
{
	play_set_up(state);
	play.offered = 524288;
	return 0;
}

struct rule {
	uint32_t nodes;
	int8_t parents[2][NODES]; /* of tree 0 and 1 */
};
static const struct rule rules[] = {
	{ 3, { { NO, 2, 0 }, { 1, NO, 0 } } },
	{ 4, { { NO, 2, 0, 2 }, { 1, 3, 1, NO } } },
	{ 5, { { NO, 2, 4, 2, 0 }, { 1, NO, 3, 0, 3 } } },
	{ 6, { { NO, 2, 4, 2, 0, 4 }, { 1, 5, 3, 1, 3, NO } } },
	{ 8, { { NO, 2, 4, 2, 0, 6, 4, 6 }, { 1, 3, 1, 7, 5, 3, 5, NO } } },
};
enum { RULES = sizeof rules / sizeof *rules };

static void nodes_have_the_parents_that_the_rule_gives_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < RULES; i++)
		for (uint32_t tree = 0; tree < 2; tree++)
			for (uint32_t node = 0; node < rules[i].nodes; node++) {
				int8_t parent = rules[i].parents[tree][node];

				assert_int_equal(ft_nccl_tree_parent(tree, node, rules[i].nodes),
						 parent == NO ? FT_NCCL_NONE : (uint32_t)parent);
			}
}

/* --- connections and what they carry --- */

/* Of each node its connection up, and the one back down is behind it. */
static void connect(const int8_t *parents, uint32_t nodes, uint32_t *up)
{
	for (uint32_t node = 0; node < nodes; node++) {
		if (parents[node] == NO)
			continue;
		up[node] = play.count;
		play_connect(&play, (uint8_t)(node + 1), (uint8_t)(parents[node] + 1));
		play_connect(&play, (uint8_t)(parents[node] + 1), (uint8_t)(node + 1));
	}
}

static bool is_child(const int8_t *parents, uint32_t node, uint32_t of)
{
	return parents[node] != NO && (uint32_t)parents[node] == of;
}

static void climb(const int8_t *parents, uint32_t nodes, const uint32_t *up, uint32_t at,
		  struct ft_nccl_message **asked, uint64_t bytes)
{
	for (uint32_t node = 0; node < nodes; node++)
		if (is_child(parents, node, at))
			climb(parents, nodes, up, node, asked, bytes);
	if (parents[at] != NO)
		play_answer(&play, asked[up[at]], bytes);
}

static void descend(const int8_t *parents, uint32_t nodes, const uint32_t *up, uint32_t at,
		    struct ft_nccl_message **asked, uint64_t bytes)
{
	if (parents[at] != NO)
		play_answer(&play, asked[up[at] + 1], bytes);
	for (uint32_t node = 0; node < nodes; node++)
		if (is_child(parents, node, at))
			descend(parents, nodes, up, node, asked, bytes);
}

/* One all-reduce of two chunks: all is asked for, then what children have goes up, and the sum down. */
static void reduce(const int8_t *parents, uint32_t nodes, const uint32_t *up, bool has_tags)
{
	static const uint64_t bytes[] = { 524288, 1000 };
	struct ft_nccl_message *asked[2][PLAY_CONNECTIONS] = { 0 };
	uint32_t root = 0;

	for (unsigned chunk = 0; chunk < 2; chunk++)
		for (uint32_t node = 0; node < nodes; node++) {
			if (parents[node] == NO) {
				root = node;
				continue;
			}
			asked[chunk][up[node]] = play_ask(&play, up[node], (int32_t)node);
			asked[chunk][up[node] + 1] = play_ask(&play, up[node] + 1, parents[node]);
		}
	for (uint32_t i = 0; !has_tags && i < play.message_count; i++)
		play.requests[i].has_tag = false;
	for (unsigned chunk = 0; chunk < 2; chunk++) {
		climb(parents, nodes, up, root, asked[chunk], bytes[chunk]);
		descend(parents, nodes, up, root, asked[chunk], bytes[chunk]);
	}
}

static void is_as_the_rule(const struct ft_nccl_tree *tree, const int8_t *parents, uint32_t nodes,
			   const uint32_t *up)
{
	size_t edge = 0;

	assert_int_equal(tree->edge_count, nodes - 1);
	assert_int_equal(tree->channels, 1);
	for (uint32_t node = 0; node < nodes; node++) {
		if (parents[node] == NO) {
			assert_int_equal(tree->root, node);
			continue;
		}
		assert_int_equal(tree->edges[edge].child, node);
		assert_int_equal(tree->edges[edge].parent, parents[node]);
		assert_int_equal(tree->edges[edge].up[0], 100 + up[node]);
		assert_int_equal(tree->edges[edge].down[0], 101 + up[node]);
		edge++;
	}
}

static void both_trees_are_told_apart_and_what_they_reduced(void **state)
{
	(void)state;
	for (size_t i = 0; i < RULES; i++) {
		const struct rule *rule = &rules[i];
		uint32_t up[2][NODES];

		begin(state);
		for (unsigned tree = 0; tree < 2; tree++)
			connect(rule->parents[tree], rule->nodes, up[tree]);
		for (unsigned tree = 0; tree < 2; tree++)
			reduce(rule->parents[tree], rule->nodes, up[tree], true);
		play_groups(&play, &groups);
		assert_int_equal(groups.communicator_count, 1);
		assert_null(groups.communicators[0].ring);
		assert_int_equal(groups.communicators[0].tree_count, 2);
		for (unsigned tree = 0; tree < 2; tree++) {
			const struct ft_nccl_tree *found = &groups.communicators[0].trees[tree];

			assert_int_equal(found->number, tree);
			is_as_the_rule(found, rule->parents[tree], rule->nodes, up[tree]);
		}
		assert_int_equal(groups.collective_count, 1); /* though one went after the other */
		assert_string_equal(groups.collectives[0].collective, "AllReduce");
		assert_string_equal(groups.collectives[0].algorithm, "TREE");
		assert_int_equal(groups.collectives[0].message_bytes, 2 * 525288);
		assert_int_equal(groups.collectives[0].messages, 8 * (rule->nodes - 1));
		assert_int_equal(groups.collectives[0].channels, 2);
		play_tear_down(state);
	}
}

/* Node 1 has two children, 0 and 3, and is below node 2: not NCCL's order, and no tags. */
static void one_tree_is_told_by_who_waits_for_whom(void **state)
{
	static const int8_t parents[] = { 1, 2, NO, 1 };
	const struct ft_nccl_tree *tree;
	uint32_t up[4];

	(void)state;
	connect(parents, 4, up);
	reduce(parents, 4, up, false);
	play_groups(&play, &groups);
	assert_int_equal(groups.communicators[0].tree_count, 1);
	tree = &groups.communicators[0].trees[0];
	assert_int_equal(tree->number, FT_NCCL_NONE);
	is_as_the_rule(tree, parents, 4, up);
}

/* --- a ring and trees on the same connections --- */

enum { CHANNELS = 2, MIXED = 4 /* nodes */ };

/* Connections of a channel, by who sends and who receives. */
static uint32_t ways[CHANNELS][MIXED][MIXED];

/* As NCCL begins: the ring of each channel, then what its tree needs besides. */
static void connect_mixed(bool has_trees)
{
	for (unsigned channel = 0; channel < CHANNELS; channel++)
		for (uint8_t node = 0; node < MIXED; node++) {
			const uint8_t next = (uint8_t)((node + 1) % MIXED);

			ways[channel][node][next] = play.count;
			play_connect(&play, (uint8_t)(node + 1), (uint8_t)(next + 1));
		}
	for (unsigned channel = 0; has_trees && channel < CHANNELS; channel++)
		for (uint8_t node = 0; node < MIXED; node++) {
			const int8_t parent = rules[1].parents[channel][node];

			if (parent == NO)
				continue;
			if (parent != (node + 1) % MIXED) {
				ways[channel][node][parent] = play.count;
				play_connect(&play, node + 1, (uint8_t)(parent + 1));
			}
			if (node != (parent + 1) % MIXED) {
				ways[channel][parent][node] = play.count;
				play_connect(&play, (uint8_t)(parent + 1), node + 1);
			}
		}
}

/* An all-reduce of two chunks for each other member, of two slices each, on one channel. */
static void go_round(unsigned channel)
{
	enum { SLICES = 4 * (MIXED - 1) };
	struct ft_nccl_message *asked[MIXED][SLICES];

	play.offered = 1048576;
	for (uint32_t node = 0; node < MIXED; node++)
		for (unsigned i = 0; i < SLICES; i++)
			asked[node][i] = play_ask(&play, ways[channel][node][(node + 1) % MIXED],
						  (int32_t)node);
	for (unsigned i = 0; i < SLICES; i++)
		for (uint32_t node = 0; node < MIXED; node++)
			play_answer(&play, asked[node][i], 32768);
	play.offered = 524288;
}

static void climb_down(const int8_t *parents, unsigned channel, uint32_t at, bool is_up,
		       struct ft_nccl_message *asked[MIXED][2])
{
	for (uint32_t node = 0; is_up && node < MIXED; node++)
		if (is_child(parents, node, at))
			climb_down(parents, channel, node, is_up, asked);
	if (parents[at] != NO)
		play_answer(&play, asked[at][is_up ? 0 : 1], 1000);
	for (uint32_t node = 0; !is_up && node < MIXED; node++)
		if (is_child(parents, node, at))
			climb_down(parents, channel, node, is_up, asked);
}

/* An all-reduce of one chunk over the tree of a channel. */
static void go_up_and_down(unsigned channel)
{
	const int8_t *parents = rules[1].parents[channel];
	struct ft_nccl_message *asked[MIXED][2];
	uint32_t root = 0;

	for (uint32_t node = 0; node < MIXED; node++) {
		const int8_t parent = parents[node];

		if (parent == NO) {
			root = node;
			continue;
		}
		asked[node][0] = play_ask(&play, ways[channel][node][parent], (int32_t)node);
		asked[node][1] = play_ask(&play, ways[channel][parent][node], parent);
	}
	climb_down(parents, channel, root, true, asked);
	climb_down(parents, channel, root, false, asked);
}

static void has_ring_and_trees(void)
{
	const struct ft_nccl_communicator *row = &groups.communicators[0];

	assert_int_equal(groups.communicator_count, 1);
	assert_non_null(row->ring);
	for (uint32_t node = 0; node < MIXED; node++)
		assert_int_equal(row->ring[node], node);
	assert_int_equal(row->channel_count, CHANNELS);
	assert_int_equal(row->tree_count, CHANNELS);
	for (uint32_t i = 0; i < CHANNELS; i++) {
		const struct ft_nccl_channel *channel = &row->channels[i];
		const struct ft_nccl_tree *tree = &row->trees[i];
		size_t edge = 0;

		assert_int_equal(channel->channel, i);
		assert_int_equal(channel->ring_count, MIXED);
		assert_int_equal(channel->connection_count,
				 8); /* 2 of 6 of the tree are the ring's */
		for (uint32_t node = 0; node < MIXED; node++)
			assert_int_equal(channel->connections[node],
					 100 + ways[i][node][(node + 1) % MIXED]);
		assert_int_equal(tree->number, i);
		for (uint32_t node = 0; node < MIXED; node++) {
			const int8_t parent = rules[1].parents[i][node];

			if (parent == NO)
				continue;
			assert_int_equal(tree->edges[edge].child, node);
			assert_int_equal(tree->edges[edge].parent, parent);
			assert_int_equal(tree->edges[edge].up[0], 100 + ways[i][node][parent]);
			assert_int_equal(tree->edges[edge].down[0], 100 + ways[i][parent][node]);
			edge++;
		}
	}
	for (uint32_t i = 0; i < play.count; i++)
		assert_int_not_equal(play.rows[i].channel, FT_NCCL_NONE);
}

static void a_ring_and_trees_are_told_apart_and_what_went_over_which(void **state)
{
	/* the last one on both channels, one after the other */
	static const char *const algorithms[] = { "RING", "TREE", "RING", "TREE" };

	(void)state;
	connect_mixed(true);
	for (unsigned i = 0; i < 4; i++) {
		if (algorithms[i][0] == 'R')
			go_round(0);
		else
			go_up_and_down(0);
	}
	go_up_and_down(1);
	play_groups(&play, &groups);
	has_ring_and_trees();
	assert_int_equal(groups.collective_count, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_string_equal(groups.collectives[i].collective, "AllReduce");
		assert_string_equal(groups.collectives[i].algorithm, algorithms[i]);
	}
	assert_int_equal(groups.collectives[1].message_bytes, 1000);
	assert_int_equal(groups.collectives[3].message_bytes, 2000);
}

/* Set-up shows the trees of a job that uses its ring alone. */
static void a_ring_is_told_beside_trees_that_nothing_goes_over(void **state)
{
	(void)state;
	connect_mixed(true);
	for (unsigned channel = 0; channel < CHANNELS; channel++)
		go_round(channel);
	play_groups(&play, &groups);
	has_ring_and_trees();
	assert_int_equal(groups.collective_count, 1);
	assert_string_equal(groups.collectives[0].algorithm, "RING");
	assert_int_equal(groups.collectives[0].channels, CHANNELS);
}

static void one_connection_more_and_it_is_neither(void **state)
{
	(void)state;
	connect_mixed(true);
	play_connect(&play, 1, 2);
	for (unsigned channel = 0; channel < CHANNELS; channel++)
		go_round(channel);
	play_groups(&play, &groups);
	assert_null(groups.communicators[0].ring);
	assert_int_equal(groups.communicators[0].tree_count, 0);
	assert_int_equal(groups.communicators[0].channel_count, 1);
}

/* --- what is none --- */

static void have_no_tree(void)
{
	play_groups(&play, &groups);
	for (size_t i = 0; i < groups.communicator_count; i++)
		assert_int_equal(groups.communicators[i].tree_count, 0);
	for (size_t i = 0; i < groups.collective_count; i++)
		assert_null(groups.collectives[i].algorithm);
}

/* As in a pipeline: now one of the two sends first, now the other. */
static void neighbours_in_a_line_that_send_both_ways_are_no_tree(void **state)
{
	(void)state;
	for (uint8_t node = 1; node < 4; node++) {
		play_connect(&play, node, node + 1);
		play_connect(&play, node + 1, node);
	}
	for (unsigned round = 0; round < 4; round++)
		for (uint32_t pair = 0; pair < 3; pair++)
			for (unsigned i = 0; i < 2; i++) {
				const uint32_t back = (round + i) % 2;

				play_send(&play, 2 * pair + back, (int32_t)(pair + back), 4096);
			}
	have_no_tree();
}

/* Forward and back again through the stages of a pipeline. */
static void a_line_there_and_back_is_no_tree(void **state)
{
	static const int8_t parents[] = { NO, 0, 1, 2 };
	uint32_t up[4];

	(void)state;
	connect(parents, 4, up);
	reduce(parents, 4, up, true);
	have_no_tree();
}

/* The middle answers all others, as a server of parameters does: a root has one child. */
static void a_star_is_no_tree(void **state)
{
	static const int8_t parents[] = { NO, 0, 0, 0 };
	uint32_t up[4];

	(void)state;
	connect(parents, 4, up);
	reduce(parents, 4, up, true);
	have_no_tree();
}

/* Neighbours as in tree 0 of four, but what would come down is there before what would go up. */
static void messages_that_contradict_it_make_it_none(void **state)
{
	const int8_t *parents = rules[1].parents[0];
	uint32_t up[4];

	(void)state;
	connect(parents, 4, up);
	for (uint32_t node = 1; node < 4; node++) {
		play_send(&play, up[node] + 1, parents[node], 4096);
		play_send(&play, up[node], (int32_t)node, 4096);
	}
	have_no_tree();
}

static void what_goes_one_way_only_is_none(void **state)
{
	(void)state;
	for (uint8_t node = 1; node < 4; node++) {
		play_connect(&play, node, node + 1);
		play_send(&play, node - 1u, node - 1, 4096);
	}
	have_no_tree();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, play_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_have_the_parents_that_the_rule_gives_them),
		cmocka_unit_test(both_trees_are_told_apart_and_what_they_reduced),
		TEST(one_tree_is_told_by_who_waits_for_whom),
		TEST(a_ring_and_trees_are_told_apart_and_what_went_over_which),
		TEST(a_ring_is_told_beside_trees_that_nothing_goes_over),
		TEST(one_connection_more_and_it_is_neither),
		TEST(neighbours_in_a_line_that_send_both_ways_are_no_tree),
		TEST(a_line_there_and_back_is_no_tree),
		TEST(a_star_is_no_tree),
		TEST(messages_that_contradict_it_make_it_none),
		TEST(what_goes_one_way_only_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
