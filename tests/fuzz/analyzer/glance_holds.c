/*
 * A frame whose address pair can be told at a glance has one packet, and that has this pair; for frames as they come, for
 * RoCEv2 frames around the same bytes, for those in tunnels, and for InfiniBand.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../decode/frame_input.h"
#include "../decode/wrapping.h"
#include "../holds.h"
#include "glance.h"
#include "observe.h"

enum { ETHERNET = 14, TAG = 4, IPV4 = 20, IPV6 = 40, UDP = 8, ROCE_PORT = 4791 };
enum { HEADERS_MAX = ETHERNET + TAG + IPV6 + UDP, WRAPPINGS = 4 };

static bool glance_is_right(const struct ft_decode_config *config,
			    const struct ft_decode_input *input)
{
	static struct ft_packet packet;
	const struct ft_frame frame = {
		.bytes = input->bytes,
		.captured = input->captured,
		.original = input->wire,
		.wire = input->wire,
		.link_type = input->link_type,
		.fcs_bytes = input->fcs_bytes,
		.ts_ns = input->ts_ns,
		.number = 1,
	};
	struct ft_decode_rest rest;
	struct ft_observed observed;
	struct ft_glance glance;

	if (!ft_glance_at(config, &frame, &glance))
		return false;
	assert(!ft_decode(config, input, &packet, &rest));
	ft_observe(&packet, &frame, &observed);
	assert(observed.pair == glance.pair);
	if (glance.ip_at == 0 && glance.numbered)
		assert(observed.mirror == glance.mirror &&
		       observed.mirror_sequence == glance.sequence);
	assert((glance.ip_at == 0 && glance.numbered) ==
	       ((observed.has & FT_OBSERVED_MIRROR) != 0));
	assert(glance.ip_at == 0 ||
	       ((packet.has & FT_HAS_IPV4) != 0 && input->bytes[glance.ip_at] == 0x45 &&
		(glance.ip_at == ETHERNET || glance.ip_at == ETHERNET + TAG)));
	return true;
}

/* In tunnels with which nothing is wrong it is seen at a glance. */
static void in_tunnels(const struct ft_decode_config *config, const struct ft_decode_input *inner,
		       struct dice *dice)
{
	const unsigned depth = 1 + dice_roll(dice, WRAPPING_DEEPEST);
	struct wrapping wrapping = wrap(inner, depth, dice);
	bool seen = glance_is_right(config, &wrapping.input);

	assert(!wrapping.plain || seen == (depth <= FT_TUNNELS_MAX));
	wrapping.input.captured -= dice_roll(dice, wrapping.input.captured + 1);
	glance_is_right(config, &wrapping.input);
	free(wrapping.bytes);
}

/* `change`: a byte of the headers that is spoilt, if it is one of them. */
static void in_roce(const struct frame_input *frame, unsigned choice, unsigned change,
		    struct dice *dice)
{
	uint32_t size = frame->input.captured, network = (choice & 1) != 0 ? IPV6 : IPV4;
	uint32_t ip_at = (choice & 2) != 0 ? ETHERNET + TAG : ETHERNET;
	uint32_t headers = ip_at + network + UDP;
	uint8_t *wrapped = calloc(1, HEADERS_MAX + size), *ip = wrapped + ip_at;
	struct ft_decode_input input = frame->input;

	assert(wrapped != NULL);
	memcpy(wrapped + headers, frame->bytes, size);
	if ((choice & 2) != 0)
		wrapped[12] = 0x81;
	ip[-2] = (choice & 1) != 0 ? 0x86 : 0x08;
	ip[-1] = (choice & 1) != 0 ? 0xdd : 0x00;
	ip[0] = (choice & 1) != 0 ? 0x60 : 0x45;
	ip[(choice & 1) != 0 ? 6 : 9] = 17;
	memcpy(ip + network - 8, frame->bytes, size < 8 ? size : 8); /* IPv4 addresses */
	ip[network + 2] = ROCE_PORT >> 8;
	ip[network + 3] = ROCE_PORT & 0xff;
	input.bytes = wrapped;
	input.link_type = FT_LINK_ETHERNET;
	input.fcs_bytes = (choice & 4) != 0 ? 4 : 0;
	input.captured = headers + size - ((choice & 8) != 0 ? change % (size + UDP) : 0);
	input.wire = input.captured + ((choice & 16) != 0 ? change : 0);
	if (input.captured >= headers && (choice & 8) == 0) {
		assert(glance_is_right(&frame->config, &input));
		for (int i = 0; i < WRAPPINGS; i++)
			in_tunnels(&frame->config, &input, dice);
	}
	wrapped[change % headers] ^= (uint8_t)choice;
	glance_is_right(&frame->config, &input);
	free(wrapped);
}

/* The bytes begin with an LRH; all that have one to a BTH are seen at a glance, whatever else is wrong with them. */
static void in_infiniband(const struct frame_input *frame)
{
	struct ft_decode_input input = frame->input;

	input.link_type = FT_LINK_INFINIBAND;
	input.fcs_bytes = 0;
	assert(glance_is_right(&frame->config, &input) ==
	       (input.captured >= FT_GLANCE_LRH_LEN && (frame->bytes[1] & 3) == 2));
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct dice dice = dice_of(bytes, size);
	struct frame_input frame;

	if (!frame_input_read(bytes, size, &frame))
		return;
	glance_is_right(&frame.config, &frame.input);
	in_infiniband(&frame);
	if (size >= 2 && frame.config.roce_port_count > 0 &&
	    frame.config.roce_ports[0] == ROCE_PORT)
		in_roce(&frame, bytes[size - 1], bytes[size - 2], &dice);
	free(frame.bytes);
}
