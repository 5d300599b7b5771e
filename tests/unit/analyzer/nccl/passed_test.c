#include "inner_play.h"

#include "passed.h"

/*
 * Packets of before the first that a connection takes as its own. They are of no message; what is missing among them, or
 * passed again, counts as what comes later does.
 */

enum { WRITE_MIDDLE = 0x07, LANE = 1 };

static const struct ft_nccl_end at_receiver = { .lane = LANE, .role = FT_NCCL_AT_RECEIVER };
static const struct ft_nccl_end at_sender = { .lane = LANE, .role = FT_NCCL_AT_SENDER };

static struct ft_nccl_seen packet_of(uint32_t psn)
{
	struct ft_nccl_seen seen = inner_write(WRITE_MIDDLE, 0, MTU, psn + 1u);

	seen.psn = psn;
	return seen;
}

/* Packets with these PSNs, one behind the other; the list ends with a PSN that there is not. */
static const uint32_t END = UINT32_MAX;

static struct ft_nccl_log *log_of(const uint32_t *psns)
{
	struct ft_nccl_log *log = ft_nccl_log_create();

	assert_non_null(log);
	for (; *psns != END; psns++) {
		const struct ft_nccl_seen seen = packet_of(*psns);

		ft_nccl_log_add(log, &seen);
	}
	return log;
}

/* .. likewise the connection's own. */
static void take(struct ft_nccl_psns *psns, const uint32_t *list)
{
	for (; *list != END; list++)
		ft_nccl_psns_take(psns, *list, ft_nccl_psns_judge(psns, *list));
}

/* --- where a sequence begins in a log --- */

static void what_a_log_lacks_before_the_beginning_is_missing(void **state)
{
	static const uint32_t logged[] = { 3, 4, 6, 4, 9, 10, END };

	(void)state;
	for (int is_cts = 0; is_cts <= 1; is_cts++) {
		struct inner *inner = inner_open(2);
		struct ft_nccl_log *log = log_of(logged);
		const struct ft_nccl_end *end = is_cts ? &at_sender : &at_receiver;
		const struct ft_nccl_lane *lane = &inner->followed->lanes[LANE];
		const struct ft_nccl_psns *before = is_cts ? &lane->cts_before : &lane->data_before;
		const struct ft_nccl_connection *model = &inner->followed->model;

		/* all of it is before PSN 12: 5, 7, 8 and 11 are missing, 4 passed twice */
		assert_true(ft_nccl_passed_begin(inner->followed, end, log, log->used, 12));
		assert_int_equal(before->origin, 3);
		assert_int_equal(before->next, 12);
		assert_int_equal(inner->followed->lacking_before, 4);
		assert_int_equal(model->retransmitted_data, is_cts ? 0 : 1);
		assert_int_equal(model->retransmitted_cts, is_cts ? 1 : 0);
		ft_nccl_log_destroy(log);
		inner_close(inner);
	}
}

static void entries_that_are_taken_are_not_before(void **state)
{
	static const uint32_t logged[] = { 3, 5, 8, 4, 5, END };
	struct inner *inner = inner_open(2);
	struct ft_nccl_log *log = log_of(logged);
	struct ft_nccl_logged entry;
	uint32_t at = 0;

	(void)state;
	assert_true(ft_nccl_log_next(log, &at, &entry));
	assert_true(ft_nccl_log_next(log, &at, &entry));
	assert_true(ft_nccl_passed_begin(inner->followed, &at_receiver, log, at, 8));
	assert_int_equal(inner->followed->lacking_before, 3); /* 4, 6, 7 */
	assert_int_equal(inner->followed->model.retransmitted_data, 0);
	ft_nccl_log_destroy(log);
	inner_close(inner);
}

static void a_sequence_begins_once(void **state)
{
	static const uint32_t logged[] = { 3, 5, END }, own[] = { 8, END };
	struct inner *inner = inner_open(2);
	struct ft_nccl_log *log = log_of(logged);

	(void)state;
	take(&inner->followed->lanes[LANE].data, own);
	assert_false(ft_nccl_passed_begin(inner->followed, &at_receiver, log, log->used, 8));
	assert_int_equal(inner->followed->lacking_before, 0);
	/* the other way has not */
	assert_true(ft_nccl_passed_begin(inner->followed, &at_sender, log, log->used, 8));
	assert_int_equal(inner->followed->lacking_before, 3);
	ft_nccl_log_destroy(log);
	inner_close(inner);
}

/* --- entries that are settled once the sequence has begun --- */

/* The connection has 10, 13, 14 and 18, of which 11, 12 and 15 to 17 lack. */
static const uint32_t own[] = { 10, 13, 14, 18, END };
enum { LACKING = 5 };

static struct inner *begun(void)
{
	struct inner *inner = inner_open(2);

	take(&inner->followed->lanes[LANE].data, own);
	inner->followed->lacking_before = LACKING;
	return inner;
}

