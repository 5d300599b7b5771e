#include <report/render.h>

#include <errno.h>

#include "document.h"
#include "rule.h"

/* The document fabtap.audit/1: its members in the order in which the format describes them. */

static const char *const severities[] = { "info", "low", "medium", "high", "critical" };
static const char *const verdicts[] = {
	[FT_COMPLIANT] = "compliant",
	[FT_VIOLATED] = "violated",
	[FT_NOT_EVIDENCED] = "not-evidenced",
};

static void texts(struct ft_document *json, const char *name, const char *const *values,
		  size_t count)
{
	ft_member_begin(json, name, '[');
	for (size_t i = 0; i < count; i++)
		ft_member_text(json, NULL, values[i]);
	ft_member_end(json, ']');
}

static void tool(struct ft_document *json, const struct ft_report *report)
{
	ft_member_begin(json, "tool", '{');
	ft_member_text(json, "name", "fabtap");
	ft_member_text(json, "version", report->version);
	ft_member_text(json, "build", report->build);
	ft_member_end(json, '}');
}

static void source(struct ft_document *json, const struct ft_report_source *input)
{
	ft_member_begin(json, NULL, '{');
	ft_member_text(json, "name", input->name);
	ft_member_text(json, "kind", input->kind);
	ft_member_begin(json, "linktypes", '[');
	for (size_t i = 0; i < input->link_type_count; i++)
		ft_member_number(json, NULL, input->link_types[i]);
	ft_member_end(json, ']');
	ft_member_number(json, "frames", input->frames);
	ft_member_number(json, "bytes", input->bytes);
	ft_member_time(json, "first_ts", input->first_ts_ns);
	ft_member_time(json, "last_ts", input->last_ts_ns);
	ft_member_null(json, "clock");
	ft_member_text(json, "format", input->format);
	ft_member_text(json, "compression", input->compression);
	ft_member_number(json, "odd_records", input->odd_records);
	ft_member_text(json, "damage", input->complaint);
	ft_member_end(json, '}');
}

static void capture(struct ft_document *json, const struct ft_report *report)
{
	ft_member_begin(json, "capture", '{');
	ft_member_begin(json, "sources", '[');
	for (size_t i = 0; i < report->source_count; i++)
		source(json, &report->sources[i]);
	ft_member_end(json, ']');
	ft_member_number(json, "frames", report->frames);
	ft_member_number(json, "bytes", report->bytes);
	ft_member_time(json, "first_ts", report->first_ts_ns);
	ft_member_time(json, "last_ts", report->last_ts_ns);
	ft_member_number(json, "stopped_after",
			 report->stopped_after > 0 ? report->stopped_after : FT_UNKNOWN);
	ft_member_end(json, '}');
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
	ft_member_end(json, '}');
}

static void frames_lost(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "frames_lost", '{');
	ft_member_number(json, "estimate", seen->lost_estimate);
	ft_member_number(json, "low", seen->lost_low);
	ft_member_number(json, "high", seen->lost_high);
	ft_member_end(json, '}');
}

