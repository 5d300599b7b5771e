#include "capture_text.h"

#include <inttypes.h>

#include "human.h"

enum {
	SAID = 10,
	SPAN_WIDTH = 90, /* columns of a line with two times and a duration */
};

static void say_span(struct ft_page *page, const struct ft_report *report)
{
	struct ft_human human;

	if (report->first_ts_ns == FT_UNKNOWN)
		return;
	ft_page_label(page, "");
	ft_line_time(&page->line, report->first_ts_ns);
	if (page->width < SPAN_WIDTH) {
		ft_line_char(&page->line, '\n');
		ft_page_label(page, "");
		ft_line_add(&page->line, "to ");
	} else {
		ft_line_add(&page->line, " to ");
	}
	ft_line_time(&page->line, report->last_ts_ns);
	ft_line_add(&page->line, ", ");
	ft_line_add(&page->line,
		    ft_human_duration(&human, report->last_ts_ns - report->first_ts_ns));
	ft_line_char(&page->line, '\n');
}

static void say_source(struct ft_page *page, const char *label,
		       const struct ft_report_source *source)
{
	struct ft_human count, bytes;

	ft_page_row(page, label, "%s (%s%s%s): %s frame%s, %s on the wire", source->name,
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

/* Of a capture in thousands of files the first ones, and those of which there is more to say. */
static bool is_said(const struct ft_report *report, size_t at)
{
	const struct ft_report_source *source = &report->sources[at];

	return at < SAID || report->source_count == SAID + 1 || source->complaint != NULL ||
	       source->odd_records > 0;
}

static void say_sources(struct ft_page *page, const struct ft_report *report)
{
	struct ft_report_source others = { .frames = 0 };
	struct ft_human count, bytes;
	size_t unsaid = 0;

	for (size_t i = 0; i < report->source_count; i++) {
		const struct ft_report_source *source = &report->sources[i];

		if (is_said(report, i)) {
			say_source(page, i == 0 ? "CAPTURE" : "", source);
			continue;
		}
		unsaid++;
		others.frames += source->frames;
		others.bytes += source->bytes;
	}
	if (unsaid > 0)
		ft_page_row(page, "",
			    "%zu others, all of them in --json: %s frame%s, %s on the wire", unsaid,
			    ft_human_count(&count, others.frames), ft_plural(others.frames),
			    ft_human_bytes(&bytes, others.bytes));
}

void ft_capture_text(struct ft_page *page, const struct ft_report *report)
{
	say_sources(page, report);
	if (report->stopped_after > 0)
		ft_page_row(page, "", "stopped after %" PRIu64 " frame%s, as asked (-c)",
			    report->stopped_after, ft_plural(report->stopped_after));
	say_span(page, report);
}
