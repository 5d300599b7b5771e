#pragma once

#include <nccl/model.h>

#include "queue_pair.h"

/*
 * What a connection's traffic is of: every candidate has signs, each worth some points; one is told when it has enough,
 * and clearly more than any other. classify_*.c hold the signs, a file for each group of protocols.
 */
enum { FT_NCCL_ENOUGH = 80, FT_NCCL_MARGIN = 20, FT_NCCL_FULL = 100 };

/* A connection, both directions of it as far as they were seen. */
struct ft_nccl_traffic {
	const struct ft_nccl_qp *ends[2];
	unsigned count; /* ends that are known: 1 or 2 */
	uint32_t operations, marks;
	uint16_t noted, service_port;
	uint8_t services;
	uint32_t requests, sends, immediates, small, targets, repeated;
	uint32_t fits[FT_NCCL_HEADS], fails[FT_NCCL_HEADS];
	bool by_nccl; /* NCCL has connections between the hosts, of a release that may have GIN */
};

struct ft_nccl_sign {
	bool (*holds)(const struct ft_nccl_traffic *traffic);
	int points; /* far below 0: rules the candidate out */
	const char *words;
};

struct ft_nccl_candidate {
	enum ft_nccl_class class;
	const struct ft_nccl_sign *signs;
	size_t sign_count;
	/* What the points come to, all signs looked at; NULL: their sum. */
	int (*limit)(const struct ft_nccl_traffic *traffic, int points);
};

enum { FT_NCCL_RULED_OUT = -1000 };

#define FT_NCCL_CANDIDATE(class, signs)                                                            \
	{                                                                                          \
		class, signs, sizeof(signs) / sizeof *(signs), NULL                                \
	}

extern const struct ft_nccl_candidate ft_nccl_candidate_nccl, ft_nccl_candidate_gin,
	ft_nccl_candidate_ucx, ft_nccl_candidate_openmpi, ft_nccl_candidate_gloo,
	ft_nccl_candidate_nvme, ft_nccl_candidate_iser, ft_nccl_candidate_nfs,
	ft_nccl_candidate_smb, ft_nccl_candidate_lustre, ft_nccl_candidate_perftest,
	ft_nccl_candidate_pingpong, ft_nccl_candidate_rdma_cm;

struct ft_nccl_judgement {
	enum ft_nccl_class class;
	double confidence; /* 0..1; 0: unknown, then the evidence is what the likeliest one has */
	const char *evidence[FT_NCCL_EVIDENCE_MAX];
	size_t evidence_count;
};

/* `other`: the other end, or NULL. */
void ft_nccl_traffic_of(struct ft_nccl_traffic *traffic, const struct ft_nccl_qp *qp,
			const struct ft_nccl_qp *other);

void ft_nccl_judge(const struct ft_nccl_traffic *traffic, struct ft_nccl_judgement *judgement);

/* Signs that several candidates share. */
bool ft_nccl_has_sends(const struct ft_nccl_traffic *traffic);
bool ft_nccl_has_immediates(const struct ft_nccl_traffic *traffic);
bool ft_nccl_has_marked_class(const struct ft_nccl_traffic *traffic); /* UCX's traffic class */
bool ft_nccl_is_made_by_cm(const struct ft_nccl_traffic *traffic);
bool ft_nccl_began_at_0(const struct ft_nccl_traffic *traffic); /* both directions */
bool ft_nccl_began_elsewhere(const struct ft_nccl_traffic *traffic);

/* `all` SENDs that could be read have the head, and `least` of them. */
bool ft_nccl_heads_fit(const struct ft_nccl_traffic *traffic, enum ft_nccl_head head,
		       uint32_t least);

/* SENDs to `qp` that consist of one packet have all this size, and there are some. */
bool ft_nccl_sends_have(const struct ft_nccl_qp *qp, uint16_t bytes);
