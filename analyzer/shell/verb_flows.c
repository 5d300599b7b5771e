#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <engine/flows.h>

#include "build.h"
#include "format.h"
#include "job.h"
#include "log.h"
#include "number.h"
#include "output.h"

static const char usage[] =
	"usage: fabtap flows [-m MAP] [options] CAPTURE...\n"
	"\n"
	"Lists the half-connections of the captures, what each of them sent, lost and repeated, "
	"and how\n"
	"they pair up into connections. With a map, also hosts, tenants and the rules they break.\n"
	"`-` is standard input.\n"
	"\n"
	"options:\n" FT_JOB_USAGE
	"  -o, --output FORMAT    text (default) or json; --json is short for -o json\n"
	"      --where EXPR       only flows with FIELD=VALUE, or FIELD=VALUE,VALUE for any of "
	"them;\n"
	"                         repeated: all of them. Fields: tenant, host, address (also a\n"
	"                         prefix), qp, pkey, rule (also spoof.*), verdict, vlan, vni,\n"
	"                         transport; with --nccl also rules nccl.*, class (nccl, ucx ..)\n"
	"                         and nccl, the number of a connection of NCCL\n"
	"      --sort FIELD       order by a field of the JSON document: counts with the most "
	"first,\n"
	"                         all else ascending; -FIELD is the other way round (default "
	"flow)\n"
	"      --top N            only the first N of them\n"
	"      --nccl             follow NCCL: say what library a half-connection is of, and "
	"which\n"
	"                         connection of NCCL it carries data or clear-to-sends of\n"
	"\n"
	"exit status: 0 done, 2 could not do it (or not all)\n";

struct flows {
	struct ft_job job;
	enum ft_format format;
	struct ft_flow_choice choice;
	bool sorted, topped, nccl;
	bool help;
};

/* What a choice answered to an option: told, if it is an error. */
static int taken(int error, const char *option, const struct ft_flow_complaint *complaint)
{
	if (error == -EINVAL)
		ft_usage_error(&ft_verb_flows, "%s %s", option, complaint->text);
	else if (error != 0)
		ft_log("%s", strerror(-error));
	return error;
}

static int take_where(struct flows *flows, const char *expression)
{
	struct ft_flow_complaint complaint = { "" };

	return taken(ft_flow_choice_where(&flows->choice, expression, &complaint), "--where",
		     &complaint);
}

static int take_sort(struct flows *flows, const char *field)
{
	struct ft_flow_complaint complaint = { "" };

	if (flows->sorted) {
		ft_usage_error(&ft_verb_flows, "--sort given twice");
		return -EINVAL;
	}
	flows->sorted = true;
	return taken(ft_flow_choice_sort(&flows->choice, field, &complaint), "--sort", &complaint);
}

static int take_top(struct flows *flows, const char *value)
{
	uint64_t top;

	if (flows->topped) {
		ft_usage_error(&ft_verb_flows, "--top given twice");
		return -EINVAL;
	}
	if (!ft_number_read(value, 1, SIZE_MAX, &top)) {
		ft_usage_error(&ft_verb_flows, "--top %s: not a number of flows, 1 or more", value);
		return -EINVAL;
	}
	flows->topped = true;
	flows->choice.top = top;
	return 0;
}

static int take(struct flows *flows, int code, const char *value)
{
	switch (code) {
	case 'h':
		flows->help = true;
		return 0;
	case 'o':
		return ft_format_take(&ft_verb_flows, FT_TEXT_OR_JSON, &flows->format, value);
	case FT_OPTION_JSON:
		return ft_format_take(&ft_verb_flows, FT_TEXT_OR_JSON, &flows->format, "json");
	case FT_OPTION_WHERE:
		return take_where(flows, value);
	case FT_OPTION_SORT:
		return take_sort(flows, value);
	case FT_OPTION_TOP:
		return take_top(flows, value);
	case FT_OPTION_NCCL:
		flows->nccl = true;
		return 0;
	default:
		return ft_job_option(&flows->job, code, value);
	}
}

