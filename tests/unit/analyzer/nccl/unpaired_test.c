#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <nccl/model.h>

#include "unpaired.h"

enum { LANES = 3 * FT_NCCL_UNPAIRED_LOOKS + 7, STEPS = 40000, CHAINS = 3 };

/* Removes each that `removed` tells of as it comes by; returns how many were looked at, and marks them in `seen`. */
static unsigned walk_through(struct ft_nccl_unpaired_table *table, uint32_t chain,
			     const bool removed[LANES], bool seen[LANES])
{
	struct ft_nccl_unpaired_walk walk = ft_nccl_unpaired_begin(table, chain);
	unsigned looks = 0;

	while (walk.at != FT_NCCL_NONE) {
		uint32_t connection = table->all[walk.at].connection;

		assert_true(connection < LANES);
		assert_false(seen[connection]);
		seen[connection] = true;
		if (removed[connection]) {
			ft_nccl_unpaired_remove(table, &walk);
		} else {
			looks++;
			ft_nccl_unpaired_step(table, &walk);
		}
	}
	return looks;
}

/* As many walks as there are lanes meet each of them as often as one walk has looks. */
static void walks_go_on_where_the_one_before_ended(void **state)
{
	struct ft_nccl_unpaired_table table = { .seed = 5 };
	const bool none[LANES] = { false };
	unsigned met[LANES] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < LANES; i++)
		assert_int_equal(ft_nccl_unpaired_put(&table, 1, i, 0), 0);
	for (unsigned walk = 0; walk < LANES; walk++) {
		bool seen[LANES] = { false };

		assert_int_equal(walk_through(&table, 1, none, seen), FT_NCCL_UNPAIRED_LOOKS);
		for (unsigned i = 0; i < LANES; i++)
			met[i] += seen[i] ? 1 : 0;
	}
	for (unsigned i = 0; i < LANES; i++)
		assert_int_equal(met[i], FT_NCCL_UNPAIRED_LOOKS);
	assert_int_equal(ft_nccl_unpaired_begin(&table, 2).at, FT_NCCL_NONE);
	ft_nccl_unpaired_free(&table);
}

/* Against a list of what was put and not removed, in chains short enough for one walk. */
static void what_was_put_is_met_until_it_is_removed(void **state)
{
	static bool put[CHAINS][LANES];
	struct ft_nccl_unpaired_table table = { .seed = 5 };
	unsigned counts[CHAINS] = { 0 };

	(void)state;
	srand(20261126);
	for (unsigned i = 0; i < STEPS; i++) {
		uint32_t chain = (uint32_t)rand() % CHAINS, number = (uint32_t)rand() % LANES;
		bool removed[LANES] = { false }, seen[LANES] = { false };

		if (!put[chain][number] && counts[chain] < FT_NCCL_UNPAIRED_LOOKS) {
			assert_int_equal(ft_nccl_unpaired_put(&table, chain, number, 0), 0);
			counts[chain]++;
			put[chain][number] = true;
			continue;
		}
		for (uint32_t other = number; other < LANES; other += 1 + number % 7)
			removed[other] = put[chain][other];
		walk_through(&table, chain, removed, seen);
		assert_memory_equal(seen, put[chain], sizeof seen);
		for (uint32_t other = 0; other < LANES; other++) {
			counts[chain] -= removed[other] ? 1 : 0;
			put[chain][other] = put[chain][other] && !removed[other];
		}
	}
	ft_nccl_unpaired_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_go_on_where_the_one_before_ended),
		cmocka_unit_test(what_was_put_is_met_until_it_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
