/*
 * Any frame, and any bytes as what an IP packet of TCP holds: the payload of a segment lies inside the frame, is no longer
 * than it was on the wire, and belongs to the addresses that the decoder read.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <nccl/seen.h>

#include "../decode/frame_input.h"
#include "../holds.h"

enum { ETHERNET = 14, IPV4 = 20, WHOLE_MAX = 2048 };

static void frame_holds(const struct ft_decode_config *config, const struct ft_decode_input *input)
{
	struct ft_frame frame = { .bytes = input->bytes, .captured = input->captured, .number = 5 };
	static struct ft_packet packet;
	struct ft_nccl_segment segment;
	struct ft_decode_rest rest;
	bool more = ft_decode(config, input, &packet, &rest);

	for (;;) {
		if (ft_nccl_segment_of(&packet, &frame, &segment)) {
			assert(segment.frame == 5 && segment.captured <= segment.length);
			assert(segment.payload >= input->bytes + IPV4);
			assert(segment.payload + segment.captured <=
			       input->bytes + input->captured);
			assert(memcmp(segment.src, packet.src, sizeof segment.src) == 0);
			assert(packet.malformed == 0 && (packet.has & FT_HAS_BTH) == 0);
		}
		if (!more)
			break;
		more = ft_decode_more(config, input, &packet, &rest);
	}
}

/* Behind Ethernet and IPv4 whose total length is the first two bytes, as far as it goes. */
static void tcp_holds(const struct ft_decode_config *config, const uint8_t *bytes, size_t size)
{
	static const uint8_t headers[ETHERNET + IPV4] = { [12] = 8, 0, 0x45, [23] = 6 };
	struct ft_decode_input input = { .link_type = FT_LINK_ETHERNET, .ts_ns = UINT64_MAX };
	uint8_t *whole;

	if (size < 2 || size > WHOLE_MAX)
		return;
	input.captured = (uint32_t)(sizeof headers + size - 2);
	input.wire = input.captured + bytes[0];
	whole = malloc(input.captured);
	assert(whole != NULL);
	memcpy(whole, headers, sizeof headers);
	memcpy(whole + ETHERNET + 2, bytes, 2);
	whole[ETHERNET + 2] &= 0x07;
	memcpy(whole + sizeof headers, bytes + 2, size - 2);
	input.bytes = whole;
	frame_holds(config, &input);
	free(whole);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct frame_input frame;

	tcp_holds(&config, bytes, size);
	if (!frame_input_read(bytes, size, &frame))
		return;
	frame_holds(&frame.config, &frame.input);
	free(frame.bytes);
}
