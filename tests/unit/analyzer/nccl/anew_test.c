#include "inner_play.h"

#include "anew.h"

/* Forged, or the first packet of another connection that took over the queue pairs: what follows tells. */

enum { ONLY = 0x0a, FIRST = 0x06 };

/* What is wrong with a packet under PSN `psn`, in frame `frame`. */
struct odd {
	struct ft_nccl_seen seen;
	struct ft_nccl_moment moment;
	struct ft_nccl_found found;
};

static struct odd *odd_of(struct inner *inner, uint8_t lane, uint32_t psn, uint64_t frame)
{
	static struct odd odd;

	odd.seen = inner_write(ONLY, 0, 60, frame); /* no clear-to-send is so long */
	odd.seen.psn = psn;
	odd.moment = inner_moment(inner, lane, &odd.seen);
	odd.moment.turn = FT_NCCL_AGAIN;
	odd.found = (struct ft_nccl_found){ .frame = frame,
					    .connection = inner->followed->model.connection };
	return &odd;
}

static void tell(struct inner *inner, uint8_t lane, uint32_t psn, uint64_t frame, bool is_cts)
{
	struct odd *odd = odd_of(inner, lane, psn, frame);

	ft_nccl_tell_in_turn(&odd->moment, &odd->found, is_cts);
}

static void tell_whichever(struct inner *inner, uint8_t lane, uint32_t psn, uint64_t frame)
{
	struct odd *odd = odd_of(inner, lane, psn, frame);

	ft_nccl_tell_whichever(&odd->moment, &odd->found);
}

static void tell_if_it_goes_on(struct inner *inner, uint64_t frame)
{
	ft_nccl_tell_if_it_goes_on(inner->connections, inner->followed,
				   &odd_of(inner, 0, 0, frame)->found, false);
}

static void tell_unless_it_is_new(struct inner *inner, uint64_t frame)
{
	ft_nccl_tell_if_it_goes_on(inner->connections, inner->followed,
				   &odd_of(inner, 0, 0, frame)->found, true);
}

static void see(struct inner *inner, uint8_t lane, uint32_t psn, bool is_cts)
{
	ft_nccl_anew_see(&odd_of(inner, lane, psn, 1000)->moment, is_cts);
}

static void go_on(struct inner *inner, uint8_t lane, uint32_t psn)
{
	ft_nccl_anew_go_on(&odd_of(inner, lane, psn, 1000)->moment);
}

static void refute(struct inner *inner, uint8_t lane, uint32_t psn, bool is_cts)
{
	ft_nccl_anew_refute(&odd_of(inner, lane, psn, 1000)->moment, is_cts);
}

static void settle(struct inner *inner, bool has_ended)
{
	ft_nccl_anew_settle(inner->connections, inner->followed, has_ended);
	assert_int_equal(inner->followed->doubts, 0);
}

/* Told so far, by frame; 0: no more. */
static void told(struct inner *inner, uint64_t first, uint64_t second)
{
	const uint64_t frames[] = { first, second };
	const unsigned count = second != 0 ? 2 : first != 0 ? 1 : 0;

	assert_int_equal(inner->found_count, count);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(inner->found[i].frame, frames[i]);
}

static void waits(const struct inner *inner, unsigned count)
{
	assert_int_equal(inner->connections->doubt_count, count);
	assert_int_equal(inner->followed->doubts, count);
	assert_int_equal(inner->found_count, 0);
}

