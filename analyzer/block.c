#include "block.h"

#include <errno.h>
#include <stdlib.h>

#include <engine/no_memory.h>

#include "item_fill.h"
#include "peaks.h"

int ft_block_read(struct ft_block *block, struct ft_source *source, unsigned most)
{
	int count = ft_source_next(source, block->frames,
				   (int)(most < FT_BLOCK_FRAMES ? most : FT_BLOCK_FRAMES));

	block->frame_count = count > 0 ? (unsigned)count : 0;
	block->in_order = ft_source_in_order(source);
	return count;
}

/* Times all so near the first one that nothing else need be asked: this far before it, and no farther behind it. */
struct near {
	uint64_t from_ns, width_ns;
};

static struct near near_first(uint64_t first_ns, uint64_t step_ns)
{
	const uint64_t half_ns = FT_SILENCE_MIN_NS / 2;
	uint64_t from_ns = first_ns - step_ns < half_ns ? step_ns : first_ns - half_ns;
	uint64_t left_ns = step_ns + FT_PEAK_STEP_NS - from_ns;

	return (struct near){ from_ns, left_ns < 2 * half_ns ? left_ns : 2 * half_ns };
}

static bool are_near(const struct ft_block *block, struct near near)
{
	const struct ft_frame *frames = block->frames, *end = frames + block->frame_count;
	uint32_t input = frames->input, others = 0;

	if (block->in_order)
		return end[-1].ts_ns - near.from_ns < near.width_ns;
	for (; frames < end; frames++)
		others |= (frames->ts_ns - near.from_ns >= near.width_ns) | (frames->input ^ input);
	return others == 0;
}

/* Each soon after the one before it. */
static bool go_on(const struct ft_block *block, uint64_t step_ns)
{
	const struct ft_frame *frames = block->frames;
	uint64_t last_ns = frames->ts_ns;
	bool goes_on = true;

	for (unsigned i = 0; i < block->frame_count; i++) {
		goes_on &= ft_stretch_goes_on(last_ns, frames[i].ts_ns) &
			   (frames[i].ts_ns - step_ns < FT_PEAK_STEP_NS) &
			   (frames[i].input == frames->input);
		last_ns = frames[i].ts_ns;
	}
	return goes_on;
}

struct ft_stretch ft_block_stretch(const struct ft_block *block)
{
	const struct ft_frame *first = block->frames, *last = first + block->frame_count - 1;
	struct ft_stretch stretch = { 0, first->ts_ns, last->ts_ns, first->input };
	uint64_t step_ns = first->ts_ns - first->ts_ns % FT_PEAK_STEP_NS;

	if (step_ns <= FT_TS_UNKNOWN - FT_PEAK_STEP_NS &&
	    (are_near(block, near_first(first->ts_ns, step_ns)) || go_on(block, step_ns)))
		stretch.frames = block->frame_count;
	return stretch;
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
	batch->mirrored |= (batch->items[batch->count - 1].observed.has & FT_OBSERVED_MIRROR) != 0;
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
						     left < room ? left : room, config, seed,
						     &batch->mirrored);

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
	ft_batch_begin(batch);
	add_frames(batch, block->frames, block->frame_count, config, seed);
	if (batch->count == block->frame_count)
		batch->stretch = ft_block_stretch(block);
}
