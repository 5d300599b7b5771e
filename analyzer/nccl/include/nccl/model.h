#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <decode/nccl.h>
#include <decode/nccl_setup.h>

/*
 * What was found out about NCCL: the document fabtap.nccl/1, field by field. Plain data; what is not known has its has_
 * flag unset, or is FT_NCCL_NONE, NULL, or UNKNOWN, never a guess. Keys (rkeys) are secrets: a renderer prints them only
 * when it was asked to.
 */

#define FT_NCCL_NONE UINT32_MAX

/* One end of a connection, or of a TCP connection. */
struct ft_nccl_place {
	uint8_t address[16]; /* as in struct ft_nccl_ends */
	bool by_lid;
};

enum ft_nccl_found_by { FT_NCCL_BY_LENGTHS, FT_NCCL_BY_CTS, FT_NCCL_BY_METADATA };
enum ft_nccl_known { FT_NCCL_UNKNOWN, FT_NCCL_NO, FT_NCCL_YES };
enum ft_nccl_imm_order { FT_NCCL_ORDER_UNKNOWN, FT_NCCL_ORDER_LITTLE, FT_NCCL_ORDER_BIG };
enum ft_nccl_imm_content { FT_NCCL_IMM_UNKNOWN, FT_NCCL_IMM_LENGTH, FT_NCCL_IMM_ID };
enum ft_nccl_protocol {
	FT_NCCL_PROTOCOL_UNKNOWN,
	FT_NCCL_SIMPLE,
	FT_NCCL_LL,
	FT_NCCL_LL128,
};

struct ft_nccl_party {
	uint8_t place_count;
	bool has_rank;
	int32_t rank;
	struct ft_nccl_place places[FT_NCCL_DEVICES_MAX]; /* one per device */
	/* [i] of the sender is paired with [i] of the receiver; FT_NCCL_NONE: not known yet */
	uint32_t qpns[FT_NCCL_QPS_MAX];
	uint8_t qp_device[FT_NCCL_QPS_MAX];
};

/*
 * The network that a packet was seen in, within which alone addresses are unique: FT_NCCL_NET_VNI with its VNI, else its
 * VLAN; 0: not told, as of untagged frames and native InfiniBand.
 */
enum { FT_NCCL_NETS_MAX = 4 };
#define FT_NCCL_NET_VNI (UINT32_C(1) << 31)

/* Memory that the other side writes to: the sender's FIFO, the receiver's array of sizes. */
struct ft_nccl_target {
	bool is_known;
	uint64_t addr;
	uint32_t rkeys[FT_NCCL_DEVICES_MAX];
	uint8_t rkey_count;
	/* of the FIFO; 0: not known, as where no wrap has told 64 slots from 256 */
	uint16_t slots, entries, entry_bytes;
	uint16_t slot_bytes;
};

/* What a connection is ready to do when a port fails, and did: 2.29.7 and later, if it was asked for. */
struct ft_nccl_failover {
	bool probes_named;   /* NCCL_IB_RESILIENCY_PORT_FAILOVER is on */
	bool recovery_named; /* NCCL_IB_RESILIENCY_PORT_RECOVERY, 2.30 */
	/* packets, those sent again by the transport included */
	uint64_t probes, asked, answered, confirmed;
	uint64_t first_frame, last_frame; /* of all these; 0: there was none */
};

/* A NCCL net connection: data goes from sender to receiver, clear-to-sends the other way. */
struct ft_nccl_connection {
	uint32_t connection; /* id, given when it was found; not its place in the report */
	uint8_t qp_count;
	uint8_t devices;        /* from 1; those that were met .. */
	bool lacks_devices;     /* .. but others take clear-to-sends in turn with them */
	uint8_t qps_per_device; /* that were met .. */
	bool lacks_qps;         /* .. but there may be others */
	bool has_tcp;
	bool is_set_up; /* the whole set-up was read: without, slices left its first queue pairs */
	bool has_family;
	enum ft_nccl_family family;
	int32_t version_first, version_last; /* 22403: 2.24.3; 0: not known */
	enum ft_nccl_found_by found_by;
	enum ft_nccl_known split, adaptive;
	enum ft_nccl_imm_order imm_order;
	enum ft_nccl_imm_content imm_content;
	uint64_t cts, messages, payload_bytes;
	/* of `messages`, which counts parts apart that may be of one, so many that are certainly different */
	uint64_t messages_told;
	uint64_t retransmitted_data, retransmitted_cts, missing_packets;
	double certainty; /* of the family, 0..1 */
	uint64_t first_frame;
	uint64_t first_ts_ns; /* FT_TS_UNKNOWN: none */
	struct ft_nccl_target fifo, sizes;
	uint32_t nets[FT_NCCL_NETS_MAX]; /* several: it was seen on both sides of a router */
	uint8_t net_count;
	struct ft_nccl_place connecting, listening;
	uint16_t connecting_port, listening_port;
	uint64_t tcp_frames[2]; /* first, last */
	/* as the set-up names them, of any bytes, merged ones joined by '+'; NULL: it was not read, or is of before 2.20 */
	char *connecting_device, *listening_device;
	uint32_t channel; /* FT_NCCL_NONE */
	struct ft_nccl_failover failover;
	struct ft_nccl_party sender, receiver;
};

