#include "pcapng.h"

#include "byte_order.h"

#include <errno.h>
#include <stdlib.h>

enum {
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	STATISTICS_MIN = 24,
	STATISTICS_MAX = 4096,
	BLOCK_FRAME = 12,   /* type and length before, length again after */
	SECTION_START = 12, /* up to the byte-order magic */

	INTERFACES_MAX = 65536, /* remembered per section; frames of later ones are dropped */
};

/* Smallest total lengths of the blocks that are looked into. */
enum { SECTION_MIN = 28, INTERFACE_MIN = 20 };

static bool recognises(struct ft_input *input)
{
	struct ft_stream *stream = &input->stream;
	const uint8_t *b;

	if (!ft_stream_need(stream, 4) || ft_le32(stream->at) != FT_BLOCK_SECTION)
		return false;
	if (!ft_stream_need(stream, SECTION_START))
		return false;
	b = stream->at + 8;
	return ft_le32(b) == BYTE_ORDER_MAGIC || ft_be32(b) == BYTE_ORDER_MAGIC;
}

static int open_reader(struct ft_input *input)
{
	input->reader = calloc(1, sizeof(struct ft_pcapng));
	if (input->reader == NULL) {
		ft_input_refuse(input, "no memory");
		return -ENOMEM;
	}
	return 0;
}

static bool must_be_whole(uint32_t type)
{
	return type == FT_BLOCK_SECTION || type == FT_BLOCK_INTERFACE || type == FT_BLOCK_PACKET ||
	       type == FT_BLOCK_SIMPLE || type == FT_BLOCK_ENHANCED;
}

/* What a counter that makes no sense is taken for: more frames than pass anywhere, and sums of it have room. */
#define DROPPED_MOST (UINT64_C(1) << 48)

/* Of a size that statistics can have; others are stepped over. */
static bool is_statistics(const struct ft_pcapng_block *block)
{
	return block->type == FT_BLOCK_STATISTICS && block->length >= STATISTICS_MIN &&
	       block->length <= STATISTICS_MAX;
}

/* A section header sets the byte order of its own length, too. */
static bool set_byte_order(struct ft_input *input, struct ft_pcapng *pcapng, const uint8_t *b)
{
	if (ft_le32(b + 8) != BYTE_ORDER_MAGIC && ft_be32(b + 8) != BYTE_ORDER_MAGIC)
		return ft_input_damaged(input, ft_input_offset_of(input, b),
					"a section header has no byte-order magic");
	pcapng->big = ft_be32(b + 8) == BYTE_ORDER_MAGIC;
	return true;
}

static bool length_possible(struct ft_input *input, const struct ft_pcapng_block *block)
{
	if (block->length < BLOCK_FRAME || block->length % 4 != 0)
		return ft_input_damaged(input, ft_input_offset_of(input, block->bytes),
					"block length %u is not a multiple of 4 from %d on",
					block->length, BLOCK_FRAME);
	if (must_be_whole(block->type) && block->length > FT_BLOCK_MAX)
		return ft_input_damaged(input, ft_input_offset_of(input, block->bytes),
					"block length %u is more than %d", block->length,
					FT_BLOCK_MAX);
	return true;
}

static bool lengths_differ(struct ft_input *input, uint64_t offset, uint32_t first, uint32_t second)
{
	return ft_input_damaged(input, offset, "block length %u before the block, %u after it",
				first, second);
}

/* Step over a block that means nothing to us, however long it is. */
static bool skip_block(struct ft_input *input, const struct ft_pcapng *pcapng, uint32_t length)
{
	struct ft_stream *stream = &input->stream;
	uint64_t offset = ft_stream_offset(stream);
	uint32_t again;

	if (!ft_stream_skip(stream, length - 4) || !ft_stream_need(stream, 4)) {
		if (stream->fault[0] != '\0')
			return ft_input_damaged(input, offset, "%s", stream->fault);
		return ft_input_damaged(
			input, offset,
			"a block is %u bytes long, but the rest of the file only %llu", length,
			(unsigned long long)(ft_stream_offset(stream) - offset +
					     ft_stream_left(stream)));
	}
	again = ft_u32(stream->at, pcapng->big);
	if (again != length)
		return lengths_differ(input, offset, length, again);
	stream->at += 4;
	return true;
}

/* Wait until the next block that may hold a frame is whole in the window; false at the end. */
static bool need_block(struct ft_input *input, struct ft_pcapng *pcapng)
{
	struct ft_stream *stream = &input->stream;

	for (;;) {
		struct ft_pcapng_block block;

		if (!ft_input_need(input, 8, "a block header", true))
			return false;
		block = (struct ft_pcapng_block){ stream->at, ft_u32(stream->at, pcapng->big), 0 };
		if (block.type == FT_BLOCK_SECTION) {
			if (!ft_input_need(input, SECTION_START, "a section header", false) ||
			    !set_byte_order(input, pcapng, stream->at))
				return false;
			block.bytes = stream->at;
		}
		block.length = ft_u32(stream->at + 4, pcapng->big);
		if (!length_possible(input, &block))
			return false;
		if (must_be_whole(block.type) || is_statistics(&block) ||
		    block.length <= ft_stream_left(stream))
			return ft_input_need(input, block.length, "a block", false);
		if (!skip_block(input, pcapng, block.length))
			return false;
	}
}

static enum ft_taken start_section(struct ft_input *input, struct ft_pcapng *pcapng,
				   const struct ft_pcapng_block *block)
{
	uint16_t major = block->length >= SECTION_MIN ? ft_u16(block->bytes + 12, pcapng->big) : 0;

	if (major != 1) {
		ft_input_damaged(input, ft_input_offset_of(input, block->bytes),
				 "a section of pcapng version %u, not 1", major);
		return FT_DAMAGE;
	}
	pcapng->section++;
	pcapng->interface_count = 0;
	return FT_NOTHING;
}

