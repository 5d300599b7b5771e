#include <report/sources.h>

#include <inttypes.h>

#include "capture_json.h"
#include "document.h"
#include "human.h"
#include "sources_live.h"

static const struct format {
	const char *name, *about;
} formats[] = {
	{ "pcap", "micro- and nanoseconds, both byte orders" },
	{ "pcapng", "several sections and interfaces, any time resolution" },
	{ "erf", "Endace records: Ethernet, InfiniBand, InfiniBand link" },
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static const char *const compressions[] = { "gzip", "zstd" };

static const struct link_type {
	uint16_t number;
	const char *name;
} link_types[] = {
	{ FT_LINK_ETHERNET, "Ethernet" },
	{ FT_LINK_SLL, "Linux cooked" },
	{ FT_LINK_ERF, "ERF" },
	{ FT_LINK_INFINIBAND, "InfiniBand" },
	{ FT_LINK_SLL2, "Linux cooked v2" },
};
#define LINK_TYPES (sizeof(link_types) / sizeof(link_types[0]))

static const char *link_name(uint16_t number)
{
	for (size_t i = 0; i < LINK_TYPES; i++)
		if (link_types[i].number == number)
			return link_types[i].name;
	return NULL;
}

static void column(struct ft_line *line, const char *name, unsigned width)
{
	size_t size = strlen(name);

	ft_line_add(line, "  ");
	ft_line_add(line, name);
	for (; size < width; size++)
		ft_line_char(line, ' ');
}

int ft_sources_text(FILE *out, const struct ft_sources *sources)
{
	struct ft_line line;

	ft_line_open(&line, out);
	ft_devices_text(&line, sources);
	ft_line_add(&line, "files (file:PATH or PATH, - is standard input)\n");
	for (size_t i = 0; i < FORMATS; i++) {
		column(&line, formats[i].name, 10);
		ft_line_add(&line, formats[i].about);
		ft_line_char(&line, '\n');
	}
	ft_line_add(&line, "compressed with\n");
	for (size_t i = 0; i < sizeof(compressions) / sizeof(compressions[0]); i++) {
		column(&line, compressions[i], 0);
		ft_line_char(&line, '\n');
	}
	ft_line_add(&line, "link types\n");
	for (size_t i = 0; i < LINK_TYPES; i++) {
		column(&line, link_types[i].name, 17);
		ft_line_decimal(&line, link_types[i].number);
		ft_line_char(&line, '\n');
	}
	return ft_line_flush(&line);
}

static void say_links(struct ft_line *line, const struct ft_source_input *input)
{
	ft_line_add(line, "  link type   ");
	if (input->link_type_count == 0)
		ft_line_add(line, "none met");
	for (unsigned i = 0; i < input->link_type_count; i++) {
		const char *name = link_name(input->link_types[i]);

		ft_line_number(line, i > 0 ? ", " : "", input->link_types[i]);
		ft_line_add(line, name != NULL ? " (" : " (not read");
		ft_line_add(line, name != NULL ? name : "");
		ft_line_char(line, ')');
	}
	ft_line_char(line, '\n');
}

static void say_time(struct ft_line *line, const struct ft_source_input *input)
{
	struct ft_human human;

	if (input->first_ts_ns == FT_TS_UNKNOWN)
		return;
	ft_line_add(line, "  time        ");
	ft_line_time(line, input->first_ts_ns);
	ft_line_add(line, " to ");
	ft_line_time(line, input->last_ts_ns);
	ft_line_add(line, ", ");
	ft_line_add(line, ft_human_duration(&human, input->last_ts_ns - input->first_ts_ns));
	ft_line_char(line, '\n');
}

/* A count that is worth a line only if it is not zero. */
static void say_oddity(struct ft_line *line, const char *words, uint64_t count)
{
	if (count == 0)
		return;
	ft_line_add(line, "  ");
	ft_line_add(line, words);
	ft_line_decimal(line, count);
	ft_line_char(line, '\n');
}

static void say_input(struct ft_line *line, const struct ft_source_input *input)
{
	struct ft_human human;

	ft_line_name(line, input->name);
	ft_line_add(line, "\n  format      ");
	ft_line_add(line, input->format);
	if (input->compression != NULL) {
		ft_line_add(line, ", ");
		ft_line_add(line, input->compression);
	}
	ft_line_char(line, '\n');
	say_links(line, input);
	ft_line_number(line, "  frames      ", input->frames);
	ft_line_add(line, ", ");
	ft_line_add(line, ft_human_bytes(&human, input->bytes));
	ft_line_add(line, " on the wire\n");
	say_time(line, input);
	say_oddity(line, "odd records ", input->odd_records);
	say_oddity(line, "clock steps ", input->clock_steps);
	say_oddity(line, "lost by ERF ", input->erf_lost);
	if (input->damaged) {
		ft_line_add(line, "  damage      ");
		ft_line_name(line, input->complaint.text);
		ft_line_char(line, '\n');
	}
}

int ft_sources_inputs_text(FILE *out, const struct ft_sources *sources)
{
	struct ft_line line;

	ft_line_open(&line, out);
	for (size_t i = 0; i < sources->input_count; i++)
		say_input(&line, sources->inputs[i]);
	return ft_line_flush(&line);
}

static void input_object(struct ft_document *json, const struct ft_source_input *input)
{
	ft_member_begin(json, NULL, '{');
	ft_member_text(json, "name", input->name);
	ft_member_text(json, "kind", input->kind);
	ft_member_text(json, "format", input->format);
	ft_member_text(json, "compression", input->compression);
	ft_link_types_json(json, input->link_types, input->link_type_count);
	ft_member_number(json, "frames", input->frames);
	ft_member_number(json, "bytes", input->bytes);
	ft_member_time(json, "first_ts", input->first_ts_ns);
	ft_member_time(json, "last_ts", input->last_ts_ns);
	ft_member_number(json, "odd_records", input->odd_records);
	ft_member_number(json, "clock_steps", input->clock_steps);
	ft_member_number(json, "erf_lost", input->erf_lost);
	ft_member_text(json, "damage", input->damaged ? input->complaint.text : NULL);
	ft_member_end(json, '}');
}

int ft_sources_json(FILE *out, const struct ft_sources *sources)
{
	struct ft_document json;

	ft_document_open(&json, out);
	ft_member_text(&json, "schema", "fabtap.sources/1");
	ft_devices_json(&json, sources);
	ft_member_begin(&json, "formats", '[');
	for (size_t i = 0; i < FORMATS; i++)
		ft_member_text(&json, NULL, formats[i].name);
	ft_member_end(&json, ']');
	ft_member_begin(&json, "compressions", '[');
	for (size_t i = 0; i < sizeof(compressions) / sizeof(compressions[0]); i++)
		ft_member_text(&json, NULL, compressions[i]);
	ft_member_end(&json, ']');
	ft_member_begin(&json, "linktypes", '[');
	for (size_t i = 0; i < LINK_TYPES; i++) {
		ft_member_begin(&json, NULL, '{');
		ft_member_number(&json, "linktype", link_types[i].number);
		ft_member_text(&json, "name", link_types[i].name);
		ft_member_end(&json, '}');
	}
	ft_member_end(&json, ']');
	ft_member_begin(&json, "inputs", '[');
	for (size_t i = 0; i < sources->input_count; i++)
		input_object(&json, sources->inputs[i]);
	ft_member_end(&json, ']');
	ft_trials_json(&json, sources);
	return ft_document_close(&json);
}
