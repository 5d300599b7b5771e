#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "steady.h"

#define US UINT64_C(1000)

enum { ENDS = 2000, MEAN_US = 100, AMID = ENDS / 2, DRAWS = 200 };

static uint64_t times[ENDS], steps[ENDS];
static uint64_t seed = 1;

static double draw(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

/* At random; behind the one of that number comes a silence. */
static struct ft_silence make(size_t silent_behind, uint64_t silent_us)
{
	uint64_t now = 1000000 * US;

	for (size_t i = 0; i < ENDS; i++) {
		now += (uint64_t)(-log(draw()) * MEAN_US * (double)US);
		times[i] = now;
		if (i == silent_behind)
			now += silent_us * US;
	}
	return (struct ft_silence){ .from_ns = times[silent_behind],
				    .to_ns = times[silent_behind + 1] };
}

static uint64_t silent(const struct ft_silence *silences, size_t count)
{
	return ft_steady_silent_ns(times, steps, ENDS, silences, count);
}

static void a_silence_amid_what_comes_at_random_is_of_none(void **state)
{
	struct ft_silence silence = make(AMID, 3000);

	(void)state;
	assert_int_equal(silent(&silence, 1), silence.to_ns - silence.from_ns);
	assert_int_equal(silent(&silence, 0), 0);
	silence = make(ENDS / 60, 3000);
	assert_int_equal(silent(&silence, 1), 0); /* soon after the beginning */
	silence = make(ENDS - ENDS / 60, 3000);
	assert_int_equal(silent(&silence, 1), 0);
}

/* The longest of a complete capture is such once in a hundred. */
static void the_longest_step_of_all_is_no_silence(void **state)
{
	unsigned found = 0;

	(void)state;
	for (unsigned n = 0; n < DRAWS; n++) {
		struct ft_silence longest = { 0 };

		make(AMID, 0);
		for (size_t i = 1; i < ENDS; i++)
			if (times[i] - times[i - 1] > longest.to_ns - longest.from_ns)
				longest = (struct ft_silence){ .from_ns = times[i - 1],
							       .to_ns = times[i] };
		found += silent(&longest, 1) != 0;
	}
	assert_true(found <= DRAWS * 3 / 100);
}

/* Three that are rather long are as rare as one that is very long. */
static void three_long_silences_count_and_two_do_not(void **state)
{
	struct ft_silence silences[3];
	const uint64_t length = 1000 * US;

	(void)state;
	make(AMID, 0);
	for (size_t k = 0; k < 3; k++) {
		size_t at = ENDS / 4 * (k + 1);

		for (size_t i = at; i < ENDS; i++)
			times[i] += length;
		silences[k].to_ns = times[at];
		silences[k].from_ns = silences[k].to_ns - length;
		times[at - 1] = silences[k].from_ns;
	}
	assert_int_equal(silent(silences, 2), 0);
	assert_int_equal(silent(silences, 3), 3 * length);
}

/* Waves leave steps far longer than most, again and again. */
static void what_comes_in_waves_says_nothing(void **state)
{
	struct ft_silence silence = make(AMID, 3000);

	(void)state;
	for (size_t i = 0; i < ENDS; i++)
		times[i] += i / 40 * 2000 * US;
	silence.from_ns = times[AMID];
	silence.to_ns = times[AMID + 1];
	assert_int_equal(silent(&silence, 1), 0);
}

static void few_ends_say_nothing(void **state)
{
	struct ft_silence silence = make(150, 10000);

	(void)state;
	assert_int_equal(ft_steady_silent_ns(times, steps, FT_STEADY_LEAST - 1, &silence, 1), 0);
	assert_int_not_equal(ft_steady_silent_ns(times, steps, FT_STEADY_LEAST, &silence, 1), 0);
	assert_int_equal(ft_steady_silent_ns(times, steps, 0, &silence, 1), 0);
	for (size_t i = 0; i < ENDS; i++)
		times[i] = 5;
	assert_int_equal(silent(&silence, 1), 0); /* all at once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_silence_amid_what_comes_at_random_is_of_none),
		cmocka_unit_test(the_longest_step_of_all_is_no_silence),
		cmocka_unit_test(three_long_silences_count_and_two_do_not),
		cmocka_unit_test(what_comes_in_waves_says_nothing),
		cmocka_unit_test(few_ends_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
