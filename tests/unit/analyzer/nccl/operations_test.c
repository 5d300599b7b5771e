#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "groups_fixture.h"

/* Which operations messages make up, and how large they were. */

static void is_named(const struct ft_nccl_collective *row, const char *collective,
		     const char *algorithm)
{
	if (collective == NULL)
		assert_null(row->collective);
	else
		assert_string_equal(row->collective != NULL ? row->collective : "none", collective);
	if (algorithm == NULL)
		assert_null(row->algorithm);
	else
		assert_string_equal(row->algorithm != NULL ? row->algorithm : "none", algorithm);
}

static void is_sized(const struct ft_nccl_collective *row, uint64_t bytes)
{
	assert_int_equal(row->message_bytes, bytes);
	assert_int_equal(row->message_bytes_least, bytes);
	assert_int_equal(row->message_bytes_most, bytes);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Three members, 196608 bytes: four chunks of 64 KiB, each in two slices. */
static void an_all_reduce_has_two_chunks_for_each_other_member(void **state)
{
	static const uint64_t slices[] = { 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768 };

	(void)state;
	play_ring(&play, 3);
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct ft_nccl_collective *row = &groups.collectives[i];

		is_named(row, "AllReduce", "RING");
		is_sized(row, 196608);
		assert_int_equal(row->sequence, i);
		assert_int_equal(row->protocol, FT_NCCL_SIMPLE);
		assert_int_equal(row->messages, 24);
		assert_int_equal(row->wire_bytes, 24 * 32768);
		assert_int_equal(row->channels, 1);
		assert_true(row->complete);
	}
	assert_int_equal(groups.collectives[0].first_frame, 25);
	assert_int_equal(groups.collectives[0].last_frame, 72);
	assert_int_equal(groups.collectives[0].first_ts_ns, 25000);
	assert_int_equal(groups.collectives[0].last_ts_ns, 72000);
}

/* All ask for the second half as soon as the last packet of the first one is there, which was missed or not: it may have come later. */
static void an_end_that_was_missed_shows_no_border(void **state)
{
	(void)state;
	for (size_t is_missed = 0; is_missed < 2; is_missed++) {
		play_begin(&play);
		play_ring(&play, 3);
		for (uint32_t half = 0; half < 2; half++) {
			const uint32_t begin = play.message_count;

			for (uint32_t i = 0; i < 12; i++)
				play_ask(&play, i / 4, (int32_t)(i / 4));
			for (uint32_t j = 0; j < 4; j++)
				for (uint32_t i = 0; i < 3; i++)
					play_answer(&play, &play.messages[begin + 4 * i + j],
						    32768);
			for (uint32_t i = 0; is_missed && half == 0 && i < 3; i++)
				play.messages[begin + 4 * i + 3].completed = false;
		}
		play_groups(&play, &groups);
		assert_int_equal(groups.collective_count, is_missed ? 1 : 2);
		is_named(&groups.collectives[0], NULL, is_missed ? NULL : "RING");
		ft_nccl_groups_free(&groups);
	}
}

/* Of eight messages that were asked for half passed before the capture ended: they could be an all-gather's. */
static void what_the_capture_ends_in_has_no_name(void **state)
{
	struct ft_nccl_message *asked[3][8];

	(void)state;
	play_ring(&play, 3);
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < 8; j++)
			asked[i][j] = play_ask(&play, i, (int32_t)i);
	for (uint32_t j = 0; j < 4; j++)
		for (uint32_t i = 0; i < 3; i++)
			play_answer(&play, asked[i][j], 32768);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 1);
	is_named(&groups.collectives[0], NULL, NULL);
	assert_false(groups.collectives[0].complete);
	assert_int_equal(groups.collectives[0].message_bytes_most, 0);
}

/* Half as many: each member's part goes round once. Which of the two it is volumes do not tell. */
static void all_gather_and_reduce_scatter_look_alike(void **state)
{
	static const uint64_t slices[] = { 32768, 8192, 32768, 8192 };

	(void)state;
	play_ring(&play, 3);
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 1);
	is_named(&groups.collectives[0], NULL, "RING");
	is_sized(&groups.collectives[0], 40960); /* given by each member */
}

