#include <report/render.h>

#include <errno.h>

#include "capture_json.h"
#include "coverage_json.h"
#include "document.h"
#include "finding_json.h"
#include "rule.h"

/* The document fabtap.audit/1: its members in the order in which the format describes them. */

static const char *const verdicts[] = {
	[FT_COMPLIANT] = "compliant",
	[FT_VIOLATED] = "violated",
	[FT_NOT_EVIDENCED] = "not-evidenced",
};

static void earlier(struct ft_document *json, const struct ft_report_map *declared)
{
	ft_member_begin(json, "earlier", '[');
	for (size_t i = 0; i < declared->earlier_count; i++) {
		ft_member_begin(json, NULL, '{');
		ft_member_text(json, "sha256", declared->earlier[i].sha256);
		ft_member_number(json, "serial", declared->earlier[i].serial);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

static void map(struct ft_document *json, const struct ft_report_map *declared)
{
	if (declared->path == NULL) {
		ft_member_null(json, "map");
		return;
	}
	ft_member_begin(json, "map", '{');
	ft_member_text(json, "name", declared->name);
	ft_member_text(json, "format", declared->format);
	ft_member_text(json, "sha256", declared->sha256);
	ft_member_number(json, "serial", declared->serial);
	ft_member_text(json, "signed_by", declared->signed_by);
	ft_member_text(json, "verdict", declared->verdict);
	ft_member_number(json, "tenants", declared->tenants);
	ft_member_number(json, "partitions", declared->partitions);
	ft_member_number(json, "segments", declared->segments);
	ft_member_number(json, "endpoints", declared->endpoints);
	ft_member_text(json, "file", declared->path);
	earlier(json, declared);
	ft_member_end(json, '}');
}

static void congestion(struct ft_document *json, const struct ft_report_congestion *seen)
{
	ft_member_begin(json, "congestion", '{');
	ft_member_number(json, "ce_marked", seen->ce_marked);
	ft_member_number(json, "cnps_caused", seen->cnps_caused);
	ft_member_number(json, "cnps_received", seen->cnps_received);
	ft_member_number(json, "pause_ns", seen->pause_ns);
	ft_member_number(json, "rnr_naks", seen->rnr_naks);
	ft_member_number(json, "retransmitted", seen->retransmitted);
	ft_member_end(json, '}');
}

static void tenants(struct ft_document *json, const struct ft_report *report)
{
	ft_member_begin(json, "tenants", '[');
	for (size_t i = 0; i < report->tenant_count; i++) {
		const struct ft_report_tenant *tenant = &report->tenants[i];

		ft_member_begin(json, NULL, '{');
		ft_member_text(json, "name", tenant->name);
		ft_member_text(json, "class", tenant->class);
		ft_member_number(json, "endpoints_seen", tenant->endpoints_seen);
		ft_member_number(json, "frames", tenant->frames);
		ft_member_number(json, "bytes", tenant->bytes);
		ft_member_real(json, "quota_gbps", tenant->quota_gbps);
		ft_member_real(json, "peak_gbps", tenant->peak_gbps);
		congestion(json, &tenant->congestion);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

static void matrix(struct ft_document *json, const struct ft_report *report)
{
	ft_member_begin(json, "matrix", '[');
	for (size_t i = 0; i < report->pair_count; i++) {
		const struct ft_report_pair *pair = &report->matrix[i];

		ft_member_begin(json, NULL, '{');
		ft_member_text(json, "from", pair->from);
		ft_member_text(json, "to", pair->to);
		ft_member_number(json, "packets", pair->packets);
		ft_member_number(json, "bytes", pair->bytes);
		ft_member_text(json, "verdict", pair->verdict);
		ft_texts_json(json, "exceptions", pair->exceptions, pair->exception_count);
		ft_member_number(json, "violating", pair->violating);
		ft_member_number(json, "undecided", pair->undecided);
		ft_member_number(json, "judged", pair->judged);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

static void pkeys(struct ft_document *json, const struct ft_report *report)
{
	ft_member_begin(json, "pkeys", '[');
	for (size_t i = 0; i < report->pkey_count; i++) {
		ft_member_begin(json, NULL, '{');
		ft_member_hex(json, "pkey", report->pkeys[i].pkey, 4);
		ft_member_number(json, "packets", report->pkeys[i].packets);
		ft_member_number(json, "bytes", report->pkeys[i].bytes);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

int ft_render_json(FILE *out, const struct ft_report *report)
{
	struct ft_document json;

	ft_document_open(&json, out);
	ft_member_text(&json, "schema", "fabtap.audit/1");
	ft_tool_json(&json, report->version, report->build);
	ft_capture_json(&json, report);
	map(&json, &report->map);
	ft_coverage_json(&json, &report->coverage);
	ft_member_text(&json, "verdict", verdicts[report->verdict]);
	ft_member_text(&json, "because", report->because);
	tenants(&json, report);
	matrix(&json, report);
	pkeys(&json, report);
	ft_member_begin(&json, "findings", '[');
	for (size_t i = 0; i < report->finding_count; i++)
		ft_finding_json(&json, NULL, &report->findings[i]);
	ft_member_end(&json, ']');
	ft_member_number(&json, "findings_dropped", report->findings_dropped);
	ft_member_text(&json, "evidence_file", report->evidence_path);
	return ft_document_close(&json);
}

int ft_render_finding_json(FILE *out, const struct ft_report *report, const char *id)
{
	const struct ft_report_finding *finding;
	int error = ft_report_find(report, id, &finding);
	struct ft_document json;

	if (error != 0)
		return error;
	ft_document_open(&json, out);
	ft_member_text(&json, "schema", "fabtap.finding/1");
	ft_tool_json(&json, report->version, report->build);
	map(&json, &report->map);
	ft_finding_json(&json, "finding", finding);
	return ft_document_close(&json);
}
