#include <report/render.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "advice_text.h"
#include "capture_text.h"
#include "coverage_text.h"
#include "finding_text.h"
#include "human.h"
#include "load_text.h"
#include "matrix_text.h"
#include "page.h"
#include "table.h"

/*
 * The report for people. The first screen answers: what is the verdict, against which map, how much was
 * seen, what was found, who talked to whom. Then each finding at length.
 */

enum { TABLE_ROWS = 15, DETAILS = 50, PKEYS = 6 };

static void say_verdict(struct ft_page *page, const struct ft_report *report)
{
	static const char *const words[] = {
		[FT_COMPLIANT] = "COMPLIANT",
		[FT_VIOLATED] = "VIOLATED",
		[FT_NOT_EVIDENCED] = "NOT EVIDENCED",
	};

	ft_page_label(page, "VERDICT");
	ft_line_add(&page->line, ft_page_verdict_code(page, report->verdict));
	ft_line_add(&page->line, words[report->verdict]);
	ft_line_add(&page->line, ft_page_plain_code(page));
	ft_line_char(&page->line, '\n');
	ft_page_row(page, "", "%s", report->because);
	ft_line_char(&page->line, '\n');
}

static void say_map(struct ft_page *page, const struct ft_report_map *map)
{
	const struct ft_human_part list[] = { { map->tenants, "tenants", "tenant" },
					      { map->partitions, "partitions", "partition" },
					      { map->segments, "segments", "segment" },
					      { map->endpoints, "endpoints", "endpoint" } };
	char serial[32] = "", contents[128];

	if (map->path == NULL)
		return;
	if (map->serial != FT_UNKNOWN)
		snprintf(serial, sizeof(serial), ", serial %" PRIu64, map->serial);
	ft_page_row(page, "MAP", "%s%s, %s%s", map->name, serial,
		    map->signed_by != NULL ? "signed by " : "signature not checked",
		    map->signed_by != NULL ? map->signed_by : "");
	ft_page_row(page, "", "%s (%s)", map->path, map->format);
	ft_human_parts(contents, sizeof(contents), list, sizeof(list) / sizeof(list[0]));
	ft_page_row(page, "", "%s; sha256 %.16s...", contents,
		    map->sha256 != NULL ? map->sha256 : "?");
	if (map->verdict == NULL || strcmp(map->verdict, "ok") == 0)
		return;
	if (strcmp(map->verdict, "fail_open") == 0)
		ft_page_row(page, "",
			    "FAIL-OPEN: the subnet manager drops this file and lets everyone talk "
			    "to everyone; "
			    "judged by what is in force, not by what was meant");
	else
		ft_page_row(page, "", "%s: see fabtap map check", map->verdict);
}

static void say_severities(struct ft_page *page, const struct ft_report *report)
{
	struct ft_human_part counts[5] = { { 0, "critical", NULL },
					   { 0, "high", NULL },
					   { 0, "medium", NULL },
					   { 0, "low", NULL },
					   { 0, "info", NULL } };
	char text[128];

	for (size_t i = 0; i < report->finding_count; i++)
		counts[4 - report->findings[i].severity].count++;
	ft_human_parts(text, sizeof(text), counts, 5);
	ft_page_row(page, "FINDINGS", "%s", text[0] != 0 ? text : "none");
	if (report->findings_dropped > 0)
		ft_page_row(page, "", "and %" PRIu64 " more than the table of findings holds",
			    report->findings_dropped);
}

static void say_findings(struct ft_page *page, const struct ft_report *report)
{
	say_severities(page, report);
	if (report->finding_count > 0)
		ft_findings_table(page, report, TABLE_ROWS);
	if (report->finding_count > TABLE_ROWS)
		ft_page_row(page, "", "and %zu more; --json has them all",
			    report->finding_count - TABLE_ROWS);
	if (report->evidence_path != NULL)
		ft_page_row(page, "", "their frames: %s", report->evidence_path);
	ft_line_char(&page->line, '\n');
}

/* The P_Keys on the wire, the busiest first. */
static int by_packets(const void *left, const void *right)
{
	const struct ft_report_pkey *a = left, *b = right;

	if (a->packets != b->packets)
		return a->packets > b->packets ? -1 : 1;
	return a->pkey < b->pkey ? -1 : 1;
}

static void list_pkeys(struct ft_line *line, const struct ft_report_pkey *pkeys, size_t count)
{
	struct ft_human human;

	for (size_t i = 0; i < count; i++) {
		ft_line_add(line, i > 0 ? ", " : "");
		ft_line_hex(line, pkeys[i].pkey, 4);
		ft_line_char(line, ' ');
		ft_line_add(line, ft_human_count(&human, pkeys[i].packets));
	}
}

static void say_pkeys(struct ft_page *page, const struct ft_report *report)
{
	size_t count = report->pkey_count;
	struct ft_report_pkey *busiest;

	if (count == 0)
		return;
	busiest = malloc(count * sizeof(*busiest));
	if (busiest == NULL) {
		page->error = -ENOMEM;
		return;
	}
	memcpy(busiest, report->pkeys, count * sizeof(*busiest));
	qsort(busiest, count, sizeof(*busiest), by_packets);
	ft_page_label(page, "P_KEYS");
	list_pkeys(&page->line, busiest, count < PKEYS ? count : PKEYS);
	ft_line_add(&page->line, " frame");
	ft_line_add(&page->line, count == 1 ? ft_plural(busiest[0].packets) : "s");
	ft_line_add(&page->line, count > PKEYS ? ", and others\n\n" : "\n\n");
	free(busiest);
}

static void say_details(struct ft_page *page, const struct ft_report *report, const char *arguments)
{
	ft_findings_at_length(page, report, DETAILS);
	if (report->finding_count > DETAILS)
		ft_page_row(page, "", "%zu finding%s more, all of them in --json",
			    report->finding_count - DETAILS,
			    ft_plural(report->finding_count - DETAILS));
	if (report->finding_count > 0 && arguments != NULL)
		ft_page_row(page, "LOOK", "fabtap explain ID %s", arguments);
}

int ft_render_text(FILE *out, const struct ft_report *report,
		   const struct ft_render_options *options)
{
	struct ft_page page;

	ft_page_open(&page, out, options);
	say_verdict(&page, report);
	say_map(&page, &report->map);
	ft_capture_text(&page, report);
	ft_coverage_text(&page, &report->coverage);
	ft_advice_text(&page, report);
	say_findings(&page, report);
	ft_matrix_text(&page, report);
	say_pkeys(&page, report);
	ft_load_text(&page, report);
	say_details(&page, report, options->arguments);
	return ft_page_close(&page);
}
