#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <report/frame.h>

#include "format.h"
#include "job.h"
#include "log.h"
#include "output.h"

static const char usage[] =
	"usage: fabtap decode [options] CAPTURE...\n"
	"\n"
	"One line for each packet. With a map each packet's verdict stands at the end of its "
	"line.\n"
	"`-` is standard input.\n"
	"\n"
	"options:\n" FT_JOB_USAGE "  -o, --output FORMAT    text (default), json or fields; -T "
	"means the same, --json is short\n"
	"                         for -o json\n"
	"  -e NAME                a field to print with -T fields (repeatable): our name or\n"
	"                         Wireshark's; values are separated by tabs\n"
	"      --list-fields      the names that -e takes\n"
	"      --nccl             follow NCCL's framing, and tell of each packet what it is of "
	"it:\n"
	"                         clear-to-send, data, sizes or completion, of which connection "
	"and\n"
	"                         message\n"
	"      --keys             show the R_Keys that clear-to-sends hold\n"
	"\n"
	"exit status: 0 all frames read, 2 could not do it (or not all)\n";

enum { OUTPUT_BUFFER = 1 << 18 };

enum { FORMATS = FT_TEXT_OR_JSON | 1 << FT_FORMAT_FIELDS };

struct decode {
	struct ft_job job;
	enum ft_format format;
	const struct ft_field **fields; /* room for all of argv */
	size_t field_count;
	bool list_fields, help;
	bool nccl, keys;             /* asked for .. */
	bool wants_nccl, wants_keys; /* .. by the names of fields */
};

static int take_field(struct decode *decode, const char *name)
{
	const struct ft_field *field = ft_field_find(name);

	if (field == NULL) {
		ft_usage_error(&ft_verb_decode, "-e %s: no such field; see --list-fields", name);
		return -EINVAL;
	}
	decode->wants_nccl |= strncmp(name, "nccl.", 5) == 0;
	decode->wants_keys |= strcmp(name, "nccl.rkeys") == 0;
	decode->fields[decode->field_count++] = field;
	return 0;
}

static int take(struct decode *decode, int code, const char *value)
{
	switch (code) {
	case 'h':
		decode->help = true;
		return 0;
	case 'o':
	case 'T':
		return ft_format_take(&ft_verb_decode, FORMATS, &decode->format, value);
	case FT_OPTION_JSON:
		return ft_format_take(&ft_verb_decode, FORMATS, &decode->format, "json");
	case 'e':
		return take_field(decode, value);
	case FT_OPTION_LIST_FIELDS:
		decode->list_fields = true;
		return 0;
	case FT_OPTION_NCCL:
		decode->nccl = true;
		return 0;
	case FT_OPTION_KEYS:
		decode->keys = true;
		return 0;
	default:
		return ft_job_option(&decode->job, code, value);
	}
}

static const struct option words[] = {
	FT_JOB_WORDS,
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ "list-fields", no_argument, NULL, FT_OPTION_LIST_FIELDS },
	{ "nccl", no_argument, NULL, FT_OPTION_NCCL },
	{ "keys", no_argument, NULL, FT_OPTION_KEYS },
	{ 0 },
};

/* Options that make sense only with others. */
static enum ft_exit check_line(const struct decode *decode)
{
	bool wants_fields = decode->format == FT_FORMAT_FIELDS;

	if (wants_fields && decode->field_count == 0)
		return ft_usage_error(&ft_verb_decode, "-T fields needs a field: -e NAME");
	if (!wants_fields && decode->field_count > 0)
		return ft_usage_error(&ft_verb_decode, "-e needs -T fields");
	if (decode->wants_nccl && !decode->nccl)
		return ft_usage_error(&ft_verb_decode, "fields of NCCL (-e nccl.*) need --nccl");
	if (decode->keys && !decode->nccl)
		return ft_usage_error(&ft_verb_decode, "--keys is for --nccl");
	if (decode->wants_keys && !decode->keys)
		return ft_usage_error(&ft_verb_decode, "-e nccl.rkeys needs --keys");
	return FT_EXIT_CLEAN;
}

static enum ft_exit read_line(struct decode *decode, int argc, char **argv)
{
	struct ft_options options = {
		&ft_verb_decode, FT_JOB_LETTERS "o:T:e:", words, argc, argv, false
	};
	int code;

	while ((code = ft_options_next(&options)) != FT_OPTION_END)
		if (code == FT_OPTION_BAD || take(decode, code, optarg) != 0)
			return FT_EXIT_FAILED;
	for (int i = optind; i < argc; i++)
		ft_job_capture(&decode->job, argv[i]);
	return decode->help ? FT_EXIT_CLEAN : check_line(decode);
}

static int show_text(void *context, const struct ft_frame_view *view)
{
	const struct decode *decode = context;
	struct ft_frame_view shown = *view;

	shown.keys = decode->keys;
	return ft_frame_text(stdout, &shown);
}

static int show_json(void *context, const struct ft_frame_view *view)
{
	const struct decode *decode = context;
	struct ft_frame_view shown = *view;

	shown.keys = decode->keys;
	return ft_frame_json(stdout, &shown);
}

static int show_fields(void *context, const struct ft_frame_view *view)
{
	const struct decode *decode = context;

	return ft_fields_write(stdout, decode->fields, decode->field_count, view);
}

static ft_engine_observer *observer_of(const struct decode *decode)
{
	if (decode->format == FT_FORMAT_UNSET || decode->format == FT_FORMAT_TEXT)
		return show_text;
	return decode->format == FT_FORMAT_JSON ? show_json : show_fields;
}

static enum ft_exit decode_frames(struct decode *decode)
{
	enum ft_exit status = FT_EXIT_CLEAN;
	int error;

	decode->job.streams = true;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	ft_engine_observe(decode->job.engine, observer_of(decode), decode);
	error = ft_job_run(&decode->job);
	if (error == -EINTR)
		status = ft_job_failed(&decode->job, error, "no line for the rest");
	else if (error != 0)
		return ft_output_failed(error);
	return ft_job_tell_damage(&decode->job, status);
}

static enum ft_exit run_line(struct decode *decode, int argc, char **argv)
{
	if (read_line(decode, argc, argv) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	if (decode->help)
		return ft_usage_print(&ft_verb_decode);
	if (decode->list_fields) {
		int error = ft_field_list(stdout);

		return error != 0 ? ft_output_failed(error) : FT_EXIT_CLEAN;
	}
	if (decode->nccl) {
		decode->job.config.nccl = FT_ENGINE_NCCL_ALL;
		decode->job.config.nccl_messages = 0; /* none is asked for */
	}
	if (ft_job_open(&decode->job, NULL) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	return decode_frames(decode);
}

static enum ft_exit run(int argc, char **argv)
{
	struct decode decode = { .fields = calloc((size_t)argc, sizeof(*decode.fields)) };
	enum ft_exit status = FT_EXIT_FAILED;

	if (decode.fields == NULL)
		ft_log("out of memory");
	else if (ft_job_init(&decode.job, &ft_verb_decode, argc) == 0) {
		status = run_line(&decode, argc, argv);
		ft_job_close(&decode.job);
	}
	free(decode.fields);
	return status;
}

const struct ft_verb ft_verb_decode = { "decode", "one line, or one JSON object, per packet", usage,
					run };
