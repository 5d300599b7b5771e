#include "cmocka_headers.h"

#include <stdlib.h>

#include "rights.h"
#include "self_test.h"

/* Stands in for the real one: nothing is given up. */
int ft_rights_drop(const char **what)
{
	(void)what;
	return 0;
}

static void a_process_that_kept_its_rights_is_found_out(void **state)
{
	enum ft_self_test result = ft_self_test_run();

	(void)state;
	if (result == FT_SELF_TEST_NOT_TRIED && system("unshare --net true 2>/dev/null") != 0) {
		print_message("SKIP: no network namespace of our own (needs root)\n");
		skip();
	}
	assert_int_equal(result, FT_SELF_TEST_SENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_kept_its_rights_is_found_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
