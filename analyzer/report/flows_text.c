#include <report/flows.h>

#include <inttypes.h>

#include "capture_text.h"
#include "cells.h"
#include "coverage_text.h"
#include "human.h"
#include "page.h"
#include "table.h"

/*
 * The flow table for people: what was read and what is missing of it, then a line for each
 * half-connection. It may have millions, so it is measured first and then written piece by piece.
 */

enum { PIECE = 512 };

struct rows {
	const struct ft_report_flows *flows;
	const struct ft_page *page;
	size_t first, count;
	bool violated[PIECE];
};

static void say_table(struct ft_page *page, const struct ft_report_flows *flows)
{
	char shown[64] = "";

	if (flows->flow_count < flows->all_flows)
		snprintf(shown, sizeof(shown), "%zu of ", flows->flow_count);
	ft_page_row(page, "FLOWS", "%s%" PRIu64 " half-connection%s, %" PRIu64 " connection%s",
		    shown, flows->all_flows, ft_plural(flows->all_flows), flows->all_connections,
		    ft_plural(flows->all_connections));
	if (flows->evicted > 0)
		ft_page_row(page, "",
			    "INCOMPLETE: %" PRIu64
			    " made room for others; a larger --flows than %" PRIu64
			    " keeps more of them",
			    flows->evicted, flows->capacity);
}

/* Or the rules of NCCL's framing alone. */
static bool has_verdicts(const struct ft_report_flows *flows)
{
	return flows->judged || flows->followed;
}

static void heads(struct ft_table *table, const struct ft_report_flows *flows)
{
	static const char *const first[] = {
		"flow", "conn", "source", "destination", "QP", "type"
	};
	static const char *const rest[] = { "P_Key", "frames", "bytes",   "messages", "again",
					    "lost",  "unseen", "refused", "marked",   "cnps" };

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		ft_table_name(table, first[i]);
	if (flows->followed)
		ft_table_name(table, "class");
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		ft_table_name(table, rest[i]);
	if (has_verdicts(flows))
		ft_table_name(table, flows->judged ? "verdict" : "rules");
}

static void end_cell(struct ft_table *table, const struct ft_report_flow_end *end)
{
	ft_end_cell(table, end->host != NULL ? end->host : end->address, end->tenant);
}

static uint64_t naks_of(const struct ft_report_flow *row)
{
	uint64_t naks = row->rnr_naks;

	for (size_t i = 0; i < FT_FLOW_NAKS; i++)
		naks += row->naks[i];
	return naks;
}

static void counts(struct ft_table *table, const struct ft_report_flow *row)
{
	ft_count_cell(table, row->packets);
	ft_bytes_cell(table, row->bytes);
	ft_count_cell(table, row->sends + row->writes + row->reads + row->atomics);
	ft_count_cell(table, row->retransmitted);
	ft_count_cell(table, row->fabric_lost);
	ft_count_cell(table, row->mirror_lost);
	ft_count_cell(table, naks_of(row));
	ft_count_cell(table, row->ce_marked);
	ft_count_cell(table, row->cnps);
}

/* What is not told apart stands out as little as what is not known. */
static void class_cell(struct ft_table *table, const struct ft_report_flow_nccl *nccl)
{
	const char *class = nccl->class;

	if (class == NULL || (nccl->role == NULL && strcmp(class, "unknown") == 0))
		class = ".";
	ft_table_format(table, "%s%s%s", class, nccl->role != NULL ? " " : "",
			nccl->role != NULL ? nccl->role : "");
}

/* "violated pkey.undeclared, tenant.crossing": the verdict, if there is a map, and the rules that hold of it. */
static void verdict_cell(struct ft_table *table, const struct ft_report_flow *row)
{
	char text[FT_FLOW_RULES * 40];
	size_t used = 0;

	if (row->rule_count == 0) {
		ft_table_format(table, "%s", row->verdict != NULL ? row->verdict : ".");
		return;
	}
	if (row->verdict != NULL)
		used = (size_t)snprintf(text, sizeof text, "%s ", row->verdict);
	for (size_t i = 0; i < row->rule_count && used < sizeof text; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "",
					 row->rules[i]);
	ft_table_name(table, text);
}

