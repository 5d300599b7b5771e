#pragma once

#include <capture/source.h>
#include <decode/decode.h>

#include "item.h"
#include "silences.h"

enum { FT_BLOCK_FRAMES = 1024 };

/* Frames read together. */
struct ft_block {
	_Alignas(64) struct ft_frame frames[FT_BLOCK_FRAMES];
	unsigned frame_count;
	bool in_order; /* they are known to be as ft_source_in_order() says; false: they may be */
};
static_assert(sizeof(struct ft_frame) == 64, "a cache line each: two threads seldom ask for one");

/* The next frames, at most `most`: how many (>= 1), or -ENODATA. Their bytes are the source's. */
int ft_block_read(struct ft_block *block, struct ft_source *source, unsigned most);

/* Its frames, if they are a stretch within a tenth of a second; else of none. */
struct ft_stretch ft_block_stretch(const struct ft_block *block);

/* Packets that are worked on one after the other, in the order of their frames. */
struct ft_batch {
	struct ft_item *items;
	/* beside items[i], touched only for items that have something to tell */
	struct ft_item_more *more;
	unsigned count, room;
	uint64_t framed,
		strange; /* bit i % 64: item i is for NCCL's follower; it is once there is NCCL */
	/* of the frames of a block, if each of them is one packet; else of none */
	struct ft_stretch stretch;
	/* when it was run: packets of which there is more to tell than that they were there, and whether any is a copy */
	unsigned loud;
	bool copies;
	bool mirrored;           /* some of them are FT_OBSERVED_MIRROR */
	struct ft_packet packet; /* decoding happens in one place, which stays in the cache */
};

/* With room for so many packets at first. 0 or -ENOMEM. */
int ft_batch_init(struct ft_batch *batch, unsigned room);
void ft_batch_free(struct ft_batch *batch);

/* Decode a frame and add its packets; `seed`: of the engine's tables. Ends the program (engine/no_memory.h) when memory ends. */
void ft_batch_add(struct ft_batch *batch, const struct ft_frame *frame,
		  const struct ft_decode_config *config, uint64_t seed);

/* The packets of a block's frames, instead of those that were in the batch before. */
void ft_batch_fill(struct ft_batch *batch, const struct ft_block *block,
		   const struct ft_decode_config *config, uint64_t seed);

/* Make room for one more. Ends the program (engine/no_memory.h) when memory ends. */
void ft_batch_grow(struct ft_batch *batch);

/* No packets are in it any more. */
static inline void ft_batch_begin(struct ft_batch *batch)
{
	batch->count = batch->loud = 0;
	batch->framed = batch->strange = 0;
	batch->stretch.frames = 0;
	batch->copies = batch->mirrored = false;
}

/* Add an item that the caller fills, or does without. */
static inline struct ft_item *ft_batch_next(struct ft_batch *batch)
{
	if (batch->count == batch->room)
		ft_batch_grow(batch);
	return &batch->items[batch->count++];
}
