#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "strangers.h"

enum { STEPS = 4000, QUEUE_PAIRS = 900 };

static struct ft_nccl_seen write_to(uint32_t qpn)
{
	return (struct ft_nccl_seen){
		.frame = 1,
		.dest_qp = qpn,
		.opcode = 0x0a,
		.ends = { .src = { [15] = 1 }, .dst = { [15] = 2 }, .vni = UINT32_MAX },
	};
}

/* Each that has a log, in the order of their places, and none besides. */
static void expect_those_with_logs(const struct ft_nccl_stranger_table *table)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < FT_NCCL_STRANGERS; i++) {
		if (table->strangers[i].log == NULL)
			continue;
		assert_ptr_equal(ft_nccl_stranger_logged(table, &at), &table->strangers[i]);
		assert_int_equal(at, i + 1);
	}
	assert_null(ft_nccl_stranger_logged(table, &at));
}

/* Few or many at a time: steps that forget outnumber the others now and then. */
static void those_with_logs_are_found_in_the_order_of_their_places(void **state)
{
	static struct ft_nccl_stranger_table table = { .seed = 7 };
	uint32_t at = 0;

	(void)state;
	assert_null(ft_nccl_stranger_logged(&table, &at));
	srand(20261127);
	for (unsigned i = 0; i < STEPS; i++) {
		struct ft_nccl_seen seen = write_to((uint32_t)rand() % QUEUE_PAIRS);
		struct ft_nccl_stranger *stranger = ft_nccl_stranger_of(&table, &seen);
		unsigned kept = i / 1000 % 2 == 0 ? 80 : 5;

		assert_non_null(stranger);
		if ((unsigned)rand() % 100 < kept)
			ft_nccl_stranger_keep(&table, stranger, &seen);
		else if (rand() % 2 == 0)
			ft_nccl_stranger_forget(&table, stranger);
		else
			ft_nccl_stranger_exclude(&table, stranger);
		if (i % 16 == 0)
			expect_those_with_logs(&table);
	}
	ft_nccl_strangers_free(&table);
}

/* The last place of a word of bits, the very last of all, and a quarter of the others. */
static void one_alone_is_found_wherever_it_is(void **state)
{
	static struct ft_nccl_stranger_table table = { .seed = 7 };
	bool met[FT_NCCL_STRANGERS] = { false };
	unsigned count = 0;

	(void)state;
	for (uint32_t qpn = 1; qpn < 60000; qpn++) {
		struct ft_nccl_seen seen = write_to(qpn);
		struct ft_nccl_stranger *stranger = ft_nccl_stranger_of(&table, &seen);
		uint32_t at = 0, place;

		assert_non_null(stranger);
		place = (uint32_t)(stranger - table.strangers);
		ft_nccl_stranger_keep(&table, stranger, &seen);
		assert_ptr_equal(ft_nccl_stranger_logged(&table, &at), stranger);
		assert_int_equal(at, place + 1);
		assert_null(ft_nccl_stranger_logged(&table, &at));
		ft_nccl_stranger_forget(&table, stranger);
		count += met[place] ? 0 : 1;
		met[place] = true;
	}
	assert_true(met[63] && met[FT_NCCL_STRANGERS - 1]);
	assert_true(count >= FT_NCCL_STRANGERS / 4);
	ft_nccl_strangers_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_with_logs_are_found_in_the_order_of_their_places),
		cmocka_unit_test(one_alone_is_found_wherever_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
