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

/* What one worker has of it. */
struct ft_share_part {
	unsigned count; /* packets */
	/* that any of them wants: enum ft_account_wants; of FT_ACCOUNT_ITEM the items are kept */
	uint32_t most;
	bool copies; /* there are such */
};

/* That a mirror gave a frame of the block. */
struct ft_share_number {
	uint32_t mirror, sequence; /* as in struct ft_observed */
	uint16_t frame;
};

struct ft_share {
	const struct ft_block *block; /* that was shared out last */
	/* of each packet, if it is already decoded or has something to tell */
	struct ft_batch batch;
	struct ft_parcel *parcels; /* worker by worker, `room` for each; then some that are none */
	struct ft_outcome *outcomes;     /* beside parcels[i] */
	uint32_t *places;                /* in these two, by ft_share_order() .. */
	uint64_t *wanted;                /* .. which has a bit for each packet of the block here */
	struct ft_share_number *numbers; /* in the order of the capture, `numbered` of them */
	unsigned numbered;
	unsigned workers, room;
	struct ft_stretch stretch; /* that its frames are, each one packet; of none: they are not */
	struct ft_share_part parts[FT_ENGINE_WORKERS_MAX];
};

/* 0 or -ENOMEM. */
int ft_share_init(struct ft_share *share, unsigned workers);
void ft_share_free(struct ft_share *share);

/*
 * Share out the frames of a block, which is needed, with their bytes, until another is. Ends the program
 * (engine/no_memory.h) when memory ends.
 */
void ft_share_out(struct ft_share *share, const struct ft_block *block,
		  const struct ft_decode_config *config, uint64_t seed);

/* Let worker `index` run its part. Several may do so at a time. */
void ft_share_run(struct ft_share *share, struct ft_worker *worker, unsigned index);

/* Account for the numbers that mirrors gave its frames. */
void ft_share_see_numbers(const struct ft_share *share, struct ft_account *account);

/* When all have: account for all frames at once, if that may be. False: nothing was done. */
bool ft_share_see(const struct ft_share *share, struct ft_account *account);

/* The most that any packet wants. */
enum ft_account_wants ft_share_most(const struct ft_share *share);

/*
 * Where packets stand, in the order of the capture, in share->places: of those whose outcome wants at least so much.
 * Returns how many.
 */
unsigned ft_share_order(struct ft_share *share, enum ft_account_wants least);

/* The item of the packet at a place, which is FT_ACCOUNT_STRANGE, made once more; good until the block is shared out anew. */
const struct ft_item *ft_share_strange(struct ft_share *share, uint32_t place,
				       const struct ft_engine_config *config);

/* The frame of the packet at a place, what came of it, and its number in the block. */
static inline const struct ft_frame *ft_share_frame(const struct ft_share *share, uint32_t place)
{
	return &share->block->frames[share->parcels[place].frame];
}

static inline const struct ft_outcome *ft_share_outcome(const struct ft_share *share,
							uint32_t place)
{
	return &share->outcomes[place];
}

static inline uint32_t ft_share_number(const struct ft_share *share, uint32_t place)
{
	return share->parcels[place].number;
}
