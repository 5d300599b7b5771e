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

/*
 * What lanes carried of a message: `count` many, from lane `first` on; `all`: those that it uses are among them; `uncounted`:
 * nobody was seen to say how many requests it has.
 */
struct ft_nccl_shares {
	const struct ft_nccl_share *at;
	uint32_t count;
	bool all, uncounted;
	uint32_t first;
};

/* Bytes that the message's requests are told to have got. */
uint64_t ft_nccl_bytes_told(const struct ft_nccl_message *message);

/* One more row, if there is room for it; in either case the bytes that it tells. 0 where no rows are kept at all. */
uint64_t ft_nccl_store_add(struct ft_nccl_store *store, const struct ft_nccl_message *message,
			   const struct ft_nccl_shares *shares);

/* The number of shares that are used. */
uint8_t ft_nccl_shares_used(const struct ft_nccl_share *shares, uint32_t lanes);

/* The shares that are used as parts of the message, so many. */
void ft_nccl_shares_tell(const struct ft_nccl_shares *shares, const struct ft_nccl_message *message,
			 struct ft_nccl_part *parts);
