#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <capture/source.h>

/* How far a run is, on one line of standard error that is written over and erased at the end. */
struct ft_progress {
	bool shown; /* standard error is a terminal */
	unsigned calls;
	struct timespec started, last;
};

/* `streams`: the run prints as it goes; then nothing is shown if that goes to a terminal as well. */
void ft_progress_start(struct ft_progress *progress, bool streams);
/* Cheap to call after every step. */
void ft_progress_step(struct ft_progress *progress, const struct ft_source *source,
		      uint64_t frames);
void ft_progress_end(struct ft_progress *progress);
