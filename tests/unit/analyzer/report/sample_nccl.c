#include "sample_nccl.h"

#include <capture/frame.h>

#define IPV4(a, b, c, d)                                                                           \
	{                                                                                          \
		.address = { [10] = 0xff, [11] = 0xff, [12] = a, b, c, d }                         \
	}
#define SECOND UINT64_C(1000000000)
#define NOW    (UINT64_C(1795211027) * SECOND)

/* --- the example of the format --- */

static const struct ft_nccl_connection example_connection = {
	.connection = 0,
	.first_frame = 1,
	.sender = { .places = { IPV4(10, 0, 0, 1) },
		    .place_count = 1,
		    .has_rank = true,
		    .rank = 0,
		    .qpns = { 17 } },
	.receiver = { .places = { IPV4(10, 0, 0, 2) }, .place_count = 1, .qpns = { 18 } },
	.qp_count = 1,
	.fifo = { .is_known = true,
		  .addr = 0x7f9c88fcba80,
		  .rkeys = { 0x448 },
		  .rkey_count = 1,
		  .slots = 256,
		  .entries = 8,
		  .entry_bytes = 64,
		  .slot_bytes = 512 },
	.sizes = { .is_known = true, .addr = 0x7f73eb05bb30, .slot_bytes = 160 },
	.has_family = true,
	.family = FT_NCCL_F,
	.certainty = 1,
	.version_first = 23003,
	.version_last = 23007,
	.found_by = FT_NCCL_BY_METADATA,
	.has_tcp = true,
	.connecting = IPV4(10, 0, 0, 1),
	.listening = IPV4(10, 0, 0, 2),
	.connecting_port = 39104,
	.listening_port = 48597,
	.tcp_frames = { 1, 18 },
	.channel = FT_NCCL_NONE,
	.devices = 1,
	.qps_per_device = 1,
	.adaptive = FT_NCCL_NO,
	.imm_order = FT_NCCL_ORDER_BIG,
	.imm_content = FT_NCCL_IMM_LENGTH,
	.cts = 1,
	.messages_told = 1,
	.payload_bytes = 8192,
};

static const struct ft_nccl_request example_request = {
	.has_tag = true,
	.has_offered = true,
	.has_written = true,
	.offered = 8256,
	.written = 8192,
	.va = 0x7f73eac00000,
	.rkeys = { 0xc88d },
	.rkey_count = 1,
};
static const struct ft_nccl_part example_part = { 0, 8, true, 8192 };

static const struct ft_nccl_message example_message = {
	.has_k = true,
	.cts_frame = 21,
	.first_frame = 24,
	.last_frame = 31,
	.cts_ts_ns = NOW,
	.first_ts_ns = NOW + 412345,
	.last_ts_ns = NOW + 500000,
	.packets = 8,
	.has_imm = true,
	.imm = { 0, 0, 0x20, 0 },
	.completed = true,
	.protocol = FT_NCCL_SIMPLE,
	.request_count = 1,
	.part_count = 1,
	.requests = &example_request,
	.parts = &example_part,
};

static const struct ft_nccl_member example_members[] = {
	{ .has_rank = true, .rank = 0, .places = { IPV4(10, 0, 0, 1) }, .place_count = 1 },
	{ .places = { IPV4(10, 0, 0, 2) }, .place_count = 1 },
};
static const uint32_t zero = 0;
static const struct ft_nccl_channel unknown_channel = { FT_NCCL_NONE, &zero, 1, 0 };
static const struct ft_nccl_communicator example_communicator = {
	.members = example_members,
	.member_count = 2,
	.channels = &unknown_channel,
	.channel_count = 1,
	.connections = &zero,
	.connection_count = 1,
};

static const struct ft_nccl_queue_pair example_queue_pairs[] = {
	{ .place = IPV4(10, 0, 0, 2),
	  .qpn = 18,
	  .packets = 8,
	  .class = FT_NCCL_CLASS_NCCL,
	  .confidence = 1,
	  .evidence = { "N1", "N2", "N4" },
	  .evidence_count = 3 },
	{ .place = IPV4(10, 0, 0, 1),
	  .qpn = 17,
	  .packets = 3,
	  .class = FT_NCCL_CLASS_NCCL,
	  .confidence = 1,
	  .evidence = { "N1", "N2" },
	  .evidence_count = 2 },
};

const struct ft_nccl_report *sample_nccl_example(void)
{
	static const struct ft_nccl_connection *const connections[] = { &example_connection };
	static const struct ft_nccl_report report = {
		.connections = connections,
		.connection_count = 1,
		.messages = &example_message,
		.message_count = 1,
		.communicators = &example_communicator,
		.communicator_count = 1,
		.queue_pairs = example_queue_pairs,
		.queue_pair_count = 2,
	};

	return &report;
}

/* --- a job --- */

#define RANK(number, last)                                                                         \
	{                                                                                          \
		.places = { IPV4(10, 0, 0, last) }, .place_count = 1, .has_rank = true,            \
		.rank = number, .qpns = {                                                          \
			0x20 + (number)                                                            \
		}                                                                                  \
	}

