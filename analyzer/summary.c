#include "searches.h"
#include "summary_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>
#include <flow/hash.h>
#include <report/source_row.h>

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
	ft_second_findings_free(&summary->second);
	ft_tally_free(&summary->sum);
	ft_arena_destroy(summary->words);
	free(summary);
}

void *ft_summary_take(struct ft_summary *summary, size_t count, size_t size)
{
	void *room = ft_arena_take(summary->words, count * size);

	if (room == NULL)
		ft_no_memory();
	return room;
}

static void fill_sources(struct ft_summary *summary, const struct ft_source *source)
{
	size_t count = ft_source_input_count(source);
	struct ft_report_source *rows = ft_summary_take(summary, count, sizeof *rows);

	for (size_t i = 0; i < count; i++)
		rows[i] = ft_report_source_of(ft_source_input(source, i));
	summary->report.sources = rows;
	summary->report.source_count = count;
	ft_report_span(&summary->report);
}

static uint64_t serial_of(const struct ft_declared *declared)
{
	return declared->serial != 0 ? declared->serial : FT_UNKNOWN;
}

static void fill_earlier_maps(struct ft_summary *summary, const struct ft_engine *engine)
{
	struct ft_report_earlier_map *rows =
		ft_summary_take(summary, engine->earlier_count, sizeof *rows);

	for (size_t i = 0; i < engine->earlier_count; i++) {
		const struct ft_declared *declared = ft_map_declared(engine->earlier[i]);

		rows[i] = (struct ft_report_earlier_map){ declared->files[0].sha256,
							  serial_of(declared) };
	}
	summary->report.map.earlier = rows;
	summary->report.map.earlier_count = engine->earlier_count;
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
		.serial = serial_of(declared),
		.tenants = declared->tenant_count - declared->retired_count,
		.partitions = declared->partition_count,
		.segments = declared->segment_count,
		.endpoints = ft_map_endpoint_count(map),
	};
}

/* Violations that no line of the map is about, but what a connection did. */
static uint64_t count_behaviour(const struct ft_report *report)
{
	uint64_t count = 0;

	for (size_t i = 0; i < report->finding_count; i++)
		count += report->findings[i].violation && report->findings[i].certainty < 1;
	return count;
}

