#include "byte_order.h"
#include "erf.h"
#include "input.h"
#include "pcapng_interface.h"

#include <errno.h>
#include <stdlib.h>

/* pcapng as draft-ietf-opsawg-pcapng has it: blocks in sections, each in its own byte order. */

enum {
	BLOCK_SECTION = 0x0a0d0d0a, /* the same in both byte orders */
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 2, /* obsolete */
	BLOCK_SIMPLE = 3,
	BLOCK_ENHANCED = 6,

	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	BLOCK_FRAME = 12,   /* type and length before, length again after */
	SECTION_START = 12, /* up to the byte-order magic */

	FLAGS_OPTION = 2,       /* of both packet blocks */
	INTERFACES_MAX = 65536, /* remembered per section; frames of later ones are dropped */
};

/* Smallest total lengths of the blocks that are looked into. */
enum { SECTION_MIN = 28, INTERFACE_MIN = 20, PACKET_MIN = 32, SIMPLE_MIN = 16 };

struct pcapng {
	bool big;
	uint32_t section; /* number of the next one */
	uint32_t interface_count, capacity;
	struct ft_interface *interfaces;
};

/* A block in the window whose lengths agree. */
struct block {
	const uint8_t *bytes;
	uint32_t type, length;
};

enum taken { NOTHING, A_FRAME, DAMAGE };

static bool recognises(struct ft_input *input)
{
	struct ft_stream *stream = &input->stream;
	const uint8_t *b;

	if (!ft_stream_need(stream, 4) || ft_le32(stream->at) != BLOCK_SECTION)
		return false;
	if (!ft_stream_need(stream, SECTION_START))
		return false;
	b = stream->at + 8;
	return ft_le32(b) == BYTE_ORDER_MAGIC || ft_be32(b) == BYTE_ORDER_MAGIC;
}

static int open_reader(struct ft_input *input)
{
	input->reader = calloc(1, sizeof(struct pcapng));
	if (input->reader == NULL) {
		ft_input_refuse(input, "no memory");
		return -ENOMEM;
	}
	return 0;
}

static bool must_be_whole(uint32_t type)
{
	return type == BLOCK_SECTION || type == BLOCK_INTERFACE || type == BLOCK_PACKET ||
	       type == BLOCK_SIMPLE || type == BLOCK_ENHANCED;
}

static uint64_t offset_of(const struct ft_input *input, const uint8_t *bytes)
{
	return ft_stream_offset(&input->stream) - (uint64_t)(input->stream.at - bytes);
}

/* A section header sets the byte order of its own length, too. */
static bool set_byte_order(struct ft_input *input, struct pcapng *pcapng, const uint8_t *b)
{
	if (ft_le32(b + 8) != BYTE_ORDER_MAGIC && ft_be32(b + 8) != BYTE_ORDER_MAGIC)
		return ft_input_damaged(input, offset_of(input, b),
					"a section header has no byte-order magic");
	pcapng->big = ft_be32(b + 8) == BYTE_ORDER_MAGIC;
	return true;
}

static bool length_possible(struct ft_input *input, const struct block *block)
{
	if (block->length < BLOCK_FRAME || block->length % 4 != 0)
		return ft_input_damaged(input, offset_of(input, block->bytes),
					"block length %u is not a multiple of 4 from %d on",
					block->length, BLOCK_FRAME);
	if (must_be_whole(block->type) && block->length > FT_BLOCK_MAX)
		return ft_input_damaged(input, offset_of(input, block->bytes),
					"block length %u is more than %d", block->length,
					FT_BLOCK_MAX);
	return true;
}

static bool lengths_agree(struct ft_input *input, uint64_t offset, uint32_t first, uint32_t second)
{
	if (first == second)
		return true;
	return ft_input_damaged(input, offset, "block length %u before the block, %u after it",
				first, second);
}

/* Step over a block that means nothing to us, however long it is. */
static bool skip_block(struct ft_input *input, const struct pcapng *pcapng, uint32_t length)
{
	struct ft_stream *stream = &input->stream;
	uint64_t offset = ft_stream_offset(stream);

	if (!ft_stream_skip(stream, length - 4) || !ft_stream_need(stream, 4)) {
		if (stream->fault[0] != '\0')
			return ft_input_damaged(input, offset, "%s", stream->fault);
		return ft_input_damaged(input, offset,
					"a block is %u bytes long, but the rest of the file only %llu", length,
					(unsigned long long)(ft_stream_offset(stream) - offset +
							     ft_stream_left(stream)));
	}
	if (!lengths_agree(input, offset, length, ft_u32(stream->at, pcapng->big)))
		return false;
	stream->at += 4;
	return true;
}

