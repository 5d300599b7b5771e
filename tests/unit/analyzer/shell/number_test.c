#include "cmocka_headers.h"

#include "number.h"

static void whole_numbers_are_plain_digits_within_bounds(void **state)
{
	static const struct {
		const char *text;
		bool taken;
		uint64_t value;
	} cases[] = {
		{ "1", true, 1 },
		{ "0042", true, 42 },
		{ "1000", true, 1000 },
		{ "18446744073709551615", false, 0 },
		{ "18446744073709551616", false, 0 },
		{ "99999999999999999999999999", false, 0 },
		{ "0", false, 0 },
		{ "1001", false, 0 },
		{ "", false, 0 },
		{ "-1", false, 0 },
		{ "+1", false, 0 },
		{ " 1", false, 0 },
		{ "1 ", false, 0 },
		{ "1x", false, 0 },
		{ "0x10", false, 0 },
		{ "1e2", false, 0 },
		{ "ten", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 77;

		assert_int_equal(ft_number_read(cases[i].text, 1, 1000, &value), cases[i].taken);
		assert_int_equal(value, cases[i].taken ? cases[i].value : 77);
	}
}

static void the_largest_number_fits(void **state)
{
	uint64_t value;

	(void)state;
	assert_true(ft_number_read("18446744073709551615", 0, UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
	assert_false(ft_number_read("18446744073709551616", 0, UINT64_MAX, &value));
}

static void shares_lie_between_nought_and_one(void **state)
{
	static const char *const refused[] = { "",     "1.01", "-0.5", "nan", "inf", "0x1",
					       "1e-1", ".",    "0.5 ", "0,5", "1..0" };
	double value = -7;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(ft_share_read(refused[i], &value));
	assert_true(value < 0);
	assert_true(ft_share_read("0.75", &value) && value > 0.7499 && value < 0.7501);
	assert_true(ft_share_read("1", &value) && ft_share_read("0", &value) &&
		    ft_share_read(".5", &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_plain_digits_within_bounds),
		cmocka_unit_test(the_largest_number_fits),
		cmocka_unit_test(shares_lie_between_nought_and_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
