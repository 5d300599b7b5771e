/* A default partition that a customer has: docs/verdict-rules.md, section 4, rule 3. */
#include "maps.h"

enum { RED, STORE };
enum { R1 = 1, NAS, GROUP = 0xc001 };

static const struct ft_declared map = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "store", .class = FT_SHARED }),
	PORTS(IB_PORT("r1", R1), IB_PORT("nas", NAS)),
	PARTITIONS({ .base = 0x7fff, .tenant = RED, ALWAYS(EVERYONE(FT_FULL), FULL("r1")) },
		   { .base = 0x0004, .tenant = STORE, ALWAYS(FULL("nas")) }),
};

static void a_group_is_no_customers_end(void **state)
{
	/* clang-format off */
	static const struct verdict_case cases[] = {
		{ "from another's port to a customer's",
		  { IB(NAS, R1, 0xffff) }, 0, R(PKEY_DEFAULT_USED) | R(TENANT_CROSSING),
		  .from = STORE + 1, .to = RED + 1 },
		{ "to the customer's group: no unicast destination that a customer owns",
		  { IB(NAS, GROUP, 0xffff) }, 0, R(TENANT_CROSSING), .from = STORE + 1, .to = RED + 1 },
		{ "from the customer's own port to it",
		  { IB(R1, GROUP, 0xffff) }, 0, R(PKEY_DEFAULT_USED), .from = RED + 1, .to = RED + 1 },
	};
	/* clang-format on */

	(void)state;
	ASSERT_VERDICTS(&map, cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_group_is_no_customers_end) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
