#include <report/flows.h>

#include <decode/opcode.h>

#include "capture_json.h"
#include "coverage_json.h"

/* The document fabtap.flows/1: its members in the order in which the format describes them. */

static void table(struct ft_document *json, const struct ft_report_flows *flows)
{
	ft_member_begin(json, "table", '{');
	ft_member_number(json, "capacity", flows->capacity);
	ft_member_number(json, "used", flows->used);
	ft_member_number(json, "evicted", flows->evicted);
	ft_member_number(json, "expired", flows->expired);
	ft_member_number(json, "record_bytes", flows->record_bytes);
	ft_member_number(json, "detail_bytes", flows->detail_bytes);
	ft_member_end(json, '}');
}

static void end(struct ft_document *json, const char *name, const struct ft_report_flow_end *side)
{
	ft_member_begin(json, name, '{');
	ft_member_text(json, "address", side->address);
	ft_member_text(json, "host", side->host);
	ft_member_text(json, "tenant", side->tenant);
	ft_member_end(json, '}');
}

static void identity(struct ft_document *json, const struct ft_report_flow *row)
{
	ft_member_number(json, "flow", row->flow);
	end(json, "src", &row->src);
	end(json, "dst", &row->dst);
	ft_member_number(json, "dest_qp", row->dest_qp);
	if (row->has_pkey)
		ft_member_hex(json, "pkey", row->pkey, 4);
	else
		ft_member_null(json, "pkey");
	ft_member_number(json, "vlan", row->has_vlan ? row->vlan : FT_UNKNOWN);
	ft_member_number(json, "vni", row->has_vni ? row->vni : FT_UNKNOWN);
	ft_member_text(json, "transport", row->transport);
}

/* Undefined opcodes have no name: their number stands for it. */
static void opcodes(struct ft_document *json, const struct ft_report_flow *row)
{
	char number[8];

	ft_member_begin(json, "opcodes", '{');
	for (size_t i = 0; i < row->opcode_count; i++) {
		const char *name = ft_opcode_name(row->opcodes[i].opcode);

		snprintf(number, sizeof(number), "0x%02x", row->opcodes[i].opcode);
		ft_member_number(json, name != NULL ? name : number, row->opcodes[i].packets);
	}
	ft_member_end(json, '}');
}

static void messages(struct ft_document *json, const struct ft_report_flow *row)
{
	ft_member_begin(json, "messages", '{');
	ft_member_number(json, "send", row->sends);
	ft_member_number(json, "write", row->writes);
	ft_member_number(json, "read", row->reads);
	ft_member_number(json, "atomic", row->atomics);
	ft_member_begin(json, "sizes", '{');
	ft_member_number(json, "min", row->size_min);
	ft_member_number(json, "p50", row->size_p50);
	ft_member_number(json, "max", row->size_max);
	ft_member_end(json, '}');
	ft_member_end(json, '}');
}

static void naks(struct ft_document *json, const struct ft_report_flow *row)
{
	static const char *const names[FT_FLOW_NAKS] = {
		[FT_NAK_PSN_SEQUENCE] = "psn_sequence_error",
		[FT_NAK_INVALID_REQUEST] = "invalid_request",
		[FT_NAK_REMOTE_ACCESS] = "remote_access_error",
		[FT_NAK_REMOTE_OPERATION] = "remote_operational_error",
		[FT_NAK_INVALID_RD_REQUEST] = "invalid_rd_request",
	};

	ft_member_begin(json, "naks", '{');
	for (size_t i = 0; i < FT_FLOW_NAKS; i++)
		if (row->naks[i] > 0)
			ft_member_number(json, names[i], row->naks[i]);
	ft_member_end(json, '}');
}

static void transport_account(struct ft_document *json, const struct ft_report_flow *row)
{
	ft_member_number(json, "retransmitted", row->retransmitted);
	ft_member_number(json, "reordered", row->reordered);
	ft_member_number(json, "duplicates", row->duplicates);
	ft_member_number(json, "fabric_lost", row->fabric_lost);
	ft_member_number(json, "mirror_lost", row->mirror_lost);
	ft_member_number(json, "gaps_open", row->gaps_open);
	ft_member_number(json, "acks", row->acks);
	naks(json, row);
	ft_member_number(json, "rnr_naks", row->rnr_naks);
	ft_member_number(json, "ce_marked", row->ce_marked);
	ft_member_number(json, "cnps", row->cnps);
	ft_member_number(json, "psn_first", row->psn_first);
	ft_member_number(json, "psn_last", row->psn_last);
	ft_member_number(json, "mtu", row->mtu);
}