/* 3 x 2 MiB and 3 x 64 KiB: the second loop tells how many chunks a loop has. */
static void the_last_loop_tells_what_full_ones_do_not(void **state)
{
	uint64_t slices[16], full = 1048576, rest = 32768;

	(void)state;
	for (size_t i = 0; i < COUNT(slices); i++)
		slices[i] = i < 8 ? full : rest;
	play_ring(&play, 3);
	play_step(&play, 0, 3, slices, 16);
	play_step(&play, 0, 3, slices, 8);
	play_step(&play, 0, 3, slices, 12);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 3);
	is_named(&groups.collectives[0], "AllReduce", "RING");
	is_sized(&groups.collectives[0], 3 * (2097152 + 65536));
	/* all full: an all-reduce, or an all-gather of two loops */
	is_named(&groups.collectives[1], NULL, "RING");
	assert_int_equal(groups.collectives[1].message_bytes_most, 0);
	/* two full loops of an all-gather and half of one */
	is_named(&groups.collectives[2], NULL, "RING");
	is_sized(&groups.collectives[2], 2 * 2097152 + 65536);
}

static void lines_leave_bounds(void **state)
{
	static const uint64_t ll[] = { 1024, 1024, 1024, 1024 };
	static const uint64_t ll128[] = { 4096, 4096, 4096, 4096 };

	(void)state;
	play_ring(&play, 3);
	play.protocol = FT_NCCL_LL;
	play.offered = 65536;
	play_step(&play, 0, 3, ll, COUNT(ll));
	play.protocol = FT_NCCL_LL128;
	play.offered = 614400;
	play_step(&play, 0, 3, ll128, COUNT(ll128));
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 2);
	is_named(&groups.collectives[0], "AllReduce", "RING");
	assert_int_equal(groups.collectives[0].message_bytes, 0);
	/* three chunks of 505 to 512 bytes */
	assert_int_equal(groups.collectives[0].message_bytes_least, 3 * 505);
	assert_int_equal(groups.collectives[0].message_bytes_most, 3 * 512);
	/* of 1921 to 3840 */
	assert_int_equal(groups.collectives[1].message_bytes_least, 3 * 1921);
	assert_int_equal(groups.collectives[1].message_bytes_most, 3 * 3840);
}

/* Steps of other sizes than NCCL's: what follows what tells. */
static void other_chunks_are_told_by_who_waits_for_whom(void **state)
{
	static const uint64_t slices[] = { 12288, 12288, 12288, 12288 };

	(void)state;
	play_ring(&play, 3);
	play.offered = 12288;
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 1);
	is_named(&groups.collectives[0], "AllReduce", "RING");
	is_sized(&groups.collectives[0], 36864);
}

static void what_does_not_wait_is_no_all_reduce(void **state)
{
	static const uint64_t slices[] = { 12288, 12288, 12288, 12288 };
	uint32_t asked;

	(void)state;
	play_ring(&play, 3);
	play.offered = 12288;
	for (uint32_t i = 0; i < 3; i++)
		for (size_t j = 0; j < COUNT(slices); j++)
			play_ask(&play, i, (int32_t)i);
	asked = play.message_count;
	for (uint32_t i = 0; i < asked; i++) /* one member after the other */
		play_answer(&play, &play.messages[i], slices[0]);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 1);
	is_named(&groups.collectives[0], NULL, NULL);
	assert_int_equal(groups.collectives[0].message_bytes_most, 0);
}

/* From host 2 on; host 1, before the root or the root itself, sends nothing. */
static void broadcast_and_reduce_leave_one_out(void **state)
{
	static const uint64_t slices[] = { 32768, 32768, 32768, 32768, 32768, 32768,
					   32768, 32768, 32768, 32768, 32768, 32768 };
	struct ft_nccl_message *asked[3][2];

	(void)state;
	play_ring(&play, 4);
	play.offered = 524288;
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < 2; j++)
			asked[i][j] = play_ask(&play, i + 1, (int32_t)i + 1);
	for (uint32_t j = 0; j < 2; j++)
		for (uint32_t i = 0; i < 3; i++)
			play_answer(&play, asked[i][j], j == 0 ? 524288 : 1000);
	play.offered = 1048576;
	play_step(&play, 0, 4, slices, COUNT(slices));
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 2);
	is_named(&groups.collectives[0], NULL, "RING");
	is_sized(&groups.collectives[0], 525288);
	assert_int_equal(groups.collectives[0].messages, 6);
	is_named(&groups.collectives[1], "AllReduce", "RING");
	is_sized(&groups.collectives[1], 4 * 65536);
}

