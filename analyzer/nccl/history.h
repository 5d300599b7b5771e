#pragma once

#include "psns.h"

/* What passed of a sequence, whatever it was. */
struct ft_nccl_history {
	struct ft_nccl_psns psns;
	uint64_t missing; /* modulo 2^64 where taking one makes them fewer */
	uint64_t again;   /* packets whose PSN had passed before */
};

/* The next packet. One of before the first moves the beginning back; of another sequence it begins anew. */
void ft_nccl_history_take(struct ft_nccl_history *history, uint32_t psn);

/* Likewise so many in a row. */
void ft_nccl_history_take_run(struct ft_nccl_history *history, uint32_t psn, uint32_t count);

/* What comes from this PSN on is counted elsewhere, and forgotten; what lacks up to there is missing. */
void ft_nccl_history_end(struct ft_nccl_history *history, uint32_t psn);
