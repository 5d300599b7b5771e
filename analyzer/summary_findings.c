#include "summary_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>
#include <report/render.h>

#include "searches.h"
#include "wording.h"

enum { EVIDENCE_SENTENCES = 4, COTENANCIES = 256 };

#define STALE_CERTAINTY 0.3

/* `declared`: NULL without a map, here and below. */
static struct ft_report_end end_of(const struct ft_declared *declared,
				   const struct ft_subject_end *end)
{
	return (struct ft_report_end){
		.address = end->address,
		.host = end->host,
		.tenant = declared == NULL || end->tenant == FT_NONE
				  ? NULL
				  : declared->tenants[end->tenant].name,
		.group = end->group,
	};
}

static void set_origin(struct ft_report_finding *row, const struct ft_declared *declared,
		       const struct ft_origin *origin)
{
	if (declared == NULL || origin->file == FT_NONE || origin->file >= declared->file_count)
		return;
	row->map_file = declared->files[origin->file].path;
	row->map_line = origin->line;
	row->map_path = origin->path;
}

/* Two different requests under one PSN weigh more if one does not look like the sender's. */
static enum ft_severity severity_of(const struct ft_finding *finding)
{
	bool grave = finding->rule == FT_RULE_SPOOF_PSN_CONFLICT && finding->suspicion.rules != 0 &&
		     finding->suspicion.grave;

	return grave ? FT_HIGH : finding->severity;
}

/* Add a sentence. */
static void say(struct ft_summary *summary, struct ft_report_finding *row, const char *sentence)
{
	const char **sentences =
		ft_summary_take(summary, row->evidence_count + 1, sizeof *sentences);

	memcpy(sentences, row->evidence, row->evidence_count * sizeof *sentences);
	sentences[row->evidence_count++] = sentence;
	row->evidence = sentences;
}

/* What a job does that starts, where its answers are not in view, or come late. */
static void weigh_as_start(struct ft_summary *summary, const struct ft_finding *finding,
			   struct ft_report_finding *row)
{
	const bool unseen = finding->unseen == finding->packets;

	row->certainty = STALE_CERTAINTY;
	row->severity = FT_INFO;
	row->violation = false;
	say(summary, row,
	    ft_words(summary->words,
		     "%s%" PRIu64 " of %" PRIu64
		     " queue pairs were %sused later: a start looks like that",
		     unseen ? "the other direction is not in view, and " : "", finding->used,
		     finding->used + finding->unused, unseen ? "" : "answered or "));
}

static struct ft_report_finding finding_row(struct ft_summary *summary,
					    const struct ft_declared *declared,
					    const struct ft_finding *finding)
{
	const char **sentences = ft_summary_take(summary, EVIDENCE_SENTENCES, sizeof *sentences);
	const struct ft_declared *told_by =
		finding->map == NULL ? NULL : ft_map_declared(finding->map);
	const struct ft_subject *subject = &finding->subject;
	struct ft_report_finding row = {
		.rule = ft_rule_text(finding->rule)->name,
		.severity = (uint8_t)severity_of(finding),
		.violation = ft_rule_text(finding->rule)->violation,
		.certainty = ft_rule_text(finding->rule)->certainty,
		.summary = ft_wording_summary(summary->words, told_by, finding),
		.first_ts_ns = finding->first_ts_ns,
		.last_ts_ns = finding->last_ts_ns,
		.packets = finding->packets,
		.bytes = finding->bytes,
		.has_ends = true,
		.has_pkey = true,
		.has_vlan = subject->vlan != 0,
		.has_vni = subject->has_vni,
		.src = end_of(declared, &subject->src),
		.dst = end_of(declared, &subject->dst),
		.pkey = subject->pkey,
		.vlan = subject->vlan,
		.vni = subject->vni,
		.dest_qp_count = finding->dest_qp_count,
		.frame_count = finding->frame_count,
		.evidence = sentences,
	};

	memcpy(row.id, finding->id, sizeof row.id);
	memcpy(row.dest_qps, finding->dest_qps, sizeof row.dest_qps);
	memcpy(row.frames, finding->frames, sizeof row.frames);
	row.evidence_count = ft_wording_evidence(summary->words, told_by, finding, sentences,
						 EVIDENCE_SENTENCES);
	set_origin(&row, told_by, &finding->origin);
	if (ft_search_may_be_start(finding))
		weigh_as_start(summary, finding, &row);
	return row;
}

/* What NCCL's framing shows is as severe as it is certain, and no violation if it is not. */
static struct ft_report_finding framing_row(struct ft_summary *summary,
					    const struct ft_declared *declared,
					    const struct ft_framing *framing, uint32_t index)
{
	struct ft_report_finding row =
		finding_row(summary, declared, &framing->findings.items[index]);
	const struct ft_framing_note *note = &framing->notes[index];

	say(summary, &row, ft_words(summary->words, "%s", note->text));
	row.certainty = note->certainty;
	if (100 * note->certainty < FT_FRAMING_SURE_PERCENT) {
		row.severity = FT_INFO;
		row.violation = false;
	}
	return row;
}

/* Whose packets do not fit the connection may have had the queue pair before. */
static struct ft_report_finding second_row(struct ft_summary *summary,
					   const struct ft_declared *declared, uint32_t index)
{
	const struct ft_second_note *note = &summary->second.notes[index];
	struct ft_report_finding row =
		finding_row(summary, declared, &summary->second.findings.items[index]);

	say(summary, &row, ft_words(summary->words, "%s", note->text));
	if (!note->plausible) {
		row.certainty = STALE_CERTAINTY;
		row.severity = FT_INFO;
		row.violation = false;
	}
	return row;
}

