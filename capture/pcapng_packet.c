#include "pcapng.h"

#include "byte_order.h"
#include "erf.h"

enum {
	PACKET_MIN = 32, /* total lengths of blocks without content */
	SIMPLE_MIN = 16,
	FLAGS_OPTION = 2, /* of both packet blocks */
};

static enum ft_taken drop(struct ft_input *input)
{
	input->known.odd_records++;
	input->known.dropped_records++;
	return FT_NOTHING;
}

static enum ft_taken too_long(struct ft_input *input, const struct ft_pcapng_block *block,
			      uint32_t captured)
{
	ft_input_damaged(input, ft_input_offset_of(input, block->bytes),
			 "a frame of %u bytes, more than %d", captured, FT_RECORD_MAX);
	return FT_DAMAGE;
}

/* epb_flags and pack_flags: direction in bits 0 and 1, FCS length in bits 5 to 8. */
static void take_flags(struct ft_input *input, struct ft_frame *frame,
		       struct ft_pcapng_options options)
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

/* Seldom: a capture longer than its frame, or one that tells its time and length on the wire itself. */
__attribute__((noinline)) static void correct(struct ft_input *input, struct ft_frame *frame)
{
	if (frame->captured > frame->original) {
		frame->original = frame->wire = frame->captured;
		input->known.odd_records++;
	}
	if (frame->link_type == FT_LINK_ERF)
		ft_erf_stamp(input, frame);
}

/* Enhanced and obsolete packet blocks differ in how they name the interface only. */
enum ft_taken ft_pcapng_packet(struct ft_input *input, const struct ft_pcapng *pcapng,
			       const struct ft_pcapng_block *block, struct ft_frame *frame)
{
	const uint8_t *b = block->bytes;
	bool big = pcapng->big;
	const struct ft_interface *interface;
	uint32_t number, captured, original, options_at;

	if (block->length < PACKET_MIN)
		return drop(input);
	number = block->type == FT_BLOCK_PACKET ? ft_u16(b + 8, big) : ft_u32(b + 8, big);
	captured = ft_u32(b + 20, big);
	original = ft_u32(b + 24, big);
	if (captured > block->length - PACKET_MIN || number >= pcapng->interface_count)
		return drop(input);
	if (captured > FT_RECORD_MAX)
		return too_long(input, block, captured);
	interface = &pcapng->interfaces[number];
	*frame = (struct ft_frame){
		.bytes = b + 28,
		.captured = captured,
		.original = original,
		.wire = original,
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
			   (struct ft_pcapng_options){
				   b + options_at, block->length - 4 - options_at, big, false });
	if (captured > original || interface->link_type == FT_LINK_ERF)
		correct(input, frame);
	return FT_A_FRAME;
}

/* No time, no flags, interface 0; how much was captured follows from its snaplen. */
enum ft_taken ft_pcapng_simple(struct ft_input *input, const struct ft_pcapng *pcapng,
			       const struct ft_pcapng_block *block, struct ft_frame *frame)
{
	const struct ft_interface *interface = pcapng->interfaces;
	uint32_t original, captured;

	if (block->length < SIMPLE_MIN || pcapng->interface_count == 0)
		return drop(input);
	original = captured = ft_u32(block->bytes + 8, pcapng->big);
	if (interface->snaplen != 0 && captured > interface->snaplen)
		captured = interface->snaplen;
	if (captured > block->length - SIMPLE_MIN)
		return drop(input);
	if (captured > FT_RECORD_MAX)
		return too_long(input, block, captured);
	*frame = (struct ft_frame){
		.bytes = block->bytes + 12,
		.captured = captured,
		.original = original,
		.wire = original,
		.link_type = interface->link_type,
		.fcs_bytes = interface->fcs_bytes,
		.ts_ns = FT_TS_UNKNOWN,
		.input = input->index,
		.section = pcapng->section - 1,
		.is_pcapng = true,
	};
	correct(input, frame);
	return FT_A_FRAME;
}
