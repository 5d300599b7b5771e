#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recall.h"

#define MS UINT64_C(1000000)

enum { ENTRIES = 1 << 16 };

static uint64_t key_of(uint32_t number)
{
	return (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void add(struct ft_recall *recall, uint32_t number, uint64_t now_ns)
{
	if (!ft_recall_fits(recall, now_ns))
		ft_recall_refit(recall, now_ns);
	ft_recall_add(recall, key_of(number))->ts_ns = now_ns;
}

static bool may_have(const struct ft_recall *recall, uint32_t number)
{
	struct ft_recall_place place = ft_recall_place(recall, key_of(number));

	return ft_recall_may_have(&place);
}

static bool is_found(const struct ft_recall *recall, uint32_t number)
{
	struct ft_recall_walk walk = ft_recall_walk(recall, key_of(number));
	const struct ft_recalled *entry = ft_recall_next(&walk);

	return entry != NULL && entry->key == key_of(number) && ft_recall_next(&walk) == NULL;
}

/* Entries one after the other; which places are in use at the end is said in each row. */
static void a_ring_has_the_places_that_its_time_needs(void **state)
{
	static const struct {
		const char *what;
		uint32_t count, gap_ns;
		uint64_t pause_ns, back_ns;
		uint32_t places;
	} rows[] = {
		{ "all until it was filled", 60000, 100, 0, 0, ENTRIES },
		{ "15000 in the time kept", 10000, 100, 0, 0, 1 << 14 },
		{ "75000, more than there are", 100000, 20, 0, 0, ENTRIES },
		{ "slow, but not filled by it", 10000, 5000, 0, 0, ENTRIES },
		{ "a few hundred: the least", 120000, 5000, 0, 0, 1 << 12 },
		{ "5000", 20000, 300, 0, 0, 1 << 13 },
		{ "a step back behind all of them", 10, 300, 0, 1000 * MS, ENTRIES },
		{ "not in order", 60000, 300, 0, 0, ENTRIES },
		{ "in order again", 140000, 300, 0, 0, 1 << 13 },
		{ "a step back behind the oldest kept", 10, 300, 0, 6 * MS / 5, 1 << 14 },
		{ "a long pause, then a burst", 30000, 10, 60000 * MS, 0, 1 << 15 },
	};
	struct ft_recall recall;
	uint64_t now_ns = 3600000 * MS;
	uint32_t number = 0;

	(void)state;
	assert_int_equal(ft_recall_init(&recall, ENTRIES, 5), 0);
	ft_recall_keep(&recall, MS);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		print_message("%s\n", rows[i].what);
		now_ns += rows[i].pause_ns - rows[i].back_ns;
		for (uint32_t n = 0; n < rows[i].count; n++, now_ns += rows[i].gap_ns)
			add(&recall, number++, now_ns);
		assert_int_equal(recall.ring_mask + 1, rows[i].places);
		for (uint32_t n = 1; n <= 1 << 12; n++) {
			assert_true(may_have(&recall, number - n));
			assert_true(is_found(&recall, number - n));
		}
	}
	ft_recall_free(&recall);
}

static void what_was_never_added_is_seldom_looked_for(void **state)
{
	static const uint32_t gaps_ns[] = { 100, 1000, 10000 };

	(void)state;
	for (size_t i = 0; i < sizeof gaps_ns / sizeof *gaps_ns; i++) {
		uint64_t now_ns = 3600000 * MS;
		uint32_t alarms = 0;
		struct ft_recall recall;

		assert_int_equal(ft_recall_init(&recall, ENTRIES, 6), 0);
		ft_recall_keep(&recall, MS);
		for (uint32_t number = 0; number < 400000; number++, now_ns += gaps_ns[i]) {
			alarms += number >= 200000 && may_have(&recall, number);
			add(&recall, number, now_ns);
		}
		assert_true(alarms < 200000 / 100);
		ft_recall_free(&recall);
	}
}

/* Entries with one key are found from the newest on, across each change of the ring. */
static void entries_of_one_key_stay_in_their_order(void **state)
{
	struct ft_recall recall;
	uint64_t now_ns = 3600000 * MS;
	uint32_t places = ENTRIES;
	unsigned changes = 0;

	(void)state;
	assert_int_equal(ft_recall_init(&recall, ENTRIES, 7), 0);
	ft_recall_keep(&recall, MS);
	for (uint32_t i = 0; i < 600000; i++, now_ns += i / 100000 % 2 == 0 ? 10000 : 50) {
		struct ft_recall_walk walk = ft_recall_walk(&recall, key_of(3));
		uint64_t newer_ns = UINT64_MAX;
		const struct ft_recalled *entry;
		unsigned found = 0;

		add(&recall, i % 1000 == 0 ? 3 : i + 10, now_ns);
		if (recall.ring_mask + 1 == places)
			continue;
		places = recall.ring_mask + 1;
		changes++;
		walk = ft_recall_walk(&recall, key_of(3));
		while ((entry = ft_recall_next(&walk)) != NULL) {
			assert_true(entry->ts_ns < newer_ns);
			newer_ns = entry->ts_ns;
			found++;
		}
		assert_true(found >= 3);
	}
	assert_true(changes >= 5);
	ft_recall_free(&recall);
}

/* Of the first lap; places are free where nothing is pushed out. */
static void free_places_take_what_comes(void **state)
{
	static const uint32_t gaps_ns[] = { 20, 100, 5000, 1000000 };

	(void)state;
	for (size_t i = 0; i < sizeof gaps_ns / sizeof *gaps_ns; i++) {
		uint64_t now_ns = 3600000 * MS;
		struct ft_recall recall;
		unsigned misfits = 0;

		assert_int_equal(ft_recall_init(&recall, ENTRIES, 6), 0);
		ft_recall_keep(&recall, MS);
		for (uint32_t number = 0; number < ENTRIES - 1; number++, now_ns += gaps_ns[i]) {
			misfits += !ft_recall_fits(&recall, now_ns);
			add(&recall, number, now_ns);
		}
		assert_true(misfits <= 1);
		assert_int_equal(recall.ring_mask + 1, ENTRIES);
		ft_recall_free(&recall);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_has_the_places_that_its_time_needs),
		cmocka_unit_test(free_places_take_what_comes),
		cmocka_unit_test(what_was_never_added_is_seldom_looked_for),
		cmocka_unit_test(entries_of_one_key_stay_in_their_order),
	};

	return cmocka_run_group_tests_name("recall", tests, NULL, NULL);
}
