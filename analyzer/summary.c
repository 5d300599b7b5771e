#include "summary_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ft_summary_create(struct ft_summary **summary)
{
	struct ft_summary *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	*summary = made;
	return 0;
}

void ft_summary_destroy(struct ft_summary *summary)
{
	if (summary == NULL)
		return;
	ft_arena_destroy(summary->words);
	free(summary);
}

void *ft_summary_take(struct ft_summary *summary, size_t count, size_t size)
{
	void *room = ft_arena_take(summary->words, count * size);

	if (room == NULL)
		abort();
	return room;
}

static void fill_sources(struct ft_summary *summary, const struct ft_source *source)
{
	size_t count = ft_source_input_count(source);
	struct ft_report_source *rows = ft_summary_take(summary, count, sizeof *rows);

	for (size_t i = 0; i < count; i++) {
		const struct ft_source_input *input = ft_source_input(source, i);

		rows[i] = (struct ft_report_source){
			.name = input->name,
			.kind = input->kind,
			.format = input->format,
			.compression = input->compression,
			.link_types = input->link_types,
			.link_type_count = input->link_type_count,
			.frames = input->frames,
			.bytes = input->bytes,
			.first_ts_ns = input->first_ts_ns,
			.last_ts_ns = input->last_ts_ns,
			.complaint = input->damaged ? input->complaint.text : NULL,
			.odd_records = input->odd_records,
		};
	}
	summary->report.sources = rows;
	summary->report.source_count = count;
}

static void fill_map(struct ft_summary *summary, const struct ft_map *map)
{
	static const char *const verdicts[] = { "ok", "warn", "fail_open", "reject" };
	const struct ft_declared *declared = ft_map_declared(map);

	summary->report.map = (struct ft_report_map){
		.path = declared->files[0].path,
		.name = declared->map_id != NULL ? declared->map_id : declared->files[0].path,
		.format = declared->format,
		.sha256 = declared->files[0].sha256,
		.signed_by = declared->signed_by[0] != '\0' ? declared->signed_by : NULL,
		.verdict = verdicts[declared->verdict],
		.serial = declared->serial != 0 ? declared->serial : FT_UNKNOWN,
		.tenants = declared->tenant_count,
		.partitions = declared->partition_count,
		.segments = declared->segment_count,
		.endpoints = ft_map_endpoint_count(map),
	};
}

static void fill_losses(struct ft_summary *summary, const struct ft_source *source)
{
	size_t count = ft_source_input_count(source);
	struct ft_report_loss *rows = ft_summary_take(summary, count, sizeof *rows);
	struct ft_report_coverage *coverage = &summary->report.coverage;

	for (size_t i = 0; i < count; i++) {
		const struct ft_source_input *input = ft_source_input(source, i);

		coverage->clock_steps += input->clock_steps;
		if (input->erf_lost != 0)
			rows[coverage->lost_by_count++] = (struct ft_report_loss){
				.method = "erf-lctr",
				.source = input->name,
				.frames = input->erf_lost,
			};
	}
	coverage->lost_by = rows;
}

/*
 * A pair of tenants of which too little could be judged: a violation between them would not have been
 * seen, however much else was judged. NULL: none.
 */
static const struct ft_cell *blind_pair(const struct ft_totals *totals, double min_coverage)
{
	for (uint32_t i = 0; i < totals->cell_count; i++) {
		const struct ft_cell *cell = &totals->cells[i];
		bool unknown = cell->from == FT_NONE && cell->to == FT_NONE;

		if (!unknown &&
		    (double)cell->judged < min_coverage * (double)(cell->judged + cell->undecided))
			return cell;
	}
	return NULL;
}

