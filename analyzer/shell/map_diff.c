#include "map_run.h"

#include <partition/diff.h>

#include "map_output.h"

enum ft_exit ft_map_run_diff(const struct ft_map_line *line)
{
	struct ft_declared *declared[2] = { NULL, NULL };
	struct ft_map *maps[2] = { NULL, NULL };
	struct ft_map_output output;
	enum ft_exit status = FT_EXIT_FAILED;
	size_t changes = 0;

	if (ft_map_line_compile(line, line->paths[0], &declared[0], &maps[0]) == 0 &&
	    ft_map_line_compile(line, line->paths[1], &declared[1], &maps[1]) == 0 &&
	    ft_map_output_open(&output, line->json) == 0) {
		int error = ft_map_diff(maps[0], maps[1], line->json, output.out, &changes);

		status = ft_map_output_close(&output, error,
					     changes > 0 ? FT_EXIT_FINDINGS : FT_EXIT_CLEAN);
	}
	for (int i = 0; i < 2; i++) {
		ft_map_destroy(maps[i]);
		ft_declared_destroy(declared[i]);
	}
	return status;
}
