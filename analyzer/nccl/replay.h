#pragma once

#include "followed.h"

enum { FT_NCCL_REPLAYS = 16 /* together, at most */ };

/* Logs of queue pairs that turned out to be a connection's: gone through together, in the order of their frames. */
struct ft_nccl_replay {
	struct ft_nccl_stranger *stranger;
	struct ft_nccl_logged next; /* if `has` */
	uint32_t from, at;          /* in its log: of the first entry, behind the next one */
	/* what passed before the first entry, but comes behind it: from here on in the log; packets from there to that entry */
	uint32_t ahead, between;
	uint32_t psn, packets;   /* of the write that begins with that entry */
	uint32_t packets_before; /* it in the log */
	struct ft_nccl_end end;  /* where they go .. */
	bool is_counted;         /* .. if what passed before counts: passed.h */
	bool has;
};

/* From this frame on. False: it has nothing. */
bool ft_nccl_replay_begin(struct ft_nccl_replay *replay, struct ft_nccl_stranger *stranger,
			  uint64_t from);

enum { FT_NCCL_OVERTAKE_MOST = 64 /* packets that one may have overtaken */ };

/*
 * What has overtaken the beginning of the first write comes right behind it: packets of that write that were not far before
 * it. False: the log does not go back so far.
 */
bool ft_nccl_replay_overtaking(struct ft_nccl_replay *replay);

/* As if their packets came now, each with the frame and time of its first copy; the logs are given back. */
void ft_nccl_replay_all(struct ft_nccl_connections *connections, struct ft_nccl_replay *replays,
			unsigned count);