static void what_is_in_its_turn_is_told_at_once(void **state)
{
	static const struct {
		const char *what;
		enum ft_nccl_turn turn;
		bool is_cts, waits;
	} rows[] = {
		{ "the next data", FT_NCCL_NEXT, false, false },
		{ "the next clear-to-send", FT_NCCL_NEXT, true, true },
		{ "data that fills a hole", FT_NCCL_LATE, false, false },
		{ "a clear-to-send that does", FT_NCCL_LATE, true, true },
		{ "data behind a hole", FT_NCCL_AHEAD, false, true },
		{ "data that passed", FT_NCCL_AGAIN, false, true },
		{ "data far away", FT_NCCL_APART, false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		struct odd *odd = odd_of(inner, 0, 7, 70);

		odd->moment.turn = rows[i].turn;
		ft_nccl_tell_in_turn(&odd->moment, &odd->found, rows[i].is_cts);
		if (inner->found_count != (rows[i].waits ? 0 : 1) ||
		    inner->held_count != (rows[i].waits ? 1 : 0) ||
		    inner->followed->doubts != (rows[i].waits ? 1 : 0))
			fail_msg("%s", rows[i].what);
		if (rows[i].waits)
			assert_int_equal(inner->held[0], 70);
		inner_close(inner);
	}
}

static void what_waits_was_forged_once_its_own_sequence_goes_on(void **state)
{
	(void)state;
	for (int is_cts = 0; is_cts <= 1; is_cts++) {
		struct inner *inner = inner_open(2);

		tell(inner, 1, 7, 70, is_cts != 0);
		waits(inner, 1);
		refute(inner, 0, 500, is_cts != 0); /* another queue pair's */
		refute(inner, 1, 500, is_cts == 0); /* the other way's */
		waits(inner, 1);
		refute(inner, 1, 500, is_cts != 0);
		told(inner, 70, 0);
		settle(inner, false);
		told(inner, 70, 0);
		inner_close(inner);
	}
}

static void one_queue_pair_may_have_several_that_were_forged(void **state)
{
	struct inner *inner = inner_open(1);

	(void)state;
	tell(inner, 0, 7, 70, false);
	tell(inner, 0, 100, 71, false);
	waits(inner, 2);
	refute(inner, 0, 500, false);
	told(inner, 70, 71);
	assert_int_equal(inner->connections->doubt_count, 0);
	inner_close(inner);
}

/* Others like them follow, one behind the other: a new sequence. */
static void clear_to_sends_that_go_on_are_of_another_connection(void **state)
{
	static const struct {
		const char *what;
		uint32_t psn;
		bool is_cts, is_told;
	} rows[] = {
		{ "the next one", 8, true, false },
		{ "the same again", 7, true, true },
		{ "one behind a hole", 9, true, true },
		{ "data of that PSN", 8, false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);

		tell(inner, 0, 7, 70, true);
		see(inner, 0, rows[i].psn, rows[i].is_cts);
		refute(inner, 0, 500, true);
		if (inner->found_count != (rows[i].is_told ? 1 : 0))
			fail_msg("%s", rows[i].what);
		inner_close(inner);
	}
}

/* Data of another connection grows up to where the old one stood: 10 is the PSN that refutes. */
static void data_that_has_grown_to_where_the_old_one_was_is_anothers(void **state)
{
	static const struct {
		const char *what;
		uint32_t psn;     /* of what is odd */
		unsigned see, go; /* packets right behind it, with PSNs that passed, and then any */
		bool is_told;
	} rows[] = {
		{ "nothing followed", 7, 0, 0, true },
		{ "one followed", 7, 1, 0, true },
		{ "it followed up to there", 7, 2, 0, false },
		{ "it followed beyond", 7, 4, 0, false },
		{ "up to there, the last one in its turn", 7, 1, 1, false },
		{ "what nobody saw to go on does not", 7, 0, 2, true },
		{ "right before there, alone", 9, 0, 0, true },
		{ "it is behind there by itself", 10, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		uint32_t psn = rows[i].psn + 1;

		tell(inner, 0, rows[i].psn, 70, false);
		for (unsigned n = 0; n < rows[i].see; n++)
			see(inner, 0, psn++, false);
		for (unsigned n = 0; n < rows[i].go; n++)
			go_on(inner, 0, psn++);
		refute(inner, 0, 10, false);
		if (inner->found_count != (rows[i].is_told ? 1 : 0))
			fail_msg("%s", rows[i].what);
		inner_close(inner);
	}
}

/* A write of several packets: the next one is behind all of them. */
static void what_follows_a_write_is_behind_its_last_packet(void **state)
{
	struct inner *inner = inner_open(1);
	struct odd *odd = odd_of(inner, 0, 7, 70);

	(void)state;
	odd->seen.opcode = FIRST;
	odd->seen.length = 3 * MTU;
	odd->seen.payload_length = MTU;
	ft_nccl_tell_in_turn(&odd->moment, &odd->found, true);
	see(inner, 0, 8, true);
	assert_false(inner->connections->doubts[0].goes_on);
	see(inner, 0, 10, true);
	assert_true(inner->connections->doubts[0].goes_on);
	assert_int_equal(inner->connections->doubts[0].next, 11);
	inner_close(inner);
}

static void at_the_end_what_stands_alone_was_forged(void **state)
{
	struct inner *inner = inner_open(2);

	(void)state;
	tell(inner, 0, 7, 70, false);
	tell(inner, 1, 7, 71, false); /* each on its own queue pair .. */
	tell(inner, 0, 7, 72, true);  /* .. and way */
	waits(inner, 3);
	settle(inner, false);
	assert_int_equal(inner->found_count, 3);
	inner_close(inner);
}

static void at_the_end_two_of_a_queue_pair_are_anothers(void **state)
{
	struct inner *inner = inner_open(1);

	(void)state;
	tell(inner, 0, 7, 70, false);
	tell(inner, 0, 100, 71, false);
	tell(inner, 0, 200, 72, false);
	settle(inner, false);
	told(inner, 0, 0);
	assert_int_equal(inner->connections->doubt_count, 0);
	inner_close(inner);
}

static void at_the_end_what_went_on_is_anothers(void **state)
{
	struct inner *inner = inner_open(1);

	(void)state;
	tell(inner, 0, 7, 70, false);
	see(inner, 0, 8, false);
	settle(inner, false);
	told(inner, 0, 0);
	inner_close(inner);
}

/* Behind a hole there may have been more of its kind. */
static void at_the_end_what_came_behind_a_hole_is_not_told(void **state)
{
	struct inner *inner = inner_open(1);
	struct odd *odd = odd_of(inner, 0, 7, 70);

	(void)state;
	odd->moment.turn = FT_NCCL_AHEAD;
	ft_nccl_tell_in_turn(&odd->moment, &odd->found, false);
	settle(inner, false);
	told(inner, 0, 0);
	inner_close(inner);
}

/* As long as a clear-to-send, which may be the only one that another connection has. */
static void at_the_end_what_may_ask_is_told_only_if_the_connection_went_on(void **state)
{
	struct inner *inner = inner_open(1);

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct odd *odd = odd_of(inner, 0, 7, 70);

		odd->seen.length = odd->seen.payload_length = 64;
		ft_nccl_tell_in_turn(&odd->moment, &odd->found, false);
		inner->followed->steps += 1 + more; /* its own, and one behind it */
		settle(inner, false);
		told(inner, more == 0 ? 0 : 70, 0);
	}
	inner_close(inner);
}

static void a_connection_that_has_ended_had_no_forged_ones(void **state)
{
	struct inner *inner = inner_open(1);

	(void)state;
	tell(inner, 0, 7, 70, false);
	settle(inner, true);
	told(inner, 0, 0);
	assert_int_equal(inner->connections->doubt_count, 0);
	inner_close(inner);
}

static void other_connections_are_left_alone(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_followed *first = inner->followed;

	(void)state;
	tell(inner, 0, 7, 70, false);
	inner->followed = inner_follow(inner, 1);
	tell(inner, 0, 7, 71, false);
	settle(inner, false);
	told(inner, 71, 0);
	assert_int_equal(inner->connections->doubt_count, 1);
	tell(inner, 0, 7, 72, false);
	refute(inner, 0, 500, false);
	told(inner, 71, 72);
	inner->followed = first;
	assert_int_equal(first->doubts, 1);
	refute(inner, 0, 500, false);
	assert_int_equal(inner->found_count, 3);
	assert_int_equal(inner->found[2].frame, 70);
	inner_close(inner);
}

/* --- whichever message it is of --- */

static void data_wrong_for_every_message_is_told_if_nothing_else_is_odd(void **state)
{
	static const struct {
		const char *what;
		uint64_t steps, trouble; /* when its own goes on, of 20 as it came */
		bool is_told;
	} rows[] = {
		{ "its own goes on", 25, 0, true },
		{ "something was out of sequence before", 25, 20, true },
		{ "it was itself", 25, 21, true },
		{ "something is since", 25, 22, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);

		inner->followed->steps = 20;
		tell_whichever(inner, 0, 7, 70);
		waits(inner, 1);
		inner->followed->steps = rows[i].steps;
		inner->followed->trouble = rows[i].trouble;
		refute(inner, 0, 500, false);
		if (inner->found_count != (rows[i].is_told ? 1 : 0))
			fail_msg("%s", rows[i].what);
		inner_close(inner);
	}
}

static void at_the_end_it_is_told_if_the_connection_went_on(void **state)
{
	(void)state;
	for (uint64_t steps = 21; steps <= 22; steps++) {
		struct inner *inner = inner_open(2);

		inner->followed->steps = 20;
		tell_whichever(inner, 0, 7, 70);
		inner->followed->steps = steps;
		settle(inner, false);
		assert_int_equal(inner->found_count, steps == 22 ? 1 : 0);
		inner_close(inner);
	}
}

static void it_is_not_told_beside_others(void **state)
{
	struct inner *inner = inner_open(2);

	(void)state;
	tell(inner, 0, 7, 70, false);
	tell_whichever(inner, 1, 7, 71); /* one waits: this is nothing */
	waits(inner, 1);
	settle(inner, false);
	told(inner, 70, 0);
	tell_whichever(inner, 0, 7, 72);
	tell(inner, 1, 7, 73, false); /* on another queue pair, behind it */
	refute(inner, 0, 500, false);
	told(inner, 70, 0);
	refute(inner, 1, 500, false);
	told(inner, 70, 73);
	inner_close(inner);
}

/* --- somebody else's write --- */

static void a_write_by_somebody_else_waits_for_the_next_clear_to_send(void **state)
{
	struct inner *inner = inner_open(2);

	(void)state;
	tell_if_it_goes_on(inner, 70);
	waits(inner, 1);
	assert_int_equal(inner->held[0], 70);
	refute(inner, 1, 500, false); /* data of its own tells nothing */
	see(inner, 0, 1, true);       /* nor does what comes again */
	waits(inner, 1);
	refute(inner, 1, 500, true); /* on whichever queue pair */
	told(inner, 70, 0);
	assert_int_equal(inner->followed->doubts, 0);
	inner_close(inner);
}

static void at_the_end_several_of_them_may_be_another_jobs(void **state)
{
	struct inner *inner = inner_open(1);

	(void)state;
	tell_if_it_goes_on(inner, 70);
	settle(inner, false);
	told(inner, 70, 0);
	tell_if_it_goes_on(inner, 71);
	tell_if_it_goes_on(inner, 72);
	settle(inner, false);
	told(inner, 70, 0);
	tell_if_it_goes_on(inner, 73);
	tell_if_it_goes_on(inner, 74);
	refute(inner, 0, 500, true);
	assert_int_equal(inner->found_count, 3);
	inner_close(inner);
}

static void at_the_end_what_may_begin_another_connection_needs_more_of_this_one(void **state)
{
	struct inner *inner = inner_open(1);

	(void)state;
	inner->followed->steps = 5;
	tell_unless_it_is_new(inner, 70);
	settle(inner, false);
	told(inner, 0, 0);
	tell_unless_it_is_new(inner, 71);
	inner->followed->steps = 6;
	settle(inner, false);
	told(inner, 71, 0);
	tell_unless_it_is_new(inner, 72);
	refute(inner, 0, 500, true);
	told(inner, 71, 72);
	tell_unless_it_is_new(inner, 73);
	inner->followed->steps = inner->followed->trouble = 7; /* more, out of sequence */
	settle(inner, false);
	told(inner, 71, 72);
	inner_close(inner);
}

/* A message has begun, and somebody else writes just behind it. */
static void tell_soon(struct inner *inner, uint64_t frame)
{
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&inner->followed->ring, inner_asked(inner, 0, frame - 20));
	struct ft_nccl_found found = odd_of(inner, 0, 0, frame)->found;

	share->used = share->begun = true;
	share->first.frame = frame - 10;
	share->first.ts_ns = 1000;
	found.ts_ns = 2000;
	inner->followed->steps = 5;
	ft_nccl_tell_if_it_goes_on(inner->connections, inner->followed, &found, true);
}

