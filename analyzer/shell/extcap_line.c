#include "extcap_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extcap_sentences.h"
#include "log.h"

static const char usage[] =
	"usage: fabtap --extcap-interfaces\n"
	"       fabtap --extcap-interface NAME --extcap-dlts | --extcap-config\n"
	"       fabtap --extcap-interface NAME --extcap-capture-filter EXPR\n"
	"       fabtap --extcap-interface NAME --capture --fifo FILE [options]\n"
	"\n"
	"How Wireshark and tshark call fabtap after `fabtap sources --install-extcap`.\n"
	"\n"
	"options:\n"
	"      --device DEVICE    of " FT_EXTCAP_DPDK ": net_af_packet0,iface=tap0\n"
	"      --extcap-capture-filter EXPR  kernel filter, in pcap's language\n"
	"      --snap N           bytes kept of each frame\n"
	"      --buffer SIZE      receive buffer: bytes, or 64K, 512M, 2G\n"
	"      --allow-tx-queue   take a device that cannot be had without a transmit queue\n"
	"      --map FILE         the declared map: what violates it gets a comment\n"
	"      --topology FILE    ibnetdiscover, guid2lid, smpquery or saquery output\n"
	"      --key PUB.pem      refuse a map that this Ed25519 key has not signed\n"
	"      --only-violations  only frames that violate the map\n"
	"      --tenant NAME      only frames of this tenant\n";

const struct ft_verb ft_extcap_verb = { .name = "extcap", .usage = usage };

enum code {
	INTERFACES = 1024,
	VERSION,
	INTERFACE,
	DLTS,
	CONFIG,
	RELOAD,
	FILTER,
	CAPTURE,
	FIFO,
	IGNORED,
	DEVICE,
	ONLY_VIOLATIONS,
	TENANT,
};

