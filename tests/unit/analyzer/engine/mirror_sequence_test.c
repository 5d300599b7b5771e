#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "mirror_sequence.h"

#define SECOND UINT64_C(1000000000)

/* A session that sends a frame per microsecond from a number on. */
struct mirror {
	struct ft_mirror_sequence *sequence;
	uint32_t session, bits;
	uint64_t now_ns;
};

static struct mirror mirror_of(size_t inputs)
{
	struct mirror mirror = { .session = 7, .bits = 32, .now_ns = SECOND };

	assert_int_equal(ft_mirror_sequence_create(&mirror.sequence, inputs), 0);
	return mirror;
}

static void see_on(struct mirror *mirror, uint32_t input, uint32_t number)
{
	struct ft_observed observed = {
		.has = FT_OBSERVED_MIRROR,
		.ts_ns = mirror->now_ns += 1000,
		.mirror = mirror->session,
		.mirror_sequence = number,
		.mirror_sequence_bits = (uint8_t)mirror->bits,
	};

	ft_mirror_sequence_see(mirror->sequence, input, &observed);
}

static void see_all(struct mirror *mirror, const uint32_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		see_on(mirror, 0, numbers[i]);
}

static void see_run(struct mirror *mirror, uint32_t from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		see_on(mirror, 0, mirror->bits == 32 ? from + i : (from + i) & 0xffff);
}

/* What is lost once the window has moved on from the first 1000 frames after `next`. */
static void lost_in_the_end(struct mirror *mirror, uint32_t next, uint64_t lost)
{
	assert_int_equal(ft_mirror_sequence_lost(mirror->sequence, 0), lost);
	see_run(mirror, next, 1000);
	assert_int_equal(ft_mirror_sequence_lost(mirror->sequence, 0), lost);
	ft_mirror_sequence_destroy(mirror->sequence);
}

static void short_runs_lose_what_they_skip(void **state)
{
	static const struct {
		const char *what;
		uint32_t numbers[8];
		size_t count;
		uint64_t lost;
	} rows[] = {
		{ "in order", { 1, 2, 3, 4, 5, 6, 7, 8 }, 8, 0 },
		{ "one missing", { 1, 2, 4, 5, 6, 7, 8, 9 }, 8, 1 },
		{ "two holes", { 10, 12, 13, 20, 21, 22, 23, 24 }, 8, 7 },
		{ "late ones fill their holes", { 1, 5, 2, 4, 3, 6, 8, 7 }, 8, 0 },
		{ "late by less than the window", { 1, 2, 4, 257, 258, 3, 259, 260 }, 8, 252 },
		{ "each twice", { 1, 1, 2, 2, 3, 3, 4, 4 }, 8, 0 },
		{ "twice, then a hole", { 1, 1, 2, 2, 6, 6, 7, 7 }, 8, 3 },
		{ "before the first one", { 100, 99, 98, 101, 102, 103, 104, 105 }, 8, 0 },
		{ "always zero", { 0, 0, 0, 0, 0, 0, 0, 0 }, 8, 0 },
		{ "wrapping", { 0xfffffffe, 0xffffffff, 0, 1, 2, 3, 4, 5 }, 8, 0 },
		{ "wrapping with a hole", { 0xfffffffe, 1, 2, 3, 4, 5, 6, 7 }, 8, 2 },
		{ "wrapping out of order", { 0xffffffff, 1, 0, 2, 3, 4, 5, 6 }, 8, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct mirror mirror = mirror_of(1);

		print_message("%s\n", rows[i].what);
		see_all(&mirror, rows[i].numbers, rows[i].count);
		lost_in_the_end(&mirror, rows[i].numbers[rows[i].count - 1] + 1, rows[i].lost);
	}
}

static void a_number_of_16_bits_wraps(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	mirror.bits = 16;
	see_run(&mirror, 0xff00, 0x200);
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 0), 0);
	see_run(&mirror, 0x103, 10);
	lost_in_the_end(&mirror, 0x10d, 3);
}

static void a_long_burst_is_lost(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	see_run(&mirror, 0, 1000);
	mirror.now_ns += SECOND;
	see_run(&mirror, 501000, 1);
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 0), 0); /* not believed yet */
	see_run(&mirror, 501001, 2);
	lost_in_the_end(&mirror, 501003, 500000);
}

static void a_burst_whose_end_has_holes_counts_them_too(void **state)
{
	static const uint32_t after[] = { 10010, 10020, 10030, 10031 };
	struct mirror mirror = mirror_of(1);

	(void)state;
	see_run(&mirror, 0, 10);
	mirror.now_ns += SECOND;
	see_all(&mirror, after, 4);
	lost_in_the_end(&mirror, 10032, 10022 - 4);
}

static void more_than_can_have_been_sent_is_not_lost(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	see_run(&mirror, 0, 1000);
	see_run(&mirror, 1u << 30, 1000); /* a microsecond later */
	lost_in_the_end(&mirror, (1u << 30) + 1000, 0);
}

static void a_session_that_starts_anew_loses_nothing(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	see_run(&mirror, 5000, 1000);
	mirror.now_ns += SECOND;
	see_run(&mirror, 0, 1000);
	lost_in_the_end(&mirror, 1000, 0);
}

static void a_session_silent_for_minutes_starts_anew(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	see_run(&mirror, 0, 1000);
	mirror.now_ns += 301 * SECOND;
	see_run(&mirror, 1100, 10);
	lost_in_the_end(&mirror, 1110, 0);
}

