#pragma once

#include <stddef.h>
#include <stdio.h>

#include <capture/live.h>
#include <capture/source.h>

/* What can be captured from, and what capture files are. */

/* What a live source showed when it was tried. */
struct ft_source_trial {
	const struct ft_source_input *input;
	const struct ft_device_facts *facts;
	uint64_t duration_ns; /* that it was listened to */
};

/* What to tell; lists may be empty. */
struct ft_sources {
	const struct ft_device_listing *devices;
	size_t device_count;
	const struct ft_source_input *const *inputs; /* read to their end */
	size_t input_count;
	const struct ft_source_trial *trials;
	size_t trial_count;
};

/* Live devices, and formats, compressions and link types that are read. 0 or -errno of the handle. */
int ft_sources_text(FILE *out, const struct ft_sources *sources);

/* A few lines for each of `inputs`: format, link types, frames, times, and what was odd. 0 or -errno of the handle. */
int ft_sources_inputs_text(FILE *out, const struct ft_sources *sources);

/* The same of `trials`: the device, and what it showed while it was listened to. 0 or -errno of the handle. */
int ft_sources_trials_text(FILE *out, const struct ft_sources *sources);

/* All of it, as the document fabtap.sources/1. 0 or -errno of the handle. */
int ft_sources_json(FILE *out, const struct ft_sources *sources);
