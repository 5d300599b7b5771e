#include "dpdk_clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define NOON   (UINT64_C(1795262400) * SECOND)

/* An adapter whose clock runs at `hz`, seen `error_ns` too late at most. */
struct adapter {
	double hz;
	uint64_t first_ticks;
	uint64_t true_ns;  /* now, since NOON */
	uint64_t step_ns;  /* time that passes between two comparisons */
	int64_t system_ns; /* the system's clock is this far from the truth */
	int answer;
	bool stands;
};

static uint64_t ticks_at(const struct adapter *adapter, uint64_t ns)
{
	return adapter->first_ticks + (uint64_t)((double)ns * adapter->hz / 1e9);
}

static int compare(void *opaque, struct ft_dpdk_moment *moment)
{
	struct adapter *adapter = opaque;

	if (adapter->answer != 0)
		return adapter->answer;
	adapter->true_ns += adapter->step_ns;
	*moment = (struct ft_dpdk_moment){
		.ticks = adapter->stands ? adapter->first_ticks
					 : ticks_at(adapter, adapter->true_ns),
		.ns = NOON + adapter->true_ns + (uint64_t)adapter->system_ns,
		.error_ns = 50,
	};
	return 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void times_are_those_of_the_wall(void **state)
{
	static const double rates[] = { 1e9, 156.25e6, 999.98e6, 78.125e6 };

	(void)state;
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		struct adapter adapter = { .hz = rates[i],
					   .first_ticks = UINT64_C(1) << 60,
					   .step_ns = 20000000 };
		struct ft_dpdk_clock clock;

		assert_int_equal(ft_dpdk_clock_set(&clock, compare, &adapter), 0);
		assert_int_equal(clock.error_ns, 50);
		/* a frame that lay in the ring for a while, one of now, one of a little later */
		for (uint64_t at = 10000000; at < 140000000; at += 1234567)
			assert_true(distance(ft_dpdk_clock_ns(&clock, ticks_at(&adapter, at)),
					     NOON + at) < 100);
	}
}

static void ticks_may_wrap(void **state)
{
	struct adapter adapter = { .hz = 1e9,
				   .first_ticks = UINT64_MAX - 30000000,
				   .step_ns = 20000000 };
	struct ft_dpdk_clock clock;

	(void)state;
	assert_int_equal(ft_dpdk_clock_set(&clock, compare, &adapter), 0);
	assert_true(distance(ft_dpdk_clock_ns(&clock, ticks_at(&adapter, 1000)), NOON + 1000) <
		    100);
	assert_true(distance(ft_dpdk_clock_ns(&clock, ticks_at(&adapter, 99000000)),
			     NOON + 99000000) < 100);
}

/* Compared every 0.1 s of its frames' time, a clock that changes its rate is followed. */
static void drift_is_followed(void **state)
{
	struct adapter adapter = { .hz = 1e9, .step_ns = 20000000 };
	struct ft_dpdk_clock clock;
	double ticks;

	(void)state;
	assert_int_equal(ft_dpdk_clock_set(&clock, compare, &adapter), 0);
	ticks = (double)ticks_at(&adapter, adapter.true_ns);
	for (unsigned i = 0; i < 3000; i++) { /* 5 minutes: warming up by 1 ppm per second */
		double hz = 1e9 * (1 + 1e-7 * i);
		uint64_t now, frame;

		adapter.true_ns += 100000001;
		ticks += 0.100000001 * hz;
		/* a linear clock through this very point, for compare() */
		adapter.hz = 1e9;
		adapter.first_ticks =
			(uint64_t)ticks - ticks_at(&(struct adapter){ .hz = 1e9 }, adapter.true_ns);
		now = NOON + adapter.true_ns;
		frame = (uint64_t)ticks;
		assert_true(distance(ft_dpdk_clock_ns(&clock, frame), now) < 2000);
		assert_true(ft_dpdk_clock_is_due(&clock, frame));
		adapter.step_ns = 0;
		ft_dpdk_clock_renew(&clock);
		assert_false(ft_dpdk_clock_is_due(&clock, frame));
		assert_true(distance(ft_dpdk_clock_ns(&clock, frame), now) <= clock.error_ns);
	}
}

static void a_step_of_the_system_is_taken_over_at_once(void **state)
{
	struct adapter adapter = { .hz = 1e9, .step_ns = 20000000 };
	struct ft_dpdk_clock clock;
	uint64_t expected;

	(void)state;
	assert_int_equal(ft_dpdk_clock_set(&clock, compare, &adapter), 0);
	adapter.system_ns = (int64_t)(3 * SECOND);
	adapter.step_ns = 100000000;
	ft_dpdk_clock_renew(&clock);
	assert_true(clock.error_ns >= 3 * SECOND); /* said, for times before it */
	ft_dpdk_clock_renew(&clock);
	assert_true(clock.error_ns < 1000);
	expected = NOON + adapter.true_ns + 3 * SECOND;
	assert_true(distance(ft_dpdk_clock_ns(&clock, ticks_at(&adapter, adapter.true_ns)),
			     expected) < 100);
}

static void a_clock_that_cannot_be_read_is_none(void **state)
{
	struct adapter adapter = { .hz = 1e9, .answer = -ENOTSUP };
	struct ft_dpdk_clock clock = { .error_ns = 77 };

	(void)state;
	assert_int_equal(ft_dpdk_clock_set(&clock, compare, &adapter), -ENOTSUP);
	adapter = (struct adapter){ .hz = 1e9, .stands = true, .step_ns = 1000 };
	assert_int_equal(ft_dpdk_clock_set(&clock, compare, &adapter), -ERANGE);
	assert_int_equal(clock.error_ns, 77);
}

static void an_answer_that_fails_later_changes_nothing(void **state)
{
	struct adapter adapter = { .hz = 1e9, .step_ns = 20000000 };
	struct ft_dpdk_clock clock, before;

	(void)state;
	assert_int_equal(ft_dpdk_clock_set(&clock, compare, &adapter), 0);
	before = clock;
	adapter.answer = -EIO;
	ft_dpdk_clock_renew(&clock);
	assert_int_equal(clock.last.ns, before.last.ns);
	assert_int_equal(clock.error_ns, before.error_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_those_of_the_wall),
		cmocka_unit_test(ticks_may_wrap),
		cmocka_unit_test(drift_is_followed),
		cmocka_unit_test(a_step_of_the_system_is_taken_over_at_once),
		cmocka_unit_test(a_clock_that_cannot_be_read_is_none),
		cmocka_unit_test(an_answer_that_fails_later_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
