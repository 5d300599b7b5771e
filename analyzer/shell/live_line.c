#include "live_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <firmware-config/settings.h>

#include "interrupt.h"
#include "log.h"
#include "number.h"
#include "rights.h"
#include "signals.h"

#define DURATION_MAX_NS (UINT64_C(366) * 24 * 3600 * 1000000000)

enum { SNAP_MIN = 64, SNAP_MAX = 262144, NAMES = 1024, WARNING = 1024 };

int ft_live_line_init(struct ft_live_line *line, const struct ft_verb *verb, int argc)
{
	*line = (struct ft_live_line){
		.verb = verb,
		.config = FT_LIVE_DEFAULTS,
		.addresses = calloc((size_t)argc, sizeof *line->addresses),
	};
	return line->addresses != NULL ? 0 : -ENOMEM;
}

void ft_live_line_free(struct ft_live_line *line)
{
	free(line->addresses);
}

static int refuse(const struct ft_live_line *line, const char *option, const char *value,
		  const char *wanted)
{
	ft_usage_error(line->verb, "%s %s: not %s", option, value, wanted);
	return -EINVAL;
}

int ft_live_line_address(struct ft_live_line *line, const char *option, const char *value)
{
	if (!ft_live_is_address(value))
		return refuse(line, option, value,
			      "a live source: pcap:INTERFACE, dpdk:DEVICE or verbs:DEVICE/PORT");
	line->addresses[line->count++] = value;
	return 0;
}

static int take_snap(struct ft_live_line *line, const char *value)
{
	uint64_t snap;

	if (!ft_number_read(value, SNAP_MIN, SNAP_MAX, &snap))
		return refuse(line, "-s", value, "a number of bytes from 64 to 262144");
	line->config.snap = (uint32_t)snap;
	return 0;
}

static int take_filter(struct ft_live_line *line, const char *value)
{
	if (line->config.filter != NULL) {
		ft_usage_error(line->verb, "-f given twice");
		return -EINVAL;
	}
	line->config.filter = value;
	return 0;
}

static int take_duration(struct ft_live_line *line, const char *value)
{
	if (!ft_duration_read(value, &line->duration_ns) || line->duration_ns > DURATION_MAX_NS)
		return refuse(line, "--duration", value,
			      "a time: seconds with fraction, or 90s, 5m, 2h");
	return 0;
}

static int take_buffer(struct ft_live_line *line, const char *value)
{
	if (!ft_size_read(value, &line->config.buffer_bytes))
		return refuse(line, "--buffer", value, "a size: bytes, or 64K, 512M, 2G");
	return 0;
}

int ft_live_line_option(struct ft_live_line *line, int code, const char *value)
{
	line->options |= code != 'i';
	switch (code) {
	case 'i':
		if (ft_live_is_address(value))
			return ft_live_line_address(line, "-i", value);
		return refuse(
			line, "-i", value,
			"a source: pcap:INTERFACE, dpdk:DEVICE, verbs:DEVICE/PORT or file:PATH");
	case 's':
		return take_snap(line, value);
	case 'f':
		return take_filter(line, value);
	case FT_OPTION_DURATION:
		return take_duration(line, value);
	case FT_OPTION_BUFFER:
		return take_buffer(line, value);
	case FT_OPTION_ALLOW_TX_QUEUE:
		line->config.allow_tx_queue = true;
		return 0;
	case FT_OPTION_VERBOSE:
		line->config.verbose = true;
		return 0;
	default:
		return 1;
	}
}

/* What each device said it cannot do, or was consented to. */
static void tell_notes(const struct ft_source *source)
{
	for (size_t i = 0; i < ft_source_input_count(source); i++) {
		const char *name = ft_source_input(source, i)->name;
		const struct ft_device_facts *facts = ft_live_facts(source, i);

		if (facts->transmit_queues != 0)
			ft_log("%s: opened with %u transmit queue%s, as allowed", name,
			       facts->transmit_queues, facts->transmit_queues == 1 ? "" : "s");
		if (facts->note != NULL)
			ft_log("%s: %s", name, facts->note);
	}
}

void ft_live_warn(const struct ft_source *source)
{
	static const struct ft_machine here = { "" };

	for (size_t i = 0; i < ft_source_input_count(source); i++) {
		const char *interface = ft_live_facts(source, i)->interface;
		struct ft_setting settings[FT_SETTINGS_MAX];
		char warning[WARNING];
		size_t count;

		if (interface == NULL)
			continue;
		count = ft_settings_read(&here, interface, settings);
		if (ft_settings_warn(interface, settings, count, warning, sizeof warning))
			ft_log("%s: interface %s %s", ft_source_input(source, i)->name, interface,
			       warning);
	}
}

static void tell_listening(const struct ft_live_line *line)
{
	char names[NAMES] = "";
	size_t length = 0;

	for (size_t i = 0; i < line->count && length < sizeof names; i++)
		length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
					   i == 0 ? "" : ", ", line->addresses[i]);
	ft_log("listening on %s", names);
}

static int drop_rights(void)
{
	const char *what;
	int error = ft_rights_drop(&what);

	if (error != 0)
		ft_log("cannot give up %s: %s", what, strerror(-error));
	return error;
}

int ft_live_line_open(struct ft_live_line *line, unsigned keep, struct ft_source **source)
{
	struct ft_source_complaint complaint;
	int error;

	line->config.keep = keep;
	error = ft_live_open(source, line->addresses, line->count, &line->config, &complaint);
	if (error != 0)
		ft_log("%s", complaint.text);
	return error;
}

int ft_live_line_listen(const struct ft_live_line *line, struct ft_source *source)
{
	struct ft_source_complaint complaint;
	int error = ft_live_start(source, &complaint);

	if (error != 0) {
		ft_log("%s", complaint.text);
		return error;
	}
	if (line->receiving != NULL) {
		error = line->receiving(line->receiving_context);
		if (error != 0)
			return error;
	}
	if (!line->quiet) {
		tell_notes(source);
		ft_live_warn(source);
	}
	error = drop_rights();
	ft_interrupt_catch_writing();
	ft_requests_catch();
	if (error == 0 && !line->quiet)
		tell_listening(line);
	return error;
}
