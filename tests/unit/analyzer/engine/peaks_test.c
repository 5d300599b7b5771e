#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <capture/frame.h>

#include "peaks.h"

#define S(seconds)  (UINT64_C(1795219200000000000) + (uint64_t)((seconds)*1000) * 1000000)
#define TENTH(n)    (UINT64_C(1795219200000000000) + UINT64_C(n) * 100000000)
#define MOST_FRAMES 6

/* Frames of one tenant, in order, and the second that must stand out: from when, with its bytes and frames. */
static const struct row {
	const char *says;
	struct {
		uint64_t ts_ns;
		uint32_t bytes;
	} frames[MOST_FRAMES];
	struct ft_peak_second most;
} rows[] = {
	{ "a tenant that sent nothing", { { 0 } }, { 0, 0, 0 } },
	{ "one frame", { { S(5.25), 1000 } }, { TENTH(52), 1000, 1 } },
	{ "frames of one second add up",
	  { { S(5), 1000 }, { S(5.5), 200 }, { S(5.999), 30 } },
	  { TENTH(50), 1230, 3 } },
	{ "a burst astride a whole second",
	  { { S(5.9), 1000 }, { S(6.1), 1000 } },
	  { TENTH(59), 2000, 2 } },
	{ "a second from any tenth to the tenth before it",
	  { { S(5.3), 1000 }, { S(5.8), 500 }, { S(6.2), 300 } },
	  { TENTH(53), 1800, 3 } },
	{ "and no longer",
	  { { S(5.3), 1000 }, { S(5.8), 500 }, { S(6.3), 300 } },
	  { TENTH(53), 1500, 2 } },
	{ "the middle one of three",
	  { { S(1), 100 }, { S(2), 300 }, { S(3), 200 } },
	  { TENTH(20), 300, 1 } },
	{ "the second that is still open",
	  { { S(1), 100 }, { S(2), 300 } },
	  { TENTH(20), 300, 1 } },
	{ "of equal seconds the first",
	  { { S(1), 100 }, { S(3), 300 }, { S(7), 300 }, { S(9), 300 } },
	  { TENTH(30), 300, 1 } },
	{ "after a long silence",
	  { { S(1), 100 }, { S(1.5), 10 }, { S(900.7), 90 }, { S(901), 90 } },
	  { TENTH(9007), 180, 2 } },
	{ "a frame that is late counts in its own tenth",
	  { { S(1.9), 100 }, { S(2.8), 150 }, { S(1.9), 100 } },
	  { TENTH(19), 350, 3 } },
	{ "also in seconds that are over by then",
	  { { S(1), 100 }, { S(1.9), 100 }, { S(2.7), 10 }, { S(1.9), 100 } },
	  { TENTH(10), 300, 3 } },
	{ "also where that tenth had no frame",
	  { { S(7), 100 }, { S(6.1), 200 } },
	  { TENTH(61), 300, 2 } },
	{ "one that is later counts in the oldest open tenth",
	  { { S(1), 100 }, { S(7), 10 }, { S(8), 20 }, { S(1), 200 } },
	  { TENTH(71), 220, 2 } },
	{ "a late frame does not reopen a second that is over",
	  { { S(1), 100 }, { S(2), 50 }, { S(3), 10 }, { S(1), 60 } },
	  { TENTH(20), 110, 2 } },
	{ "a frame without time is in no second",
	  { { S(1), 100 }, { FT_TS_UNKNOWN, 5000 }, { S(1.5), 10 } },
	  { TENTH(10), 110, 2 } },
	{ "a clock that begins at nought", { { 5, 100 }, { 999999999, 10 } }, { 0, 110, 2 } },
};

static bool row_holds(const struct row *row)
{
	struct ft_peaks peaks;
	struct ft_peak_second most;

	assert_int_equal(ft_peaks_init(&peaks, 1), 0);
	for (unsigned i = 0; i < MOST_FRAMES && row->frames[i].bytes != 0; i++)
		ft_peaks_add(&peaks, 0, row->frames[i].ts_ns, row->frames[i].bytes);
	most = ft_peaks_most(&peaks, 0);
	ft_peaks_free(&peaks);
	if (most.bytes == row->most.bytes && most.frames == row->most.frames &&
	    (most.bytes == 0 || most.from_ns == row->most.from_ns))
		return true;
	print_error("%s: %ju bytes in %ju frames from %ju\n", row->says, (uintmax_t)most.bytes,
		    (uintmax_t)most.frames, (uintmax_t)most.from_ns);
	return false;
}

static void the_second_in_which_a_tenant_sent_most_is_found(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		wrong += !row_holds(&rows[i]);
	assert_int_equal(wrong, 0);
}

static void tenants_are_kept_apart(void **state)
{
	struct ft_peaks peaks;

	(void)state;
	assert_int_equal(ft_peaks_init(&peaks, 2), 0);
	ft_peaks_add(&peaks, 0, S(1), 100);
	ft_peaks_add(&peaks, 1, S(2), 300);
	ft_peaks_add(&peaks, 2, S(1), 7000); /* no tenant */
	ft_peaks_add(&peaks, UINT32_MAX, S(1), 7000);
	assert_int_equal(ft_peaks_most(&peaks, 0).bytes, 100);
	assert_int_equal(ft_peaks_most(&peaks, 1).bytes, 300);
	ft_peaks_free(&peaks);
}

static void bytes_of_a_second_are_gigabits(void **state)
{
	(void)state;
	assert_float_equal(ft_gbps(125000000), 1, 1e-12);
	assert_float_equal(ft_gbps(UINT64_C(50000000000)), 400, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_in_which_a_tenant_sent_most_is_found),
		cmocka_unit_test(tenants_are_kept_apart),
		cmocka_unit_test(bytes_of_a_second_are_gigabits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
