#include "copies_wire.h"

#include <errno.h>

/* --- one original, one candidate --- */

static void a_candidate_is_a_copy_or_not(void **state)
{
	static const struct {
		const char *what;
		uint64_t after_ns, window_ns;
		uint32_t rules_first, rules_second;
		uint32_t hop_changed;
		uint16_t vlan_first, vlan_second;
		uint8_t alike;
		bool other_bytes;
		enum ft_copy_verdict verdict;
	} rows[] = {
		{ "at once", .verdict = FT_COPY_YES },
		{ "within the window", .after_ns = 1000000, .verdict = FT_COPY_YES },
		{ "later", .after_ns = 1000001, .verdict = FT_COPY_NO },
		{ "window of 5 us", .after_ns = 5001, .window_ns = 5000, .verdict = FT_COPY_NO },
		{ "other bytes", .other_bytes = true, .verdict = FT_COPY_NO },
		{ "breaks a rule its original did not", .rules_second = 4, .verdict = FT_COPY_NO },
		{ "breaks the same rules", .rules_first = 6, .rules_second = 6,
		  .verdict = FT_COPY_YES },
		{ "breaks fewer rules", .rules_first = 6, .rules_second = 2,
		  .verdict = FT_COPY_YES },
		{ "breaks others", .rules_first = 2, .rules_second = 4, .verdict = FT_COPY_NO },
		{ "a router's hop", .hop_changed = 0x12345601, .verdict = FT_COPY_YES },
		{ "other time to live only", .hop_changed = 0x01, .verdict = FT_COPY_NO },
		{ "other MAC addresses only", .hop_changed = 0x12345600, .verdict = FT_COPY_NO },
		{ "tagged on the way", .vlan_second = 7, .verdict = FT_COPY_YES },
		{ "untagged on the way", .vlan_first = 7, .verdict = FT_COPY_YES },
		{ "in another VLAN", .vlan_first = 7, .vlan_second = 8, .verdict = FT_COPY_NO },
		{ "routed to another VLAN", .vlan_first = 7, .vlan_second = 8,
		  .hop_changed = 0x12345601, .verdict = FT_COPY_YES },
		{ "not RDMA", .after_ns = 500000, .alike = FT_ALIKE_FOREIGN,
		  .verdict = FT_COPY_YES },
		{ "one of many alike, at once", .after_ns = 1000, .alike = FT_ALIKE_PLAIN,
		  .verdict = FT_COPY_YES },
		{ "one of many alike, later", .after_ns = 1001, .alike = FT_ALIKE_PLAIN,
		  .verdict = FT_COPY_NO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_copies_config config = FT_COPIES_DEFAULTS;
		struct ft_observed first = packet(WRITE_MIDDLE, 5, 0), second;
		struct ft_copies *copies;

		print_message("%s\n", rows[i].what);
		if (rows[i].window_ns != 0)
			config.window_ns = rows[i].window_ns;
		assert_int_equal(ft_copies_create(&copies, &config), 0);
		first.alike = rows[i].alike;
		first.vlan = rows[i].vlan_first;
		second = first;
		second.ts_ns += rows[i].after_ns;
		second.hop ^= rows[i].hop_changed;
		second.vlan = rows[i].vlan_second;
		second.digest += rows[i].other_bytes;
		assert_int_equal(ft_copies_check(copies, &first, rows[i].rules_first), FT_COPY_NO);
		assert_int_equal(ft_copies_check(copies, &second, rows[i].rules_second),
				 rows[i].verdict);
		ft_copies_destroy(copies);
	}
}

static void a_clock_that_steps_back_keeps_copies(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 5000)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 4500)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 3999)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void without_a_time_stamp_nothing_is_a_copy(void **state)
{
	struct ft_copies *copies = copies_made();
	struct ft_observed timeless = packet(WRITE_MIDDLE, 5, 0);

	(void)state;
	timeless.ts_ns = UINT64_MAX;
	assert_int_equal(check(copies, timeless), FT_COPY_NO);
	assert_int_equal(check(copies, timeless), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void without_a_window_nothing_is_a_copy(void **state)
{
	struct ft_copies_config config = { .window_ns = 0, .entries = 256 };
	struct ft_copies *copies;

	(void)state;
	assert_int_equal(ft_copies_create(&copies, &config), 0);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 0)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 0)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void a_copy_is_no_original(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 0)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 900)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 1001)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

