#include <report/source_row.h>

struct ft_report_source ft_report_source_of(const struct ft_source_input *input)
{
	return (struct ft_report_source){
		.name = input->name,
		.kind = input->kind,
		.format = input->format,
		.compression = input->compression,
		.link_types = input->link_types,
		.link_type_count = input->link_type_count,
		.frames = input->frames,
		.bytes = input->bytes,
		.first_ts_ns = input->first_ts_ns,
		.last_ts_ns = input->last_ts_ns,
		.clock = input->clock,
		.clock_error_ns = input->clock_error_ns != 0 ? input->clock_error_ns : FT_UNKNOWN,
		.complaint = input->damaged ? input->complaint.text : NULL,
		.odd_records = input->odd_records,
	};
}

bool ft_report_source_loss(const struct ft_source_input *input, struct ft_report_loss *row)
{
	*row = (struct ft_report_loss){
		.method = "source-counter",
		.source = input->name,
		.frames = input->losses_unknown ? FT_UNKNOWN : input->dropped,
	};
	return row->frames != 0;
}

void ft_report_span(struct ft_report *report)
{
	report->first_ts_ns = report->last_ts_ns = FT_UNKNOWN;
	for (size_t i = 0; i < report->source_count; i++) {
		const struct ft_report_source *source = &report->sources[i];

		if (source->first_ts_ns < report->first_ts_ns)
			report->first_ts_ns = source->first_ts_ns;
		if (source->last_ts_ns != FT_UNKNOWN &&
		    (report->last_ts_ns == FT_UNKNOWN || source->last_ts_ns > report->last_ts_ns))
			report->last_ts_ns = source->last_ts_ns;
	}
}