/* Wait until the next block that may hold a frame is whole in the window; false at the end. */
static bool need_block(struct ft_input *input, struct pcapng *pcapng)
{
	struct ft_stream *stream = &input->stream;

	for (;;) {
		struct block block;

		if (!ft_input_need(input, 8, "a block header", true))
			return false;
		block = (struct block){ stream->at, ft_u32(stream->at, pcapng->big), 0 };
		if (block.type == BLOCK_SECTION) {
			if (!ft_input_need(input, SECTION_START, "a section header", false) ||
			    !set_byte_order(input, pcapng, stream->at))
				return false;
			block.bytes = stream->at;
		}
		block.length = ft_u32(stream->at + 4, pcapng->big);
		if (!length_possible(input, &block))
			return false;
		if (must_be_whole(block.type) || block.length <= ft_stream_left(stream))
			return ft_input_need(input, block.length, "a block", false);
		if (!skip_block(input, pcapng, block.length))
			return false;
	}
}

static enum taken start_section(struct ft_input *input, struct pcapng *pcapng,
				const struct block *block)
{
	uint16_t major = block->length >= SECTION_MIN ? ft_u16(block->bytes + 12, pcapng->big) : 0;

	if (major != 1) {
		ft_input_damaged(input, offset_of(input, block->bytes),
				 "a section of pcapng version %u, not 1", major);
		return DAMAGE;
	}
	pcapng->section++;
	pcapng->interface_count = 0;
	return NOTHING;
}

static struct ft_interface *new_interface(struct pcapng *pcapng)
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

static enum taken add_interface(struct ft_input *input, struct pcapng *pcapng,
				const struct block *block)
{
	struct ft_interface *interface;

	if (block->length < INTERFACE_MIN) {
		ft_input_damaged(input, offset_of(input, block->bytes),
				 "an interface description of %u bytes", block->length);
		return DAMAGE;
	}
	interface = new_interface(pcapng);
	if (interface == NULL)
		return NOTHING;
	*interface = ft_interface_read(block->bytes + 8, block->length - BLOCK_FRAME, pcapng->big);
	input->known.odd_records += interface->odd;
	return NOTHING;
}

static enum taken drop(struct ft_input *input)
{
	input->known.odd_records++;
	input->known.dropped_records++;
	return NOTHING;
}

/* epb_flags and pack_flags: direction in bits 0 and 1, FCS length in bits 5 to 8. */
static void take_flags(struct ft_input *input, struct ft_frame *frame, struct ft_options options)
{
	struct ft_option option;

	while (ft_option_next(&options, &option)) {
		uint32_t flags;

		if (option.code != FLAGS_OPTION || option.length != 4)
			continue;
		flags = ft_u32(option.value, options.big);
		if ((flags & 3) != 3)
			frame->direction = flags & 3;
		if ((flags >> 5 & 15) != 0)
			frame->fcs_bytes = ft_fcs_bytes(flags >> 5 & 15);
	}
	input->known.odd_records += options.broken;
}

static void correct_lengths(struct ft_input *input, struct ft_frame *frame)
{
	if (frame->captured > frame->original) {
		frame->original = frame->captured;
		input->known.odd_records++;
	}
	frame->wire = frame->original;
	if (frame->link_type == FT_LINK_ERF)
		ft_erf_stamp(input, frame);
}

