#pragma once

#include "account.h"
#include "block.h"
#include "worker.h"

/*
 * A block shared out among several workers, each packet to the one that owns its address pair. A worker decodes its own
 * packets, so that they never leave its cache, and leaves for the account what that needs of them: of most a few bytes,
 * of those with something to tell everything.
 */

struct ft_outcome {
	uint32_t from;  /* tenant, FT_NONE: unknown */
	uint32_t wants; /* enum ft_account_wants */
};

/* A packet of the block. */
struct ft_parcel {
	uint16_t frame;
	uint8_t owner;
	bool decoded;   /* already: it is in the batch */
	uint32_t place; /* among those of its owner and in the outcomes */
};

struct ft_share {
	struct ft_block block;
	struct ft_batch
		batch; /* of each packet, if it is already decoded or has something to tell */
	unsigned room; /* of the next three */
	struct ft_parcel *parcels;   /* in the order of the capture, batch.count of them */
	uint32_t *own;               /* their numbers, worker by worker */
	struct ft_outcome *outcomes; /* beside own[i] */
	unsigned workers;
	unsigned first[FT_ENGINE_WORKERS_MAX + 1]; /* of each worker's, in own[] */
};

/* 0 or -ENOMEM. */
int ft_share_init(struct ft_share *share, unsigned workers);
void ft_share_free(struct ft_share *share);

/* Share out what was read into the block. Aborts when memory ends. */
void ft_share_out(struct ft_share *share, const struct ft_decode_config *config, uint64_t seed);

/* Let worker `index` run its part. Several may do so at a time. */
void ft_share_run(struct ft_share *share, struct ft_worker *worker, unsigned index);

/* What came of packet `number`, when its owner is done. */
static inline const struct ft_outcome *ft_share_outcome(const struct ft_share *share,
							unsigned number)
{
	return &share->outcomes[share->parcels[number].place];
}
