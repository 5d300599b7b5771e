#pragma once

#include <stdio.h>

#include <partition/map.h>

/*
 * `map lint`: what an operator would want to know before deploying a map. Each finding has a code,
 * a severity, a place and a sentence; the codes are listed in docs/findings.md. What the loader
 * already found (declared->diagnostics) comes first.
 * JSON: {"schema": "fabtap.lint/1", "file", "format", "verdict", "diagnostics": [...]}.
 * *worth_a_look counts those that are more than notes. 0, -ENOMEM or -EIO.
 */
int ft_map_lint(const struct ft_map *map, bool json, FILE *out, size_t *worth_a_look);
