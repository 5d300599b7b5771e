#pragma once

#include <capture/recorder.h>
#include <engine/flow_choice.h>

#include "job.h"

/* The command line of `capture`: what is read, what of it is kept, and where it goes. */
struct ft_capture_line {
	struct ft_job job;
	struct ft_recorder_config recorder; /* path NULL: no -w */
	struct ft_flow_choice choice;       /* frames of which half-connections are kept */
	bool json, help;
};

/* FT_EXIT_CLEAN, or FT_EXIT_FAILED after one line. */
enum ft_exit ft_capture_line_read(struct ft_capture_line *line, int argc, char **argv);

/* Only frames that match are kept: each must be decoded and judged. */
bool ft_capture_line_chooses(const struct ft_capture_line *line);
