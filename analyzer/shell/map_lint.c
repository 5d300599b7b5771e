#include "map_run.h"

#include <partition/lint.h>

#include "output.h"

enum ft_exit ft_map_run_lint(const struct ft_map_line *line)
{
	struct ft_declared *declared = NULL;
	struct ft_map *map = NULL;
	enum ft_exit status = FT_EXIT_FAILED;
	size_t found = 0;
	int error;

	if (ft_map_line_compile(line, line->paths[0], &declared, &map) == 0) {
		error = ft_map_lint(map, line->json, stdout, &found);
		status = ft_output_status(error, found > 0 ? FT_EXIT_FINDINGS : FT_EXIT_CLEAN);
	}
	ft_map_destroy(map);
	ft_declared_destroy(declared);
	return status;
}
