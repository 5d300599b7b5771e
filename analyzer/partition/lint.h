#pragma once

#include <partition/map.h>

#include <partition/arena.h>
#include "ports.h"

/* Inside of `map lint`: one function per family of checks, each adding diagnostics. */
struct ft_lint {
	const struct ft_map *map;
	const struct ft_declared *declared;
	struct ft_ports ports;
	struct ft_list found; /* struct ft_diagnostic */
	bool failed;          /* no memory */
};

/* At most this many of one code are listed one by one; the last one then tells how many more. */
enum { FT_LINT_EACH = 20 };

__attribute__((format(printf, 5, 6))) void ft_lint_say(struct ft_lint *lint,
						       enum ft_diagnostic_severity severity,
						       const char *code, struct ft_origin origin,
						       const char *format, ...);

const char *ft_lint_tenant(const struct ft_lint *lint, uint32_t tenant);

void ft_lint_partitions(struct ft_lint *lint); /* collisions, limited-only, names, the past */
void ft_lint_ports(struct ft_lint *lint);      /* orphans, repeats, the default partition, leaves */
void ft_lint_segments(struct ft_lint *lint);   /* prefixes that shadow each other */
void ft_lint_exceptions(struct ft_lint *lint); /* those that can never match */
