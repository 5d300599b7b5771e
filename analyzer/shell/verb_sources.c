#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <capture/source.h>
#include <report/sources.h>

#include "extcap_install.h"
#include "interrupt.h"
#include "live_line.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "sources_live.h"

static const char usage[] =
	"usage: fabtap sources [--json] [FILE...]\n"
	"       fabtap sources [--json] --test SOURCE...\n"
	"       fabtap sources --install-extcap\n"
	"\n"
	"What fabtap can capture from and read. With files: what each of them is, the frames and "
	"the "
	"time\n"
	"it spans, and where it is damaged. `-` is standard input.\n"
	"\n"
	"options:\n"
	"      --test SOURCE      open a live source, receive for a second, close it, and say "
	"what\n"
	"                         worked (repeatable)\n"
	"      --duration T       receive for T: seconds, or 90s, 5m, 2h\n"
	"  -s, --snapshot-length N  bytes kept of each frame\n"
	"  -f, --filter EXPR      kernel filter, in pcap's language\n"
	"      --buffer SIZE      receive buffer: bytes, or 64K, 512M, 2G\n"
	"      --allow-tx-queue   take a device that cannot be had without a transmit queue\n"
	"      --verbose          let the capture libraries speak, too\n"
	"      --install-extcap   link fabtap into your extcap folder: its sources are interfaces "
	"of\n"
	"                         Wireshark and tshark then\n"
	"      --json             as JSON\n"
	"\n"
	"exit status: 0 all files are whole, all sources work; 2 one could not be read to its end, "
	"or\n"
	"does not work\n";

