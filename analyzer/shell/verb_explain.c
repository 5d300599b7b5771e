#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <report/render.h>

#include "build.h"
#include "format.h"
#include "job.h"
#include "log.h"
#include "output.h"

static const char usage[] =
	"usage: fabtap explain ID -m MAP [options] CAPTURE...\n"
	"\n"
	"One finding of `fabtap audit` with the same map and captures: its rule, the line of the "
	"map,\n"
	"who sent what to whom, and the frames. ID may be cut to eight characters or more.\n"
	"\n"
	"options:\n" FT_JOB_USAGE
	"  -o, --output FORMAT    text (default) or json; --json is short for -o json\n"
	"\n"
	"exit status: 0 explained, 2 no such finding, several, or could not look\n";

enum { ID_ROOM = 17 };

struct explain {
	struct ft_job job;
	char id[ID_ROOM]; /* as reports have it */
	enum ft_format format;
	bool help;
};

static const struct option words[] = {
	FT_JOB_WORDS,
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ 0 },
};

static int take(struct explain *explain, int code, const char *value)
{
	switch (code) {
	case 'h':
		explain->help = true;
		return 0;
	case 'o':
		return ft_format_take(&ft_verb_explain, FT_TEXT_OR_JSON, &explain->format, value);
	case FT_OPTION_JSON:
		return ft_format_take(&ft_verb_explain, FT_TEXT_OR_JSON, &explain->format, "json");
	default:
		return ft_job_option(&explain->job, code, value);
	}
}

/* 8 to 16 digits of a hash, in small letters or capitals. */
static bool read_id(struct explain *explain, const char *word)
{
	const size_t digits = strspn(word, "0123456789abcdefABCDEF");

	if (word[digits] != '\0' || digits < 8 || digits >= ID_ROOM)
		return false;
	for (size_t i = 0; i <= digits; i++)
		explain->id[i] = (char)tolower((unsigned char)word[i]);
	return true;
}

static enum ft_exit read_line(struct explain *explain, int argc, char **argv)
{
	struct ft_options options = {
		&ft_verb_explain, FT_JOB_LETTERS "o:", words, argc, argv, false
	};
	int code;

	while ((code = ft_options_next(&options)) != FT_OPTION_END)
		if (code == FT_OPTION_BAD || take(explain, code, optarg) != 0)
			return FT_EXIT_FAILED;
	if (explain->help)
		return FT_EXIT_CLEAN;
	if (optind >= argc)
		return ft_usage_error(&ft_verb_explain,
				      "no finding given: explain ID -m MAP CAPTURE");
	if (!read_id(explain, argv[optind]))
		return ft_usage_error(&ft_verb_explain,
				      "%s: not the id of a finding, 8 to 16 hex digits",
				      argv[optind]);
	for (int i = optind + 1; i < argc; i++)
		ft_job_capture(&explain->job, argv[i]);
	if (explain->job.files.map == NULL)
		return ft_usage_error(&ft_verb_explain, "no map given: -m FILE");
	return FT_EXIT_CLEAN;
}

/* An id that was cut too short: which ones begin so. */
static enum ft_exit tell_several(const struct explain *explain, const struct ft_report *report)
{
	char ids[512] = "";
	size_t length = 0, count = 0;

	for (size_t i = 0; i < report->finding_count; i++) {
		const struct ft_report_finding *finding = &report->findings[i];

		if (!ft_finding_is_named(finding, explain->id))
			continue;
		count++;
		if (length < sizeof ids)
			length += (size_t)snprintf(ids + length, sizeof ids - length, " %s (%s)",
						   finding->id, finding->rule);
	}
	return ft_usage_error(&ft_verb_explain,
			      "%s: ambiguous, the ids of %zu findings begin so:%s", explain->id,
			      count, ids);
}

static enum ft_exit print_finding(struct explain *explain)
{
	struct ft_report report = *ft_engine_report(explain->job.engine, explain->job.source);
	struct ft_render_options look = { .colour = ft_output_colour(),
					  .width = ft_output_width() };
	int error;

	report.version = ft_build_version();
	report.build = ft_build_text();
	if (explain->format == FT_FORMAT_JSON)
		error = ft_render_finding_json(stdout, &report, explain->id);
	else
		error = ft_render_finding_text(stdout, &report, explain->id, &look);
	if (error == -ENOENT)
		return ft_usage_error(&ft_verb_explain, "%s: no such finding among %zu",
				      explain->id, report.finding_count);
	if (error == -ENOTUNIQ)
		return tell_several(explain, &report);
	return error != 0 ? ft_output_failed(error) : FT_EXIT_CLEAN;
}

static enum ft_exit run_line(struct explain *explain, int argc, char **argv)
{
	int error;

	if (read_line(explain, argc, argv) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	if (explain->help)
		return ft_usage_print(&ft_verb_explain);
	if (ft_job_open(&explain->job, NULL) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	error = ft_job_run(&explain->job);
	if (error != 0)
		return ft_job_failed(&explain->job, error, "no finding");
	return ft_job_tell_damage(&explain->job, print_finding(explain));
}

static enum ft_exit run(int argc, char **argv)
{
	struct explain explain = { 0 };
	enum ft_exit status;

	if (ft_job_init(&explain.job, &ft_verb_explain, argc) != 0)
		return FT_EXIT_FAILED;
	explain.job.config.nccl = FT_ENGINE_NCCL_WATCH; /* as an audit, whose findings these are */
	status = run_line(&explain, argc, argv);
	ft_job_close(&explain.job);
	return status;
}

const struct ft_verb ft_verb_explain = { "explain", "one finding: rule, map line, frames", usage,
					 run };
