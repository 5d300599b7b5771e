#pragma once

#include <partition/load.h>
#include <partition/map.h>

#include "options.h"

/* The command line of `fabtap map ...`, whichever the word. */
struct ft_map_line {
	struct ft_map_files files; /* files.map: not set, see paths */
	const char **topologies;   /* room for all of argv */
	const char **paths;        /* maps named without an option; room for all of argv */
	size_t path_count;
	bool json, help;
	const char *at, *port; /* ask; NULL: not given */
	const char *pair[2];
};

/* 0, or -EINVAL and -ENOMEM after a line. Freed in any case by ft_map_line_free(). */
int ft_map_line_read(struct ft_map_line *line, int argc, char **argv);
void ft_map_line_free(struct ft_map_line *line);

/* 0, or -errno after a line. */
int ft_map_line_load(const struct ft_map_line *line, const char *path,
		     struct ft_declared **declared);
int ft_map_line_compile(const struct ft_map_line *line, const char *path,
			struct ft_declared **declared, struct ft_map **map);
