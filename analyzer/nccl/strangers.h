#pragma once

#include <nccl/model.h>
#include <nccl/seen.h>

#include "packet_log.h"

/*
 * Queue pairs that packets are sent to and that are nobody's: each may turn out to be an end of a connection. A fixed
 * number is remembered, and of few of them packets; whoever was silent longest makes room.
 */
enum {
	FT_NCCL_STRANGERS = 4096,
	FT_NCCL_STRANGER_LOGS = 512,
};

struct ft_nccl_stranger {
	uint8_t src[16], dst[16];
	uint32_t qpn; /* packets go to */
	uint32_t vni;
	uint32_t moment; /* of the last packet, by the table's count */
	uint16_t udp_sport;
	bool used, by_lid;
	bool excluded;           /* does what NCCL never does, or was watched long enough */
	struct ft_nccl_log *log; /* NULL: none */
};

struct ft_nccl_stranger_table {
	struct ft_nccl_stranger *strangers;      /* in buckets; NULL before the first */
	struct ft_nccl_log *free;                /* logs */
	uint64_t logged[FT_NCCL_STRANGERS / 64]; /* bit per stranger: has a log */
	uint64_t some;                           /* bit per word of `logged` that is not 0 */
	uint32_t logs, moments;
	uint64_t seed;
};

void ft_nccl_strangers_free(struct ft_nccl_stranger_table *table);

/* The one that the packet was sent to, made if it is new; NULL: no memory. */
struct ft_nccl_stranger *ft_nccl_stranger_of(struct ft_nccl_stranger_table *table,
					     const struct ft_nccl_seen *seen);

/* Keep a write of it, if there is a log for it. */
void ft_nccl_stranger_keep(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger,
			   const struct ft_nccl_seen *seen);

/* The first one from *at on that has a log, and *at behind it; begin with *at = 0. NULL: none. */
struct ft_nccl_stranger *ft_nccl_stranger_logged(const struct ft_nccl_stranger_table *table,
						 uint32_t *at);

/* Its packets are not needed any more, for it is known what it is. */
void ft_nccl_stranger_exclude(struct ft_nccl_stranger_table *table,
			      struct ft_nccl_stranger *stranger);
void ft_nccl_stranger_forget(struct ft_nccl_stranger_table *table,
			     struct ft_nccl_stranger *stranger);
