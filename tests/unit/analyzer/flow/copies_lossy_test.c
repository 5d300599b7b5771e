#include "copies_wire.h"

/* A lossy fabric, mirrored once or twice. */

enum { LOSSY_FRAMES = 1400 };

/* Bursts of 100 requests; each burst has a NAK for its middle, and what follows it again. */
static size_t lossy(struct ft_observed *frames)
{
	size_t count = 0;

	for (uint32_t burst = 0; burst < 8; burst++) {
		uint32_t first = burst * 100, middle = first + 50;
		uint64_t us = burst * 3000;

		for (uint32_t i = 0; i < 100; i++)
			frames[count++] = packet(WRITE_MIDDLE, first + i, us + i);
		frames[count++] = answer(ACKNOWLEDGE, NAK_SEQUENCE, middle, us + 103);
		for (uint32_t i = 0; i < 50; i++)
			frames[count++] = packet(WRITE_MIDDLE, middle + i, us + 110 + i);
		frames[count++] = answer(ACKNOWLEDGE, 0x1f, first + 99, us + 170);
	}
	return count;
}

struct tally {
	unsigned by_verdict[3];
};

/* The frames, each again `delay_us` later (0: at once); by time. */
static struct tally doubled(const struct ft_observed *frames, size_t count, uint64_t delay_us)
{
	struct ft_copies *copies = copies_made();
	struct tally tally = { { 0 } };
	size_t originals = 0, again = 0;

	while (again < count) {
		struct ft_observed late = frames[again];

		late.ts_ns += delay_us * US;
		if (originals < count &&
		    (again == originals || frames[originals].ts_ns < late.ts_ns)) {
			tally.by_verdict[check(copies, frames[originals++])]++;
		} else {
			tally.by_verdict[check(copies, late)]++;
			again++;
		}
	}
	ft_copies_destroy(copies);
	return tally;
}

static void doubling_changes_nothing_but_the_copies(void **state)
{
	static const uint64_t delays_us[] = { 0, 1, 5, 20, 40, 70, 200 };
	static struct ft_observed frames[LOSSY_FRAMES];
	struct ft_copies *copies = copies_made();
	struct tally once = { { 0 } };
	size_t count = lossy(frames);

	(void)state;
	for (size_t i = 0; i < count; i++)
		once.by_verdict[check(copies, frames[i])]++;
	ft_copies_destroy(copies);
	assert_int_equal(once.by_verdict[FT_COPY_YES], 0);
	assert_int_equal(once.by_verdict[FT_COPY_REPEATED], 8 * 50);
	for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i++) {
		struct tally twice = doubled(frames, count, delays_us[i]);

		print_message("%u us\n", (unsigned)delays_us[i]);
		assert_int_equal(twice.by_verdict[FT_COPY_YES], count);
		assert_int_equal(twice.by_verdict[FT_COPY_REPEATED], 8 * 50);
		assert_int_equal(twice.by_verdict[FT_COPY_NO], count - 8 * 50);
	}
}

/*
 * A request, and after a while bursts of 40, each refused from its middle on. The first NAK comes before any copy of its
 * burst: so many originals and one copy look as if little were copied.
 */
static size_t often_refused(struct ft_observed *frames, bool counting)
{
	size_t count = 0;

	frames[count++] = packet(WRITE_MIDDLE, 0xfffff0, 0);
	for (uint32_t burst = 0; burst < 20; burst++) {
		uint32_t first = burst * 40;
		uint64_t us = 3000 + burst * 150;

		for (uint32_t i = 0; i < 30; i++)
			frames[count++] = packet(WRITE_MIDDLE, first + i, us + i);
		frames[count++] = answer(ACKNOWLEDGE, NAK_SEQUENCE, first + 20, us + 31);
		for (uint32_t i = 30; i < 40; i++)
			frames[count++] = packet(WRITE_MIDDLE, first + i, us + 2 + i);
		for (uint32_t i = 20; i < 40; i++)
			frames[count++] = packet(WRITE_MIDDLE, first + i, us + 50 + i);
		frames[count++] = answer(ACKNOWLEDGE, 0x1f, first + 39, us + 100);
	}
	for (size_t i = 0; i < count; i++) {
		frames[i].has |= FT_OBSERVED_IPV4;
		frames[i].ip_id = counting ? (uint16_t)(i + 65000) : 0x4242;
		frames[i].digest ^= (uint64_t)frames[i].ip_id << 44;
	}
	return count;
}

static void where_identifications_count_the_same_one_is_a_copy(void **state)
{
	static const uint64_t delays_us[] = { 0, 1, 5, 10, 30, 100, 300, 900, 1000 };
	static struct ft_observed frames[LOSSY_FRAMES];
	size_t count = often_refused(frames, true);

	(void)state;
	for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i++) {
		struct tally twice = doubled(frames, count, delays_us[i]);

		print_message("%u us\n", (unsigned)delays_us[i]);
		assert_int_equal(twice.by_verdict[FT_COPY_NO], count);
		assert_int_equal(twice.by_verdict[FT_COPY_YES], count);
	}
}

static void where_they_are_constant_a_reason_tells(void **state)
{
	static struct ft_observed frames[LOSSY_FRAMES];
	struct ft_copies *copies = copies_made();
	struct tally once = { { 0 } };
	size_t count = often_refused(frames, false);

	(void)state;
	for (size_t i = 0; i < count; i++)
		once.by_verdict[check(copies, frames[i])]++;
	assert_int_equal(once.by_verdict[FT_COPY_REPEATED], 20 * 20);
	assert_int_equal(once.by_verdict[FT_COPY_YES], 0);
	ft_copies_destroy(copies);
}

/* 20 requests to four queue pairs, each of which has an identification of its own. */
static void check_flows(struct ft_copies *copies, uint64_t us, enum ft_copy_verdict expected)
{
	for (uint32_t i = 0; i < 20; i++) {
		struct ft_observed frame = packet(WRITE_MIDDLE, 10 + i, us + i);

		frame.has |= FT_OBSERVED_IPV4;
		frame.dest_qp = i % 4;
		frame.ip_id = (uint16_t)(100 + i % 4);
		assert_int_equal(check(copies, frame), expected);
	}
}

static void a_constant_of_each_queue_pair_does_not_count(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 10, 1));
	check_flows(copies, 2, FT_COPY_NO);
	check(copies, answer(ACKNOWLEDGE, RNR, 10, 30));
	check_flows(copies, 40, FT_COPY_REPEATED);
	ft_copies_destroy(copies);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doubling_changes_nothing_but_the_copies),
		cmocka_unit_test(where_identifications_count_the_same_one_is_a_copy),
		cmocka_unit_test(where_they_are_constant_a_reason_tells),
		cmocka_unit_test(a_constant_of_each_queue_pair_does_not_count),
	};

	return cmocka_run_group_tests_name("copies, lossy", tests, NULL, NULL);
}
