#include "truth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "groups.h"

/* Groups of what the truth files of the reference captures say was sent. */

static int64_t rank_of(const json_t *connection, const char *side)
{
	return json_integer_value(json_object_get(connection, side));
}

/* A rank is told by tags alone: right, or not known. */
static void check_ranks(const struct truth *truth, const char *name)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(truth->json, "connections"), i, row)
	{
		const struct ft_nccl_connection *found = &truth->rows[i];

		if ((found->sender.has_rank && found->sender.rank != rank_of(row, "sender_rank")) ||
		    (found->receiver.has_rank &&
		     found->receiver.rank != rank_of(row, "receiver_rank")))
			fail_msg("%s: connection %zu", name, i);
	}
}

static void check_ring(const struct truth *truth, const struct ft_nccl_groups *groups, size_t ranks)
{
	const struct ft_nccl_communicator *row = &groups->communicators[0];

	assert_int_equal(groups->communicator_count, 1);
	assert_int_equal(row->member_count, ranks);
	assert_non_null(row->ring);
	for (size_t i = 0; i < ranks; i++) {
		assert_true(row->members[i].has_rank);
		assert_int_equal(row->members[i].rank, i);
		assert_int_equal(row->members[i].place_count, 1);
		assert_int_equal(row->ring[i], i);
	}
	for (size_t i = 0; i < truth->connection_count; i++) {
		assert_true(truth->rows[i].sender.has_rank && truth->rows[i].receiver.has_rank);
		assert_int_equal(truth->rows[i].channel, 0);
	}
	assert_int_equal(row->channel_count, 1);
	assert_int_equal(row->channels[0].connection_count, ranks);
}

/* Bytes of the all-reduces, in order. */
static size_t iterations(const struct truth *truth, uint64_t *bytes, size_t room)
{
	json_t *row;
	size_t i, count = 0;

	json_array_foreach(json_object_get(truth->json, "iterations"), i, row)
	{
		const char *what = json_string_value(json_object_get(row, "what"));
		size_t at = (size_t)json_integer_value(json_object_get(row, "iter"));

		if (what == NULL || strcmp(what, "allreduce_start") != 0)
			continue;
		assert_true(at < room);
		bytes[at] = (uint64_t)json_integer_value(json_object_get(row, "bytes"));
		if (at >= count)
			count = at + 1;
	}
	return count;
}

/* Chunks that are all full are those of an all-reduce or of twice as many loops of an all-gather. */
static void check_ambiguous(const struct ft_nccl_collective *row)
{
	assert_null(row->collective);
	assert_true(row->algorithm == NULL || strcmp(row->algorithm, "RING") == 0);
	assert_int_equal(row->message_bytes_most, 0);
}

static void check_operations(const struct truth *truth, const struct ft_nccl_groups *groups,
			     size_t ambiguous)
{
	uint64_t bytes[64];
	const size_t count = iterations(truth, bytes, 64);

	assert_int_equal(groups->collective_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct ft_nccl_collective *row = &groups->collectives[i];

		assert_int_equal(row->sequence, i);
		assert_int_equal(row->channels, 1);
		assert_true(row->complete);
		if (i == ambiguous) {
			check_ambiguous(row);
			continue;
		}
		assert_non_null(row->collective);
		assert_string_equal(row->collective, "AllReduce");
		if (row->protocol == FT_NCCL_SIMPLE)
			assert_int_equal(row->message_bytes, bytes[i]);
		if (bytes[i] < row->message_bytes_least || bytes[i] > row->message_bytes_most)
			fail_msg("operation %zu: %lu to %lu, not %lu", i,
				 (unsigned long)row->message_bytes_least,
				 (unsigned long)row->message_bytes_most, (unsigned long)bytes[i]);
	}
}

