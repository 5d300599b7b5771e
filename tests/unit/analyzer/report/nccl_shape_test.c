#include "cmocka_headers.h"

#include <string.h>

#include <nccl/model.h>

#include "nccl_shape_text.h"
#include "written.h"

/* How connections of a communicator lie, in lines of the page about NCCL (docs/nccl.md). */

enum { MOST = 6, COMMUNICATOR = 3 };

#define AT(n)                                                                                      \
	.place_count = 1,                                                                          \
	.places = { { .address = { [10] = 0xff, [11] = 0xff, [12] = 10, 0, 0, n } } }

/* Processes of ranks 0 to 3, one without a rank and one of which nothing is known. */
static const struct ft_nccl_member members[MOST] = {
	{ .has_rank = true, .rank = 0, AT(1) },  { .has_rank = true, .rank = 1, AT(1) },
	{ .has_rank = true, .rank = 2, AT(2) },  { .has_rank = true, .rank = 3, AT(2) },
	{ .has_rank = false, .rank = 9, AT(5) }, { .place_count = 0 },
};

/* Whose data connection number n carries, out of the order of their numbers. */
static const struct ft_nccl_connection connections[MOST] = {
	{ .connection = 14, .sender = { AT(5) } },
	{ .connection = 11, .sender = { .has_rank = true, .rank = 1, AT(1) } },
	{ .connection = 10, .sender = { .has_rank = true, .rank = 0, AT(1) } },
	{ .connection = 13, .sender = { .has_rank = true, .rank = 3, AT(2) } },
	{ .connection = 12, .sender = { .has_rank = true, .rank = 2, AT(2) } },
	{ .connection = 15, .sender = { .place_count = 0 } },
};

static void assert_shape(const struct ft_nccl_communicator *row,
			 const struct ft_nccl_collective *operations, size_t count,
			 const char *expected)
{
	static const struct ft_render_options look = { .colour = false };
	const struct ft_nccl_connection *rows[MOST];
	const struct ft_nccl_report report = { .connections = rows,
					       .connection_count = MOST,
					       .collectives = operations,
					       .collective_count = count };
	struct written written;
	struct ft_page page;

	for (size_t i = 0; i < MOST; i++)
		rows[i] = &connections[i];
	written_open(&written);
	ft_page_open(&page, written.out, &look);
	ft_nccl_shape_text(&page, &report, row);
	assert_int_equal(ft_page_close(&page), 0);
	assert_string_equal(written_close(&written), expected);
	written_free(&written);
}

static struct ft_nccl_communicator communicator(void)
{
	return (struct ft_nccl_communicator){
		.communicator = COMMUNICATOR,
		.members = members,
		.member_count = MOST,
		.connection_count = MOST,
	};
}

/* From the first one round to it again; by rank, else by address, else by nothing. */
static void a_ring_names_its_members_in_order(void **state)
{
	static const uint32_t ring[MOST] = { 0, 2, 4, 1, 5, 3 };
	struct ft_nccl_communicator row = communicator();

	(void)state;
	row.ring = ring;
	assert_shape(&row, NULL, 0, "          ring 0 > 2 > 10.0.0.5 > 1 > ? > 3 > 0\n");
}

static void a_ring_goes_before_rings_of_hosts(void **state)
{
	static const uint32_t ring[2] = { 1, 0 }, ids[2] = { 10, 12 };
	const struct ft_nccl_channel channel = { .connections = ids,
						 .connection_count = 2,
						 .ring_count = 2 };
	struct ft_nccl_communicator row = communicator();

	(void)state;
	row.member_count = 2;
	row.ring = ring;
	row.channels = &channel;
	row.channel_count = 1;
	assert_shape(&row, NULL, 0, "          ring 1 > 0 > 1\n");
}

