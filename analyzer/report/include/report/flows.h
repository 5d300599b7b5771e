#pragma once

#include <report/model.h>
#include <report/render.h>

/*
 * The document fabtap.flows/1, field by field: half-connections and how they pair up. There may be
 * millions of rows, so they are not kept but asked for one at a time, in the order in which they are
 * listed. What is unknown is FT_UNKNOWN, NULL or a has_ flag.
 */

enum { FT_FLOW_OPCODES = 26, FT_FLOW_RULES = 40 };

/* By the code of the NAK: docs/formats.md. */
enum ft_flow_nak {
	FT_NAK_PSN_SEQUENCE,
	FT_NAK_INVALID_REQUEST,
	FT_NAK_REMOTE_ACCESS,
	FT_NAK_REMOTE_OPERATION,
	FT_NAK_INVALID_RD_REQUEST,
	FT_FLOW_NAKS
};

struct ft_report_flow_end {
	char address[48];   /* text: "10.0.0.1", "lid:17" */
	uint8_t octets[16]; /* the same: IP or GID; the LID in the last two */
	bool by_lid;
	const char *host, *tenant; /* NULL: none, or no map */
};

struct ft_report_opcode {
	uint8_t opcode;
	uint64_t packets;
};

/* What NCCL's framing says of a half-connection. */
struct ft_report_flow_nccl {
	/* of the queue pair it goes to: "nccl", "ucx" .., "unknown"; NULL: nothing is known */
	const char *class;
	double confidence;   /* 0..1 */
	uint64_t connection; /* in fabtap.nccl/1; FT_UNKNOWN: none */
	const char *role;    /* "data", "cts"; NULL: no connection */
	uint64_t channel;    /* FT_UNKNOWN: not known */
	bool has_rank;
	int32_t rank; /* of who sends it */
};

struct ft_report_flow {
	uint64_t flow; /* from 1, in order of first frame */
	struct ft_report_flow_end src, dst;
	uint32_t dest_qp;
	bool has_pkey, has_vlan, has_vni;
	uint16_t pkey, vlan; /* the P_Key with its membership bit, as first seen */
	uint32_t vni;
	const char *transport;            /* "RC" .. "XRC", "CNP"; NULL: no opcode tells */
	uint64_t first_ts_ns, last_ts_ns; /* FT_UNKNOWN: without a time */
	uint64_t packets, bytes, payload_bytes;
	struct ft_report_opcode opcodes[FT_FLOW_OPCODES]; /* each once, in order of first packet */
	size_t opcode_count;
	uint64_t sends, writes, reads, atomics; /* messages completed */
	uint64_t size_min, size_p50, size_max;  /* of messages; FT_UNKNOWN: none completed */
	uint64_t retransmitted, reordered, duplicates, fabric_lost, mirror_lost, gaps_open;
	uint64_t acks, naks[FT_FLOW_NAKS], rnr_naks, ce_marked, cnps;
	uint64_t psn_first, psn_last, mtu; /* FT_UNKNOWN: not known */
	const char *verdict; /* "allowed", "violated", "unknown"; NULL: there is no map */
	/* names; without a map those of what NCCL's framing shows, if it was followed */
	const char *rules[FT_FLOW_RULES];
	size_t rule_count;
	uint64_t connection; /* FT_UNKNOWN: its other half is not known */
	struct ft_report_flow_nccl nccl;
};

struct ft_report_connection {
	uint64_t connection; /* from 1, in order of its first flow */
	uint64_t flows[2];   /* the earlier one first */
	const char *paired_by;
	double certainty;
	uint64_t rtt_min_ns, rtt_p50_ns, rtt_p99_ns; /* FT_UNKNOWN: not measured */
};

struct ft_report_flows {
	const struct ft_report *about; /* tool, capture and coverage */
	bool judged;                   /* by a map: rows have a verdict and rules */
	bool followed;                 /* NCCL's framing was: rows have `nccl` */

	/* the table: records that fit, are in use, made room, fell silent; bytes of one and of what
	   only this document needs beside it */
	uint64_t capacity, used, evicted, expired, record_bytes, detail_bytes;

	uint64_t all_flows, all_connections; /* before --where and --top */
	size_t flow_count, connection_count; /* listed */
	const void *rows;                    /* handed to the calls below */
	void (*flow)(const void *rows, size_t index, struct ft_report_flow *row);
	void (*connection)(const void *rows, size_t index, struct ft_report_connection *row);
};

/* The document; the same rows give the same bytes. 0 or -errno of the handle. */
int ft_render_flows_json(FILE *out, const struct ft_report_flows *flows);

/* For people: a line for each flow. 0, -ENOMEM or -errno of the handle. */
int ft_render_flows_text(FILE *out, const struct ft_report_flows *flows,
			 const struct ft_render_options *options);
