#pragma once

#include "followed.h"

enum { FT_NCCL_REPLAYS = 16 /* together, at most */ };

/* Logs of queue pairs that turned out to be a connection's: gone through together, in the order of their frames. */
struct ft_nccl_replay {
	struct ft_nccl_stranger *stranger;
	uint32_t from, at; /* in its log: of the first entry, behind the next one */
	bool has;
	struct ft_nccl_logged next;
};

/* From this frame on. False: it has nothing. */
bool ft_nccl_replay_begin(struct ft_nccl_replay *replay, struct ft_nccl_stranger *stranger,
			  uint64_t from);

/* As if their packets came now, each with the frame and time of its first copy; the logs are given back. */
void ft_nccl_replay_all(struct ft_nccl_connections *connections, struct ft_nccl_replay *replays,
			unsigned count);
