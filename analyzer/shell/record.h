#pragma once

#include <capture/recorder.h>

#include "job.h"

/* Frames of a job that go to a recorder, which is told the time and what the job's sources count. */
struct ft_record {
	const struct ft_job *job;
	struct ft_recorder *recorder;
	struct ft_recorder_input *inputs;
	char application[64], system[256];
	uint64_t told_ns; /* when the sources' counts were last passed on */
	bool failed;      /* the disk has: there is no use in going on */
};

/*
 * Open the recorder of config->path; inputs, application and system are filled in. `description` of every input, borrowed
 * until the end; NULL: none. FT_EXIT_CLEAN, or FT_EXIT_FAILED after one line; then too ft_record_close() frees.
 */
enum ft_exit ft_record_open(struct ft_record *record, const struct ft_job *job,
			    struct ft_recorder_config *config, const char *description);

/* Many times a second, frames or not. */
void ft_record_tick(struct ft_record *record);

/* The end, after which the account can still be asked for. As ft_recorder_finish(). */
int ft_record_finish(struct ft_record *record, struct ft_recorder_complaint *complaint);

void ft_record_close(struct ft_record *record);
