#include "capture_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "number.h"

static int refuse(const char *option, const char *value, const char *wanted)
{
	ft_usage_error(&ft_verb_capture, "%s %s: not %s", option, *value != '\0' ? value : "\"\"",
		       wanted);
	return -EINVAL;
}

static int take_path(struct ft_capture_line *line, const char *value)
{
	if (line->recorder.path != NULL) {
		ft_usage_error(&ft_verb_capture, "-w given twice");
		return -EINVAL;
	}
	if (*value == '\0')
		return refuse("-w", value, "the name of a file");
	line->recorder.path = value;
	return 0;
}

static int take_size(const char *option, const char *value, uint64_t *bytes)
{
	if (!ft_size_read(value, bytes) || *bytes < FT_RECORDER_FILE_MIN)
		return refuse(option, value, "a size of at least 16K: bytes, or 64K, 512M, 2G");
	return 0;
}

static int take_time(const char *value, uint64_t *ns)
{
	if (!ft_duration_read(value, ns))
		return refuse("--rotate-time", value,
			      "a time: seconds with fraction, or 90s, 5m, 2h");
	return 0;
}

static int take_count(const char *value, uint64_t *frames)
{
	if (!ft_number_read(value, 1, UINT64_MAX, frames))
		return refuse("--rotate-count", value, "a number of frames, 1 or more");
	return 0;
}

/* One of several values of a field is enough; each field must be met. */
static int take_choice(struct ft_capture_line *line, const char *field, const char *value)
{
	struct ft_flow_complaint complaint;
	char *expression;
	int error = -ENOMEM;

	if (asprintf(&expression, "%s=%s", field, value) > 0) {
		error = ft_flow_choice_where(&line->choice, expression, &complaint);
		free(expression);
	}
	if (error == -EINVAL)
		ft_usage_error(&ft_verb_capture, "--%s", complaint.text);
	else if (error != 0)
		ft_log("out of memory");
	return error;
}

static int take(struct ft_capture_line *line, int code, const char *value)
{
	switch (code) {
	case 'h':
		line->help = true;
		return 0;
	case 'w':
		return take_path(line, value);
	case FT_OPTION_JSON:
		line->json = true;
		return 0;
	case FT_OPTION_ROTATE_SIZE:
		return take_size("--rotate-size", value, &line->recorder.rotate_bytes);
	case FT_OPTION_ROTATE_TIME:
		return take_time(value, &line->recorder.rotate_ns);
	case FT_OPTION_ROTATE_COUNT:
		return take_count(value, &line->recorder.rotate_frames);
	case FT_OPTION_DISK_LIMIT:
		return take_size("--disk-limit", value, &line->recorder.disk_limit);
	case FT_OPTION_TENANT:
		return take_choice(line, "tenant", value);
	case FT_OPTION_PKEY:
		return take_choice(line, "pkey", value);
	case FT_OPTION_QP:
		return take_choice(line, "qp", value);
	case FT_OPTION_ADDRESS:
		return take_choice(line, "address", value);
	case FT_OPTION_RULE:
		return take_choice(line, "rule", value);
	default:
		return ft_job_option(&line->job, code, value);
	}
}

static const struct option words[] = {
	FT_JOB_WORDS,
	{ "write", required_argument, NULL, 'w' },
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ "rotate-size", required_argument, NULL, FT_OPTION_ROTATE_SIZE },
	{ "rotate-time", required_argument, NULL, FT_OPTION_ROTATE_TIME },
	{ "rotate-count", required_argument, NULL, FT_OPTION_ROTATE_COUNT },
	{ "disk-limit", required_argument, NULL, FT_OPTION_DISK_LIMIT },
	{ "tenant", required_argument, NULL, FT_OPTION_TENANT },
	{ "pkey", required_argument, NULL, FT_OPTION_PKEY },
	{ "qp", required_argument, NULL, FT_OPTION_QP },
	{ "address", required_argument, NULL, FT_OPTION_ADDRESS },
	{ "rule", required_argument, NULL, FT_OPTION_RULE },
	{ 0 },
};

enum ft_exit ft_capture_line_read(struct ft_capture_line *line, int argc, char **argv)
{
	struct ft_options options = {
		&ft_verb_capture, FT_JOB_LETTERS "w:", words, argc, argv, false
	};
	int code;

	while ((code = ft_options_next(&options)) != FT_OPTION_END)
		if (code == FT_OPTION_BAD || take(line, code, optarg) != 0)
			return FT_EXIT_FAILED;
	for (int i = optind; i < argc; i++)
		ft_job_capture(&line->job, argv[i]);
	if (line->help)
		return FT_EXIT_CLEAN;
	if (line->recorder.path == NULL)
		return ft_usage_error(&ft_verb_capture, "nowhere to write: -w FILE");
	if (line->json && strcmp(line->recorder.path, "-") == 0)
		return ft_usage_error(&ft_verb_capture,
				      "--json and -w -: both go to standard output");
	return FT_EXIT_CLEAN;
}

bool ft_capture_line_chooses(const struct ft_capture_line *line)
{
	return line->choice.expressions != 0 || line->job.map != NULL;
}
