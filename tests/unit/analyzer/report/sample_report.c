#include "sample_report.h"

#include <partition/declared.h>

static const uint16_t link_types[] = { 247 };

static const struct ft_report_source sources[] = {
	{ .name = "leaf1.pcap",
	  .kind = "file",
	  .format = "pcap",
	  .link_types = link_types,
	  .link_type_count = 1,
	  .frames = 612,
	  .bytes = 123456,
	  .first_ts_ns = 1795250704000000001,
	  .last_ts_ns = 1795250765200000001 },
	{ .name = "leaf2.pcap.zst",
	  .kind = "file",
	  .format = "pcapng",
	  .compression = "zstd",
	  .first_ts_ns = FT_UNKNOWN,
	  .last_ts_ns = FT_UNKNOWN,
	  .odd_records = 2,
	  .complaint = "leaf2.pcap.zst: offset 96: block of 9999 bytes runs past the end" },
};

static const struct ft_report_loss losses[] = { { "erf-lctr", "leaf1.pcap", 7 } };

static const struct ft_report_tenant tenants[] = {
	{ "red", "customer", 2, 400, 100000, 12.5 },
	{ "green", "customer", 1, 200, 20000, -1 },
	{ "storage", "shared", 1, 12, 3456, -1 },
};

static const char *const used[] = { "storage-service" };

static const struct ft_report_pair matrix[] = {
	{ "green", "red", 4, 400, 4, "violated", NULL, 0 },
	{ "green", "green", 196, 19600, 0, "allowed", NULL, 0 },
	{ "red", "red", 300, 90000, 0, "allowed", NULL, 0 },
	{ "red", "storage", 100, 10000, 0, "allowed", used, 1 },
	{ "unknown", "red", 12, 3456, 0, "unknown", NULL, 0 },
};

static const struct ft_report_pkey pkeys[] = { { 0x0001, 2, 400 }, { 0x8001, 600, 120000 } };

static const char *const reasons[] = { "4 frames, the first is frame 17",
				       "decided by site.json:31" };

static const struct ft_report_finding findings[] = {
	{ .id = "a1b2c3d4e5f60718",
	  .rule = "tenant.crossing",
	  .severity = FT_CRITICAL,
	  .violation = true,
	  .certainty = 1,
	  .summary = "g1 (green) reached r1 (red): two tenants without an exception",
	  .first_ts_ns = 1795250704500000000,
	  .last_ts_ns = 1795250705700000000,
	  .packets = 40,
	  .bytes = 4000,
	  .has_ends = true,
	  .src = { "lid:17", "g1", "green", false },
	  .dst = { "lid:23", "r1", "red", false },
	  .has_pkey = true,
	  .pkey = 0x8001,
	  .dest_qps = { 0x1a, 0x1b },
	  .dest_qp_count = 2,
	  .frames = { 17, 18, 40 },
	  .frame_count = 3,
	  .map_file = "maps/site.json",
	  .map_line = 31,
	  .map_path = "/partitions/2",
	  .evidence = reasons,
	  .evidence_count = 2 },
	{ .id = "00ff00ff00ff00ff",
	  .rule = "tenant.unknown-endpoint",
	  .severity = FT_HIGH,
	  .violation = true,
	  .certainty = 1,
	  .summary = "10.0.0.9 sent to evil\033[2Jhost",
	  .first_ts_ns = 1795250704500000000,
	  .last_ts_ns = 1795250704500000000,
	  .packets = 1,
	  .bytes = 90,
	  .has_ends = true,
	  .src = { "10.0.0.9", NULL, NULL, false },
	  .dst = { "10.0.0.1", "evil\033[2Jhost", "red", false },
	  .has_pkey = true,
	  .pkey = 0xffff,
	  .has_vlan = true,
	  .vlan = 100,
	  .has_vni = true,
	  .vni = 5001,
	  .frames = { 2 },
	  .frame_count = 1 },
	{ .id = "1234567890abcdef",
	  .rule = "tenant.cotenancy",
	  .severity = FT_HIGH,
	  .violation = true,
	  .certainty = 1,
	  .summary = "red and green share leaf leaf-1, which the map forbids",
	  .first_ts_ns = FT_UNKNOWN,
	  .last_ts_ns = FT_UNKNOWN,
	  .tenant_a = "red",
	  .tenant_b = "green",
	  .leaf = "leaf-1" },
};

struct ft_report sample_report(void)
{
	return (struct ft_report){
		.version = "0.1.0",
		.build = "by hand",
		.verdict = FT_VIOLATED,
		.because = "3 findings contradict the declared map",
		.sources = sources,
		.source_count = 2,
		.frames = 612,
		.bytes = 123456,
		.first_ts_ns = 1795250704000000001,
		.last_ts_ns = 1795250765200000001,
		.map = { .path = "maps/site.json",
			 .name = "site-7",
			 .format = "tapmap",
			 .sha256 =
				 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
			 .verdict = "warn",
			 .serial = 12,
			 .tenants = 3,
			 .partitions = 4,
			 .segments = 0,
			 .endpoints = 24 },
		.coverage = { .frames_seen = 612,
			      .lost_estimate = FT_UNKNOWN,
			      .lost_low = FT_UNKNOWN,
			      .lost_high = FT_UNKNOWN,
			      .share_seen = -1,
			      .lost_by = losses,
			      .lost_by_count = 1,
			      .truncated = 3,
			      .undecided = 5,
			      .undecodable = 1,
			      .connections = FT_UNKNOWN,
			      .one_sided = FT_UNKNOWN,
			      .could_hide_per_million = -1,
			      .enough = true,
			      .judged = 590,
			      .never_judged = 10,
			      .not_rdma = 7,
			      .undecided_bad_icrc = 2,
			      .undecided_cut = 3 },
		.tenants = tenants,
		.tenant_count = 3,
		.matrix = matrix,
		.pair_count = 5,
		.pkeys = pkeys,
		.pkey_count = 2,
		.findings = findings,
		.finding_count = 3,
		.evidence_path = "evidence.pcapng",
	};
}
