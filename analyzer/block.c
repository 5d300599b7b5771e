#include "block.h"

#include <errno.h>
#include <stdlib.h>

#include <engine/no_memory.h>

#include "item_fill.h"

int ft_block_read(struct ft_block *block, struct ft_source *source, unsigned most)
{
	int count = ft_source_next(source, block->frames,
				   (int)(most < FT_BLOCK_FRAMES ? most : FT_BLOCK_FRAMES));

	block->frame_count = count > 0 ? (unsigned)count : 0;
	return count;
}

int ft_batch_init(struct ft_batch *batch, unsigned room)
{
	batch->room = room;
	batch->count = 0;
	batch->items = calloc(room, sizeof *batch->items);
	batch->more = calloc(room, sizeof *batch->more);
	return batch->items == NULL || batch->more == NULL ? -ENOMEM : 0;
}

void ft_batch_free(struct ft_batch *batch)
{
	free(batch->items);
	free(batch->more);
}

/* Seldom: sFlow datagrams with many samples. */
__attribute__((noinline)) void ft_batch_grow(struct ft_batch *batch)
{
	unsigned room = 2 * batch->room;

	batch->items = reallocarray(batch->items, room, sizeof *batch->items);
	batch->more = reallocarray(batch->more, room, sizeof *batch->more);
	if (batch->items == NULL || batch->more == NULL)
		ft_no_memory();
	batch->room = room;
}

/* Seldom: anything but a usual frame; an sFlow datagram may hold several packets. */
__attribute__((noinline)) static void add_decoded(struct ft_batch *batch,
						  const struct ft_frame *frame,
						  const struct ft_decode_config *config,
						  uint64_t seed)
{
	struct ft_decode_input input = ft_decode_input_of(frame);
	struct ft_packet *packet = &batch->packet;
	struct ft_decode_rest rest;
	bool more = ft_decode(config, &input, packet, &rest);

	ft_item_fill(ft_batch_next(batch), frame, packet, 0, seed);
	while (more) {
		more = ft_decode_more(config, &input, packet, &rest);
		ft_item_fill(ft_batch_next(batch), frame, packet, rest.sub, seed);
	}
}

static void add_frames(struct ft_batch *batch, const struct ft_frame *frame, unsigned count,
		       const struct ft_decode_config *config, uint64_t seed)
{
	const struct ft_frame *end = frame + count;

	while (frame < end) {
		unsigned left = (unsigned)(end - frame), room = batch->room - batch->count;
		unsigned usual = ft_items_fill_usual(batch->items + batch->count, frame,
						     left < room ? left : room, config, seed);

		batch->count += usual;
		frame += usual;
		if (frame < end)
			add_decoded(batch, frame++, config, seed);
	}
}

void ft_batch_add(struct ft_batch *batch, const struct ft_frame *frame,
		  const struct ft_decode_config *config, uint64_t seed)
{
	add_frames(batch, frame, 1, config, seed);
}

void ft_batch_fill(struct ft_batch *batch, const struct ft_block *block,
		   const struct ft_decode_config *config, uint64_t seed)
{
	batch->count = 0;
	batch->framed = batch->strange = 0;
	add_frames(batch, block->frames, block->frame_count, config, seed);
}
