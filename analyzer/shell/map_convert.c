#include "map_run.h"

#include <errno.h>

#include <partition/convert.h>

#include "log.h"
#include "output.h"

enum ft_exit ft_map_run_convert(const struct ft_map_line *line)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared;
	enum ft_exit status = FT_EXIT_FAILED;
	int error;

	if (ft_map_line_load(line, line->paths[0], &declared) != 0)
		return FT_EXIT_FAILED;
	error = ft_map_convert(declared, stdout, &complaint);
	if (error == -EINVAL)
		ft_log("%s", complaint.text);
	else
		status = ft_output_status(error, FT_EXIT_CLEAN);
	ft_declared_destroy(declared);
	return status;
}
