#include "finding_json.h"

#include "finding_text.h"
#include "rule.h"

void ft_texts_json(struct ft_document *json, const char *name, const char *const *values,
		   size_t count)
{
	ft_member_begin(json, name, '[');
	for (size_t i = 0; i < count; i++)
		ft_member_text(json, NULL, values[i]);
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

void ft_finding_json(struct ft_document *json, const char *name,
		     const struct ft_report_finding *finding)
{
	ft_member_begin(json, name, '{');
	ft_member_text(json, "id", finding->id);
	ft_member_text(json, "rule", finding->rule);
	ft_member_text(json, "severity", ft_severity_word(finding->severity));
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
	ft_texts_json(json, "evidence", finding->evidence, finding->evidence_count);
	ft_member_bool(json, "violation", finding->violation);
	ft_member_text(json, "meaning", ft_rule_meaning(finding->rule));
	if (finding->tenant_a != NULL) {
		ft_texts_json(json, "tenants",
			      (const char *const[]){ finding->tenant_a, finding->tenant_b },
			      finding->tenant_b == NULL ? 1 : 2);
	}
	if (finding->leaf != NULL)
		ft_member_text(json, "leaf", finding->leaf);
	ft_member_end(json, '}');
}
