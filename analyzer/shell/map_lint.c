#include "map_run.h"

#include <partition/lint.h>

#include "map_output.h"

enum ft_exit ft_map_run_lint(const struct ft_map_line *line)
{
	struct ft_declared *declared = NULL;
	struct ft_map *map = NULL;
	struct ft_map_output output;
	enum ft_exit status = FT_EXIT_FAILED;
	size_t found = 0;
	int error;

	if (ft_map_line_compile(line, line->paths[0], &declared, &map) == 0 &&
	    ft_map_output_open(&output, line->json) == 0) {
		error = ft_map_lint(map, line->json, output.out, &found);
		status = ft_map_output_close(&output, error,
					     found > 0 ? FT_EXIT_FINDINGS : FT_EXIT_CLEAN);
	}
	ft_map_destroy(map);
	ft_declared_destroy(declared);
	return status;
}