/* What is left out behind that is lost as before. */
static void a_session_that_started_anew_is_followed_from_there(void **state)
{
	static const uint64_t pauses_s[] = { 1, 301 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct mirror mirror = mirror_of(1);

		see_run(&mirror, 5000, 1000);
		mirror.now_ns += pauses_s[i] * SECOND;
		see_run(&mirror, 0, 1000);
		see_run(&mirror, 1007, 1000);
		lost_in_the_end(&mirror, 2007, 7);
	}
}

/* A frame a minute: nothing is silent, however long it goes on. */
static void a_slow_session_goes_on(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	for (uint32_t number = 0; number < 60; number++) {
		mirror.now_ns += 60 * SECOND;
		see_on(&mirror, 0, number < 30 ? number : number + 3);
	}
	see_run(&mirror, 63, 300);
	lost_in_the_end(&mirror, 363, 3);
}

/* Two bursts are lost, one after the other: what came between them is the time that the second had. */
static void a_burst_has_the_time_since_the_frame_before(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	see_run(&mirror, 0, 1000);
	mirror.now_ns += SECOND;
	see_run(&mirror, 501000, 1000);
	see_run(&mirror, 1u << 30, 1000); /* a microsecond later */
	lost_in_the_end(&mirror, (1u << 30) + 1000, 500000);
}

static void numbers_that_make_no_sense_are_no_loss(void **state)
{
	struct mirror mirror = mirror_of(1);
	uint32_t number = 1;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		see_on(&mirror, 0, number);
		number = number * 1664525 + 1013904223; /* from all over the 32 bits */
	}
	assert_true(ft_mirror_sequence_lost(mirror.sequence, 0) < FT_MIRROR_WINDOW);
	ft_mirror_sequence_destroy(mirror.sequence);
}

static void one_stray_number_is_no_loss(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	see_run(&mirror, 0, 1000);
	see_on(&mirror, 0, 900000);
	see_run(&mirror, 1000, 10);
	see_on(&mirror, 0, 900001);
	see_run(&mirror, 1010, 10);
	see_on(&mirror, 0, 900002);
	lost_in_the_end(&mirror, 1020, 0);
}

static void sessions_count_apart(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		mirror.session = 7;
		see_on(&mirror, 0, i);
		mirror.session = 7 + 4 * FT_MIRROR_SESSIONS; /* the same slot */
		see_on(&mirror, 0, 3 * i);
	}
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 0), 2 * 499);
	ft_mirror_sequence_destroy(mirror.sequence);
}

static void a_session_over_two_inputs_is_one(void **state)
{
	struct mirror mirror = mirror_of(2);

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		see_on(&mirror, i & 1, i);
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 0), 0);
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 1), 0);
	ft_mirror_sequence_destroy(mirror.sequence);
}

static void loss_is_told_under_the_input_that_shows_it(void **state)
{
	struct mirror mirror = mirror_of(2);

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		see_on(&mirror, 0, i);
	for (uint32_t i = 1010; i < 2000; i++)
		see_on(&mirror, 1, i);
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 0), 0);
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 1), 10);
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 2), 0);
	ft_mirror_sequence_destroy(mirror.sequence);
}

static void sessions_beyond_the_most_are_counted(void **state)
{
	struct mirror mirror = mirror_of(1);

	(void)state;
	for (uint32_t i = 0; i < FT_MIRROR_SESSIONS + 10; i++) {
		mirror.session = i;
		see_on(&mirror, 0, 1);
		see_on(&mirror, 0, 3);
	}
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 0), FT_MIRROR_SESSIONS);
	assert_int_equal(ft_mirror_sequence_unfollowed(mirror.sequence), 20);
	ft_mirror_sequence_destroy(mirror.sequence);
}

static void frames_of_no_mirror_count_nothing(void **state)
{
	struct mirror mirror = mirror_of(1);
	struct ft_observed observed = { .mirror_sequence_bits = 32 };

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		observed.mirror_sequence = 10 * i;
		ft_mirror_sequence_see(mirror.sequence, 0, &observed);
	}
	assert_int_equal(ft_mirror_sequence_lost(mirror.sequence, 0), 0);
	ft_mirror_sequence_destroy(mirror.sequence);
}

static void a_source_has_inputs(void **state)
{
	struct ft_mirror_sequence *sequence = NULL;

	(void)state;
	assert_int_equal(ft_mirror_sequence_create(&sequence, 0), -EINVAL);
	assert_null(sequence);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_runs_lose_what_they_skip),
		cmocka_unit_test(a_number_of_16_bits_wraps),
		cmocka_unit_test(a_long_burst_is_lost),
		cmocka_unit_test(a_burst_whose_end_has_holes_counts_them_too),
		cmocka_unit_test(more_than_can_have_been_sent_is_not_lost),
		cmocka_unit_test(a_session_that_starts_anew_loses_nothing),
		cmocka_unit_test(a_session_silent_for_minutes_starts_anew),
		cmocka_unit_test(a_session_that_started_anew_is_followed_from_there),
		cmocka_unit_test(a_slow_session_goes_on),
		cmocka_unit_test(a_burst_has_the_time_since_the_frame_before),
		cmocka_unit_test(numbers_that_make_no_sense_are_no_loss),
		cmocka_unit_test(one_stray_number_is_no_loss),
		cmocka_unit_test(sessions_count_apart),
		cmocka_unit_test(a_session_over_two_inputs_is_one),
		cmocka_unit_test(loss_is_told_under_the_input_that_shows_it),
		cmocka_unit_test(sessions_beyond_the_most_are_counted),
		cmocka_unit_test(frames_of_no_mirror_count_nothing),
		cmocka_unit_test(a_source_has_inputs),
	};

	return cmocka_run_group_tests_name("mirror_sequence", tests, NULL, NULL);
}
