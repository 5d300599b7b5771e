#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <half.h>

/* One direction of TCP, letter by letter; sequence numbers pass through 0. */
enum { FIRST = 0xfffffffc };

struct fixture {
	struct ft_nccl_half half;
	uint8_t window[FT_NCCL_WINDOW + 1]; /* one more, that nothing may touch */
};

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){ .half = { .window = NULL } };
	fixture->half.window = fixture->window;
	fixture->window[FT_NCCL_WINDOW] = 77;
	ft_nccl_half_start(&fixture->half, FIRST);
}

static void put(struct fixture *fixture, uint32_t at, const char *text)
{
	ft_nccl_half_put(&fixture->half, FIRST + at, (const uint8_t *)text, (uint32_t)strlen(text));
	assert_int_equal(fixture->window[FT_NCCL_WINDOW], 77);
}

static void holds(const struct fixture *fixture, const char *text)
{
	assert_int_equal(ft_nccl_half_ready(&fixture->half), strlen(text));
	assert_memory_equal(fixture->window, text, strlen(text));
}

static void pieces_meet_in_any_order(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	put(&fixture, 6, "gh");
	holds(&fixture, "");
	put(&fixture, 2, "cd");
	put(&fixture, 0, "ab");
	holds(&fixture, "abcd");
	put(&fixture, 1, "bcdef");
	holds(&fixture, "abcdefgh");
	put(&fixture, 3, "de");
	put(&fixture, 8, "");
	holds(&fixture, "abcdefgh");
}

static void the_first_copy_of_a_byte_stays(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	put(&fixture, 2, "cd");
	put(&fixture, 6, "gh");
	put(&fixture, 0, "ABCDEFGHI");
	holds(&fixture, "ABcdEFghI");
}

static void what_lies_in_front_is_known(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	put(&fixture, 0, "abcd");
	put(&fixture, 6, "gh");
	ft_nccl_half_drop(&fixture.half, 3);
	holds(&fixture, "d");
	put(&fixture, 0, "xxx");
	holds(&fixture, "d");
	put(&fixture, 1, "xxxef");
	holds(&fixture, "defgh");
	ft_nccl_half_drop(&fixture.half, 100);
	holds(&fixture, "");
	put(&fixture, 103, "z");
	holds(&fixture, "z");
	ft_nccl_half_restart(&fixture.half, FIRST + 200);
	put(&fixture, 200, "new");
	holds(&fixture, "new");
}

static void what_finds_no_room_is_lost(void **state)
{
	struct fixture fixture;
	uint8_t bytes[20] = { 0 };

	(void)state;
	begin(&fixture);
	for (uint32_t i = 0; i < FT_NCCL_SPANS_MAX; i++)
		put(&fixture, 2 + 2 * i, "x");
	put(&fixture, 2 + 2 * FT_NCCL_SPANS_MAX, "x");
	assert_int_equal(fixture.half.span_count, FT_NCCL_SPANS_MAX);
	for (uint32_t i = FT_NCCL_SPANS_MAX; i > 0; i--)
		put(&fixture, 2 * i - 1, "x");
	put(&fixture, 0, "x");
	assert_int_equal(ft_nccl_half_ready(&fixture.half), 1 + 2 * FT_NCCL_SPANS_MAX);

	begin(&fixture);
	ft_nccl_half_put(&fixture.half, FIRST + FT_NCCL_WINDOW - 10, bytes, sizeof bytes);
	ft_nccl_half_put(&fixture.half, FIRST + FT_NCCL_WINDOW, bytes, sizeof bytes);
	assert_int_equal(fixture.half.spans[0].to, FT_NCCL_WINDOW);
	assert_int_equal(fixture.window[FT_NCCL_WINDOW], 77);
}

static void numbers_tell_what_was_sent(void **state)
{
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	ft_nccl_half_reach(&fixture.half, FIRST + 50);
	ft_nccl_half_reach(&fixture.half, FIRST + 20);
	ft_nccl_half_reach(&fixture.half, FIRST - 20);
	assert_int_equal(fixture.half.reached, 50);
	ft_nccl_half_drop(&fixture.half, 20);
	assert_int_equal(fixture.half.reached, 30);
	ft_nccl_half_drop(&fixture.half, 40);
	assert_int_equal(fixture.half.reached, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_meet_in_any_order),
		cmocka_unit_test(the_first_copy_of_a_byte_stays),
		cmocka_unit_test(what_lies_in_front_is_known),
		cmocka_unit_test(what_finds_no_room_is_lost),
		cmocka_unit_test(numbers_tell_what_was_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
