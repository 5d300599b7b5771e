#pragma once

#include "account.h"
#include "block.h"
#include "item_fill.h"
#include "worker.h"

/*
 * A block shared out among several workers, each packet to the one that owns its address pair. A worker decodes its own
 * packets, so that they never leave its cache, and leaves for the account what that needs of them: of most a few bytes,
 * of those with something to tell everything.
 */

struct ft_share {
	struct ft_block block;
	struct ft_batch
		batch;    /* of each packet, if it is already decoded or has something to tell */
	uint32_t *places; /* of each packet, in these two: */
	struct ft_parcel *parcels; /* worker by worker, `room` for each; then some that are none */
	struct ft_outcome *outcomes; /* beside parcels[i] */
	unsigned workers, room;
	unsigned counts[FT_ENGINE_WORKERS_MAX]; /* packets of each worker */
};

/* 0 or -ENOMEM. */
int ft_share_init(struct ft_share *share, unsigned workers);
void ft_share_free(struct ft_share *share);

/* Share out what was read into the block. Aborts when memory ends. */
void ft_share_out(struct ft_share *share, const struct ft_decode_config *config, uint64_t seed);

/* Let worker `index` run its part. Several may do so at a time. */
void ft_share_run(struct ft_share *share, struct ft_worker *worker, unsigned index);

/* Each frame is one packet, of the same number: nearly always. */
static inline bool ft_share_is_plain(const struct ft_share *share)
{
	return share->batch.count == share->block.frame_count;
}

/* The frame of packet `number`, and what came of it when its owner is done. */
static inline const struct ft_frame *ft_share_frame(const struct ft_share *share, unsigned number)
{
	return &share->block.frames[share->parcels[share->places[number]].frame];
}

static inline const struct ft_outcome *ft_share_outcome(const struct ft_share *share,
							unsigned number)
{
	return &share->outcomes[share->places[number]];
}