/* What the violations are about: "24 findings contradict the declared map". */
static void say_violations(const struct ft_report *report, uint64_t violations, char text[128])
{
	uint64_t behaviour = count_behaviour(report);
	uint64_t by_map = violations - behaviour;

	if (behaviour == 0)
		snprintf(text, 128, "%" PRIu64 " finding%s contradict%s the declared map", by_map,
			 by_map == 1 ? "" : "s", by_map == 1 ? "s" : "");
	else if (by_map == 0)
		snprintf(text, 128, "%" PRIu64 " finding%s speak%s of forged traffic", behaviour,
			 behaviour == 1 ? "" : "s", behaviour == 1 ? "s" : "");
	else
		snprintf(text, 128,
			 "%" PRIu64 " finding%s contradict%s the declared map, %" PRIu64
			 " speak%s of forged traffic",
			 by_map, by_map == 1 ? "" : "s", by_map == 1 ? "s" : "", behaviour,
			 behaviour == 1 ? "s" : "");
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

/*
 * What the other sides sent crossed other links: it is neither here nor counted as lost. Of halves that were pushed out of a full
 * flow table, and came back, each life counts: their reverse may have been in view.
 */
static void say_one_sided(struct ft_report *report)
{
	const struct ft_report_coverage *coverage = &report->coverage;
	size_t length = strlen(report->because);
	char *end = report->because + length;
	size_t room = sizeof report->because - length;

	if (coverage->one_sided == 0)
		return;
	if (coverage->evicted != 0)
		snprintf(end, room,
			 "; of how many connections only one direction was seen is not known "
			 "(--flows)");
	else
		snprintf(end, room,
			 "; of %" PRIu64 " of %" PRIu64 " connections only one direction was seen",
			 coverage->one_sided,
			 coverage->connections + coverage->one_sided + coverage->unpaired / 2);
}

/* Nobody judged what stands behind the damage, or what a device would have received that was lost. */
static void say_broken_off(struct ft_report *report)
{
	size_t length = strlen(report->because);
	size_t broken = 0;

	for (size_t i = 0; i < report->source_count; i++)
		broken += report->sources[i].complaint != NULL;
	if (broken != 0 && report->source_count == 1)
		snprintf(report->because + length, sizeof report->because - length,
			 "; the input broke off before the end");
	else if (broken != 0)
		snprintf(report->because + length, sizeof report->because - length,
			 "; %zu of %zu inputs broke off before the end", broken,
			 report->source_count);
}

/* Where nothing contradicts the map: was enough of the traffic seen and judged to say so? */
static void decide_by_coverage(struct ft_summary *summary)
{
	struct ft_report *report = &summary->report;
	const struct ft_report_coverage *coverage = &report->coverage;

	report->verdict = coverage->enough ? FT_COMPLIANT : FT_NOT_EVIDENCED;
	if (!coverage->enough)
		snprintf(report->because, sizeof report->because,
			 coverage->judged == 0 ? "%s: nothing is known of what crossed the wire"
					       : "no violation was seen, but %s",
			 summary->not_enough);
	else if (coverage->undecided != 0)
		snprintf(report->because, sizeof report->because,
			 "all %" PRIu64 " judged RDMA frames agree with the declared map; %" PRIu64
			 " could not be judged",
			 coverage->judged, coverage->undecided);
	else if (coverage->judged == 1)
		snprintf(report->because, sizeof report->because,
			 "the one RDMA frame seen agrees with the declared map");
	else
		snprintf(report->because, sizeof report->because,
			 "all %" PRIu64 " RDMA frames seen agree with the declared map",
			 coverage->judged);
	if (coverage->enough) {
		say_one_sided(report);
		say_broken_off(report);
	}
}

static void decide(struct ft_summary *summary)
{
	struct ft_report *report = &summary->report;
	char severities[120] = "", about[128];
	uint64_t violations = count_violations(report, severities, sizeof severities);

	if (violations != 0 || report->findings_dropped != 0) {
		report->verdict = FT_VIOLATED;
		say_violations(report, violations, about);
		snprintf(report->because, sizeof report->because, "%s: %s", about, severities);
	} else {
		decide_by_coverage(summary);
	}
}

static bool add_flow_packets(void *context, const struct ft_flow *flow)
{
	struct ft_account *account = context;
	uint64_t digest;
	uint32_t index;

	if (flow->bad_icrc == 0)
		return true;
	digest = ft_hash(&flow->key, sizeof flow->key, account->seed) | 1;
	index = ft_account_bad_icrc(account, digest);
	if (index != FT_NONE)
		account->findings.items[index].flow_packets += flow->packets;
	return true;
}

/* How many packets the flows of findings about wrong ICRCs had in all. */
static void count_flow_packets(struct ft_engine *engine)
{
	struct ft_findings *findings = &engine->account.findings;

	for (uint32_t i = 0; i < findings->count; i++)
		findings->items[i].flow_packets = 0;
	if (engine->account.by_flow_count == 0)
		return;
	for (unsigned i = 0; i < engine->config.workers; i++)
		ft_flow_each(engine->workers[i]->flows, add_flow_packets, &engine->account);
}

static void add_up(struct ft_summary *summary, const struct ft_engine *engine)
{
	uint32_t tenants =
		engine->map == NULL ? 0 : (uint32_t)ft_map_declared(engine->map)->tenant_count;

	summary->tally = &engine->workers[0]->tally;
	if (engine->config.workers == 1)
		return;
	ft_tally_free(&summary->sum);
	if (ft_tally_init(&summary->sum, tenants, engine->config.seed) != 0)
		ft_no_memory();
	for (unsigned i = 0; i < engine->config.workers; i++)
		ft_tally_merge(&summary->sum, &engine->workers[i]->tally);
	summary->tally = &summary->sum;
}

static void fill_by_map(struct ft_summary *summary, struct ft_engine *engine)
{
	count_flow_packets(engine);
	fill_map(summary, engine->map);
	fill_earlier_maps(summary, engine);
	ft_summary_fill_tenants(summary, &engine->account);
	ft_summary_fill_matrix(summary, &engine->account);
	ft_summary_fill_pkeys(summary);
}

const struct ft_report *ft_summary_make(struct ft_summary *summary, struct ft_engine *engine,
					const struct ft_source *source)
{
	struct ft_cell all;

	ft_arena_destroy(summary->words);
	summary->words = ft_arena_create();
	if (summary->words == NULL)
		ft_no_memory();
	ft_account_settle(&engine->account);
	if (engine->map != NULL)
		ft_searches_settle(&engine->account.findings, engine->workers,
				   engine->config.workers);
	add_up(summary, engine);
	all = ft_totals_sum(&summary->tally->totals);
	summary->report = (struct ft_report){
		.frames = all.packets + summary->tally->duplicates,
		.bytes = all.bytes + summary->tally->duplicate_bytes,
	};
	fill_sources(summary, source);
	ft_summary_fill_coverage(summary, engine, source);
	if (engine->map != NULL)
		fill_by_map(summary, engine);
	ft_summary_fill_findings(summary, engine, source);
	if (engine->map != NULL)
		decide(summary);
	return &summary->report;
}