static void rings_have_ranks_a_channel_and_their_all_reduces(void **state)
{
	static const struct {
		const char *name;
		size_t ranks, ambiguous;
	} rings[] = {
		{ "ring4-2.27.7", 4, SIZE_MAX },       { "ring2small-2.21.5", 2, SIZE_MAX },
		{ "ring2-ll-2.19.3", 2, 3 }, /* 65536 bytes */
		{ "ring2-ll128-2.27.7", 2, SIZE_MAX }, { "loss-ring2-2.21.5", 2, SIZE_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
		struct ft_nccl_groups groups;
		struct truth truth;

		if (!truth_read(rings[i].name, &truth))
			continue;
		print_message("%s\n", rings[i].name);
		assert_int_equal(ft_nccl_groups_make(&groups, truth.connections,
						     truth.connection_count, truth.messages,
						     truth.message_count),
				 0);
		check_ranks(&truth, rings[i].name);
		check_ring(&truth, &groups, rings[i].ranks);
		check_operations(&truth, &groups, rings[i].ambiguous);
		ft_nccl_groups_free(&groups);
		truth_free(&truth);
	}
}

/* 71 all-reduces of 1024 bytes, nothing between them; of the first the beginning is missing: there may have been more of it. */
static void a_capture_from_the_middle(void **state)
{
	struct ft_nccl_groups groups;
	struct truth truth;

	(void)state;
	if (!truth_read("midstart-2.19.3", &truth))
		return;
	assert_int_equal(ft_nccl_groups_make(&groups, truth.connections, truth.connection_count,
					     truth.messages, truth.message_count),
			 0);
	check_ranks(&truth, "midstart");
	check_ring(&truth, &groups, 2);
	assert_int_equal(groups.collective_count, 71);
	for (size_t i = 0; i < groups.collective_count; i++) {
		const struct ft_nccl_collective *row = &groups.collectives[i];

		assert_non_null(row->collective);
		assert_string_equal(row->collective, "AllReduce");
		assert_int_equal(row->protocol, FT_NCCL_LL);
		if (i == 0)
			assert_int_equal(row->message_bytes_most, 0);
		else
			assert_in_range(1024, row->message_bytes_least, row->message_bytes_most);
	}
	ft_nccl_groups_free(&groups);
	truth_free(&truth);
}

/* One call at a time was sent: an operation each. */
static void check_sends(const struct truth *truth, const struct ft_nccl_groups *groups)
{
	assert_int_equal(groups->collective_count, truth->message_count);
	for (size_t i = 0; i < truth->message_count; i++) {
		const struct ft_nccl_collective *row = &groups->collectives[i];

		assert_int_equal(row->first_frame, truth->messages[i].first_frame);
		assert_int_equal(row->last_frame, truth->messages[i].last_frame);
		assert_true(row->collective == NULL || strcmp(row->collective, "SendRecv") == 0);
		assert_int_equal(row->message_bytes, 0);
	}
}

static void connections_of_one_direction_are_no_ring(void **state)
{
	static const char *const names[] = { "ar-2.30.7",         "dual-2.27.7",
					     "multirecv-2.12.12", "multirecv-2.19.3",
					     "multirecv-2.30.7",  "multirecv-q2-2.21.5",
					     "qps2split0-2.19.3", "qps2split1-2.27.7",
					     "single-2.10.3",     "single-2.30.7" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct ft_nccl_groups groups;
		struct truth truth;

		if (!truth_read(names[i], &truth))
			continue;
		print_message("%s\n", names[i]);
		assert_int_equal(ft_nccl_groups_make(&groups, truth.connections,
						     truth.connection_count, truth.messages,
						     truth.message_count),
				 0);
		check_ranks(&truth, names[i]);
		assert_int_equal(groups.communicator_count, 1);
		assert_int_equal(groups.communicators[0].member_count, 2);
		assert_null(groups.communicators[0].ring);
		assert_int_equal(groups.communicators[0].channel_count, 1);
		assert_int_equal(groups.communicators[0].channels[0].channel, FT_NCCL_NONE);
		assert_int_equal(groups.communicators[0].members[0].place_count,
				 strncmp(names[i], "dual", 4) == 0 ? 2 : 1);
		check_sends(&truth, &groups);
		ft_nccl_groups_free(&groups);
		truth_free(&truth);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_have_ranks_a_channel_and_their_all_reduces),
		cmocka_unit_test(a_capture_from_the_middle),
		cmocka_unit_test(connections_of_one_direction_are_no_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
