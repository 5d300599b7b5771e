#pragma once

#include <capture/source.h>
#include <decode/decode.h>

#include "item.h"

enum { FT_BLOCK_FRAMES = 512 };

/* Frames read together, and the packets in them: decoded by one thread, then shared out. */
struct ft_block {
	struct ft_frame frames[FT_BLOCK_FRAMES];
	unsigned frame_count;
	struct ft_item *items;
	struct ft_item_more
		*more; /* beside items[i], touched only for items that have something to tell */
	unsigned item_count, room;
	struct ft_packet packet; /* decoding happens in one place, which stays in the cache */
};

/* 0 or -ENOMEM. */
int ft_block_init(struct ft_block *block);
void ft_block_free(struct ft_block *block);

/* The next frames, at most `most`: how many (>= 1), or -ENODATA. Their bytes are the source's. */
int ft_block_read(struct ft_block *block, struct ft_source *source, unsigned most);

/* Fill the items; `seed`: of the engine's tables. Aborts when memory ends. */
void ft_block_decode(struct ft_block *block, const struct ft_decode_config *config, uint64_t seed);