/* --- frames of which many are alike --- */

/* Frames at these times, all alike; how many are copies? */
static unsigned alike_copies(struct ft_copies *copies, uint8_t opcode, const uint64_t *us,
			     size_t count)
{
	unsigned found = 0;

	for (size_t i = 0; i < count; i++)
		found += check(copies, packet(opcode, 0, us[i])) == FT_COPY_YES;
	return found;
}

static void congestion_notices_alike_are_no_copies(void **state)
{
	static const uint64_t us[] = { 0, 7, 30, 53, 200, 207 };
	struct ft_copies *copies = copies_made();

	(void)state;
	assert_int_equal(alike_copies(copies, CNP, us, 6), 0);
	ft_copies_destroy(copies);
}

static void where_others_are_copied_each_notice_has_one_copy(void **state)
{
	static const uint64_t in_turn[] = { 0, 30, 40, 70 };      /* A A' B B' */
	static const uint64_t delayed[] = { 500, 507, 530, 537 }; /* A B A' B' */
	static const uint64_t alone[] = { 3000, 3500, 4100 };
	struct ft_copies *copies = copies_made();

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		check(copies, packet(WRITE_MIDDLE, i, 0));
		check(copies, packet(WRITE_MIDDLE, i, 20));
	}
	assert_int_equal(alike_copies(copies, CNP, in_turn, 4), 2);
	assert_int_equal(alike_copies(copies, CNP, delayed, 4), 2);
	assert_int_equal(alike_copies(copies, CNP, alone, 3), 1);
	ft_copies_destroy(copies);
}

static void only_the_direction_that_is_copied_counts(void **state)
{
	struct ft_copies *copies = copies_made();
	struct ft_observed notice = answer(CNP, 0, 0, 100);

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		check(copies, packet(WRITE_MIDDLE, i, i));
		check(copies, packet(WRITE_MIDDLE, i, i));
		check(copies, answer(ACKNOWLEDGE, 0x1f, i, i)); /* the other way: once each */
	}
	assert_int_equal(check(copies, notice), FT_COPY_NO);
	notice.ts_ns += 20 * US;
	assert_int_equal(check(copies, notice), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void three_mirrored_ports_make_two_copies_of_each(void **state)
{
	static const uint64_t us[] = { 10000, 10020, 10040, 10060 };
	struct ft_copies *copies = copies_made();

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		for (uint32_t port = 0; port < 3; port++)
			assert_int_equal(check(copies, packet(WRITE_MIDDLE, i, 5 * i + port)),
					 port == 0 ? FT_COPY_NO : FT_COPY_YES);
	assert_int_equal(alike_copies(copies, CNP, us, 4), 2);
	ft_copies_destroy(copies);
}

static void a_burst_copied_after_its_end_is_copied_once(void **state)
{
	static const uint64_t us[] = { 500, 520, 540, 560 };
	struct ft_copies *copies = copies_made();

	(void)state;
	for (uint32_t i = 0; i < 400; i++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, i % 200, i)),
				 i < 200 ? FT_COPY_NO : FT_COPY_YES);
	assert_int_equal(alike_copies(copies, CNP, us, 4), 2);
	ft_copies_destroy(copies);
}

/* Requests, two copies of each or none, so far apart that windows do not meet. */
static uint64_t run_copied(struct ft_copies *copies, unsigned count, bool copied, uint64_t us)
{
	for (uint32_t i = 0; i < count; i++, us += 2000) {
		check(copies, packet(WRITE_MIDDLE, i, us));
		if (copied)
			check(copies, packet(WRITE_MIDDLE, i, us + 20));
	}
	return us;
}

