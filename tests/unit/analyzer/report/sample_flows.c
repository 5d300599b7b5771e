#include "sample_flows.h"

#define NS 1000000000u

static const struct ft_report_flow with_map[] = {
	{
		.flow = 1,
		.src = { .address = "10.0.0.1", .host = "g1", .tenant = "green" },
		.dst = { .address = "10.0.0.2", .host = "g2", .tenant = "green" },
		.dest_qp = 0x2e,
		.has_pkey = true,
		.pkey = 0x8001,
		.has_vlan = true,
		.vlan = 100,
		.transport = "RC",
		.first_ts_ns = 1763714704ull * NS + 1,
		.last_ts_ns = 1763714705ull * NS,
		.packets = 12,
		.bytes = 15300,
		.payload_bytes = 9000,
		.opcodes = { { 0x0a, 9 }, { 0x0c, 2 }, { 0xdf, 1 } },
		.opcode_count = 3,
		.sends = 0,
		.writes = 9,
		.reads = 2,
		.atomics = 0,
		.size_min = 8,
		.size_p50 = 1000,
		.size_max = 4096,
		.retransmitted = 1,
		.reordered = 2,
		.duplicates = 3,
		.fabric_lost = 4,
		.mirror_lost = 5,
		.gaps_open = 6,
		.acks = 7,
		.naks = { [FT_NAK_PSN_SEQUENCE] = 8, [FT_NAK_REMOTE_OPERATION] = 9 },
		.rnr_naks = 10,
		.ce_marked = 11,
		.cnps = 12,
		.psn_first = 16777215,
		.psn_last = 3,
		.mtu = 1024,
		.verdict = "violated",
		.rules = { "pkey.undeclared", "tenant.crossing" },
		.rule_count = 2,
		.connection = 1,
	},
	{
		.flow = 2,
		.src = { .address = "10.0.0.2", .host = "g2", .tenant = "green" },
		.dst = { .address = "10.0.0.1", .host = "g1", .tenant = "green" },
		.dest_qp = 0x12,
		.has_vni = true,
		.vni = 5001,
		.has_pkey = true,
		.pkey = 0x0001,
		.transport = "CNP",
		.first_ts_ns = FT_UNKNOWN,
		.last_ts_ns = FT_UNKNOWN,
		.packets = 2000000,
		.bytes = 120000000,
		.opcodes = { { 0x81, 2000000 } },
		.opcode_count = 1,
		.size_min = FT_UNKNOWN,
		.size_p50 = FT_UNKNOWN,
		.size_max = FT_UNKNOWN,
		.cnps = 2000000,
		.psn_first = 0,
		.psn_last = 0,
		.mtu = FT_UNKNOWN,
		.verdict = "allowed",
		.connection = 1,
	},
	{
		.flow = 3,
		.src = { .address = "fe80::1", .tenant = "evil\033[2J" },
		.dst = { .address = "lid:17" },
		.dest_qp = 0xffffff,
		.first_ts_ns = 1763714704ull * NS,
		.last_ts_ns = 1763714704ull * NS,
		.packets = 1,
		.bytes = 60,
		.size_min = FT_UNKNOWN,
		.size_p50 = FT_UNKNOWN,
		.size_max = FT_UNKNOWN,
		.psn_first = FT_UNKNOWN,
		.psn_last = FT_UNKNOWN,
		.mtu = FT_UNKNOWN,
		.verdict = "unknown",
		.connection = FT_UNKNOWN,
	},
};

static void judged_flow(const void *rows, size_t index, struct ft_report_flow *row)
{
	(void)rows;
	*row = with_map[index];
}

static void plain_flow(const void *rows, size_t index, struct ft_report_flow *row)
{
	judged_flow(rows, index, row);
	row->src.host = row->src.tenant = row->dst.host = row->dst.tenant = NULL;
	row->verdict = NULL;
	row->rule_count = 0;
}

static void connection(const void *rows, size_t index, struct ft_report_connection *row)
{
	(void)rows;
	(void)index;
	*row = (struct ft_report_connection){
		.connection = 1,
		.flows = { 1, 2 },
		.paired_by = "transport",
		.certainty = 0.75,
		.rtt_min_ns = 1500,
		.rtt_p50_ns = 2500,
		.rtt_p99_ns = 90000,
	};
}

struct ft_report_flows sample_flows(const struct ft_report *about, bool judged)
{
	return (struct ft_report_flows){
		.about = about,
		.judged = judged,
		.capacity = 1024,
		.used = 4,
		.evicted = 5,
		.expired = 6,
		.record_bytes = 192,
		.detail_bytes = 448,
		.all_flows = 4,
		.all_connections = 2,
		.flow_count = 3,
		.connection_count = 1,
		.flow = judged ? judged_flow : plain_flow,
		.connection = connection,
	};
}