static const struct option words[] = {
	{ "test", required_argument, NULL, FT_OPTION_TEST },
	{ "snapshot-length", required_argument, NULL, 's' },
	{ "filter", required_argument, NULL, 'f' },
	{ "duration", required_argument, NULL, FT_OPTION_DURATION },
	{ "buffer", required_argument, NULL, FT_OPTION_BUFFER },
	{ "allow-tx-queue", no_argument, NULL, FT_OPTION_ALLOW_TX_QUEUE },
	{ "verbose", no_argument, NULL, FT_OPTION_VERBOSE },
	{ "install-extcap", no_argument, NULL, FT_OPTION_INSTALL_EXTCAP },
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static bool go_on(const struct ft_source *source)
{
	return !ft_interrupted() || ft_source_is_piped(source);
}

/* Read all of a file for what the source tells of it. 0, or -EINTR: told. */
static int read_through(struct ft_source *source)
{
	enum { BURST = 64 };
	struct ft_frame frames[BURST];
	struct ft_progress progress;
	uint64_t seen = 0;
	int count;

	ft_progress_start(&progress, false);
	while (go_on(source) && (count = ft_source_next(source, frames, BURST)) > 0) {
		seen += (uint64_t)count;
		ft_progress_step(&progress, source, seen);
	}
	ft_progress_end(&progress);
	if (go_on(source))
		return 0;
	ft_log("%s: interrupted after %" PRIu64 " frame%s: the rest is not in its row",
	       ft_source_input(source, 0)->name, seen, seen == 1 ? "" : "s");
	return -EINTR;
}

/* Open and read `path`; *source stays NULL if it is no capture. */
static enum ft_exit look_at(const char *path, struct ft_source **source)
{
	struct ft_source_complaint complaint;

	if (ft_source_open_until(source, &path, 1, ft_interrupt_flag(), &complaint) != 0) {
		ft_log("%s", complaint.text);
		return FT_EXIT_FAILED;
	}
	if (read_through(*source) != 0)
		return FT_EXIT_FAILED;
	if (!ft_source_input(*source, 0)->damaged)
		return FT_EXIT_CLEAN;
	ft_log("%s", ft_source_input(*source, 0)->complaint.text);
	return FT_EXIT_FAILED;
}

static int print_all(struct ft_source *const *sources, size_t count, bool json)
{
	const struct ft_source_input **inputs = calloc(count + 1, sizeof(*inputs));
	struct ft_sources found = { 0 };
	size_t opened = 0;
	int error;

	if (inputs == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (sources[i] != NULL)
			inputs[opened++] = ft_source_input(sources[i], 0);
	found.inputs = inputs;
	found.input_count = opened;
	error = json ? ft_sources_json(stdout, &found) : ft_sources_inputs_text(stdout, &found);
	free(inputs);
	return error;
}

static enum ft_exit look_at_all(char **paths, size_t count, bool json)
{
	struct ft_source **sources = calloc(count, sizeof(struct ft_source *));
	enum ft_exit status = FT_EXIT_CLEAN;
	int error;

	if (sources == NULL) {
		ft_log("out of memory");
		return FT_EXIT_FAILED;
	}
	ft_interrupt_catch();
	for (size_t i = 0; i < count && !ft_interrupted(); i++)
		if (look_at(paths[i], &sources[i]) != FT_EXIT_CLEAN)
			status = FT_EXIT_FAILED;
	error = print_all(sources, count, json);
	if (error != 0)
		status = ft_output_failed(error);
	for (size_t i = 0; i < count; i++)
		ft_source_close(sources[i]);
	free(sources);
	return status;
}

static enum ft_exit list_all(bool json)
{
	struct ft_device_list devices;
	enum ft_exit status = ft_device_list_fill(&devices) != 0 ? FT_EXIT_FAILED : FT_EXIT_CLEAN;
	const struct ft_sources sources = {
		.devices = devices.rows,
		.device_count = devices.count,
	};
	int error = json ? ft_sources_json(stdout, &sources) : ft_sources_text(stdout, &sources);

	ft_device_list_free(&devices);
	return ft_output_status(error, status);
}

struct asked {
	bool json, install;
};

static enum ft_exit run_line(const struct ft_live_line *line, int argc, char **argv,
			     const struct asked *asked)
{
	static const uint64_t a_second_ns = 1000000000;
	uint64_t duration_ns = line->duration_ns != 0 ? line->duration_ns : a_second_ns;

	if (asked->install)
		return argc == 2
			       ? ft_extcap_install()
			       : ft_usage_error(&ft_verb_sources, "--install-extcap stands alone");
	if (line->count > 0 && optind < argc)
		return ft_usage_error(&ft_verb_sources, "--test and files are two runs");
	if (line->count == 0 && line->options)
		return ft_usage_error(&ft_verb_sources,
				      "options of live sources go with --test SOURCE");
	if (line->count > 0)
		return ft_sources_try(line->addresses, line->count, &line->config, duration_ns,
				      asked->json);
	if (optind < argc)
		return look_at_all(argv + optind, (size_t)(argc - optind), asked->json);
	return list_all(asked->json);
}

static int take_option(struct ft_live_line *line, int code, struct asked *asked)
{
	asked->json |= code == FT_OPTION_JSON;
	asked->install |= code == FT_OPTION_INSTALL_EXTCAP;
	if (code == FT_OPTION_JSON || code == FT_OPTION_INSTALL_EXTCAP)
		return 0;
	if (code != FT_OPTION_TEST)
		return ft_live_line_option(line, code, optarg);
	return ft_live_line_address(line, "--test", optarg);
}

static enum ft_exit run(int argc, char **argv)
{
	struct ft_options options = { &ft_verb_sources, "s:f:", words, argc, argv, false };
	struct ft_live_line line;
	enum ft_exit status = FT_EXIT_FAILED;
	struct asked asked = { 0 };
	int code, error = ft_live_line_init(&line, &ft_verb_sources, argc);

	while (error == 0 && (code = ft_options_next(&options)) != FT_OPTION_END && code != 'h')
		error = code == FT_OPTION_BAD ? -EINVAL : take_option(&line, code, &asked);
	if (error == 0)
		status = code == 'h' ? ft_usage_print(&ft_verb_sources)
				     : run_line(&line, argc, argv, &asked);
	ft_live_line_free(&line);
	return status;
}

const struct ft_verb ft_verb_sources = { "sources", "what can be captured from, and what a file is",
					 usage, run };
