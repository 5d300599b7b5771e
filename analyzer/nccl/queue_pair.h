#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <decode/opcode.h>

#include "queue_pairs.h"
#include "send_heads.h"

/* What is kept of one queue pair: about what was sent to it. Learnt by queue_pairs*.c, judged by classify*.c. */

enum ft_nccl_mark {
	FT_NCCL_MARK_EMPTY_IMMEDIATE = 1u << 0, /* WRITE Only with immediate, RETH all zero */
	FT_NCCL_MARK_EMPTY_WRITE = 1u << 1,     /* the same without immediate */
	FT_NCCL_MARK_LONG_READ = 1u << 2,       /* READ of other than 1 or 128 bytes */
	FT_NCCL_MARK_RNR_NCCL = 1u << 3,        /* RNR NAKs, by their timer */
	FT_NCCL_MARK_RNR_UCX = 1u << 4,
	FT_NCCL_MARK_RNR_GLOO = 1u << 5,
	FT_NCCL_MARK_CM = 1u << 6,       /* a REQ or REP names it */
	FT_NCCL_MARK_CM_MADS = 1u << 7,  /* it is QP 1 and gets CM's messages */
	FT_NCCL_MARK_EXCHANGE = 1u << 8, /* perftest's exchange names it */
	FT_NCCL_MARK_QKEY_UCX = 1u << 9,
	FT_NCCL_MARK_QKEY_CM = 1u << 10,
	FT_NCCL_MARK_MPI_TAG = 1u << 11, /* UCX messages with tags as Open MPI makes them */
	FT_NCCL_MARK_MET = 1u << 13,     /* its hosts talked over perftest's TCP port just before */
	FT_NCCL_MARK_NO_GIN =
		1u << 14, /* of a connection of a release that GPUs do not start traffic of */
	FT_NCCL_MARK_PINGPONG = 1u << 15, /* the exchange of libibverbs' examples names it */
	FT_NCCL_MARK_SMB2 = 1u << 12,     /* the magic of SMB2 behind SMB Direct's header */
};

enum { FT_NCCL_SIZES = 4 };

/* A size with this bit: of the last packet of a SEND that has several. */
enum { FT_NCCL_SIZE_LAST = 1 << 15 };

struct ft_nccl_qp {
	_Alignas(64) uint8_t address[16];
	uint32_t name; /* QPN, 24-bit; FT_NCCL_NAME_LID: the address holds a LID */
	uint32_t connection;
	uint8_t peer[16]; /* who sent the first packet to it */
	uint64_t first_frame, packets;
	uint64_t first_ns, last_ns;
	uint32_t operations;              /* of connected services: bit 1 << low five opcode bits */
	uint32_t marks;                   /* enum ft_nccl_mark */
	uint32_t first_psn, last_psn;     /* of requests; FT_NCCL_NONE: none came */
	uint32_t first_answer, answer;    /* PSN of the first and last response or ACK */
	uint32_t peer_qpn;                /* by CM or DETH; FT_NCCL_NONE: not known */
	uint32_t length;                  /* of the last RETH */
	uint64_t va;                      /* of the last RETH or AtomicETH */
	uint32_t targets;                 /* RETHs; .. */
	uint32_t repeated;                /* .. with the VA and length of the one before */
	uint32_t requests;                /* messages that were begun; .. */
	uint32_t sends;                   /* .. of these */
	uint32_t immediates, small;       /* of writes; LE number below 256 that is no length */
	uint16_t noted;                   /* bit 1 << enum ft_nccl_evidence */
	uint16_t udp_sport, service_port; /* of CM's REQ; 0: none */
	uint16_t mtu;                     /* payload of the last First packet */
	struct {
		uint16_t bytes, times;
	} sizes[FT_NCCL_SIZES];                            /* of SENDs; times 0: free */
	uint8_t fits[FT_NCCL_HEADS], fails[FT_NCCL_HEADS]; /* first bytes of SENDs; stop at 255 */
	uint8_t more_sizes;    /* SENDs whose size had no room; up to 255 */
	uint8_t services;      /* bit 1 << enum ft_service */
	uint8_t traffic_class; /* of the first packet */
};
static_assert(sizeof(struct ft_nccl_qp) == 192, "three cache lines");

enum { FT_NCCL_NAME_LID = 1u << 31, FT_NCCL_QPN = 0xffffff };

/* Operations, as in `operations`. */
enum {
	FT_NCCL_SENDS = 0x00c0003f, /* with Invalidate, too */
	FT_NCCL_SENDS_IMMEDIATE = 0x00000028,
	FT_NCCL_WRITES_PLAIN = 0x00000540, /* First, Last and Only without immediate */
	FT_NCCL_WRITES_ENDED_PLAIN = 0x00000500,
	FT_NCCL_WRITES_IMMEDIATE = 0x00000a00,
	FT_NCCL_WRITES_CONTINUED = 0x00000080,
	FT_NCCL_READS = 0x00001000,
	FT_NCCL_ANSWERS = 0x0007e000, /* READ responses, ACKs, atomic ACKs */
	FT_NCCL_COMPARES = 0x00080000,
	FT_NCCL_ADDS = 0x00100000,
	FT_NCCL_REQUESTS = 0x00f81fff,
};

/* What services keep `operations`. */
enum { FT_NCCL_CONNECTED = 1u << FT_RC | 1u << FT_UC | 1u << FT_XRC };
