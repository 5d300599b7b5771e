#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "number.h"
#include "probe_passive.h"

static const char usage[] =
	"usage: fabtap probe passive [options] SOURCE\n"
	"\n"
	"What this machine is, beside what it should be.\n"
	"\n"
	"  probe passive SOURCE   receive from a live source for a time, read what the port sent\n"
	"                         before and after, and print the attestation record: one JSON\n"
	"                         object with its verdict, proved, consistent, not-proved or\n"
	"                         violated\n"
	"\n"
	"options:\n"
	"      --for T            receive for T: seconds, or 90s, 5m, 2h (default: 10)\n"
	"      --one-way WHO      WHO states that the port has no fibre to send through\n"
	"      --switch-rx B:A    frames that the switch received from the port, before and after\n"
	"      --switch-rx FILE   the same: FILE begins with that number, and somebody keeps it "
	"up\n"
	"                         to date; after the time it has to be written within a minute\n"
	"      --root DIR         read counters and settings of a machine that was saved in DIR\n"
	"      --buffer SIZE      receive buffer: bytes, or 64K, 512M, 2G\n"
	"      --allow-tx-queue   take a device that cannot be had without a transmit queue\n"
	"      --verbose          let the capture libraries speak, too\n"
	"      --json             the record is JSON anyway\n"
	"\n"
	"exit status: 0 proved or consistent; 1 violated: something was sent; 2 could not do it;\n"
	"3 not proved\n";

static const struct option words[] = {
	{ "for", required_argument, NULL, FT_OPTION_FOR },
	{ "one-way", required_argument, NULL, FT_OPTION_ONE_WAY },
	{ "switch-rx", required_argument, NULL, FT_OPTION_SWITCH_RX },
	{ "root", required_argument, NULL, FT_OPTION_ROOT },
	{ "buffer", required_argument, NULL, FT_OPTION_BUFFER },
	{ "allow-tx-queue", no_argument, NULL, FT_OPTION_ALLOW_TX_QUEUE },
	{ "verbose", no_argument, NULL, FT_OPTION_VERBOSE },
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* "1200:1200" */
static bool read_pair(const char *text, uint64_t pair[2])
{
	char before[32];
	size_t size = strcspn(text, ":");

	if (text[size] != ':' || size >= sizeof before)
		return false;
	memcpy(before, text, size);
	before[size] = '\0';
	return ft_number_read(before, 0, INT64_MAX, &pair[0]) &&
	       ft_number_read(text + size + 1, 0, INT64_MAX, &pair[1]);
}

/* Two numbers as somebody read them, or the file that somebody keeps the number in. */
static void take_switch(struct ft_probe *probe)
{
	bool told = read_pair(optarg, probe->witness.switch_rx);

	probe->witness.switch_by = told ? "operator" : NULL;
	probe->switch_file = told ? NULL : optarg;
}

static int refuse(const char *option, const char *wanted)
{
	ft_usage_error(&ft_verb_probe, "%s %s: not %s", option, optarg, wanted);
	return -EINVAL;
}

static int take_option(struct ft_probe *probe, int code)
{
	switch (code) {
	case FT_OPTION_FOR:
		return ft_duration_read(optarg, &probe->duration_ns)
			       ? 0
			       : refuse("--for", "a time: seconds with fraction, or 90s, 5m, 2h");
	case FT_OPTION_ONE_WAY:
		probe->witness.one_way_by = optarg;
		return optarg[strspn(optarg, " \t\n")] != '\0'
			       ? 0
			       : refuse("--one-way", "the name of who says so");
	case FT_OPTION_SWITCH_RX:
		take_switch(probe);
		return 0;
	case FT_OPTION_ROOT:
		probe->machine.root = optarg;
		return access(optarg, X_OK) == 0 ? 0 : refuse("--root", "a folder");
	case FT_OPTION_JSON:
		return 0;
	default:
		return ft_live_line_option(&probe->line, code, optarg);
	}
}

static enum ft_exit run_line(struct ft_probe *probe, int argc, char **argv)
{
	if (optind == argc)
		return ft_usage_error(&ft_verb_probe, "passive takes a live source");
	if (argc - optind > 1)
		return ft_usage_error(&ft_verb_probe, "passive takes one source, not %d",
				      argc - optind);
	if (ft_live_line_address(&probe->line, "passive", argv[optind]) != 0)
		return FT_EXIT_FAILED;
	return ft_probe_passive(probe);
}

static enum ft_exit run_passive(int argc, char **argv)
{
	static const uint64_t ten_seconds_ns = UINT64_C(10000000000);
	struct ft_options options = { &ft_verb_probe, "", words, argc, argv, false };
	struct ft_probe probe = { .machine = { "" }, .duration_ns = ten_seconds_ns };
	enum ft_exit status = FT_EXIT_FAILED;
	int code, error = ft_live_line_init(&probe.line, &ft_verb_probe, argc);

	while (error == 0 && (code = ft_options_next(&options)) != FT_OPTION_END && code != 'h')
		error = code == FT_OPTION_BAD ? -EINVAL : take_option(&probe, code);
	if (error == 0)
		status =
			code == 'h' ? ft_usage_print(&ft_verb_probe) : run_line(&probe, argc, argv);
	ft_live_line_free(&probe.line);
	return status;
}

static enum ft_exit run(int argc, char **argv)
{
	if (argc < 2)
		return ft_usage_error(&ft_verb_probe, "what? `fabtap probe passive SOURCE`");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return ft_usage_print(&ft_verb_probe);
	if (strcmp(argv[1], "passive") == 0)
		return run_passive(argc - 1, argv + 1);
	return ft_usage_error(&ft_verb_probe, "no %s; see `fabtap help probe`", argv[1]);
}

const struct ft_verb ft_verb_probe = { "probe", "whether this machine is silent at its taps", usage,
				       run };