static const struct ft_nccl_connection ring_connections[] = {
	{ .connection = 3,
	  .first_frame = 12,
	  .sender = RANK(0, 1),
	  .receiver = RANK(1, 2),
	  .qp_count = 1,
	  .has_family = true,
	  .family = FT_NCCL_C,
	  .certainty = 0.75,
	  .version_first = 21904,
	  .version_last = 21904,
	  .found_by = FT_NCCL_BY_CTS,
	  .channel = 0,
	  .devices = 1,
	  .qps_per_device = 1,
	  .imm_order = FT_NCCL_ORDER_LITTLE,
	  .imm_content = FT_NCCL_IMM_ID,
	  .cts = 4,
	  .messages_told = 3,
	  .payload_bytes = 3145728,
	  .retransmitted_data = 5,
	  .retransmitted_cts = 1,
	  .missing_packets = 7,
	  .failover = { .probes_named = true,
			.recovery_named = true,
			.probes = 2,
			.asked = 10,
			.answered = 1,
			.first_frame = 70,
			.last_frame = 90 } },
	{ .connection = 5,
	  .first_frame = 40,
	  .sender = { .places = { IPV4(10, 0, 0, 2), IPV4(10, 0, 1, 2) },
		      .place_count = 2,
		      .has_rank = true,
		      .rank = 1,
		      .qpns = { 0x101, 0x102, 0x103, 0x104 },
		      .qp_device = { 0, 1, 0, 1 } },
	  .receiver = { .places = { { .address = { [14] = 0x01, [15] = 0x11 }, .by_lid = true },
				    { .address = { 0xfe, 0x80, [15] = 3 } } },
			.place_count = 2,
			.qpns = { 0x201, 0x202, 0x203, 0x204 },
			.qp_device = { 0, 1, 0, 1 } },
	  .qp_count = 4,
	  .sizes = { .is_known = true, .addr = 0x1000, .rkeys = { 0xabc, 0xdef }, .rkey_count = 2 },
	  .found_by = FT_NCCL_BY_LENGTHS,
	  .channel = FT_NCCL_NONE,
	  .devices = 2,
	  .qps_per_device = 2,
	  .split = FT_NCCL_YES,
	  .adaptive = FT_NCCL_YES },
};

static const struct ft_nccl_request job_requests[] = {
	{ .has_tag = true,
	  .has_offered = true,
	  .tag = -1,
	  .offered = 1048576,
	  .va = 0x7f0000530000,
	  .rkeys = { 0x11, 0x22 },
	  .rkey_count = 4 },
	{ .has_written = true, .written = 65536, .va = 0 },
	{ .has_tag = true,
	  .has_offered = true,
	  .has_written = true,
	  .tag = 0,
	  .offered = 65536,
	  .written = 1008,
	  .va = 0x7f0000010000 },
};
static const struct ft_nccl_part job_parts[] = { { 0, 40, true, 40960 }, { 1, 24, true, 24576 } };

static const struct ft_nccl_message job_messages[] = {
	{ .connection = 3,
	  .has_k = true,
	  .k = 99,
	  .cts_frame = 13,
	  .cts_ts_ns = NOW,
	  .first_ts_ns = FT_TS_UNKNOWN,
	  .last_ts_ns = FT_TS_UNKNOWN,
	  .request_count = 1,
	  .requests = &job_requests[0] },
	{ .connection = 5,
	  .first_frame = 41,
	  .last_frame = 77,
	  .cts_ts_ns = FT_TS_UNKNOWN,
	  .first_ts_ns = NOW,
	  .last_ts_ns = NOW,
	  .packets = 64,
	  .request_count = 1,
	  .part_count = 2,
	  .requests = &job_requests[1],
	  .parts = job_parts },
	{ .connection = 3,
	  .has_k = true,
	  .k = 100,
	  .cts_frame = 80,
	  .first_frame = 79,
	  .last_frame = 79,
	  .cts_ts_ns = NOW + 250,
	  .first_ts_ns = NOW,
	  .last_ts_ns = NOW,
	  .packets = 1,
	  .has_imm = true,
	  .imm = { 0xf0, 0x03, 0, 0 },
	  .completed = true,
	  .protocol = FT_NCCL_LL,
	  .flag = 101,
	  .request_count = 1,
	  .requests = &job_requests[2] },
};

static const struct ft_nccl_member job_members[] = {
	{ .has_rank = true, .rank = 0, .places = { IPV4(10, 0, 0, 1) }, .place_count = 1 },
	{ .has_rank = true,
	  .rank = 1,
	  .places = { IPV4(10, 0, 0, 2), IPV4(10, 0, 1, 2) },
	  .place_count = 2 },
	{ .places = { { .address = { [14] = 0x01, [15] = 0x11 }, .by_lid = true } },
	  .place_count = 1 },
};
static const uint32_t job_ring[] = { 0, 1, 2 };
static const uint32_t job_ids[] = { 3, 5 };
static const struct ft_nccl_channel job_channels[] = { { 0, &job_ids[0], 1, 1 },
						       { 1, &job_ids[1], 1, 1 } };
