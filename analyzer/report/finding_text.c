#include "finding_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cells.h"
#include "human.h"
#include "rule.h"
#include "table.h"

const char *ft_severity_word(unsigned severity)
{
	static const char *const words[] = { "info", "low", "medium", "high", "critical" };

	return words[severity];
}

/* The last part of a path, for a column; the whole path stands in the detail. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

static const char *end_name(const struct ft_report_end *end)
{
	return end->host != NULL ? end->host : end->address != NULL ? end->address : "?";
}

static void end_cell(struct ft_table *table, const struct ft_report_end *end)
{
	ft_end_cell(table, end_name(end), end->tenant);
}

static void ends_cells(struct ft_table *table, const struct ft_report_finding *finding)
{
	if (finding->has_ends) {
		end_cell(table, &finding->src);
		end_cell(table, &finding->dst);
	} else if (finding->tenant_a != NULL) {
		ft_table_name(table, finding->tenant_a);
		ft_table_name(table, finding->tenant_b != NULL ? finding->tenant_b : "-");
	} else {
		ft_table_name(table, "-");
		ft_table_name(table, "-");
	}
}

static void map_cell(struct ft_table *table, const struct ft_report_finding *finding)
{
	if (finding->map_file == NULL)
		ft_table_name(table, "-");
	else if (finding->map_line == 0) /* it is what is not in the file */
		ft_table_name(table, base_name(finding->map_file));
	else
		ft_table_say(table, "%s:%" PRIu32, base_name(finding->map_file), finding->map_line);
}

static void table_row(struct ft_table *table, const struct ft_report_finding *finding)
{
	struct ft_human human;

	ft_table_name(table, finding->id);
	ft_table_name(table, ft_severity_word(finding->severity));
	ft_table_name(table, finding->rule);
	ends_cells(table, finding);
	ft_net_cell(table, (struct ft_net){ finding->has_pkey, finding->has_vlan, finding->has_vni,
					    finding->pkey, finding->vlan, finding->vni });
	ft_table_name(table, ft_human_count(&human, finding->packets));
	map_cell(table, finding);
}

struct rows {
	const struct ft_page *page;
	const struct ft_report *report;
};

static const char *row_code(const void *context, size_t row)
{
	const struct rows *rows = context;

	if (!rows->page->colour || row == 0)
		return NULL;
	return ft_page_severity_code(rows->page, rows->report->findings[row - 1].severity);
}

void ft_findings_table(struct ft_page *page, const struct ft_report *report, size_t most)
{
	static const char *const heads[] = { "id",          "severity", "rule",   "source",
					     "destination", "P_Key",    "frames", "map line" };
	struct rows rows = { page, report };
	struct ft_table_mark mark = { row_code, &rows };
	struct ft_table table;
	int error;

	ft_table_init(&table, "<<<<<<><");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		ft_table_name(&table, heads[i]);
	for (size_t i = 0; i < report->finding_count && i < most; i++)
		table_row(&table, &report->findings[i]);
	error = ft_table_write(&table, &page->line, 2, &mark);
	if (error != 0)
		page->error = error;
	ft_table_free(&table);
}

static void add_end(struct ft_line *line, const struct ft_report_end *end)
{
	ft_line_name(line, end->address != NULL ? end->address : "?");
	if (end->group)
		ft_line_add(line, " (group)");
}

/* What the subject is on the wire; the summary has its names. */
static void say_wire(struct ft_page *page, const struct ft_report_finding *finding)
{
	struct ft_line *line = &page->line;

	if (!finding->has_ends)
		return;
	ft_page_label(page, "  wire");
	add_end(line, &finding->src);
	ft_line_add(line, " > ");
	add_end(line, &finding->dst);
	if (finding->has_pkey) {
		ft_line_add(line, ", P_Key ");
		ft_line_hex(line, finding->pkey, 4);
	}
	if (finding->has_vlan)
		ft_line_number(line, ", VLAN ", finding->vlan);
	if (finding->has_vni)
		ft_line_number(line, ", VNI ", finding->vni);
	for (size_t i = 0; i < finding->dest_qp_count; i++) {
		ft_line_add(line, i == 0 ? ", to QP " : " ");
		ft_line_hex(line, finding->dest_qps[i], 6);
	}
	ft_line_char(line, '\n');
}

static void say_traffic(struct ft_page *page, const struct ft_report_finding *finding)
{
	struct ft_line *line = &page->line;
	struct ft_human count, bytes, duration;

	if (finding->bytes == 0)
		return;
	ft_page_label(page, "  traffic");
	if (finding->packets != 0) { /* none are counted of a rate */
		ft_line_add(line, ft_human_count(&count, finding->packets));
		ft_line_add(line, finding->packets == 1 ? " frame, " : " frames, ");
	}
	ft_line_add(line, ft_human_bytes(&bytes, finding->bytes));
	if (finding->first_ts_ns != FT_UNKNOWN) {
		ft_line_add(line, ", from ");
		ft_line_time(line, finding->first_ts_ns);
	}
	if (finding->first_ts_ns != FT_UNKNOWN && finding->last_ts_ns > finding->first_ts_ns) {
		ft_line_add(line, " for ");
		ft_line_add(line, ft_human_duration(&duration,
						    finding->last_ts_ns - finding->first_ts_ns));
	}
	ft_line_char(line, '\n');
}

