#pragma once

#include <jansson.h>

#include <partition/map.h>

/*
 * Pairs of tenants that may talk by one map and not by the other, as an array of {"a", "b",
 * "change" ("opens", "closes"), "via", "exception", "through", "from", "to"}. A port that belongs to
 * several tenants is named in `through`; else every port of the two is meant. NULL: no memory.
 *
 * `members` is what ft_diff_members() found: unless `everywhere` (tenants or exceptions changed),
 * only partitions and segments that it touches can open or close anything.
 */
json_t *ft_diff_pairs(const struct ft_map *old, const struct ft_map *new, const json_t *members,
		      bool everywhere);
