#pragma once

#include <jansson.h>

#include "written.h"

/* All that was written, which must be one JSON document without a name twice; frees what is written. */
json_t *written_json(struct written *written);

/* Says both if they differ. */
void is_json(json_t *value, const char *expected);
