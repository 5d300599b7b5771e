#include "cmocka_headers.h"

#include <string.h>

#include <report/render.h>

#include "human.h"

/* Numbers as the headers promise them: three significant digits behind a unit, and where the digits turn over. */

static void counts_are_exact_up_to_a_million(void **state)
{
	static const struct {
		uint64_t count;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 999999, "999999" },
		{ 1000000, "1.00 M" },
		{ 9994999, "9.99 M" },
		{ 9995000, "10.0 M" },
		{ 99949999, "99.9 M" },
		{ 99950000, "100 M" },
		{ 999499999, "999 M" },
		{ 999500000, "1.00 G" },
		{ UINT64_C(1000000000000), "1.00 T" },
		{ UINT64_C(1000000000000000), "1.00 P" },
		{ UINT64_MAX, "18.4 E" },
	};
	struct ft_human human;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(ft_human_count(&human, rows[i].count), rows[i].text);
}

static void bytes_have_powers_of_a_thousand(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 1, "1 B" },           { 999, "999 B" },          { 1000, "1.00 kB" },
		{ 1024, "1.02 kB" },    { 999499, "999 kB" },      { 999500, "1.00 MB" },
		{ 1500000, "1.50 MB" }, { UINT64_MAX, "18.4 EB" },
	};
	struct ft_human human;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(ft_human_bytes(&human, rows[i].bytes), rows[i].text);
}

static void durations_turn_into_hours_and_days(void **state)
{
	static const uint64_t second = 1000000000;
	const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 1500000, "1.50 ms" },
		{ second, "1.00 s" },
		{ 600 * second - 1, "600 s" },
		{ 600 * second, "0 h 10 min" },
		{ 3659 * second, "1 h 00 min" },
		{ 3660 * second, "1 h 01 min" },
		{ 172800 * second - 1, "47 h 59 min" },
		{ 172800 * second, "2 d 00 h" },
		{ 176400 * second, "2 d 01 h" },
	};
	struct ft_human human;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(ft_human_duration(&human, rows[i].ns), rows[i].text);
}

/* 100 only if it is all, and never nothing of something. */
static void shares_are_percent_of_two_digits(void **state)
{
	static const struct {
		double share;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 0.005, "0.5" },
		{ 0.48, "48" },
		{ 0.994, "99" },
		{ 0.995, "99.50" },
		{ 0.9997, "99.97" },
		{ 0.9999999, "99.99" },
		{ 1, "100" },
		{ 2e-6, "0.0002" },
		{ 5e-7, "0.000050" },
		{ 9.6e-9, "0.00000096" },
		{ 1e-12, "0.00000000010" },
		{ 1e-14, "0.000000000001" },
	};
	struct ft_percent percent;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(ft_percent(&percent, rows[i].share), rows[i].text);
}

static void rates_have_no_exponent_below_a_million_billions(void **state)
{
	struct ft_rate rate;

	(void)state;
	assert_string_equal(ft_rate(&rate, 9.99e14, 3), "999000000000000");
	assert_string_equal(ft_rate(&rate, 1e15, 3), "1.00e+15");
	assert_string_equal(ft_rate(&rate, 1.5e-15, 3), "0.0000000000000015");
	assert_string_equal(ft_rate(&rate, 1.5e-16, 3), "1.50e-16");
	assert_string_equal(ft_rate(&rate, 25600, 3), "25600");
}

static void parts_leave_out_what_there_is_none_of(void **state)
{
	static const struct ft_human_part list[] = {
		{ 0, "cut", NULL },       { 1, "copies", "copy" }, { 0, "marks", "mark" },
		{ 1, "malformed", NULL }, { 2, "ports", "port" },
	};
	char text[64], small[12];

	(void)state;
	ft_human_parts(text, sizeof(text), list, 5);
	assert_string_equal(text, "1 copy, 1 malformed, 2 ports");
	ft_human_parts(text, sizeof(text), list, 1);
	assert_string_equal(text, "");
	ft_human_parts(text, sizeof(text), list, 0);
	assert_string_equal(text, "");
	ft_human_parts(small, sizeof(small), list, 5);
	assert_string_equal(small, "1 copy, 1 m");
	assert_string_equal(ft_plural(0), "s");
	assert_string_equal(ft_plural(1), "");
	assert_string_equal(ft_plural(2), "s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_exact_up_to_a_million),
		cmocka_unit_test(bytes_have_powers_of_a_thousand),
		cmocka_unit_test(durations_turn_into_hours_and_days),
		cmocka_unit_test(shares_are_percent_of_two_digits),
		cmocka_unit_test(rates_have_no_exponent_below_a_million_billions),
		cmocka_unit_test(parts_leave_out_what_there_is_none_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
