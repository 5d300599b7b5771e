#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watched_slots.h"

enum { NUMBER = 5, KEY = 0x2a8b };
#define FIFO UINT64_C(0x557d0b879000)

/* A write of so many bytes, so far into the FIFO. */
static struct ft_observed write_of(uint32_t psn, int64_t offset, uint32_t length)
{
	return (struct ft_observed){
		.has = FT_OBSERVED_BTH | FT_OBSERVED_RETH,
		.opcode = 0x0a,
		.psn = psn,
		.va = FIFO + (uint64_t)offset,
		.rkey = KEY,
		.length = length,
		.payload = length,
	};
}

struct row {
	uint32_t psn, length;
	int64_t offset;
};

static bool sees(struct row first, struct row second)
{
	static struct ft_watched_slots slots;
	const struct ft_observed one = write_of(first.psn, first.offset, first.length);
	const struct ft_observed two = write_of(second.psn, second.offset, second.length);

	slots = (struct ft_watched_slots){ 0 };
	assert_false(ft_watched_slots_see(&slots, NUMBER, &one));
	return ft_watched_slots_see(&slots, NUMBER, &two);
}

/* Slots are 512 bytes apart for entries of 64 bytes, and 256 for entries of 32. */
static void slots_are_as_far_apart_as_psns_say(void **state)
{
	(void)state;
	assert_true(sees((struct row){ 0, 64, 0 }, (struct row){ 1, 64, 512 }));
	assert_true(sees((struct row){ 0, 32, 0 }, (struct row){ 1, 32, 256 }));
	assert_true(sees((struct row){ 0, 64, 0 }, (struct row){ 1, 128, 512 }));
	assert_true(sees((struct row){ 7, 64, 0 }, (struct row){ 9, 64, 1024 })); /* one was lost */
	assert_true(sees((struct row){ 8, 64, 512 }, (struct row){ 7, 64, 0 }));  /* swapped */
	assert_true(sees((struct row){ 0xffffff, 64, 0 }, (struct row){ 0, 64, 512 }));
	assert_true(sees((struct row){ 0, 64, 0 }, (struct row){ 1, 64, 1024 })); /* two devices */
}

static void what_else_is_written_lies_in_no_slots(void **state)
{
	(void)state;
	assert_false(sees((struct row){ 0, 64, 0 }, (struct row){ 1, 64, 0 }));
	assert_false(sees((struct row){ 0, 64, 0 }, (struct row){ 1, 64, 64 })); /* in a row */
	assert_false(sees((struct row){ 0, 512, 0 }, (struct row){ 1, 512, 512 }));
	assert_false(sees((struct row){ 0, 256, 0 }, (struct row){ 1, 256, 256 }));
	assert_false(sees((struct row){ 0, 64, 0 }, (struct row){ 1, 64, 4096 })); /* pages */
	assert_false(sees((struct row){ 0, 64, 512 }, (struct row){ 1, 64, 0 }));
	assert_false(sees((struct row){ 0, 64, 0 }, (struct row){ 3, 64, 512 }));
	assert_false(sees((struct row){ 3, 64, 0 }, (struct row){ 3, 64, 512 })); /* sent again */
	assert_false(sees((struct row){ 0, 64, 0 }, (struct row){ 9, 64, 9 * 512 }));
	assert_false(sees((struct row){ 0, 64, 0 }, (struct row){ 1, 64, INT64_MIN }));
}

static void half_connections_and_keys_are_told_apart(void **state)
{
	static struct ft_watched_slots slots;
	struct ft_observed write = write_of(0, 0, 64);

	(void)state;
	slots = (struct ft_watched_slots){ 0 };
	assert_false(ft_watched_slots_see(&slots, NUMBER, &write));
	write = write_of(1, 512, 64);
	assert_false(ft_watched_slots_see(&slots, NUMBER + 1, &write));
	assert_false(ft_watched_slots_see(&slots, NUMBER + FT_WATCHED_SLOTS, &write));
	write.rkey++;
	assert_false(ft_watched_slots_see(&slots, NUMBER + 1, &write));
	write = write_of(2, 1024, 64);
	assert_true(ft_watched_slots_see(&slots, NUMBER + FT_WATCHED_SLOTS, &write));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_as_far_apart_as_psns_say),
		cmocka_unit_test(what_else_is_written_lies_in_no_slots),
		cmocka_unit_test(half_connections_and_keys_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