/* One of the two sends steps, and nobody answers them with as many: the other's next messages are of a ring. */
static void between_two_a_broadcast_is_what_nobody_answers(void **state)
{
	static const uint64_t slices[] = { 32768, 0, 32768, 0 };
	struct ft_nccl_message *asked[2];

	(void)state;
	play_ring(&play, 2);
	play.offered = 524288;
	for (uint32_t i = 0; i < 2; i++)
		asked[i] = play_ask(&play, 1, 1);
	play_answer(&play, asked[0], 524288);
	play_answer(&play, asked[1], 1000);
	play.offered = 1048576;
	for (unsigned i = 0; i < 3; i++)
		play_step(&play, 0, 2, slices, COUNT(slices));
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 4);
	is_named(&groups.collectives[0], NULL, "RING");
	is_sized(&groups.collectives[0], 525288);
	assert_int_equal(groups.collectives[0].messages, 2);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(groups.collectives[i].messages, 8);
}

/* Steps that are answered by as many may be a tree's. */
static void between_two_what_is_answered_is_no_broadcast(void **state)
{
	(void)state;
	play_ring(&play, 2);
	play.offered = 524288;
	play_send(&play, 1, 1, 1000);
	play_send(&play, 0, 0, 1000);
	play_send(&play, 1, 1, 500);
	play_send(&play, 0, 0, 500);
	play_groups(&play, &groups);
	for (size_t i = 0; i < groups.collective_count; i++)
		assert_true(groups.collectives[i].messages > 1);
}

static void channels_share_an_operation(void **state)
{
	static const uint64_t slices[] = { 32768, 0, 32768, 0, 32768, 0, 32768, 0 };
	uint32_t first;

	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	/* both channels at the same time: the frames of the second begin within the first */
	play_step(&play, 0, 3, slices, COUNT(slices));
	first = play.message_count;
	play.frame = 40;
	play_step(&play, 3, 3, slices, COUNT(slices));
	play.frame = 200;
	play_step(&play, 0, 3, slices, COUNT(slices));
	assert_int_equal(first, 24);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 2);
	is_named(&groups.collectives[0], "AllReduce", "RING");
	is_sized(&groups.collectives[0], 2 * 3 * 32768);
	assert_int_equal(groups.collectives[0].channels, 2);
	assert_int_equal(groups.collectives[0].messages, 48);
	is_sized(&groups.collectives[1], 3 * 32768);
	assert_int_equal(groups.collectives[1].channels, 1);
}

static void lose(struct ft_nccl_message *message)
{
	message->first_frame = message->last_frame = 0;
	message->completed = false;
}

/* Of the second channel so much is missing that nobody knows what it was. */
static void an_operation_that_lacks_a_channel_has_no_size(void **state)
{
	static const uint64_t slices[] = { 32768, 0, 32768, 0, 32768, 0, 32768, 0 };
	struct ft_nccl_message *lost;

	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	play_step(&play, 0, 3, slices, COUNT(slices));
	lost = &play.messages[play.message_count + 2];
	play.frame = 40;
	play_step(&play, 3, 3, slices, COUNT(slices));
	for (size_t i = 0; i < 4; i++)
		lose(&lost[i]);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const bool is_whole = groups.collectives[i].messages == 24;

		is_named(&groups.collectives[i], is_whole ? "AllReduce" : NULL,
			 is_whole ? "RING" : NULL);
		is_sized(&groups.collectives[i], 0);
	}
	assert_int_equal(groups.collectives[0].messages + groups.collectives[1].messages, 44);
}

