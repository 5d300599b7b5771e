#pragma once

#include "map_line.h"

/* The words of `fabtap map`, over a command line that names as many maps as the word takes. */
enum ft_exit ft_map_run_check(const struct ft_map_line *line);
enum ft_exit ft_map_run_show(const struct ft_map_line *line);
enum ft_exit ft_map_run_ask(const struct ft_map_line *line);
enum ft_exit ft_map_run_lint(const struct ft_map_line *line);
enum ft_exit ft_map_run_diff(const struct ft_map_line *line);
enum ft_exit ft_map_run_convert(const struct ft_map_line *line);