static void rules(struct ft_document *json, const struct ft_report_flow *row, bool followed)
{
	ft_member_text(json, "verdict", row->verdict);
	if (row->verdict == NULL && !followed) {
		ft_member_null(json, "rules");
		return;
	}
	ft_member_begin(json, "rules", '[');
	for (size_t i = 0; i < row->rule_count; i++)
		ft_member_text(json, NULL, row->rules[i]);
	ft_member_end(json, ']');
}

static void nccl(struct ft_document *json, const struct ft_report_flow_nccl *row)
{
	if (row->class == NULL) {
		ft_member_null(json, "nccl");
		return;
	}
	ft_member_begin(json, "nccl", '{');
	ft_member_text(json, "class", row->class);
	ft_member_real(json, "confidence", row->confidence);
	ft_member_number(json, "connection", row->connection);
	ft_member_text(json, "role", row->role);
	ft_member_number(json, "channel", row->channel);
	if (row->has_rank)
		ft_member_signed(json, "rank", row->rank);
	else
		ft_member_null(json, "rank");
	ft_member_end(json, '}');
}

static void flow_object(struct ft_document *json, const struct ft_report_flow *row, bool followed)
{
	ft_member_begin(json, NULL, '{');
	identity(json, row);
	ft_member_time(json, "first_ts", row->first_ts_ns);
	ft_member_time(json, "last_ts", row->last_ts_ns);
	ft_member_number(json, "packets", row->packets);
	ft_member_number(json, "bytes", row->bytes);
	ft_member_number(json, "payload_bytes", row->payload_bytes);
	opcodes(json, row);
	messages(json, row);
	transport_account(json, row);
	rules(json, row, followed);
	ft_member_number(json, "connection", row->connection);
	if (followed)
		nccl(json, &row->nccl);
	ft_member_end(json, '}');
}

static void connection_object(struct ft_document *json, const struct ft_report_connection *row)
{
	ft_member_begin(json, NULL, '{');
	ft_member_number(json, "connection", row->connection);
	ft_member_begin(json, "flows", '[');
	ft_member_number(json, NULL, row->flows[0]);
	ft_member_number(json, NULL, row->flows[1]);
	ft_member_end(json, ']');
	ft_member_text(json, "paired_by", row->paired_by);
	ft_member_real(json, "certainty", row->certainty);
	if (row->rtt_min_ns == FT_UNKNOWN) {
		ft_member_null(json, "rtt_ns");
	} else {
		ft_member_begin(json, "rtt_ns", '{');
		ft_member_number(json, "min", row->rtt_min_ns);
		ft_member_number(json, "p50", row->rtt_p50_ns);
		ft_member_number(json, "p99", row->rtt_p99_ns);
		ft_member_end(json, '}');
	}
	ft_member_end(json, '}');
}

static void flow_rows(struct ft_document *json, const struct ft_report_flows *flows)
{
	struct ft_report_flow row;

	ft_member_begin(json, "flows", '[');
	for (size_t i = 0; i < flows->flow_count; i++) {
		flows->flow(flows->rows, i, &row);
		flow_object(json, &row, flows->followed);
	}
	ft_member_end(json, ']');
}

static void connection_rows(struct ft_document *json, const struct ft_report_flows *flows)
{
	struct ft_report_connection row;

	ft_member_begin(json, "connections", '[');
	for (size_t i = 0; i < flows->connection_count; i++) {
		flows->connection(flows->rows, i, &row);
		connection_object(json, &row);
	}
	ft_member_end(json, ']');
}

int ft_render_flows_json(FILE *out, const struct ft_report_flows *flows)
{
	struct ft_document json;

	ft_document_open(&json, out);
	ft_member_text(&json, "schema", "fabtap.flows/1");
	ft_tool_json(&json, flows->about->version, flows->about->build);
	ft_capture_json(&json, flows->about);
	ft_coverage_json(&json, &flows->about->coverage);
	table(&json, flows);
	flow_rows(&json, flows);
	connection_rows(&json, flows);
	return ft_document_close(&json);
}
