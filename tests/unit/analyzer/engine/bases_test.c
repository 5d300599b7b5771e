#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bases.h"

enum { BASE = 0x1234, SEED = 7, MANY = 1 << 18 };
#define S UINT64_C(1000000000)

static struct ft_flow flow(uint32_t dest_qp, uint16_t base, uint64_t last_ns)
{
	return (struct ft_flow){
		.key = { .dest_qp = dest_qp, .base = FT_FLOW_ANY_BASE, .vlan = FT_FLOW_ANY_VLAN },
		.first_base = base,
		.last_ns = last_ns,
	};
}

static int set_up(void **state)
{
	static struct ft_bases bases;

	assert_int_equal(ft_bases_init(&bases, 4, 300 * S, SEED), 0);
	bases.now_ns = 1000 * S;
	*state = &bases;
	return 0;
}

static int tear_down(void **state)
{
	ft_bases_free(*state);
	return 0;
}

static void what_was_let_go_of_is_known_once(void **state)
{
	struct ft_bases *bases = *state;
	struct ft_flow gone = flow(17, BASE, 999 * S), other = flow(18, BASE, 999 * S);

	assert_true(ft_bases_are_empty(bases));
	ft_bases_keep(bases, &gone);
	assert_false(ft_bases_are_empty(bases));
	assert_int_equal(ft_bases_take(bases, &other.key), FT_FLOW_NO_BASE);
	assert_int_equal(ft_bases_take(bases, &gone.key), BASE);
	assert_int_equal(ft_bases_take(bases, &gone.key), FT_FLOW_NO_BASE);
}

static void the_newest_base_counts(void **state)
{
	struct ft_bases *bases = *state;
	struct ft_flow before = flow(17, BASE, 998 * S), after = flow(17, BASE + 1, 999 * S);

	ft_bases_keep(bases, &before);
	ft_bases_keep(bases, &after);
	assert_int_equal(ft_bases_take(bases, &after.key), BASE + 1);
	assert_int_equal(bases->dropped, 0);
}

static void silence_ends_it(void **state)
{
	struct ft_bases *bases = *state;
	struct ft_flow gone = flow(17, BASE, 999 * S), long_ago = flow(18, BASE, 699 * S);

	ft_bases_keep(bases, &gone);
	ft_bases_keep(bases, &long_ago);
	bases->now_ns = 1298 * S;
	assert_int_equal(ft_bases_take(bases, &long_ago.key), FT_FLOW_NO_BASE);
	assert_int_equal(ft_bases_take(bases, &gone.key), BASE);
	ft_bases_keep(bases, &gone);
	bases->now_ns = 1300 * S;
	assert_int_equal(ft_bases_take(bases, &gone.key), FT_FLOW_NO_BASE);
}

static uint32_t known(struct ft_bases *bases, uint32_t count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct ft_flow one = flow(i, BASE, 0);

		sum += ft_bases_take(bases, &one.key) == BASE;
	}
	return sum;
}

static void what_there_is_no_room_for_is_counted(void **state)
{
	struct ft_bases *bases = *state;

	for (uint32_t i = 0; i < MANY; i++) {
		struct ft_flow gone = flow(i, BASE, 900 * S + i * 1000000);

		ft_bases_keep(bases, &gone);
	}
	assert_true(bases->dropped > 0);
	assert_int_equal(known(bases, MANY) + bases->dropped, MANY);
}

static void but_not_if_it_was_silent_for_long(void **state)
{
	struct ft_bases *bases = *state;

	for (uint32_t i = 0; i < 2 * MANY; i++) {
		struct ft_flow gone = flow(i, BASE, bases->now_ns);

		ft_bases_keep(bases, &gone);
		bases->now_ns += 100 * S;
	}
	assert_int_equal(bases->dropped, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_let_go_of_is_known_once),
		TEST(the_newest_base_counts),
		TEST(silence_ends_it),
		TEST(what_there_is_no_room_for_is_counted),
		TEST(but_not_if_it_was_silent_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