/* Of two requests under one PSN the later one is told, unless NCCL's framing shows which of them is forged. */
static struct ft_report_finding conflict_row(struct ft_summary *summary,
					     const struct ft_declared *declared,
					     const struct ft_framing *framing,
					     const struct ft_finding *finding)
{
	struct ft_finding *shown =
		ft_summary_take(summary, 1, sizeof *shown); /* rows point to it */
	struct ft_report_finding row;
	uint64_t forged;

	*shown = *finding;
	forged = ft_framing_name_forged(framing, shown);
	row = finding_row(summary, declared, shown);
	if (forged != 0)
		say(summary, &row,
		    ft_words(summary->words,
			     "of frame %" PRIu64 " NCCL's framing shows that it is the forged one",
			     forged));
	return row;
}

static struct ft_report_finding frames_row(struct ft_summary *summary,
					   const struct ft_declared *declared,
					   const struct ft_framing *framing,
					   const struct ft_finding *finding)
{
	if (framing != NULL && finding->rule == FT_RULE_SPOOF_PSN_CONFLICT)
		return conflict_row(summary, declared, framing, finding);
	return finding_row(summary, declared, finding);
}

static size_t fill_framing(struct ft_summary *summary, const struct ft_declared *declared,
			   const struct ft_framing *framing, struct ft_report_finding *rows)
{
	for (uint32_t i = 0; i < framing->findings.count; i++)
		rows[i] = framing_row(summary, declared, framing, i);
	return framing->findings.count;
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
	set_origin(&row, declared, &reason->origin);
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
	set_origin(&row, declared, &declared->ports[found->port_a].origin);
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
	set_origin(&row, declared, &declaration->origin);
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

/* Severity, then rule, then subject; the id decides between subjects that read the same. */
static int by_weight(const void *left, const void *right)
{
	const struct ft_report_finding *a = left, *b = right;
	int order = (int)b->severity - (int)a->severity;

	if (order == 0)
		order = strcmp(a->rule, b->rule);
	if (order == 0)
		order = strcmp(a->summary, b->summary);
	return order != 0 ? order : strcmp(a->id, b->id);
}

/* Those that need the map: of frames, and about the map itself. */
static size_t fill_by_map(struct ft_summary *summary, const struct ft_engine *engine,
			  const struct ft_cotenancy *shared, size_t shared_count,
			  struct ft_report_finding *rows)
{
	const struct ft_account *account = &engine->account;
	const struct ft_declared *declared = ft_map_declared(account->map);
	size_t count = fill_quotas(summary, account, rows);

	if (declared->verdict == FT_MAP_FAIL_OPEN)
		rows[count++] = fail_open_row(summary, declared);
	for (size_t i = 0; i < shared_count; i++)
		rows[count++] = cotenancy_row(summary, declared, &shared[i]);
	for (uint32_t i = 0; i < summary->second.findings.count; i++)
		rows[count++] = second_row(summary, declared, i);
	for (uint32_t i = 0; i < account->findings.count; i++)
		if (account->findings.items[i].packets != 0)
			rows[count++] = frames_row(summary, declared, engine->framing,
						   &account->findings.items[i]);
	return count;
}

static size_t find_cotenancy(const struct ft_summary *summary, const struct ft_map *map,
			     struct ft_cotenancy shared[COTENANCIES])
{
	const struct ft_report *report = &summary->report;
	size_t count;

	if (report->first_ts_ns == FT_UNKNOWN)
		return 0;
	count = ft_check_cotenancy(map, (int64_t)report->first_ts_ns, (int64_t)report->last_ts_ns,
				   shared, COTENANCIES);
	return count < COTENANCIES ? count : COTENANCIES;
}

/* By whatever counts them; or some frames have a copy, and others have not, which may be those of which all were lost. */
static bool lacks_frames(const struct ft_report_coverage *coverage)
{
	if (coverage->duplicates != 0 && coverage->duplicates != coverage->frames_seen)
		return true;
	for (size_t i = 0; i < coverage->lost_by_count; i++)
		if (coverage->lost_by[i].frames != FT_UNKNOWN)
			return true;
	return false;
}

void ft_summary_fill_findings(struct ft_summary *summary, const struct ft_engine *engine,
			      const struct ft_source *source)
{
	const struct ft_account *account = &engine->account;
	const struct ft_second_evidence evidence = { account->writer, source };
	const struct ft_declared *declared =
		engine->map == NULL ? NULL : ft_map_declared(engine->map);
	struct ft_cotenancy shared[COTENANCIES];
	size_t shared_count =
		engine->map == NULL ? 0 : find_cotenancy(summary, engine->map, shared);
	size_t most = account->findings.count + shared_count + 1, count = 0;
	struct ft_report_finding *rows;

	if (engine->framing != NULL) {
		ft_nccl_follower_set_lossy(engine->framing->follower,
					   lacks_frames(&summary->report.coverage));
		ft_framing_judge_communicators(engine->framing, source);
		most += engine->framing->findings.count;
		summary->report.findings_dropped += engine->framing->findings.dropped;
	}
	if (declared != NULL) {
		if (ft_second_findings_fill(&summary->second, engine->map, engine->workers,
					    engine->config.workers, &evidence) != 0)
			ft_no_memory();
		most += declared->tenant_count + summary->second.findings.count;
		summary->report.findings_dropped += account->findings.dropped;
	}
	rows = ft_summary_take(summary, most, sizeof *rows);
	if (declared != NULL)
		count = fill_by_map(summary, engine, shared, shared_count, rows);
	if (engine->framing != NULL)
		count += fill_framing(summary, declared, engine->framing, rows + count);
	qsort(rows, count, sizeof *rows, by_weight);
	summary->report.findings = rows;
	summary->report.finding_count = count;
}
