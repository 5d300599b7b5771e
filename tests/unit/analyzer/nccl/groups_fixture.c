#include "groups_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct play play;
struct ft_nccl_groups groups;

int play_set_up(void **state)
{
	(void)state;
	play_begin(&play);
	return 0;
}

int play_tear_down(void **state)
{
	(void)state;
	ft_nccl_groups_free(&groups);
	return 0;
}

int play_tests(const struct CMUnitTest *tests, size_t count)
{
	struct CMUnitTest *fresh = calloc(count, sizeof *fresh);
	int failed;

	if (fresh == NULL)
		return 1;
	memcpy(fresh, tests, count * sizeof *fresh);
	for (size_t i = 0; i < count; i++) {
		fresh[i].setup_func = play_set_up;
		fresh[i].teardown_func = play_tear_down;
	}
	failed = _cmocka_run_group_tests("tests", fresh, count, NULL, NULL);
	free(fresh);
	return failed;
}
