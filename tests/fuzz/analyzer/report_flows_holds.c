#include "../holds.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <report/flows.h>

/*
 * Whatever names a map brought into the flow table, and whatever its numbers: the page has no control
 * character but line ends and a line for each flow, and the document is valid JSON with as many rows.
 * The bytes are names (ended by zero bytes) and numbers; what is left of them is repeated for every row.
 */
struct taken {
	const uint8_t *at;
	size_t left;
};

enum { ROWS = 3, LINES_BEFORE = 2 };

struct row {
	char host[32], tenant[32];
	struct ft_report_flow flow;
};

static uint64_t number(struct taken *taken)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 8 && taken->left > 0; i++, taken->left--)
		value = value << 8 | *taken->at++;
	return value >> 1; /* JSON readers stop at 63 bits, and no counter gets there */
}

static void name(struct taken *taken, char text[32])
{
	size_t size = 0;

	while (taken->left > 0 && *taken->at != 0 && size < 31) {
		text[size++] = (char)*taken->at++;
		taken->left--;
	}
	if (taken->left > 0) {
		taken->at++;
		taken->left--;
	}
	text[size] = 0;
}

static uint64_t maybe(struct taken *taken)
{
	uint64_t value = number(taken);

	return (value & 1) != 0 ? FT_UNKNOWN : value;
}

static void identify(struct taken *taken, struct row *row)
{
	static const char *const transports[] = { "RC", "UD", "CNP", NULL };
	static const char *const verdicts[] = { "allowed", "violated", "unknown", NULL };
	uint64_t bits = number(taken);

	name(taken, row->host);
	name(taken, row->tenant);
	row->flow.flow = number(taken);
	row->flow.src = (struct ft_report_flow_end){
		.address = "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
		.host = (bits & 1) != 0 ? row->host : NULL,
		.tenant = (bits & 2) != 0 ? row->tenant : NULL,
	};
	row->flow.dst = (struct ft_report_flow_end){ .address = "lid:65535", .tenant = row->host };
	row->flow.dest_qp = (uint32_t)bits;
	row->flow.has_pkey = (bits & 4) != 0;
	row->flow.has_vlan = (bits & 8) != 0;
	row->flow.has_vni = (bits & 16) != 0;
	row->flow.pkey = row->flow.vlan = (uint16_t)(bits >> 8);
	row->flow.vni = (uint32_t)(bits >> 16);
	row->flow.transport = transports[bits >> 5 & 3];
	row->flow.verdict = verdicts[bits >> 7 & 3];
	row->flow.connection = maybe(taken);
	if ((bits & 1u << 9) == 0)
		return;
	row->flow.nccl = (struct ft_report_flow_nccl){
		.class = (bits & 1u << 10) != 0 ? "unknown" : "nccl",
		.confidence = (double)(bits >> 11 & 7) / 7,
		.connection = maybe(taken),
		.role = (bits & 1u << 14) != 0 ? "data" : NULL,
		.channel = maybe(taken),
		.has_rank = (bits & 1u << 15) != 0,
		.rank = (int32_t)bits,
	};
}

static void count(struct taken *taken, struct ft_report_flow *flow)
{
	uint64_t *const counts[] = { &flow->packets,     &flow->bytes,       &flow->payload_bytes,
				     &flow->sends,       &flow->writes,      &flow->retransmitted,
				     &flow->fabric_lost, &flow->mirror_lost, &flow->gaps_open,
				     &flow->naks[0],     &flow->rnr_naks,    &flow->cnps };
	uint64_t *const unsure[] = { &flow->first_ts_ns, &flow->last_ts_ns, &flow->size_min,
				     &flow->size_p50,    &flow->size_max,   &flow->psn_first,
				     &flow->psn_last,    &flow->mtu };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		*counts[i] = number(taken);
	for (size_t i = 0; i < sizeof(unsure) / sizeof(unsure[0]); i++)
		*unsure[i] = maybe(taken);
	flow->opcode_count = number(taken) % (FT_FLOW_OPCODES + 1);
	for (size_t i = 0; i < flow->opcode_count; i++)
		flow->opcodes[i] = (struct ft_report_opcode){ (uint8_t)(7 * i), number(taken) };
}

static void flow_row(const void *rows, size_t index, struct ft_report_flow *row)
{
	*row = ((const struct row *)rows)[index].flow;
}

static void connection_row(const void *rows, size_t index, struct ft_report_connection *row)
{
	const struct ft_report_flow *flow = &((const struct row *)rows)[index].flow;

	*row = (struct ft_report_connection){ .connection = flow->flow,
					      .flows = { flow->flow, flow->packets },
					      .paired_by = "transport",
					      .certainty = (double)flow->bytes,
					      .rtt_min_ns = flow->size_min,
					      .rtt_p50_ns = flow->packets,
					      .rtt_p99_ns = flow->bytes };
}

static void page_holds(const struct ft_report_flows *flows)
{
	const struct ft_render_options look = { .width = 80 };
	char *text = NULL;
	size_t size = 0, lines = 0;
	FILE *out = open_memstream(&text, &size);

	assert(out != NULL);
	assert(ft_render_flows_text(out, flows, &look) == 0);
	assert(fclose(out) == 0 && strlen(text) == size);
	for (const char *at = text; *at != 0; at++) {
		assert(*at == '\n' || !iscntrl((unsigned char)*at));
		lines += *at == '\n';
	}
	assert(lines > LINES_BEFORE + flows->flow_count);
	free(text);
}

static void document_holds(const struct ft_report_flows *flows)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *parsed;

	assert(out != NULL);
	assert(ft_render_flows_json(out, flows) == 0);
	assert(fclose(out) == 0 && strlen(text) == size);
	parsed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert(json_array_size(json_object_get(parsed, "flows")) == flows->flow_count);
	assert(json_array_size(json_object_get(parsed, "connections")) == flows->connection_count);
	json_decref(parsed);
	free(text);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct taken taken = { .at = bytes, .left = size };
	struct row rows[ROWS] = { 0 };
	const struct ft_report about = {
		.version = "0",
		.build = "0",
		.first_ts_ns = FT_UNKNOWN,
		.last_ts_ns = FT_UNKNOWN,
		.coverage = { .share_seen = -1, .could_hide_per_million = -1 },
	};
	const struct ft_report_flows flows = {
		.about = &about,
		.judged = true,
		.followed = true,
		.capacity = number(&taken),
		.used = number(&taken),
		.evicted = number(&taken),
		.all_flows = number(&taken),
		.flow_count = ROWS,
		.connection_count = ROWS,
		.rows = rows,
		.flow = flow_row,
		.connection = connection_row,
	};

	for (size_t i = 0; i < ROWS; i++) {
		identify(&taken, &rows[i]);
		if (rows[i].flow.verdict == NULL)
			rows[i].flow.verdict = "unknown";
		count(&taken, &rows[i].flow);
	}
	page_holds(&flows);
	document_holds(&flows);
}