/* All operations use the first channel; this part may be of the one before or behind it. */
static void a_part_between_two_that_may_have_it_leaves_no_size(void **state)
{
	static const uint64_t slices[] = { 32768, 0, 32768, 0, 32768, 0, 32768, 0 };

	(void)state;
	play_ring(&play, 3);
	play_ring(&play, 3);
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_step(&play, 3, 3, slices, COUNT(slices));
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 3);
	for (size_t i = 0; i < 3; i++) {
		is_named(&groups.collectives[i], "AllReduce", "RING");
		is_sized(&groups.collectives[i], 0);
		assert_int_equal(groups.collectives[i].channels, 1);
	}
}

/* All members send all chunks, and the first N of a loop are each once: whoever was seen whole tells the size. */
static void what_was_lost_of_one_member_others_tell(void **state)
{
	static const uint64_t slices[] = { 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768 };

	(void)state;
	play_ring(&play, 3);
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_step(&play, 0, 3, slices, COUNT(slices));
	/* the third of the first member in the second operation */
	memmove(&play.messages[26], &play.messages[27],
		(play.message_count - 27) * sizeof *play.messages);
	play.message_count--;
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 3);
	is_sized(&groups.collectives[0], 196608);
	is_named(&groups.collectives[1], "AllReduce", "RING");
	is_sized(&groups.collectives[1], 196608);
	assert_int_equal(groups.collectives[1].messages, 23);
	assert_false(groups.collectives[1].complete);
	is_sized(&groups.collectives[2], 196608);
}

static void what_was_lost_of_all_members_takes_the_size_along(void **state)
{
	static const uint64_t slices[] = { 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768 };

	(void)state;
	play_ring(&play, 3);
	play_step(&play, 0, 3, slices, COUNT(slices));
	for (size_t i = 0; i < 3; i++)
		lose(&play.messages[8 * i + 2 + i]);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 1);
	is_named(&groups.collectives[0], "AllReduce", "RING");
	is_sized(&groups.collectives[0], 0);
	assert_int_equal(groups.collectives[0].messages, 21);
	assert_int_equal(groups.collectives[0].ranks, 3);
}

/* Two all-gathers of two members, of the first of which a message is missing: of an all-reduce both would send on what came. */
static void what_is_sent_on_is_as_long_as_what_came(void **state)
{
	static const uint64_t first[] = { 35328, 35220 }, second[] = { 77760, 77672 };

	(void)state;
	play_ring(&play, 2);
	play_step(&play, 0, 2, first, COUNT(first));
	play_step(&play, 0, 2, second, COUNT(second));
	lose(&play.messages[2]);
	play_groups(&play, &groups);
	for (size_t i = 0; i < groups.collective_count; i++)
		assert_null(groups.collectives[i].collective);
}

static void an_immediate_stands_for_a_packet_that_is_missing(void **state)
{
	static const uint64_t slices[] = { 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768 };

	(void)state;
	play_ring(&play, 3);
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_step(&play, 0, 3, slices, COUNT(slices));
	play.messages[5].completed = play.messages[30].completed = false;
	play.messages[5].has_imm = play.messages[30].has_imm = true;
	memcpy(play.messages[5].imm, (const uint8_t[]){ 0, 0, 0x80, 0 }, 4);  /* 32768 */
	memcpy(play.messages[30].imm, (const uint8_t[]){ 0, 0, 0x90, 0 }, 4); /* more than that */
	for (size_t i = 0; i < 3; i++) {
		play.rows[i].imm_content = FT_NCCL_IMM_LENGTH;
		play.rows[i].imm_order = FT_NCCL_ORDER_BIG;
	}
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 2);
	is_named(&groups.collectives[0], "AllReduce", "RING");
	is_sized(&groups.collectives[0], 196608);
	assert_false(groups.collectives[0].complete);
	is_named(&groups.collectives[1], "AllReduce", "RING");
	assert_int_equal(groups.collectives[1].message_bytes_most, 0);
}

