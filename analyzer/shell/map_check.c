#include "map_run.h"

#include <partition/show.h>

#include "log.h"
#include "map_output.h"

/* The map also if it was refused: then its verdict says so. -errno after a line if there is none at all. */
static int load_anyway(const struct ft_map_line *line, struct ft_declared **declared,
		       struct ft_map_complaint *complaint)
{
	struct ft_map_files files = line->files;
	struct ft_declared *rejected = NULL;
	int error;

	files.map = line->paths[0];
	error = ft_map_load(declared, &files, &rejected, complaint);
	if (error == 0)
		return 0;
	if (rejected == NULL) {
		ft_log("%s", complaint->text);
		return error;
	}
	*declared = rejected;
	return 0;
}

static enum ft_exit write_out(const struct ft_declared *declared, bool json,
			      int (*write)(const struct ft_declared *, bool, FILE *),
			      enum ft_exit status)
{
	struct ft_map_output output;

	if (ft_map_output_open(&output, json) != 0)
		return FT_EXIT_FAILED;
	return ft_map_output_close(&output, write(declared, json, output.out), status);
}

enum ft_exit ft_map_run_check(const struct ft_map_line *line)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared;
	enum ft_exit status;

	if (load_anyway(line, &declared, &complaint) != 0)
		return FT_EXIT_FAILED;
	status = declared->verdict == FT_MAP_OK || declared->verdict == FT_MAP_WARN
			 ? FT_EXIT_CLEAN
			 : FT_EXIT_FAILED;
	status = write_out(declared, line->json, ft_map_check_write, status);
	ft_declared_destroy(declared);
	return status;
}

enum ft_exit ft_map_run_show(const struct ft_map_line *line)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared;
	enum ft_exit status = FT_EXIT_CLEAN;

	if (load_anyway(line, &declared, &complaint) != 0)
		return FT_EXIT_FAILED;
	if (declared->verdict == FT_MAP_REJECT) {
		ft_log("%s", complaint.text);
		status = FT_EXIT_FAILED;
	}
	status = write_out(declared, line->json, ft_map_show, status);
	ft_declared_destroy(declared);
	return status;
}
