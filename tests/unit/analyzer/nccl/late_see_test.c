#include "inner_play.h"

#include "replay.h"

/* What fills a hole, step by step: the message that it is of, and how sure that is. */

enum {
	FIRST = 0x06,
	MIDDLE = 0x07,
	LAST_IMMEDIATE = 0x09,
	ONLY = 0x0a,
	ONLY_IMMEDIATE = 0x0b,
};

static void a_message_that_lay_in_the_hole_is_known_by_its_neighbours(void **state)
{
	(void)state;
	for (uint64_t k = 3; k <= 16; k += 13) { /* in whichever place of the ring */
		struct inner *inner = inner_open(2);
		struct ft_nccl_transfer *transfer = inner_asked(inner, k, INNER_ASKED);
		const struct ft_nccl_share *share = inner_share(inner, transfer, 1);

		inner_carried(inner, k - 1, 1, 100, 101, true);
		inner_carried(inner, k + 1, 1, 103, 105, true);
		inner_late(inner, 1, ONLY_IMMEDIATE, k, 102);
		assert_true(share->used && share->begun && share->ended);
		assert_int_equal(share->from, 102);
		assert_int_equal(share->to, 102);
		assert_int_equal(share->packets, 1);
		assert_int_equal(share->bytes, 64);
		assert_int_equal(share->first.va, buffer_of(k));
		assert_int_equal(share->first.frame, INNER_NOW);
		assert_int_equal(transfer->message.packets, 1);
		assert_int_equal(transfer->message.first_frame, INNER_NOW);
		assert_true(transfer->message.has_imm);
		assert_false(transfer->adrift || transfer->doubtful || transfer->guessed);
		assert_false(inner_share(inner, transfer, 0)->used);
		inner_close(inner);
	}
}

