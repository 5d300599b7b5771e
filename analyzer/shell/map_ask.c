#include "map_run.h"

#include <errno.h>

#include <capture/clock.h>
#include <partition/ask.h>
#include <partition/moment.h>

#include "log.h"
#include "map_output.h"

static int read_instant(const struct ft_map_line *line, int64_t *at_ns)
{
	if (line->at != NULL) {
		if (ft_moment_read(line->at, at_ns))
			return 0;
		ft_usage_error(&ft_verb_map, "--at %s: not a time like 2026-11-20T10:00:00Z",
			       line->at);
		return -EINVAL;
	}
	*at_ns = (int64_t)ft_clock_wall_ns();
	return 0;
}

enum ft_exit ft_map_run_ask(const struct ft_map_line *line)
{
	struct ft_question question = { .port = line->port != NULL ? line->port : line->pair[0],
					.other = line->pair[1] };
	struct ft_map_complaint complaint = { .text = "" };
	struct ft_declared *declared = NULL;
	struct ft_map *map = NULL;
	struct ft_map_output output;
	enum ft_exit status = FT_EXIT_FAILED;
	int error;

	if ((line->port == NULL) == (line->pair[0] == NULL))
		return ft_usage_error(&ft_verb_map,
				      "ask about one port with --port, or about two with --pair");
	if (read_instant(line, &question.at_ns) != 0)
		return FT_EXIT_FAILED;
	if (ft_map_line_compile(line, line->paths[0], &declared, &map) == 0 &&
	    ft_map_output_open(&output, line->json) == 0) {
		error = ft_map_ask(map, &question, line->json, output.out, &complaint);
		status = ft_map_output_close(&output, error == -ENOENT ? 0 : error, FT_EXIT_CLEAN);
		if (error == -ENOENT) {
			ft_log("%s", complaint.text);
			status = FT_EXIT_FAILED;
		}
	}
	ft_map_destroy(map);
	ft_declared_destroy(declared);
	return status;
}
