#pragma once

#include "strangers.h"

/* Data that may answer clear-to-sends, as messages of NCCL: each ends with an immediate. */
enum { FT_NCCL_REPLY_MESSAGES = 80 }; /* more than a log has room for */

/* The messages that ended on a queue pair, as its log has them. */
struct ft_nccl_reply {
	struct ft_nccl_stranger *stranger;
	unsigned count;
	unsigned right, wrong; /* immediates that are, or are not, the length of what they end */
	uint64_t begun[FT_NCCL_REPLY_MESSAGES]; /* frames of their first packets */
	uint32_t immdts[FT_NCCL_REPLY_MESSAGES];
	uint32_t lengths[FT_NCCL_REPLY_MESSAGES];
	uint8_t requests[FT_NCCL_REPLY_MESSAGES];
	bool has_several; /* requests in one of them */
};

bool ft_nccl_is_length(uint32_t immdt, uint64_t length);

/* What the stranger's log has. */
void ft_nccl_reply_read(struct ft_nccl_stranger *stranger, struct ft_nccl_reply *reply);

/* The log has all messages from number 0 on. */
bool ft_nccl_reply_is_whole(const struct ft_nccl_reply *reply);
