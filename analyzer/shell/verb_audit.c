#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <report/render.h>

#include "build.h"
#include "format.h"
#include "job.h"
#include "log.h"
#include "number.h"
#include "output.h"
#include "retell.h"

static const char usage[] =
	"usage: fabtap audit -m MAP [options] CAPTURE...\n"
	"       fabtap audit -m MAP [options] -i SOURCE\n"
	"\n"
	"Compares what the captures show with the declared tenant partition map and reports who\n"
	"talked to whom. `-` is standard input. Captures: pcap, pcapng, ERF, also .gz and .zst.\n"
	"\n"
	"options:\n" FT_JOB_USAGE
	"  -o, --output FORMAT    text (default) or json; --json is short for -o json\n"
	"  -w, --write FILE       the first frames of every finding as pcapng, its id in\n"
	"                         their comments\n"
	"      --min-coverage X   share of RDMA frames that must have been seen, and of those\n"
	"                         judged, for a verdict of compliant, 0 to 1 (default 0.99)\n"
	"      --no-nccl          do not follow NCCL's framing: no nccl.* findings\n"
	"\n"
	"exit status: 0 compliant, 1 violated, 2 could not do it (or not all), 3 not evidenced\n";

struct audit {
	struct ft_job job;
	enum ft_format format;
	const char *evidence; /* -w; NULL: none */
	struct ft_pcapng_writer *writer;
	bool evidence_failed; /* and has been told */
	bool help;
};

static int take_coverage(struct audit *audit, const char *value)
{
	if (ft_share_read(value, &audit->job.config.min_coverage))
		return 0;
	ft_usage_error(&ft_verb_audit, "--min-coverage %s: not a number from 0 to 1", value);
	return -EINVAL;
}

static int take_evidence(struct audit *audit, const char *path)
{
	if (audit->evidence != NULL) {
		ft_usage_error(&ft_verb_audit, "-w given twice");
		return -EINVAL;
	}
	audit->evidence = path;
	return 0;
}

static int take(struct audit *audit, int code, const char *value)
{
	switch (code) {
	case 'h':
		audit->help = true;
		return 0;
	case 'o':
		return ft_format_take(&ft_verb_audit, FT_TEXT_OR_JSON, &audit->format, value);
	case FT_OPTION_JSON:
		return ft_format_take(&ft_verb_audit, FT_TEXT_OR_JSON, &audit->format, "json");
	case 'w':
		return take_evidence(audit, value);
	case FT_OPTION_MIN_COVERAGE:
		return take_coverage(audit, value);
	case FT_OPTION_NO_NCCL:
		audit->job.config.nccl = FT_ENGINE_NCCL_OFF;
		return 0;
	default:
		return ft_job_option(&audit->job, code, value);
	}
}

static const struct option words[] = {
	FT_JOB_WORDS,
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ "write", required_argument, NULL, 'w' },
	{ "min-coverage", required_argument, NULL, FT_OPTION_MIN_COVERAGE },
	{ "no-nccl", no_argument, NULL, FT_OPTION_NO_NCCL },
	{ 0 },
};

static enum ft_exit read_line(struct audit *audit, int argc, char **argv)
{
	struct ft_options options = { &ft_verb_audit, FT_JOB_LETTERS "o:w:", words, argc, argv,
				      false };
	int code;

	while ((code = ft_options_next(&options)) != FT_OPTION_END)
		if (code == FT_OPTION_BAD || take(audit, code, optarg) != 0)
			return FT_EXIT_FAILED;
	for (int i = optind; i < argc; i++)
		ft_job_capture(&audit->job, argv[i]);
	if (audit->help)
		return FT_EXIT_CLEAN;
	if (audit->job.files.map == NULL)
		return ft_usage_error(&ft_verb_audit, "no map given: -m FILE");
	if (audit->evidence != NULL && strcmp(audit->evidence, "-") == 0)
		return ft_usage_error(&ft_verb_audit, "-w -: the report goes to standard output");
	return FT_EXIT_CLEAN;
}

static enum ft_exit open_evidence(struct audit *audit)
{
	struct ft_writer_complaint complaint;

	if (audit->evidence == NULL)
		return FT_EXIT_CLEAN;
	if (ft_pcapng_create(&audit->writer, audit->evidence, "fabtap", &complaint) != 0) {
		ft_log("%s", complaint.text);
		return FT_EXIT_FAILED;
	}
	ft_engine_keep_evidence(audit->job.engine, audit->writer);
	return FT_EXIT_CLEAN;
}

