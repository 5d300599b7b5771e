#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <flow/spread.h>

enum { VALUES = 20000, ROUNDS = 20 };

static void add_all(struct ft_spread *spread, const uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ft_spread_add(spread, values[i], 1);
}

static void eight_values_are_kept_exactly(void **state)
{
	static const uint32_t values[] = { 80, 10, 70, 20, 60, 30, 50, 40, 10, 80, 10 };
	struct ft_spread spread = { 0 };

	(void)state;
	assert_int_equal(ft_spread_quantile(&spread, 0.5), 0);
	add_all(&spread, values, sizeof(values) / sizeof(values[0]));
	assert_int_equal(spread.kinds, 8);
	assert_int_equal(spread.least, 10);
	assert_int_equal(spread.most, 80);
	/* 11 values: the sixth is the median */
	assert_int_equal(ft_spread_quantile(&spread, 0.5), 40);
	assert_int_equal(ft_spread_quantile(&spread, 0.99), 80);
	assert_int_equal(ft_spread_quantile(&spread, 0), 10);
	assert_int_equal(ft_spread_quantile(&spread, 1), 80);
}

static void a_usual_value_stays_exact_among_many(void **state)
{
	struct ft_spread spread = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		for (unsigned usual = 0; usual < 10; usual++)
			ft_spread_add(&spread, 500, 1);
		ft_spread_add(&spread, 501 + i, 1);
	}
	assert_int_equal(ft_spread_quantile(&spread, 0.5), 500);
	assert_int_equal(spread.most, 1500);
}

static void the_least_and_the_greatest_are_exact(void **state)
{
	struct ft_spread spread = { 0 };

	(void)state;
	for (uint32_t value = 1000; value < 3000; value++)
		ft_spread_add(&spread, value, 1);
	ft_spread_add(&spread, 7, 1);
	ft_spread_add(&spread, UINT32_MAX, 1);
	assert_int_equal(spread.least, 7);
	assert_int_equal(spread.most, UINT32_MAX);
	assert_int_equal(ft_spread_quantile(&spread, 0), 7);
	assert_int_equal(ft_spread_quantile(&spread, 1), UINT32_MAX);
}

static void every_value_has_its_place(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits <= 32; bits++) {
		uint32_t value = bits == 32 ? UINT32_MAX : (uint32_t)(UINT64_C(1) << bits) - 1;
		struct ft_spread spread = { 0 };

		for (uint32_t i = 0; i < 8; i++)
			ft_spread_add(&spread, 7777777 + i, 1);
		ft_spread_add(&spread, value, 1000);
		assert_in_range(ft_spread_quantile(&spread, 0.5), value - value / 64,
				(uint64_t)value + value / 64);
	}
}

static void values_of_any_range_have_room(void **state)
{
	struct ft_spread spread = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		ft_spread_add(&spread, 1000000 + i, 1);
	for (uint32_t i = 0; i < 100; i++) {
		ft_spread_add(&spread, 1u << 30, 1);
		ft_spread_add(&spread, 0, 2);
	}
	assert_in_range(ft_spread_quantile(&spread, 0.5), 0, 2);
	assert_in_range(ft_spread_quantile(&spread, 0.9), 1u << 29, 1u << 30);
}

static void counts_never_overflow(void **state)
{
	struct ft_spread spread = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		ft_spread_add(&spread, 4096, 1u << 28);
		ft_spread_add(&spread, 8 + i, 1u << 28);
		ft_spread_add(&spread, 1u << 20, 1);
	}
	assert_int_equal(ft_spread_quantile(&spread, 0.99), 4096);
	for (unsigned i = 0; i < FT_SPREAD_EXACT; i++)
		assert_in_range(spread.counts[i], 1, 1u << 29);
}

static void two_together_are_as_one(void **state)
{
	struct ft_spread one = { 0 }, other = { 0 }, both = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		ft_spread_add(&one, 1000 + i, 1);
		ft_spread_add(&other, 9000 + 3 * i, 1);
	}
	ft_spread_merge(&both, &one);
	ft_spread_merge(&both, &other);
	assert_int_equal(both.least, 1000);
	assert_int_equal(both.most, 9000 + 3 * 2999);
	/* 6000 values: of the lower half, 2500 more than the first 500 .. */
	assert_in_range(ft_spread_quantile(&both, 0.25), 2500 - 125, 2500 + 125);
	assert_in_range(ft_spread_quantile(&both, 0.75), 13500 - 675, 13500 + 675);
}

/* Of each 70 the greatest is far out: of 140 the 139th, too. */
static void one_far_out_of_either_is_told_of_both(void **state)
{
	struct ft_spread one = { 0 }, other = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 69; i++) {
		ft_spread_add(&one, 2000 + 1600 * i, 1);
		ft_spread_add(&other, 2100 + 1500 * i, 1);
		if (i == 20)
			ft_spread_add(&other, 300000000, 1);
	}
	ft_spread_add(&one, 200000000, 1);
	assert_in_range(ft_spread_quantile(&one, 0.99), 100000000, 200000000);
	ft_spread_merge(&one, &other);
	assert_in_range(ft_spread_quantile(&one, 0.99), 100000000, 300000000);
	assert_in_range(ft_spread_quantile(&one, 0.98), 50000, 220000);
}