static void a_capture_can_begin_and_end_inside(void **state)
{
	static const uint64_t slices[] = { 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768 };

	(void)state;
	play_ring(&play, 3);
	play.k[0] = 1003; /* one member is a message ahead */
	play.k[1] = play.k[2] = 1002;
	play_send(&play, 1, 1, 500);
	play_send(&play, 2, 2, 500);
	play_step(&play, 0, 3, slices, COUNT(slices));
	play_send(&play, 0, 0, 4711);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 3);
	is_named(&groups.collectives[0], NULL, NULL);
	assert_int_equal(groups.collectives[0].wire_bytes, 1000);
	assert_false(groups.collectives[0].complete);
	is_named(&groups.collectives[1], "AllReduce", "RING");
	is_sized(&groups.collectives[1], 196608);
	assert_int_equal(groups.collectives[2].wire_bytes, 4711);
	assert_false(groups.collectives[2].complete);
}

static void sends_are_cut_in_their_own_way(void **state)
{
	struct ft_nccl_message *asked[3];

	(void)state;
	play_connect(&play, 1, 2);
	play.offered = 131072;
	for (size_t i = 0; i < 3; i++)
		asked[i] = play_ask(&play, 0, 0);
	for (size_t i = 0; i < 3; i++)
		play_answer(&play, asked[i], i < 2 ? 131072 : 500);
	play.offered = 1048576;
	play_send(&play, 0, 0, 500);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 2);
	is_named(&groups.collectives[0], "SendRecv", NULL);
	assert_int_equal(groups.collectives[0].wire_bytes, 262644);
	assert_int_equal(groups.collectives[0].message_bytes_most, 0);
	assert_int_equal(groups.collectives[0].channels, 0);
	is_named(&groups.collectives[1], NULL, NULL);
}

/* Less than a chunk is cut, too, and all of it is offered each time; lines have room for all of theirs in one message. */
static void short_sends_have_room_for_all(void **state)
{
	struct ft_nccl_message *asked[3];

	(void)state;
	play_connect(&play, 1, 2);
	play.offered = 98304;
	for (size_t i = 0; i < 3; i++)
		asked[i] = play_ask(&play, 0, 0);
	for (size_t i = 0; i < 3; i++)
		play_answer(&play, asked[i], 32768);
	play.protocol = FT_NCCL_LL;
	play.offered = 4096;
	play_send(&play, 0, 0, 4096);
	play_send(&play, 0, 0, 4080);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 3);
	is_named(&groups.collectives[0], "SendRecv", NULL);
	assert_int_equal(groups.collectives[0].wire_bytes, 98304);
	is_named(&groups.collectives[1], "SendRecv", NULL);
	is_named(&groups.collectives[2], NULL, NULL);
}

/* Two that send each other pieces at the same time look like a ring of two. */
static void an_exchange_of_two_is_no_all_reduce(void **state)
{
	static const uint64_t pieces[] = { 131072, 131072, 131072, 131072 };

	(void)state;
	play_ring(&play, 2);
	play.offered = 131072;
	play_step(&play, 0, 2, pieces, COUNT(pieces));
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 1);
	is_named(&groups.collectives[0], "SendRecv", NULL);
}

/* One member after the other: what looks like sends is one of the channel's operations, or parts of two, as a loss leaves them. */
static void sends_have_connections_that_no_collective_uses(void **state)
{
	static const uint64_t slices[] = { 32768, 32768, 32768, 32768 };

	(void)state;
	for (size_t with_collective = 0; with_collective < 2; with_collective++) {
		uint32_t asked;

		play_begin(&play);
		play_ring(&play, 3);
		play.offered = 32768;
		if (with_collective)
			play_step(&play, 0, 3, slices, COUNT(slices));
		asked = play.message_count;
		for (uint32_t i = 0; i < 3; i++)
			for (size_t j = 0; j < COUNT(slices); j++)
				play_ask(&play, i, (int32_t)i);
		for (uint32_t i = asked; i < asked + 12; i++)
			play_answer(&play, &play.messages[i], slices[0]);
		play_groups(&play, &groups);
		assert_int_equal(groups.collective_count, with_collective ? 2 : 1);
		if (with_collective) {
			is_named(&groups.collectives[0], "AllReduce", "RING");
			is_sized(&groups.collectives[0], 98304);
		}
		is_named(&groups.collectives[with_collective], with_collective ? NULL : "SendRecv",
			 NULL);
		ft_nccl_groups_free(&groups);
	}
}