/* Between messages 4 and 14 messages 5 and 13 have one buffer; the PSN behind 4 is 102. */
static void which_of_several_it_is_may_be_in_doubt(void **state)
{
	enum { ASK_5 = 1, ASK_13 = 2, ASK_REST = 4, FAILING = 8, DOUBTED = 16 };
	static const struct {
		const char *what;
		uint32_t psn;
		unsigned how;
		uint64_t k; /* that it becomes part of */
		bool adrift;
	} rows[] = {
		{ "the next one, as its PSN says", 102, ASK_5 | ASK_13, 5, false },
		{ "the first of two", 110, ASK_5 | ASK_13, 5, true },
		{ "all others asked for something else", 110, ASK_13 | ASK_5 | ASK_REST, 5, true },
		{ "another one may have asked, unseen", 110, ASK_5, 5, true },
		{ "the only one, as all were seen to ask", 110, ASK_13 | ASK_REST, 13, false },
		{ "the next one did not ask for it", 102, ASK_13, 13, true },
		{ "a port failed: PSNs tell nothing", 102, ASK_5 | ASK_13 | FAILING, 5, true },
		{ "what another one has may be this", 110, ASK_13 | ASK_REST | DOUBTED, 13, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		const unsigned how = rows[i].how;
		const struct ft_nccl_transfer *found;

		inner_carried(inner, 4, 0, 100, 101, true);
		inner_carried(inner, 14, 0, 130, 131, true);
		inner->followed->newest = 14;
		for (uint64_t k = 5; k <= 13; k++)
			if ((k == 5 && (how & ASK_5) != 0) || (k == 13 && (how & ASK_13) != 0) ||
			    (k > 5 && k < 13 && (how & ASK_REST) != 0))
				inner_asked(inner, k, INNER_ASKED);
		if ((how & ASK_REST) != 0 && (how & ASK_5) == 0) { /* it has come */
			struct ft_nccl_transfer *other = inner_carried(inner, 5, 0, 102, 104, true);

			other->adrift = (how & DOUBTED) != 0;
		}
		inner->followed->failing = (how & FAILING) != 0;
		inner_late(inner, 0, ONLY_IMMEDIATE, 13, rows[i].psn);
		found = ft_nccl_ring_find(&inner->followed->ring, rows[i].k);
		if (inner_share(inner, found, 0)->from != rows[i].psn ||
		    found->adrift != rows[i].adrift)
			fail_msg("%s: %s", rows[i].what,
				 inner_share(inner, found, 0)->used ? "adrift" : "not there");
		inner_close(inner);
	}
}

/* Buffers recur every 8 messages: one that was missed between may have asked for this one only so many further. */
static void one_that_was_missed_asked_for_another_buffer(void **state)
{
	(void)state;
	for (uint64_t missed = 11; missed <= 13; missed++) {
		struct inner *inner = inner_open(1);
		const struct ft_nccl_transfer *found;

		inner_carried(inner, 4, 0, 100, 101, true);
		inner_carried(inner, 14, 0, 130, 131, true);
		inner->followed->newest = 14;
		for (uint64_t k = 0; k <= 12; k++)
			if (k != 4 && k != missed)
				inner_asked(inner, k, INNER_ASKED);
		if (missed != 13) /* which asked for the buffer of 5 */
			inner_carried(inner, 13, 0, 120, 121, true);
		inner_late(inner, 0, ONLY_IMMEDIATE, 5, 110);
		found = ft_nccl_ring_find(&inner->followed->ring, 5);
		assert_true(inner_share(inner, found, 0)->used);
		assert_int_equal(found->adrift, missed == 13);
		inner_close(inner);
	}
}

/* It lies between the messages on both sides of the hole, and was asked for before. */
static void what_nobody_in_the_hole_asked_for_is_none(void **state)
{
	static const struct {
		const char *what;
		uint64_t k; /* which asks, between 4 and 6 of which both are there */
		uint64_t frame;
		bool doubted, used, is_taken;
	} rows[] = {
		{ "the one between", 5, INNER_NOW - 1, false, false, true },
		{ "asked for only then", 5, INNER_NOW, false, false, false },
		{ "the one before", 3, INNER_ASKED, false, false, false },
		{ "the one behind", 7, INNER_ASKED, false, false, false },
		{ "the one behind, if that one is in doubt", 7, INNER_ASKED, true, false, true },
		{ "it has its data", 5, INNER_ASKED, false, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		struct ft_nccl_transfer *transfer = inner_asked(inner, rows[i].k, rows[i].frame);

		inner_carried(inner, 4, 0, 100, 101, true);
		inner_carried(inner, 6, 0, 104, 105, true)->adrift = rows[i].doubted;
		if (rows[i].used)
			*inner_share(inner, transfer, 0) = (struct ft_nccl_share){
				.used = true, .from = 110, .to = 110, .packets = 1
			};
		inner_late(inner, 0, ONLY_IMMEDIATE, rows[i].k, 102);
		if ((inner_share(inner, transfer, 0)->from == 102) != rows[i].is_taken)
			fail_msg("%s", rows[i].what);
		inner_close(inner);
	}
}

static void messages_that_are_not_counted_are_guessed(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_transfer *transfer = inner_asked(inner, 5, INNER_ASKED);

	(void)state;
	inner->followed->numbered = false;
	inner_carried(inner, 4, 0, 100, 101, true);
	inner_late(inner, 0, ONLY_IMMEDIATE, 5, 102);
	assert_true(transfer->guessed);
	inner_close(inner);
}

/* What overtook the first packet that counts may have passed before the queue pair was known. */
static void soon_behind_a_blurred_beginning_it_may_be_a_copy(void **state)
{
	static const struct {
		const char *what;
		bool blurred, is_begun;
		uint32_t psn, bound_at;
		bool doubtful;
	} rows[] = {
		{ "as far as one may overtake", true, false, 102, 102 - FT_NCCL_OVERTAKE_MOST,
		  true },
		{ "farther", true, false, 102, 101 - FT_NCCL_OVERTAKE_MOST, false },
		{ "a beginning that is known", false, false, 102, 100, false },
		{ "of a message that has begun", true, true, 101, 101 - FT_NCCL_OVERTAKE_MOST,
		  true },
		{ "of one, farther", true, true, 101, 100 - FT_NCCL_OVERTAKE_MOST, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		struct ft_nccl_transfer *before = inner_carried(inner, 4, 0, 100, 101, true);
		struct ft_nccl_transfer *transfer = inner_asked(inner, 5, INNER_ASKED);
		struct ft_nccl_lane *lane = &inner->followed->lanes[0];

		lane->blurred = rows[i].blurred;
		lane->bound_at = rows[i].bound_at;
		inner_late(inner, 0, rows[i].is_begun ? MIDDLE : ONLY_IMMEDIATE, 5, rows[i].psn);
		if ((rows[i].is_begun ? before : transfer)->doubtful != rows[i].doubtful)
			fail_msg("%s", rows[i].what);
		inner_close(inner);
	}
}

/* --- packets of a message that is there --- */

static void a_packet_within_a_message_is_its_own(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t psn;
		bool is_its, ended;
	} rows[] = {
		{ MIDDLE, 99, false, false },        { MIDDLE, 100, true, false },
		{ MIDDLE, 101, true, false },        { LAST_IMMEDIATE, 102, true, true },
		{ MIDDLE, 103, true, false }, /* the next one of what lacks its end */
		{ LAST_IMMEDIATE, 103, true, true }, { MIDDLE, 104, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (unsigned ended = 0; ended < 2; ended++) {
			struct inner *inner = inner_open(2);
			struct ft_nccl_transfer *transfer =
				inner_carried(inner, 16, 1, 100, 102, ended != 0);
			const struct ft_nccl_share *share = inner_share(inner, transfer, 1);
			const bool is_its = rows[i].is_its && (ended == 0 || rows[i].psn < 103);

			inner_carried(inner, 17, 1, 200, 202, true);
			inner_late(inner, 1, rows[i].opcode, 16, rows[i].psn);
			assert_int_equal(share->packets, is_its ? 4 : 3);
			assert_int_equal(transfer->message.packets, is_its ? 4 : 3);
			assert_int_equal(transfer->message.last_frame,
					 is_its ? INNER_NOW : INNER_CARRIED);
			assert_int_equal(share->to, is_its && rows[i].psn == 103 ? 103 : 102);
			assert_int_equal(share->ended, ended != 0 || (is_its && rows[i].ended));
			assert_false(transfer->bare);
			inner_close(inner);
		}
	}
}

/* Section 3.2: an empty write of its own, its RETH all zero, ends a long message. */
static void a_bare_end_ends_the_message_before_it(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_transfer *transfer = inner_carried(inner, 5, 0, 100, 102, false);
	struct ft_nccl_seen seen = inner_write(ONLY_IMMEDIATE, 0, 0, INNER_NOW);
	struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

	(void)state;
	seen.va = seen.rkey = 0;
	seen.psn = 103;
	ft_nccl_late_see(&moment);
	assert_true(transfer->bare);
	assert_true(inner_share(inner, transfer, 0)->ended);
	assert_int_equal(inner_share(inner, transfer, 0)->to, 103);
	assert_int_equal(inner_share(inner, transfer, 0)->packets, 4);
	inner_close(inner);
}

/* Its first packet tells where it went, and how long it is. */
static void the_first_packet_may_come_behind_the_others(void **state)
{
	static const struct {
		const char *what;
		uint8_t opcode;
		uint32_t psn, length;
		int64_t offset;
		uint64_t known; /* frame of its first packet */
		bool begins;
	} rows[] = {
		{ "its first one", FIRST, 100, 3000, 0, 0, true },
		{ "that was seen", FIRST, 100, 3000, 0, INNER_CARRIED, false },
		{ "another one of it", FIRST, 101, 3000, 0, 0, false },
		{ "in its midst", MIDDLE, 100, 3000, 0, 0, false },
		{ "empty", FIRST, 100, 0, 0, 0, false },
		{ "to elsewhere", FIRST, 100, 3000, OFFERED, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(2);
		struct ft_nccl_transfer *transfer = inner_carried(inner, 5, 1, 100, 102, true);
		struct ft_nccl_share *share = inner_share(inner, transfer, 1);
		struct ft_nccl_seen seen =
			inner_write(rows[i].opcode, 5, rows[i].length, INNER_NOW);
		struct ft_nccl_moment moment = inner_moment(inner, 1, &seen);

		seen.psn = rows[i].psn;
		seen.va += (uint64_t)rows[i].offset;
		share->first = (struct ft_nccl_begun){ .frame = rows[i].known };
		share->bytes = 0;
		ft_nccl_late_see(&moment);
		if (share->first.frame != (rows[i].begins ? INNER_NOW : rows[i].known) ||
		    share->bytes != (rows[i].begins ? 3000 : 0))
			fail_msg("%s", rows[i].what);
		assert_int_equal(share->packets, 4);
		inner_close(inner);
	}
}

/* Section 3.3: several requests are written one after the other; only the last write has the immediate. */
static void a_message_of_several_requests_goes_on_with_its_next_one(void **state)
{
	static const struct {
		const char *what;
		uint8_t requests, written; /* .. bits */
		uint64_t k;                /* to whose buffer */
		bool has_cts, is_its;
	} rows[] = {
		{ "the second one", 2, 1, 6, true, true },
		{ "the first one again", 2, 1, 5, true, false },
		{ "both are written", 2, 3, 6, true, false },
		{ "there is one only", 1, 1, 6, true, false },
		{ "nobody was seen to ask", 2, 1, 6, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(2);
		struct ft_nccl_transfer *transfer = inner_carried(inner, 5, 1, 100, 102, false);
		struct ft_nccl_share *share = inner_share(inner, transfer, 1);
		struct ft_nccl_request *requests = inner_request(inner, transfer);

		requests[1] = requests[0];
		requests[1].va = buffer_of(6);
		share->requests = rows[i].written;
		transfer->message.request_count = rows[i].requests;
		transfer->has_cts = rows[i].has_cts;
		inner_late(inner, 1, ONLY, rows[i].k, 103);
		if (share->to != (rows[i].is_its ? 103 : 102))
			fail_msg("%s", rows[i].what);
		assert_int_equal(share->packets, rows[i].is_its ? 4 : 3);
		assert_int_equal(share->requests, rows[i].is_its ? 3 : rows[i].written);
		assert_int_equal(share->last.frame, rows[i].is_its ? INNER_NOW : 0);
		assert_int_equal(requests[1].written, rows[i].is_its ? 64 : 0);
		assert_false(share->ended || transfer->adrift);
		inner_close(inner);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_that_lay_in_the_hole_is_known_by_its_neighbours),
		cmocka_unit_test(which_of_several_it_is_may_be_in_doubt),
		cmocka_unit_test(one_that_was_missed_asked_for_another_buffer),
		cmocka_unit_test(what_nobody_in_the_hole_asked_for_is_none),
		cmocka_unit_test(messages_that_are_not_counted_are_guessed),
		cmocka_unit_test(soon_behind_a_blurred_beginning_it_may_be_a_copy),
		cmocka_unit_test(a_packet_within_a_message_is_its_own),
		cmocka_unit_test(a_bare_end_ends_the_message_before_it),
		cmocka_unit_test(the_first_packet_may_come_behind_the_others),
		cmocka_unit_test(a_message_of_several_requests_goes_on_with_its_next_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