/* The greatest is exact: no other one stands for it. */
static void one_that_is_exact_is_no_lone_one(void **state)
{
	struct ft_spread spread = { 0 };

	(void)state;
	ft_spread_add(&spread, UINT32_MAX, 1);
	for (uint32_t i = 0; i < 198; i++)
		ft_spread_add(&spread, 1000 + i, 1);
	ft_spread_add(&spread, 8000000, 1);
	/* the 198th and 199th of 200 */
	assert_in_range(ft_spread_quantile(&spread, 0.99), 1000, 2400);
	assert_in_range(ft_spread_quantile(&spread, 0.995), 4000000, 16000000);
}

/* --- how good it is --- */

static uint64_t seed;

static double chance(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(chance())) * cos(6.283185307179586 * chance());
}

static double narrow(void)
{
	return 20000 * exp(0.5 * normal());
}

static double broad(void)
{
	return 20000 * exp(normal());
}

static double exponential(void)
{
	return -2000 * log(chance());
}

static double even(void)
{
	return 1000 + 9000 * chance();
}

static double long_tail(void)
{
	return 1000 * pow(chance(), -1 / 1.5);
}

static double two_hills(void)
{
	return chance() < 0.6 ? 5000 * (1 + 0.05 * normal()) : 50000 * (1 + 0.1 * normal());
}

static double few_far_out(void)
{
	return chance() < 0.001 ? 4e9 * chance() : 20000 * exp(0.3 * normal());
}

static int ascending(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The mean error of a quantile, as a share of what is true. */
static double error_of(double (*draw)(void), double quantile)
{
	static uint32_t values[VALUES];
	double sum = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct ft_spread spread = { 0 };
		uint32_t *truth = &values[(size_t)ceil(quantile * VALUES) - 1];

		for (size_t i = 0; i < VALUES; i++)
			values[i] = (uint32_t)fmin(fmax(draw(), 1), UINT32_MAX);
		add_all(&spread, values, VALUES);
		qsort(values, VALUES, sizeof *values, ascending);
		assert_int_equal(spread.least, values[0]);
		assert_int_equal(spread.most, values[VALUES - 1]);
		sum += fabs(ft_spread_quantile(&spread, quantile) / (double)*truth - 1);
	}
	return sum / ROUNDS;
}

static void quantiles_are_near_the_truth(void **state)
{
	static const struct {
		const char *how;
		double (*draw)(void);
		double median, last; /* the most that they may be off */
	} kinds[] = {
		{ "narrow", narrow, 0.01, 0.02 },           { "broad", broad, 0.03, 0.05 },
		{ "exponential", exponential, 0.03, 0.12 }, { "even", even, 0.01, 0.02 },
		{ "a long tail", long_tail, 0.03, 0.05 },   { "two hills", two_hills, 0.09, 0.07 },
		{ "few far out", few_far_out, 0.02, 0.08 },
	};
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		double median = error_of(kinds[i].draw, 0.5), last = error_of(kinds[i].draw, 0.99);

		print_message("%-12s p50 %.1f %%, p99 %.1f %%\n", kinds[i].how, 100 * median,
			      100 * last);
		wrong += median > kinds[i].median || last > kinds[i].last;
	}
	assert_int_equal(wrong, 0);
}

/* Of 60 to 300 values, spread over 12 octaves and more. `values` are in order; half a place this way or that is no matter. */
static bool is_within_a_factor_of_two(const struct ft_spread *spread, double quantile,
				      const uint32_t *values, size_t count)
{
	double told = ft_spread_quantile(spread, quantile), place = quantile * (double)count;
	size_t low = (size_t)ceil(place - 0.5), high = (size_t)ceil(place + 0.5);

	return told * 2 >= values[low - 1] &&
	       told <= 2.0 * values[(high < count ? high : count) - 1];
}

static void a_few_far_out_are_told_within_a_factor_of_two(void **state)
{
	static uint32_t values[300];
	unsigned wrong = 0;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		size_t count = 60 + (size_t)(240 * chance());
		double share = 0.03 * chance(), farthest = pow(2, 24 + 8 * chance());
		struct ft_spread spread = { 0 };

		for (size_t i = 0; i < count; i++)
			values[i] = (uint32_t)(chance() < share ? farthest * pow(chance(), 0.5)
								: 2000 * pow(50, chance()));
		add_all(&spread, values, count);
		qsort(values, count, sizeof *values, ascending);
		wrong += !is_within_a_factor_of_two(&spread, 0.5, values, count) ||
			 !is_within_a_factor_of_two(&spread, 0.99, values, count);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_values_are_kept_exactly),
		cmocka_unit_test(a_usual_value_stays_exact_among_many),
		cmocka_unit_test(the_least_and_the_greatest_are_exact),
		cmocka_unit_test(every_value_has_its_place),
		cmocka_unit_test(values_of_any_range_have_room),
		cmocka_unit_test(counts_never_overflow),
		cmocka_unit_test(two_together_are_as_one),
		cmocka_unit_test(one_far_out_of_either_is_told_of_both),
		cmocka_unit_test(one_that_is_exact_is_no_lone_one),
		cmocka_unit_test(quantiles_are_near_the_truth),
		cmocka_unit_test(a_few_far_out_are_told_within_a_factor_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
