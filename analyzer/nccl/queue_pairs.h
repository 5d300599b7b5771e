#pragma once

#include <nccl/model.h>
#include <nccl/seen.h>

/*
 * Every (address, QPN) that RDMA packets are sent to, and what its traffic looks like: which library or protocol it is
 * of, with the evidence. NCCL is one candidate among others. Memory is reserved once; queue pairs beyond it are counted.
 * Overlays are not told apart.
 */
struct ft_nccl_qps;

/* What the followers of NCCL found out about a queue pair: bits, named as in docs/nccl.md. */
enum ft_nccl_evidence {
	FT_NCCL_N1,  /* metadata over TCP names it */
	FT_NCCL_N2,  /* clear-to-sends with agreeing addresses and numbers */
	FT_NCCL_N3,  /* an immediate write whose RETH is all zero */
	FT_NCCL_N4,  /* data went to where a clear-to-send of the other direction said */
	FT_NCCL_N5,  /* writes of one size on a grid that wraps like a FIFO */
	FT_NCCL_N6,  /* the immediate is the sum of the lengths, of three sizes or more */
	FT_NCCL_N7,  /* data on the slots of NCCL's buffers */
	FT_NCCL_N8,  /* one write shaped like a clear-to-send per message, before it */
	FT_NCCL_N9,  /* both directions began at PSN 0, without CM */
	FT_NCCL_N10, /* LL or LL128 flags */
	FT_NCCL_N11, /* no SEND, plain traffic class */
	FT_NCCL_N12, /* RNR NAK with NCCL's timer */
	FT_NCCL_N13, /* small immediate writes on a grid of 32 or 160 bytes behind others */
	FT_NCCL_EVIDENCES
};

struct ft_nccl_qp; /* stays where it is */

/* 0 or -ENOMEM; `most` 0: nothing is kept, and all calls answer NULL or nothing. */
int ft_nccl_qps_create(struct ft_nccl_qps **qps, uint32_t most, uint64_t seed);
void ft_nccl_qps_destroy(struct ft_nccl_qps *qps); /* NULL is fine */

/* Learn from a packet: the queue pair it was sent to. NULL: no room. CM messages teach about those they name. */
struct ft_nccl_qp *ft_nccl_qps_see(struct ft_nccl_qps *qps, const struct ft_nccl_seen *seen);

/* The queue pair `qpn` at `place`, made if new: for those that metadata names; NULL: no room. */
struct ft_nccl_qp *ft_nccl_qps_of(struct ft_nccl_qps *qps, const struct ft_nccl_place *place,
				  uint32_t qpn);

/* Evidence about it, and the connection it belongs to; NULL is fine. */
void ft_nccl_qp_note(struct ft_nccl_qp *qp, enum ft_nccl_evidence evidence);
void ft_nccl_qp_join(struct ft_nccl_qp *qp, uint32_t connection);

/* Its connection's release has no traffic that GPUs start: nothing beside it is GIN. NULL is fine. */
void ft_nccl_qp_rule_out_gin(struct ft_nccl_qp *qp);

/* It belongs to none after all, and this evidence (bits) was none; NULL is fine. */
void ft_nccl_qp_leave(struct ft_nccl_qp *qp, uint16_t evidence);

/* TCP connections tell of what comes later between two hosts: perftest's exchange, and its port. */
void ft_nccl_qps_see_tcp(struct ft_nccl_qps *qps, const struct ft_nccl_segment *segment);

/* All of them with class, in order of first frame. The array is malloc'd, for the caller to free; NULL: out of memory. */
struct ft_nccl_queue_pair *ft_nccl_qps_report(const struct ft_nccl_qps *qps, size_t *count);
uint64_t ft_nccl_qps_dropped(const struct ft_nccl_qps *qps);
