#pragma once

#include <stddef.h>

#include <nccl/model.h>

#include "ring.h"

/* Messages that are over, kept for the report with what belongs to them; at most `most`, the rest is counted. */
struct ft_nccl_block; /* memory for requests and parts, which do not move */

struct ft_nccl_store {
	uint64_t most;
	struct ft_nccl_message *messages;
	size_t count, room;
	uint64_t dropped;
	struct ft_nccl_block *requests, *parts; /* newest */
};

void ft_nccl_store_free(struct ft_nccl_store *store);

/* `requests` are message->request_count, `shares` `lanes` many. */
void ft_nccl_store_add(struct ft_nccl_store *store, const struct ft_nccl_message *message,
		       const struct ft_nccl_request *requests, const struct ft_nccl_share *shares,
		       uint32_t lanes);

/* The number of shares that are used. */
uint8_t ft_nccl_shares_used(const struct ft_nccl_share *shares, uint32_t lanes);

/* The shares that are used as parts, so many. */
void ft_nccl_shares_tell(const struct ft_nccl_share *shares, uint32_t lanes,
			 struct ft_nccl_part *parts);
