#include "searches.h"
#include "summary_parts.h"

#include <stdlib.h>
#include <string.h>

static const char *class_name(enum ft_tenant_class class)
{
	static const char *const names[] = { "customer", "shared", "management" };

	return names[class];
}

static void add_cell(struct ft_report_tenant *rows, const struct ft_cell *cell)
{
	if (cell->to != FT_NONE)
		rows[cell->to].congestion.cnps_received += cell->cnps;
	if (cell->from == FT_NONE)
		return;
	rows[cell->from].frames += cell->packets;
	rows[cell->from].bytes += cell->bytes;
	rows[cell->from].congestion.ce_marked += cell->ce_marked;
	rows[cell->from].congestion.rnr_naks += cell->rnr_naks;
	rows[cell->from].congestion.retransmitted += cell->retransmitted;
}

/* Of a tenant that sent something of which no frame has a time, it is not known. */
static double peak_of(const struct ft_account *account, const struct ft_report_tenant *tenant,
		      uint32_t number)
{
	uint64_t most = ft_peaks_most(&account->peaks, number).bytes;

	return most == 0 && tenant->bytes > 0 ? -1 : ft_gbps(most);
}

void ft_summary_fill_tenants(struct ft_summary *summary, const struct ft_account *account)
{
	const struct ft_declared *declared = ft_map_declared(account->map);
	const struct ft_totals *totals = &summary->tally->totals;
	struct ft_report_tenant *rows =
		ft_summary_take(summary, declared->tenant_count, sizeof *rows);

	for (size_t i = 0; i < declared->tenant_count; i++)
		rows[i] = (struct ft_report_tenant){
			.name = declared->tenants[i].name,
			.class = class_name(declared->tenants[i].class),
			.endpoints_seen = totals->seen_by_tenant[i],
			.quota_gbps = declared->tenants[i].quota_gbps,
			.congestion = { .cnps_caused = account->congestion.caused[i],
					.pause_ns = ft_pauses_ns(&account->pauses, (uint32_t)i) },
		};
	for (uint32_t i = 0; i < totals->cell_count; i++)
		add_cell(rows, &totals->cells[i]);
	for (uint32_t i = 0; i < declared->tenant_count; i++)
		rows[i].peak_gbps = peak_of(account, &rows[i], i);
	summary->report.tenants = rows;
	summary->report.tenant_count = declared->tenant_count;
}

static const char *pair_verdict(const struct ft_cell *cell)
{
	if (cell->violating != 0)
		return "violated";
	return cell->from == FT_NONE || cell->to == FT_NONE || cell->judged == 0 ? "unknown"
										 : "allowed";
}

static int by_pair(const void *left, const void *right)
{
	const struct ft_report_pair *a = left, *b = right;
	int order = strcmp(a->from, b->from);

	return order != 0 ? order : strcmp(a->to, b->to);
}

static const char *const *exception_ids(struct ft_summary *summary, const struct ft_declared *map,
					const struct ft_cell *cell)
{
	const char **ids = ft_summary_take(summary, cell->exception_count, sizeof *ids);

	for (uint32_t i = 0; i < cell->exception_count; i++)
		ids[i] = map->exceptions[cell->exceptions[i]].id;
	return ids;
}

void ft_summary_fill_matrix(struct ft_summary *summary, const struct ft_account *account)
{
	const struct ft_declared *declared = ft_map_declared(account->map);
	const struct ft_totals *totals = &summary->tally->totals;
	struct ft_report_pair *rows = ft_summary_take(summary, totals->cell_count, sizeof *rows);
	uint64_t *late = ft_summary_take(summary, totals->cell_count, sizeof *late);
	size_t count = 0;

	ft_searches_violate(&account->findings, totals, late);
	for (uint32_t i = 0; i < totals->cell_count; i++) {
		struct ft_cell whole = totals->cells[i];
		const struct ft_cell *cell = &whole;

		whole.violating += late[i];
		if (cell->packets == 0 && cell->violating == 0)
			continue;
		rows[count++] = (struct ft_report_pair){
			.from = cell->from == FT_NONE ? "unknown"
						      : declared->tenants[cell->from].name,
			.to = cell->to == FT_NONE ? "unknown" : declared->tenants[cell->to].name,
			.packets = cell->packets,
			.bytes = cell->bytes,
			.judged = cell->judged,
			.violating = cell->violating,
			.undecided = cell->undecided,
			.verdict = pair_verdict(cell),
			.exceptions = exception_ids(summary, declared, cell),
			.exception_count = cell->exception_count,
		};
	}
	qsort(rows, count, sizeof *rows, by_pair);
	summary->report.matrix = rows;
	summary->report.pair_count = count;
}

void ft_summary_fill_pkeys(struct ft_summary *summary)
{
	const struct ft_totals *totals = &summary->tally->totals;
	size_t count = 0;
	struct ft_report_pkey *rows;

	for (uint32_t pkey = ft_totals_next_pkey(totals, 0); pkey < FT_PKEYS;
	     pkey = ft_totals_next_pkey(totals, pkey + 1))
		count++;
	rows = ft_summary_take(summary, count, sizeof *rows);
	count = 0;
	for (uint32_t pkey = ft_totals_next_pkey(totals, 0); pkey < FT_PKEYS;
	     pkey = ft_totals_next_pkey(totals, pkey + 1))
		rows[count++] = (struct ft_report_pkey){
			.pkey = (uint16_t)pkey,
			.packets = totals->pkeys[pkey].packets,
			.bytes = totals->pkeys[pkey].bytes,
		};
	summary->report.pkeys = rows;
	summary->report.pkey_count = count;
}
