#include "load_text.h"

#include <errno.h>
#include <stdlib.h>

#include "human.h"
#include "table.h"

enum { ROWS = 15, DIGITS = 4 };

static bool is_counted(uint64_t count)
{
	return count != 0 && count != FT_UNKNOWN;
}

static bool met_congestion(const struct ft_report_congestion *congestion)
{
	return is_counted(congestion->ce_marked) || is_counted(congestion->cnps_caused) ||
	       is_counted(congestion->cnps_received) || is_counted(congestion->pause_ns) ||
	       is_counted(congestion->rnr_naks) || is_counted(congestion->retransmitted);
}

static bool is_worth_telling(const struct ft_report *report)
{
	for (size_t i = 0; i < report->tenant_count; i++)
		if (report->tenants[i].quota_gbps >= 0 ||
		    met_congestion(&report->tenants[i].congestion))
			return true;
	return false;
}

/* The noisiest neighbour first, then who sent most at once. */
static int by_noise(const void *left, const void *right)
{
	const struct ft_report_tenant *a = *(const struct ft_report_tenant *const *)left;
	const struct ft_report_tenant *b = *(const struct ft_report_tenant *const *)right;

	if (a->congestion.cnps_caused != b->congestion.cnps_caused)
		return a->congestion.cnps_caused > b->congestion.cnps_caused ? -1 : 1;
	if (a->peak_gbps != b->peak_gbps)
		return a->peak_gbps > b->peak_gbps ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void count_cell(struct ft_table *table, uint64_t count)
{
	struct ft_human human;

	if (count == FT_UNKNOWN)
		ft_table_name(table, "?");
	else
		ft_table_name(table, count == 0 ? "." : ft_human_count(&human, count));
}

static void rate_cell(struct ft_table *table, double gbps, const char *none)
{
	struct ft_rate rate = { "" };

	if (gbps < 0)
		ft_table_name(table, none);
	else
		ft_table_name(table, ft_rate(&rate, gbps, DIGITS));
}

static void tenant_row(struct ft_table *table, const struct ft_report_tenant *tenant)
{
	const struct ft_report_congestion *congestion = &tenant->congestion;
	struct ft_human human;

	ft_table_name(table, tenant->name);
	rate_cell(table, tenant->peak_gbps, "?");
	rate_cell(table, tenant->quota_gbps, ".");
	count_cell(table, congestion->ce_marked);
	count_cell(table, congestion->cnps_caused);
	count_cell(table, congestion->cnps_received);
	if (is_counted(congestion->pause_ns))
		ft_table_name(table, ft_human_duration(&human, congestion->pause_ns));
	else
		count_cell(table, congestion->pause_ns);
	count_cell(table, congestion->rnr_naks);
	count_cell(table, congestion->retransmitted);
}

static int write_rows(struct ft_page *page, const struct ft_report_tenant *const *tenants,
		      size_t count)
{
	static const char *const titles[] = { "tenant", "peak",   "quota",     "marked", "caused",
					      "told",   "paused", "not ready", "again" };
	struct ft_table table;
	int error;

	ft_table_init(&table, "<>>>>>>>>");
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		ft_table_name(&table, titles[i]);
	for (size_t i = 0; i < count; i++)
		tenant_row(&table, tenants[i]);
	error = ft_table_write(&table, &page->line, FT_PAGE_MARGIN, NULL);
	ft_table_free(&table);
	return error;
}

void ft_load_text(struct ft_page *page, const struct ft_report *report)
{
	size_t count = report->tenant_count;
	const struct ft_report_tenant **noisiest;
	int error;

	if (!is_worth_telling(report))
		return;
	noisiest = malloc(count * sizeof(*noisiest));
	if (noisiest == NULL) {
		page->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < count; i++)
		noisiest[i] = &report->tenants[i];
	qsort(noisiest, count, sizeof(*noisiest), by_noise);
	ft_page_row(
		page, "LOAD",
		"the most each tenant sent within a second, in Gbit/s, and the congestion it met");
	error = write_rows(page, noisiest, count < ROWS ? count : ROWS);
	if (error != 0)
		page->error = error;
	if (count > ROWS)
		ft_page_row(page, "", "and %zu more; --json has them all", count - ROWS);
	ft_page_row(
		page, "",
		"marked: packets, by ECN or FECN; caused, told: CNPs or BECN because of it, to it; "
		"paused: others, by its adapters; not ready: RNR NAKs it sent; again: packets it "
		"sent again; ?: not known");
	ft_line_char(&page->line, '\n');
	free(noisiest);
}