static void lost_by(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "lost_by", '[');
	for (size_t i = 0; i < seen->lost_by_count; i++) {
		ft_member_begin(json, NULL, '{');
		ft_member_text(json, "method", seen->lost_by[i].method);
		ft_member_text(json, "source", seen->lost_by[i].source);
		ft_member_number(json, "frames", seen->lost_by[i].frames);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

static void coverage(struct ft_document *json, const struct ft_report_coverage *seen)
{
	ft_member_begin(json, "coverage", '{');
	ft_member_number(json, "frames_seen", seen->frames_seen);
	frames_lost(json, seen);
	ft_member_real(json, "share_seen", seen->share_seen);
	lost_by(json, seen);
	ft_member_number(json, "duplicates", seen->duplicates);
	ft_member_number(json, "truncated", seen->truncated);
	ft_member_number(json, "undecided", seen->undecided);
	ft_member_number(json, "undecodable", seen->undecodable);
	ft_member_number(json, "connections", seen->connections);
	ft_member_number(json, "one_sided", seen->one_sided);
	ft_member_begin(json, "time_gaps", '[');
	ft_member_end(json, ']');
	ft_member_number(json, "clock_steps", seen->clock_steps);
	ft_member_begin(json, "could_hide", '{');
	ft_member_real(json, "packets_per_million", seen->could_hide_per_million);
	ft_member_text(json, "because", seen->could_hide_because);
	ft_member_end(json, '}');
	ft_member_bool(json, "enough", seen->enough);
	ft_member_number(json, "judged", seen->judged);
	ft_member_number(json, "never_judged", seen->never_judged);
	ft_member_number(json, "not_rdma", seen->not_rdma);
	ft_member_begin(json, "undecided_by", '{');
	ft_member_number(json, "bad_icrc", seen->undecided_bad_icrc);
	ft_member_number(json, "cut", seen->undecided_cut);
	ft_member_number(json, "malformed", seen->undecided_malformed);
	ft_member_number(json, "untimed", seen->undecided_untimed);
	ft_member_end(json, '}');
	ft_member_end(json, '}');
}

/* The flow engine does not measure congestion yet: unknown is null. */
static void congestion(struct ft_document *json)
{
	static const char *const names[] = { "ce_marked", "cnps_caused", "cnps_received",
					     "pause_ns",  "rnr_naks",    "retransmitted" };

	ft_member_begin(json, "congestion", '{');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ft_member_null(json, names[i]);
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
		ft_member_null(json, "peak_gbps");
		congestion(json);
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
		texts(json, "exceptions", pair->exceptions, pair->exception_count);
		ft_member_number(json, "violating", pair->violating);
		ft_member_number(json, "undecided", pair->undecided);
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

static void end(struct ft_document *json, const char *name, const struct ft_report_finding *finding,
		const struct ft_report_end *side)
{
	if (!finding->has_ends) {
		ft_member_null(json, name);
		return;
	}
	ft_member_begin(json, name, '{');
	ft_member_text(json, "address", side->address);
	ft_member_text(json, "host", side->host);
	ft_member_text(json, "tenant", side->tenant);
	ft_member_bool(json, "group", side->group);
	ft_member_end(json, '}');
}

static void subject(struct ft_document *json, const struct ft_report_finding *finding)
{
	end(json, "src", finding, &finding->src);
	end(json, "dst", finding, &finding->dst);
	if (finding->has_pkey)
		ft_member_hex(json, "pkey", finding->pkey, 4);
	else
		ft_member_null(json, "pkey");
	ft_member_begin(json, "dest_qps", '[');
	for (size_t i = 0; i < finding->dest_qp_count; i++)
		ft_member_number(json, NULL, finding->dest_qps[i]);
	ft_member_end(json, ']');
	ft_member_number(json, "vlan", finding->has_vlan ? finding->vlan : FT_UNKNOWN);
	ft_member_number(json, "vni", finding->has_vni ? finding->vni : FT_UNKNOWN);
}

static void map_reference(struct ft_document *json, const struct ft_report_finding *finding)
{
	if (finding->map_file == NULL) {
		ft_member_null(json, "map_ref");
		return;
	}
	ft_member_begin(json, "map_ref", '{');
	ft_member_text(json, "file", finding->map_file);
	ft_member_number(json, "line", finding->map_line > 0 ? finding->map_line : FT_UNKNOWN);
	ft_member_text(json, "path", finding->map_path);
	ft_member_end(json, '}');
}

static void finding_object(struct ft_document *json, const char *name,
			   const struct ft_report_finding *finding)
{
	ft_member_begin(json, name, '{');
	ft_member_text(json, "id", finding->id);
	ft_member_text(json, "rule", finding->rule);
	ft_member_text(json, "severity", severities[finding->severity]);
	ft_member_real(json, "certainty", finding->certainty);
	ft_member_text(json, "summary", finding->summary);
	ft_member_time(json, "first_ts", finding->first_ts_ns);
	ft_member_time(json, "last_ts", finding->last_ts_ns);
	ft_member_number(json, "packets", finding->packets);
	ft_member_number(json, "bytes", finding->bytes);
	subject(json, finding);
	ft_member_begin(json, "frames", '[');
	for (size_t i = 0; i < finding->frame_count; i++)
		ft_member_number(json, NULL, finding->frames[i]);
	ft_member_end(json, ']');
	map_reference(json, finding);
	texts(json, "evidence", finding->evidence, finding->evidence_count);
	ft_member_bool(json, "violation", finding->violation);
	ft_member_text(json, "meaning", ft_rule_meaning(finding->rule));
	if (finding->tenant_a != NULL) {
		texts(json, "tenants",
		      (const char *const[]){ finding->tenant_a, finding->tenant_b }, 2);
		ft_member_text(json, "leaf", finding->leaf);
	}
	ft_member_end(json, '}');
}

int ft_render_json(FILE *out, const struct ft_report *report)
{
	struct ft_document json;

	ft_document_open(&json, out);
	ft_member_text(&json, "schema", "fabtap.audit/1");
	tool(&json, report);
	capture(&json, report);
	map(&json, &report->map);
	coverage(&json, &report->coverage);
	ft_member_text(&json, "verdict", verdicts[report->verdict]);
	ft_member_text(&json, "because", report->because);
	tenants(&json, report);
	matrix(&json, report);
	pkeys(&json, report);
	ft_member_begin(&json, "findings", '[');
	for (size_t i = 0; i < report->finding_count; i++)
		finding_object(&json, NULL, &report->findings[i]);
	ft_member_end(&json, ']');
	ft_member_number(&json, "findings_dropped", report->findings_dropped);
	ft_member_text(&json, "evidence_file", report->evidence_path);
	return ft_document_close(&json);
}

int ft_render_finding_json(FILE *out, const struct ft_report *report, const char *id)
{
	const struct ft_report_finding *finding = ft_report_find(report, id);
	struct ft_document json;

	if (finding == NULL)
		return -ENOENT;
	ft_document_open(&json, out);
	ft_member_text(&json, "schema", "fabtap.finding/1");
	tool(&json, report);
	map(&json, &report->map);
	finding_object(&json, "finding", finding);
	return ft_document_close(&json);
}
