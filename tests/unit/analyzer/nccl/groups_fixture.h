#pragma once

#include <stddef.h>

#include "groups_play.h"

struct CMUnitTest;

/* What tests of groups play on, and what play_groups() made of it: both begin anew with each test. */
extern struct play play;
extern struct ft_nccl_groups groups;

/* Of one test, for cmocka. */
int play_set_up(void **state);
int play_tear_down(void **state);

/* Each of these with the two; what main() returns. */
int play_tests(const struct CMUnitTest *tests, size_t count);
