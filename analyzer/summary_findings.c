#include "summary_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>

#include "searches.h"
#include "wording.h"

enum { EVIDENCE_SENTENCES = 4 };

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
	ft_summary_set_origin(&row, told_by, &finding->origin);
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

/* Two requests under one PSN: which is forged, and what shows that. */
struct conflict {
	uint64_t earlier, later; /* frames; 0: not known */
	enum ft_forged forged;
	bool by_framing; /* else by their looks */
};

static struct conflict conflict_of(const struct ft_framing *framing,
				   const struct ft_finding *finding, unsigned which)
{
	struct conflict conflict = { finding->passed[which], finding->frames[which],
				     FT_FORGED_LATER, false };

	if (conflict.earlier == 0)
		return conflict;
	if (framing != NULL)
		conflict.forged = ft_framing_forged_of(framing, conflict.earlier, conflict.later);
	conflict.by_framing = framing != NULL && conflict.forged != FT_FORGED_EITHER;
	if (!conflict.by_framing)
		conflict.forged = (enum ft_forged)finding->forged[which];
	return conflict;
}

static const char *conflict_sentence(struct ft_arena *words, const struct conflict *conflict)
{
	if (conflict->forged == FT_FORGED_EITHER)
		return ft_words(
			words, "which of frames %" PRIu64 " and %" PRIu64 " is forged is not known",
			conflict->earlier, conflict->later);
	if (conflict->by_framing)
		return ft_words(words,
				"of frame %" PRIu64
				" NCCL's framing shows that it is the forged one",
				conflict->earlier);
	return ft_words(words, "frame %" PRIu64 " does not look like the sender's",
			conflict->earlier);
}

static void add_frame(struct ft_report_finding *row, uint64_t frame)
{
	for (size_t i = 0; i < row->frame_count; i++)
		if (row->frames[i] == frame)
			return;
	if (row->frame_count < FT_FINDING_FRAMES)
		row->frames[row->frame_count++] = frame;
}

/* Of two requests under one PSN both are named, unless it is known which is forged. */
static struct ft_report_finding conflict_row(struct ft_summary *summary,
					     const struct ft_declared *declared,
					     const struct ft_framing *framing,
					     const struct ft_finding *finding)
{
	struct ft_report_finding row = finding_row(summary, declared, finding);
	bool is_said[] = { false, true, false }; /* by enum ft_forged; of a later one it is */

	row.frame_count = 0;
	for (unsigned i = 0; i < finding->frame_count; i++) {
		const struct conflict conflict = conflict_of(framing, finding, i);

		if (conflict.forged != FT_FORGED_LATER)
			add_frame(&row, conflict.earlier);
		if (conflict.forged != FT_FORGED_EARLIER)
			add_frame(&row, conflict.later);
		if (!is_said[conflict.forged])
			say(summary, &row, conflict_sentence(summary->words, &conflict));
		is_said[conflict.forged] = true;
	}
	return row;
}

static struct ft_report_finding frames_row(struct ft_summary *summary,
					   const struct ft_declared *declared,
					   const struct ft_framing *framing,
					   const struct ft_finding *finding)
{
	if (finding->rule == FT_RULE_SPOOF_PSN_CONFLICT)
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
			  const struct ft_cotenancies *shared, struct ft_report_finding *rows)
{
	const struct ft_account *account = &engine->account;
	const struct ft_declared *declared = ft_map_declared(account->map);
	size_t count = ft_summary_fill_map_findings(summary, account, shared, rows);

	for (uint32_t i = 0; i < summary->second.findings.count; i++)
		rows[count++] = second_row(summary, declared, i);
	for (uint32_t i = 0; i < account->findings.count; i++)
		if (account->findings.items[i].packets != 0)
			rows[count++] = frames_row(summary, declared, engine->framing,
						   &account->findings.items[i]);
	return count;
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
	struct ft_cotenancies shared;
	struct ft_report_finding *rows;
	size_t most = account->findings.count, count = 0;

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
		ft_summary_find_cotenancies(summary, engine->map, &shared);
		most += declared->tenant_count + shared.count + 1 + summary->second.findings.count;
		summary->report.findings_dropped += account->findings.dropped;
	}
	rows = ft_summary_take(summary, most, sizeof *rows);
	if (declared != NULL)
		count = fill_by_map(summary, engine, &shared, rows);
	if (engine->framing != NULL)
		count += fill_framing(summary, declared, engine->framing, rows + count);
	qsort(rows, count, sizeof *rows, by_weight);
	summary->report.findings = rows;
	summary->report.finding_count = count;
}