static const struct option words[] = {
	FT_JOB_WORDS,
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ "where", required_argument, NULL, FT_OPTION_WHERE },
	{ "sort", required_argument, NULL, FT_OPTION_SORT },
	{ "top", required_argument, NULL, FT_OPTION_TOP },
	{ "nccl", no_argument, NULL, FT_OPTION_NCCL },
	{ 0 },
};

static enum ft_exit read_line(struct flows *flows, int argc, char **argv)
{
	struct ft_options options = {
		&ft_verb_flows, FT_JOB_LETTERS "o:", words, argc, argv, false
	};
	int code;

	while ((code = ft_options_next(&options)) != FT_OPTION_END)
		if (code == FT_OPTION_BAD || take(flows, code, optarg) != 0)
			return FT_EXIT_FAILED;
	for (int i = optind; i < argc; i++)
		ft_job_capture(&flows->job, argv[i]);
	if (flows->choice.nccl && !flows->nccl && !flows->help)
		return ft_usage_error(&ft_verb_flows,
				      "class, nccl and rules nccl.* (--where, --sort) need "
				      "--nccl");
	return FT_EXIT_CLEAN;
}

static int render(const struct flows *flows, const struct ft_flow_report *report)
{
	const struct ft_job *job = &flows->job;
	const struct ft_render_options look = { .colour = ft_output_colour(),
						.width = ft_output_width() };
	struct ft_report about = *ft_engine_report(job->engine, job->source);
	const struct ft_report_flows rows = ft_flow_report_model(report, &about);

	about.version = ft_build_version();
	about.build = ft_build_text();
	about.stopped_after = ft_job_stopped_after(job);
	if (flows->format == FT_FORMAT_JSON)
		return ft_render_flows_json(stdout, &rows);
	return ft_render_flows_text(stdout, &rows, &look);
}

static enum ft_exit print_flows(const struct flows *flows)
{
	struct ft_flow_report *report;
	int error = ft_engine_flows(flows->job.engine, &flows->choice, &report);

	if (error != 0) {
		ft_log("%s", strerror(-error));
		return FT_EXIT_FAILED;
	}
	error = render(flows, report);
	ft_flow_report_destroy(report);
	return ft_output_status(error, FT_EXIT_CLEAN);
}

static enum ft_exit list_flows(struct flows *flows)
{
	struct ft_flow_complaint complaint = { "" };
	int error = ft_flow_choice_check(&flows->choice, flows->job.map, &complaint);

	if (error != 0)
		return ft_usage_error(&ft_verb_flows, "--where %s", complaint.text);
	error = ft_job_run(&flows->job);
	if (error != 0)
		return ft_job_failed(&flows->job, error, "no flows");
	return ft_job_tell_damage(&flows->job, print_flows(flows));
}

static enum ft_exit run_line(struct flows *flows, int argc, char **argv)
{
	if (read_line(flows, argc, argv) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	if (flows->help)
		return ft_usage_print(&ft_verb_flows);
	flows->job.config.details = true;
	if (flows->nccl)
		flows->job.config.nccl = FT_ENGINE_NCCL_ALL;
	if (ft_job_open(&flows->job, NULL) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	return list_flows(flows);
}

static enum ft_exit run(int argc, char **argv)
{
	struct flows flows = { 0 };
	enum ft_exit status = FT_EXIT_FAILED;

	if (ft_flow_choice_init(&flows.choice) != 0)
		ft_log("out of memory");
	else if (ft_job_init(&flows.job, &ft_verb_flows, argc) == 0) {
		status = run_line(&flows, argc, argv);
		ft_job_close(&flows.job);
	}
	ft_flow_choice_free(&flows.choice);
	return status;
}

const struct ft_verb ft_verb_flows = { "flows", "half-connections, and how they pair up", usage,
				       run };
