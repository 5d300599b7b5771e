#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "keys.h"

/* Against a list of what was put and not removed. */
enum { CONNECTIONS = 7, ADDRESSES = 3, KEYS = 40, STEPS = 40000 };

static struct ft_nccl_key key_of(unsigned address, unsigned rkey, unsigned connection)
{
	return (struct ft_nccl_key){
		.address = { [15] = (uint8_t)address },
		.rkey = rkey,
		.connection = connection,
	};
}

static void expect(const struct ft_nccl_keys *keys, unsigned address, unsigned rkey,
		   const bool put[CONNECTIONS])
{
	struct ft_nccl_key key = key_of(address, rkey, 0);
	bool found[CONNECTIONS] = { false };
	size_t at = SIZE_MAX;
	uint32_t connection;

	while ((connection = ft_nccl_keys_next(keys, key.address, rkey, &at)) != FT_NCCL_NONE) {
		assert_true(connection < CONNECTIONS);
		assert_false(found[connection]);
		found[connection] = true;
	}
	assert_memory_equal(found, put, sizeof found);
}

static void what_was_put_is_found_until_it_is_removed(void **state)
{
	static bool put[ADDRESSES][KEYS][CONNECTIONS];
	struct ft_nccl_keys keys = { .seed = 5 };
	size_t count = 0;

	(void)state;
	srand(20261124);
	for (unsigned i = 0; i < STEPS; i++) {
		unsigned address = (unsigned)rand() % ADDRESSES, rkey = (unsigned)rand() % KEYS;
		unsigned connection = (unsigned)rand() % CONNECTIONS;
		struct ft_nccl_key key = key_of(address, rkey, connection);
		bool *is_put = &put[address][rkey][connection];

		if (rand() % 2 == 0) {
			assert_int_equal(ft_nccl_keys_put(&keys, &key), 0);
			count += !*is_put;
			*is_put = true;
		} else {
			ft_nccl_keys_remove(&keys, &key);
			count -= *is_put;
			*is_put = false;
		}
		assert_int_equal(keys.used, count);
		expect(&keys, address, rkey, put[address][rkey]);
	}
	for (unsigned address = 0; address < ADDRESSES; address++)
		for (unsigned rkey = 0; rkey < KEYS; rkey++)
			expect(&keys, address, rkey, put[address][rkey]);
	ft_nccl_keys_free(&keys);
}

/* However the table grows around them, and wherever in it they are: at its end some stand at its beginning. */
static void those_of_one_key_are_found_in_the_order_in_which_they_were_put(void **state)
{
	enum { SEEDS = 2000, ALIKE = 100, OTHERS = 200 };

	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct ft_nccl_keys keys = { .seed = seed };
		const struct ft_nccl_key name = key_of(1, 2, 0);
		size_t at = SIZE_MAX;

		for (unsigned i = 0; i < ALIKE + OTHERS; i++) {
			struct ft_nccl_key key = i < ALIKE ? key_of(1, 2, i) : key_of(2, i, i);

			assert_int_equal(ft_nccl_keys_put(&keys, &key), 0);
		}
		for (unsigned i = 0; i < ALIKE; i++)
			assert_int_equal(ft_nccl_keys_next(&keys, name.address, name.rkey, &at), i);
		ft_nccl_keys_free(&keys);
	}
}

static void none_are_found_where_none_were_put(void **state)
{
	struct ft_nccl_key key = key_of(1, 2, 3);
	struct ft_nccl_keys keys = { 0 };
	size_t at = SIZE_MAX;

	(void)state;
	ft_nccl_keys_remove(&keys, &key);
	assert_int_equal(ft_nccl_keys_next(&keys, key.address, key.rkey, &at), FT_NCCL_NONE);
	ft_nccl_keys_free(&keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_found_until_it_is_removed),
		cmocka_unit_test(those_of_one_key_are_found_in_the_order_in_which_they_were_put),
		cmocka_unit_test(none_are_found_where_none_were_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
