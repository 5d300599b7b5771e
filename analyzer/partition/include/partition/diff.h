#pragma once

#include <stdio.h>

#include <partition/map.h>

/*
 * `map diff OLD NEW`: what a change of maps would open and close, at every instant at which either
 * map changes: pairs of tenants that may talk (and by which base or exception), memberships that
 * appear, vanish, or change between limited and full; and what else verdicts go by: exceptions, tenants, their quotas and
 * demands, settings of the fabric and its partitions, addresses and leaves of ports, the grace.
 * JSON: {"schema": "fabtap.map-diff/1", "old", "new", "pairs": [...], "memberships": [...], "exceptions": [...],
 * "tenants": [...], "settings": [...], "ports": [...]}, and "grace_ms" where the grace differs.
 * *changes counts all of them: 0 means that the maps permit the same. 0, -ENOMEM or why it could not be written.
 * Names in text stand as the maps have them: for a terminal see report/plain.h.
 */
int ft_map_diff(const struct ft_map *old, const struct ft_map *new, bool json, FILE *out,
		size_t *changes);