static struct ft_interface *new_interface(struct ft_pcapng *pcapng)
{
	uint32_t capacity = pcapng->capacity == 0 ? 8 : pcapng->capacity * 2;
	struct ft_interface *larger;

	if (pcapng->interface_count < pcapng->capacity)
		return &pcapng->interfaces[pcapng->interface_count++];
	if (capacity > INTERFACES_MAX)
		return NULL;
	larger = reallocarray(pcapng->interfaces, capacity, sizeof *larger);
	if (larger == NULL)
		return NULL;
	pcapng->interfaces = larger;
	pcapng->capacity = capacity;
	return &pcapng->interfaces[pcapng->interface_count++];
}

static enum ft_taken add_interface(struct ft_input *input, struct ft_pcapng *pcapng,
				   const struct ft_pcapng_block *block)
{
	struct ft_interface *interface;

	if (block->length < INTERFACE_MIN) {
		ft_input_damaged(input, ft_input_offset_of(input, block->bytes),
				 "an interface description of %u bytes", block->length);
		return FT_DAMAGE;
	}
	interface = new_interface(pcapng);
	if (interface == NULL)
		return FT_NOTHING;
	*interface = ft_interface_read(block->bytes + 8, block->length - BLOCK_FRAME, pcapng->big);
	input->known.odd_records += interface->odd;
	input->known.losses_unknown |= interface->losses_unknown;
	return FT_NOTHING;
}

/* A counter that came down began anew: what it said before was dropped as well. */
static uint64_t dropped_since(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

/* The counters of an interface run on: its newest ones replace those before. */
static void take_statistics(struct ft_input *input, struct ft_pcapng *pcapng,
			    const struct ft_pcapng_block *block)
{
	uint32_t number = ft_u32(block->bytes + 8, pcapng->big);
	struct ft_pcapng_options options = { block->bytes + 20, block->length - STATISTICS_MIN,
					     pcapng->big, false };
	struct ft_interface *interface;
	uint64_t dropped;

	input->known.losses_unknown |= ft_interface_losses_unknown(options);
	if (number >= pcapng->interface_count || !ft_interface_dropped(options, &dropped))
		return;
	interface = &pcapng->interfaces[number];
	if (dropped > DROPPED_MOST)
		dropped = DROPPED_MOST;
	input->known.dropped += dropped_since(interface->dropped, dropped);
	if (input->known.dropped > DROPPED_MOST)
		input->known.dropped = DROPPED_MOST;
	interface->dropped = dropped;
}

static enum ft_taken take_block(struct ft_input *input, struct ft_pcapng *pcapng,
				const struct ft_pcapng_block *block, struct ft_frame *frame)
{
	if (block->type == FT_BLOCK_ENHANCED || block->type == FT_BLOCK_PACKET)
		return ft_pcapng_packet(input, pcapng, block, frame);
	switch (block->type) {
	case FT_BLOCK_SIMPLE:
		return ft_pcapng_simple(input, pcapng, block, frame);
	case FT_BLOCK_INTERFACE:
		return add_interface(input, pcapng, block);
	case FT_BLOCK_SECTION:
		return start_section(input, pcapng, block);
	case FT_BLOCK_STATISTICS:
		if (is_statistics(block))
			take_statistics(input, pcapng, block);
	}
	return FT_NOTHING;
}

/* The block at stream->at, if it is whole in the window; false also where it may be damaged. */
static bool whole_block(const struct ft_stream *stream, const struct ft_pcapng *pcapng,
			struct ft_pcapng_block *block)
{
	size_t left = ft_stream_left(stream);

	if (left < BLOCK_FRAME)
		return false;
	block->bytes = stream->at;
	block->type = ft_u32(block->bytes, pcapng->big);
	block->length = ft_u32(block->bytes + 4, pcapng->big);
	return block->length >= BLOCK_FRAME && block->length <= left && block->length % 4 == 0;
}

/* Blocks in the window up to the next section header, whose byte order must be learnt first. */
static int take_blocks(struct ft_input *input, struct ft_pcapng *pcapng, struct ft_frame *frames,
		       int room)
{
	struct ft_stream *stream = &input->stream;
	bool first = true;
	int count = 0;
	struct ft_pcapng_block block;

	while (count < room && whole_block(stream, pcapng, &block)) {
		enum ft_taken taken;
		uint32_t again;

		if (block.type == FT_BLOCK_SECTION && !first)
			break;
		first = false;
		again = ft_u32(block.bytes + block.length - 4, pcapng->big);
		if (again != block.length) {
			lengths_differ(input, ft_stream_offset(stream), block.length, again);
			break;
		}
		taken = take_block(input, pcapng, &block, &frames[count]);
		if (taken == FT_DAMAGE)
			break;
		stream->at += block.length;
		count += taken == FT_A_FRAME;
	}
	return count;
}

static int next(struct ft_input *input, struct ft_frame *frames, int room)
{
	struct ft_pcapng *pcapng = input->reader;
	int count = 0;

	while (count == 0 && !input->ended && need_block(input, pcapng))
		count = take_blocks(input, pcapng, frames, room);
	return count;
}

static void close_reader(struct ft_input *input)
{
	struct ft_pcapng *pcapng = input->reader;

	free(pcapng->interfaces);
	free(pcapng);
}

const struct ft_format ft_pcapng = {
	.name = "pcapng",
	.recognises = recognises,
	.open = open_reader,
	.next = next,
	.close = close_reader,
};