/* Thousands are in memory, and are looked through: one cache line where they lie side by side. */
struct ft_nccl_request {
	bool has_tag : 1, has_offered : 1, has_written : 1;
	bool by_data : 1; /* `va` is the lowest that data went to: the clear-to-send does not show it */
	uint8_t rkey_count;
	int32_t tag;
	uint64_t offered, written;         /* bytes */
	uint64_t va;                       /* 0: not known */
	uint32_t rkeys[FT_NCCL_RKEYS_MAX]; /* by device of the receiver */
};
static_assert(sizeof(struct ft_nccl_request) == 64, "a cache line");

struct ft_nccl_part {
	uint32_t qp_index;
	uint32_t packets; /* each once */
	bool has_bytes;   /* not: where its write began was missed, and there were others */
	uint64_t bytes;
};

/* A clear-to-send and the data that answered it, or one of the two. */
struct ft_nccl_message {
	uint32_t connection;
	bool has_k, has_imm;
	bool completed; /* an immediate on every queue pair used, no packet missing */
	uint8_t request_count;
	uint64_t k;                                  /* from 0 */
	uint64_t cts_frame, first_frame, last_frame; /* 0: not seen */
	uint64_t cts_ts_ns, first_ts_ns, last_ts_ns; /* FT_TS_UNKNOWN: without */
	uint64_t packets;
	uint8_t imm[4]; /* as on the wire */
	enum ft_nccl_protocol protocol;
	uint64_t flag; /* LL and LL128: of its lines, the step + 1; 0: not seen */
	const struct ft_nccl_request *requests;
	const struct ft_nccl_part *parts;
	uint8_t part_count;
};

struct ft_nccl_member {
	bool has_rank;
	int32_t rank;
	struct ft_nccl_place places[FT_NCCL_DEVICES_MAX];
	uint32_t tied
		[FT_NCCL_DEVICES_MAX]; /* connections lead from a place to all others of the same number */
	uint8_t place_count;
};

struct ft_nccl_channel {
	uint32_t channel; /* FT_NCCL_NONE: not known */
	const uint32_t *connections;
	size_t connection_count;
	size_t ring_count; /* the first so many are the ring's, in its order; the rest only a tree's. 0: not known */
};

/* Neighbours in a tree, as positions in members: who sends up and who sends down. */
struct ft_nccl_tree_edge {
	uint32_t parent, child;
	const uint32_t *up,
		*down; /* connections: from the child, and back; of each channel one, in the same order */
	uint32_t
		above; /* the edge on from the parent, by its place; FT_NCCL_NONE: the parent is the root */
};

/* All-reduces add up what children send to their parents, and send the result back down. */
struct ft_nccl_tree {
	uint32_t number; /* of NCCL's two, 0 or 1; FT_NCCL_NONE: ranks do not tell */
	uint32_t root;   /* position in members */
	const struct ft_nccl_tree_edge *edges; /* by child: all members but the root */
	size_t edge_count;
	uint32_t channels; /* of this tree */
	/* of hosts that have several processes: one may send up, and another down; by child's host: all but the root's */
	bool of_hosts;
};

/* Members that are so many ranks further on, the first one behind the last: each has connections to the one, on .. */
struct ft_nccl_distance {
	uint32_t ranks;
	uint32_t channels; /* .. the first so many channels */
};

