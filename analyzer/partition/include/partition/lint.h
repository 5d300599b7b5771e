#pragma once

#include <stdio.h>

#include <partition/map.h>

/*
 * `map lint`: what an operator would want to know before deploying a map. Each finding has a code,
 * a severity, a place and a sentence. What the loader already found (declared->diagnostics) comes
 * first, then:
 *
 *	map.fail-open             error    OpenSM drops the file
 *	no-serial                 info     an older map, replayed, could not be told apart
 *	two-tenants-on-one-pkey   error    at one time
 *	limited-only              warning  a partition in which nobody can talk
 *	interval-past             info     it was over before the map was issued
 *	service-by-name           info     a customer's partition or segment that sounds shared
 *	tenant-without-partition  info
 *	orphan-port               warning  in no partition or segment but the default one
 *	port-listed-twice         warning  in one interval; info in OpenSM files, where the last wins
 *	address-of-two-ports      warning
 *	customer-full-in-default  warning  reaches every member of the default partition
 *	prefix-shadowed           warning  by another tenant's longer one, where tags can meet
 *	address-of-two-tenants    error    one prefix, two tenants, where tags can meet
 *	exception-never-matches   warning
 *	tenant.cotenancy          warning  a leaf shared against no_leaf_sharing_with
 *
 * JSON: {"schema": "fabtap.lint/1", "file", "format", "verdict", "diagnostics": [...]}.
 * *worth_a_look counts those that are more than notes. 0, -ENOMEM or why it could not be written.
 * Names in text stand as the map has them: for a terminal see report/plain.h.
 */
int ft_map_lint(const struct ft_map *map, bool json, FILE *out, size_t *worth_a_look);
