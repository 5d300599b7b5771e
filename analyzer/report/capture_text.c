#include "capture_text.h"

#include <inttypes.h>

#include "human.h"

static void say_span(struct ft_page *page, const struct ft_report *report)
{
	struct ft_human human;

	if (report->first_ts_ns == FT_UNKNOWN)
		return;
	ft_page_label(page, "");
	ft_line_time(&page->line, report->first_ts_ns);
	ft_line_add(&page->line, " to ");
	ft_line_time(&page->line, report->last_ts_ns);
	ft_line_add(&page->line, ", ");
	ft_line_add(&page->line,
		    ft_human_duration(&human, report->last_ts_ns - report->first_ts_ns));
	ft_line_char(&page->line, '\n');
}

void ft_capture_text(struct ft_page *page, const struct ft_report *report)
{
	struct ft_human count, bytes;

	for (size_t i = 0; i < report->source_count; i++) {
		const struct ft_report_source *source = &report->sources[i];

		ft_page_row(page, i == 0 ? "CAPTURE" : "",
			    "%s (%s%s%s): %s frame%s, %s on the wire", source->name,
			    source->format != NULL ? source->format : source->kind,
			    source->compression != NULL ? ", " : "",
			    source->compression != NULL ? source->compression : "",
			    ft_human_count(&count, source->frames), ft_plural(source->frames),
			    ft_human_bytes(&bytes, source->bytes));
		if (source->complaint != NULL)
			ft_page_row(page, "", "DAMAGED: %s", source->complaint);
		if (source->odd_records > 0)
			ft_page_row(page, "", "%" PRIu64 " odd records corrected or dropped",
				    source->odd_records);
	}
	if (report->stopped_after > 0)
		ft_page_row(page, "", "stopped after %" PRIu64 " frame%s, as asked (-c)",
			    report->stopped_after, ft_plural(report->stopped_after));
	say_span(page, report);
}
