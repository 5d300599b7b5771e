#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <report/nccl.h>

#include "build.h"
#include "format.h"
#include "job.h"
#include "log.h"
#include "number.h"
#include "output.h"

enum { MESSAGES_SHOWN = 20 };

static const char usage[] =
	"usage: fabtap nccl [-m MAP] [options] CAPTURE...\n"
	"\n"
	"What NCCL did in the captures: who is in a communicator and in which ring, its channels "
	"and\n"
	"connections, every clear-to-send with the data that answered it, and the operations that "
	"they\n"
	"make up. Queue pairs of other libraries are told from NCCL's. With a map, also who of "
	"them may\n"
	"not talk to each other. `-` is standard input.\n"
	"\n"
	"options:\n" FT_JOB_USAGE
	"  -o, --output FORMAT    text (default), json, or inspector: a line of JSON for each "
	"operation,\n"
	"                         with the names of NCCL's inspector plugin; --json is short for "
	"-o json\n"
	"      --messages N       print at most N messages and operations (default 20); json: "
	"only\n"
	"                         of messages (default all)\n"
	"      --keys             print R_Keys too (json)\n"
	"\n"
	"exit status: 0 nothing is wrong, 1 there are findings about NCCL, 2 could not do it (or "
	"not "
	"all)\n";

enum { FORMATS = FT_TEXT_OR_JSON | 1 << FT_FORMAT_INSPECTOR };

struct nccl {
	struct ft_job job;
	enum ft_format format;
	size_t messages; /* SIZE_MAX: not told */
	bool keys, limited, help;
};

static int take_messages(struct nccl *nccl, const char *value)
{
	uint64_t messages;

	if (nccl->limited) {
		ft_usage_error(&ft_verb_nccl, "--messages given twice");
		return -EINVAL;
	}
	if (!ft_number_read(value, 0, SIZE_MAX, &messages)) {
		ft_usage_error(&ft_verb_nccl, "--messages %s: not a number", value);
		return -EINVAL;
	}
	nccl->limited = true;
	nccl->messages = messages;
	return 0;
}

static int take(struct nccl *nccl, int code, const char *value)
{
	switch (code) {
	case 'h':
		nccl->help = true;
		return 0;
	case 'o':
		return ft_format_take(&ft_verb_nccl, FORMATS, &nccl->format, value);
	case FT_OPTION_JSON:
		return ft_format_take(&ft_verb_nccl, FORMATS, &nccl->format, "json");
	case FT_OPTION_MESSAGES:
		return take_messages(nccl, value);
	case FT_OPTION_KEYS:
		nccl->keys = true;
		return 0;
	default:
		return ft_job_option(&nccl->job, code, value);
	}
}

static const struct option words[] = {
	FT_JOB_WORDS,
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ "messages", required_argument, NULL, FT_OPTION_MESSAGES },
	{ "keys", no_argument, NULL, FT_OPTION_KEYS },
	{ 0 },
};

static enum ft_exit read_line(struct nccl *nccl, int argc, char **argv)
{
	struct ft_options options = {
		&ft_verb_nccl, FT_JOB_LETTERS "o:", words, argc, argv, false
	};
	int code;

	while ((code = ft_options_next(&options)) != FT_OPTION_END)
		if (code == FT_OPTION_BAD || take(nccl, code, optarg) != 0)
			return FT_EXIT_FAILED;
	for (int i = optind; i < argc; i++)
		ft_job_capture(&nccl->job, argv[i]);
	if (nccl->keys && !nccl->help && nccl->format != FT_FORMAT_JSON)
		return ft_usage_error(&ft_verb_nccl, "--keys is for -o json");
	if (nccl->limited && !nccl->help && nccl->format == FT_FORMAT_INSPECTOR)
		return ft_usage_error(&ft_verb_nccl, "--messages is for -o text and -o json");
	return FT_EXIT_CLEAN;
}

static int render(const struct nccl *nccl, const struct ft_report_nccl *report)
{
	const struct ft_render_options look = { .colour = ft_output_colour(),
						.width = ft_output_width() };

	if (nccl->format == FT_FORMAT_JSON)
		return ft_render_nccl_json(stdout, report, nccl->keys);
	if (nccl->format == FT_FORMAT_INSPECTOR)
		return ft_render_nccl_inspector(stdout, report);
	return ft_render_nccl_text(stdout, report, nccl->limited ? nccl->messages : MESSAGES_SHOWN,
				   &look);
}

/* What a document leaves out is counted as what there was no room for. */
static struct ft_nccl_report limited(const struct nccl *nccl, const struct ft_nccl_report *all)
{
	struct ft_nccl_report report = *all;

	if (nccl->format == FT_FORMAT_JSON && nccl->limited &&
	    report.message_count > nccl->messages) {
		report.messages_dropped += report.message_count - nccl->messages;
		report.message_count = nccl->messages;
	}
	return report;
}

static bool has_findings(const struct ft_report *about)
{
	for (size_t i = 0; i < about->finding_count; i++)
		if (strncmp(about->findings[i].rule, "nccl.", 5) == 0)
			return true;
	return false;
}

static enum ft_exit print_report(const struct nccl *nccl)
{
	const struct ft_job *job = &nccl->job;
	const struct ft_nccl_report *all = ft_engine_nccl(job->engine);
	struct ft_report about = *ft_engine_report(job->engine, job->source);
	struct ft_nccl_report shown;
	const struct ft_report_nccl report = { &about, &shown };

	if (all == NULL) {
		ft_log("out of memory");
		return FT_EXIT_FAILED;
	}
	shown = limited(nccl, all);
	about.version = ft_build_version();
	about.build = ft_build_text();
	about.stopped_after = ft_job_stopped_after(job);
	return ft_output_status(render(nccl, &report),
				has_findings(&about) ? FT_EXIT_FINDINGS : FT_EXIT_CLEAN);
}

static enum ft_exit run_line(struct nccl *nccl, int argc, char **argv)
{
	int error;

	if (read_line(nccl, argc, argv) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	if (nccl->help)
		return ft_usage_print(&ft_verb_nccl);
	nccl->job.config.nccl = FT_ENGINE_NCCL_ALL;
	if (ft_job_open(&nccl->job, NULL) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	error = ft_job_run(&nccl->job);
	if (error != 0)
		return ft_job_failed(&nccl->job, error, "no report");
	return ft_job_tell_damage(&nccl->job, print_report(nccl));
}

static enum ft_exit run(int argc, char **argv)
{
	struct nccl nccl = { 0 };
	enum ft_exit status;

	if (ft_job_init(&nccl.job, &ft_verb_nccl, argc) != 0)
		return FT_EXIT_FAILED;
	status = run_line(&nccl, argc, argv);
	ft_job_close(&nccl.job);
	return status;
}

const struct ft_verb ft_verb_nccl = { "nccl", "NCCL: communicators, connections, transfers", usage,
				      run };