static void of_two_members_the_way_down_follows_the_way_up_in_a_tree(void **state)
{
	struct ft_nccl_message *up[2], *down[2];

	(void)state;
	play_ring(&play, 2);
	play.protocol = FT_NCCL_LL;
	play.offered = 65536;
	for (size_t i = 0; i < 2; i++)
		up[i] = play_ask(&play, 0, 0);
	for (size_t i = 0; i < 2; i++)
		down[i] = play_ask(&play, 1, 1);
	for (size_t i = 0; i < 2; i++) {
		play_answer(&play, up[i], 1024);
		play_answer(&play, down[i], 1024);
	}
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 1);
	assert_null(groups.collectives[0].algorithm);
}

static void without_clear_to_sends_nothing_shows_where_operations_end(void **state)
{
	static const uint64_t slices[] = { 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768 };

	(void)state;
	play_ring(&play, 3);
	play_step(&play, 0, 3, slices, COUNT(slices));
	for (uint32_t i = 0; i < play.message_count; i++)
		play.messages[i].cts_frame = 0;
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 0);
}

static void clear_to_sends_alone_are_no_operation(void **state)
{
	(void)state;
	play_connect(&play, 1, 2);
	play_ask(&play, 0, 0);
	play_ask(&play, 0, 0);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 0);
}

/* The number of a forged clear-to-send may be anything. */
static void numbers_far_apart_take_no_memory(void **state)
{
	(void)state;
	play_connect(&play, 1, 2);
	play.offered = 4096;
	play_send(&play, 0, 0, 4096);
	play.k[0] = UINT64_MAX;
	play_send(&play, 0, 0, 4096);
	play_groups(&play, &groups);
	assert_int_equal(groups.collective_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_all_reduce_has_two_chunks_for_each_other_member),
		cmocka_unit_test(what_the_capture_ends_in_has_no_name),
		cmocka_unit_test(an_end_that_was_missed_shows_no_border),
		cmocka_unit_test(all_gather_and_reduce_scatter_look_alike),
		cmocka_unit_test(the_last_loop_tells_what_full_ones_do_not),
		cmocka_unit_test(lines_leave_bounds),
		cmocka_unit_test(other_chunks_are_told_by_who_waits_for_whom),
		cmocka_unit_test(what_does_not_wait_is_no_all_reduce),
		cmocka_unit_test(broadcast_and_reduce_leave_one_out),
		cmocka_unit_test(between_two_a_broadcast_is_what_nobody_answers),
		cmocka_unit_test(between_two_what_is_answered_is_no_broadcast),
		cmocka_unit_test(channels_share_an_operation),
		cmocka_unit_test(an_operation_that_lacks_a_channel_has_no_size),
		cmocka_unit_test(a_part_between_two_that_may_have_it_leaves_no_size),
		cmocka_unit_test(what_was_lost_of_one_member_others_tell),
		cmocka_unit_test(what_was_lost_of_all_members_takes_the_size_along),
		cmocka_unit_test(what_is_sent_on_is_as_long_as_what_came),
		cmocka_unit_test(an_immediate_stands_for_a_packet_that_is_missing),
		cmocka_unit_test(a_capture_can_begin_and_end_inside),
		cmocka_unit_test(sends_are_cut_in_their_own_way),
		cmocka_unit_test(short_sends_have_room_for_all),
		cmocka_unit_test(an_exchange_of_two_is_no_all_reduce),
		cmocka_unit_test(sends_have_connections_that_no_collective_uses),
		cmocka_unit_test(of_two_members_the_way_down_follows_the_way_up_in_a_tree),
		cmocka_unit_test(without_clear_to_sends_nothing_shows_where_operations_end),
		cmocka_unit_test(clear_to_sends_alone_are_no_operation),
		cmocka_unit_test(numbers_far_apart_take_no_memory),
	};

	return play_tests(tests, sizeof tests / sizeof *tests);
}