/* Those who send to the next host, of each channel; alike ones in a row are told once. */
static void rings_of_hosts_are_told_with_their_channels(void **state)
{
	static const uint32_t one[2] = { 10, 12 }, other[2] = { 11, 13 }, bare[2] = { 14, 15 };
	static const struct {
		const char *what;
		const uint32_t *channels[4];
		size_t lengths[4], count;
		const char *expected;
	} rows[] = {
		{ "one channel",
		  { one },
		  { 2 },
		  1,
		  "          ring of hosts 0 > 2 > 0, on 1 channel\n" },
		{ "two alike",
		  { one, one },
		  { 2, 2 },
		  2,
		  "          ring of hosts 0 > 2 > 0, on 2 channels\n" },
		{ "two that differ",
		  { one, other },
		  { 2, 2 },
		  2,
		  "          ring of hosts 0 > 2 > 0, on 1 channel\n"
		  "          ring of hosts 1 > 3 > 1, on 1 channel\n" },
		{ "two alike, one that differs, and again the first",
		  { one, one, other, one },
		  { 2, 2, 2, 2 },
		  4,
		  "          ring of hosts 0 > 2 > 0, on 2 channels\n"
		  "          ring of hosts 1 > 3 > 1, on 1 channel\n"
		  "          ring of hosts 0 > 2 > 0, on 1 channel\n" },
		{ "one of which it is not known between two",
		  { one, other, one },
		  { 2, 0, 2 },
		  3,
		  "          ring of hosts 0 > 2 > 0, on 2 channels\n" },
		{ "senders without a rank, or without a name",
		  { bare },
		  { 2 },
		  1,
		  "          ring of hosts 10.0.0.5 > ? > 10.0.0.5, on 1 channel\n" },
		{ "of the first one it is not known",
		  { other, one },
		  { 0, 2 },
		  2,
		  "          ring of hosts 0 > 2 > 0, on 1 channel\n" },
		{ "it is known of none", { other, one }, { 0, 0 }, 2, "" },
		{ "a tree's connections are left out",
		  { one },
		  { 1 },
		  1,
		  "          ring of hosts 0 > 0, on 1 channel\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_communicator row = communicator();
		struct ft_nccl_channel channels[4];

		for (size_t k = 0; k < rows[i].count; k++)
			channels[k] = (struct ft_nccl_channel){
				.connections = rows[i].channels[k],
				.connection_count = 2,
				.ring_count = rows[i].lengths[k],
			};
		row.channels = channels;
		row.channel_count = rows[i].count;
		print_message("%s\n", rows[i].what);
		assert_shape(&row, NULL, 0, rows[i].expected);
	}
}

static void trees_are_told_from_the_root_on(void **state)
{
	static const struct ft_nccl_tree_edge edges[2] = { { .parent = 0, .child = 2 },
							   { .parent = 2, .child = 4 } };
	static const struct ft_nccl_tree trees[] = {
		{ .number = 0, .root = 0, .edges = edges, .edge_count = 2 },
		{ .number = 1, .root = 3, .edges = edges + 1, .edge_count = 1 },
		{ .number = FT_NCCL_NONE, .root = 5, .edges = NULL, .edge_count = 0 },
	};
	struct ft_nccl_communicator row = communicator();

	(void)state;
	row.trees = trees;
	row.tree_count = 3;
	assert_shape(&row, NULL, 0,
		     "          tree 0 up to 0: 2 > 0, 10.0.0.5 > 2\n"
		     "          tree 1 up to 3: 10.0.0.5 > 2\n"
		     "          tree up to ?\n");
}

static void distances_of_pat_are_told(void **state)
{
	static const struct ft_nccl_distance distances[] = { { .ranks = 1 },
							     { .ranks = 2 },
							     { .ranks = 1024 } };
	struct ft_nccl_communicator row = communicator();

	(void)state;
	row.distances = distances;
	row.distance_count = 3;
	assert_shape(
		&row, NULL, 0,
		"          PAT's connections, from each to those 1, 2, 1024 ranks further on\n");
	row.distance_count = 1;
	assert_shape(&row, NULL, 0,
		     "          PAT's connections, from each to those 1 ranks further on\n");
}

/* Where there is no shape, and all that has a name there is sends and receives. */
static void sends_and_receives_are_told_where_nothing_else_is_named(void **state)
{
	enum { OTHER = COMMUNICATOR + 1 };
	static const struct {
		const char *what;
		struct ft_nccl_collective operations[3];
		bool told;
	} rows[] = {
		{ "all of them",
		  { { .communicator = COMMUNICATOR, .collective = "SendRecv" },
		    { .communicator = COMMUNICATOR, .collective = "SendRecv" } },
		  true },
		{ "and some without a name",
		  { { .communicator = COMMUNICATOR, .collective = NULL },
		    { .communicator = COMMUNICATOR, .collective = "SendRecv" } },
		  true },
		{ "none has a name",
		  { { .communicator = COMMUNICATOR, .collective = NULL } },
		  false },
		{ "a collective behind them",
		  { { .communicator = COMMUNICATOR, .collective = "SendRecv" },
		    { .communicator = COMMUNICATOR, .collective = "AllReduce" } },
		  false },
		{ "a collective before them",
		  { { .communicator = COMMUNICATOR, .collective = "AllReduce" },
		    { .communicator = COMMUNICATOR, .collective = "SendRecv" } },
		  false },
		{ "a collective of another communicator",
		  { { .communicator = OTHER, .collective = "AllReduce" },
		    { .communicator = COMMUNICATOR, .collective = "SendRecv" } },
		  true },
		{ "sends of another communicator",
		  { { .communicator = OTHER, .collective = "SendRecv" } },
		  false },
		{ "nothing", { { .communicator = OTHER, .collective = NULL } }, false },
	};
	static const struct ft_nccl_distance distance = { .ranks = 1 };
	static const struct ft_nccl_channel channel = { .channel = 0 }; /* its ring is not known */
	struct ft_nccl_communicator row = communicator();

	(void)state;
	row.channels = &channel;
	row.channel_count = 1;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		print_message("%s\n", rows[i].what);
		assert_shape(&row, rows[i].operations, 3,
			     rows[i].told ? "          sends and receives\n" : "");
	}
	row.distances = &distance;
	row.distance_count = 1;
	assert_shape(&row, rows[0].operations, 3,
		     "          PAT's connections, from each to those 1 ranks further on\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_names_its_members_in_order),
		cmocka_unit_test(a_ring_goes_before_rings_of_hosts),
		cmocka_unit_test(rings_of_hosts_are_told_with_their_channels),
		cmocka_unit_test(trees_are_told_from_the_root_on),
		cmocka_unit_test(distances_of_pat_are_told),
		cmocka_unit_test(sends_and_receives_are_told_where_nothing_else_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
