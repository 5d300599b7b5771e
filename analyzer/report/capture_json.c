#include "capture_json.h"

void ft_tool_json(struct ft_document *json, const char *version, const char *build)
{
	ft_member_begin(json, "tool", '{');
	ft_member_text(json, "name", "fabtap");
	ft_member_text(json, "version", version);
	ft_member_text(json, "build", build);
	ft_member_end(json, '}');
}

void ft_link_types_json(struct ft_document *json, const uint16_t *link_types, size_t count)
{
	ft_member_begin(json, "linktypes", '[');
	for (size_t i = 0; i < count; i++)
		ft_member_number(json, NULL, link_types[i]);
	ft_member_end(json, ']');
}

static void clock(struct ft_document *json, const struct ft_report_source *input)
{
	if (input->clock == NULL) {
		ft_member_null(json, "clock");
		return;
	}
	ft_member_begin(json, "clock", '{');
	ft_member_text(json, "name", input->clock);
	ft_member_number(json, "error_ns", input->clock_error_ns);
	ft_member_end(json, '}');
}

static void source(struct ft_document *json, const struct ft_report_source *input)
{
	ft_member_begin(json, NULL, '{');
	ft_member_text(json, "name", input->name);
	ft_member_text(json, "kind", input->kind);
	ft_link_types_json(json, input->link_types, input->link_type_count);
	ft_member_number(json, "frames", input->frames);
	ft_member_number(json, "bytes", input->bytes);
	ft_member_time(json, "first_ts", input->first_ts_ns);
	ft_member_time(json, "last_ts", input->last_ts_ns);
	clock(json, input);
	ft_member_text(json, "format", input->format);
	ft_member_text(json, "compression", input->compression);
	ft_member_number(json, "odd_records", input->odd_records);
	ft_member_text(json, "damage", input->complaint);
	ft_member_end(json, '}');
}

void ft_capture_json(struct ft_document *json, const struct ft_report *report)
{
	ft_member_begin(json, "capture", '{');
	ft_member_begin(json, "sources", '[');
	for (size_t i = 0; i < report->source_count; i++)
		source(json, &report->sources[i]);
	ft_member_end(json, ']');
	ft_member_number(json, "frames", report->frames);
	ft_member_number(json, "bytes", report->bytes);
	ft_member_time(json, "first_ts", report->first_ts_ns);
	ft_member_time(json, "last_ts", report->last_ts_ns);
	ft_member_number(json, "stopped_after",
			 report->stopped_after > 0 ? report->stopped_after : FT_UNKNOWN);
	ft_member_end(json, '}');
}