static void add_row(struct ft_table *table, const struct ft_report_flow *row,
		    const struct ft_report_flows *flows)
{
	ft_table_format(table, "%" PRIu64, row->flow);
	if (row->connection != FT_UNKNOWN)
		ft_table_format(table, "%" PRIu64, row->connection);
	else
		ft_table_format(table, ".");
	end_cell(table, &row->src);
	end_cell(table, &row->dst);
	ft_table_format(table, "0x%06" PRIx32, row->dest_qp);
	ft_table_format(table, "%s", row->transport != NULL ? row->transport : "-");
	if (flows->followed)
		class_cell(table, &row->nccl);
	ft_net_cell(table, (struct ft_net){ row->has_pkey, row->has_vlan, row->has_vni, row->pkey,
					    row->vlan, row->vni });
	counts(table, row);
	if (has_verdicts(flows))
		verdict_cell(table, row);
}

/* Fill the table with the piece that begins at rows->first; the heads stand before the first one. */
static void fill(struct ft_table *table, struct rows *rows)
{
	struct ft_report_flow row;

	ft_table_rewind(table);
	if (rows->first == 0)
		heads(table, rows->flows);
	for (rows->count = 0; rows->count < PIECE; rows->count++) {
		size_t index = rows->first + rows->count;

		if (index >= rows->flows->flow_count)
			return;
		rows->flows->flow(rows->flows->rows, index, &row);
		rows->violated[rows->count] =
			row.verdict != NULL && strcmp(row.verdict, "violated") == 0;
		add_row(table, &row, rows->flows);
	}
}

static const char *row_code(const void *context, size_t row)
{
	const struct rows *rows = context;
	size_t heads_before = rows->first == 0;

	if (!rows->page->colour || row < heads_before || !rows->violated[row - heads_before])
		return NULL;
	return ft_page_severity_code(rows->page, 4);
}

static void write_rows(struct ft_page *page, struct ft_table *table, struct rows *rows)
{
	const struct ft_table_mark mark = { row_code, rows };
	const size_t all = rows->flows->flow_count;
	int error;

	for (rows->first = 0; rows->first < all; rows->first += PIECE)
		fill(table, rows);
	for (rows->first = 0; rows->first < all; rows->first += PIECE) {
		fill(table, rows);
		error = ft_table_write(table, &page->line, 2, &mark);
		if (error != 0)
			page->error = error;
	}
}

static void say_flows(struct ft_page *page, const struct ft_report_flows *flows)
{
	static const char *const columns[2][2] = {
		{ ">><<<<<>>>>>>>>>", ">><<<<<>>>>>>>>><" },
		{ ">><<<<<<>>>>>>>>><", ">><<<<<<>>>>>>>>><" },
	};
	struct rows rows = { .flows = flows, .page = page };
	struct ft_table table;

	if (flows->flow_count == 0)
		return;
	ft_table_init(&table, columns[flows->followed][flows->judged]);
	write_rows(page, &table, &rows);
	ft_table_free(&table);
	ft_line_char(&page->line, '\n');
	ft_page_row(
		page, "",
		"again: sent again by the transport; lost: in the fabric; unseen: lost on the way "
		"here; refused: NAKs and RNR NAKs; marked: by ECN; .: none");
}

int ft_render_flows_text(FILE *out, const struct ft_report_flows *flows,
			 const struct ft_render_options *options)
{
	struct ft_page page;

	ft_page_open(&page, out, options);
	ft_capture_text(&page, flows->about);
	ft_seen_text(&page, &flows->about->coverage);
	ft_line_char(&page.line, '\n');
	say_table(&page, flows);
	say_flows(&page, flows);
	return ft_page_close(&page);
}
