#pragma once

#include <partition/load.h>

/* What every map that was taken keeps, whatever its file. */
void assert_declared(const struct ft_declared *declared);
