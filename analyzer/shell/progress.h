#pragma once

#include <stdint.h>
#include <time.h>

#include <capture/source.h>

/* How far a run is, on one line of standard error that is written over and erased at the end. */
struct ft_progress {
	int shown; /* standard error is a terminal */
	unsigned calls;
	struct timespec started, last;
};

void ft_progress_start(struct ft_progress *progress);
/* Cheap to call after every step. */
void ft_progress_step(struct ft_progress *progress, const struct ft_source *source,
		      uint64_t frames);
void ft_progress_end(struct ft_progress *progress);
