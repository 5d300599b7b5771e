#pragma once

#include "strangers.h"

/* Data that may answer clear-to-sends, as messages of NCCL: each ends with an immediate. */
enum {
	FT_NCCL_REPLY_MESSAGES = 80, /* more than a log has room for */
	FT_NCCL_REPLIES_MOST = 16    /* queue pairs that are looked at together */
};

/* The messages that ended on a queue pair, as its log has them. */
struct ft_nccl_reply {
	struct ft_nccl_stranger *stranger;
	unsigned count;
	unsigned unbroken;     /* of them, before the first hole .. */
	bool is_broken;        /* .. if there is one */
	bool is_whole;         /* up to there the log has all messages from number 0 on */
	unsigned right, wrong; /* immediates that are, or are not, the length of what they end */
	uint64_t begun[FT_NCCL_REPLY_MESSAGES]; /* frames of their first packets */
	uint32_t immdts[FT_NCCL_REPLY_MESSAGES];
	uint32_t lengths[FT_NCCL_REPLY_MESSAGES];
	uint8_t requests[FT_NCCL_REPLY_MESSAGES];
	bool has_several; /* requests in one of them */
	unsigned turn;    /* of those that take turns: turn_order.h */
};

bool ft_nccl_is_length(uint32_t immdt, uint64_t length);

/* What the stranger's log has; with `ends_only` without packets in the middle of a write. */
void ft_nccl_reply_read(struct ft_nccl_stranger *stranger, bool ends_only,
			struct ft_nccl_reply *reply);