static void at_the_end_writes_of_others_to_one_connection_are_forged(void **state)
{
	struct inner *inner = inner_open(1);

	(void)state;
	tell_soon(inner, 70);
	settle(inner, false);
	told(inner, 70, 0);
	inner_close(inner);
}

/* A job has taken over from another. */
static void at_the_end_writes_of_others_to_several_connections_are_none(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_followed *first = inner->followed;

	(void)state;
	tell_soon(inner, 70);
	inner->followed = inner_follow(inner, 1);
	tell_soon(inner, 71);
	settle(inner, false);
	inner->followed = first;
	settle(inner, false);
	told(inner, 0, 0);
	inner_close(inner);
}

/* --- how many wait --- */

static void where_too_many_wait_only_what_is_certain_is_told(void **state)
{
	struct inner *inner = inner_open(1);
	struct odd *odd;

	(void)state;
	inner->connections->sink.hold = NULL;
	for (unsigned i = 0; i < FT_NCCL_DOUBTS; i++)
		tell_if_it_goes_on(inner, 70 + i);
	waits(inner, FT_NCCL_DOUBTS);
	tell_if_it_goes_on(inner, 200);
	tell_whichever(inner, 0, 7, 201);
	waits(inner, FT_NCCL_DOUBTS);
	inner->followed = inner_follow(inner, 1);
	tell_whichever(inner, 0, 7, 202);
	assert_int_equal(inner->connections->doubt_count, FT_NCCL_DOUBTS);
	tell(inner, 0, 7, 203, false); /* nor is it told: a job may have taken over from another */
	told(inner, 0, 0);
	odd = odd_of(inner, 0, 7, 204);
	odd->moment.turn = FT_NCCL_NEXT;
	ft_nccl_tell_in_turn(&odd->moment, &odd->found, false);
	told(inner, 204, 0);
	inner_close(inner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_in_its_turn_is_told_at_once),
		cmocka_unit_test(what_waits_was_forged_once_its_own_sequence_goes_on),
		cmocka_unit_test(one_queue_pair_may_have_several_that_were_forged),
		cmocka_unit_test(clear_to_sends_that_go_on_are_of_another_connection),
		cmocka_unit_test(data_that_has_grown_to_where_the_old_one_was_is_anothers),
		cmocka_unit_test(what_follows_a_write_is_behind_its_last_packet),
		cmocka_unit_test(at_the_end_what_stands_alone_was_forged),
		cmocka_unit_test(at_the_end_two_of_a_queue_pair_are_anothers),
		cmocka_unit_test(at_the_end_what_went_on_is_anothers),
		cmocka_unit_test(at_the_end_what_came_behind_a_hole_is_not_told),
		cmocka_unit_test(at_the_end_what_may_ask_is_told_only_if_the_connection_went_on),
		cmocka_unit_test(a_connection_that_has_ended_had_no_forged_ones),
		cmocka_unit_test(other_connections_are_left_alone),
		cmocka_unit_test(data_wrong_for_every_message_is_told_if_nothing_else_is_odd),
		cmocka_unit_test(at_the_end_it_is_told_if_the_connection_went_on),
		cmocka_unit_test(it_is_not_told_beside_others),
		cmocka_unit_test(a_write_by_somebody_else_waits_for_the_next_clear_to_send),
		cmocka_unit_test(at_the_end_several_of_them_may_be_another_jobs),
		cmocka_unit_test(
			at_the_end_what_may_begin_another_connection_needs_more_of_this_one),
		cmocka_unit_test(at_the_end_writes_of_others_to_one_connection_are_forged),
		cmocka_unit_test(at_the_end_writes_of_others_to_several_connections_are_none),
		cmocka_unit_test(where_too_many_wait_only_what_is_certain_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
