#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "place_owners.h"

enum { RED = 3, BLUE = 4, MANY = 5000 };

static struct ft_nccl_place address(uint32_t number)
{
	return (struct ft_nccl_place){ .address = { [10] = 0xff,
						    [11] = 0xff,
						    [12] = 10,
						    [13] = (uint8_t)(number >> 16),
						    [14] = (uint8_t)(number >> 8),
						    [15] = (uint8_t)number } };
}

static void a_place_is_one_tenants(void **state)
{
	struct ft_place_owners owners = { .seed = 7 };
	const struct ft_nccl_place here = address(1), there = address(2);

	(void)state;
	assert_true(ft_place_owners_add(&owners, &here, RED));
	assert_true(ft_place_owners_add(&owners, &here, RED));
	assert_true(ft_place_owners_add(&owners, &there, BLUE));
	assert_false(ft_place_owners_add(&owners, &here, BLUE));
	assert_false(ft_place_owners_add(&owners, &there, RED));
	assert_true(ft_place_owners_add(&owners, &here, RED)); /* whoever was first */
	ft_place_owners_free(&owners);
}

/* LID 17 of a subnet is not the host whose address ends in 17. */
static void a_lid_is_no_address(void **state)
{
	struct ft_place_owners owners = { .seed = 7 };
	struct ft_nccl_place place = { .address = { [15] = 17 } }, lid = place;

	(void)state;
	lid.by_lid = true;
	assert_true(ft_place_owners_add(&owners, &place, RED));
	assert_true(ft_place_owners_add(&owners, &lid, BLUE));
	assert_false(ft_place_owners_add(&owners, &lid, RED));
	ft_place_owners_free(&owners);
}

static void none_is_forgotten_as_room_grows(void **state)
{
	struct ft_place_owners owners = { .seed = 7 };

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		const struct ft_nccl_place place = address(i);

		assert_true(ft_place_owners_add(&owners, &place, i % 3));
	}
	for (uint32_t i = 0; i < MANY; i++) {
		const struct ft_nccl_place place = address(i);

		assert_true(ft_place_owners_add(&owners, &place, i % 3));
		assert_false(ft_place_owners_add(&owners, &place, i % 3 + 1));
	}
	ft_place_owners_free(&owners);
}

static void what_is_freed_is_nobodys(void **state)
{
	struct ft_place_owners owners = { .seed = 7 };
	const struct ft_nccl_place place = address(1);

	(void)state;
	ft_place_owners_free(&owners);
	assert_true(ft_place_owners_add(&owners, &place, RED));
	ft_place_owners_free(&owners);
	assert_true(ft_place_owners_add(&owners, &place, BLUE));
	ft_place_owners_free(&owners);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_is_one_tenants),
		cmocka_unit_test(a_lid_is_no_address),
		cmocka_unit_test(none_is_forgotten_as_room_grows),
		cmocka_unit_test(what_is_freed_is_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
