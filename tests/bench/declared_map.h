#pragma once

#include <stdio.h>

#include "site.h"

/* The site as tapmap/1 declares it, in force since before any traffic. */
void declared_map_write(FILE *file, const struct site *site);
