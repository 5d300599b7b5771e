/*
 * The memory of frames takes no more room than the window needs. Whatever the traffic does meanwhile,
 * the verdicts are those of a list of all frames that were no copies, searched to its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <flow/copies.h>

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

enum { FRAMES = 1 << 20, ORIGINALS = 6, WINDOW_NS = 1000000 };

/* When the packets with each number were there as originals. */
struct list {
	uint64_t ts_ns[FRAMES][ORIGINALS];
	uint8_t count[FRAMES];
};

struct run {
	struct ft_copies *copies;
	struct list *list;
	uint64_t now_ns, random;
	uint32_t packets; /* numbers used */
	unsigned found;   /* copies */
};

static void begin(struct run *run, uint64_t seed)
{
	struct ft_copies_config config = FT_COPIES_DEFAULTS;

	config.seed = seed;
	*run = (struct run){ .now_ns = 3600000 * MS, .random = 42 };
	run->list = calloc(1, sizeof *run->list);
	assert_non_null(run->list);
	assert_int_equal(config.window_ns, WINDOW_NS);
	assert_int_equal(ft_copies_create(&run->copies, &config), 0);
}

static void end(struct run *run)
{
	ft_copies_destroy(run->copies);
	free(run->list);
}

static uint32_t next_random(struct run *run, uint32_t below)
{
	run->random = run->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(run->random >> 33) % below;
}

static enum ft_copy_verdict check(struct run *run, uint32_t number, uint64_t ts_ns)
{
	struct ft_observed observed = {
		.has = FT_OBSERVED_BTH,
		.ts_ns = ts_ns,
		.digest = (number + 1) * UINT64_C(0x100000001b3),
		.psn = number & 0xffffff,
		.alike = FT_ALIKE_SEQUENCED,
	};

	return ft_copies_check(run->copies, &observed, 0);
}

static bool is_listed(const struct list *list, uint32_t number, uint64_t ts_ns)
{
	for (unsigned i = 0; i < list->count[number]; i++) {
		uint64_t then = list->ts_ns[number][i];

		if ((then > ts_ns ? then - ts_ns : ts_ns - then) <= WINDOW_NS)
			return true;
	}
	return false;
}

static void check_listed(struct run *run, uint32_t number, uint64_t ts_ns)
{
	bool copied = is_listed(run->list, number, ts_ns);
	uint8_t *count = &run->list->count[number];

	assert_int_equal(check(run, number, ts_ns), copied ? FT_COPY_YES : FT_COPY_NO);
	run->found += copied;
	if (copied)
		return;
	assert_true(*count < ORIGINALS);
	run->list->ts_ns[number][(*count)++] = ts_ns;
}

struct phase {
	const char *what;
	uint32_t frames;
	uint32_t gap_ns;    /* from frame to frame */
	uint32_t jitter_ns; /* frames may be stamped so much earlier */
	uint32_t pause_ms;  /* before it */
};

/* One frame in four has the number of one up to 1.2 windows before it. */
static void run_phase(struct run *run, const struct phase *phase)
{
	uint32_t reach = (uint32_t)(WINDOW_NS * 6 / 5 / phase->gap_ns) + 1;

	print_message("%s\n", phase->what);
	run->now_ns += phase->pause_ms * MS;
	for (uint32_t i = 0; i < phase->frames; i++) {
		uint32_t back = 1 + next_random(run, reach);
		uint64_t early = phase->jitter_ns == 0 ? 0 : next_random(run, phase->jitter_ns);
		bool again = next_random(run, 4) == 0 && back <= run->packets;

		check_listed(run, again ? run->packets - back : run->packets++,
			     run->now_ns - early);
		run->now_ns += phase->gap_ns;
	}
}

static void every_original_within_the_window_is_found(void **state)
{
	static const struct phase phases[] = {
		{ "ten million a second", 150000, 100, 0, 0 },
		{ "a hundred thousand", 30000, 10000, 0, 0 },
		{ "a burst after them", 60000, 50, 0, 0 },
		{ "one million, out of order", 100000, 1000, 250000, 0 },
		{ "a burst after a pause", 60000, 30, 0, 100 },
		{ "ten million, out of order", 200000, 100, 250000, 3 },
		{ "few", 12000, 300000, 250000, 0 },
		{ "fifty million", 150000, 20, 0, 0 },
		{ "few again", 140000, 50000, 0, 0 },
		{ "twenty million, out of order", 100000, 50, 200000, 0 },
	};

	(void)state;
	for (uint64_t seed = 1; seed < 3; seed++) {
		struct run run;

		begin(&run, seed * 0x123456789abcdefu);
		for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
			run_phase(&run, &phases[i]);
		assert_true(run.packets < FRAMES && run.found > run.packets / 10);
		end(&run);
	}
}

/* Numbers `first` and on, 10 us apart, once more from the same time on. */
static unsigned copies_of(struct run *run, uint32_t first, uint32_t count, uint64_t from_ns)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < count; i++)
		found += check(run, first + i, from_ns + i * 10 * US) == FT_COPY_YES;
	return found;
}

static void files_put_one_behind_the_other_are_compared(void **state)
{
	struct run run;

	(void)state;
	begin(&run, 7);
	assert_int_equal(copies_of(&run, 0, 60000, run.now_ns), 0);
	assert_int_equal(copies_of(&run, 0, 60000, run.now_ns), 60000);
	end(&run);
}

/* Inputs of a capture that are written by turns, each for 100 ms. */
static void inputs_by_turns_are_compared(void **state)
{
	struct run run;
	uint32_t first = 0;
	unsigned found = 0;

	(void)state;
	begin(&run, 8);
	for (unsigned turn = 0; turn < 20; turn++, first += 10000, run.now_ns += 100 * MS) {
		assert_int_equal(copies_of(&run, first, 10000, run.now_ns), 0);
		found += copies_of(&run, first, 10000, run.now_ns);
	}
	assert_int_equal(found, first);
	end(&run);
}

/* After long order; the first step back may cost originals, the later ones none. */
static void inputs_that_begin_to_turn_are_compared_from_the_second_turn_on(void **state)
{
	struct run run;
	uint32_t first;

	(void)state;
	begin(&run, 9);
	for (first = 0; first < 200000; first++, run.now_ns += 10 * US)
		assert_int_equal(check(&run, first, run.now_ns), FT_COPY_NO);
	for (unsigned turn = 0; turn < 20; turn++, first += 10000, run.now_ns += 100 * MS) {
		assert_int_equal(copies_of(&run, first, 10000, run.now_ns), 0);
		if (turn == 0)
			copies_of(&run, first, 10000, run.now_ns);
		else
			assert_int_equal(copies_of(&run, first, 10000, run.now_ns), 10000);
	}
	end(&run);
}

static void times_near_zero_are_times(void **state)
{
	struct run run;

	(void)state;
	begin(&run, 10);
	run.now_ns = 250000;
	run_phase(&run, &(struct phase){ "from zero on", 300000, 2000, 250000, 0 });
	assert_true(run.found > 30000);
	end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_original_within_the_window_is_found),
		cmocka_unit_test(files_put_one_behind_the_other_are_compared),
		cmocka_unit_test(inputs_by_turns_are_compared),
		cmocka_unit_test(inputs_that_begin_to_turn_are_compared_from_the_second_turn_on),
		cmocka_unit_test(times_near_zero_are_times),
	};

	return cmocka_run_group_tests_name("copies_fit", tests, NULL, NULL);
}
