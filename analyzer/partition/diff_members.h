#pragma once

#include <jansson.h>

#include <partition/map.h>

/*
 * Memberships that differ between two maps, as an array of {"in", "tenant", "who", "host", "old",
 * "new", "from", "to"}: `in` is a P_Key base or "segment NAME". Of OpenSM maps the rules are
 * compared after they were resolved, if the topology allows it. NULL: no memory.
 */
json_t *ft_diff_members(const struct ft_declared *old, const struct ft_declared *new);
