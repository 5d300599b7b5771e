#include "sources_live.h"

#include "capture_json.h"
#include "human.h"

void ft_devices_text(struct ft_line *line, const struct ft_sources *sources)
{
	size_t width = 0;

	for (size_t i = 0; i < sources->device_count; i++) {
		size_t size = strlen(sources->devices[i].address);

		width = size > width ? size : width;
	}
	ft_line_add(line, "live sources\n");
	if (sources->device_count == 0)
		ft_line_add(line, "  none\n");
	for (size_t i = 0; i < sources->device_count; i++) {
		const struct ft_device_listing *device = &sources->devices[i];
		size_t size = strlen(device->address);

		ft_line_add(line, "  ");
		ft_line_name(line, device->address);
		for (; size < width + 2; size++)
			ft_line_char(line, ' ');
		ft_line_add(line, device->usable ? "" : "not usable: ");
		ft_line_name(line, device->about);
		ft_line_char(line, '\n');
	}
}

static void row(struct ft_line *line, const char *name)
{
	size_t size = strlen(name);

	ft_line_add(line, "  ");
	ft_line_add(line, name);
	for (; size < 12; size++)
		ft_line_char(line, ' ');
}

static void say_row(struct ft_line *line, const char *name, const char *text)
{
	row(line, name);
	ft_line_name(line, text);
	ft_line_char(line, '\n');
}

static void say_frames(struct ft_line *line, const struct ft_source_trial *trial)
{
	struct ft_human human;

	row(line, "received");
	ft_line_decimal(line, trial->input->frames);
	ft_line_add(line, trial->input->frames == 1 ? " frame, " : " frames, ");
	ft_line_add(line, ft_human_bytes(&human, trial->input->bytes));
	ft_line_add(line, " in ");
	ft_line_add(line, ft_human_duration(&human, trial->duration_ns));
	ft_line_char(line, '\n');
	row(line, "lost");
	if (trial->input->losses_unknown)
		ft_line_add(line, "not known: this device does not count what it loses");
	else
		ft_line_decimal(line, trial->input->dropped);
	ft_line_char(line, '\n');
}

static void say_trial(struct ft_line *line, const struct ft_source_trial *trial)
{
	const struct ft_device_facts *facts = trial->facts;
	struct ft_human human;

	ft_line_name(line, trial->input->name);
	ft_line_add(line, trial->input->damaged ? ": vanished\n" : ": works\n");
	say_row(line, "driver", facts->driver);
	if (facts->interface != NULL)
		say_row(line, "interface", facts->interface);
	row(line, "sends");
	if (facts->transmit_queues == 0)
		ft_line_add(line, "no transmit queue\n");
	else
		ft_line_number(line, "transmit queues: ", facts->transmit_queues);
	if (facts->transmit_queues != 0)
		ft_line_char(line, '\n');
	row(line, "time stamps");
	ft_line_add(line, ft_stamp_name(facts->stamps));
	if (facts->clock_error_ns != 0) {
		ft_line_add(line, ", off by at most ");
		ft_line_add(line, ft_human_duration(&human, facts->clock_error_ns));
	}
	ft_line_char(line, '\n');
	say_frames(line, trial);
	for (size_t i = 0; facts->identities != NULL && facts->identities[i] != NULL; i++)
		say_row(line, "known as", facts->identities[i]);
	if (facts->note != NULL)
		say_row(line, "note", facts->note);
}

int ft_sources_trials_text(FILE *out, const struct ft_sources *sources)
{
	struct ft_line line;

	ft_line_open(&line, out);
	for (size_t i = 0; i < sources->trial_count; i++)
		say_trial(&line, &sources->trials[i]);
	return ft_line_flush(&line);
}

void ft_devices_json(struct ft_document *json, const struct ft_sources *sources)
{
	ft_member_begin(json, "devices", '[');
	for (size_t i = 0; i < sources->device_count; i++) {
		const struct ft_device_listing *device = &sources->devices[i];

		ft_member_begin(json, NULL, '{');
		ft_member_text(json, "source", device->address);
		ft_member_text(json, "about", device->about);
		ft_member_bool(json, "usable", device->usable);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

static void identities(struct ft_document *json, const char *const *lines)
{
	ft_member_begin(json, "identities", '[');
	for (size_t i = 0; lines != NULL && lines[i] != NULL; i++)
		ft_member_text(json, NULL, lines[i]);
	ft_member_end(json, ']');
}

static void trial_object(struct ft_document *json, const struct ft_source_trial *trial)
{
	const struct ft_source_input *input = trial->input;
	const struct ft_device_facts *facts = trial->facts;

	ft_member_begin(json, NULL, '{');
	ft_member_text(json, "source", input->name);
	ft_member_text(json, "kind", input->kind);
	ft_member_bool(json, "works", !input->damaged);
	ft_member_text(json, "driver", facts->driver);
	ft_member_text(json, "interface", facts->interface);
	ft_member_number(json, "transmit_queues", facts->transmit_queues);
	ft_member_text(json, "time_stamps", ft_stamp_name(facts->stamps));
	ft_member_number(json, "clock_error_ns",
			 facts->clock_error_ns != 0 ? facts->clock_error_ns : UINT64_MAX);
	ft_member_real(json, "duration_s", (double)trial->duration_ns / 1e9);
	ft_link_types_json(json, input->link_types, input->link_type_count);
	ft_member_number(json, "frames", input->frames);
	ft_member_number(json, "bytes", input->bytes);
	ft_member_time(json, "first_ts", input->first_ts_ns);
	ft_member_time(json, "last_ts", input->last_ts_ns);
	ft_member_number(json, "lost", input->losses_unknown ? UINT64_MAX : input->dropped);
	ft_member_text(json, "note", facts->note);
	identities(json, facts->identities);
	ft_member_text(json, "damage", input->damaged ? input->complaint.text : NULL);
	ft_member_end(json, '}');
}

void ft_trials_json(struct ft_document *json, const struct ft_sources *sources)
{
	ft_member_begin(json, "trials", '[');
	for (size_t i = 0; i < sources->trial_count; i++)
		trial_object(json, &sources->trials[i]);
	ft_member_end(json, ']');
}