static void fill_coverage(struct ft_summary *summary, const struct ft_account *account,
			  const struct ft_source *source, double min_coverage)
{
	uint64_t undecided =
		account->undecided_bad_icrc + account->undecided_cut + account->undecided_malformed;
	const struct ft_cell all = ft_totals_sum(&account->totals);
	uint64_t rdma = all.judged + undecided;

	summary->report.coverage = (struct ft_report_coverage){
		.frames_seen = all.packets,
		.lost_estimate = FT_UNKNOWN,
		.lost_low = FT_UNKNOWN,
		.lost_high = FT_UNKNOWN,
		.share_seen = -1,
		.truncated = account->truncated,
		.undecided = undecided,
		.undecodable = account->undecodable,
		.connections = FT_UNKNOWN,
		.one_sided = FT_UNKNOWN,
		.could_hide_per_million = -1,
		.enough = all.judged != 0 && (double)all.judged >= min_coverage * (double)rdma &&
			  blind_pair(&account->totals, min_coverage) == NULL,
		.judged = all.judged,
		.never_judged = account->never_judged,
		.not_rdma = account->not_rdma,
		.undecided_bad_icrc = account->undecided_bad_icrc,
		.undecided_cut = account->undecided_cut,
		.undecided_malformed = account->undecided_malformed,
		.undecided_untimed = account->undecided_untimed,
	};
	fill_losses(summary, source);
}

/* "2 critical, 9 high" of the findings that are violations; returns how many there are. */
static uint64_t count_violations(const struct ft_report *report, char *text, size_t room)
{
	static const char *const names[] = { "info", "low", "medium", "high", "critical" };
	uint64_t by_severity[FT_CRITICAL + 1] = { 0 };
	uint64_t count = 0;
	size_t length = 0;

	for (size_t i = 0; i < report->finding_count; i++)
		by_severity[report->findings[i].severity] += report->findings[i].violation;
	for (int severity = FT_CRITICAL; severity >= FT_INFO; severity--) {
		if (by_severity[severity] != 0 && length < room)
			length += (size_t)snprintf(text + length, room - length, "%s%" PRIu64 " %s",
						   count == 0 ? "" : ", ", by_severity[severity],
						   names[severity]);
		count += by_severity[severity];
	}
	return count;
}

/* Where nothing contradicts the map: was enough of the traffic judged to say so? */
static void decide_by_coverage(struct ft_report *report)
{
	const struct ft_report_coverage *coverage = &report->coverage;

	report->verdict = coverage->enough ? FT_COMPLIANT : FT_NOT_EVIDENCED;
	if (coverage->judged == 0)
		snprintf(
			report->because, sizeof report->because,
			"no RDMA frame could be judged: nothing is known of what crossed the wire");
	else if (!coverage->enough)
		snprintf(report->because, sizeof report->because,
			 "no violation was seen, but %" PRIu64 " of %" PRIu64
			 " RDMA frames could not be judged",
			 coverage->undecided, coverage->undecided + coverage->judged);
	else if (coverage->undecided != 0)
		snprintf(report->because, sizeof report->because,
			 "all %" PRIu64 " judged RDMA frames agree with the declared map; %" PRIu64
			 " could not be judged",
			 coverage->judged, coverage->undecided);
	else
		snprintf(report->because, sizeof report->because,
			 "all %" PRIu64 " RDMA frames agree with the declared map",
			 coverage->judged);
}

static void decide(struct ft_report *report)
{
	char severities[128] = "";
	uint64_t violations = count_violations(report, severities, sizeof severities);

	if (violations != 0 || report->findings_dropped != 0) {
		report->verdict = FT_VIOLATED;
		snprintf(report->because, sizeof report->because,
			 "%" PRIu64 " finding%s contradict%s the declared map: %s", violations,
			 violations == 1 ? "" : "s", violations == 1 ? "s" : "", severities);
	} else {
		decide_by_coverage(report);
	}
}

const struct ft_report *ft_summary_make(struct ft_summary *summary, struct ft_account *account,
					const struct ft_flow_table *flows,
					const struct ft_source *source, double min_coverage)
{
	struct ft_report *report = &summary->report;
	const struct ft_cell all = ft_totals_sum(&account->totals);

	ft_arena_destroy(summary->words);
	summary->words = ft_arena_create();
	if (summary->words == NULL)
		abort();
	*report = (struct ft_report){
		.frames = all.packets,
		.bytes = all.bytes,
		.first_ts_ns = account->totals.first_ts_ns,
		.last_ts_ns = account->totals.last_ts_ns,
	};
	fill_sources(summary, source);
	fill_map(summary, account->map);
	fill_coverage(summary, account, source, min_coverage);
	ft_summary_fill_tenants(summary, account);
	ft_summary_fill_matrix(summary, account);
	ft_summary_fill_pkeys(summary, &account->totals);
	ft_summary_fill_findings(summary, account, flows);
	decide(report);
	return report;
}
