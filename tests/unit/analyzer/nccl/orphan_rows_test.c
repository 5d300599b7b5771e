#include "inner_play.h"

/* Orphans, and the message that they turn out to be of when its first packet comes. */

enum {
	FIRST = 0x06,
	MIDDLE = 0x07,
};

/* Message 5 has PSNs 102 to 104, of which some came before the first did. */
static void packets_that_came_ahead_are_its_own(void **state)
{
	static const struct {
		const char *what;
		uint32_t from, count, next;
		bool ended, failing;
		unsigned its;
		bool open, writing, exact;
	} rows[] = {
		{ "the next one", 103, 1, 104, .its = 1, .open = true, .writing = true,
		  .exact = true },
		{ "both", 103, 2, 105, .its = 2, .open = true, .exact = true },
		{ "both, and it has ended", 103, 2, 105, .ended = true, .its = 2, .exact = true },
		{ "the last one alone", 104, 1, 105, .its = 1, .open = true, .exact = true },
		{ "another message has come since", 103, 2, 110, .its = 2 },
		{ ".. and it has ended", 103, 2, 110, .ended = true, .its = 2 },
		{ "behind the write", 105, 2, 107, .its = 0 },
		{ "before it", 101, 1, 102, .its = 0 },
		{ "which message it is is in doubt", 103, 1, 104, .failing = true, .its = 1,
		  .open = true, .writing = true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(2);
		struct ft_nccl_transfer *transfer = inner_asked(inner, 5, INNER_ASKED);
		struct ft_nccl_lane *lane = &inner->followed->lanes[1];
		const struct ft_nccl_share *share = inner_share(inner, transfer, 1);

		inner_carried(inner, 4, 1, 100, 101, true);
		inner->followed->failing = rows[i].failing;
		lane->data =
			(struct ft_nccl_psns){ .known = true, .origin = 100, .next = rows[i].next };
		lane->orphan_rows[0] = (struct ft_nccl_orphan_row){
			.psn = rows[i].from,
			.count = rows[i].count,
			.frame = 40,
			.ts_ns = 40000,
			.immdt = 3 * MTU,
			.imm_frame = rows[i].ended ? 41 : 0,
		};
		lane->orphan_row_count = 1;
		lane->exact = lane->open = lane->writing = false;
		lane->slack = 7;
		inner_late(inner, 1, FIRST, 5, 102);
		if (share->packets != 1 + rows[i].its || lane->open != rows[i].open ||
		    lane->writing != rows[i].writing || lane->exact != rows[i].exact)
			fail_msg("%s", rows[i].what);
		assert_int_equal(transfer->message.packets, 1 + rows[i].its);
		assert_int_equal(share->to, 104);
		assert_int_equal(lane->slack, rows[i].exact ? 0 : 7);
		assert_int_equal(lane->orphan_row_count, rows[i].its != 0 ? 0 : 1);
		assert_int_equal(share->ended, rows[i].ended);
		assert_int_equal(transfer->message.has_imm, rows[i].ended);
		assert_int_equal(transfer->message.first_frame, rows[i].its != 0 ? 40 : INNER_NOW);
		assert_int_equal(transfer->message.last_frame, INNER_NOW);
		if (rows[i].ended) {
			assert_int_equal(share->imm_frame, 41);
			assert_int_equal(share->immdt, 3 * MTU);
		}
		if (rows[i].exact) {
			assert_int_equal(lane->write_end, 104);
			assert_int_equal(lane->at, 5);
			assert_int_equal(lane->next, 6);
		}
		inner_close(inner);
	}
}

/* Packets whose first did not come yet, out of order: what is next to each other is remembered together. */
static void packets_without_their_first_are_remembered_in_rows(void **state)
{
	static const struct {
		const char *what;
		unsigned packets;
		uint32_t psns[5];
		unsigned kept;
		uint32_t psn, count; /* of the newest row */
	} rows[] = {
		{ "one", 1, { 103 }, 1, 103, 1 },
		{ "the next one", 2, { 103, 104 }, 1, 103, 2 },
		{ "the one before", 2, { 103, 102 }, 1, 102, 2 },
		{ "on both sides", 3, { 103, 102, 104 }, 1, 102, 3 },
		{ "apart", 2, { 103, 105 }, 2, 105, 1 },
		{ "they wrap", 2, { 0xffffff, 0x000000 }, 1, 0xffffff, 2 },
		{ "the oldest are forgotten",
		  5,
		  { 101, 103, 105, 107, 109 },
		  FT_NCCL_ORPHAN_ROWS,
		  109,
		  1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		const struct ft_nccl_lane *lane = &inner->followed->lanes[0];

		for (unsigned n = 0; n < rows[i].packets; n++)
			inner_late(inner, 0, MIDDLE, 5, rows[i].psns[n]);
		if (lane->orphan_row_count != rows[i].kept ||
		    lane->orphan_rows[lane->orphan_row_count - 1].psn != rows[i].psn ||
		    lane->orphan_rows[lane->orphan_row_count - 1].count != rows[i].count)
			fail_msg("%s", rows[i].what);
		assert_int_equal(lane->orphan_rows[0].frame, INNER_NOW);
		inner_close(inner);
	}
}

/* What lies so far back that PSNs have begun anew since is no packet of the message that has them now. */
static void packets_of_long_ago_are_forgotten(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_lane *lane = &inner->followed->lanes[0];
	const struct ft_nccl_transfer *transfer = inner_asked(inner, 5, INNER_ASKED);

	(void)state;
	inner_late(inner, 0, MIDDLE, 5, 90);
	inner_carried(inner, 4, 0, 100, 101, true);
	lane->data = (struct ft_nccl_psns){ .known = true,
					    .origin = 80,
					    .next = 91 + FT_NCCL_PSN_WINDOW };
	inner_late(inner, 0, FIRST, 5, 102);
	assert_int_equal(inner_share(inner, transfer, 0)->packets, 1);
	assert_int_equal(lane->orphan_row_count, 0);
	inner_close(inner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_that_came_ahead_are_its_own),
		cmocka_unit_test(packets_without_their_first_are_remembered_in_rows),
		cmocka_unit_test(packets_of_long_ago_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