/* Processes that connections tie together, or, where a job has several in each host, also what they do at the same time. */
struct ft_nccl_communicator {
	uint32_t communicator;                /* id */
	const struct ft_nccl_member *members; /* by rank, unknown ranks last */
	size_t member_count;
	const uint32_t *ring; /* positions in members, from 0; NULL: they form none */
	const struct ft_nccl_tree *trees;
	size_t tree_count; /* 0: they form none */
	/* by how far; of each channel the connections are in this order, and by sender; NULL: they are not PAT's */
	const struct ft_nccl_distance *distances;
	size_t distance_count;
	const struct ft_nccl_channel *channels;
	size_t channel_count;
	const uint32_t *connections;
	size_t connection_count;
};

/*
 * An operation that the messages of a communicator make up. What the wire does not show, as the data type or which of
 * two collectives of the same volume it was, is not in it.
 */
struct ft_nccl_collective {
	uint32_t communicator;
	uint64_t sequence;      /* within the communicator, from 0, as seen */
	const char *collective; /* "AllReduce", "SendRecv" ..; NULL: the volumes do not tell */
	const char *algorithm;  /* "RING", "TREE" ..; NULL */
	enum ft_nccl_protocol protocol;
	uint64_t message_bytes; /* the size given to NCCL; 0: the volumes do not tell */
	uint64_t message_bytes_least,
		message_bytes_most; /* what it can be: lines hide the end of their data; 0: as above */
	uint64_t wire_bytes;        /* payload that was written */
	uint64_t messages;
	uint64_t first_frame, last_frame, first_ts_ns, last_ts_ns;
	uint32_t channels; /* 0: not known */
	uint32_t
		ranks; /* that took part, those of which nothing went over the network too; 0: the volumes do not tell */
	bool complete; /* no message of it lacks packets */
};

/* What kind of traffic a queue pair has. */
enum ft_nccl_class {
	FT_NCCL_CLASS_UNKNOWN,
	FT_NCCL_CLASS_NCCL,
	FT_NCCL_CLASS_GIN, /* NCCL's GPU-initiated networking */
	FT_NCCL_CLASS_UCX,
	FT_NCCL_CLASS_GLOO,
	FT_NCCL_CLASS_OPENMPI,
	FT_NCCL_CLASS_NVME,
	FT_NCCL_CLASS_ISER,
	FT_NCCL_CLASS_NFS,
	FT_NCCL_CLASS_SMB,
	FT_NCCL_CLASS_LUSTRE,
	FT_NCCL_CLASS_PERFTEST,
	FT_NCCL_CLASS_PINGPONG, /* libibverbs' examples, ibv_*_pingpong */
	FT_NCCL_CLASS_RDMA_CM,
	FT_NCCL_CLASSES
};

/* "unknown", "nccl", "nvme", "rdma_cm" ..: one for each, static. */
const char *ft_nccl_class_name(enum ft_nccl_class class);

/* The connection was seen in this network, as in its `nets`; 0, that of no VLAN and no overlay: it was seen in no other. */
bool ft_nccl_was_in(const struct ft_nccl_connection *connection, uint32_t net);

enum { FT_NCCL_EVIDENCE_MAX = 24 };

/* Any (address, QPN) that an RDMA packet was sent to. */
struct ft_nccl_queue_pair {
	struct ft_nccl_place place;
	uint32_t qpn;
	uint64_t first_frame, packets;
	enum ft_nccl_class class;
	double confidence;
	const char *evidence[FT_NCCL_EVIDENCE_MAX]; /* "N2", or a few words */
	size_t evidence_count;
	uint32_t connection; /* FT_NCCL_NONE */
};

/* A process as the side channel shows it. */
struct ft_nccl_process {
	struct ft_nccl_place place;
	int32_t release; /* RAS says it: 22707 is 2.27.7; 0: not seen */
	bool has_rank;
	int32_t rank, ranks; /* bootstrap's check-in */
	uint64_t first_frame, last_frame;
	uint64_t dead_frame; /* RAS first tells there that it is dead; 0: it does not */
};

struct ft_nccl_report {
	/* each array in order of first frame */
	const struct ft_nccl_connection *const *connections;
	size_t connection_count;
	const struct ft_nccl_message *messages;
	size_t message_count;
	const struct ft_nccl_communicator *communicators;
	size_t communicator_count;
	const struct ft_nccl_collective *collectives;
	size_t collective_count;
	const struct ft_nccl_queue_pair *queue_pairs;
	size_t queue_pair_count;
	const struct ft_nccl_process *processes;
	size_t process_count;
	uint64_t connections_dropped, messages_dropped, queue_pairs_dropped; /* no room for them */
};
