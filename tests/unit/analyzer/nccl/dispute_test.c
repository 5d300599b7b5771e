#include "follow_play.h"

#include <string.h>

#include "settle.h"

/* Two clear-to-sends for one message that differ, under one PSN: who is quicker than the receiver has its own. */

enum {
	BEFORE = 12,
	AFTER = 6,
	ADDRESS = 3,
	SIZE = 9 /* bytes of an entry, each of such a field */
};

static struct packet forged_of(const struct follow *follow, uint64_t k, unsigned changed)
{
	struct packet forged = cts_of(follow, k);

	forged.bytes[changed] ^= 0x40;
	return forged;
}

/* Message BEFORE is asked for twice; returns the forged one's frame, and the true one's in *own. */
static uint64_t ask_twice(struct follow *follow, unsigned changed, bool is_first, uint64_t *own)
{
	const struct packet forged = forged_of(follow, BEFORE, changed);
	uint64_t frame = 0;

	if (is_first)
		frame = follow_packet(follow, &forged);
	*own = ask(follow, BEFORE);
	if (!is_first)
		frame = follow_packet(follow, &forged);
	return frame;
}

static void expect_one(struct follow *follow, uint64_t frame)
{
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, FT_NCCL_CONTRADICTION);
	assert_int_equal(follow->found[0].frame, frame);
	assert_int_equal(follow->found[0].k, BEFORE);
	follow_stop(follow);
}

static void expect_both(struct follow *follow, uint64_t first, uint64_t second)
{
	assert_int_equal(follow->found_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(follow->found[i].fault, FT_NCCL_CONTRADICTION);
		assert_int_equal(follow->found[i].frame, i == 0 ? first : second);
		assert_non_null(strstr(follow->found[i].text, "one of the two is forged"));
	}
	assert_string_equal(follow->found[0].text, follow->found[1].text);
	follow_stop(follow);
}

static void the_one_that_data_went_by_is_not_told(void **state)
{
	(void)state;
	for (unsigned is_first = 0; is_first < 2; is_first++) {
		struct follow *follow = follow_start('E');
		uint64_t own, frame;

		converse(follow, 0, BEFORE);
		frame = ask_twice(follow, ADDRESS, is_first, &own);
		answer(follow, BEFORE, 4000);
		converse(follow, BEFORE + 1, AFTER);
		follow_keep(follow);
		for (uint64_t k = 0; k < BEFORE + 1 + AFTER; k++)
			assert_int_equal(follow_message(follow, k)->completed, k != BEFORE);
		expect_one(follow, frame);
	}
}

/* Whether the connection has gone on by then, or not. */
static void nothing_is_told_before_data_comes(void **state)
{
	struct follow *follow = follow_start('E');
	uint64_t own, frame;

	(void)state;
	converse(follow, 0, BEFORE);
	frame = ask_twice(follow, ADDRESS, true, &own);
	ask(follow, BEFORE + 1);
	ask(follow, BEFORE + 2);
	assert_int_equal(follow->found_count, 0);
	answer(follow, BEFORE, 4000);
	expect_one(follow, frame);
}

static void one_behind_the_data_is_told(void **state)
{
	struct follow *follow = follow_start('E');
	struct packet forged;
	uint64_t frame;

	(void)state;
	converse(follow, 0, BEFORE);
	forged = forged_of(follow, BEFORE, ADDRESS);
	ask(follow, BEFORE);
	answer(follow, BEFORE, 4000);
	frame = follow_packet(follow, &forged);
	converse(follow, BEFORE + 1, AFTER);
	expect_one(follow, frame);
}

static void both_are_told_where_data_fits_both(void **state)
{
	(void)state;
	for (unsigned is_first = 0; is_first < 2; is_first++) {
		struct follow *follow = follow_start('E');
		uint64_t own, frame;

		converse(follow, 0, BEFORE);
		frame = ask_twice(follow, SIZE, is_first, &own);
		answer(follow, BEFORE, 64);
		converse(follow, BEFORE + 1, AFTER);
		expect_both(follow, is_first ? frame : own, is_first ? own : frame);
	}
}

static void both_are_told_where_none_is_answered(void **state)
{
	struct follow *follow = follow_start('E');
	uint64_t own, frame;

	(void)state;
	converse(follow, 0, BEFORE);
	frame = ask_twice(follow, ADDRESS, true, &own);
	ask(follow, BEFORE + 1);
	ft_nccl_connections_settle(follow->connections);
	expect_both(follow, frame, own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_that_data_went_by_is_not_told),
		cmocka_unit_test(nothing_is_told_before_data_comes),
		cmocka_unit_test(one_behind_the_data_is_told),
		cmocka_unit_test(both_are_told_where_data_fits_both),
		cmocka_unit_test(both_are_told_where_none_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