static void say_frames(struct ft_page *page, const struct ft_report *report,
		       const struct ft_report_finding *finding)
{
	struct ft_line *line = &page->line;

	if (finding->frame_count == 0)
		return;
	ft_page_label(page, "  frames");
	for (size_t i = 0; i < finding->frame_count; i++)
		ft_line_number(line, i > 0 ? " " : "", finding->frames[i]);
	if (finding->packets > finding->frame_count)
		ft_line_number(line, " ... of ", finding->packets);
	ft_line_char(line, '\n');
	if (report->evidence_path != NULL)
		ft_page_row(page, "  proof", "%s, the frames whose comment names %s",
			    report->evidence_path, finding->id);
}

/* Nothing where there is no map. */
static void say_map(struct ft_page *page, const struct ft_report *report,
		    const struct ft_report_finding *finding)
{
	if (finding->map_file != NULL && finding->map_line == 0)
		ft_page_row(page, "  map", "%s", finding->map_file);
	else if (finding->map_file != NULL)
		ft_page_row(page, "  map", "%s:%" PRIu32 " %s", finding->map_file,
			    finding->map_line, finding->map_path != NULL ? finding->map_path : "");
	else if (report->map.path != NULL)
		ft_page_row(page, "  map", "no single line decides this");
}

static void say_reasons(struct ft_page *page, const struct ft_report_finding *finding)
{
	for (size_t i = 0; i < finding->evidence_count; i++)
		ft_page_row(page, i == 0 ? "  because" : "", "%s", finding->evidence[i]);
}

/* The rule and what it means; the findings that follow broke it. */
static void say_rule(struct ft_page *page, const struct ft_report_finding *finding)
{
	const char *meaning = ft_rule_meaning(finding->rule);

	ft_line_add(&page->line, ft_page_severity_code(page, finding->severity));
	ft_line_name(&page->line, finding->rule);
	ft_line_add(&page->line, " (");
	ft_line_add(&page->line, ft_severity_word(finding->severity));
	ft_line_add(&page->line, finding->violation ? ")" : ", no violation)");
	ft_line_add(&page->line, ft_page_plain_code(page));
	ft_line_char(&page->line, '\n');
	if (meaning != NULL)
		ft_page_row(page, "", "%s", meaning);
}

static void say_finding(struct ft_page *page, const struct ft_report *report,
			const struct ft_report_finding *finding)
{
	ft_page_row(page, "", "%s  %s", finding->id, finding->summary);
	say_map(page, report, finding);
	say_wire(page, finding);
	say_traffic(page, finding);
	say_frames(page, report, finding);
}

static bool same_rule(const struct ft_report_finding *a, const struct ft_report_finding *b)
{
	return a->severity == b->severity && strcmp(a->rule, b->rule) == 0;
}

/* What the frames do not show by themselves: why a map fails, who shares a leaf, what an ICRC means. */
static bool needs_reasons(const struct ft_report_finding *finding)
{
	return finding->frame_count == 0 || !finding->violation || finding->certainty < 1;
}

void ft_findings_at_length(struct ft_page *page, const struct ft_report *report, size_t most)
{
	for (size_t i = 0; i < report->finding_count && i < most; i++) {
		const struct ft_report_finding *finding = &report->findings[i];

		if (i == 0 || !same_rule(finding, finding - 1))
			say_rule(page, finding);
		ft_line_char(&page->line, '\n');
		say_finding(page, report, finding);
		if (needs_reasons(finding))
			say_reasons(page, finding);
		if (i + 1 == report->finding_count || i + 1 == most ||
		    !same_rule(finding, finding + 1))
			ft_line_char(&page->line, '\n');
	}
}

static void say_tenant(struct ft_page *page, const char *label, const struct ft_report_end *end)
{
	ft_page_row(page, label, "%s%s%s%s", end_name(end), end->group ? " (multicast group)" : "",
		    end->tenant != NULL ? ", tenant " : ", no single tenant",
		    end->tenant != NULL ? end->tenant : "");
}

int ft_render_finding_text(FILE *out, const struct ft_report *report, const char *id,
			   const struct ft_render_options *options)
{
	const struct ft_report_finding *finding;
	int error = ft_report_find(report, id, &finding);
	struct ft_page page;

	if (error != 0)
		return error;
	ft_page_open(&page, out, options);
	say_rule(&page, finding);
	ft_line_char(&page.line, '\n');
	say_finding(&page, report, finding);
	if (finding->has_ends) {
		say_tenant(&page, "  from", &finding->src);
		say_tenant(&page, "  to", &finding->dst);
	}
	say_reasons(&page, finding);
	return ft_page_close(&page);
}