/* Enhanced and obsolete packet blocks differ in how they name the interface only. */
static enum taken take_packet(struct ft_input *input, const struct pcapng *pcapng,
			      const struct block *block, struct ft_frame *frame)
{
	const uint8_t *b = block->bytes;
	bool big = pcapng->big;
	const struct ft_interface *interface;
	uint32_t number, captured, options_at;

	if (block->length < PACKET_MIN)
		return drop(input);
	number = block->type == BLOCK_PACKET ? ft_u16(b + 8, big) : ft_u32(b + 8, big);
	captured = ft_u32(b + 20, big);
	if (captured > block->length - PACKET_MIN || number >= pcapng->interface_count)
		return drop(input);
	if (captured > FT_RECORD_MAX) {
		ft_input_damaged(input, offset_of(input, b), "a frame of %u bytes, more than %d",
				 captured, FT_RECORD_MAX);
		return DAMAGE;
	}
	interface = &pcapng->interfaces[number];
	*frame = (struct ft_frame){
		.bytes = b + 28,
		.captured = captured,
		.original = ft_u32(b + 24, big),
		.link_type = interface->link_type,
		.fcs_bytes = interface->fcs_bytes,
		.ts_ns = ft_interface_ns(interface,
					 (uint64_t)ft_u32(b + 12, big) << 32 | ft_u32(b + 16, big)),
		.input = input->index,
		.section = pcapng->section - 1,
		.interface = number,
		.is_pcapng = true,
	};
	if (frame->ts_ns == FT_TS_UNKNOWN)
		input->known.odd_records++;
	options_at = 28 + ((captured + 3) & ~3u);
	if (options_at + 4 < block->length)
		take_flags(input, frame,
			   (struct ft_options){ b + options_at, block->length - 4 - options_at, big,
						false });
	correct_lengths(input, frame);
	return A_FRAME;
}

/* No time, no flags, interface 0; how much was captured follows from its snaplen. */
static enum taken take_simple(struct ft_input *input, const struct pcapng *pcapng,
			      const struct block *block, struct ft_frame *frame)
{
	const struct ft_interface *interface = pcapng->interfaces;
	uint32_t original, captured;

	if (block->length < SIMPLE_MIN || pcapng->interface_count == 0)
		return drop(input);
	original = captured = ft_u32(block->bytes + 8, pcapng->big);
	if (interface->snaplen != 0 && captured > interface->snaplen)
		captured = interface->snaplen;
	if (captured > block->length - SIMPLE_MIN || captured > FT_RECORD_MAX)
		return drop(input);
	*frame = (struct ft_frame){
		.bytes = block->bytes + 12,
		.captured = captured,
		.original = original,
		.link_type = interface->link_type,
		.fcs_bytes = interface->fcs_bytes,
		.ts_ns = FT_TS_UNKNOWN,
		.input = input->index,
		.section = pcapng->section - 1,
		.is_pcapng = true,
	};
	correct_lengths(input, frame);
	return A_FRAME;
}

static enum taken take_block(struct ft_input *input, struct pcapng *pcapng,
			     const struct block *block, struct ft_frame *frame)
{
	switch (block->type) {
	case BLOCK_ENHANCED:
	case BLOCK_PACKET:
		return take_packet(input, pcapng, block, frame);
	case BLOCK_SIMPLE:
		return take_simple(input, pcapng, block, frame);
	case BLOCK_INTERFACE:
		return add_interface(input, pcapng, block);
	case BLOCK_SECTION:
		return start_section(input, pcapng, block);
	}
	return NOTHING;
}

/* The block at stream->at, if it is whole in the window; false also where it may be damaged. */
static bool whole_block(const struct ft_stream *stream, const struct pcapng *pcapng,
			struct block *block)
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
static int take_blocks(struct ft_input *input, struct pcapng *pcapng, struct ft_frame *frames,
		       int room)
{
	struct ft_stream *stream = &input->stream;
	bool first = true;
	int count = 0;
	struct block block;

	while (count < room && whole_block(stream, pcapng, &block)) {
		enum taken taken;

		if (block.type == BLOCK_SECTION && !first)
			break;
		first = false;
		if (!lengths_agree(input, ft_stream_offset(stream), block.length,
				   ft_u32(block.bytes + block.length - 4, pcapng->big)))
			break;
		taken = take_block(input, pcapng, &block, &frames[count]);
		if (taken == DAMAGE)
			break;
		stream->at += block.length;
		count += taken == A_FRAME;
	}
	return count;
}

static int next(struct ft_input *input, struct ft_frame *frames, int room)
{
	struct pcapng *pcapng = input->reader;
	int count = 0;

	while (count == 0 && !input->ended && need_block(input, pcapng))
		count = take_blocks(input, pcapng, frames, room);
	return count;
}

static void close_reader(struct ft_input *input)
{
	struct pcapng *pcapng = input->reader;

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
