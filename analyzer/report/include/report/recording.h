#pragma once

#include <stdio.h>

#include <capture/recorder.h>
#include <report/model.h>

/*
 * What `capture` says at its end, and when asked: the document fabtap.capture/1, or a few lines. Of `report` are read:
 * version, build, sources, the sums, stopped_after, and coverage.lost_by.
 */
struct ft_recording {
	const struct ft_report *report;
	struct ft_recorder_account account;
	const struct ft_recorder_file *files; /* those still there */
	size_t file_count;
};

/* A line with the sums, then losses and files, flushed. 0 or -errno of the handle. */
int ft_recording_text(FILE *out, const struct ft_recording *recording);

/* The document; the same recording gives the same bytes. 0 or -errno of the handle. */
int ft_recording_json(FILE *out, const struct ft_recording *recording);