static const struct option words[] = {
	{ "extcap-interfaces", no_argument, NULL, INTERFACES },
	{ "extcap-version", optional_argument, NULL, VERSION },
	{ "extcap-interface", required_argument, NULL, INTERFACE },
	{ "extcap-dlts", no_argument, NULL, DLTS },
	{ "extcap-config", no_argument, NULL, CONFIG },
	{ "extcap-reload-option", required_argument, NULL, RELOAD },
	{ "extcap-capture-filter", required_argument, NULL, FILTER },
	{ "capture", no_argument, NULL, CAPTURE },
	{ "fifo", required_argument, NULL, FIFO },
	/* nothing is controlled while it runs, and nothing is left behind */
	{ "extcap-control-in", required_argument, NULL, IGNORED },
	{ "extcap-control-out", required_argument, NULL, IGNORED },
	{ "extcap-cleanup-postkill", no_argument, NULL, IGNORED },
	{ "device", required_argument, NULL, DEVICE },
	{ "snap", required_argument, NULL, 's' },
	{ "buffer", required_argument, NULL, FT_OPTION_BUFFER },
	{ "allow-tx-queue", no_argument, NULL, FT_OPTION_ALLOW_TX_QUEUE },
	{ "map", required_argument, NULL, 'm' },
	{ "topology", required_argument, NULL, FT_OPTION_TOPOLOGY },
	{ "key", required_argument, NULL, FT_OPTION_KEY },
	{ "only-violations", no_argument, NULL, ONLY_VIOLATIONS },
	{ FT_EXTCAP_TENANT, required_argument, NULL, TENANT },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

int ft_extcap_line_init(struct ft_extcap_line *line, int argc)
{
	*line = (struct ft_extcap_line){ 0 };
	if (ft_flow_choice_init(&line->choice) != 0) {
		ft_log("out of memory");
		return -ENOMEM;
	}
	if (ft_job_init(&line->job, &ft_extcap_verb, argc) == 0)
		return 0;
	ft_flow_choice_free(&line->choice);
	return -ENOMEM;
}

void ft_extcap_line_free(struct ft_extcap_line *line)
{
	ft_job_close(&line->job);
	ft_flow_choice_free(&line->choice);
	free(line->address);
}

/* --- options --- */

static int take_tenant(struct ft_extcap_line *line, const char *value)
{
	struct ft_flow_complaint complaint;
	int error = ft_flow_choice_tenant(&line->choice, value, &complaint);

	if (error == -EINVAL)
		ft_usage_error(&ft_extcap_verb, "--%s", complaint.text);
	else if (error != 0)
		ft_log("out of memory");
	return error;
}

/* Some come together: of --extcap-config and --extcap-reload-option, or --capture and a filter, the later row counts. */
static void ask(struct ft_extcap_line *line, enum ft_extcap_request request)
{
	if (request > line->request)
		line->request = request;
}

static int take(struct ft_extcap_line *line, int code, const char *value)
{
	switch (code) {
	case INTERFACES:
		ask(line, FT_EXTCAP_INTERFACES);
		return 0;
	case DLTS:
		ask(line, FT_EXTCAP_DLTS);
		return 0;
	case CONFIG:
		ask(line, FT_EXTCAP_CONFIG);
		return 0;
	case RELOAD:
		ask(line, FT_EXTCAP_RELOAD);
		line->reload = value == NULL ? "" : value + strspn(value, "-");
		return 0;
	case FILTER:
		ask(line, FT_EXTCAP_FILTER);
		line->filter = value;
		return 0;
	case CAPTURE:
		ask(line, FT_EXTCAP_CAPTURE);
		return 0;
	case INTERFACE:
		line->interface = value;
		return 0;
	case FIFO:
		line->fifo = value;
		return 0;
	case DEVICE:
		line->device = value;
		return 0;
	case ONLY_VIOLATIONS:
		line->only_violations = true;
		return 0;
	case TENANT:
		return take_tenant(line, value);
	case VERSION:
	case IGNORED:
		return 0;
	default:
		return ft_job_option(&line->job, code, value);
	}
}

/* --- what they say together --- */

static enum ft_exit find_address(struct ft_extcap_line *line)
{
	size_t prefix = strlen(FT_EXTCAP_PREFIX);
	const char *name = line->interface;
	int size;

	if (strcmp(name, FT_EXTCAP_DPDK) == 0)
		size = asprintf(&line->address, "dpdk:%s",
				line->device != NULL ? line->device : "");
	else if (strncmp(name, FT_EXTCAP_PREFIX, prefix) == 0 && ft_live_is_address(name + prefix))
		size = asprintf(&line->address, "%s", name + prefix);
	else
		return ft_usage_error(&ft_extcap_verb, "no interface %s", name);
	if (size >= 0)
		return FT_EXIT_CLEAN;
	line->address = NULL;
	ft_log("out of memory");
	return FT_EXIT_FAILED;
}

static enum ft_exit check_capture(struct ft_extcap_line *line)
{
	const struct ft_job *job = &line->job;

	if (line->fifo == NULL)
		return ft_usage_error(&ft_extcap_verb, "nowhere to write: --fifo FILE");
	if (strcmp(line->interface, FT_EXTCAP_DPDK) == 0 && line->device == NULL)
		return ft_usage_error(&ft_extcap_verb,
				      "%s: no device given: a PCI address, or "
				      "net_af_packet0,iface=tap0 and the like",
				      line->interface);
	if (job->files.map == NULL && (line->only_violations || line->choice.expressions != 0))
		return ft_usage_error(&ft_extcap_verb, "--only-violations and --tenant need a map");
	return FT_EXIT_CLEAN;
}

/* A capture filter is one more option of the source. */
static enum ft_exit prepare_capture(struct ft_extcap_line *line)
{
	struct ft_job *job = &line->job;

	if (check_capture(line) != FT_EXIT_CLEAN || ft_job_option(job, 'i', line->address) != 0)
		return FT_EXIT_FAILED;
	if (line->filter != NULL && ft_job_option(job, 'f', line->filter) != 0)
		return FT_EXIT_FAILED;
	job->live.quiet = true;
	job->streams = true;
	return FT_EXIT_CLEAN;
}

enum ft_exit ft_extcap_line_read(struct ft_extcap_line *line, int argc, char **argv)
{
	struct ft_options options = { &ft_extcap_verb, "", words, argc, argv, false };
	int code;

	while ((code = ft_options_next(&options)) != FT_OPTION_END) {
		/* a field of the dialog that was left empty */
		if (optarg != NULL && *optarg == 0 && code != FT_OPTION_BAD)
			continue;
		if (code == 'h') {
			line->request = FT_EXTCAP_NOTHING;
			return ft_usage_print(&ft_extcap_verb);
		}
		if (code == FT_OPTION_BAD || take(line, code, optarg) != 0)
			return FT_EXIT_FAILED;
	}
	if (optind < argc)
		return ft_usage_error(&ft_extcap_verb, "%s: not an option", argv[optind]);
	if (line->request == FT_EXTCAP_INTERFACES || line->request == FT_EXTCAP_NOTHING)
		return FT_EXIT_CLEAN;
	if (line->interface == NULL)
		return ft_usage_error(&ft_extcap_verb,
				      "no interface named: --extcap-interface NAME");
	if (find_address(line) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	return line->request == FT_EXTCAP_CAPTURE ? prepare_capture(line) : FT_EXIT_CLEAN;
}
