#include "block.h"

#include <errno.h>
#include <stdlib.h>

#include "item_fill.h"

int ft_block_init(struct ft_block *block)
{
	block->room = FT_BLOCK_FRAMES;
	block->frame_count = block->item_count = 0;
	block->items = calloc(block->room, sizeof *block->items);
	block->more = calloc(block->room, sizeof *block->more);
	return block->items == NULL || block->more == NULL ? -ENOMEM : 0;
}

void ft_block_free(struct ft_block *block)
{
	free(block->items);
	free(block->more);
}

int ft_block_read(struct ft_block *block, struct ft_source *source, unsigned most)
{
	int count = ft_source_next(source, block->frames,
				   (int)(most < FT_BLOCK_FRAMES ? most : FT_BLOCK_FRAMES));

	block->frame_count = count > 0 ? (unsigned)count : 0;
	block->item_count = 0;
	return count;
}

/* Seldom: sFlow datagrams with many samples. */
__attribute__((noinline)) static void grow(struct ft_block *block)
{
	unsigned room = 2 * block->room;

	block->items = reallocarray(block->items, room, sizeof *block->items);
	block->more = reallocarray(block->more, room, sizeof *block->more);
	if (block->items == NULL || block->more == NULL)
		abort();
	block->room = room;
}

static inline void add_item(struct ft_block *block, const struct ft_frame *frame, unsigned sub,
			    uint64_t seed)
{
	unsigned place = block->item_count++;

	if (place == block->room)
		grow(block);
	ft_item_fill(&block->items[place], frame, &block->packet, sub, seed);
}

/* Seldom: the other packets of an sFlow datagram. */
__attribute__((noinline)) static void add_others(struct ft_block *block,
						 const struct ft_decode_config *config,
						 const struct ft_frame *frame,
						 struct ft_decode_rest *rest, uint64_t seed)
{
	struct ft_decode_input input = ft_decode_input_of(frame);
	bool more = true;

	while (more) {
		more = ft_decode_more(config, &input, &block->packet, rest);
		add_item(block, frame, rest->sub, seed);
	}
}

void ft_block_decode(struct ft_block *block, const struct ft_decode_config *config, uint64_t seed)
{
	const struct ft_frame *end = block->frames + block->frame_count;
	struct ft_decode_rest rest;

	for (const struct ft_frame *frame = block->frames; frame < end; frame++) {
		struct ft_decode_input input = ft_decode_input_of(frame);
		bool more = ft_decode(config, &input, &block->packet, &rest);

		add_item(block, frame, 0, seed);
		if (more)
			add_others(block, config, frame, &rest, seed);
	}
}