static const struct ft_nccl_tree_edge job_edges[] = {
	{ .parent = 1, .child = 0, .up = &job_ids[0], .down = &job_ids[1], .above = FT_NCCL_NONE },
	{ .parent = 0, .child = 2, .up = &job_ids[1], .down = &job_ids[0] },
};
static const struct ft_nccl_tree job_tree = {
	.number = 1, .root = 1, .edges = job_edges, .edge_count = 2, .channels = 1
};
static const struct ft_nccl_distance job_distances[] = { { 1, 2 }, { 2, 2 } };
static const struct ft_nccl_communicator job_communicator = {
	.communicator = 2,
	.members = job_members,
	.member_count = 3,
	.ring = job_ring,
	.trees = &job_tree,
	.tree_count = 1,
	.distances = job_distances,
	.distance_count = 2,
	.channels = job_channels,
	.channel_count = 2,
	.connections = job_ids,
	.connection_count = 2,
};

static const struct ft_nccl_collective job_collectives[] = {
	{ .communicator = 2,
	  .sequence = 0,
	  .collective = "AllReduce",
	  .algorithm = "RING",
	  .protocol = FT_NCCL_LL128,
	  .message_bytes_least = 299991000,
	  .message_bytes_most = 300000000,
	  .wire_bytes = 1200000000,
	  .messages = 24,
	  .first_frame = 12,
	  .last_frame = 70,
	  .first_ts_ns = NOW,
	  .last_ts_ns = NOW + 100000000,
	  .channels = 2,
	  .ranks = 3,
	  .complete = true },
	{ .communicator = 2,
	  .sequence = 1,
	  .wire_bytes = 4096,
	  .messages = 1,
	  .first_frame = 71,
	  .last_frame = 71,
	  .first_ts_ns = FT_TS_UNKNOWN,
	  .last_ts_ns = FT_TS_UNKNOWN },
	{ .communicator = 2,
	  .sequence = 2,
	  .collective = "AllReduce",
	  .algorithm = "RING",
	  .protocol = FT_NCCL_SIMPLE,
	  .message_bytes = 3000,
	  .message_bytes_least = 3000,
	  .message_bytes_most = 3000,
	  .wire_bytes = 12000,
	  .messages = 12,
	  .first_frame = 72,
	  .last_frame = 79,
	  .first_ts_ns = NOW + SECOND,
	  .last_ts_ns = NOW + SECOND + 2000,
	  .channels = 1,
	  .ranks = 3,
	  .complete = true },
};

static const struct ft_nccl_queue_pair job_queue_pairs[] = {
	{ .place = IPV4(10, 0, 0, 2),
	  .qpn = 0x21,
	  .packets = 1000,
	  .class = FT_NCCL_CLASS_NCCL,
	  .confidence = 0.9,
	  .evidence = { "N2", "N4" },
	  .evidence_count = 2,
	  .connection = 3 },
	{ .place = IPV4(10, 0, 0, 1),
	  .qpn = 0x20,
	  .packets = 200,
	  .class = FT_NCCL_CLASS_NCCL,
	  .confidence = 0.8,
	  .evidence = { "N2", "N9" },
	  .evidence_count = 2,
	  .connection = 3 },
	{ .place = IPV4(10, 0, 0, 9),
	  .qpn = 1,
	  .packets = 4,
	  .confidence = 0,
	  .connection = FT_NCCL_NONE },
	{ .place = IPV4(10, 0, 0, 9),
	  .qpn = 0x33,
	  .packets = 50,
	  .class = FT_NCCL_CLASS_NVME,
	  .confidence = 0.95,
	  .evidence = { "CM service port 4420" },
	  .evidence_count = 1,
	  .connection = FT_NCCL_NONE },
};

static const struct ft_nccl_process job_processes[] = {
	{ .place = IPV4(10, 0, 0, 1),
	  .release = 22707,
	  .has_rank = true,
	  .rank = 0,
	  .ranks = 3,
	  .first_frame = 1,
	  .last_frame = 90 },
	{ .place = IPV4(10, 0, 0, 2), .first_frame = 2, .last_frame = 2, .dead_frame = 55 },
};

const struct ft_nccl_report *sample_nccl_job(void)
{
	static const struct ft_nccl_connection *const connections[] = { &ring_connections[0],
									&ring_connections[1] };
	static const struct ft_nccl_report report = {
		.connections = connections,
		.connection_count = 2,
		.messages = job_messages,
		.message_count = 3,
		.communicators = &job_communicator,
		.communicator_count = 1,
		.collectives = job_collectives,
		.collective_count = 3,
		.queue_pairs = job_queue_pairs,
		.queue_pair_count = 4,
		.processes = job_processes,
		.process_count = 2,
		.messages_dropped = 11,
		.queue_pairs_dropped = 1,
	};

	return &report;
}

const struct ft_nccl_report *sample_nccl_nothing(void)
{
	static const struct ft_nccl_report report = { 0 };

	return &report;
}