/* A run that may go on for days tells of it when it happens. */
static bool watch_evidence(void *context)
{
	struct audit *audit = context;
	int error = audit->writer != NULL ? ft_pcapng_error(audit->writer) : 0;

	if (error != 0 && !audit->evidence_failed) {
		ft_log("%s: cannot write: %s; the audit goes on without evidence", audit->evidence,
		       strerror(-error));
		audit->evidence_failed = true;
	}
	return true;
}

/* Without it there is still a report. */
static void close_evidence(struct audit *audit)
{
	struct ft_pcapng_writer *writer = audit->writer;
	struct ft_writer_complaint complaint;

	audit->writer = NULL;
	ft_engine_keep_evidence(audit->job.engine, NULL);
	if (writer != NULL && ft_pcapng_close(writer, &complaint) != 0) {
		if (!audit->evidence_failed)
			ft_log("%s", complaint.text);
		audit->evidence_failed = true;
	}
	if (audit->evidence_failed)
		audit->evidence = NULL;
}

static enum ft_exit status_of(const struct ft_report *report)
{
	static const enum ft_exit statuses[] = {
		[FT_COMPLIANT] = FT_EXIT_CLEAN,
		[FT_VIOLATED] = FT_EXIT_FINDINGS,
		[FT_NOT_EVIDENCED] = FT_EXIT_NOT_EVIDENCED,
	};

	return statuses[report->verdict];
}

/* Its strings are good until the engine runs on. What it finds out itself is evidence, too. */
static void make_report(const struct audit *audit, struct ft_report *report)
{
	*report = *ft_engine_report(audit->job.engine, audit->job.source);
	report->version = ft_build_version();
	report->build = ft_build_text();
	report->stopped_after = ft_job_stopped_after(&audit->job);
}

static int render(struct audit *audit, struct ft_report *report)
{
	char *arguments = ft_retell(&audit->job, audit->evidence);
	struct ft_render_options look = { .colour = ft_output_colour(),
					  .width = ft_output_width(),
					  .arguments = arguments };
	int error;

	report->evidence_path = audit->evidence;
	if (audit->format == FT_FORMAT_JSON)
		error = ft_render_json(stdout, report);
	else
		error = ft_render_text(stdout, report, &look);
	free(arguments);
	return error;
}

static enum ft_exit print_report(struct audit *audit)
{
	struct ft_report report;
	int error;

	make_report(audit, &report);
	close_evidence(audit);
	error = render(audit, &report);
	return error != 0 ? ft_output_failed(error) : status_of(&report);
}

/* How things stand, in the midst of a live run. A reader that has gone is told of at the end. */
static void print_so_far(void *context)
{
	struct audit *audit = context;
	struct ft_report report;

	make_report(audit, &report);
	if (render(audit, &report) == 0)
		fflush(stdout);
}

static enum ft_exit audit_frames(struct audit *audit)
{
	enum ft_exit status;
	int error;

	audit->job.interim = print_so_far;
	audit->job.asked_context = audit;
	audit->job.beat = watch_evidence;
	audit->job.beat_context = audit;
	error = ft_job_run(&audit->job);
	if (error != 0)
		return ft_job_failed(&audit->job, error, "no report");
	status = print_report(audit);
	if (audit->evidence_failed)
		status = FT_EXIT_FAILED;
	return ft_job_tell_damage(&audit->job, status);
}

static enum ft_exit run_line(struct audit *audit, int argc, char **argv)
{
	if (read_line(audit, argc, argv) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	if (audit->help)
		return ft_usage_print(&ft_verb_audit);
	if (ft_job_prepare(&audit->job, audit->evidence) != FT_EXIT_CLEAN ||
	    ft_job_open_source(&audit->job) != FT_EXIT_CLEAN ||
	    open_evidence(audit) != FT_EXIT_CLEAN || ft_job_listen(&audit->job) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	return audit_frames(audit);
}

static enum ft_exit run(int argc, char **argv)
{
	struct audit audit = { 0 };
	enum ft_exit status;

	if (ft_job_init(&audit.job, &ft_verb_audit, argc) != 0)
		return FT_EXIT_FAILED;
	audit.job.config.nccl = FT_ENGINE_NCCL_WATCH;
	status = run_line(&audit, argc, argv);
	if (audit.writer != NULL)
		ft_pcapng_abandon(audit.writer);
	ft_job_close(&audit.job);
	return status;
}

const struct ft_verb ft_verb_audit = { "audit", "frames + map -> P_Key and tenancy report", usage,
				       run };