static void a_mirror_that_changes_its_ways_is_noticed(void **state)
{
	struct ft_copies *copies = copies_made();
	uint64_t us = run_copied(copies, 300, true, 0);

	(void)state;
	us = run_copied(copies, 1000, false, us);
	assert_int_equal(check(copies, packet(CNP, 0, us)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(CNP, 0, us + 20)), FT_COPY_NO);
	us = run_copied(copies, 1000, true, us + 2000);
	assert_int_equal(check(copies, packet(CNP, 0, us)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(CNP, 0, us + 20)), FT_COPY_YES);
	us += 61000000; /* a minute of silence */
	assert_int_equal(check(copies, packet(CNP, 0, us)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(CNP, 0, us + 20)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void other_pairs_do_not_count(void **state)
{
	static const uint64_t us[] = { 100, 120 };
	struct ft_copies *copies = copies_made();
	struct ft_observed other = packet(WRITE_MIDDLE, 1, 0);

	(void)state;
	other.pair = OTHER_PAIR;
	check(copies, other);
	assert_int_equal(check(copies, other), FT_COPY_YES);
	assert_int_equal(alike_copies(copies, CNP, us, 2), 0);
	ft_copies_destroy(copies);
}

/* --- memory --- */

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

/* 100000 frames, 40 in a window; a third are copies of one of the last 30 or so. */
static void run_random(uint64_t seed, uint32_t entries, uint8_t *verdicts)
{
	struct ft_copies *copies = copies_with(entries, seed);
	uint64_t random = 99;

	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t psn = i;
		struct ft_observed frame;

		if (next_random(&random) % 3 == 0)
			psn = i - (uint32_t)(next_random(&random) % 30);
		frame = packet(WRITE_MIDDLE, psn & 0xffffff, 25 * i);
		verdicts[i] = (uint8_t)check(copies, frame);
	}
	ft_copies_destroy(copies);
}

static void neither_seed_nor_room_change_a_verdict(void **state)
{
	static uint8_t expected[100000], got[100000];

	(void)state;
	run_random(1, 256, expected);
	for (uint64_t seed = 2; seed < 6; seed++) {
		run_random(seed * 0x123456789abcdefu, seed == 2 ? 1u << 16 : 256, got);
		assert_memory_equal(got, expected, sizeof got);
	}
}

static void the_oldest_is_forgotten_first(void **state)
{
	struct ft_copies *copies = copies_with(256, 3);

	(void)state;
	for (uint32_t psn = 0; psn < 257; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, 0)), FT_COPY_NO);
	for (uint32_t psn = 256; psn > 0; psn--)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, 0)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 0, 0)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void sizes_out_of_range_are_refused(void **state)
{
	static const uint32_t refused[] = { 0, 255, 257, 128, 1u << 25 };
	struct ft_copies *copies = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct ft_copies_config config = { .window_ns = 1, .entries = refused[i] };

		assert_int_equal(ft_copies_create(&copies, &config), -EINVAL);
	}
	assert_null(copies);
	ft_copies_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_candidate_is_a_copy_or_not),
		cmocka_unit_test(a_clock_that_steps_back_keeps_copies),
		cmocka_unit_test(without_a_time_stamp_nothing_is_a_copy),
		cmocka_unit_test(without_a_window_nothing_is_a_copy),
		cmocka_unit_test(a_copy_is_no_original),
		cmocka_unit_test(congestion_notices_alike_are_no_copies),
		cmocka_unit_test(where_others_are_copied_each_notice_has_one_copy),
		cmocka_unit_test(only_the_direction_that_is_copied_counts),
		cmocka_unit_test(three_mirrored_ports_make_two_copies_of_each),
		cmocka_unit_test(a_burst_copied_after_its_end_is_copied_once),
		cmocka_unit_test(a_mirror_that_changes_its_ways_is_noticed),
		cmocka_unit_test(other_pairs_do_not_count),
		cmocka_unit_test(neither_seed_nor_room_change_a_verdict),
		cmocka_unit_test(the_oldest_is_forgotten_first),
		cmocka_unit_test(sizes_out_of_range_are_refused),
	};

	return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
