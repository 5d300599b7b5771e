#pragma once

#include "queue_pair.h"

/* Between the files queue_pairs*.c. */

enum {
	FT_NCCL_ASKED = 1024, /* REQs remembered, the newest */
	FT_NCCL_MEETINGS = 256,
};

/* A REQ, until the REP that answers it. */
struct ft_nccl_asked {
	struct ft_nccl_ends ends;
	uint32_t id, qpn; /* qpn FT_NCCL_NONE: free */
	uint16_t port;
};

/* Two hosts that talk over perftest's TCP port. */
struct ft_nccl_meeting {
	uint64_t pair; /* ft_nccl_pair_of(); 0: free */
	uint64_t last_ns;
};

struct ft_nccl_slot {
	uint32_t tag, record; /* from 1; 0: free */
};

struct ft_nccl_qps {
	struct ft_nccl_slot *slots;
	struct ft_nccl_qp *records;
	uint64_t *beyond; /* queue pairs that there is no room for: bits by hash */
	uint64_t seed, dropped;
	uint32_t most, used, slot_count;
	uint32_t newest_asked, newest_meeting;
	struct ft_nccl_asked asked[FT_NCCL_ASKED];
	struct ft_nccl_meeting meetings[FT_NCCL_MEETINGS];
};

/* The queue pair or NULL; ft_nccl_qps_of() makes it. */
struct ft_nccl_qp *ft_nccl_qps_find(const struct ft_nccl_qps *qps, const uint8_t address[16],
				    uint32_t name);

static inline uint32_t ft_nccl_name(uint32_t qpn, bool by_lid)
{
	return (qpn & FT_NCCL_QPN) | (by_lid ? (uint32_t)FT_NCCL_NAME_LID : 0);
}

/* Two addresses in either order, as a number that is not 0. */
uint64_t ft_nccl_pair_of(const uint8_t a[16], const uint8_t b[16], uint64_t seed);

/* A MAD that was sent to QP 1. */
void ft_nccl_qps_see_mad(struct ft_nccl_qps *qps, struct ft_nccl_qp *qp,
			 const struct ft_nccl_seen *seen);

/* Whether the two hosts have just talked over perftest's port. */
bool ft_nccl_qps_met(const struct ft_nccl_qps *qps, const struct ft_nccl_seen *seen);

/* Learn from a packet of a connected service. */
void ft_nccl_qp_learn(struct ft_nccl_qp *qp, const struct ft_nccl_seen *seen);