static void entries_fill_holes_or_passed_again(void **state)
{
	static const struct {
		const char *what;
		uint32_t psn, run;
		uint64_t late, again;
	} rows[] = {
		{ "one of a hole", 11, 1, 1, 0 },
		{ "all of a hole", 15, 3, 3, 0 },
		{ "in the middle of a hole", 16, 1, 1, 0 },
		{ "one that passed", 13, 1, 0, 1 },
		{ "the first", 10, 1, 0, 1 },
		{ "the newest", 18, 1, 0, 1 },
		{ "over two holes", 12, 5, 3, 2 },
		{ "before the first", 9, 1, 0, 0 },
		{ "from before the first on", 8, 4, 1, 1 },
		{ "behind the newest", 19, 1, 0, 0 },
		{ "until behind the newest", 17, 10, 1, 1 },
		{ "all and more", 0, 100, 5, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = begun();
		const struct ft_nccl_logged logged = { .seen = packet_of(rows[i].psn),
						       .run = rows[i].run };

		ft_nccl_passed_settle(inner->followed, &at_receiver, &logged);
		if (inner->followed->lacking_before != LACKING - rows[i].late ||
		    inner->followed->model.retransmitted_data != rows[i].again)
			fail_msg("%s: %d are missing, %d again", rows[i].what,
				 (int)inner->followed->lacking_before,
				 (int)inner->followed->model.retransmitted_data);
		/* what was late passes again from now on */
		ft_nccl_passed_settle(inner->followed, &at_receiver, &logged);
		assert_int_equal(inner->followed->lacking_before, LACKING - rows[i].late);
		assert_int_equal(inner->followed->model.retransmitted_data,
				 rows[i].again + rows[i].late + rows[i].again);
		inner_close(inner);
	}
}

/* A log that was emptied has seen these. */
static void settle_cleared(struct inner *inner, const uint32_t *psns)
{
	struct ft_nccl_log log = { 0 };

	take(&log.history.psns, psns);
	ft_nccl_passed_settle_cleared(inner->followed, &at_receiver, &log);
}

static void what_a_log_has_no_more_was_seen(void **state)
{
	static const struct {
		const char *what;
		uint32_t psns[8];
		uint64_t late, again;
	} rows[] = {
		{ "nothing", { END }, 0, 0 },
		{ "one of a hole", { 11, END }, 1, 0 },
		{ "what it lacks itself was not seen", { 11, 15, END }, 2, 0 },
		{ "all from before the first on", { 8, 9, 10, 11, 12, 13, 14, END }, 2, 3 },
		{ "all of before the first", { 7, 9, END }, 0, 0 },
		{ "behind the newest, too", { 16, 17, 18, 20, END }, 2, 1 },
		{ "all behind the newest", { 19, 20, 22, END }, 0, 0 },
		{ "on both sides of a hole of its own", { 12, 13, 16, 17, END }, 3, 1 },
		{ "a hole from before the first on", { 5, 12, END }, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = begun();

		settle_cleared(inner, rows[i].psns);
		if (inner->followed->lacking_before != LACKING - rows[i].late ||
		    inner->followed->model.retransmitted_data != rows[i].again)
			fail_msg("%s: %d are missing, %d again", rows[i].what,
				 (int)inner->followed->lacking_before,
				 (int)inner->followed->model.retransmitted_data);
		inner_close(inner);
	}
}

/* What lies back so far that a PSN may be another one's is neither. */
static void what_is_far_back_is_not_settled(void **state)
{
	const uint32_t last = 100 * FT_NCCL_PSN_WINDOW;
	struct inner *inner = inner_open(2);
	struct ft_nccl_psns *psns = &inner->followed->lanes[LANE].data;
	struct ft_nccl_log log = { 0 };

	(void)state;
	*psns = (struct ft_nccl_psns){ .known = true, .origin = 0, .next = last };
	log.history.psns = *psns;
	ft_nccl_passed_settle_cleared(inner->followed, &at_receiver, &log);
	assert_int_equal(inner->followed->model.retransmitted_data, FT_NCCL_PSN_WINDOW);
	log.history.psns.next = last + FT_NCCL_PSN_WINDOW / 2;
	ft_nccl_passed_settle_cleared(inner->followed, &at_receiver, &log);
	assert_int_equal(inner->followed->model.retransmitted_data,
			 FT_NCCL_PSN_WINDOW + FT_NCCL_PSN_WINDOW / 2);
	inner_close(inner);
}

/* .. though the connection's own sequence, which is behind, would have it. */
static void what_is_far_back_in_the_log_is_not_settled(void **state)
{
	struct inner *inner = inner_open(2);
	struct ft_nccl_log log = { 0 };

	(void)state;
	inner->followed->lanes[LANE].data =
		(struct ft_nccl_psns){ .known = true, .origin = 0, .next = 1000 };
	log.history.psns = (struct ft_nccl_psns){
		.known = true,
		.next = FT_NCCL_PSN_WINDOW + 990,
		.hole_count = 1,
		.holes = { { 900, 5 } },
	};
	ft_nccl_passed_settle_cleared(inner->followed, &at_receiver, &log);
	assert_int_equal(inner->followed->model.retransmitted_data, 10);
	inner_close(inner);
}

/* --- one that is not new --- */

static bool repeats(struct inner *inner, uint32_t psn)
{
	struct ft_nccl_lane *lane = &inner->followed->lanes[LANE];

	return ft_nccl_passed_repeats(inner->followed, &lane->data, &lane->data_before, psn);
}

static void one_of_before_the_first_passed_if_it_was_seen_there(void **state)
{
	struct inner *inner = begun();

	(void)state;
	inner->followed->lacking_before = 0;
	assert_true(repeats(inner, 10));
	assert_true(repeats(inner, 14));
	assert_false(repeats(inner, 9)); /* the first overtook it */
	assert_int_equal(inner->followed->lacking_before, 0);
	assert_true(repeats(inner, 9));
	assert_false(repeats(inner, 5));
	assert_int_equal(inner->followed->lacking_before, 3); /* 6 to 8 */
	assert_false(repeats(inner, 7));
	assert_int_equal(inner->followed->lacking_before, 2);
	assert_true(repeats(inner, 7));
	assert_true(repeats(inner, 5));
	assert_int_equal(inner->followed->lacking_before, 2);
	inner_close(inner);
}

/* What is told of packets before another first one is no more. */
static void what_was_before_another_first_one_is_forgotten(void **state)
{
	static const uint32_t elsewhere[] = { 20 + FT_NCCL_PSN_WINDOW * 2, 40, END };
	struct inner *inner = begun();

	(void)state;
	inner->followed->lacking_before = 0;
	assert_false(repeats(inner, 9));
	take(&inner->followed->lanes[LANE].data, elsewhere);
	assert_false(repeats(inner, 39));
	assert_int_equal(inner->followed->lacking_before, 0);
	assert_true(repeats(inner, 39));
	inner_close(inner);
}

/* --- all that is missing --- */

static void what_is_missing_begins_with_the_set_up_if_that_was_seen(void **state)
{
	static const uint32_t data[] = { 4, 5, END }, asked[] = { 2, END };
	struct inner *inner = inner_open(2);
	struct ft_nccl_followed *followed = inner->followed;

	(void)state;
	take(&followed->lanes[LANE].data, data);
	take(&followed->lanes[0].cts, asked);
	followed->lacking = 10;
	followed->lacking_before = 7;
	assert_int_equal(ft_nccl_passed_missing(followed), 10 + 7 + 4 + 2);
	followed->model.has_tcp = false;
	assert_int_equal(ft_nccl_passed_missing(followed), 10 + 7);
	followed->left_out = 3;
	assert_int_equal(ft_nccl_passed_missing(followed), 10 + 7 - 3);
	followed->left_out = 100;
	assert_int_equal(ft_nccl_passed_missing(followed), 0);
	inner_close(inner);
}

static void what_was_seen_before_the_first_is_not_missing(void **state)
{
	static const uint32_t data[] = { 4, 5, END };
	struct inner *inner = inner_open(2);

	(void)state;
	take(&inner->followed->lanes[LANE].data, data);
	assert_false(repeats(inner, 1));
	assert_int_equal(ft_nccl_passed_missing(inner->followed), 3); /* 0, 2, 3 */
	inner_close(inner);
}

/* A sequence that begins far on is not one from PSN 0 on. */
static void a_first_psn_that_is_high_is_no_hole(void **state)
{
	static const uint32_t low[] = { FT_NCCL_PSN_WINDOW - 1, END };
	static const uint32_t high[] = { FT_NCCL_PSN_WINDOW, END };
	struct inner *inner = inner_open(2);

	(void)state;
	take(&inner->followed->lanes[LANE].data, high);
	assert_int_equal(ft_nccl_passed_missing(inner->followed), 0);
	take(&inner->followed->lanes[0].data, low);
	assert_int_equal(ft_nccl_passed_missing(inner->followed), FT_NCCL_PSN_WINDOW - 1);
	inner_close(inner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_log_lacks_before_the_beginning_is_missing),
		cmocka_unit_test(entries_that_are_taken_are_not_before),
		cmocka_unit_test(a_sequence_begins_once),
		cmocka_unit_test(entries_fill_holes_or_passed_again),
		cmocka_unit_test(what_a_log_has_no_more_was_seen),
		cmocka_unit_test(what_is_far_back_is_not_settled),
		cmocka_unit_test(what_is_far_back_in_the_log_is_not_settled),
		cmocka_unit_test(one_of_before_the_first_passed_if_it_was_seen_there),
		cmocka_unit_test(what_was_before_another_first_one_is_forgotten),
		cmocka_unit_test(what_is_missing_begins_with_the_set_up_if_that_was_seen),
		cmocka_unit_test(what_was_seen_before_the_first_is_not_missing),
		cmocka_unit_test(a_first_psn_that_is_high_is_no_hole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
