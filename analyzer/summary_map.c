#include "summary_parts.h"

#include <string.h>

#include <report/render.h>

#include "wording.h"

/* Findings about the map itself, and about what tenants have in sum. */

void ft_summary_set_origin(struct ft_report_finding *row, const struct ft_declared *declared,
			   const struct ft_origin *origin)
{
	if (declared == NULL || origin->file == FT_NONE || origin->file >= declared->file_count)
		return;
	row->map_file = declared->files[origin->file].path;
	row->map_line = origin->line;
	row->map_path = origin->path;
}

static struct ft_report_finding map_row(struct ft_summary *summary, enum ft_rule rule,
					const char *subject)
{
	const char **sentences = ft_summary_take(summary, 1, sizeof *sentences);
	struct ft_report_finding row = {
		.rule = ft_rule_text(rule)->name,
		.severity = (uint8_t)ft_rule_text(rule)->severity,
		.violation = ft_rule_text(rule)->violation,
		.certainty = ft_rule_text(rule)->certainty,
		.first_ts_ns = FT_UNKNOWN,
		.last_ts_ns = FT_UNKNOWN,
		.evidence = sentences,
	};

	ft_finding_hash(ft_words(summary->words, "%s\n%s", row.rule, subject), row.id);
	return row;
}

static struct ft_report_finding fail_open_row(struct ft_summary *summary,
					      const struct ft_declared *declared)
{
	struct ft_report_finding row = map_row(summary, FT_RULE_MAP_FAIL_OPEN, declared->format);
	const struct ft_diagnostic *reason = NULL;

	for (size_t i = 0; i < declared->diagnostic_count && reason == NULL; i++)
		if (declared->diagnostics[i].severity == FT_ERROR)
			reason = &declared->diagnostics[i];
	row.summary = "OpenSM drops this partition file: every port is a full member of 0x7fff";
	if (reason == NULL)
		return row;
	ft_summary_set_origin(&row, declared, &reason->origin);
	row.evidence = memcpy(ft_summary_take(summary, 1, sizeof *row.evidence),
			      &(const char *){ reason->text }, sizeof *row.evidence);
	row.evidence_count = 1;
	return row;
}

static const char *leaf_sentence(struct ft_summary *summary, const struct ft_declared *declared,
				 const struct ft_cotenancy *found)
{
	const char *host_a = declared->ports[found->port_a].host;
	const char *host_b = declared->ports[found->port_b].host;

	return ft_words(summary->words, "%s and %s are both on %s",
			host_a == NULL ? "a port" : host_a, host_b == NULL ? "a port" : host_b,
			found->leaf);
}

static struct ft_report_finding cotenancy_row(struct ft_summary *summary,
					      const struct ft_declared *declared,
					      const struct ft_cotenancy *found)
{
	const char *a = declared->tenants[found->tenant_a].name;
	const char *b = declared->tenants[found->tenant_b].name;
	const char **sentences = ft_summary_take(summary, 1, sizeof *sentences);
	struct ft_report_finding row =
		map_row(summary, FT_RULE_TENANT_COTENANCY,
			ft_words(summary->words, "%s\n%s\n%s", a, b, found->leaf));

	row.summary = ft_words(summary->words, "%s and %s share leaf %s, which the map forbids", a,
			       b, found->leaf);
	sentences[0] = leaf_sentence(summary, declared, found);
	row.evidence = sentences;
	row.evidence_count = 1;
	row.tenant_a = a;
	row.tenant_b = b;
	row.leaf = found->leaf;
	ft_summary_set_origin(&row, declared, &declared->ports[found->port_a].origin);
	return row;
}

/* With as many digits as tell that it is more. */
static const char *quota_sentence(struct ft_summary *summary, const struct ft_tenant *tenant,
				  double gbps)
{
	struct ft_rate sent = { "" }, quota = { "" };
	int digits = 4;

	do {
		ft_rate(&sent, gbps, digits);
		ft_rate(&quota, tenant->quota_gbps, digits);
	} while (strcmp(sent.text, quota.text) == 0 && ++digits <= 17);
	return ft_words(summary->words, "%s sent %s Gbit/s within one second; its quota is %s",
			tenant->name, sent.text, quota.text);
}

static struct ft_report_finding quota_row(struct ft_summary *summary,
					  const struct ft_declared *declared, size_t tenant,
					  const struct ft_peak_second *most)
{
	const struct ft_tenant *declaration = &declared->tenants[tenant];
	struct ft_report_finding row = map_row(summary, FT_RULE_TENANT_QUOTA, declaration->name);

	row.summary = quota_sentence(summary, declaration, ft_gbps(most->bytes));
	row.tenant_a = declaration->name;
	row.first_ts_ns = most->from_ns;
	row.last_ts_ns = most->from_ns + FT_PEAK_NS - 1;
	row.packets = most->frames;
	row.bytes = most->bytes;
	ft_summary_set_origin(&row, declared, &declaration->origin);
	return row;
}

/* Tenants that sent more in a second than the map grants them; returns how many. */
static size_t fill_quotas(struct ft_summary *summary, const struct ft_account *account,
			  struct ft_report_finding *rows)
{
	const struct ft_declared *declared = ft_map_declared(account->map);
	size_t count = 0;

	for (size_t i = 0; i < declared->tenant_count; i++) {
		struct ft_peak_second most = ft_peaks_most(&account->peaks, (uint32_t)i);
		double quota = declared->tenants[i].quota_gbps;

		if (quota >= 0 && ft_gbps(most.bytes) > quota)
			rows[count++] = quota_row(summary, declared, i, &most);
	}
	return count;
}

void ft_summary_find_cotenancies(const struct ft_summary *summary, const struct ft_map *map,
				 struct ft_cotenancies *shared)
{
	const struct ft_report *report = &summary->report;

	shared->count = 0;
	if (report->first_ts_ns == FT_UNKNOWN)
		return;
	shared->count =
		ft_check_cotenancy(map, (int64_t)report->first_ts_ns, (int64_t)report->last_ts_ns,
				   shared->found, FT_COTENANCIES);
	if (shared->count > FT_COTENANCIES)
		shared->count = FT_COTENANCIES;
}

size_t ft_summary_fill_map_findings(struct ft_summary *summary, const struct ft_account *account,
				    const struct ft_cotenancies *shared,
				    struct ft_report_finding *rows)
{
	const struct ft_declared *declared = ft_map_declared(account->map);
	size_t count = fill_quotas(summary, account, rows);

	if (declared->verdict == FT_MAP_FAIL_OPEN)
		rows[count++] = fail_open_row(summary, declared);
	for (size_t i = 0; i < shared->count; i++)
		rows[count++] = cotenancy_row(summary, declared, &shared->found[i]);
	return count;
}
