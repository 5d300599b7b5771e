#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <capture/source.h>
#include <report/sources.h>

#include "interrupt.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "progress.h"

static const char usage[] =
	"usage: fabtap sources [--json] [FILE...]\n"
	"\n"
	"What fabtap can read. With files: what each of them is, the frames and the time it spans, "
	"and\n"
	"where it is damaged. `-` is standard input.\n"
	"\n"
	"options:\n"
	"      --json             as JSON\n"
	"\n"
	"exit status: 0 all files are whole, 2 one could not be read to its end\n";

static const struct option words[] = {
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Read all of a file for what the source tells of it. 0 or -EINTR. */
static int read_through(struct ft_source *source)
{
	enum { BURST = 64 };
	struct ft_frame frames[BURST];
	struct ft_progress progress;
	uint64_t seen = 0;
	int count;

	ft_progress_start(&progress, false);
	while (!ft_interrupted() && (count = ft_source_next(source, frames, BURST)) > 0) {
		seen += (uint64_t)count;
		ft_progress_step(&progress, source, seen);
	}
	ft_progress_end(&progress);
	return ft_interrupted() ? -EINTR : 0;
}

/* Open and read `path`; *source stays NULL if it is no capture. */
static enum ft_exit look_at(const char *path, struct ft_source **source)
{
	struct ft_source_complaint complaint;

	if (ft_source_open_files(source, &path, 1, &complaint) != 0) {
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
	size_t opened = 0;
	int error;

	if (inputs == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (sources[i] != NULL)
			inputs[opened++] = ft_source_input(sources[i], 0);
	error = json ? ft_sources_json(stdout, inputs, opened)
		     : ft_sources_inputs_text(stdout, inputs, opened);
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

static enum ft_exit run(int argc, char **argv)
{
	struct ft_options options = { &ft_verb_sources, "", words, argc, argv, false };
	bool json = false;
	int code, error;

	while ((code = ft_options_next(&options)) != FT_OPTION_END) {
		if (code == FT_OPTION_BAD)
			return FT_EXIT_FAILED;
		if (code == 'h')
			return ft_usage_print(&ft_verb_sources);
		json = true;
	}
	if (optind < argc)
		return look_at_all(argv + optind, (size_t)(argc - optind), json);
	error = json ? ft_sources_json(stdout, NULL, 0) : ft_sources_text(stdout);
	return error != 0 ? ft_output_failed(error) : FT_EXIT_CLEAN;
}

const struct ft_verb ft_verb_sources = { "sources", "what can be captured from, and what a file is",
					 usage, run };
